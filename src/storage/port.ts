import type { Replacement } from '../domain/chains.js';
import type { Plan } from '../domain/changes.js';
import type { Form } from '../domain/forms.js';
import type { Label, Member } from '../domain/links.js';
import type { Memory } from '../domain/node.js';
import type { ChosenTerms, Corpus } from '../domain/ranking.js';
import type { SpaceName, View } from '../domain/spaces.js';
import type { EdgeType, NodeType, Scope, Tier } from '../domain/vocabulary.js';
import type { ChunkReads } from './chunks.js';
import type { EntryReads } from './entries.js';
import type {
  ConfidenceRecord,
  EpisodeCandidate,
  EpisodeFilter,
  EpisodeOrder,
  EpisodePlace,
  EvolutionFilter,
  EvolutionPage,
  NarrativeFilter,
  NarrativeOrder,
  NarrativePlace,
  NodeCount,
  RepoSummary,
  StoredAgent,
  StoredEpisode,
  StoredNarrative,
  StoredSession,
  StoreSummary,
} from './records.js';

export type * from './chunks.js';
export type * from './entries.js';
export type * from './records.js';

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
  getBriefs(view: View, ids: readonly string[]): Promise<NodeBrief[]>;
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
  /** Those of these edges, told by their keys (`domain/links.ts`), that the view's spaces hold, by their keys. */
  findEdgesByKey(view: View, keys: readonly string[]): Promise<Map<string, StoredEdge>>;
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
  /** The nodes of any form with these ids that the view shows, in no particular order. */
  getNodes(view: View, ids: readonly string[]): Promise<StoredNode[]>;
  /** Those of the ids whose nodes the view shows. */
  findVisible(view: View, ids: readonly string[]): Promise<Set<string>>;
  /** The space's nodes that fit, surest first and of the same confidence newest first, from the first after `after`. */
  listNodes(space: SpaceName, filter: NodeFilter, after: NodePlace | null, limit: number): Promise<StoredNode[]>;
  /** The same list, with nothing but what wears off: a run over all nodes must not read what they say. */
  listWear(space: SpaceName, filter: NodeFilter, after: NodePlace | null, limit: number): Promise<NodeWear[]>;
  /** An edge of the view's spaces. Its members are named whether or not the view shows them. */
  getEdge(view: View, id: string): Promise<StoredEdge | null>;
  /** The space's edges that fit, by type, label and age, from the first after `after`. */
  listEdges(space: SpaceName, filter: EdgeFilter, after: EdgePlace | null, limit: number): Promise<StoredEdge[]>;
  /** The edges that touch the nodes, with all their members; of a hub the strongest and of the same weight the newest, and of very many as many as an answer can use. */
  findEdgesAround(view: View, nodeIds: readonly string[], ways: EdgeWays): Promise<Found<StoredEdge>>;
  /** What happened in the space, newest first. At most a few thousand lines are looked through at once; `next` says where to go on. */
  listEvolution(
    space: SpaceName,
    filter: EvolutionFilter,
    beforeSeq: number | null,
    limit: number,
  ): Promise<EvolutionPage>;
  /** The newest changes of a node's confidence, newest first, and what all of them come to. */
  readConfidence(view: View, nodeId: string, limit: number): Promise<ConfidenceRecord>;
  /** The terms of the view's spaces that begin with one of these, in each space as far as the first `max` in the order of the alphabet. */
  findTerms(view: View, beginnings: readonly string[], max: number): Promise<string[]>;
  /**
   * Matches among the nodes that the view shows and the filter lets through: of each space the best `poolSize`, in no particular
   * order. Of a great many matches a space may look at the newest alone, at least 20,000.
   */
  searchNodes(view: View, match: TermMatch, filter: SearchFilter, poolSize: number): Promise<NodeMatch[]>;
  /**
   * Counts a look at each of the nodes. The one write besides `apply`: it is gathered in memory and stored in passing, reads see it at
   * once, and a process that is killed loses the last second of it.
   */
  noteAccess(space: SpaceName, nodeIds: readonly string[], atMs: number): void;
  /** Counts a question that a session asked, in the same way. */
  noteQuery(space: SpaceName, sessionId: string): void;

  getAgent(space: SpaceName, id: string): Promise<StoredAgent | null>;
  /** The id of the main agent that was active last. */
  findLatestMain(space: SpaceName): Promise<string | null>;
  getSession(space: SpaceName, id: string): Promise<StoredSession | null>;
  /** The agent's newest session that was not ended. */
  findOpenSession(space: SpaceName, agentId: string): Promise<StoredSession | null>;

  /** The space's episodes with these ids, in no particular order. */
  getEpisodes(space: SpaceName, ids: readonly string[], includeArchived: boolean): Promise<StoredEpisode[]>;
  /** The files that a path, the end of one or a glob means, for several lists of episodes. */
  findFiles(space: SpaceName, given: string): Promise<readonly number[]>;
  /** The space's episodes that fit, highest first by the order, from the first after `after`. */
  listEpisodes(
    space: SpaceName,
    filter: EpisodeFilter,
    order: EpisodeOrder,
    after: EpisodePlace | null,
    limit: number,
  ): Promise<StoredEpisode[]>;
  /** Lexical candidates among the episodes that fit: those that hold at least one of `any`; of more than `poolSize` the best by those terms. */
  searchEpisodes(
    space: SpaceName,
    terms: ChosenTerms,
    filter: EpisodeFilter,
    poolSize: number,
  ): Promise<EpisodeCandidate[]>;

  /** The space's chapters or wisdoms with these ids, in no particular order. */
  getNarratives(space: SpaceName, ids: readonly string[], includeArchived: boolean): Promise<StoredNarrative[]>;
  /** The space's chapters or wisdoms that fit, newest first by the order, from the first after `after`. */
  listNarratives(
    space: SpaceName,
    filter: NarrativeFilter,
    order: NarrativeOrder,
    after: NarrativePlace | null,
    limit: number,
  ): Promise<StoredNarrative[]>;
  /** Who belongs to each of the nodes over its one edge of this label, in their order. */
  findMembers(space: SpaceName, label: Label, ownerIds: readonly string[]): Promise<Map<string, string[]>>;

  readonly chunks: ChunkReads;
  readonly entries: EntryReads;

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

