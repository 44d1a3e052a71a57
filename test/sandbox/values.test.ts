import { describe, expect, test } from 'vitest';
import { nestingOf } from '../../src/sandbox/json.js';
import { given, runOnce } from '../support/sandbox.js';

const evaluate = async (code: string): Promise<unknown> => given(await runOnce(code));

describe('the value of a snippet', () => {
  test.each([
    ['the last expression', 'const a = 1; a + 1', 2],
    ['the last expression of a block', 'if (true) { "yes" } else { "no" }', 'yes'],
    ['data of any shape', '({ a: [1, "b", null, true, { c: 0.5 }] })', { a: [1, 'b', null, true, { c: 0.5 }] }],
    ['null for nothing at all', '', null],
    ['null for undefined', 'undefined', null],
    ['null for numbers that JSON lacks', '[NaN, Infinity, -Infinity]', [null, null, null]],
    ['text for a BigInt', '[10n ** 20n]', ['100000000000000000000']],
    ['text for a symbol', 'Symbol("mark")', 'Symbol(mark)'],
    [
      'text for a function',
      '({ f() {}, g: () => {} , h: [() => {}] })',
      { f: '[function f]', g: '[function g]', h: ['[function anonymous]'] },
    ],
    ['text for an error', '[new TypeError("bad")]', ['TypeError: bad']],
    ['text for a date', 'new Date(0)', '1970-01-01T00:00:00.000Z'],
    ['the entries of a collection', '[new Set([1, 2]), new Map([["a", 1]])]', [[1, 2], [['a', 1]]]],
    ['characters that end or break a C string', '"a\\u0000b\\ud800 😀"', 'a\u0000b\ud800 😀'],
    ['a code that holds such characters', '"a\u0000b 😀"', 'a\u0000b 😀'],
    ['data without properties that are undefined', '({ a: undefined })', {}],
  ])('is %s', async (_what, code, value) => {
    expect(await evaluate(code)).toEqual(value);
  });

  test('is an error when it goes in a circle', async () => {
    expect(await runOnce('const a = {}; a.a = a; a')).toMatchObject({
      ended: 'threw',
      message: 'The result cannot be given as JSON: TypeError: circular reference',
    });
  });
});

describe('a promise', () => {
  test.each([
    ['of an async function', 'async function main() { await null; return 7 }\nmain()', 7],
    ['of a chain', 'Promise.resolve(1).then((one) => one + 1).then((two) => two * 4)', 8],
    ['awaited at the top', 'const one = await Promise.resolve(1); one + 1', 2],
  ])('%s is resolved', async (_what, code, value) => {
    expect(await evaluate(code)).toBe(value);
  });

  test('that nobody asks for is still run to its end', async () => {
    expect(await runOnce('(async () => { await null; print("later") })(); 1')).toMatchObject({
      value: 1,
      printed: ['later'],
    });
  });

  test('that is rejected is what the snippet throws', async () => {
    const rejected = await runOnce('\n(async () => { throw new RangeError("far") })()');
    expect(rejected).toMatchObject({ ended: 'threw', message: 'RangeError: far', line: 2 });
  });

  test.each(['new Promise(() => {})', 'await new Promise(() => {})'])(
    'that never settles is an error: %s',
    async (code) => {
      expect(await runOnce(code)).toMatchObject({
        ended: 'threw',
        message: expect.stringContaining('promise'),
        line: null,
      });
    },
  );
});

describe('what a snippet throws', () => {
  test.each([
    ['an error, with its line', '\n\nnull.x', "TypeError: cannot read property 'x' of null", 3],
    ['an error of the syntax, with its line', '1;\nlet x = ;', "SyntaxError: unexpected token in expression: ';'", 2],
    ['text', 'throw "text"', 'text', null],
    ['data', 'throw { a: 1 }', '{"a":1}', null],
    ['nothing', 'throw undefined', 'undefined', null],
    ['what cannot be shown', 'throw { toJSON() { throw 1 } }', 'The snippet threw a value that has no text.', null],
    ['an error that lies about its stack', 'throw Object.assign(new Error("x"), { stack: 5 })', 'Error: x', null],
  ])('is told: %s', async (_what, code, message, line) => {
    expect(await runOnce(code)).toEqual({ ended: 'threw', message, line, printed: [], calls: [] });
  });

  test('is cut to what can be read', async () => {
    const outcome = await runOnce('throw new Error("x".repeat(1e6))');
    expect(outcome.ended === 'threw' && outcome.message.length).toBe(2000);
  });
});

describe('print', () => {
  test('writes strings as they are and other values as text, one line per call', async () => {
    const code =
      'print("a", 1, { b: [2] }, null, undefined, 5n, () => 1, new Error("e"), new Set([1])); print(); print("c\\nd")';
    expect((await runOnce(code)).printed).toEqual([
      'a 1 {"b":[2]} null undefined 5 [function anonymous] Error: e [1]',
      '',
      'c\nd',
    ]);
  });

  test('is kept when the snippet throws', async () => {
    expect(await runOnce('print("before"); throw 1')).toMatchObject({ ended: 'threw', printed: ['before'] });
  });
});

test('nesting is counted outside of strings only', () => {
  expect(nestingOf('1')).toBe(0);
  expect(nestingOf('{"a":[[]],"b":[]}')).toBe(3);
  expect(nestingOf('["[[[[","\\"[[","\\\\",[]]')).toBe(2);
});
