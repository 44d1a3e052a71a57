import Type, { type Static } from 'typebox';
import { Errors } from 'typebox/value';
import { presentChunk, presentMoment } from '../contracts/chunks.js';
import { words } from '../contracts/schema.js';
import { CHUNK_TYPES } from '../domain/chunk-types.js';
import { CHUNK_TOKENS_MAX } from '../domain/chunking.js';
import { CHUNK_LINKS, CHUNK_SOURCES } from '../domain/chunks.js';
import { whyUnstorable } from '../domain/rules.js';
import type { ChunkLinks } from '../services/chunk-links.js';
import type { LinkStrengths } from '../services/chunk-redraw.js';
import { type BroughtChunk, type Finding, TreeBroken } from '../services/chunk-transfer.js';
import type { StoredChunk } from '../services/chunks.js';
import { INDEX_FILES, LINKS_FILE, pathOf, placeOf, type TreeFile } from './layout.js';
import type { Arrival } from './tar.js';

/** The files of a tree of chunks: what stands in them is what `/chunks/{chunk_id}` answers. */

const Ids = Type.Array(Type.String());
const FileSchema = Type.Object({
  id: Type.String(),
  content: Type.String({ minLength: 1 }),
  tokens: Type.Integer({ minimum: 1, maximum: CHUNK_TOKENS_MAX }),
  type: words([...CHUNK_TYPES]),
  metadata: Type.Object({
    created: Type.String(),
    conversation_id: Type.String({ minLength: 1 }),
    source: Type.Optional(words([...CHUNK_SOURCES])),
    confidence: Type.Optional(Type.Number({ minimum: 0, maximum: 1 })),
    access_count: Type.Optional(Type.Integer({ minimum: 0 })),
    last_accessed: Type.Optional(Type.Union([Type.String(), Type.Null()])),
  }),
  links: Type.Optional(
    Type.Object(Object.fromEntries(CHUNK_LINKS.map((word) => [word, Type.Optional(Ids)])) as LinkFields),
  ),
  tags: Type.Optional(Ids),
});
type LinkFields = Record<(typeof CHUNK_LINKS)[number], ReturnType<typeof Type.Optional<typeof Ids>>>;

const DECODER = new TextDecoder('utf-8', { fatal: true });
const CONFIDENCE_DEFAULT = 0.7;

/** What the files of an archive bring, one by one. */
export async function* readTree(arrivals: AsyncIterable<Arrival>): AsyncGenerator<Finding> {
  let isEmpty = true;
  try {
    for await (const arrival of arrivals) {
      isEmpty = false;
      const finding = readArrival(arrival);
      if (finding) yield finding;
    }
  } catch (error) {
    throw new TreeBroken(`cannot be read on: ${(error as Error).message}`);
  }
  if (isEmpty) throw new TreeBroken('holds no file; send a tar archive as the body');
}

/** What a file of a tree brings, or why it brings nothing. Null for what is worked out anew. */
function readArrival({ path, bytes, reason }: Arrival): Finding | null {
  const place = placeOf(path);
  if (place?.holds === 'index') return null;
  if (bytes === null) return { path, reason: reason as string };
  if (place === null) return { path, reason: 'is not where a chunk or an index is in a tree of chunks' };
  try {
    const value: unknown = JSON.parse(DECODER.decode(bytes));
    if (place.holds === 'links') return { path, strengths: toStrengths(value) };
    return { path, chunk: toBrought(value, place.id, place.isArchived) };
  } catch (error) {
    return { path, reason: whyUnread(error as Error) };
  }
}

class Unfit extends Error {}

const whyUnread = (error: Error): string => {
  if (error instanceof Unfit) return error.message;
  return error instanceof SyntaxError ? 'is not valid JSON' : 'is not valid UTF-8';
};

