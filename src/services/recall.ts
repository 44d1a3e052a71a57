import { setImmediate } from 'node:timers/promises';
import { type Deep, type Depth, fitDepths } from '../domain/depth.js';
import type { ShownLinks } from '../domain/episode-links.js';
import { checkFileName } from '../domain/paths.js';
import { byScore, chooseTerms, fuse, importanceFactor, isAdmitted, lexicalScorer } from '../domain/ranking.js';
import { checkQuery, checkRepoId } from '../domain/rules.js';
import { viewOf } from '../domain/spaces.js';
import { indexTerms, queryTerms } from '../domain/terms.js';
import { GateFailure } from '../domain/violations.js';
import type { EpisodeCandidate, EpisodeFilter, StoredEpisode } from '../storage/port.js';
import { findSession } from './agents.js';
import type { Context } from './context.js';
import { readLinks } from './episode-links.js';
import { findEpisode } from './episodes.js';
import { countTerms } from './retrieval.js';
import { loadTokenCounter } from './tokens.js';

export interface RecallRequest {
  readonly repoId: string;
  readonly memoryId: string | null;
  /** Words that may stand anywhere in the episode. */
  readonly query: string | null;
  /** What the caller is about to do: words that the goal has to have. */
  readonly intent: string | null;
  readonly filter: EpisodeFilter;
  readonly limit: number;
  readonly depth: Depth;
  readonly withLinks: boolean;
  readonly tokensMax: number | null;
  /** The session that asks. */
  readonly askingSessionId: string | null;
}

export interface Recalled {
  readonly episode: StoredEpisode;
  readonly score: number;
  readonly links: ShownLinks | null;
}

type RecallStrategy = 'direct' | 'query' | 'file' | 'filter';

export interface Recollection {
  readonly strategy: RecallStrategy;
  readonly recalled: readonly Deep<Recalled>[];
  /** How many fit, of those that were looked at. */
  readonly matches: number;
  /** Whether all that fit were looked at. */
  readonly isComplete: boolean;
  readonly tokens: number;
}

/** How an episode is shown, given by the contract: its tokens are counted as it is sent. */
export type ShowEpisode = (recalled: Recalled, depth: Depth) => object;

/** More matches than these are not weighed against each other. */
const POOL_SIZE = 500;
const GOAL_POOL_SIZE = 5_000;

interface Scored {
  readonly id: string;
  readonly score: number;
}

interface Matches {
  readonly scored: readonly Scored[];
  /** Whether all that fit were looked at. */
  readonly isComplete: boolean;
}

/** Finds what was tried before. Each episode in the answer counts as looked at, once. */
export async function recallEpisodes(
  context: Context,
  request: RecallRequest,
  show: ShowEpisode,
): Promise<Recollection> {
  refuse(request);
  await refuseUnknownSession(context, request);
  const { scored: found, isComplete } = await findScored(context, request);
  const best = found.slice(0, request.limit);
  const recalled = await fetch(context, request, best);
  const count = await loadTokenCounter();
  const countMax = request.tokensMax ?? Number.MAX_SAFE_INTEGER;
  const known = new Map<string, number>();
  // Counted one by one, so that others get their turn; what is shown less deeply after all is counted again.
  for (const item of recalled) {
    known.set(item.episode.id, count(JSON.stringify(show(item, request.depth)), countMax));
    await setImmediate();
  }
  const tokensOf = (item: Recalled, depth: Depth): number =>
    depth === request.depth
      ? (known.get(item.episode.id) as number)
      : count(JSON.stringify(show(item, depth)), countMax);
  const deep = fitDepths(recalled, request.depth, request.tokensMax, tokensOf);
  const ids = deep.map(({ item }) => item.episode.id);
  if (ids.length > 0) context.store.noteAccess(request.repoId, ids, context.now());
  if (request.askingSessionId !== null) context.store.noteQuery(request.repoId, request.askingSessionId);
  return {
    strategy: strategyOf(request),
    recalled: deep,
    matches: found.length,
    isComplete,
    tokens: deep.reduce((sum, { tokens }) => sum + tokens, 0),
  };
}

function refuse({ repoId, query, intent, filter }: RecallRequest): void {
  const violations = [
    ...checkRepoId('repo_id', repoId),
    ...checkFileName('file', filter.file),
    ...(query === null ? [] : checkQuery(query, null)),
    ...(intent === null ? [] : checkQuery(intent, null).map((violation) => ({ ...violation, field: 'intent' }))),
  ];
  if (violations.length > 0) throw new GateFailure('semantic', violations);
}

