import { expect, test } from 'vitest';
import { likelyWords, mayBeMistyped } from '../../src/domain/typos.js';

const likeliestWord = (term: string, words: readonly string[]): string | null => likelyWords(term, words)[0] ?? null;

test.each([
  ['pytesst', ['pytest'], 'pytest'],
  ['prefernc', ['prefer', 'prefernce', 'preferenc'], 'preferenc'],
  ['heorn', ['heron'], null],
  ['herom', ['heron'], 'heron'],
  ['heronn', ['heron'], 'heron'],
  ['hero1', ['heron'], 'heron'],
])('%s among %j is read as %s', (term, words, expected) => {
  // A word that is written somewhere is not asked about; here it is only the distance that counts.
  expect(
    likeliestWord(
      term,
      words.filter((word) => word !== 'prefernce'),
    ),
  ).toBe(expected);
});

test.each([
  ['aheron', 'bheron'],
  ['Heron', 'heron'],
  ['erons', 'heron'],
])('the first letter has to be right: %s is not %s', (term, word) => {
  expect(likeliestWord(term, [word])).toBeNull();
});

test('in a word of fewer than eight letters one may be wrong, from eight on two', () => {
  expect(likeliestWord('abcdefg', ['abcdexx'])).toBeNull();
  expect(likeliestWord('abcdefg', ['abcdefx'])).toBe('abcdefx');
  expect(likeliestWord('abcdefgh', ['abcdefxx'])).toBe('abcdefxx');
  expect(likeliestWord('abcdefgh', ['abcdexxx'])).toBeNull();
  expect(likeliestWord('abcdefgh', ['abcdefghij'])).toBe('abcdefghij');
  expect(likeliestWord('abcdefgh', ['abcdefghijk'])).toBeNull();
  expect(likeliestWord('abcdefgh', ['abcdef'])).toBe('abcdef');
});

test('the fewest mistakes win, and of as many the first in the alphabet, in whatever order the words come', () => {
  const words = ['abcdefxx', 'abcdefgz', 'abcdefgx', 'abcdefgy'];
  expect(likeliestWord('abcdefgh', words)).toBe('abcdefgx');
  expect(likeliestWord('abcdefgh', words.toReversed())).toBe('abcdefgx');
});

test('a word with a digit is a name or a number, and no other word is meant by it or is it', () => {
  expect(likeliestWord('heron', ['heron2', 'heros'])).toBe('heros');
  expect(likeliestWord('heron', ['hero9'])).toBeNull();
  for (const term of ['e12345', '63790', 'sha256', 'heron٣']) expect(mayBeMistyped(term)).toBe(false);
});

test.each([
  ['cats', false],
  ['heron', true],
  ['数据库系统', true],
  ['', false],
])('%j may be mistyped: %s', (term, expected) => {
  expect(mayBeMistyped(term)).toBe(expected);
});

test('there is no likeliest among none', () => {
  expect(likeliestWord('heron', [])).toBeNull();
});
