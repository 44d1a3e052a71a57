import Type, { type Static } from 'typebox';
import { CHUNK_TYPES } from '../domain/chunk-types.js';
import {
  CHUNK_CONFIDENCE_DEFAULT,
  CHUNK_SOURCES,
  type ChunkLinkWord,
  DRAWN_LINKS,
  DRAWN_STRENGTH_DEFAULT,
} from '../domain/chunks.js';
import { FORMS } from '../domain/forms.js';
import type { LinkPage, LinkPlace } from '../services/chunk-link-pages.js';
import type { DrawnLink, LinkDraft } from '../services/chunk-linking.js';
import type { ChunkLink, ChunkLinks } from '../services/chunk-links.js';
import type {
  ChunkCounts,
  ChunkDraft,
  ChunkFilter,
  ChunkPage,
  ChunkPatch,
  ChunkPlace,
  StoredChunk,
} from '../services/chunks.js';
import { presentCursor, toPlace } from './cursor.js';
import { named, nullable, ref, strict, withDefaults, words } from './schema.js';
import { Confidence, Rationale, Time } from './shared.js';
import { TagsQuery } from './tags.js';

/** `/chunks`: pieces of text, each of one conversation. Times are ISO 8601 in UTC. */

const EXAMPLE_CHUNK_ID = FORMS.chunk.idExample;

export const ChunkId = Type.String({ description: 'Id of a chunk', examples: [EXAMPLE_CHUNK_ID] });
const OtherIds = Type.Array(Type.String());
const ChunkTypeWord = words([...CHUNK_TYPES]);
export const ConversationId = Type.String({
  minLength: 1,
  maxLength: 500,
  description: 'The conversation that it belongs to, in your own words',
  examples: ['conv-abc123'],
});
/** How many there may be is told by the service, with the other rules of what a text may be. */
const ChunkTags = Type.Array(Type.String(), { uniqueItems: true, examples: [['architecture', 'rlm']] });

const ABOUT = {
  type: Type.Optional(
    words([...CHUNK_TYPES], { description: 'What it is; told from the words of the text if left out' }),
  ),
  tags: Type.Optional(ChunkTags),
  confidence: Type.Optional(
    Type.Number({ minimum: 0, maximum: 1, default: CHUNK_CONFIDENCE_DEFAULT, description: 'How reliable it is' }),
  ),
  source: Type.Optional(
    words([...CHUNK_SOURCES], {
      default: 'interaction',
      description: 'Said, brought from elsewhere, or concluded from others',
    }),
  ),
};

export const ChunkInput = named(
  'ChunkInput',
  strict(
    {
      content: Type.String({ description: 'What to remember: at most 800 tokens; /chunks/remember takes more' }),
      conversation_id: ConversationId,
      ...ABOUT,
    },
    {
      examples: [
        {
          content: 'User prefers Python over JavaScript',
          type: 'preference',
          conversation_id: 'conv-123',
          tags: ['coding', 'preferences'],
          confidence: 0.95,
        },
      ],
    },
  ),
);

export const RememberInput = named(
  'ChunkText',
  strict(
    {
      content: Type.String({ description: 'Any text of up to 1 MiB: it is cut into chunks of 100 to 800 tokens' }),
      conversation_id: ConversationId,
      ...ABOUT,
    },
    {
      examples: [
        {
          content: 'We decided to keep sessions in Redis.\n\nThe build usually takes four minutes.',
          conversation_id: 'conv-123',
          tags: ['architecture'],
        },
      ],
    },
  ),
);

export const toChunkDraft = (input: Static<typeof ChunkInput>): ChunkDraft => ({
  content: input.content,
  conversationId: input.conversation_id,
  type: input.type ?? null,
  tags: input.tags ?? [],
  confidence: input.confidence ?? CHUNK_CONFIDENCE_DEFAULT,
  source: input.source ?? 'interaction',
});

export const ChunkPatchInput = named(
  'ChunkPatch',
  strict(
    {
      content: Type.Optional(Type.String({ description: 'Its tokens are counted anew' })),
      type: Type.Optional(words([...CHUNK_TYPES])),
      tags: Type.Optional(Type.Array(Type.String(), { uniqueItems: true, description: 'In place of those it had' })),
      confidence: Type.Optional(Confidence),
    },
    { minProperties: 1, examples: [{ confidence: 0.98 }] },
  ),
);

export const toChunkPatch = (input: Static<typeof ChunkPatchInput>): ChunkPatch => ({ ...input });

