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

/** The word with the fewest letters wrong, of equals the first in the alphabet; its first letter has to be right. */
export function likeliestWord(term: string, words: readonly string[]): string | null {
  const most = mistakesMax(term);
  let best: { readonly word: string; readonly mistakes: number } | null = null;
  for (const word of words) {
    if (word[0] !== term[0] || Math.abs(word.length - term.length) > most || DIGIT.test(word)) continue;
    const mistakes = distance(term, word);
    if (mistakes > most) continue;
    if (!best || mistakes < best.mistakes || (mistakes === best.mistakes && word < best.word))
      best = { word, mistakes };
  }
  return best?.word ?? null;
}