async function refuseUnknownSession(context: Context, { repoId, askingSessionId }: RecallRequest): Promise<void> {
  if (askingSessionId === null || (await findSession(context, repoId, askingSessionId))) return;
  const message = `no session ${JSON.stringify(askingSessionId.slice(0, 80))} is known in this project; begin one with POST /agents/{id}/sessions, or leave it out`;
  throw new GateFailure('integrity', [{ field: 'session_id', code: 'not_found', message }]);
}

function strategyOf({ memoryId, query, intent, filter }: RecallRequest): RecallStrategy {
  if (memoryId !== null) return 'direct';
  if (query !== null || intent !== null) return 'query';
  return filter.file === null ? 'filter' : 'file';
}

/** Best first. */
async function findScored(context: Context, request: RecallRequest): Promise<Matches> {
  const { repoId, memoryId, query, intent, filter } = request;
  if (memoryId !== null) {
    const episode = await findEpisode(context, repoId, memoryId);
    return { scored: episode ? [{ id: episode.id, score: 1 }] : [], isComplete: true };
  }
  if (query === null && intent === null) return findFitting(context, repoId, filter);
  const lanes = [
    ...(query === null ? [] : [await findByWords(context, repoId, query, filter, 'all')]),
    ...(intent === null ? [] : [await findByWords(context, repoId, intent, filter, 'goal')]),
  ];
  const importances = new Map(lanes.flatMap(({ importances: known }) => [...known]));
  const fused = fuse(lanes.map(({ scores }) => ({ weight: 1, scores })));
  const inAll = [...fused].filter(([id]) => lanes.every(({ scores }) => scores.has(id)));
  const scored = inAll
    .map(([id, score]) => ({ id, score: score * importanceFactor(importances.get(id) as number) }))
    .sort(byScore);
  return { scored, isComplete: lanes.every((lane) => lane.isComplete) };
}

/** Without words nothing is more relevant than anything else: the important come first, and of those the newest. */
async function findFitting({ store }: Context, repoId: string, filter: EpisodeFilter): Promise<Matches> {
  const episodes = await store.listEpisodes(repoId, filter, 'importance', null, FITTING_MAX);
  return {
    scored: episodes.map(({ id, importance }) => ({ id, score: importanceFactor(importance) * FILTERED_SCORE })),
    isComplete: episodes.length < FITTING_MAX,
  };
}

/** Whole episodes are read, so no more than an answer can show. */
const FITTING_MAX = 101;

/** What was asked for without words is certain to fit, and says nothing about how well. */
const FILTERED_SCORE = 0.8;

interface WordLane {
  readonly isComplete: boolean;
  readonly scores: Map<string, number>;
  readonly importances: Map<string, number>;
}

async function findByWords(
  { store }: Context,
  repoId: string,
  words: string,
  filter: EpisodeFilter,
  where: 'all' | 'goal',
): Promise<WordLane> {
  const terms = queryTerms(words);
  const view = viewOf(repoId, { includeGlobal: false, includeArchived: filter.includeArchived });
  const corpus = await store.countTerms(view, terms);
  // A goal is a small part of an episode: many hold the words elsewhere, and none that has them there may be missed.
  const poolSize = where === 'goal' ? GOAL_POOL_SIZE : POOL_SIZE;
  const candidates = await store.searchEpisodes(repoId, chooseTerms('targeted', corpus, terms), filter, poolSize);
  const scoreDocument = lexicalScorer(corpus, terms);
  const lane = { isComplete: candidates.length < poolSize, scores: new Map(), importances: new Map() };
  for (const candidate of candidates) {
    const lexical = scoreDocument(documentOf(candidate, terms, where));
    if (!isAdmitted('targeted', lexical) || lexical.score === 0) continue;
    lane.scores.set(candidate.id, lexical.score);
    lane.importances.set(candidate.id, candidate.importance);
  }
  return lane;
}

function documentOf(candidate: EpisodeCandidate, terms: readonly string[], where: 'all' | 'goal') {
  if (where === 'all') return { counts: countTerms(candidate, terms), length: candidate.length };
  const goal = indexTerms(candidate.goal);
  return { counts: countTerms({ terms: ` ${goal.join(' ')} ` }, terms), length: goal.length };
}

async function fetch(
  context: Context,
  { repoId, withLinks }: RecallRequest,
  best: readonly Scored[],
): Promise<Recalled[]> {
  const ids = best.map(({ id }) => id);
  const episodes = new Map((await context.store.getEpisodes(repoId, ids, true)).map((one) => [one.id, one]));
  const links = withLinks ? await readLinks(context, repoId, ids) : new Map<string, ShownLinks>();
  return best.flatMap(({ id, score }) => {
    const episode = episodes.get(id);
    return episode ? [{ episode, score, links: links.get(id) ?? null }] : [];
  });
}