export const ChunkReport = named(
  'Chunk',
  Type.Object({
    id: ChunkId,
    content: Type.String(),
    tokens: Type.Integer(),
    type: ChunkTypeWord,
    metadata: Type.Object({
      created: Time,
      conversation_id: Type.String(),
      source: words([...CHUNK_SOURCES]),
      confidence: Confidence,
      access_count: Type.Integer(),
      last_accessed: nullable(Time),
    }),
    links: Type.Object(
      {
        context_of: Type.Array(Type.String(), { description: 'Of the same conversation, the nearest first' }),
        follows: Type.Array(Type.String(), { description: 'Said in the five minutes before, the nearest first' }),
        related_to: Type.Array(Type.String(), { description: 'Of other conversations with a tag in common' }),
        supports: OtherIds,
        contradicts: OtherIds,
      },
      { description: 'At most 20 of each sort; /chunks/{chunk_id}/links has all, with their strengths' },
    ),
    tags: Type.Array(Type.String()),
  }),
);
export type ChunkReport = Static<typeof ChunkReport>;

/** Without the milliseconds of a full second, as files of chunks have it. */
export const presentMoment = (atMs: number): string => new Date(atMs).toISOString().replace('.000Z', 'Z');

export function presentChunk(chunk: StoredChunk, links: ChunkLinks | undefined): ChunkReport {
  const idsOf = (word: ChunkLinkWord): string[] => (links?.[word] ?? []).map(({ chunkId }) => chunkId);
  return {
    id: chunk.id,
    content: chunk.content,
    tokens: chunk.tokens,
    type: chunk.type,
    metadata: {
      created: presentMoment(chunk.createdAtMs),
      conversation_id: chunk.conversationId,
      source: chunk.source,
      confidence: chunk.confidence,
      access_count: chunk.accessCount,
      last_accessed: chunk.lastAccessedAtMs === null ? null : presentMoment(chunk.lastAccessedAtMs),
    },
    links: {
      context_of: idsOf('context_of'),
      follows: idsOf('follows'),
      related_to: idsOf('related_to'),
      supports: idsOf('supports'),
      contradicts: idsOf('contradicts'),
    },
    tags: [...chunk.tags],
  };
}

export const ByChunk = Type.Object({ chunk_id: ChunkId });

const IN_REPO = { repo_id: Type.String({ minLength: 1, default: 'default', description: 'The repo to look in' }) };

export const ChunkQuery = withDefaults({
  ...IN_REPO,
  include_archived: Type.Boolean({ default: false, description: 'Whether one that was put away is shown' }),
});

export const ChunkDeletion = withDefaults({
  ...IN_REPO,
  permanent: Type.Boolean({ default: false, description: 'Remove it for good, with its links' }),
});

export const ChunkDeleted = named(
  'ChunkDeleted',
  Type.Object({ id: ChunkId, purged: Type.Boolean({ description: 'Whether it is gone for good' }) }),
);

const InstantQuery = (description: string) => Type.Optional(Type.String({ format: 'date-time', description }));

export const ChunksQuery = withDefaults({
  ...IN_REPO,
  conversation_id: Type.Optional(ConversationId),
  tags: TagsQuery,
  type: Type.Optional(ChunkTypeWord),
  created_after: InstantQuery('From this moment on'),
  created_before: InstantQuery('Up to this moment, which belongs to it'),
  min_confidence: Type.Number({ minimum: 0, maximum: 1, default: 0 }),
  include_archived: Type.Boolean({ default: false }),
  limit: Type.Integer({ minimum: 1, maximum: 100, default: 20 }),
  cursor: Type.Optional(Type.String({ description: 'next_cursor of the previous page' })),
});

/** A leap second is the last of its minute: there is no such moment in milliseconds. */
const toInstant = (time: string | undefined): number | null =>
  time === undefined ? null : Date.parse(time.replace(/:60(?=[.Z+-])/i, ':59'));

interface FilterFields {
  readonly conversation_id?: string | undefined;
  readonly type?: Static<typeof ChunkTypeWord> | undefined;
  readonly created_after?: string | undefined;
  readonly created_before?: string | undefined;
  readonly min_confidence?: number | undefined;
  readonly include_archived?: boolean | undefined;
}

export const toChunkFilter = (fields: FilterFields, tags: readonly string[], minConfidence: number): ChunkFilter => ({
  conversationId: fields.conversation_id ?? null,
  tags,
  type: fields.type ?? null,
  sinceMs: toInstant(fields.created_after),
  untilMs: toInstant(fields.created_before),
  minConfidence: fields.min_confidence ?? minConfidence,
  includeArchived: fields.include_archived ?? false,
});

export function toChunkPlace(cursor: string | undefined): ChunkPlace | null {
  const place = toPlace(
    cursor,
    (value): value is readonly [number, string] =>
      value.length === 2 && Number.isSafeInteger(value[0]) && typeof value[1] === 'string',
  );
  return place && { createdAtMs: place[0], id: place[1] };
}

const NextCursor = nullable(Type.String(), 'Where the next page begins; null on the last');

