import { stemmer } from 'stemmer';

/**
 * Text to search terms, for the index and for queries alike. It is done here and not by a database's tokenizer, so that every
 * engine finds the same things and no query syntax exists that a caller could reach: a term is letters, digits and `_` only.
 */

/** Words that say nothing about what a text is about. A query made of nothing else keeps them. */
const STOP_WORDS = new Set(
  `a about am an and any are as at be been being but by can could did do does doing for from had has have having he her him his how i
  if in into is it its itself just me might my of on or our ours shall she should so some such than that the their theirs them then
  there these they this those to too us very was we were what when where which while who whom whose why will with would you your
  yours`.split(/\s+/),
);

/** Scripts written without spaces between words: overlapping pairs of characters stand in for words. */
const UNSPACED = /[\p{scx=Han}\p{scx=Hiragana}\p{scx=Katakana}\p{scx=Thai}]+/gu;
const UNSPACED_TEST = /[\p{scx=Han}\p{scx=Hiragana}\p{scx=Katakana}\p{scx=Thai}]/u;

/** A run of word characters, possibly joined by the punctuation of identifiers and paths. */
const TOKEN = /[\p{L}\p{N}]+(?:[_./\\:@#$+~-]+[\p{L}\p{N}]+)*/gu;
const WORD = /[\p{L}\p{N}]+/gu;
const CAMEL_BOUNDARY = /(?<=\p{Ll}|\p{N})(?=\p{Lu})|(?<=\p{Lu})(?=\p{Lu}\p{Ll})/u;
const LATIN_ACCENTS = /[\u0300-\u036f]+/g;
const MARKS = /\p{M}+/gu;
/** Beyond what any script stacks on a letter; putting a run of marks in order takes time quadratic in its length. */
const MARKS_ABSURD = /(?<=\p{M}{30})\p{M}+/gu;
const NOT_ASCII = /[^\0-\x7f]/;
const HALF_CHARACTER_AT_END = /[\ud800-\udbff]$/;
const ASCII_WORD = /^[a-z]{3,}$/;

/** No word a person searches for is longer; the rest of a blob must not fill the index. */
const TERM_CHARACTERS_MAX = 64;

/**
 * One spelling for what reads the same: accents go, compatibility forms become ordinary ones. Composed again in between, because
 * what looks like an accent makes another syllable in kana and Hangul. What is left holds no marks, so words are letters and digits.
 */
const unify = (text: string): string =>
  NOT_ASCII.test(text)
    ? text.replace(MARKS_ABSURD, '').normalize('NFKD').replace(LATIN_ACCENTS, '').normalize('NFC').replace(MARKS, '')
    : text;

/** Lower case may bring a mark of its own, as in Turkish. */
const fold = (word: string): string =>
  NOT_ASCII.test(word) ? word.toLowerCase().replace(MARKS, '') : word.toLowerCase();

const cut = (term: string): string =>
  term.length > TERM_CHARACTERS_MAX ? term.slice(0, TERM_CHARACTERS_MAX).replace(HALF_CHARACTER_AT_END, '') : term;

const normalizeWord = (word: string): string => {
  const folded = cut(fold(word));
  return ASCII_WORD.test(folded) ? stemmer(folded) : folded;
};

function pairs(run: string): string[] {
  const characters = [...run];
  if (characters.length < 2) return characters;
  return characters.slice(1).map((character, index) => `${characters[index]}${character}`);
}

/** Folded but unstemmed word, its term, and whether a query may drop it. */
interface Token {
  readonly term: string;
  readonly stop: boolean;
}

function* wordTokens(word: string): Generator<Token> {
  if (UNSPACED_TEST.test(word)) {
    for (const run of word.match(UNSPACED) ?? [])
      for (const pair of pairs(fold(run))) yield { term: pair, stop: false };
    for (const rest of word.split(UNSPACED)) if (rest !== '') yield { term: normalizeWord(rest), stop: false };
    return;
  }
  yield { term: normalizeWord(word), stop: STOP_WORDS.has(fold(word)) };
}

/** Identifiers and paths give their parts and, joined by `_`, themselves: `src/auth/login.ts` is also one term. */
function* tokens(text: string): Generator<Token> {
  for (const [token] of unify(text).matchAll(TOKEN)) {
    const words = token.match(WORD) ?? [];
    for (const word of words) {
      yield* wordTokens(word);
      const parts = word.split(CAMEL_BOUNDARY);
      if (parts.length > 1)
        for (const part of parts) yield { term: normalizeWord(part), stop: STOP_WORDS.has(fold(part)) };
    }
    if (words.length > 1) {
      const whole = cut(words.map(fold).join('_'));
      yield { term: whole, stop: false };
    }
  }
}

/** The terms of a text in order, repetitions kept: their number is the text's length for ranking. */
export function indexTerms(text: string): string[] {
  return [...tokens(text)].map((token) => token.term).filter((term) => term !== '');
}

/** A query whose last word is still being typed: the terms before it, and how the terms that it may become begin. */
export function prefixTerms(query: string): { whole: string[]; beginnings: string[] } {
  const words = unify(query).match(WORD) ?? [];
  const last = words.at(-1);
  if (last === undefined) return { whole: [], beginnings: [] };
  // The index holds stems: what is typed may go beyond the stem of what is meant.
  const beginnings = [...new Set([cut(fold(last)), normalizeWord(last)])].filter((term) => term !== '');
  return { whole: words.slice(0, -1).map(normalizeWord), beginnings };
}

/** More terms than this say no more about what is meant. */
const QUERY_TERMS_MAX = 48;

/** The distinct terms of a query, stop words dropped unless there is nothing else. */
export function queryTerms(query: string): string[] {
  const all = [...tokens(query)].filter((token) => token.term !== '');
  const telling = all.filter((token) => !token.stop);
  const chosen = telling.length > 0 ? telling : all;
  return [...new Set(chosen.map((token) => token.term))].slice(0, QUERY_TERMS_MAX);
}
