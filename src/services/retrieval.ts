import { type Packed, pack, type Section } from '../domain/packing.js';
import {
  byScore,
  chooseTerms,
  fuse,
  isAdmitted,
  type LexicalScore,
  lexicalScorer,
  type ReadMode,
  SUPERSEDED_FACTOR,
  utilityFactor,
} from '../domain/ranking.js';
import { checkQuery, checkRepoId } from '../domain/rules.js';
import { type View, viewOf } from '../domain/spaces.js';
import { queryTerms } from '../domain/terms.js';
import { GateFailure } from '../domain/violations.js';
import type { State } from '../domain/vocabulary.js';
import type { MemoryBrief, Store, TermCandidate } from '../storage/port.js';
import type { Context } from './context.js';
import { type ExpansionOptions, expand, type Related, type RelatedReason, scoreOf } from './expansion.js';
import { lastSuccessors, stateOf } from './successors.js';
import { loadTokenCounter } from './tokens.js';

export interface ReadRequest extends ExpansionOptions {
  readonly repoId: string;
  readonly mode: ReadMode;
  readonly query: string;
  readonly includeGlobal: boolean;
  readonly includeArchived: boolean;
  readonly kinds: readonly string[] | null;
  readonly limit: number;
  readonly asOfMs: number | null;
  readonly tokensMax: number | null;
}

/** One place in the answer: a memory, and everything that explains why it is there. */
export interface Item {
  readonly id: string;
  readonly section: Section;
  readonly score: number;
  readonly companionId: string | null;
  readonly memory: MemoryBrief;
  readonly why: 'direct_match' | RelatedReason;
  readonly anchorId: string | null;
  readonly relationType: string | null;
  readonly state: State;
  readonly supersededBy: string | null;
  /** The score's factors, by name. */
  readonly parts: ScoreParts;
}

export interface ScoreParts {
  readonly lexical?: LexicalScore;
  /** 1 when nobody voted. */
  readonly utility: number;
  readonly anchorScore?: number;
  readonly weight?: number;
  readonly depth?: number;
  readonly superseded?: number;
}

/** A found memory before its standing is known. */
type Candidate = Omit<Item, 'companionId' | 'state' | 'supersededBy'>;

/** Finds what bears on the query, in one repo's view, and packs the best of it. Changes nothing. */
export async function readPack({ store }: Context, request: ReadRequest): Promise<Packed<Item>> {
  const violations = [...checkRepoId('repo_id', request.repoId), ...checkQuery(request.query, request.kinds)];
  if (Number.isNaN(request.asOfMs)) {
    violations.push({ field: 'as_of', code: 'semantic_error', message: 'is not a moment of the calendar' });
  }
  if (violations.length > 0) throw new GateFailure('semantic', violations);

  const view = viewOf(request.repoId, request);
  const direct = await findDirect(store, view, request);
  const related = await findRelated(store, view, direct, request);
  const candidates = [...direct, ...(await weighVotes(store, view, related))];
  const items = await judgeStanding(store, view, candidates, request.factLinks);
  const tokensOf = request.tokensMax === null ? () => 0 : await tokenCounts(request.tokensMax);
  return pack(items, { mode: request.mode, items: request.limit, tokens: request.tokensMax }, tokensOf);
}

/** Candidates beyond the limit, so that votes can still reorder those near the edge. */
const POOL_EXTRA = 10;

async function findDirect(store: Store, view: View, request: ReadRequest): Promise<Candidate[]> {
  const terms = queryTerms(request.query);
  const corpus = await store.countTerms(view, terms);
  const chosen = chooseTerms(request.mode, corpus, terms);
  const candidates = await store.searchTerms(view, chosen, request.limit + POOL_EXTRA);
  const scoreDocument = lexicalScorer(corpus, terms);
  const matches = new Map<string, { memory: MemoryBrief; lexical: LexicalScore }>();
  for (const candidate of candidates) {
    const lexical = scoreDocument({ counts: countTerms(candidate, terms), length: candidate.length });
    if (isAdmitted(request.mode, lexical)) matches.set(candidate.memory.id, { memory: candidate.memory, lexical });
  }
  const lexicalLane = {
    name: 'lexical',
    weight: 1,
    scores: new Map([...matches].map(([id, match]) => [id, match.lexical.score])),
  };
  const fused = fuse([lexicalLane]);
  const found = [...matches].map(
    ([id, { memory, lexical }]): Candidate => ({
      id,
      section: 'direct',
      score: fused.get(id) as number,
      memory,
      why: 'direct_match',
      anchorId: null,
      relationType: null,
      parts: { lexical, utility: 1 },
    }),
  );
  return (await weighVotes(store, view, found)).sort(byScore).slice(0, request.limit);
}