export const ChunksAnswer = named(
  'ChunkPage',
  Type.Object({ chunks: Type.Array(ref(ChunkReport)), next_cursor: NextCursor }),
);

export const presentChunks = (
  { chunks, next }: ChunkPage,
  links: ReadonlyMap<string, ChunkLinks>,
): Static<typeof ChunksAnswer> => ({
  chunks: chunks.map((chunk) => presentChunk(chunk, links.get(chunk.id))),
  next_cursor: next && presentCursor([next.createdAtMs, next.id]),
});

const TypeCounts = Type.Object(
  Object.fromEntries(CHUNK_TYPES.map((type) => [type, Type.Integer()])) as Record<
    (typeof CHUNK_TYPES)[number],
    ReturnType<typeof Type.Integer>
  >,
);

export const ChunkStats = named(
  'ChunkStats',
  Type.Object({
    total_chunks: Type.Integer({ description: 'Without those that were put away' }),
    archived_chunks: Type.Integer(),
    by_type: TypeCounts,
    total_tokens: Type.Integer({ description: 'Of all chunks, also those that were put away', examples: [18_250] }),
    conversations: Type.Integer(),
  }),
);

export const presentCounts = (counts: ChunkCounts): Static<typeof ChunkStats> => ({
  total_chunks: counts.total,
  archived_chunks: counts.archived,
  by_type: { ...counts.byType },
  total_tokens: counts.tokens,
  conversations: counts.conversations,
});

export const ChunkLinkInput = named(
  'ChunkLinkInput',
  strict(
    {
      target_id: Type.String({ description: 'The other chunk', examples: [EXAMPLE_CHUNK_ID] }),
      type: words([...DRAWN_LINKS], { description: 'What this chunk does to the other' }),
      strength: Type.Optional(Type.Number({ minimum: 0, maximum: 1, default: DRAWN_STRENGTH_DEFAULT })),
      reasoning: Type.Optional({ ...Rationale, maxLength: 10_000 }),
    },
    { examples: [{ target_id: EXAMPLE_CHUNK_ID, type: 'supports', strength: 0.8 }] },
  ),
);

export const toLinkDraft = (input: Static<typeof ChunkLinkInput>): LinkDraft => ({
  targetId: input.target_id,
  word: input.type,
  strength: input.strength ?? DRAWN_STRENGTH_DEFAULT,
  reasoning: input.reasoning ?? null,
});

const ChunkLinkReport = named(
  'ChunkLink',
  Type.Object({
    chunk_id: Type.String({ description: 'The other one' }),
    type: words(['context_of', 'follows', 'related_to', 'supports', 'contradicts']),
    strength: Type.Number(),
    edge_id: nullable(Type.String(), 'The edge that was drawn, see /edges; null where the link came about by itself'),
  }),
);

const presentLink = ({ chunkId, word, strength, edgeId }: ChunkLink): Static<typeof ChunkLinkReport> => ({
  chunk_id: chunkId,
  type: word,
  strength,
  edge_id: edgeId,
});

export const ChunkLinked = named(
  'ChunkLinked',
  Type.Object({
    created: Type.Boolean({ description: 'False when it was there already: it has the strength that was said now' }),
    link: ref(ChunkLinkReport),
  }),
);

export const presentLinked = ({ link, isNew }: DrawnLink): Static<typeof ChunkLinked> => ({
  created: isNew,
  link: presentLink(link),
});

export const ChunkLinksQuery = withDefaults({
  ...IN_REPO,
  type: Type.Optional(
    words(['context_of', 'follows', 'related_to', 'supports', 'contradicts'], {
      description: 'All of this sort, page by page; without it those of each sort that the chunk itself shows',
    }),
  ),
  limit: Type.Integer({ minimum: 1, maximum: 1_000, default: 100 }),
  cursor: Type.Optional(Type.String({ description: 'next_cursor of the previous page' })),
});

export const ChunkLinksAnswer = named(
  'ChunkLinkPage',
  Type.Object({ links: Type.Array(ref(ChunkLinkReport)), next_cursor: NextCursor }),
);

export function toLinkPlace(cursor: string | undefined): LinkPlace | null {
  const place = toPlace(
    cursor,
    (value): value is readonly [number, string, number] =>
      value.length === 3 &&
      Number.isSafeInteger(value[0]) &&
      typeof value[1] === 'string' &&
      Number.isSafeInteger(value[2]),
  );
  return place && { createdAtMs: place[0], id: place[1], seq: place[2] };
}

export const presentLinks = ({ links, next }: LinkPage): Static<typeof ChunkLinksAnswer> => ({
  links: links.map(presentLink),
  next_cursor: next && presentCursor([next.createdAtMs, next.id, next.seq]),
});
