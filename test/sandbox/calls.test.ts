import { setImmediate } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import type { Json } from '../../src/sandbox/json.js';
import { given, makeSandbox, runOnce } from '../support/sandbox.js';

const echo = { echo: async (...args: Json[]): Promise<Json> => args };

describe('a host function', () => {
  test('answers as if it were synchronous, however long it takes', async () => {
    const functions = {
      late: async (value: Json): Promise<Json> => {
        for (let turn = 0; turn < 5; turn++) await setImmediate();
        return { value };
      },
    };
    expect(given(await runOnce('late(1).value + late(2).value', functions))).toBe(3);
  });

  test('may be awaited all the same', async () => {
    expect(given(await runOnce('const answer = await echo(1); answer[0]', echo))).toBe(1);
  });

  test('is told the arguments, and the outcome tells every call in order', async () => {
    const outcome = await runOnce('echo("a", { b: [1] }, undefined, 5n); echo()', echo);
    expect(outcome.calls).toEqual([
      { name: 'echo', arguments: ['a', { b: [1] }, null, '5'] },
      { name: 'echo', arguments: [] },
    ]);
  });

  test('that answers nothing gives null', async () => {
    expect(given(await runOnce('nothing()', { nothing: async () => undefined as unknown as Json }))).toBeNull();
  });

  test('hands over any character', async () => {
    expect(given(await runOnce('echo("a\\u0000b\\ud800 😀")[0]', echo))).toBe('a\u0000b\ud800 😀');
  });

  test('that throws throws inside the snippet, which may go on', async () => {
    const functions = { fail: () => Promise.reject(new Error('no such memory')), ...echo };
    const code = 'try { fail(1) } catch (error) { print(error instanceof Error, error.message) } echo(2)[0]';
    expect(await runOnce(code, functions)).toMatchObject({
      value: 2,
      printed: ['true no such memory'],
      calls: [
        { name: 'fail', arguments: [1] },
        { name: 'echo', arguments: [2] },
      ],
    });
    expect(await runOnce('\n\nfail()', functions)).toMatchObject({
      ended: 'threw',
      message: 'Error: no such memory',
      line: 3,
    });
  });

  test('looks like an ordinary function with its own name', async () => {
    const code = '[typeof echo, echo.name, echo instanceof Function, Object.keys(globalThis).length]';
    expect(given(await runOnce(code, echo))).toEqual(['function', 'echo', true, 0]);
  });

  test('refuses arguments that go in a circle, and is not called', async () => {
    const outcome = await runOnce('const a = []; a.push(a); echo(a)', echo);
    expect(outcome).toMatchObject({ ended: 'threw', message: 'TypeError: circular reference', calls: [] });
  });

  test('may be shadowed by the snippet', async () => {
    expect(given(await runOnce('const echo = 1, print = 2; echo + print', echo))).toBe(3);
  });

  test('does not cost the snippet the time it takes', async () => {
    const cpuMs = 200;
    const functions = {
      late: async (): Promise<Json> => {
        const until = performance.now() + 2 * cpuMs;
        while (performance.now() < until) await setImmediate();
        return 'done';
      },
    };
    expect(given(await runOnce('late()', functions, { cpuMs }))).toBe('done');
  });

  test('is of the run it was given to, not of the one before', async () => {
    const sandbox = makeSandbox();
    expect(given(await sandbox.run('ask()', { ask: async () => 1 }))).toBe(1);
    expect(given(await sandbox.run('ask()', { ask: async () => 2 }))).toBe(2);
    expect(await sandbox.run('ask()', {})).toMatchObject({ message: "ReferenceError: 'ask' is not defined" });
  });
});
