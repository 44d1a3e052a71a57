import fc from 'fast-check';
import { beforeAll, expect, test } from 'vitest';
import { CHUNK_TOKENS_MAX, cutText } from '../../src/domain/chunking.js';
import { loadTokenCounter, type TokenCounter } from '../../src/services/tokens.js';

const RUN = { seed: 20_260_101, numRuns: 150 };

let count: TokenCounter;
beforeAll(async () => {
  count = await loadTokenCounter();
});

/** Anything a string can hold, half characters, marks and directions included. */
const anyRun = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 40 }),
  fc.string({ unit: 'grapheme', maxLength: 40 }),
  fc.string({
    unit: fc.constantFrom(
      '\ud83d',
      '\ude00',
      '\u0301',
      '\u200d',
      '\ufe0f',
      '🇳',
      '👩',
      'e',
      '猫',
      'שלום',
      '\u202e',
      'ก',
      '각',
    ),
    maxLength: 60,
  }),
);
const anyBlank = fc.constantFrom(
  ' ',
  ' ',
  ' ',
  '\n',
  '\n',
  '\n\n',
  '\t',
  '  ',
  '\r\n',
  '\u00a0',
  '\u2028',
  '\ufeff',
  '    ',
  '\n \n',
);
const anyMark = fc.constantFrom(
  '# ',
  '## Title\n',
  'Title\n===\n',
  '---\n',
  '```\n',
  '```ts\n',
  '~~~\n',
  '````\n',
  '- ',
  '1. ',
  '| a | b |\n',
  '|---|\n',
  '    ',
  '\n\n    x\n\n',
  '. ',
  '! "A',
  '。',
  '> ',
);
const anyWord = fc.constantFrom(
  'decided',
  'usually',
  'prefers',
  'is a',
  'Redis',
  'port',
  '6380',
  'src/cart/store.ts',
  'The',
);

/** A piece of text, some of them again and again, so that all limits are met. */
const anyPart = fc
  .tuple(
    fc.array(
      fc.oneof(anyRun, anyBlank, { weight: 2, arbitrary: anyMark }, { weight: 3, arbitrary: anyWord }, anyBlank),
      {
        minLength: 1,
        maxLength: 12,
      },
    ),
    fc.oneof({ weight: 3, arbitrary: fc.constant(1) }, fc.integer({ min: 2, max: 400 })),
  )
  .map(([parts, times]) => parts.join('').repeat(times).slice(0, 12_000));
const anyText = fc.array(anyPart, { maxLength: 6, size: 'max' }).map((parts) => parts.join(''));

const piecesOf = (text: string): string[] => [...cutText(text, count)].filter((piece) => piece !== null);

const withoutBlanks = (text: string): string => text.replace(/\s/g, '');

test('no piece is too long or blank, and of the text nothing is lost and nothing added', () => {
  fc.assert(
    fc.property(anyText, (text) => {
      const pieces = piecesOf(text);
      expect(pieces.filter((piece) => count(piece, CHUNK_TOKENS_MAX) > CHUNK_TOKENS_MAX)).toEqual([]);
      expect(pieces.filter((piece) => piece.trim() === '')).toEqual([]);
      expect(withoutBlanks(pieces.join('')) === withoutBlanks(text)).toBe(true);
    }),
    RUN,
  );
});

test('the same text is always cut in the same way', () => {
  fc.assert(
    fc.property(anyText, (text) => {
      expect(piecesOf(text)).toEqual(piecesOf(text));
    }),
    { ...RUN, numRuns: 40 },
  );
});

test('no two halves of a character are parted', () => {
  fc.assert(
    fc.property(anyText, (text) => {
      const wellFormed = text.toWellFormed();
      for (const piece of piecesOf(wellFormed)) expect(piece.isWellFormed()).toBe(true);
    }),
    { ...RUN, numRuns: 80 },
  );
});

test('code that fits is one piece, verbatim, whatever stands in it', () => {
  const anyLine = fc.oneof(
    anyRun,
    anyWord,
    fc.constantFrom('', '  ', '# no heading', '- no item', '| no | table |', '        deep'),
  );
  fc.assert(
    fc.property(fc.array(anyLine, { maxLength: 20 }), (lines) => {
      const inside = lines.join('\n').replaceAll('~', '').replaceAll('\r', '');
      const code = `~~~\n${inside}\n~~~`;
      const paragraph = 'We decided it. '.repeat(60).trim();
      const text = `${paragraph}\n\n${code}\n\n${paragraph}`;
      fc.pre(count(code, CHUNK_TOKENS_MAX) <= CHUNK_TOKENS_MAX);
      expect(piecesOf(text).join('\n\n')).toBe(text);
      expect(piecesOf(text).some((piece) => piece.includes(code))).toBe(true);
    }),
    RUN,
  );
});

test('the tokenizer reads no more than a small multiple of the text', () => {
  fc.assert(
    fc.property(anyText, (text) => {
      let characters = 0;
      const counted: TokenCounter = (part, max) => {
        characters += part.length;
        return count(part, max);
      };
      for (const piece of cutText(text, counted)) expect(piece).not.toBe('');
      expect(characters).toBeLessThanOrEqual(8 * text.length);
    }),
    RUN,
  );
});
