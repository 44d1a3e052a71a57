import { checkConversation } from '../domain/chunks.js';
import { normalizeText } from '../domain/node.js';
import {
  type Corpus,
  chooseTerms,
  chunkScore,
  inverseFrequency,
  isAdmitted,
  lexicalScorer,
} from '../domain/ranking.js';
import { checkQuery, checkRepoId } from '../domain/rules.js';
import { type View, viewOf } from '../domain/spaces.js';
import { indexTerms, queryTerms } from '../domain/terms.js';
import { likelyWords, mayBeMistyped } from '../domain/typos.js';
import { passGate } from '../domain/violations.js';
import type { ChunkCandidate, ChunkFilter, ChunkRelative, Store, StoredChunk } from '../storage/port.js';
import type { Context } from './context.js';
import { countTerms } from './retrieval.js';

export interface ChunkQuestion {
  readonly repoId: string;
  readonly query: string;
  readonly filter: ChunkFilter;
  readonly limit: number;
  /** How many chunks before and after each hit are shown with it. */
  readonly neighbours: number;
  readonly tokensMax: number | null;
}

/** Why a chunk was found. */
interface Matched {
  readonly terms: readonly string[];
  readonly tags: readonly string[];
  /** Whether it holds the whole question word for word. */
  readonly phrase: boolean;
}

interface ScoredChunk {
  readonly id: string;
  readonly score: number;
  readonly createdAtMs: number;
  readonly matched: Matched;
}

interface RecalledChunk extends Omit<ScoredChunk, 'id' | 'createdAtMs'> {
  readonly chunk: StoredChunk;
  readonly before: readonly StoredChunk[];
  readonly after: readonly StoredChunk[];
}

export interface ChunkRecollection {
  readonly recalled: readonly RecalledChunk[];
  /** How sure the chunks of the answer are, the better match counting for more. */
  readonly confidence: number;
  /** The words that nobody ever wrote, with what was looked for instead. */
  readonly corrected: ReadonlyMap<string, string>;
  /** How many fit, of those that were looked at. */
  readonly matches: number;
  readonly isComplete: boolean;
  readonly tokens: number;
}

/** More matches than these are not weighed against each other. */
const POOL_SIZE = 500;

/** Finds chunks by words and tags. Each in the answer counts as looked at, once. */
export async function recallChunks(context: Context, question: ChunkQuestion): Promise<ChunkRecollection> {
  const { repoId, limit, neighbours, tokensMax } = question;
  const { conversationId } = question.filter;
  passGate('semantic', [
    ...checkRepoId('repo_id', repoId),
    ...checkQuery(question.query, null),
    ...(conversationId === null ? [] : checkConversation(conversationId)),
  ]);
  const { scored, corrected, isComplete } = await findScored(context, question);
  const best = scored.slice(0, limit);
  const chunks = await chunksOf(
    context,
    repoId,
    best.map(({ id }) => id),
  );
  const recalled: RecalledChunk[] = [];
  let tokens = 0;
  for (const { id, score, matched } of best) {
    const chunk = chunks.get(id);
    if (!chunk) continue;
    const around = await neighboursOf(context, repoId, chunk, neighbours);
    const cost = [chunk, ...around.before, ...around.after].reduce((sum, one) => sum + one.tokens, 0);
    // What does not fit makes room for what is shorter.
    if (tokensMax !== null && tokens + cost > tokensMax) continue;
    tokens += cost;
    recalled.push({ chunk, score, matched, ...around });
  }
  const shownIds = recalled.map(({ chunk }) => chunk.id);
  if (shownIds.length > 0) context.store.noteAccess(repoId, shownIds, context.now());
  return { recalled, confidence: confidenceOf(recalled), corrected, matches: scored.length, isComplete, tokens };
}

async function findScored(
  { store, now }: Context,
  { repoId, query, filter }: ChunkQuestion,
): Promise<{ scored: ScoredChunk[]; corrected: ReadonlyMap<string, string>; isComplete: boolean }> {
  const view = viewOf(repoId, { includeGlobal: false, includeArchived: filter.includeArchived });
  const asked = queryTerms(query);
  const corrected = await correct(store, view, asked, await store.countTerms(view, asked));
  const terms = [...new Set(asked.map((term) => corrected.get(term) ?? term))];
  const corpus = await store.countTerms(view, terms);
  const candidates = await store.chunks.searchChunks(repoId, chooseTerms('opening', corpus, terms), filter, POOL_SIZE);
  const score = scorer(corpus, terms, query, now());
  const scored = candidates.flatMap((candidate) => score(candidate) ?? []).sort(bestFirst);
  return { scored, corrected, isComplete: candidates.length < POOL_SIZE };
}