/** What helped before counts a little more, and what misled a little less. */
async function weighVotes(store: Store, view: View, candidates: readonly Candidate[]): Promise<Candidate[]> {
  const votes = await store.sumVotes(view, idsOf(candidates));
  return candidates.map((candidate) => {
    const sum = votes.get(candidate.id);
    if (!sum) return candidate;
    const utility = utilityFactor(sum);
    return { ...candidate, score: candidate.score * utility, parts: { ...candidate.parts, utility } };
  });
}

const idsOf = (candidates: readonly Candidate[]): string[] => candidates.map((candidate) => candidate.id);

function countTerms({ terms: indexed }: TermCandidate, terms: readonly string[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const term of terms) {
    const word = ` ${term} `;
    let count = 0;
    // Neighbouring words share the blank between them.
    for (let at = indexed.indexOf(word); at >= 0; at = indexed.indexOf(word, at + word.length - 1)) count++;
    if (count > 0) counts.set(term, count);
  }
  return counts;
}

/**
 * The better half of the matches brings its neighbours first; what is reached from the other half scores less than all of these,
 * so it is looked for only when there is room left.
 */
async function findRelated(
  store: Store,
  view: View,
  direct: readonly Candidate[],
  request: ReadRequest,
): Promise<Candidate[]> {
  const half = Math.ceil(request.limit / 2);
  const related = await expand(store, view, direct.slice(0, half), request);
  const found = new Set([...idsOf(direct), ...related.map(({ memory }) => memory.id)]);
  if (found.size < request.limit) related.push(...(await expand(store, view, direct.slice(half), request)));
  return related.map(toCandidate);
}

const toCandidate = (related: Related): Candidate => ({
  id: related.memory.id,
  section: related.reason === 'semantic_neighbor' ? 'implicit_related' : 'explicit_related',
  score: scoreOf(related),
  memory: related.memory,
  why: related.reason,
  anchorId: related.anchorId,
  relationType: related.relationType,
  parts: { anchorScore: related.anchorScore, weight: related.weight, depth: related.depth, utility: 1 },
});

/**
 * Says of every candidate whether it still stands. A replaced fact sinks, and what is true now comes with it, reached from the
 * fact's own score before it sank.
 */
async function judgeStanding(
  store: Store,
  view: View,
  candidates: readonly Candidate[],
  withSuccessors: boolean,
): Promise<Item[]> {
  const factIds = candidates.filter(({ memory }) => memory.kind === 'fact').map(({ id }) => id);
  const successors = await lastSuccessors(store, view, factIds);
  const known = new Set(candidates.map(({ id }) => id));
  const missing = withSuccessors ? [...new Set(successors.values())].filter((id) => !known.has(id)) : [];
  const current = new Map((await store.getBriefs(view, missing)).map((memory) => [memory.id, memory]));

  const items: Item[] = [];
  for (const candidate of candidates) {
    const supersededBy = successors.get(candidate.id) ?? null;
    items.push(toItem(candidate, stateOf(candidate.memory, successors), supersededBy, withSuccessors));
    const successor = current.get(supersededBy ?? '');
    if (!successor) continue;
    const reached = toCandidate({
      memory: successor,
      reason: 'fact_update',
      anchorId: candidate.id,
      anchorScore: candidate.score,
      relationType: null,
      weight: 1,
      depth: 1,
    });
    items.push(toItem(reached, stateOf(successor, successors), null, false));
  }
  return items;
}

/** Spelled out field by field: this runs for every candidate, and copying whole objects shows in the profile. */
const toItem = (candidate: Candidate, state: State, supersededBy: string | null, withSuccessor: boolean): Item => ({
  id: candidate.id,
  section: candidate.section,
  score: supersededBy === null ? candidate.score : candidate.score * SUPERSEDED_FACTOR,
  companionId: withSuccessor ? supersededBy : null,
  memory: candidate.memory,
  why: candidate.why,
  anchorId: candidate.anchorId,
  relationType: candidate.relationType,
  state,
  supersededBy,
  parts: supersededBy === null ? candidate.parts : { ...candidate.parts, superseded: SUPERSEDED_FACTOR },
});

/** Counts a memory's tokens once, and never much further than the budget. */
async function tokenCounts(tokensMax: number): Promise<(item: Item) => number> {
  const count = await loadTokenCounter();
  const known = new Map<string, number>();
  return ({ id, memory }) => {
    let tokens = known.get(id);
    if (tokens === undefined) {
      tokens = count(memory.content, tokensMax);
      known.set(id, tokens);
    }
    return tokens;
  };
}
