import { expect, test } from 'vitest';
import { snippetOf } from '../../src/domain/snippets.js';
import { indexTerms } from '../../src/domain/terms.js';

const find = (text: string, query: string): string => {
  const terms = new Set(indexTerms(query));
  return snippetOf(text, terms, (term) => terms.has(term));
};

test.each([
  ['The pool of Redis is small', 'redis pools', 'The **pool** of **Redis** is small'],
  ['src/redis/pool.ts is small', 'pool', '**src/redis/pool.ts** is small'],
  ['Nothing fits', 'redis', 'Nothing fits'],
  ['', 'redis', ''],
])('found words are marked: %j', (text, query, snippet) => {
  expect(find(text, query)).toBe(snippet);
});

test('of a long text the passage around the first found word is shown', () => {
  const words = Array.from({ length: 100 }, (_, index) => `w${index}`);
  const snippet = find(words.join(' '), 'w50');
  expect(snippet).toMatch(/^… w42 .* \*\*w50\*\* .* w73 …$/);
  expect(snippet.split(' ')).toHaveLength(34);
});

test('an endless word does not fill the answer, and no character is cut in half', () => {
  const snippet = find('🙂'.repeat(10_000), 'x');
  expect(snippet.length).toBeLessThan(500);
  expect(snippet.isWellFormed()).toBe(true);
});

test('a word at the end of a long text is found there, in whatever form it stands', () => {
  const words = Array.from({ length: 12_000 }, (_, index) => `w${index}`);
  const text = [...words, 'the', 'Ponies', 'ran'].join(' ');
  expect(text.length).toBeGreaterThan(70_000);
  expect(find(text, 'pony')).toMatch(/^… (w\d+ ){7}the \*\*Ponies\*\* ran$/);
  expect(find(text, 'w9000')).toMatch(/^… w8992 .* \*\*w9000\*\* .* w9023 …$/);
  expect(find(text, 'unheard')).toMatch(/^w0 w1 .* w31 …$/);
});

test.each([
  ['of different words', Array.from({ length: 16_000 }, (_, index) => `w${index}`).join(' ')],
  ['of one endless word', 'a.'.repeat(50_000)],
  ['of words that only look alike', 'onetwothree '.repeat(8_000)],
])('a text %s is not taken to its terms as a whole', (_, text) => {
  let asked = 0;
  const isFound = (): boolean => {
    asked++;
    return false;
  };
  snippetOf(text, ['two'], isFound);
  expect(asked).toBeLessThan(5_000);
});

test('everything that is shown is marked where it was found, near the beginning too', () => {
  const words = Array.from({ length: 40 }, (_, index) => (index % 2 === 0 ? 'redis' : 'x'));
  expect(find(words.join(' '), 'redis').match(/\*\*redis\*\*/g)).toHaveLength(16);
});
