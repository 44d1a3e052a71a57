import { SYNTHESIS } from '../domain/forms.js';
import { oncePerMemory, type Packed, pack, type Section } from '../domain/packing.js';
import {
  type AdmissionMode,
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
import type { NodeBrief, Store, TermCandidate } from '../storage/port.js';
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
  /** Who asks: what other sessions noted for themselves is not shown. */
  readonly sessionId?: string | null;
  readonly tokensMax: number | null;
}

/** One place in the answer: a memory, and everything that explains why it is there. */
export interface Item extends Candidate {
  readonly memory: NodeBrief;
  readonly state: State;
  readonly companionId: string | null;
}

/** Something found, with the reason and its rank, before its text is fetched. */
interface Candidate {
  readonly id: string;
  readonly kind: string | null;
  readonly section: Section;
  readonly score: number;
  /** The score without what being superseded costs; what is reached from here inherits from it. */
  readonly unsunkScore: number;
  readonly why: 'direct_match' | RelatedReason;
  readonly opens: boolean;
  readonly anchorId: string | null;
  readonly relationType: string | null;
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

/** Finds what bears on the query, in one repo's view, and packs the best of it. Changes nothing. */
export async function readPack({ store }: Context, request: ReadRequest): Promise<Packed<Item>> {
  const violations = [...checkRepoId('repo_id', request.repoId), ...checkQuery(request.query, request.kinds)];
  if (Number.isNaN(request.asOfMs)) {
    violations.push({ field: 'as_of', code: 'semantic_error', message: 'is not a moment of the calendar' });
  }
  if (violations.length > 0) throw new GateFailure('semantic', violations);

  const view = viewOf(request.repoId, request);
  const openers = await findOpeners(store, request);
  const matches = new Map([...(await findMatches(store, view, request, request.mode)), ...openers]);
  const unweighed = [...matches.values()].map((match) => toDirect(match, openers.has(match.memory.id)));
  const direct = await weighVotes(store, view, unweighed);
  const related = (await expand(store, view, anchorsOf(direct, request.limit), request)).map(toRelated);
  const known = await sinkReplaced(store, view, [...direct, ...related]);
  const indirect = [...known.slice(direct.length), ...(request.factLinks ? successorsOf(known) : [])];
  const found = [...known.slice(0, direct.length), ...(await weighVotes(store, view, indirect))];

  const items = await fetchItems(store, view, shortlist(found, request.limit), matches, request.factLinks);
  const tokensOf = request.tokensMax === null ? () => 0 : await tokenCounts(request.tokensMax);
  return pack(items, { mode: request.mode, items: request.limit, tokens: request.tokensMax }, tokensOf);
}

interface Match {
  readonly memory: NodeBrief;
  readonly lexical: LexicalScore;
  readonly score: number;
}

/** Candidates beyond the limit, so that votes and standing can still reorder those near the edge. */
const POOL_EXTRA = 10;

/** What holds for all the work in a repo: an answer that nobody asked for opens with the best of it. */
const OPENING_KINDS: readonly string[] = ['preference', SYNTHESIS];
const OPENERS_MAX = 3;

async function findOpeners(store: Store, request: ReadRequest): Promise<Map<string, Match>> {
  const kinds = OPENING_KINDS.filter((kind) => request.kinds === null || request.kinds.includes(kind));
  if (request.mode !== 'ambient' || kinds.length === 0) return new Map();
  const found = await findMatches(store, viewOf(request.repoId, { ...request, kinds }), request, 'opening');
  const best = [...found].sort(([, a], [, b]) => byScore({ ...a, id: a.memory.id }, { ...b, id: b.memory.id }));
  return new Map(best.slice(0, OPENERS_MAX));
}

/** The memories whose own words bear on the query, by their ids. */
async function findMatches(
  store: Store,
  view: View,
  request: ReadRequest,
  mode: AdmissionMode,
): Promise<Map<string, Match>> {
  const terms = queryTerms(request.query);
  const corpus = await store.countTerms(view, terms);
  const chosen = chooseTerms(mode, corpus, terms);
  const candidates = await store.searchTerms(view, chosen, request.limit + POOL_EXTRA);
  const scoreDocument = lexicalScorer(corpus, terms);
  const admitted = new Map<string, Omit<Match, 'score'>>();
  for (const candidate of candidates) {
    const lexical = scoreDocument({ counts: countTerms(candidate, terms), length: candidate.length });
    if (isAdmitted(mode, lexical)) admitted.set(candidate.memory.id, { memory: candidate.memory, lexical });
  }
  const lexicalLane = { weight: 1, scores: new Map([...admitted].map(([id, match]) => [id, match.lexical.score])) };
  const fused = fuse([lexicalLane]);
  return new Map([...admitted].map(([id, match]) => [id, { ...match, score: fused.get(id) as number }]));
}

export function countTerms(
  { terms: indexed }: Pick<TermCandidate, 'terms'>,
  terms: readonly string[],
): Map<string, number> {
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

const toDirect = ({ memory, lexical, score }: Match, opens: boolean): Candidate => ({
  id: memory.id,
  kind: memory.kind,
  section: 'direct',
  score,
  unsunkScore: score,
  why: 'direct_match',
  opens,
  anchorId: null,
  relationType: null,
  supersededBy: null,
  parts: { lexical, utility: 1 },
});

const toRelated = (related: Related): Candidate => {
  const score = scoreOf(related);
  return {
    id: related.id,
    kind: related.kind,
    section: related.reason === 'semantic_neighbor' ? 'implicit_related' : 'explicit_related',
    score,
    unsunkScore: score,
    why: related.reason,
    opens: false,
    anchorId: related.anchorId,
    relationType: related.relationType,
    supersededBy: null,
    parts: { anchorScore: related.anchorScore, weight: related.weight, depth: related.depth, utility: 1 },
  };
};

/** The best matches lead on to others, each with what it scored before it sank. */
const anchorsOf = (direct: readonly Candidate[], limit: number): Candidate[] =>
  [...direct].sort(byScore).slice(0, limit);

/** What helped before counts a little more, and what misled a little less. */
async function weighVotes(store: Store, view: View, candidates: readonly Candidate[]): Promise<readonly Candidate[]> {
  if (candidates.length === 0) return [];
  const votes = await store.sumVotes(view, idsOf(candidates));
  if (votes.size === 0) return candidates;
  return candidates.map((candidate) => {
    const sum = votes.get(candidate.id);
    if (!sum) return candidate;
    const utility = utilityFactor(sum);
    const { score, unsunkScore, parts } = candidate;
    return { ...candidate, score: score * utility, unsunkScore: unsunkScore * utility, parts: { ...parts, utility } };
  });
}

/** A fact that no longer holds goes behind those that do. */
async function sinkReplaced(store: Store, view: View, candidates: readonly Candidate[]): Promise<Candidate[]> {
  const facts = candidates.filter(({ kind }) => kind === 'fact');
  const successors = await lastSuccessors(store, view, idsOf(facts));
  return candidates.map((candidate) => {
    const supersededBy = successors.get(candidate.id);
    if (supersededBy === undefined) return candidate;
    const parts = { ...candidate.parts, superseded: SUPERSEDED_FACTOR };
    return { ...candidate, score: candidate.score * SUPERSEDED_FACTOR, supersededBy, parts };
  });
}

const idsOf = (candidates: readonly Candidate[]): string[] => candidates.map(({ id }) => id);

/** What is true now comes with what was, reached from the fact's own score before it sank. */
const successorsOf = (candidates: readonly Candidate[]): Candidate[] =>
  candidates.flatMap(({ id, supersededBy, unsunkScore }) =>
    supersededBy === null
      ? []
      : toRelated({
          id: supersededBy,
          kind: 'fact',
          reason: 'fact_update',
          anchorId: id,
          anchorScore: unsunkScore,
          relationType: null,
          weight: 1,
          depth: 1,
        }),
  );

/** Each memory once, and of each section no more than could have a place; what replaced one of them stays with it. */
function shortlist(candidates: readonly Candidate[], limit: number): Candidate[] {
  const unique = [...oncePerMemory(candidates).values()].sort(
    (a, b) => Number(b.opens) - Number(a.opens) || byScore(a, b),
  );
  const counts = { direct: 0, explicit_related: 0, implicit_related: 0 };
  const kept = unique.filter(({ section }) => ++counts[section] <= limit);
  const keptIds = new Set(kept.map(({ id }) => id));
  const successorIds = new Set(kept.map(({ supersededBy }) => supersededBy));
  return [...kept, ...unique.filter(({ id }) => successorIds.has(id) && !keptIds.has(id))];
}

/** Fetches the texts that the matches did not bring. Who is not visible after all is left out. */
async function fetchItems(
  store: Store,
  view: View,
  candidates: readonly Candidate[],
  matches: ReadonlyMap<string, Match>,
  withSuccessors: boolean,
): Promise<Item[]> {
  const missing = candidates.map(({ id }) => id).filter((id) => !matches.has(id));
  const fetched = new Map((await store.getBriefs(view, missing)).map((memory) => [memory.id, memory]));
  return candidates.flatMap((candidate) => {
    const memory = matches.get(candidate.id)?.memory ?? fetched.get(candidate.id);
    if (!memory) return [];
    return [toItem(candidate, memory, withSuccessors)];
  });
}

/** Spelled out field by field: this runs for every candidate, and copying whole objects shows in the profile. */
const toItem = (candidate: Candidate, memory: NodeBrief, withSuccessor: boolean): Item => ({
  id: candidate.id,
  kind: candidate.kind,
  section: candidate.section,
  score: candidate.score,
  unsunkScore: candidate.unsunkScore,
  why: candidate.why,
  opens: candidate.opens,
  anchorId: candidate.anchorId,
  relationType: candidate.relationType,
  supersededBy: candidate.supersededBy,
  parts: candidate.parts,
  memory,
  state: stateOf(memory, candidate.supersededBy),
  companionId: withSuccessor ? candidate.supersededBy : null,
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
