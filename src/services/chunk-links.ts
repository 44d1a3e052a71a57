import type { Change } from '../domain/changes.js';
import {
  CHUNK_LINKS,
  type ChunkLinkWord,
  CONTEXT_STRENGTH,
  type DrawnLinkWord,
  FOLLOW_MS,
  followStrength,
  tagStrength,
} from '../domain/chunks.js';
import { edgeKey, LINKS, membersOf } from '../domain/links.js';
import { viewOf } from '../domain/spaces.js';
import { GateFailure, type Violation } from '../domain/violations.js';
import type { ChunkPlace, ChunkRelative, ChunksAround, StoredChunk, StoredEdge } from '../storage/port.js';
import { findChunk } from './chunks.js';
import type { Context } from './context.js';
import { retrying } from './retrying.js';

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

/** The nearest links of every sort, for each of the chunks. */
export async function readChunkLinks(
  context: Context,
  repoId: string,
  chunks: readonly StoredChunk[],
): Promise<Map<string, ChunkLinks>> {
  const drawn = await drawnLinks(context, repoId, chunks, DRAWN, SHOWN_MAX * 2);
  const links = new Map<string, ChunkLinks>();
  for (const chunk of chunks) {
    const mine = drawn.get(chunk.id) ?? [];
    const of = (word: DrawnWord): ChunkLink[] => mine.filter((link) => link.word === word);
    const around = await context.store.chunks.findAround(repoId, chunk, SHOWN_MAX);
    const sharing =
      chunk.tags.length === 0 ? [] : await context.store.chunks.listSharing(repoId, chunk, null, HOLDERS_MAX);
    const follows = around.before.filter(({ createdAtMs }) => chunk.createdAtMs - createdAtMs <= FOLLOW_MS);
    links.set(chunk.id, {
      context_of: nearest(chunk, around).map(toContext),
      follows: unite(
        of('follows'),
        follows.map((other) => toFollow(chunk, other)),
      ),
      related_to: unite(of('related_to'), sharing.toSorted(mostAlikeFirst).map(toRelated)),
      supports: of('supports').slice(0, SHOWN_MAX),
      contradicts: of('contradicts').slice(0, SHOWN_MAX),
    });
  }
  return links;
}

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

/** Of those that share as many tags the newest. */
const mostAlikeFirst = (a: ChunkRelative, b: ChunkRelative): number =>
  b.sharedTags - a.sharedTags || b.createdAtMs - a.createdAtMs || (a.id < b.id ? -1 : 1);

const strongestFirst = (a: ChunkLink, b: ChunkLink): number =>
  b.strength - a.strength || (a.chunkId < b.chunkId ? -1 : 1);

const derived = (word: ChunkLinkWord, { id }: ChunkRelative, strength: number): ChunkLink => ({
  chunkId: id,
  word,
  strength,
  edgeId: null,
});

const toContext = (other: ChunkRelative): ChunkLink => derived('context_of', other, CONTEXT_STRENGTH);
const toFollow = (chunk: StoredChunk, other: ChunkRelative): ChunkLink =>
  derived('follows', other, followStrength(chunk.createdAtMs - other.createdAtMs));
const toRelated = (other: ChunkRelative): ChunkLink => derived('related_to', other, tagStrength(other.sharedTags));

const DRAWN = ['supports', 'contradicts', 'related_to', 'follows'] as const;
type DrawnWord = (typeof DRAWN)[number];

/** The links that were drawn from each chunk; those that read the same from either end, also to it. */
async function drawnLinks(
  { store }: Context,
  repoId: string,
  chunks: readonly StoredChunk[],
  labels: readonly DrawnWord[],
  each: number,
): Promise<Map<string, ChunkLink[]>> {
  const view = viewOf(repoId, { includeGlobal: false });
  const ids = chunks.map(({ id }) => id);
  const edges = await store.findEdges(view, ids, labels, each);
  const visible = await store.findVisible(view, [
    ...new Set(edges.flatMap(({ members }) => members.map(({ nodeId }) => nodeId))),
  ]);
  const links = new Map(ids.map((id): [string, ChunkLink[]] => [id, []]));
  for (const edge of edges) {
    for (const [from, to] of pairsOf(edge)) {
      if (visible.has(to)) links.get(from)?.push(toDrawn(edge, to));
    }
  }
  for (const each of links.values()) each.sort(strongestFirst);
  return links;
}

const toDrawn = ({ id, label, weight }: StoredEdge, chunkId: string): ChunkLink => ({
  chunkId,
  word: label as DrawnWord,
  strength: weight,
  edgeId: id,
});

function pairsOf({ label, members }: StoredEdge): [string, string][] {
  if (label === 'related_to') {
    return members.flatMap((from) =>
      members.filter((to) => to.nodeId !== from.nodeId).map((to): [string, string] => [from.nodeId, to.nodeId]),
    );
  }
  const from = members.find(({ role }) => role === 'subject');
  const to = members.find(({ role }) => role === 'object');
  return from && to ? [[from.nodeId, to.nodeId]] : [];
}

