import { setImmediate } from 'node:timers/promises';
import { type ChunkLinkWord, CONTEXT_STRENGTH, FOLLOW_MS, followStrength, tagStrength } from '../domain/chunks.js';
import type { ChunkRelative, ChunksAround, DrawnRow, StoredChunk, TagHolder } from '../storage/port.js';
import type { Context } from './context.js';

/** How a chunk stands to another one. */
export interface ChunkLink {
  readonly chunkId: string;
  readonly word: ChunkLinkWord;
  readonly strength: number;
  /** The edge that somebody drew; null for what came about by itself. */
  readonly edgeId: string | null;
}

export type ChunkLinks = Readonly<Record<ChunkLinkWord, readonly ChunkLink[]>>;

/** A chunk shows so many of each sort: all of a long conversation would cost whoever reads it more than it tells. */
const SHOWN_MAX = 20;
/** Of each tag so many holders are looked at for those that share the most. */
const HOLDERS_MAX = 100;

/** The nearest links of every sort, for each of the chunks. Others get their turn between two chunks. */
export async function readChunkLinks(
  context: Context,
  repoId: string,
  chunks: readonly StoredChunk[],
): Promise<Map<string, ChunkLinks>> {
  const { store } = context;
  const ids = chunks.map(({ id }) => id);
  const drawn = toLinksById(await store.chunks.findDrawn(repoId, ids, DRAWN, SHOWN_MAX));
  const tags = [...new Set(chunks.flatMap((chunk) => chunk.tags))];
  const holders = await store.chunks.findHolders(repoId, tags, HOLDERS_MAX);
  const links = new Map<string, ChunkLinks>();
  for (const chunk of chunks) {
    const of = (word: DrawnWord): ChunkLink[] => (drawn.get(chunk.id) ?? []).filter((link) => link.word === word);
    const around = await store.chunks.findAround(repoId, chunk, SHOWN_MAX);
    const follows = around.before.filter(({ createdAtMs }) => chunk.createdAtMs - createdAtMs <= FOLLOW_MS);
    links.set(chunk.id, {
      context_of: nearest(chunk, around).map(toContext),
      follows: unite(
        of('follows'),
        follows.map((other) => toFollow(chunk, other)),
      ),
      related_to: unite(of('related_to'), mostAlike(chunk, holders)),
      supports: of('supports'),
      contradicts: of('contradicts'),
    });
    await setImmediate();
  }
  return links;
}

/** Of other conversations those that share the most tags with the chunk, of as many the newest. */
function mostAlike(chunk: StoredChunk, holders: ReadonlyMap<string, readonly TagHolder[]>): ChunkLink[] {
  const byId = new Map(
    chunk.tags
      .flatMap((tag) => holders.get(tag) ?? [])
      .filter(({ conversationId }) => conversationId !== chunk.conversationId)
      .map((holder) => [holder.id, holder]),
  );
  return [...byId.values()]
    .map((holder) => ({ holder, shared: sharedTags(chunk, holder) }))
    .sort(
      (a, b) =>
        b.shared - a.shared || b.holder.createdAtMs - a.holder.createdAtMs || (a.holder.id < b.holder.id ? -1 : 1),
    )
    .slice(0, SHOWN_MAX)
    .map(({ holder }) => toRelated(chunk, holder));
}

const sharedTags = ({ tags }: StoredChunk, holder: TagHolder): number =>
  holder.tags.filter((tag) => tags.includes(tag)).length;

/** Those that were said right before and right after: the nearer in time first, at the same distance the one before. */
const nearest = (chunk: StoredChunk, { before, after }: ChunksAround): ChunkRelative[] =>
  [...before.entries(), ...after.entries()]
    .sort(([a, one], [b, other]) => distance(chunk, one) - distance(chunk, other) || a - b)
    .map(([, other]) => other)
    .slice(0, SHOWN_MAX);

const distance = (chunk: StoredChunk, { createdAtMs }: ChunkRelative): number =>
  Math.abs(chunk.createdAtMs - createdAtMs);

/** What somebody drew goes first and is not said a second time. */
function unite(drawn: readonly ChunkLink[], derived: readonly ChunkLink[]): ChunkLink[] {
  const byId = new Map([...derived, ...drawn].map((link) => [link.chunkId, link]));
  const ids = new Set([...drawn, ...derived].map(({ chunkId }) => chunkId));
  return [...ids].slice(0, SHOWN_MAX).map((id) => byId.get(id) as ChunkLink);
}

const DRAWN = ['supports', 'contradicts', 'related_to', 'follows'] as const;
export type DrawnWord = (typeof DRAWN)[number];

const derived = (word: ChunkLinkWord, { id }: ChunkRelative, strength: number): ChunkLink => ({
  chunkId: id,
  word,
  strength,
  edgeId: null,
});

export const toContext = (other: ChunkRelative): ChunkLink => derived('context_of', other, CONTEXT_STRENGTH);
export const toFollow = (chunk: StoredChunk, other: ChunkRelative): ChunkLink =>
  derived('follows', other, followStrength(chunk.createdAtMs - other.createdAtMs));
export const toRelated = (chunk: StoredChunk, other: TagHolder): ChunkLink =>
  derived('related_to', other, tagStrength(sharedTags(chunk, other)));

export function toLinksById(rows: readonly DrawnRow[]): Map<string, ChunkLink[]> {
  const links = new Map<string, ChunkLink[]>();
  for (const { fromId, toId, word, strength, edgeId } of rows) {
    const link = { chunkId: toId, word, strength, edgeId };
    const known = links.get(fromId);
    if (known) known.push(link);
    else links.set(fromId, [link]);
  }
  return links;
}
