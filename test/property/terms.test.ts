import fc from 'fast-check';
import { expect, test } from 'vitest';
import { indexTerms, queryTerms } from '../../src/domain/terms.js';

const RUN = { seed: 20_260_101, numRuns: 500 };

const TERM_CHARACTERS_MAX = 64;
const QUERY_TERMS_MAX = 48;

/** Any text at all, and texts that look like what is really written, so that both corners and the middle are met. */
const anyText = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 200 }),
  fc.string({ unit: 'grapheme', maxLength: 200 }),
  fc
    .array(
      fc.constantFrom('the', 'Redis', 'src/auth/login.ts', 'getUserId', '数据库', 'naïve', 'v1.2', '–', 'HTTP_500'),
    )
    .map((words) => words.join(' ')),
);

const plainWord = fc.stringMatching(/^[a-z]{1,12}$/);

test('every term is letters, digits and _ only, without combining marks, in lower case, and not too long', () => {
  fc.assert(
    fc.property(anyText, (text) => {
      for (const term of [...indexTerms(text), ...queryTerms(text)]) {
        expect(term).toMatch(/^[\p{L}\p{N}_]+$/u);
        expect(term).not.toMatch(/\p{M}/u);
        expect(term).toBe(term.toLowerCase());
        expect(term.length).toBeLessThanOrEqual(TERM_CHARACTERS_MAX);
      }
    }),
    RUN,
  );
});

test('the same text has the same terms every time', () => {
  fc.assert(
    fc.property(anyText, (text) => {
      expect(indexTerms(text)).toEqual(indexTerms(text));
      expect(queryTerms(text)).toEqual(queryTerms(text));
    }),
    RUN,
  );
});

test('terms of words that no ending is cut from are their own terms: taking them again changes nothing', () => {
  const stable = fc.oneof(
    fc.stringMatching(/^[a-z]{1,2}$/),
    fc.stringMatching(/^[a-z][0-9]{1,8}$/),
    fc.stringMatching(/^[а-я]{1,10}$/),
  );
  fc.assert(
    fc.property(fc.array(stable, { maxLength: 20 }), (words) => {
      const once = indexTerms(words.join(' '));
      expect(indexTerms(once.join(' '))).toEqual(once);
    }),
    RUN,
  );
});

test('a text asked as a query finds itself: each term of the query is a term of the text', () => {
  fc.assert(
    fc.property(anyText, (text) => {
      const indexed = new Set(indexTerms(text));
      for (const term of queryTerms(text)) expect(indexed).toContain(term);
    }),
    RUN,
  );
});

test('a query has distinct terms, not too many, and none only when the text has none', () => {
  fc.assert(
    fc.property(anyText, (text) => {
      const terms = queryTerms(text);
      expect(new Set(terms).size).toBe(terms.length);
      expect(terms.length).toBeLessThanOrEqual(QUERY_TERMS_MAX);
      expect(terms.length === 0).toBe(indexTerms(text).length === 0);
    }),
    RUN,
  );
});

test('how a text is composed does not matter: marks of their own and composed letters give the same terms', () => {
  const accented = fc.array(fc.constantFrom('résumé', 'naïve', 'Ångström', 'señal', 'Müller', 'plain'), {
    maxLength: 8,
  });
  fc.assert(
    fc.property(accented, (words) => {
      const text = words.join(' ');
      expect(indexTerms(text.normalize('NFD'))).toEqual(indexTerms(text.normalize('NFC')));
    }),
    RUN,
  );
});

test('an identifier is found whole and by each of its parts, whatever joins them', () => {
  fc.assert(
    fc.property(
      fc.array(plainWord, { minLength: 2, maxLength: 4 }),
      fc.constantFrom('_', '-', '.', '/', '::'),
      (parts, joint) => {
        const terms = indexTerms(parts.join(joint));
        expect(terms).toContain(parts.join('_'));
        for (const part of parts) expect(terms).toEqual(expect.arrayContaining(indexTerms(part)));
      },
    ),
    RUN,
  );
});

test('words side by side do not change each other', () => {
  fc.assert(
    fc.property(fc.array(plainWord, { maxLength: 20 }), (words) => {
      expect(indexTerms(words.join(' '))).toEqual(words.flatMap(indexTerms));
    }),
    RUN,
  );
});
