/** Scores as pure arithmetic. Every constant of the ranking stands in this file. */

const BM25_K1 = 1.2;
const BM25_B = 0.75;

/** Numbers of the visible corpus that weigh its terms. */
export interface Corpus {
  readonly documents: number;
  readonly terms: number;
  /** In how many documents each query term occurs. */
  readonly frequencies: ReadonlyMap<string, number>;
}

export const inverseFrequency = (documents: number, frequency: number): number =>
  Math.log(1 + (documents - frequency + 0.5) / (frequency + 0.5));

/** A document as the lexical lane sees it: how often each query term occurs in it, and how long it is. */
export interface LexicalDocument {
  readonly counts: ReadonlyMap<string, number>;
  readonly length: number;
}

export interface LexicalScore {
  /** BM25 over what a document holding every term could reach: comparable between queries and with other lanes. */
  readonly score: number;
  /** Weight of the matched terms over the weight of the query's terms that the corpus knows at all. */
  readonly coverage: number;
  /** Summed weight of the matched terms: how unlikely the match is by chance. */
  readonly evidence: number;
  readonly matchedTerms: readonly string[];
}

export function lexicalScorer(
  corpus: Corpus,
  queryTerms: readonly string[],
): (document: LexicalDocument) => LexicalScore {
  const weights = new Map(
    queryTerms.map((term) => [term, inverseFrequency(corpus.documents, corpus.frequencies.get(term) ?? 0)]),
  );
  const averageLength = corpus.documents === 0 ? 1 : Math.max(1, corpus.terms / corpus.documents);
  let possible = 0;
  let known = 0;
  for (const [term, weight] of weights) {
    possible += weight * (BM25_K1 + 1);
    // A word nobody ever wrote cannot tell one memory from another; it lowers the score but bars no one.
    if ((corpus.frequencies.get(term) ?? 0) > 0) known += weight;
  }
  return ({ counts, length }) => {
    const norm = BM25_K1 * (1 - BM25_B + (BM25_B * length) / averageLength);
    let sum = 0;
    let evidence = 0;
    const matchedTerms: string[] = [];
    for (const [term, count] of counts) {
      const weight = weights.get(term);
      if (weight === undefined || count === 0) continue;
      sum += (weight * count * (BM25_K1 + 1)) / (count + norm);
      evidence += weight;
      matchedTerms.push(term);
    }
    return {
      score: possible === 0 ? 0 : sum / possible,
      coverage: known === 0 ? 0 : evidence / known,
      evidence,
      matchedTerms,
    };
  };
}

export type ReadMode = 'ambient' | 'targeted';

/** What opens an answer holds in general, so it need not speak of everything that was asked about. */
export type AdmissionMode = ReadMode | 'opening';

/**
 * What lets a match in. Coverage decides in a small corpus, where no word is rare; in a large one a match on rare words is
 * evidence by itself, however long the question was. Ambient answers come unasked, so they must be surer.
 */
const ADMISSION = {
  targeted: { coverage: 0.65, evidence: 2.5 },
  ambient: { coverage: 0.8, evidence: 5 },
  opening: { coverage: 0.25, evidence: 1.5 },
} as const satisfies Record<AdmissionMode, { coverage: number; evidence: number }>;

export const isAdmitted = (mode: AdmissionMode, match: { coverage: number; evidence: number }): boolean =>
  match.coverage >= ADMISSION[mode].coverage || match.evidence >= ADMISSION[mode].evidence;

/**
 * How many posting-list entries a query may walk before its commoner terms stop choosing candidates. They still count in the
 * score of every candidate; a memory that holds none of the rarer terms could hardly have won.
 */
const POSTINGS_MAX = 2_000;

/** The known terms of a query: a candidate holds at least one of `any`, and is the more welcome if it holds one of `also`. */
export interface ChosenTerms {
  readonly any: readonly string[];
  readonly also: readonly string[];
}

/**
 * Rarest first, terms choose candidates. It ends where what is left could not let a memory in by itself, or where the lists grow
 * too long; known terms give at least one.
 */
