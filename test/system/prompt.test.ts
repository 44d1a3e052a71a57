import { spawn } from 'node:child_process';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { FUNCTION_NAMES } from '../../src/prompt/words.js';
import { dataDirectory, type Exit, PROJECT, type ServiceProcess, startProcess } from '../support/process.js';

/** `npm run repl` with a snippet piped in, against the built service. */

const directory = dataDirectory();
let service: ServiceProcess;
beforeAll(async () => {
  service = await startProcess(directory.path);
});
afterAll(async () => {
  await service.stop();
  directory.remove();
});

function pipe(snippet: string, given: string[] = [], url = service.address): Promise<Exit> {
  const child = spawn(process.execPath, [join(PROJECT, 'dist/prompt.js'), ...given], {
    env: { PATH: process.env.PATH, HOME: directory.path, LOCI_URL: url },
  });
  let [stdout, stderr] = ['', ''];
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    stdout += text;
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text;
  });
  // A prompt that has nothing to ask closes its end before it is told anything.
  child.stdin.on('error', () => {}).end(snippet);
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code, signal) => resolve({ code, signal, stdout, stderr }));
  });
}

test('the package starts the prompt that is built', async () => {
  const { scripts } = (await import('../../package.json', { with: { type: 'json' } })).default;
  expect(scripts.repl).toBe('npm run --silent build && exec node dist/prompt.js');
});

test('what a snippet prints and gives is on standard output, and it exits with 0', async () => {
  const exit = await pipe('const all = [1, 2];\nprint("hello", all);\nall.map((one) => one * 2)\n');
  expect(exit).toEqual({ code: 0, signal: null, stdout: 'hello [1,2]\n[\n  2,\n  4\n]\n', stderr: '' });
});

test('a snippet that fails is told on standard error, and it exits with 1', async () => {
  const exit = await pipe('1;\nthrow new Error("boom")');
  expect(exit).toEqual({ code: 1, signal: null, stdout: '', stderr: 'Error: boom (line 2)\n' });
});

test('what is written is in the repo that was named, and stays there', async () => {
  expect((await pipe('memory_add_fact("Plover nests here")', ['--repo', 'acme/shop'])).code).toBe(0);
  const asked = 'memory_query("plover").length';
  expect((await pipe(asked, ['--repo', 'acme/shop'])).stdout).toBe('1\n');
  expect((await pipe(asked)).stdout).toBe('0\n');
});

test('--url counts more than LOCI_URL', async () => {
  expect((await pipe('7', ['--url', service.address], 'http://127.0.0.1:1')).stdout).toBe('7\n');
});

test('a service that cannot be reached is one sentence, and it exits with 1', async () => {
  const exit = await pipe('1', [], `http://127.0.0.1:${await freePort()}`);
  expect(exit).toMatchObject({ code: 1, stdout: '' });
  expect(exit.stderr).toMatch(/^No service can be reached at http:\S+ \(ECONNREFUSED\): is it running\?\n$/);
});

test('--help explains and runs nothing, an unknown argument is refused', async () => {
  expect(await pipe('', ['--help'], 'http://127.0.0.1:1')).toMatchObject({
    code: 0,
    stdout: expect.stringContaining('--repo NAME'),
  });
  expect(await pipe('1', ['--nope'])).toMatchObject({ code: 1, stdout: '', stderr: expect.stringContaining('--nope') });
});

describe('the functions that the prompt knows', () => {
  test('are those that a snippet has, and no others', async () => {
    const plain = 'Object.getOwnPropertyNames(globalThis).filter((name) => /^(memory_.*|print)$/.test(name))';
    const { stdout } = await pipe(plain);
    expect((JSON.parse(stdout) as string[]).sort()).toEqual([...FUNCTION_NAMES].sort());
  });
});

/** A port that was free a moment ago. */
function freePort(): Promise<number> {
  return new Promise((resolve) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const { port } = server.address() as { port: number };
      server.close(() => resolve(port));
    });
  });
}
