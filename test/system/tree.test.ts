import { spawn } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { dataDirectory, type Exit, PROJECT, type ServiceProcess, startProcess } from '../support/process.js';

/** `npm run chunks`: a directory of chunks into the built service, and out of it. */

const directory = dataDirectory();
let service: ServiceProcess;
beforeAll(async () => {
  service = await startProcess(directory.path);
});
afterAll(async () => {
  await service.stop();
  directory.remove();
});

function run(given: string[], url = service.address): Promise<Exit> {
  const child = spawn(process.execPath, [join(PROJECT, 'dist/tree.js'), ...given], {
    env: { PATH: process.env.PATH, HOME: directory.path, LOCI_URL: url },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let [stdout, stderr] = ['', ''];
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    stdout += text;
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text;
  });
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code, signal) => resolve({ code, signal, stdout, stderr }));
  });
}

const path = (...parts: string[]): string => join(directory.path, ...parts);
const filesIn = (folder: string): string[] =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) => statSync(join(folder, name)).isFile());

const remember = (repoId: string, content: string) =>
  service.http.post('/chunks').query({ repo_id: repoId }).send({ content, conversation_id: 'talk' }).expect(201);

test('the package starts the command that is built', async () => {
  const { scripts } = (await import('../../package.json', { with: { type: 'json' } })).default;
  expect(scripts.chunks).toBe('npm run --silent build && exec node dist/tree.js');
});

test('a directory that is written, read and written again holds the same files, private to their owner', async () => {
  await remember('acme/shop', 'We decided on Redis');
  await remember('acme/shop', 'Überall 🙂');
  const out = await run(['export', path('first'), '--repo', 'acme/shop']);
  expect(out).toEqual({ code: 0, signal: null, stdout: `5 files written to ${path('first')}\n`, stderr: '' });
  const back = await run(['import', path('first'), '--repo', 'acme/copy']);
  expect([back.code, JSON.parse(back.stdout)]).toEqual([0, expect.objectContaining({ imported: 2, skipped: [] })]);
  await run(['export', path('second'), '--repo', 'acme/copy']);
  const files = filesIn(path('first'));
  expect(files).toHaveLength(5);
  expect(filesIn(path('second'))).toEqual(files);
  for (const file of files) {
    expect(readFileSync(path('second', file))).toEqual(readFileSync(path('first', file)));
    expect(statSync(path('second', file)).mode & 0o777).toBe(0o600);
  }
});

test('what is wrong in a directory is told with exit code 2, and a link is not followed', async () => {
  mkdirSync(path('mixed', 'chunks', '2026-02'), { recursive: true });
  writeFileSync(path('mixed', 'chunks', '2026-02', 'chunk-2026-02-10-a1b2c3d4.json'), '{');
  symlinkSync('/etc/passwd', path('mixed', 'chunks', '2026-02', 'chunk-2026-02-10-a1b2c3d5.json'));
  const { code, stdout } = await run(['import', path('mixed')]);
  expect([code, JSON.parse(stdout)]).toEqual([2, expect.objectContaining({ imported: 0, skipped_count: 1 })]);
});

test('tried first, an import changes nothing', async () => {
  const { code, stdout } = await run(['import', path('first'), '--repo', 'acme/tried', '--dry-run']);
  expect([code, JSON.parse(stdout)]).toEqual([0, expect.objectContaining({ dry_run: true, imported: 2 })]);
  const { body } = await service.http.get('/chunks/stats').query({ repo_id: 'acme/tried' }).expect(200);
  expect(body.total_chunks).toBe(0);
});

test.each<[string, string[], RegExp]>([
  ['no verb', [], /say import or export/],
  ['another verb', ['move', 'x'], /say import or export/],
  ['no directory', ['export'], /one directory/],
  ['two directories', ['export', 'a', 'b'], /one directory/],
  ['a directory that is not there', ['import', '/nowhere/at/all'], /there is no directory/],
  ['an unknown option', ['import', '.', '--nope'], /--nope/],
  ['an export that is only tried', ['export', '/nowhere/at/all', '--dry-run'], /--dry-run is for an import/],
])('%s is refused with the usage, and exits with 1', async (_, given, reason) => {
  const { code, stdout, stderr } = await run(given);
  expect([code, stdout]).toEqual([1, '']);
  expect(stderr).toMatch(reason);
  expect(stderr).toContain('Usage: npm run chunks');
});

test('an export does not mix with what is there', async () => {
  const { code, stderr } = await run(['export', path('first')]);
  expect(code).toBe(1);
  expect(stderr).toMatch(/is not empty/);
});

test('a service that cannot be reached, or that refuses, is told, and exits with 1', async () => {
  expect(await run(['export', path('none')], 'http://127.0.0.1:1')).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(/^no service can be reached at http:\/\/127\.0\.0\.1:1/),
  });
  expect(await run(['export', path('none'), '--repo', ' '])).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('semantic_error'),
  });
});

test('--help explains', async () => {
  expect(await run(['--help'])).toMatchObject({ code: 0, stdout: expect.stringContaining('--dry-run') });
});