export function chooseTerms(mode: AdmissionMode, corpus: Corpus, queryTerms: readonly string[]): ChosenTerms {
  const known = queryTerms
    .map((term) => ({ term, frequency: corpus.frequencies.get(term) ?? 0 }))
    .filter(({ frequency }) => frequency > 0)
    .sort((a, b) => a.frequency - b.frequency || (a.term < b.term ? -1 : 1));
  const weightOf = ({ frequency }: { frequency: number }): number => inverseFrequency(corpus.documents, frequency);
  const total = known.reduce((sum, term) => sum + weightOf(term), 0);
  const any: string[] = [];
  let left = total;
  let postings = 0;
  for (const term of known) {
    postings += term.frequency;
    const suffices = !isAdmitted(mode, { coverage: left / total, evidence: left });
    if (any.length > 0 && (suffices || postings > POSTINGS_MAX)) break;
    any.push(term.term);
    left -= weightOf(term);
  }
  return { any, also: known.slice(any.length).map(({ term }) => term) };
}

/** The rarer of a query's terms, as many as may be looked up whole; one at least. */
export function affordableTerms(corpus: Corpus, queryTerms: readonly string[], postingsMax: number): string[] {
  const frequency = (term: string): number => corpus.frequencies.get(term) ?? 0;
  const known = queryTerms.filter((term) => frequency(term) > 0).sort((a, b) => frequency(a) - frequency(b));
  let postings = 0;
  return known.filter((term, index) => {
    postings += frequency(term);
    return index === 0 || postings <= postingsMax;
  });
}

/** One way of finding candidates, with a score in [0, 1] for each it found. */
export interface Lane {
  readonly weight: number;
  readonly scores: ReadonlyMap<string, number>;
}

/** Weighted mean of the lanes' scores; a lane that did not find a candidate counts as zero. */
export function fuse(lanes: readonly Lane[]): Map<string, number> {
  const total = lanes.reduce((sum, lane) => sum + lane.weight, 0);
  const fused = new Map<string, number>();
  for (const lane of lanes) {
    for (const [id, score] of lane.scores) fused.set(id, (fused.get(id) ?? 0) + (lane.weight * score) / total);
  }
  return fused;
}

const UTILITY_SHRINKAGE = 10;
const UTILITY_STRENGTH = 0.05;

/** The factor that votes put on a score: few votes barely count, and no number of them moves it by more than 5 %. */
export const utilityFactor = (votes: { count: number; mean: number }): number =>
  1 + UTILITY_STRENGTH * (votes.count / (votes.count + UTILITY_SHRINKAGE)) * votes.mean;

/** What remains of a fact's score once another fact has replaced it. */
export const SUPERSEDED_FACTOR = 0.5;

/** Highest score first; equal scores by id, so that an unchanged store gives an unchanged answer. */
export const byScore = (a: { id: string; score: number }, b: { id: string; score: number }): number =>
  b.score - a.score || (a.id < b.id ? -1 : a.id > b.id ? 1 : 0);

/** By how much the importance of an episode, from 0 to 1, moves its score: no more than a quarter either way. */
const IMPORTANCE_STRENGTH = 0.5;

export const importanceFactor = (importance: number): number => 1 + IMPORTANCE_STRENGTH * (importance - 0.5);

/** What a chunk is ranked by: each share is from 0 to 1. */
export interface ChunkMatch {
  readonly lexical: number;
  /** How much of the question its tags name. */
  readonly tagShare: number;
  readonly isPhrase: boolean;
  readonly confidence: number;
  readonly ageMs: number;
}

/** A tag was chosen for what the chunk is about; the question word for word is nearly as telling. */
const CHUNK_WEIGHTS = { lexical: 1, tag: 1, phrase: 0.75 } as const;
const DAY_MS = 86_400_000;
/** What is so old or younger, and the factor of its score. */
const RECENCY = [
  { daysMax: 7, factor: 1.1 },
  { daysMax: 30, factor: 1.04 },
  { daysMax: 180, factor: 1 },
  { daysMax: Number.POSITIVE_INFINITY, factor: 0.92 },
] as const;

export function chunkScore({ lexical, tagShare, isPhrase, confidence, ageMs }: ChunkMatch): number {
  const { lexical: words, tag, phrase } = CHUNK_WEIGHTS;
  const match = (words * lexical + tag * tagShare + (isPhrase ? phrase : 0)) / (words + tag + phrase);
  const recency = RECENCY.find(({ daysMax }) => ageMs <= daysMax * DAY_MS)?.factor ?? 1;
  return match * (0.85 + 0.3 * confidence) * recency;
}