export interface LinkDraft {
  readonly targetId: string;
  readonly word: DrawnLinkWord;
  readonly strength: number;
  readonly reasoning: string | null;
}

export interface DrawnLink {
  readonly link: ChunkLink;
  readonly isNew: boolean;
}

/** Draws a link, or gives the one that is there its strength; null when there is no such chunk. */
export function linkChunk(context: Context, repoId: string, id: string, draft: LinkDraft): Promise<DrawnLink | null> {
  return retrying(async () => {
    const chunk = await findChunk(context, repoId, id);
    if (!chunk || chunk.tier === 'archive') return null;
    await refuseTarget(context, repoId, id, draft.targetId);
    const { word, strength, targetId } = draft;
    const members = membersOf(word, [id, targetId]);
    const key = edgeKey(word, members);
    const standing = (await context.store.findEdgesByKey(viewOf(repoId, { includeGlobal: false }), [key])).get(key);
    const edgeId = standing?.id ?? context.newId();
    const change = changeOf(context, repoId, draft, edgeId, members, standing);
    if (change) await context.store.apply({ space: repoId, changes: [change] });
    return { link: { chunkId: targetId, word, strength, edgeId }, isNew: !standing };
  });
}

async function refuseTarget(context: Context, repoId: string, id: string, targetId: string): Promise<void> {
  const refuse = (code: Violation['code'], message: string): never => {
    throw new GateFailure('integrity', [{ field: 'target_id', code, message }]);
  };
  if (targetId === id) refuse('integrity_error', 'is the chunk itself; name another one');
  const target = await findChunk(context, repoId, targetId);
  if (target && target.tier !== 'archive') return;
  refuse(
    'not_found',
    `no chunk ${JSON.stringify(targetId.slice(0, 80))} is visible from repo ${JSON.stringify(repoId)}`,
  );
}

function changeOf(
  context: Context,
  repoId: string,
  { word, strength, reasoning }: LinkDraft,
  id: string,
  members: ReturnType<typeof membersOf>,
  standing: StoredEdge | undefined,
): Change | null {
  const atMs = context.now();
  const { type } = LINKS[word];
  if (!standing) {
    const drawn = { id, repoId, type, label: word, weight: strength, members, atMs } as const;
    return { change: 'insert_edge', ...drawn, origin: 'manual', rationale: reasoning };
  }
  return standing.weight === strength ? null : { change: 'patch_edge', edge: standing, weight: strength, atMs };
}

/** Where in a list of links somebody stands. */
export type LinkPlace = ChunkPlace & Pick<ChunkRelative, 'seq'>;

export interface LinkPage {
  readonly links: readonly ChunkLink[];
  readonly next: LinkPlace | null;
}

/** More links than these nobody draws from one chunk. */
const DRAWN_MAX = 1_000;

/**
 * All links of one sort, page by page: those that somebody drew on the first, then those that came about by themselves, latest
 * first. Without a sort, the nearest of each. Null when there is no such chunk.
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
  if (word === null) {
    const nearestOfEach = (await readChunkLinks(context, repoId, [chunk])).get(id) as ChunkLinks;
    return { links: CHUNK_LINKS.flatMap((each) => nearestOfEach[each]), next: null };
  }
  const drawn =
    word === 'context_of' ? [] : ((await drawnLinks(context, repoId, [chunk], [word], DRAWN_MAX)).get(id) ?? []);
  if (word === 'supports' || word === 'contradicts') return { links: drawn, next: null };
  // One more than the page tells whether there is another, and one may be the chunk itself.
  const found = await relativesOf(context, repoId, chunk, word, after, limit + 2);
  const others = found.filter((other) => other.id !== id);
  const page = others.slice(0, limit);
  const drawnIds = new Set(drawn.map(({ chunkId }) => chunkId));
  const derivedOnes = page.filter((other) => !drawnIds.has(other.id)).map(derivation(chunk, word));
  return {
    links: [...(after === null ? drawn : []), ...derivedOnes],
    next: others.length > limit ? (page.at(-1) ?? null) : null,
  };
}

type DerivedWord = 'context_of' | 'follows' | 'related_to';

const derivation = (chunk: StoredChunk, word: DerivedWord): ((other: ChunkRelative) => ChunkLink) =>
  ({ context_of: toContext, related_to: toRelated, follows: (other: ChunkRelative) => toFollow(chunk, other) })[word];

function relativesOf(
  { store }: Context,
  repoId: string,
  chunk: StoredChunk,
  word: DerivedWord,
  after: LinkPlace | null,
  limit: number,
): Promise<ChunkRelative[]> {
  const { conversationId, createdAtMs } = chunk;
  switch (word) {
    case 'context_of':
      return store.chunks.listConversation(repoId, conversationId, after, 0, limit);
    case 'follows':
      return store.chunks.listConversation(repoId, conversationId, after ?? chunk, createdAtMs - FOLLOW_MS, limit);
    case 'related_to':
      return store.chunks.listSharing(repoId, chunk, after?.seq ?? null, limit);
  }
}
