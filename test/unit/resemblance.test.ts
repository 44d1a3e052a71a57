import { describe, expect, test } from 'vitest';
import { mergeSame, resemblance, saysTheSame } from '../../src/domain/resemblance.js';

const LONG =
  'The queue consumer of the payment service must acknowledge each message after its database transaction was committed';

test.each([
  ['Use the cache', 'use a cache', 1],
  ['Use the cache', 'Use the cache', 1],
  ['restart the worker', 'restart the server', 1 / 2],
  ['alpha beta gamma delta', 'alpha beta', 1 / 2],
  ['one', 'another', 0],
  ['', '', 1],
  ['', 'word', 0],
  ['!', '?', 0],
])('%j and %j share their telling words over the larger set: %d', (a, b, expected) => {
  expect(resemblance(a, b)).toBeCloseTo(expected, 9);
  expect(resemblance(b, a)).toBeCloseTo(expected, 9);
});

describe('say the same', () => {
  test.each([
    ['letter case and white space', 'Use  Redis\nfor locks', 'use redis for locks'],
    ['Unicode composition', 'Caf\u00e9', 'Cafe\u0301'],
    ['articles', 'Run the migrations before the tests', 'Run migrations before tests'],
    ['endings of words', 'Run migrations before testing', 'Run the migration before tests'],
    ['punctuation', 'Run `npm test`, then push.', 'Run npm test then push!'],
    ['a contraction', "Don't share the connection", 'Do not share the connection'],
    ['a typographic contraction', 'It can’t be retried', 'It cannot be retried'],
    ['one word more among many', LONG, LONG.replace('payment', 'new payment')],
    ['texts without a word', '!!!', ' !!! '],
  ])('%s', (_name, a, b) => {
    expect(saysTheSame(a, b)).toBe(true);
    expect(saysTheSame(b, a)).toBe(true);
  });
});

describe('never say the same', () => {
  test.each([
    ['a negation', 'Use Redis', 'Do not use Redis'],
    ['a negation in a contraction', LONG.replace('must', 'does'), LONG.replace('must', "doesn't")],
    ['a negation among many words', LONG, LONG.replace('must', 'must never')],
    ['a negation in another language', `nur ${LONG}`, `nur nicht ${LONG}`],
    ['a negation without spaces', '在部署到生产环境之前使用缓存', '不在部署到生产环境之前使用缓存'],
    ['a negation as a mark', `${LONG} if ready`, `${LONG} if !ready`],
    ['two negations and one', 'never not retry', 'never retry'],
    ['a number', 'Redis listens on port 6379', 'Redis listens on port 6380'],
    ['a number among many words', `${LONG} 3 times`, `${LONG} 4 times`],
    ['a number in a name', `${LONG} of v2`, `${LONG} of v3`],
    ['numbers the other way round', `${LONG} from 1 to 2`, `${LONG} from 2 to 1`],
    ['a sign', `${LONG} at -1`, `${LONG} at 1`],
    ['a decimal', `${LONG} 1.5`, `${LONG} 15`],
    ['a mark', 'Write it in C++', 'Write it in C#'],
    ['a comparison', 'Fails when x < y', 'Fails when x > y'],
    ['an equation', 'Fails when x == y', 'Fails when x != y'],
    ['a picture', '✅ deploy on Fridays', '❌ deploy on Fridays'],
    ['a question', 'Redis holds the locks', 'Redis holds the locks?'],
    ['words the other way round', 'Prefer tabs over spaces', 'Prefer spaces over tabs'],
    ['a word exchanged', 'Enable the cache', 'Disable the cache'],
    ['a word exchanged among many', LONG, LONG.replace('after', 'before')],
    ['a choice', `${LONG} red green`, `${LONG} red or green`],
    ['a condition', LONG, `${LONG} only`],
    ['different marks without a word', '!!!', '???'],
    ['something and nothing', 'Use Redis', ''],
    ['words that say nothing', 'this is it', 'that'],
  ])('%s', (_name, a, b) => {
    expect(saysTheSame(a, b)).toBe(false);
    expect(saysTheSame(b, a)).toBe(false);
    expect(mergeSame([line(a, 'x'), line(b, 'y')])).toHaveLength(2);
  });
});

const line = (text: string, ...sourceIds: string[]) => ({ text, sourceIds });

test('merging keeps the first text in order and every source once', () => {
  const merged = mergeSame([
    line('Run the migrations first', 'b'),
    line('Never skip the tests', 'c'),
    line('run migrations first', 'a', 'b'),
    line('RUN  MIGRATIONS FIRST.', 'd', 'a'),
  ]);
  expect(merged).toEqual([line('Run the migrations first', 'b', 'a', 'd'), line('Never skip the tests', 'c')]);
});

test('a line with a word more is found among others that share its common words', () => {
  const others = Array.from({ length: 100 }, (_unused, index) => line(`${LONG} for ${name(index)}`, `s${index}`));
  const merged = mergeSame([...others, line(`${LONG} always for ${name(40)}`, 'late')]);
  expect(merged).toHaveLength(100);
  expect(merged[40]?.sourceIds).toEqual(['s40', 'late']);
});

/** A word of letters only, because numbers would keep the lines apart anyway. */
const name = (index: number): string =>
  [...String(index)]
    .map((digit) => 'bcdfghjklm'[Number(digit)])
    .join('')
    .padStart(6, 'z');

test('nothing merges to nothing', () => {
  expect(mergeSame([])).toEqual([]);
});

test('a heap of lines made of the same few words is merged without comparing each with each', () => {
  const words = LONG.toLowerCase().split(' ');
  const rotated = Array.from({ length: 50_000 }, (_unused, index) => {
    const at = index % words.length;
    return line([...words.slice(at), ...words.slice(0, at), name(index)].join(' '), `s${index}`);
  });
  const startedAt = performance.now();
  expect(mergeSame(rotated).length).toBeGreaterThan(0);
  // Each with each would be more than a thousand million comparisons.
  expect(performance.now() - startedAt).toBeLessThan(20_000);
});
