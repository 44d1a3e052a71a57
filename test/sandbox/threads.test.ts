import { execFile } from 'node:child_process';
import { setImmediate } from 'node:timers/promises';
import { promisify } from 'node:util';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { Json } from '../../src/sandbox/json.js';
import { SandboxBusy, SandboxClosed } from '../../src/sandbox/sandbox.js';
import { countedWorker, given, LIMITS, makeSandbox, WORKER_FILE } from '../support/sandbox.js';

let counted: ReturnType<typeof countedWorker>;
beforeEach(() => {
  counted = countedWorker();
});
afterEach(() => counted.remove());

/** A host function that says when it was called and answers when told to. */
function gate() {
  const entered: string[] = [];
  const waiting = new Map<string, () => void>();
  const untilEntered = async (count: number): Promise<void> => {
    while (entered.length < count) await setImmediate();
  };
  const pass = (name: Json): Promise<Json> =>
    new Promise((resolve) => {
      entered.push(String(name));
      waiting.set(String(name), () => resolve(name));
    });
  return { functions: { pass }, entered, untilEntered, open: (name: string) => waiting.get(name)?.() };
}

const liveThreads = (): number => (process.report.getReport() as unknown as { workers: unknown[] }).workers.length;

test('the main thread goes on while a snippet loops, and other snippets run meanwhile', async () => {
  const sandbox = makeSandbox({ workersMax: 2 });
  const looping = sandbox.run('print("started"); for (;;);', {}).catch((error: unknown) => error);
  expect(given(await sandbox.run('1 + 1', {}))).toBe(2);
  for (let turn = 0; turn < 100; turn++) await setImmediate();
  await sandbox.close();
  expect(await looping).toBeInstanceOf(SandboxClosed);
});

describe('threads', () => {
  test('are made when first needed, and one serves runs that follow each other', async () => {
    const sandbox = makeSandbox({ workerFile: counted.workerFile, workersMax: 2 });
    await setImmediate();
    expect(counted.started()).toBe(0);
    for (let run = 0; run < 3; run++) await sandbox.run('1', {});
    expect(counted.started()).toBe(1);
  });

  test('are replaced after a limit', async () => {
    const sandbox = makeSandbox({ workerFile: counted.workerFile, calls: 0 });
    await sandbox.run('pass(1)', gate().functions);
    expect(counted.started()).toBe(1);
    await sandbox.run('1', {});
    expect(counted.started()).toBe(2);
  });

  test('are no more than allowed, runs wait in order, and one thread is kept', async () => {
    const sandbox = makeSandbox({ workerFile: counted.workerFile, workersMax: 2 });
    const { functions, entered, untilEntered, open } = gate();
    const start = (name: string) => sandbox.run(`pass("${name}")`, functions);
    const first = [start('a'), start('b')];
    await untilEntered(2);
    const later = ['c', 'd'].map(start);
    open('a');
    await untilEntered(3);
    // Comes while the turn of the one before is being handed on, and has to queue up all the same.
    const last = start('e');
    expect(entered.slice(2)).toEqual(['c']);
    open('b');
    await untilEntered(4);
    open('c');
    await untilEntered(5);
    expect(entered.slice(2)).toEqual(['c', 'd', 'e']);
    expect(counted.started()).toBe(2);
    open('d');
    open('e');
    expect((await Promise.all([...first, ...later, last])).map(given)).toEqual(['a', 'b', 'c', 'd', 'e']);

    const again = [start('f'), start('g')];
    await untilEntered(7);
    expect(counted.started()).toBe(3);
    expect(liveThreads()).toBe(2);
    for (const name of ['f', 'g']) open(name);
    await Promise.all(again);
    await expect.poll(liveThreads).toBe(1);
    await sandbox.close();
    expect(liveThreads()).toBe(0);
  });

  test('that cannot start fail the run, and the next one tries again', async () => {
    const sandbox = makeSandbox({ workerFile: new URL('./no-such-worker.js', import.meta.url) });
    for (let run = 0; run < 2; run++) await expect(sandbox.run('1', {})).rejects.toThrow(/no-such-worker/);
  });

  test('do not keep the process alive', async () => {
    const code = `
      import { Sandbox } from ${JSON.stringify(new URL('./sandbox.js', WORKER_FILE).href)};
      const options = { workerFile: new URL(${JSON.stringify(WORKER_FILE.href)}), workersMax: 1, waitingMax: 1 };
      const sandbox = new Sandbox({ ...options, limits: ${JSON.stringify(LIMITS)} });
      console.log(JSON.stringify((await sandbox.run('1 + 1', {})).value));`;
    const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', code], {
      timeout: 30_000,
    });
    expect(stdout.trim()).toBe('2');
  });

  test('hold nothing of the environment of the service', async () => {
    const sandbox = makeSandbox();
    const tried = await sandbox.run(
      '[typeof process, typeof require, typeof globalThis.Worker, typeof console, typeof setTimeout]',
      {},
    );
    expect(new Set(given(tried) as string[])).toEqual(new Set(['undefined']));
  });
});

describe('a sandbox', () => {
  test('that has enough runs waiting takes no more', async () => {
    const sandbox = makeSandbox({ waitingMax: 1 });
    const { functions, untilEntered, open } = gate();
    const running = sandbox.run('pass("a")', functions);
    await untilEntered(1);
    const waiting = sandbox.run('1', {});
    await expect(sandbox.run('2', {})).rejects.toBeInstanceOf(SandboxBusy);
    open('a');
    expect((await Promise.all([running, waiting])).map(given)).toEqual(['a', 1]);
    expect(given(await sandbox.run('2', {}))).toBe(2);
  });

  test('that is closed ends what runs, refuses what waits and whatever comes', async () => {
    const sandbox = makeSandbox();
    const { functions, untilEntered } = gate();
    const runs = [sandbox.run('pass("a")', functions), sandbox.run('1', {})];
    const endings = Promise.allSettled(runs);
    await untilEntered(1);
    await sandbox.close();
    const closed = { status: 'rejected', reason: expect.any(SandboxClosed) };
    expect(await endings).toEqual([closed, closed]);
    await expect(sandbox.run('1', {})).rejects.toBeInstanceOf(SandboxClosed);
    await sandbox.close();
  });

  test('that never ran anything closes', async () => {
    await expect(makeSandbox().close()).resolves.toBeUndefined();
  });
});
