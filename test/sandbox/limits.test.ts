import { describe, expect, test } from 'vitest';
import type { Json } from '../../src/sandbox/json.js';
import type { LimitName, SandboxLimits } from '../../src/sandbox/limits.js';
import { Thread } from '../../src/sandbox/thread.js';
import { given, LIMITS, makeSandbox, runOnce, WORKER_FILE } from '../support/sandbox.js';

const functions = {
  echo: async (...args: Json[]): Promise<Json> => args,
  long: async (length: Json): Promise<Json> => 'x'.repeat(Number(length)),
  never: () => new Promise<Json>(() => {}),
  fail: async (): Promise<Json> => {
    throw new Error('no');
  },
};

const CPU = { cpuMs: 150 };
const WALL = { wallMs: 300 };
const OUTPUT = { outputCharacters: 50 };
const CALLS = { calls: 3 };
const RESULT = { resultCharacters: 100 };
const ARGUMENTS = { argumentCharacters: 100 };
const ANSWERS = { answerCharacters: 200 };
const HOST = { hostMs: 0 };

const CASES: readonly [what: string, code: string, limit: LimitName, narrowed: Partial<SandboxLimits>][] = [
  ['an endless loop', 'while (true) {}', 'cpu_time', CPU],
  [
    'one that catches everything',
    'for (;;) { try { while (true) {} } catch {} finally { continue } }',
    'cpu_time',
    CPU,
  ],
  [
    'one in an async function that catches',
    '(async () => { try { for (;;); } catch { return 1 } finally { return 2 } })()',
    'cpu_time',
    CPU,
  ],
  ['one in a promise job', 'Promise.resolve().then(() => { for (;;); }).catch(() => 1)', 'cpu_time', CPU],
  [
    'jobs that make jobs',
    'const f = () => { Promise.resolve().then(f).catch(f) }; for (let i = 0; i < 50; i++) f()',
    'cpu_time',
    CPU,
  ],
  [
    'async functions that come back',
    'const f = async () => { for (;;) await 1 }; const g = () => { f().then(g, g) }; for (let i = 0; i < 50; i++) g()',
    'cpu_time',
    CPU,
  ],
  ['one in a getter of the result', '({ get a() { for (;;); } })', 'cpu_time', CPU],
  ['one in toJSON of the result', '({ toJSON() { for (;;); } })', 'cpu_time', CPU],
  ['one in toJSON of an argument', 'try { echo({ toJSON() { for (;;); } }) } catch {} 1', 'cpu_time', CPU],
  ['one in what is printed', 'try { print({ toJSON() { for (;;); } }) } catch {} 1', 'cpu_time', CPU],
  ['one in toString', 'const o = { toString() { for (;;); } }; "" + o', 'cpu_time', CPU],
  ['one in the error that is thrown', 'throw new Proxy({}, { getPrototypeOf() { for (;;); } })', 'cpu_time', CPU],
  ['a catastrophic expression', '/(a+)+b/.test("a".repeat(40))', 'cpu_time', CPU],
  [
    'a loop inside a built-in function',
    'print("before"); Array.prototype.indexOf.call({ length: 2 ** 53 - 1 }, 1)',
    'wall_time',
    WALL,
  ],
  ['a host function that never answers', 'print("before"); never()', 'wall_time', WALL],
  ['many small objects', 'const a = []; for (;;) a.push({ a: 1 })', 'memory', {}],
  ['many strings', 'const a = []; for (;;) a.push("x".repeat(1e5) + a.length)', 'memory', {}],
  [
    'many buffers, caught',
    'const a = []; try { for (;;) a.push(new Uint8Array(1e5)) } catch { a.length = 0 } 1',
    'memory',
    {},
  ],
  ['one huge string', '"x".repeat(2 ** 29)', 'memory', {}],
  ['one huge array', 'new Array(1e9).fill(0)', 'memory', {}],
  ['one huge buffer', 'new ArrayBuffer(1e9)', 'memory', {}],
  ['a huge expression', 'for (let n = 1; ; n *= 2) new RegExp("(?:a|b)".repeat(n))', 'memory', {}],
  ['a huge answer', 'long(2e7).length', 'memory', {}],
  ['deep recursion', '(function f() { f() })()', 'stack', {}],
  ['deep recursion through a built-in function', '(function f() { [1].map(f) })()', 'stack', {}],
  ['a deep expression', 'eval("(".repeat(1e5))', 'stack', {}],
  ['deep JSON that is read', 'JSON.parse("[".repeat(1e5))', 'stack', {}],
  ['deep data that is written', 'let a = []; for (let i = 0; i < 20000; i++) a = [a]; a', 'stack', {}],
  ['printing forever', 'for (;;) print("hello")', 'output', OUTPUT],
  ['printing empty lines forever, caught', 'try { for (;;) print() } catch {} 1', 'output', OUTPUT],
  ['printing too much at once', 'print("x".repeat(1e6))', 'output', OUTPUT],
  ['calling forever', 'for (;;) echo(1)', 'calls', CALLS],
  ['calling forever, caught', 'for (let i = 0; i < 10; i++) try { echo(i) } catch {} "survived"', 'calls', CALLS],
  ['a long result', '"x".repeat(99)', 'result', RESULT],
  ['long arguments, caught', 'try { echo("x".repeat(99)) } catch {} 1', 'result', RESULT],
  ['arguments that are long together', 'for (;;) echo("0123456789")', 'arguments', ARGUMENTS],
  ['long arguments of calls that fail', 'for (;;) { try { fail("0123456789") } catch {} }', 'arguments', ARGUMENTS],
  ['answers that are long together, caught', 'for (;;) { try { long(20) } catch {} }', 'answers', ANSWERS],
  ['calls that keep the service busy, caught', 'for (;;) { try { echo(1) } catch {} }', 'host_time', HOST],
  ['a result nested too deeply', 'let a = []; for (let i = 0; i < 100; i++) a = [a]; a', 'result', {}],
];

