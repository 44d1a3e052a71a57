import { distance } from 'fastest-levenshtein';

/** What a word that nobody ever wrote was meant to be. */

/** Shorter ones are too like too many others. */
const LETTERS_MIN = 5;
/** From this length on two letters may be wrong. */
const LETTERS_LONG = 8;

const DIGIT = /\p{N}/u;

/** A word with a digit in it is a name or a number: another one would be another thing. */
export const mayBeMistyped = (term: string): boolean => term.length >= LETTERS_MIN && !DIGIT.test(term);

const mistakesMax = (term: string): number => (term.length >= LETTERS_LONG ? 2 : 1);

/** The words that it may have been meant to be, the fewest letters wrong first; the first letter has to be right. */
export function likelyWords(term: string, words: readonly string[]): string[] {
  const most = mistakesMax(term);
  return words
    .filter((word) => word[0] === term[0] && Math.abs(word.length - term.length) <= most && !DIGIT.test(word))
    .map((word) => ({ word, mistakes: distance(term, word) }))
    .filter(({ mistakes }) => mistakes <= most)
    .sort((a, b) => a.mistakes - b.mistakes || (a.word < b.word ? -1 : 1))
    .map(({ word }) => word);
}
