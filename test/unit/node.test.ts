import { expect, test } from 'vitest';
import { normalizeText } from '../../src/domain/node.js';

test.each([
  ['letter case', 'Redis Port', 'redis port'],
  ['white space', '  redis \n\t port ', 'redis port'],
  ['Unicode composition', 'cafe\u0301', 'caf\u00e9'],
  ['full-width letters', 'Ｒｅｄｉｓ', 'redis'],
])('%s does not make another text', (_, one, other) => {
  expect(normalizeText(one)).toBe(normalizeText(other));
});

test.each([
  ['punctuation', 'port 6380', 'port 6380!'],
  ['accents', 'resume', 'résumé'],
  ['a missing blank', 'port 6380', 'port6380'],
])('%s does', (_, one, other) => {
  expect(normalizeText(one)).not.toBe(normalizeText(other));
});

test.each(['Redis', '  A\u00a0B ', 'ﬁle', 'ΣΊΣΥΦΟΣ', 'I\u0307'])(
  'the normal form of %j is its own normal form',
  (text) => {
    expect(normalizeText(normalizeText(text))).toBe(normalizeText(text));
  },
);