describe('a limit ends the snippet, and the next one runs as ever', () => {
  test.each(CASES)('%s', async (_what, code, limit, narrowed) => {
    const sandbox = makeSandbox(narrowed);
    const outcome = await sandbox.run(code, functions);
    expect(outcome).toMatchObject({ ended: 'limit', limit, message: expect.stringMatching(/^.+\. .+\.$/) });
    expect(given(await sandbox.run('1 + 1', functions))).toBe(2);
  });
});

describe('up to the limit', () => {
  test('a result of exactly the length is given', async () => {
    expect(given(await runOnce('"x".repeat(98)', {}, RESULT))).toBe('x'.repeat(98));
  });

  test('arguments of exactly the length are taken, over all calls', async () => {
    const code = (count: number) => `for (let n = 0; n < ${count}; n++) echo("0123456"); 1`;
    expect(given(await runOnce(code(10), functions, { argumentCharacters: 110 }))).toBe(1);
    expect(await runOnce(code(10), functions, { argumentCharacters: 109 })).toMatchObject({ limit: 'arguments' });
  });

  test('data of exactly the depth is given', async () => {
    expect(await runOnce('let a = []; for (let i = 1; i < 100; i++) a = [a]; a')).toMatchObject({ ended: 'returned' });
  });

  test('calls are made and told, and none beyond', async () => {
    let made = 0;
    const count = { count: async (): Promise<Json> => ++made };
    const outcome = await runOnce('for (let i = 0; i < 10; i++) try { count() } catch {}', count, CALLS);
    expect(outcome.calls).toHaveLength(3);
    expect(made).toBe(3);
    expect(given(await runOnce('count(); count(); count()', count, CALLS))).toBe(6);
  });

  test('lines are printed, the last one as far as it fits', async () => {
    const outcome = await runOnce('for (;;) print("0123456789")', {}, { outputCharacters: 25 });
    expect(outcome.printed).toEqual(['0123456789', '0123456789', '012']);
  });

  test('half of the memory can be used', async () => {
    const code = 'const a = []; for (let i = 0; i < 40; i++) a.push(new Uint8Array(1e5).fill(1)); a.length';
    expect(given(await runOnce(code))).toBe(40);
    expect(given(await runOnce(code, {}, { memoryBytes: 32_000_000 }))).toBe(40);
    expect(await runOnce(code, {}, { memoryBytes: 3_000_000 })).toMatchObject({ limit: 'memory' });
  });

  test.each(['(function f() { f() })()', 'eval("(".repeat(1e5))'])(
    'a stack overflow may be caught: %s',
    async (code) => {
      expect(given(await runOnce(`try { ${code} } catch (error) { error.message }`))).toBe('stack overflow');
    },
  );

  test('a few hundred calls may be nested', async () => {
    expect(given(await runOnce('(function f(n) { return n === 0 ? "deep" : f(n - 1) })(500)'))).toBe('deep');
  });

  test('every run has all of the memory to itself', async () => {
    const sandbox = makeSandbox();
    const code = 'const a = []; for (let i = 0; i < 50; i++) a.push(new Uint8Array(1e5).fill(1)); a.length';
    for (let run = 0; run < 4; run++) expect(given(await sandbox.run(code, {}))).toBe(50);
  });
});

