import { setImmediate } from 'node:timers/promises';
import { CHUNK_TOKENS_MAX, cutText } from '../domain/chunking.js';
import { checkChunk, chunkTerms, newChunkId } from '../domain/chunks.js';
import { checkRepoId } from '../domain/rules.js';
import { passGate, type Violation } from '../domain/violations.js';
import { type ChunkDraft, type ChunkPiece, chunkChanges } from './chunks.js';
import type { Context } from './context.js';
import { findReply, type Once, rememberReply } from './once.js';
import { retrying } from './retrying.js';
import { loadTokenCounter } from './tokens.js';

export interface Remembered {
  readonly chunkIds: readonly string[];
  readonly tokens: number;
}

/** What one call may bring. */
const TEXT_BYTES_MAX = 1024 * 1024;

type Piece = Omit<ChunkPiece, 'id'>;

/** A plan of so many keeps others waiting for less than a tenth of a second; few texts have more. */
const PLAN_CHUNKS = 500;

/**
 * Cuts a text of any length into chunks and keeps all of them or none, one following on the other. One of very many chunks is
 * stored in parts: when a later part cannot be, those before it are taken back.
 */
export async function rememberText(
  context: Context,
  repoId: string,
  draft: ChunkDraft,
  once: Once | null,
): Promise<Remembered> {
  const { content, ...rest } = draft;
  passGate('semantic', [...checkRepoId('repo_id', repoId), ...checkLength(content), ...checkChunk(rest)]);
  const pieces = await cut(content, draft.tags);
  const tokens = pieces.reduce((sum, piece) => sum + piece.tokens, 0);
  return retrying(async () => {
    const known = await findReply<Remembered>(context, repoId, once);
    return known ?? storeAll(context, repoId, draft, pieces, tokens, once);
  });
}

async function storeAll(
  context: Context,
  repoId: string,
  draft: ChunkDraft,
  pieces: readonly Piece[],
  tokens: number,
  once: Once | null,
): Promise<Remembered> {
  const chunkIds = newIds(context, pieces.length);
  const remembered = { chunkIds, tokens };
  const named = pieces.map((piece, place) => ({ ...piece, id: chunkIds[place] as string }));
  for (let start = 0; start < named.length; start += PLAN_CHUNKS) {
    const end = start + PLAN_CHUNKS;
    // The answer is kept with the last of them: before that there is none.
    const reply = end < named.length ? [] : rememberReply(context, repoId, once, remembered);
    const changes = [...chunkChanges(context, repoId, draft, named.slice(start, end)), ...reply];
    try {
      await context.store.apply({ space: repoId, changes });
    } catch (error) {
      await takeBack(context, repoId, chunkIds.slice(0, start));
      throw error;
    }
  }
  return remembered;
}

async function takeBack(context: Context, repoId: string, ids: readonly string[]): Promise<void> {
  if (ids.length === 0) return;
  const atMs = context.now();
  const changes = ids.map((nodeId) => ({ change: 'purge_node', nodeId, repoId, atMs }) as const);
  await context.store.apply({ space: repoId, changes });
}

/** In their order: of what is said at one moment the ids tell what comes first. */
function newIds(context: Context, count: number): string[] {
  const ids = new Set<string>();
  while (ids.size < count) ids.add(newChunkId(context.now(), context.newId()));
  return [...ids].sort();
}

function checkLength(content: string): Violation[] {
  const bytes = Buffer.byteLength(content);
  if (bytes > TEXT_BYTES_MAX) {
    const message = `has ${bytes} bytes, at most ${TEXT_BYTES_MAX} are remembered at once; send it in parts`;
    return [{ field: 'content', code: 'semantic_error', message }];
  }
  return content.trim() === ''
    ? [{ field: 'content', code: 'semantic_error', message: 'must contain something other than white space' }]
    : [];
}

/** Others get their turn between any two pieces: a megabyte takes long to count. */
async function cut(content: string, tags: readonly string[]): Promise<Piece[]> {
  const count = await loadTokenCounter();
  const pieces: Piece[] = [];
  for (const piece of cutText(content, count)) {
    if (piece !== null) {
      pieces.push({ content: piece, terms: chunkTerms(piece, tags), tokens: count(piece, CHUNK_TOKENS_MAX) });
    }
    await setImmediate();
  }
  return pieces;
}
