import { indexTerms } from './terms.js';

/** A passage of a text with the words that were found, so that a reader sees why it was found. */

const WORDS_SHOWN = 32;
/** Words shown before the first that was found. */
const WORDS_BEFORE = 8;
/** A text of one endless word must not fill the answer. */
const CHARACTERS_MAX = 400;
/** What is looked at of an endless word. */
const WORD_CHARACTERS_MAX = 200;
/** So much of a text is read word by word: to take a long text to its terms costs far more than to have found it. */
const CHARACTERS_READ = 10_000;
/** Behind that, so many places are tried that look like one of the words. */
const PLACES_TRIED = 200;
/** How far before such a place a passage may begin. */
const CHARACTERS_BEFORE = 300;

/** `terms` are the terms that were sought, or their beginnings; `isFound` tells whether a term is one of those. */
export function snippetOf(text: string, terms: Iterable<string>, isFound: (term: string) => boolean): string {
  const near = read(text, 0, isFound);
  const place = near.hits.size === 0 && near.hasMore ? farPlace(text, terms, isFound) : null;
  const { words, hits, hasMore } = place === null ? near : read(text, beginningBefore(text, place), isFound);
  const start = Math.max(0, firstOf(hits) - WORDS_BEFORE);
  const shown = words
    .slice(start, start + WORDS_SHOWN)
    .map((word, index) => (hits.has(start + index) ? `**${word}**` : word));
  const isCutBefore = start > 0 || place !== null;
  const isCutAfter = hasMore || words.length > start + WORDS_SHOWN;
  const passage = [...(isCutBefore ? ['…'] : []), ...shown, ...(isCutAfter ? ['…'] : [])].join(' ');
  return passage.length > CHARACTERS_MAX ? `${passage.slice(0, CHARACTERS_MAX).toWellFormed()}…` : passage;
}

interface Stretch {
  readonly words: readonly string[];
  /** Which of them were found. */
  readonly hits: ReadonlySet<number>;
  readonly hasMore: boolean;
}

const firstOf = (hits: ReadonlySet<number>): number => hits.values().next().value ?? 0;

/** The words from a place on, until the passage around the first that was found is whole, or until it has been enough. */
function read(text: string, from: number, isFound: (term: string) => boolean): Stretch {
  const words: string[] = [];
  const hits = new Set<number>();
  const word = /\S+/gu;
  word.lastIndex = from;
  for (const { 0: found, index } of text.matchAll(word)) {
    const isWhole = words.length >= Math.max(0, firstOf(hits) - WORDS_BEFORE) + WORDS_SHOWN;
    if (isWhole && (hits.size > 0 || index >= from + CHARACTERS_READ)) return { words, hits, hasMore: true };
    if (indexTerms(found.slice(0, WORD_CHARACTERS_MAX)).some(isFound)) hits.add(words.length);
    words.push(found);
  }
  return { words, hits, hasMore: false };
}

/** Where the first of the words stands in the rest of the text, as far as it is spelled like its term. */
function farPlace(text: string, terms: Iterable<string>, isFound: (term: string) => boolean): number | null {
  // A stem differs from its words in its last letter; of a joined term the first part stands in the text.
  const spellings = [...terms].map((term) => term.replace(/_.*/u, '').replace(/(?<=[a-z]{2})[a-z]$/, ''));
  if (spellings.length === 0) return null;
  // Terms hold letters and digits only, so that none of them means anything else to a pattern.
  const spelled = new RegExp(spellings.join('|'), 'giu');
  spelled.lastIndex = CHARACTERS_READ;
  let tried = 0;
  for (const { index } of text.matchAll(spelled)) {
    if (++tried > PLACES_TRIED) return null;
    const before = Math.max(0, index - WORD_CHARACTERS_MAX);
    const start = index - (/\S*$/u.exec(text.slice(before, index))?.[0].length ?? 0);
    const [word] = /\S+/u.exec(text.slice(start, start + WORD_CHARACTERS_MAX)) ?? [''];
    if (indexTerms(word).some(isFound)) return start;
  }
  return null;
}

/** The beginning of a word some way before a place. */
function beginningBefore(text: string, place: number): number {
  const before = text.slice(place - CHARACTERS_BEFORE, place);
  return place - before.length + Math.max(0, before.search(/\s/u));
}
