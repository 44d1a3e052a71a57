import { expect, test } from 'vitest';
import { snippetOf } from '../../src/domain/snippets.js';
import { indexTerms } from '../../src/domain/terms.js';

const find = (text: string, query: string): string => {
  const terms = new Set(indexTerms(query));
  return snippetOf(text, (term) => terms.has(term));
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
