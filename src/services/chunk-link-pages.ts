import { CHUNK_LINKS, type ChunkLinkWord, FOLLOW_MS } from '../domain/chunks.js';
import type { ChunkPlace, ChunkRelative, StoredChunk } from '../storage/port.js';
import {
  type ChunkLink,
  type ChunkLinks,
  type DrawnWord,
  readChunkLinks,
  toContext,
  toFollow,
  toLinksById,
  toRelated,
} from './chunk-links.js';
import { findChunk } from './chunks.js';
import type { Context } from './context.js';

/** Where in a list of links somebody stands. */
export type LinkPlace = ChunkPlace & Pick<ChunkRelative, 'seq'>;

export interface LinkPage {
  readonly links: readonly ChunkLink[];
  readonly next: LinkPlace | null;
}

/** Drawn links of a sort that comes about by itself as well stand on its first page; more than these nobody draws. */
const DRAWN_MAX = 1_000;

/**
 * All links of one sort, page by page: those that somebody drew, strongest first, then those that came about by themselves,
 * latest first. Without a sort, the nearest of each. Null when there is no such chunk.
 */
export async function listChunkLinks(
  context: Context,
  repoId: string,
  id: string,
  word: ChunkLinkWord | null,
  after: LinkPlace | null,
  limit: number,
): Promise<LinkPage | null> {
  const chunk = await findChunk(context, repoId, id);
  if (!chunk) return null;
  switch (word) {
    case null: {
      const nearestOfEach = (await readChunkLinks(context, repoId, [chunk])).get(id) as ChunkLinks;
      return { links: CHUNK_LINKS.flatMap((each) => nearestOfEach[each]), next: null };
    }
    case 'supports':
    case 'contradicts':
      return pageDrawn(context, chunk, word, after, limit);
    case 'related_to':
      return pageSharing(context, chunk, after, limit);
    case 'context_of':
    case 'follows':
      return pageConversation(context, chunk, word, after, limit);
  }
}

const drawnOf = async (
  { store }: Context,
  { id, repoId }: StoredChunk,
  word: DrawnWord,
  each: number,
): Promise<ChunkLink[]> => toLinksById(await store.chunks.findDrawn(repoId, [id], [word], each)).get(id) ?? [];

/** The place in a list of drawn links is how many stand before it. */
async function pageDrawn(
  context: Context,
  chunk: StoredChunk,
  word: DrawnWord,
  after: LinkPlace | null,
  limit: number,
): Promise<LinkPage> {
  const start = after?.seq ?? 0;
  const found = (await drawnOf(context, chunk, word, start + limit + 1)).slice(start);
  const next = found.length > limit ? { createdAtMs: 0, id: '', seq: start + limit } : null;
  return { links: found.slice(0, limit), next };
}

async function pageSharing(
  context: Context,
  chunk: StoredChunk,
  after: LinkPlace | null,
  limit: number,
): Promise<LinkPage> {
  const drawn = await drawnOf(context, chunk, 'related_to', DRAWN_MAX);
  const { holders, next } = await context.store.chunks.listSharing(chunk.repoId, chunk, after?.seq ?? null, limit);
  return {
    links: joinPages(
      drawn,
      holders.map((other) => toRelated(chunk, other)),
      after,
    ),
    next: next === null ? null : { createdAtMs: 0, id: '', seq: next },
  };
}

async function pageConversation(
  context: Context,
  chunk: StoredChunk,
  word: 'context_of' | 'follows',
  after: LinkPlace | null,
  limit: number,
): Promise<LinkPage> {
  const { repoId, conversationId, createdAtMs, id } = chunk;
  const [from, sinceMs] = word === 'context_of' ? [after, 0] : [after ?? chunk, createdAtMs - FOLLOW_MS];
  const drawn = word === 'context_of' ? [] : await drawnOf(context, chunk, word, DRAWN_MAX);
  // One more than the page tells whether there is another, and one may be the chunk itself.
  const found = await context.store.chunks.listConversation(repoId, conversationId, from, sinceMs, limit + 2);
  const others = found.filter((other) => other.id !== id);
  const page = others.slice(0, limit);
  const derivedOnes = page.map((other) => (word === 'context_of' ? toContext(other) : toFollow(chunk, other)));
  return { links: joinPages(drawn, derivedOnes, after), next: others.length > limit ? (page.at(-1) ?? null) : null };
}

/** What somebody drew is on the first page and is not said a second time. */
function joinPages(drawn: readonly ChunkLink[], derived: readonly ChunkLink[], after: LinkPlace | null): ChunkLink[] {
  const drawnIds = new Set(drawn.map(({ chunkId }) => chunkId));
  return [...(after === null ? drawn : []), ...derived.filter(({ chunkId }) => !drawnIds.has(chunkId))];
}
