import type { Label, Member } from './links.js';
import type { Memory } from './node.js';
import type { Origin, Tier } from './vocabulary.js';

/** Everything that can be written, as data. `Store.apply` is the only thing that carries a change out. */
export type Change = InsertMemory | AttachEvidence | InsertEdge | MoveTier | RecordVote | RememberReply;

export interface InsertMemory {
  readonly change: 'insert_memory';
  readonly memory: Memory;
  /** The normalised words the search index holds for it. */
  readonly terms: readonly string[];
  /** Refuse when a live, current memory of the same kind and text has appeared since the plan was made. */
  readonly refuseDuplicate: boolean;
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
  readonly label: Label;
  readonly weight: number;
  readonly origin: Origin;
  readonly rationale: string | null;
  readonly members: readonly Member[];
  readonly atMs: number;
}

export interface MoveTier {
  readonly change: 'move_tier';
  readonly nodeId: string;
  readonly repoId: string;
  readonly from: Tier;
  readonly to: Tier;
  readonly reason: string | null;
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
