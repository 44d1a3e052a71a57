import { expect, test } from 'vitest';
import { normalizeText } from '../../src/domain/node.js';

test.each([
  ['letter case', 'Redis Port', 'redis port'],
  ['white space', '  redis \n\t port ', 'redis port'],
  ['Unicode composition', 'cafe\u0301', 'caf\u00e9'],
])('%s does not make another text', (_, one, other) => {
  expect(normalizeText(one)).toBe(normalizeText(other));
});

test.each([
  ['punctuation', 'port 6380', 'port 6380!'],
  ['accents', 'resume', 'résumé'],
  ['a missing blank', 'port 6380', 'port6380'],
  ['a power', '10² retries', '102 retries'],
])('%s does', (_, one, other) => {
  expect(normalizeText(one)).not.toBe(normalizeText(other));
});

test.each(['Redis', '  A\u00a0B ', 'ﬁle', 'ΣΊΣΥΦΟΣ', 'I\u0307'])(
  'the normal form of %j is its own normal form',
  (text) => {
    expect(normalizeText(normalizeText(text))).toBe(normalizeText(text));
  },
);

test('a run of marks that no script writes is taken as it comes, at once', () => {
  const run = `a${'\u0301\u0327'.repeat(50_000)}`;
  expect(normalizeText(run)).toBe(run);
  expect(normalizeText(`${run}\u0301`)).not.toBe(run);
});