test('what was printed and called before a thread was stopped is told', async () => {
  const outcome = await runOnce(
    'print("before"); echo(1); print("after"); Array(2 ** 32 - 1).join("")',
    functions,
    WALL,
  );
  expect(outcome).toMatchObject({ printed: ['before', 'after'], calls: [{ name: 'echo', arguments: [1] }] });
});

test('a snippet that ended in time has ended in time, even when the main thread looks late', async () => {
  const block = async (): Promise<Json> => {
    // After the answer is sent and before the end can be received, the time runs out.
    setImmediate(() => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 3 * WALL.wallMs));
    return 1;
  };
  expect(await runOnce('block(); print("after"); 2', { block }, WALL)).toMatchObject({ value: 2, printed: ['after'] });
});

test('the engine throws when it has no room for what the host hands in', async () => {
  const { prepareEngine } = (await import(
    new URL('./engine.js', WORKER_FILE).href
  )) as typeof import('../../src/sandbox/engine.js');
  const context = (await prepareEngine(1_000_000)).quickjs.newContext();
  expect(() => context.newString('x'.repeat(2_000_000))).toThrow('the memory is full');
});

test('others have their turn between two calls, however fast a snippet makes them', async () => {
  let turns = 0;
  let isOver = false;
  const take = (): void => {
    turns++;
    if (!isOver) setImmediate(take);
  };
  const seen: number[] = [];
  const look = async (): Promise<Json> => seen.push(turns);
  setImmediate(take);
  await runOnce('for (let n = 0; n < 50; n++) look()', { look });
  isOver = true;
  expect(new Set(seen).size).toBe(50);
});

test('a host function that answers after the end disturbs nobody', async () => {
  const sandbox = makeSandbox(WALL);
  let answer: (value: Json) => void = () => {};
  const late = { late: () => new Promise<Json>((resolve) => (answer = resolve)) };
  expect(await sandbox.run('late()', late)).toMatchObject({ limit: 'wall_time' });
  answer('too late');
  expect(given(await sandbox.run('echo(1)', functions))).toEqual([1]);
});

test('a thread is used again after a snippet that threw, and not after one that met a limit', async () => {
  const thread = new Thread(WORKER_FILE, LIMITS);
  await thread.run('throw 1', {});
  expect(thread.isSpent).toBe(false);
  await thread.run('new ArrayBuffer(1e9)', {});
  expect(thread.isSpent).toBe(true);
  await thread.close(new Error('closed'));
});