/** What an answer shows of a node. */
export interface NodeBrief
  extends Pick<StoredNode, 'id' | 'form' | 'kind' | 'scope' | 'content' | 'confidence' | 'createdAtMs'> {
  readonly archived: boolean;
}

/** Any node, with what was counted about it. */
export interface StoredNode {
  readonly id: string;
  readonly seq: number;
  readonly form: Form;
  readonly kind: string | null;
  readonly type: NodeType;
  readonly repoId: string;
  readonly scope: Scope;
  readonly content: string;
  readonly confidence: number | null;
  readonly tier: Tier;
  readonly archivedFrom: Tier | null;
  readonly archivedAtMs: number | null;
  readonly archiveReason: string | null;
  readonly sessionId: string | null;
  readonly taskId: string | null;
  readonly provenance: string | null;
  readonly metadata: Readonly<Record<string, unknown>>;
  readonly tags: readonly string[];
  readonly revision: number;
  readonly createdAtMs: number;
  readonly updatedAtMs: number;
  readonly accessCount: number;
  /** When it was made, if nobody looked at it since. */
  readonly lastAccessedAtMs: number;
  readonly decayedAtMs: number | null;
}

/** How sure a node is, and how it was used. */
export type NodeWear = Pick<
  StoredNode,
  'id' | 'seq' | 'form' | 'tier' | 'confidence' | 'revision' | 'accessCount' | 'lastAccessedAtMs' | 'decayedAtMs'
>;

export interface NodeFilter {
  readonly types: readonly NodeType[];
  readonly tiers: readonly Tier[];
  readonly form: Form | null;
  readonly kind: string | null;
  readonly minConfidence: number;
  readonly tag: string | null;
  readonly sessionId: string | null;
  /** Whether what all sessions share comes along with what belongs to one. */
  readonly withShared: boolean;
  readonly taskId: string | null;
}

/** Which terms a node must hold: any of them, all, all in this order, or all and one of those that the last may become. */
export type TermMatch =
  | { readonly match: 'any' | 'all' | 'phrase'; readonly terms: readonly string[] }
  | { readonly match: 'prefix'; readonly terms: readonly string[]; readonly lastTerms: readonly string[] };

export type SearchFilter = Pick<NodeFilter, 'form' | 'kind' | 'minConfidence'> & {
  readonly type: NodeType | null;
  readonly tier: Tier | null;
  /** Of the tiers task and session only what belongs to this session; null shows what any session noted. */
  readonly sessionId: string | null;
};

export interface NodeMatch extends Pick<TermCandidate, 'terms' | 'length'> {
  readonly id: string;
}

/** Where in a list of nodes somebody stands. */
export interface NodePlace {
  readonly confidence: number;
  readonly seq: number;
}

export interface SameText {
  readonly id: string;
  readonly archived: boolean;
  /** Whether another fact replaced it. */
  readonly superseded: boolean;
}

export interface Neighbour {
  readonly fromId: string;
  readonly toId: string;
  readonly toKind: string | null;
  readonly label: string;
  readonly weight: number;
}

export interface TermCandidate {
  readonly memory: NodeBrief;
  /** The indexed terms, separated and surrounded by single blanks. */
  readonly terms: string;
  readonly length: number;
}

export interface StoredEdge {
  readonly id: string;
  readonly seq: number;
  readonly repoId: string;
  readonly type: EdgeType;
  readonly label: string;
  readonly weight: number;
  readonly rationale: string | null;
  readonly createdAtMs: number;
  readonly members: readonly Member[];
}

export interface EdgeFilter {
  readonly type: EdgeType | null;
  readonly label: string | null;
  readonly nodeId: string | null;
}

/** Where in a list of edges somebody stands. */
export interface EdgePlace {
  readonly type: EdgeType;
  readonly label: string;
  readonly seq: number;
}

/** Which edges to look along; null means all. */
export interface EdgeWays {
  readonly types: readonly EdgeType[] | null;
  readonly label: string | null;
  /** Only edges that say something else than these labels. */
  readonly otherThan?: readonly string[];
  /** Only edges of which one of these nodes is a member too. */
  readonly withIds?: readonly string[];
  /** Of a hub only so many of its edges. */
  readonly perNode: number;
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

/** What the plan was based on changed before it was applied. */
export class ApplyConflict extends Error {
  constructor(
    readonly reason:
      | 'duplicate'
      | 'id_taken'
      | 'no_room'
      | 'edge_exists'
      | 'edge_missing'
      | 'circle'
      | 'tier_moved'
      | 'node_missing'
      | 'revision'
      | 'key_taken',
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
