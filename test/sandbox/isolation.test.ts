import { describe, expect, test } from 'vitest';
import type { Json } from '../../src/sandbox/json.js';
import { given, makeSandbox, runOnce } from '../support/sandbox.js';

const echo = { echo: async (...args: Json[]): Promise<Json> => args };

/** What ECMAScript itself defines, and what QuickJS adds of its own: an error that is an `Error`. */
const BUILT_IN = `
  Error EvalError RangeError ReferenceError SyntaxError TypeError URIError InternalError AggregateError Array
  Object Function Iterator parseInt parseFloat isNaN isFinite decodeURI decodeURIComponent encodeURI
  encodeURIComponent escape unescape Infinity NaN undefined eval Number Boolean String Math Reflect Symbol
  globalThis BigInt Date RegExp JSON Proxy Map Set WeakMap WeakSet ArrayBuffer SharedArrayBuffer
  Uint8ClampedArray Int8Array Uint8Array Int16Array Uint16Array Int32Array Uint32Array BigInt64Array
  BigUint64Array Float16Array Float32Array Float64Array DataView Promise WeakRef FinalizationRegistry
`;

describe('a snippet sees', () => {
  test('plain JavaScript, print and the given functions, and nothing else', async () => {
    const names = given(await runOnce('Object.getOwnPropertyNames(globalThis)', echo)) as string[];
    expect(names.sort()).toEqual([...BUILT_IN.trim().split(/\s+/), 'print', 'echo'].sort());
  });

  test.each(['import("node:fs")', 'import("./bridge.js")'])('no module: %s', async (code) => {
    expect(await runOnce(code)).toMatchObject({
      ended: 'threw',
      message: expect.stringContaining('could not load module'),
    });
  });

  test.each([
    ['a function', 'echo.constructor("return this")() === globalThis'],
    ['an answer', 'echo(1).constructor.constructor("return this")() === globalThis'],
    ['an error of the host', 'let seen; try { fail() } catch (error) { seen = error } seen.constructor === Error'],
    ['the prototypes', 'Object.getPrototypeOf(echo) === Function.prototype && echo({}) instanceof Array'],
    ['the callers', '(function f() { return f.caller })() == null'],
  ])('no other world through %s', async (_what, code) => {
    const functions = { ...echo, fail: () => Promise.reject(new Error('failed')) };
    expect(given(await runOnce(code, functions))).toBe(true);
    expect(given(await runOnce('typeof echo.constructor("return this")().process', functions))).toBe('undefined');
  });
});

describe('the host sees', () => {
  test('data only, with no prototype but its own', async () => {
    const seen: Json[] = [];
    const functions = { take: async (...args: Json[]) => seen.push(...args) };
    await runOnce(`take(JSON.parse('{"__proto__": {"isAdmin": true}}'), { constructor: { prototype: 1 } })`, functions);
    expect(seen.map((one) => Object.getPrototypeOf(one))).toEqual([Object.prototype, Object.prototype]);
    expect(seen.map((one) => (one as { isAdmin?: boolean }).isAdmin)).toEqual([undefined, undefined]);
    expect(({} as { isAdmin?: boolean }).isAdmin).toBeUndefined();
  });
});

describe('a snippet that redefines what is there hurts only itself', () => {
  test.each([
    ['JSON', 'JSON.parse = JSON.stringify = () => { throw 1 }; JSON = null'],
    ['String', 'String = null'],
    ['the methods of strings', 'String.prototype.slice = null; String.prototype.toString = null'],
    [
      'the way functions are called',
      'Function.prototype.call = Function.prototype.apply = Function.prototype.bind = null',
    ],
    [
      'the way arrays are walked',
      'Array.prototype[Symbol.iterator] = null; Array.prototype.push = Array.prototype.join = null',
    ],
    ['errors and collections', 'Error = Map = Set = Promise = null'],
    ['what objects inherit', 'Object.prototype.failed = Object.prototype.value = Object.prototype.error = "x"'],
    ['the global object', 'Object.setPrototypeOf(globalThis, null); Object.freeze(globalThis)'],
  ])('%s', async (_what, code) => {
    const sandbox = makeSandbox();
    const outcome = await sandbox.run(`${code}; print({ a: 1 }); ({ answer: echo("x", [1]) })`, echo);
    expect(outcome).toMatchObject({ value: { answer: ['x', [1]] }, printed: ['{"a":1}'] });
    expect(given(await sandbox.run('echo({ a: [1] })', echo))).toEqual([{ a: [1] }]);
  });

  test.each([
    ['how its data reads', 'Array.prototype.toJSON = () => "mine"; echo([1])', ['mine'], 'mine'],
    ['every object', 'Object.prototype.toJSON = () => 1; echo({ a: 1 })', [1], 1],
  ])('%s', async (_what, code, told, value) => {
    expect(await runOnce(code, echo)).toMatchObject({ calls: [{ arguments: told }], value });
  });

  test.each([
    ['what promises look for', 'Object.prototype.then = (resolve) => resolve(undefined)'],
    ['it so that nothing settles', 'Object.prototype.then = () => {}'],
    ['the elements of arrays', 'Object.defineProperty(Array.prototype, 0, { set() { throw 1 } })'],
  ])('%s', async (_what, code) => {
    const sandbox = makeSandbox();
    expect(await sandbox.run(`${code}; echo(1)`, echo)).toMatchObject({ ended: 'threw' });
    expect(given(await sandbox.run('echo(1)', echo))).toEqual([1]);
  });
});

test('nothing is left of a snippet for the next', async () => {
  const sandbox = makeSandbox();
  await sandbox.run(
    'globalThis.secret = 1; var other = 2; let third = 3; Array.prototype.mine = 4; JSON.parse = null',
    {},
  );
  const code = '[typeof secret, typeof other, typeof third, typeof [].mine, typeof JSON.parse]';
  expect(given(await sandbox.run(code, {}))).toEqual(['undefined', 'undefined', 'undefined', 'undefined', 'function']);
});
