import type { Replacement } from '../domain/chains.js';
import type { Plan } from '../domain/changes.js';
import type { Memory } from '../domain/node.js';
import type { ChosenTerms, Corpus } from '../domain/ranking.js';
import type { SpaceName, View } from '../domain/spaces.js';
import type { Role, Tier } from '../domain/vocabulary.js';

/**
 * The one door to storage. Above it nobody knows the engine; below it nobody knows the use case.
 *
 * - `apply` is the only write. It is atomic, and its promise settles only when the outcome is durable. It re-checks what the plan
 *   was based on and throws `ApplyConflict` when that no longer holds; nothing of the plan is then stored.
 * - Every read takes a view and sees nothing outside it. A space that does not exist is empty; reading never creates one.
 * - Reads change nothing, and give the same answer while nothing is written.
 */
export interface Store {
  apply(plan: Plan): Promise<void>;

  /** The memories with these ids that the view shows, in no particular order. */
  getMemories(view: View, ids: readonly string[]): Promise<StoredMemory[]>;
  /** The same, as far as an answer to a question shows it. */
  getBriefs(view: View, ids: readonly string[]): Promise<MemoryBrief[]>;
  /** The memories of the space with this kind and text digest: those that stand first, archived and superseded ones too. */
  findSameText(space: SpaceName, kind: string, textDigest: string): Promise<SameText[]>;
  /**
   * The numbers of the corpus that the view's spaces hold, and in how many of its documents each term occurs: 0 when the view shows
   * none of them. Where a term is common a space may take that for granted.
   */
  countTerms(view: View, terms: readonly string[]): Promise<Corpus>;
  /**
   * Lexical candidates: memories in the view that hold at least one of `any`. Where a space has more than `poolSize`, the best by
   * those terms, and up to as many that hold one of `also` besides.
   */
  searchTerms(view: View, terms: ChosenTerms, poolSize: number): Promise<TermCandidate[]>;
  /** The edges of these labels that touch the nodes, with all their members: for each node the newest `perNode` of each label in each space. */
  findEdges(view: View, nodeIds: readonly string[], labels: readonly string[], perNode: number): Promise<StoredEdge[]>;
  /** Which of these edges, told by their keys (`domain/links.ts`), the view's spaces hold. */
  findEdgeKeys(view: View, keys: readonly string[]): Promise<Set<string>>;
  /** One step over the edges of these labels: whom the view shows that is joined to each node, over the newest `perNode` edges of each label in each space. */
  findNeighbours(
    view: View,
    nodeIds: readonly string[],
    labels: readonly string[],
    perNode: number,
  ): Promise<Neighbour[]>;
  /** The replacements that follow on these facts, step by step to the end of their chains, newest first; of more than `max` the nearest. */
  findReplacements(view: View, factIds: readonly string[], max: number): Promise<Found<Replacement>>;
  /** The replacements in the whole history of these facts, or of those that these changes touched, newest first; of more than `max` the nearest. */
  findHistory(view: View, fromIds: readonly string[], max: number): Promise<Found<ExplainedReplacement>>;
  /** Votes on each of the memories, in sum. */
  sumVotes(view: View, memoryIds: readonly string[]): Promise<Map<string, VoteSum>>;
  /** The newest votes on a memory, one by one. */
  findVotes(view: View, memoryId: string, limit: number): Promise<StoredVote[]>;
  /** The evidence attached to a memory, first attached first, as far as the first `limit`. */
  findEvidence(view: View, memoryId: string, limit: number): Promise<string[]>;
  /** Which of these references are attached to the memory. */
  findAttached(view: View, memoryId: string, refs: readonly string[]): Promise<Set<string>>;
  /** The answer kept for an idempotency key of the repo, unless it is older than `sinceMs`. */
  findReply(repoId: string, key: string, sinceMs: number): Promise<StoredReply | null>;

  /** Repos in order of their ids, from the first after `after`. */
  listRepos(after: string | null, limit: number): Promise<RepoSummary[]>;
  /** Removes a repo with everything in it; false when there is none of that name. */
  dropRepo(repoId: string): Promise<boolean>;
  countNodes(space: SpaceName): Promise<NodeCount[]>;
  summarize(): Promise<StoreSummary>;
  /** Resolves when the store can answer, rejects when it cannot. */
  check(): Promise<void>;
  close(): Promise<void>;
}

export interface StoredMemory extends Memory {
  /** Whether it is in the archive at the moment the view looks from. */
  readonly archived: boolean;
  readonly archivedFrom: Tier | null;
}

/** What an answer shows of a memory. */
export type MemoryBrief = Pick<
  StoredMemory,
  'id' | 'form' | 'kind' | 'scope' | 'content' | 'confidence' | 'archived' | 'createdAtMs'
>;

export interface SameText {
  readonly id: string;
  readonly archived: boolean;
  /** Whether another fact replaced it. */
  readonly superseded: boolean;
}

export interface Neighbour {
  readonly fromId: string;
  readonly toId: string;
  readonly toKind: string;
  readonly label: string;
  readonly weight: number;
}

export interface TermCandidate {
  readonly memory: MemoryBrief;
  /** The indexed terms, separated and surrounded by single blanks. */
  readonly terms: string;
  readonly length: number;
}

export interface StoredEdge {
  readonly id: string;
  readonly label: string;
  readonly weight: number;
  readonly rationale: string | null;
  readonly createdAtMs: number;
  readonly members: readonly { readonly nodeId: string; readonly role: Role }[];
}

/** A replacement with the change that says so. */
export interface ExplainedReplacement extends Replacement {
  readonly changeId: string;
  readonly rationale: string | null;
}

/** As much as was asked for, and whether that is all. */
export interface Found<Value> {
  readonly found: Value[];
  readonly isComplete: boolean;
}

export interface VoteSum {
  readonly count: number;
  readonly mean: number;
}

export interface StoredVote {
  readonly id: string;
  readonly problemId: string;
  readonly vote: number;
  readonly rationale: string | null;
  readonly evidenceRefs: readonly string[];
  readonly createdAtMs: number;
}

export interface StoredReply {
  readonly requestDigest: string;
  readonly reply: string;
}

export interface NodeCount {
  readonly form: string;
  readonly kind: string;
  readonly tier: Tier;
  readonly nodes: number;
}

export interface RepoSummary {
  readonly repoId: string;
  readonly createdAtMs: number;
  readonly bytes: number;
  /** Whether its file cannot be read: it is damaged, out of reach, or of a newer version. The counts are empty then. */
  readonly damaged: boolean;
  readonly counts: readonly NodeCount[];
}

export interface StoreSummary {
  readonly engine: string;
  readonly location: string;
  readonly repos: number;
  readonly openSpaces: number;
}

/** What the plan was based on changed before it was applied. */
export class ApplyConflict extends Error {
  constructor(
    readonly reason: 'duplicate' | 'edge_exists' | 'circle' | 'tier_moved' | 'node_missing' | 'key_taken',
    readonly id: string,
  ) {
    super(`${reason}: ${id}`);
    this.name = 'ApplyConflict';
  }
}

/** The store cannot take the write now, through no fault of the plan. */
export class StoreUnavailable extends Error {
  constructor(
    readonly reason: 'full' | 'busy' | 'closed' | 'locked' | 'newer' | 'unusable',
    message: string,
  ) {
    super(message);
    this.name = 'StoreUnavailable';
  }
}
