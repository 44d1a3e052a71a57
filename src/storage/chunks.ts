import type { ChunkType } from '../domain/chunk-types.js';
import type { ChunkLinkWord, ChunkSource } from '../domain/chunks.js';
import type { ChosenTerms } from '../domain/ranking.js';
import type { SpaceName } from '../domain/spaces.js';
import type { Tier } from '../domain/vocabulary.js';

/** What a store holds of chunks, and how it is asked for it. There are none of global scope. */
export interface ChunkReads {
  /** The space's chunks with these ids, in no particular order. */
  getChunks(space: SpaceName, ids: readonly string[], includeArchived: boolean): Promise<StoredChunk[]>;
  /** The space's chunks that fit, newest first, from the first after `after`. */
  listChunks(space: SpaceName, filter: ChunkFilter, after: ChunkPlace | null, limit: number): Promise<StoredChunk[]>;
  /** Lexical candidates among the chunks that fit: those that hold at least one of `any`; of more than `poolSize` the best by those terms. */
  searchChunks(space: SpaceName, terms: ChosenTerms, filter: ChunkFilter, poolSize: number): Promise<ChunkCandidate[]>;
  /** The live chunks of its conversation on both sides of a chunk: of either as many as `each`, the nearest first. */
  findAround(space: SpaceName, chunk: ChunkSpot, each: number): Promise<ChunksAround>;
  /** The live chunks before this place in a conversation, not older than `sinceMs`, newest first. */
  listConversation(
    space: SpaceName,
    conversationId: string,
    before: ChunkPlace | null,
    sinceMs: number,
    limit: number,
  ): Promise<ChunkRelative[]>;
  /** For each of the tags the live chunks that have it, latest written first, as many as `each`. */
  findHolders(space: SpaceName, tags: readonly string[], each: number): Promise<Map<string, TagHolder[]>>;
  /**
   * The live chunks of other conversations that share a tag with the chunk, latest written first, from before `beforeSeq`. A page
   * may be short, because there is an end to how many are looked at; `next` says where to go on.
   */
  listSharing(space: SpaceName, chunk: ChunkSpot, beforeSeq: number | null, limit: number): Promise<SharingPage>;
  /**
   * The links of these sorts that were drawn from each of the chunks to other live chunks, strongest first, as many as `each` of a
   * sort; of those that read the same from either end also the ones drawn to it. `amongIds` names the only ones that are asked for.
   */
  findDrawn(
    space: SpaceName,
    ids: readonly string[],
    words: readonly ChunkLinkWord[],
    each: number,
    amongIds?: readonly string[],
  ): Promise<DrawnRow[]>;
  /** The space's chunks in the order of their ids, from the first after `afterId`; archived ones too. */
  walkChunks(space: SpaceName, afterId: string | null, limit: number): Promise<StoredChunk[]>;
  countChunks(space: SpaceName): Promise<ChunkCounts>;
}

export interface StoredChunk {
  readonly id: string;
  readonly seq: number;
  readonly repoId: string;
  readonly type: ChunkType;
  readonly content: string;
  readonly tokens: number;
  readonly source: ChunkSource;
  readonly conversationId: string;
  readonly tags: readonly string[];
  readonly confidence: number;
  readonly tier: Tier;
  readonly archivedAtMs: number | null;
  readonly revision: number;
  readonly createdAtMs: number;
  readonly accessCount: number;
  readonly lastAccessedAtMs: number | null;
}

/** What is derived about a chunk is derived from these. */
export type ChunkSpot = Pick<StoredChunk, 'id' | 'seq' | 'conversationId' | 'tags' | 'createdAtMs'>;

export interface ChunkRelative {
  readonly id: string;
  readonly seq: number;
  readonly createdAtMs: number;
}

export interface TagHolder extends ChunkRelative {
  readonly conversationId: string;
  readonly tags: readonly string[];
}

export interface SharingPage {
  readonly holders: readonly TagHolder[];
  readonly next: number | null;
}

export interface DrawnRow {
  readonly fromId: string;
  readonly toId: string;
  readonly word: ChunkLinkWord;
  readonly strength: number;
  readonly edgeId: string;
}

export interface ChunksAround {
  readonly before: readonly ChunkRelative[];
  readonly after: readonly ChunkRelative[];
}

/** Null, or no tags, where anything fits. */
export interface ChunkFilter {
  readonly conversationId: string | null;
  /** All of them. */
  readonly tags: readonly string[];
  readonly type: ChunkType | null;
  /** From this moment on, and up to that one: both belong to it. */
  readonly sinceMs: number | null;
  readonly untilMs: number | null;
  readonly minConfidence: number;
  readonly includeArchived: boolean;
}

/** Where in a list of chunks somebody stands. */
export interface ChunkPlace {
  readonly createdAtMs: number;
  readonly id: string;
}

export interface ChunkCandidate {
  readonly id: string;
  /** The indexed terms, separated and surrounded by single blanks. */
  readonly terms: string;
  readonly length: number;
  readonly content: string;
  readonly tags: readonly string[];
  readonly confidence: number;
  readonly createdAtMs: number;
}

export interface ChunkCounts {
  readonly byType: Readonly<Record<ChunkType, number>>;
  readonly total: number;
  readonly archived: number;
  readonly tokens: number;
  readonly conversations: number;
}
