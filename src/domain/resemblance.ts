import type { CitedLine } from './citations.js';
import { normalizeText } from './node.js';
import { indexTerms } from './terms.js';

/**
 * When two short texts say the same, by their words. Of lines that say the same only one is shown, so a wrong "yes" loses
 * knowledge and a wrong "no" only repeats it: in doubt the answer is no.
 */

/** Words without which a sentence says the same; fewer than a search leaves out, because "to" is not "from" here. */
const EMPTY_WORDS = new Set(indexTerms('a an the this that these those it its is are be do does'));

/** Words that turn a sentence round or bound where it holds, in the languages that notes are mostly written in. */
const TURNING_WORDS =
  `not no non nor none never neither nothing without unless except until only or if instead rarely hardly
  avoid stop nicht kein keine keinen keinem keiner nie niemals ohne nur oder wenn ne pas jamais aucun aucune sans ou si nunca jamás
  sin solo não sem niet geen zonder mai senza inte aldrig utan nie bez не нет ни никогда без или если только`.split(
    /\s+/,
  );
const TURNING_CHARACTERS = '[不没沒無无非未勿]';

const word = (words: readonly string[]): string => `(?<![\\p{L}\\p{N}])(?:${words.join('|')})(?![\\p{L}\\p{N}])`;
const NUMBER = '(?:(?<![\\p{L}\\p{N}])[-−])?\\p{N}+(?:[.,:]\\p{N}+)*';
const NEGATING_MARK = '!(?=[\\p{L}\\p{N}_(=])';
/** Of what is neither word nor number, ordinary punctuation says nothing; the marks that tell C# from C++ do. */
const TELLING_MARK = '[^\\p{L}\\p{M}\\p{N}\\s.,;:!"\'`()…–—‐‑“”‘’„«»*_-]';
const SIGN = new RegExp([word(TURNING_WORDS), TURNING_CHARACTERS, NUMBER, NEGATING_MARK, TELLING_MARK].join('|'), 'gu');

/** A text as it is compared. */
interface Reading {
  /** The terms that carry meaning, in order. */
  readonly terms: readonly string[];
  readonly distinct: ReadonlySet<string>;
  /** The negations, numbers and marks, in order; where they differ, nothing is the same. */
  readonly signs: string;
}

