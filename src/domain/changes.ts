import type { Agent, Session } from './agents.js';
import type { EntryType } from './entries.js';
import type { Label, Member } from './links.js';
import type { GraphNode, Memory, NodeFields } from './node.js';
import type { ConfidenceTrigger, EdgeType, Origin, Tier } from './vocabulary.js';

/** Everything that can be written, as data. `Store.apply` is the only thing that carries a change out. */
export type Change =
  | InsertMemory
  | InsertNode
  | PatchNode
  | PurgeNode
  | ExpectNodes
  | AttachEvidence
  | InsertEdge
  | PatchEdge
  | RemoveEdge
  | SetMembers
  | JoinConversation
  | ExpectRoom
  | InsertAgent
  | InsertSession
  | EndSession
  | MoveTier
  | CountAccess
  | RecordEvolution
  | RecordVote
  | RememberReply;

export interface InsertMemory {
  readonly change: 'insert_memory';
  readonly memory: Memory;
  /** The normalised words the search index holds for it. */
  readonly terms: readonly string[];
  /** Refuse when a live, current memory of the same kind and text has appeared since the plan was made. */
  readonly refuseDuplicate: boolean;
}

export interface InsertNode {
  readonly change: 'insert_node';
  readonly node: GraphNode;
  readonly terms: readonly string[];
}

/** The node as it was read: when somebody else changed it since, nothing is done. Null when it does not matter. */
export type ExpectedRevision = number | null;

/** New values of some fields of a node; what is not named stays. */
export interface PatchNode {
  readonly change: 'patch_node';
  readonly nodeId: string;
  readonly repoId: string;
  readonly expectedRevision: ExpectedRevision;
  readonly fields: NodeFields;
  readonly trigger: ConfidenceTrigger;
  readonly reason: string | null;
  readonly atMs: number;
}

/** Nothing is done unless these nodes are as they were read. */
export interface ExpectNodes {
  readonly change: 'expect_nodes';
  readonly nodes: readonly { readonly nodeId: string; readonly revision: number }[];
}

/** Removes a node for good, with its place in every edge; an edge that is left with one member goes with it. */
export interface PurgeNode {
  readonly change: 'purge_node';
  readonly nodeId: string;
  readonly repoId: string;
  readonly expectedRevision?: ExpectedRevision;
  readonly atMs: number;
}

/** Evidence of a node, an edge or a vote. A reference is one row per repo, shared by all that cite it. */
export interface AttachEvidence {
  readonly change: 'attach_evidence';
  readonly owner: { readonly of: 'node' | 'edge' | 'vote'; readonly id: string };
  readonly repoId: string;
  readonly refs: readonly string[];
  /** Why it was attached, where it was attached later. */
  readonly rationale: string | null;
  readonly atMs: number;
}

export interface InsertEdge {
  readonly change: 'insert_edge';
  readonly id: string;
  readonly repoId: string;
  readonly type: EdgeType;
  /** One of `domain/links.ts`, or a word of the caller's own. */
  readonly label: string;
  readonly weight: number;
  readonly origin: Origin;
  readonly rationale: string | null;
  readonly members: readonly Member[];
  readonly atMs: number;
}

export interface PatchEdge {
  readonly change: 'patch_edge';
  readonly edge: StandingEdge;
  /** The weight as it was read, where the new one follows from it. */
  readonly expectedWeight?: number;
  readonly weight?: number;
  readonly label?: string;
  readonly atMs: number;
}

export interface RemoveEdge {
  readonly change: 'remove_edge';
  readonly edge: StandingEdge;
  readonly atMs: number;
}

/** An edge as it was read; when it is not so any more, nothing is done. */
export interface StandingEdge {
  readonly id: string;
  readonly repoId: string;
  readonly type: EdgeType;
  readonly label: string;
  readonly members: readonly Member[];
}

/** Who belongs to a node over the one edge of this label that it has; the edge is drawn when it is not there. */
export interface SetMembers {
  readonly change: 'set_members';
  readonly label: Label;
  readonly repoId: string;
  readonly ownerId: string;
  /** In their order. */
  readonly memberIds: readonly string[];
  /** Of the edge, if it has to be drawn. */
  readonly edgeId: string;
  readonly origin: Origin;
  readonly atMs: number;
}

/** Nodes become more of a conversation. Nobody else in it is looked at: the ten thousandth costs what the second does. */
export interface JoinConversation {
  readonly change: 'join_conversation';
  readonly repoId: string;
  readonly conversationId: string;
  /** Each with when it was said: what is told later of an earlier moment still has its place there. */
  readonly members: readonly { readonly nodeId: string; readonly saidAtMs: number }[];
  /** Of the conversation's edge, if it has to be drawn. */
  readonly edgeId: string;
  readonly atMs: number;
}

/** Nothing is done if the live entries of a type are more than may be, counted when all before this is done. */
export interface ExpectRoom {
  readonly change: 'expect_room';
  readonly type: EntryType;
  readonly entriesMax: number;
  readonly bytesMax: number;
}

interface InsertAgent {
  readonly change: 'insert_agent';
  readonly agent: Agent;
}

interface InsertSession {
  readonly change: 'insert_session';
  readonly session: Session;
}

export interface EndSession {
  readonly change: 'end_session';
  readonly sessionId: string;
  readonly finalOutcome: string | null;
  readonly atMs: number;
}

export interface MoveTier {
  readonly change: 'move_tier';
  readonly nodeId: string;
  readonly repoId: string;
  readonly expectedRevision?: ExpectedRevision;
  readonly from: Tier;
  readonly to: Tier;
  readonly reason: string | null;
  readonly atMs: number;
}

/** Accesses that a node takes over from others, and up to when its decay has been taken off. */
export interface CountAccess {
  readonly change: 'count_access';
  readonly nodeId: string;
  readonly count: number;
  readonly lastAccessedAtMs: number;
  readonly decayedAtMs: number | null;
}

/** A line of the log for what several changes came to together. */
export interface RecordEvolution {
  readonly change: 'record_evolution';
  readonly operation: 'consolidate' | 'promote' | 'decay';
  readonly repoId: string;
  readonly nodeIds: readonly string[];
  readonly from: Tier | null;
  readonly to: Tier | null;
  readonly reasoning: string;
  readonly atMs: number;
}

export interface RecordVote {
  readonly change: 'record_vote';
  readonly id: string;
  readonly repoId: string;
  readonly memoryId: string;
  readonly problemId: string;
  readonly vote: number;
  readonly rationale: string | null;
  readonly atMs: number;
}

/** The answer to a request that carried an idempotency key, kept in the transaction that did what it answers. */
export interface RememberReply {
  readonly change: 'remember_reply';
  readonly repoId: string;
  readonly key: string;
  readonly requestDigest: string;
  readonly reply: string;
  readonly atMs: number;
  readonly forgetBeforeMs: number;
}

/** What a use case decided: the space it concerns, the changes in order, and nothing done yet. */
export interface Plan {
  readonly space: string;
  readonly changes: readonly Change[];
}