/** Of equals the newer, and of the same moment always the same one. */
const bestFirst = (a: ScoredChunk, b: ScoredChunk): number =>
  b.score - a.score || b.createdAtMs - a.createdAtMs || (a.id < b.id ? -1 : 1);

/** So much of the vocabulary is looked through for what a word was meant to be. */
const WORDS_LOOKED_AT = 10_000;
const WORDS_TRIED = 20;

/** For the words that nobody ever wrote, the likeliest that somebody did. */
async function correct(
  store: Store,
  view: View,
  terms: readonly string[],
  { frequencies }: Corpus,
): Promise<Map<string, string>> {
  const corrected = new Map<string, string>();
  for (const term of terms) {
    if ((frequencies.get(term) ?? 0) > 0 || !mayBeMistyped(term)) continue;
    const word = await likeliestSeen(store, view, term);
    if (word !== null) corrected.set(term, word);
  }
  return corrected;
}

/** Of the likely words the first that the view shows somewhere. Words that begin with the same two letters are tried before others. */
async function likeliestSeen(store: Store, view: View, term: string): Promise<string | null> {
  const letters = [...term];
  for (const beginning of [letters.slice(0, 2).join(''), letters[0] as string]) {
    const likely = likelyWords(term, await store.findTerms(view, [beginning], WORDS_LOOKED_AT)).slice(0, WORDS_TRIED);
    const { frequencies } = await store.countTerms(view, likely);
    const seen = likely.find((word) => (frequencies.get(word) ?? 0) > 0);
    if (seen !== undefined) return seen;
  }
  return null;
}

function scorer(
  corpus: Corpus,
  terms: readonly string[],
  query: string,
  nowMs: number,
): (candidate: ChunkCandidate) => ScoredChunk | null {
  const scoreDocument = lexicalScorer(corpus, terms);
  const weightOf = (term: string): number => inverseFrequency(corpus.documents, corpus.frequencies.get(term) ?? 0);
  const total = terms.reduce((sum, term) => sum + weightOf(term), 0);
  const phrase = normalizeText(query);
  return (candidate) => {
    const lexical = scoreDocument({ counts: countTerms(candidate, terms), length: candidate.length });
    if (!isAdmitted('opening', lexical) || lexical.score === 0) return null;
    const tags = candidate.tags.filter((tag) => indexTerms(tag).some((term) => terms.includes(term)));
    const inTags = new Set(tags.flatMap((tag) => indexTerms(tag)));
    const tagShare = terms.filter((term) => inTags.has(term)).reduce((sum, term) => sum + weightOf(term), 0) / total;
    const isPhrase = normalizeText(candidate.content).includes(phrase);
    const { id, confidence, createdAtMs } = candidate;
    const ageMs = nowMs - createdAtMs;
    const score = chunkScore({ lexical: lexical.score, tagShare, isPhrase, confidence, ageMs });
    return { id, score, createdAtMs, matched: { terms: lexical.matchedTerms, tags, phrase: isPhrase } };
  };
}

async function neighboursOf(context: Context, repoId: string, chunk: StoredChunk, each: number) {
  if (each === 0) return { before: [], after: [] };
  const around = await context.store.chunks.findAround(repoId, chunk, each);
  const chunks = await chunksOf(
    context,
    repoId,
    [...around.before, ...around.after].map(({ id }) => id),
  );
  const shown = (relatives: readonly ChunkRelative[]): StoredChunk[] =>
    relatives.flatMap(({ id }) => chunks.get(id) ?? []);
  // In the order in which it was said.
  return { before: shown(around.before).reverse(), after: shown(around.after) };
}

async function chunksOf({ store }: Context, repoId: string, ids: readonly string[]): Promise<Map<string, StoredChunk>> {
  return new Map((await store.chunks.getChunks(repoId, ids, true)).map((chunk) => [chunk.id, chunk]));
}

function confidenceOf(recalled: readonly RecalledChunk[]): number {
  const total = recalled.reduce((sum, { score }) => sum + score, 0);
  const sum = recalled.reduce((weighed, { score, chunk }) => weighed + score * chunk.confidence, 0);
  return total === 0 ? 0 : sum / total;
}