function toBrought(value: unknown, id: string, isArchived: boolean): BroughtChunk {
  const [error] = Errors(FileSchema, value);
  if (error) throw new Unfit(`${error.instancePath.slice(1).replaceAll('/', '.') || 'the file'} ${error.message}`);
  const file = value as Static<typeof FileSchema>;
  if (file.id !== id) throw new Unfit(`id ${JSON.stringify(file.id.slice(0, 80))} is not the name of the file`);
  const { metadata, links = {} } = file;
  const texts = [file.content, metadata.conversation_id, ...(file.tags ?? [])];
  for (const text of texts) {
    const unstorable = whyUnstorable(text);
    if (unstorable !== null) throw new Unfit(unstorable);
  }
  return {
    id,
    content: file.content,
    tokens: file.tokens,
    type: file.type,
    conversationId: metadata.conversation_id,
    source: metadata.source ?? 'import',
    confidence: metadata.confidence ?? CONFIDENCE_DEFAULT,
    tags: [...new Set(file.tags ?? [])],
    createdAtMs: toMoment('metadata.created', metadata.created),
    accessCount: metadata.access_count ?? 0,
    lastAccessedAtMs:
      metadata.last_accessed == null ? null : toMoment('metadata.last_accessed', metadata.last_accessed),
    isArchived,
    links: CHUNK_LINKS.flatMap((word) => (links[word] ?? []).map((targetId) => ({ word, targetId }))),
  };
}

/** A moment with a zone, or in UTC if it names none, as Python prints it. */
function toMoment(field: string, text: string): number {
  const isZoned = /(?:Z|[+-]\d{2}:?\d{2})$/i.test(text);
  const atMs = Date.parse(isZoned || !text.includes('T') ? text : `${text}Z`);
  if (Number.isNaN(atMs)) throw new Unfit(`${field} is not a moment in ISO 8601`);
  return atMs;
}

const GraphSchema = Type.Record(
  Type.String(),
  Type.Record(
    Type.String(),
    Type.Array(
      Type.Object({
        target: Type.String(),
        strength: Type.Number({ minimum: 0, maximum: 1 }),
      }),
    ),
  ),
);

/** Of a graph that somebody else wrote nothing is known but what the chunks say themselves. */
function toStrengths(value: unknown): LinkStrengths {
  if (Errors(GraphSchema, value).length > 0) return new Map();
  const strengths = new Map<string, number>();
  for (const [id, byWord] of Object.entries(value as Static<typeof GraphSchema>)) {
    for (const [word, links] of Object.entries(byWord)) {
      for (const { target, strength } of links) strengths.set(`${id} ${word} ${target}`, strength);
    }
  }
  return strengths;
}

const print = (value: unknown): string => `${JSON.stringify(value, null, 2)}\n`;

/** The files of all chunks as they come, and the indexes over them at the end. */
export async function* printTree(
  chunks: AsyncIterable<{ readonly chunk: StoredChunk; readonly links: ChunkLinks }>,
): AsyncGenerator<TreeFile> {
  const metadata: Record<string, object> = {};
  const tags = new Map<string, string[]>();
  const graph: Record<string, object> = {};
  let modifiedAtMs = 0;
  for await (const { chunk, links } of chunks) {
    const { id, createdAtMs, tier, type, conversationId } = chunk;
    modifiedAtMs = Math.max(modifiedAtMs, createdAtMs);
    yield {
      path: pathOf(id, tier === 'archive'),
      content: print(presentChunk(chunk, links)),
      modifiedAtMs: createdAtMs,
    };
    const drawn = drawnOf(links);
    if (drawn) graph[id] = drawn;
    if (tier === 'archive') continue;
    metadata[id] = { type, conversation_id: conversationId, created: presentMoment(createdAtMs) };
    for (const tag of chunk.tags) {
      const holders = tags.get(tag);
      if (holders) holders.push(id);
      else tags.set(tag, [id]);
    }
  }
  yield { path: INDEX_FILES.metadata, content: print(metadata), modifiedAtMs };
  yield { path: INDEX_FILES.tags, content: print(Object.fromEntries(tags)), modifiedAtMs };
  yield { path: LINKS_FILE, content: print(graph), modifiedAtMs };
}

/** The links that somebody drew, with what the files of the chunks do not say of them. */
function drawnOf(links: ChunkLinks): object | null {
  const drawn = CHUNK_LINKS.map((word) => ({
    word,
    all: links[word]
      .filter(({ edgeId }) => edgeId !== null)
      .map(({ chunkId, strength }) => ({ target: chunkId, strength })),
  })).filter(({ all }) => all.length > 0);
  return drawn.length === 0 ? null : Object.fromEntries(drawn.map(({ word, all }) => [word, all]));
}
