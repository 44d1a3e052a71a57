import fc from 'fast-check';
import { expect, test } from 'vitest';
import { cutToFit } from '../../src/summarizer/cut.js';

test.each([
  ['a text that fits is left alone', 'One two.', 8, 'One two.'],
  ['whole sentences are kept', 'One two. Three four. Five six.', 22, 'One two. Three four.'],
  ['the space after the last sentence needs no room', 'One two.  Three', 8, 'One two.'],
  [
    'words are kept when the sentences that fit are too little',
    'Yes. Then everything else happened.',
    24,
    'Yes. Then everything…',
  ],
  ['punctuation does not hang', 'One, two, three', 12, 'One, two…'],
  ['a word that alone is too long is cut', 'Incomprehensibilities', 10, 'Incompreh…'],
  ['a pair is never halved', '😀😀😀', 4, '😀…'],
  ['a family is one character', '👨‍👩‍👧👨‍👩‍👧', 12, '👨‍👩‍👧…'],
  ['languages without spaces have words too', '我们清空了队列然后重启了工人', 9, '我们清空了队列…'],
  ['nothing fits into no room', 'One', 1, ''],
])('%s', (_, text, charactersMax, kept) => {
  expect(cutToFit(text, charactersMax)).toBe(kept);
});

test('whatever the text, what is kept fits, is its beginning and is well formed', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme', maxLength: 60 }), fc.integer({ min: 0, max: 60 }), (text, max) => {
      const kept = cutToFit(text, max);
      expect(kept.length).toBeLessThanOrEqual(max);
      expect(kept.isWellFormed()).toBe(true);
      expect(text.startsWith(kept.replace(/…$/, ''))).toBe(true);
    }),
  );
});