/** What is normalised already. */
function read(normalized: string): Reading {
  const spelledOut = normalized
    .replace(/\bcan['’]t\b|\bcannot\b/g, 'can not')
    .replace(/\bwon['’]t\b/g, 'will not')
    .replace(/n['’]t\b/g, ' not');
  const terms = indexTerms(spelledOut).filter((term) => !EMPTY_WORDS.has(term));
  return { terms, distinct: new Set(terms), signs: (spelledOut.match(SIGN) ?? []).join(' ') };
}

/** From 0, nothing in common, to 1: the shared terms over those of the text that has more of them. */
export function resemblance(a: string, b: string): number {
  const [one, other] = [normalizeText(a), normalizeText(b)];
  return one === other ? 1 : overlap(read(one), read(other));
}

/** A single word says too little to be found in another text. */
const CONTAINED_WORDS_MIN = 2;

/** Whether the words of the one stand in the other, in their order and with nothing between them. */
export function contains(text: string, part: string): boolean {
  const words = wordsOf(part);
  return words.length >= CONTAINED_WORDS_MIN && ` ${wordsOf(text).join(' ')} `.includes(` ${words.join(' ')} `);
}

const wordsOf = (text: string): string[] => normalizeText(text).match(/[\p{L}\p{M}\p{N}_]+/gu) ?? [];

/** The same text, or almost the same words in the same order with the same negations, numbers and marks. */
export function saysTheSame(a: string, b: string): boolean {
  const [one, other] = [normalizeText(a), normalizeText(b)];
  return one === other || isAlike(read(one), read(other));
}

/** The one may have a tenth more words than the other. */
const OVERLAP_MIN = 0.9;

const isAlike = (a: Reading, b: Reading): boolean =>
  a.signs === b.signs &&
  overlap(a, b) >= OVERLAP_MIN &&
  (a.terms.length < b.terms.length ? isWithin(a.terms, b.terms) : isWithin(b.terms, a.terms));

function overlap({ distinct: a }: Reading, { distinct: b }: Reading): number {
  const [smaller, larger] = a.size < b.size ? [a, b] : [b, a];
  if (larger.size === 0) return 0;
  let shared = 0;
  for (const term of smaller) if (larger.has(term)) shared += 1;
  return shared / larger.size;
}

/** Words may be added, not exchanged or moved: "prefer tabs to spaces" has all the words of its opposite. */
function isWithin(shorter: readonly string[], longer: readonly string[]): boolean {
  let found = 0;
  for (const term of longer) if (term === shorter[found]) found += 1;
  return found === shorter.length;
}

/** A line that stands for all that say the same. */
interface Said {
  readonly place: number;
  readonly text: string;
  readonly sourceIds: Set<string>;
  readonly reading: Reading;
}

/** Beyond these a line is compared with no others, so that a heap of similar lines does not take quadratic time. */
const HOLDERS_MAX = 16;
const RARE_TERMS_MAX = 8;

/** The lines without those that say what an earlier one says; that one cites their sources beside its own. */
export function mergeSame(lines: readonly CitedLine[]): CitedLine[] {
  const differing = mergeEqual(lines);
  const frequencies = countTerms(differing);
  const holders = new Map<string, Said[]>();
  const kept: Said[] = [];
  for (const said of differing) {
    const keys = keysOf(said.reading, frequencies);
    const candidates = new Set(keys.flatMap((key) => holders.get(key) ?? []));
    const same = [...candidates].sort((a, b) => a.place - b.place).find((one) => isAlike(one.reading, said.reading));
    if (same) cite(same, said.sourceIds);
    else {
      kept.push(said);
      for (const key of keys) hold(holders, key, said);
    }
  }
  return kept.map(({ text, sourceIds }) => ({ text, sourceIds: [...sourceIds] }));
}

/** Equal texts first: they are most of what is the same, and each needs to be read only once. */
function mergeEqual(lines: readonly CitedLine[]): Said[] {
  const byText = new Map<string, Said>();
  for (const [place, { text, sourceIds }] of lines.entries()) {
    const normalized = normalizeText(text);
    const same = byText.get(normalized);
    if (same) cite(same, sourceIds);
    else byText.set(normalized, { place, text, sourceIds: new Set(sourceIds), reading: read(normalized) });
  }
  return [...byText.values()];
}

function cite(said: Said, sourceIds: Iterable<string>): void {
  for (const id of sourceIds) said.sourceIds.add(id);
}

function hold(holders: Map<string, Said[]>, key: string, said: Said): void {
  const held = holders.get(key);
  if (!held) holders.set(key, [said]);
  else if (held.length < HOLDERS_MAX) held.push(said);
}

function countTerms(all: readonly Said[]): Map<string, number> {
  const frequencies = new Map<string, number>();
  for (const { reading } of all)
    for (const term of reading.distinct) frequencies.set(term, (frequencies.get(term) ?? 0) + 1);
  return frequencies;
}

/**
 * Where a line is found by those that say the same: under all of its words, and under its rarest. Of two
 * sets that differ in fewer than n terms, the first n of each have one in common, in whatever order all terms are put.
 */
function keysOf({ terms, distinct, signs }: Reading, frequencies: ReadonlyMap<string, number>): string[] {
  const rarity = (term: string): number => frequencies.get(term) ?? 0;
  const rarest = [...distinct]
    .sort((a, b) => rarity(a) - rarity(b) || (a < b ? -1 : 1))
    .slice(0, Math.min(Math.floor(distinct.size / 10) + 1, RARE_TERMS_MAX));
  return [`all ${signs}\n${terms.join(' ')}`, ...rarest.map((term) => `rare ${signs}\n${term}`)];
}
