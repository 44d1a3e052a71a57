import { Random } from './random.js';

export const WORDS = 30_000;
const TEXT_WORDS = { min: 8, max: 40 };
const QUERY_WORDS = { min: 2, max: 6 };

/** Zipf's law with Mandelbrot's offset, as natural language has it: the commonest word stands in about half of the texts. */
const RANK_OFFSET = 2.7;

const ONSETS = [
  'b',
  'br',
  'd',
  'dr',
  'f',
  'g',
  'gr',
  'k',
  'kl',
  'l',
  'm',
  'n',
  'p',
  'pl',
  'r',
  's',
  'st',
  't',
  'tr',
  'v',
  'z',
];
const VOWELS = ['a', 'e', 'i', 'o', 'u', 'ai', 'ou'];
/** None of these ends an English suffix after a vowel, so stemming does not make two words one. */
const ENDINGS = ['b', 'f', 'g', 'k', 'm', 'p', 'x', 'rk', 'lm', 'nk'];

/** Made-up words, commonest first, and the texts and questions that are made of them. No word is a stop word: the harder case. */
export class Vocabulary {
  readonly words: readonly string[];
  readonly #cumulative: Float64Array;

  constructor(seed: number) {
    this.words = makeWords(new Random(seed));
    this.#cumulative = new Float64Array(this.words.length);
    let sum = 0;
    for (let rank = 0; rank < this.words.length; rank++) {
      sum += 1 / (rank + 1 + RANK_OFFSET);
      this.#cumulative[rank] = sum;
    }
  }

  text(random: Random): string {
    return this.#join(random.between(TEXT_WORDS.min, TEXT_WORDS.max), () => this.#usual(random));
  }

  /** Half of its words are drawn as they are used, and are mostly common; half from the whole list, and are mostly rare. */
  query(random: Random): string {
    return this.#join(random.between(QUERY_WORDS.min, QUERY_WORDS.max), () =>
      random.next() < 0.5 ? this.#usual(random) : random.pick(this.words),
    );
  }

  #join(count: number, word: () => string): string {
    let text = word();
    for (let index = 1; index < count; index++) text += ` ${word()}`;
    return text;
  }

  #usual(random: Random): string {
    const wanted = random.next() * (this.#cumulative.at(-1) as number);
    let low = 0;
    let high = this.#cumulative.length - 1;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.#cumulative[middle] as number) <= wanted) low = middle + 1;
      else high = middle;
    }
    return this.words[low] as string;
  }
}

function makeWords(random: Random): string[] {
  const words = new Set<string>();
  while (words.size < WORDS) {
    let word = '';
    for (let syllables = random.between(1, 3); syllables > 0; syllables--)
      word += random.pick(ONSETS) + random.pick(VOWELS);
    words.add(word + random.pick(ENDINGS));
  }
  return [...words];
}
