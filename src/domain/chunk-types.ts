/** What sort of thing a chunk says, told by its words. */

export const CHUNK_TYPES = ['fact', 'preference', 'pattern', 'note', 'decision'] as const;
export type ChunkType = (typeof CHUNK_TYPES)[number];

/** Five times what an ordinary chunk has: what a text is shows early, and a hostile one must not hold the service up. */
const CHARACTERS_READ = 20_000;

const said = (...phrases: readonly string[]): RegExp => {
  const spaced = phrases.map((phrase) => phrase.replaceAll(' ', '\\s+'));
  return new RegExp(`(?<![\\p{L}\\p{N}_])(?:${spaced.join('|')})(?![\\p{L}\\p{N}_])`, 'iu');
};

/** In the order in which they are tried, the first that is said being it: what is usually preferred is a pattern. */
const SIGNS: readonly (readonly [ChunkType, RegExp])[] = [
  ['decision', said('decided', 'chose', 'selected', 'going with', 'went with', 'opted for', 'settled on', 'concluded')],
  [
    'pattern',
    said(
      'usually',
      'often',
      'tends? to',
      'pattern',
      'always',
      'typically',
      'generally',
      'frequently',
      'regularly',
      'every time',
      'most of the time',
      'whenever',
    ),
  ],
  [
    'preference',
    said(
      'prefer(?:s|red|ring|ences?)?',
      'lik(?:es?|ed|ing)',
      'want(?:s|ed|ing)?',
      'rather',
      'dislik(?:es?|ed|ing)',
      'hat(?:es?|ed|ing)',
      'wish(?:es|ed|ing)?',
      'favou?r(?:s|ed|ing|ites?)?',
    ),
  ],
  [
    'fact',
    said(
      '(?:is|are|was|were) an?',
      'works (?:as|at|for)',
      'located in',
      'lives in',
      'born in',
      'studied at',
      'graduated from',
      'has \\p{N}+',
      'there are \\p{N}+',
      'there is',
    ),
  ],
];

export function detectType(text: string): ChunkType {
  const beginning = text.slice(0, CHARACTERS_READ);
  return SIGNS.find(([, sign]) => sign.test(beginning))?.[0] ?? 'note';
}
