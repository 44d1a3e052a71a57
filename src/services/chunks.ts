import type { Change } from '../domain/changes.js';
import { type ChunkType, detectType } from '../domain/chunk-types.js';
import { CHUNK_TOKENS_MAX } from '../domain/chunking.js';
import {
  type ChunkFields,
  type ChunkSource,
  checkChunk,
  checkConversation,
  checkTokens,
  chunkTerms,
  newChunkId,
} from '../domain/chunks.js';
import { isIdOf, typeOf } from '../domain/forms.js';
import { newNode } from '../domain/node.js';
import { checkRepoId } from '../domain/rules.js';
import { passGate } from '../domain/violations.js';
import type { ChunkCounts, ChunkFilter, ChunkPlace, StoredChunk } from '../storage/port.js';
import type { Context } from './context.js';
import { RevisionMismatch } from './nodes.js';
import { type Making, makeOnce, type Once } from './once.js';
import { retrying } from './retrying.js';
import { loadTokenCounter } from './tokens.js';

export type { ChunkCounts, ChunkFilter, ChunkPlace, StoredChunk } from '../storage/port.js';

/** What is said of a chunk, or of all the chunks of a text. */
export interface ChunkDraft {
  readonly content: string;
  readonly conversationId: string;
  /** Null to be told from the text. */
  readonly type: ChunkType | null;
  readonly tags: readonly string[];
  readonly confidence: number;
  readonly source: ChunkSource;
}

export interface ChunkPatch extends Pick<ChunkFields, 'content' | 'tags'> {
  readonly type?: ChunkType;
  readonly confidence?: number;
}

export async function createChunk(
  context: Context,
  repoId: string,
  draft: ChunkDraft,
  once: Once | null,
): Promise<StoredChunk> {
  passGate('semantic', [...checkRepoId('repo_id', repoId), ...checkChunk(draft)]);
  const tokens = await countTokens(draft.content);
  const plan = async (): Promise<Making> => {
    const id = newChunkId(context.now(), context.newId());
    const piece = { id, content: draft.content, terms: chunkTerms(draft.content, draft.tags), tokens };
    return { ids: [id], changes: chunkChanges(context, repoId, draft, [piece]) };
  };
  return makeOnce(context, repoId, once, plan, ([id]) => findChunk(context, repoId, id as string));
}

async function countTokens(content: string): Promise<number> {
  const count = await loadTokenCounter();
  const tokens = count(content, CHUNK_TOKENS_MAX);
  passGate('semantic', checkTokens(tokens));
  return tokens;
}

/** New chunks of one text, and their place in its conversation. */
export function chunkChanges(
  context: Context,
  repoId: string,
  { conversationId, source, confidence, ...draft }: ChunkDraft,
  pieces: readonly ChunkPiece[],
): Change[] {
  const atMs = context.now();
  const tags = [...new Set(draft.tags)];
  const insertions = pieces.map(({ id, content, terms, tokens }): Change => {
    const type = draft.type ?? detectType(content);
    const detail = { form: 'chunk', conversationId, source, tokens, tags } as const;
    const about = { id, repoId, content, confidence, tags, createdAtMs: atMs, detail };
    const node = newNode({ ...about, form: 'chunk', kind: type, type: typeOf('chunk', type) });
    return { change: 'insert_node', node, terms };
  });
  const members = pieces.map(({ id }) => ({ nodeId: id, saidAtMs: atMs }));
  const edgeId = context.newId();
  return [...insertions, { change: 'join_conversation', repoId, conversationId, members, edgeId, atMs }];
}

/** A text that is to be a chunk. */
export interface ChunkPiece {
  readonly id: string;
  readonly content: string;
  readonly terms: readonly string[];
  readonly tokens: number;
}

/** A chunk by its id, archived or not. An id of the wrong form is simply nobody's. */
export async function findChunk({ store }: Context, repoId: string, id: string): Promise<StoredChunk | null> {
  passGate('semantic', checkRepoId('repo_id', repoId));
  if (!isIdOf('chunk', id)) return null;
  const [chunk] = await store.chunks.getChunks(repoId, [id], true);
  return chunk ?? null;
}

/** Whoever asks for a chunk looks at it, and that counts. One that was put away is shown to those who ask for such. */
export async function readChunk(
  context: Context,
  repoId: string,
  id: string,
  includeArchived: boolean,
): Promise<StoredChunk | null> {
  const chunk = await findChunk(context, repoId, id);
  if (!chunk || (chunk.tier === 'archive' && !includeArchived)) return null;
  context.store.noteAccess(repoId, [id], context.now());
  return findChunk(context, repoId, id);
}

/** Changes what is named; null when there is no such chunk, or only in the archive. */
export async function patchChunk(
  context: Context,
  repoId: string,
  id: string,
  patch: ChunkPatch,
  expectedRevision: number | null,
): Promise<StoredChunk | null> {
  passGate('semantic', checkChunk(patch));
  const tokens = patch.content === undefined ? undefined : await countTokens(patch.content);
  return retrying(async () => {
    const chunk = await findChunk(context, repoId, id);
    if (!chunk || chunk.tier === 'archive') return null;
    if (expectedRevision !== null && expectedRevision !== chunk.revision) {
      throw new RevisionMismatch(id, chunk.revision);
    }
    await context.store.apply({ space: repoId, changes: [patchChange(context, chunk, patch, tokens)] });
    return findChunk(context, repoId, id);
  });
}

function patchChange(context: Context, chunk: StoredChunk, patch: ChunkPatch, tokens = chunk.tokens): Change {
  const { content, confidence, type } = patch;
  const tags = patch.tags && [...new Set(patch.tags)];
  const { conversationId, source } = chunk;
  return {
    change: 'patch_node',
    nodeId: chunk.id,
    repoId: chunk.repoId,
    expectedRevision: chunk.revision,
    fields: {
      ...(content !== undefined && { content }),
      ...((content !== undefined || tags) && {
        terms: chunkTerms(content ?? chunk.content, tags ?? chunk.tags),
        detail: { form: 'chunk', conversationId, source, tokens, tags: tags ?? chunk.tags },
      }),
      ...(confidence !== undefined && { confidence }),
      ...(type !== undefined && { kind: type, type: typeOf('chunk', type) }),
      ...(tags && { tags }),
    },
    trigger: 'manual',
    reason: null,
    atMs: context.now(),
  };
}

export interface ChunkPage {
  readonly chunks: readonly StoredChunk[];
  readonly next: ChunkPlace | null;
}

export async function listChunks(
  { store }: Context,
  repoId: string,
  filter: ChunkFilter,
  after: ChunkPlace | null,
  limit: number,
): Promise<ChunkPage> {
  const { conversationId } = filter;
  passGate('semantic', [
    ...checkRepoId('repo_id', repoId),
    ...(conversationId === null ? [] : checkConversation(conversationId)),
  ]);
  const found = await store.chunks.listChunks(repoId, filter, after, limit + 1);
  const chunks = found.slice(0, limit);
  return { chunks, next: found.length > limit ? (chunks.at(-1) ?? null) : null };
}

export async function countChunks({ store }: Context, repoId: string): Promise<ChunkCounts> {
  passGate('semantic', checkRepoId('repo_id', repoId));
  return store.chunks.countChunks(repoId);
}
