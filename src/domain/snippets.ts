import { indexTerms } from './terms.js';

/** A passage of a text with the words that were found, so that a reader sees why it was found. */

const WORDS_SHOWN = 32;
/** Words shown before the first that was found. */
const WORDS_BEFORE = 8;
const WORD = /\S+/gu;
/** A text of one endless word must not fill the answer. */
const CHARACTERS_MAX = 400;

export function snippetOf(text: string, isFound: (term: string) => boolean): string {
  const words = [...text.matchAll(WORD)].map(([word]) => word);
  const hits = new Set<number>();
  for (const [index, word] of words.entries()) {
    const first = hits.values().next().value;
    if (first !== undefined && index >= first - WORDS_BEFORE + WORDS_SHOWN) break;
    if (indexTerms(word).some(isFound)) hits.add(index);
  }
  const start = Math.max(0, (hits.values().next().value ?? 0) - WORDS_BEFORE);
  const end = Math.min(words.length, start + WORDS_SHOWN);
  const shown = words.slice(start, end).map((word, index) => (hits.has(start + index) ? `**${word}**` : word));
  const passage = [...(start > 0 ? ['…'] : []), ...shown, ...(end < words.length ? ['…'] : [])].join(' ');
  return passage.length > CHARACTERS_MAX ? `${passage.slice(0, CHARACTERS_MAX).toWellFormed()}…` : passage;
}
