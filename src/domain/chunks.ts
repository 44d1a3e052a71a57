import { CHUNK_TOKENS_MAX } from './chunking.js';
import { NAME_CHARACTERS_MAX, TAGS_MAX } from './concepts.js';
import { indexTerms } from './terms.js';
import type { Violation } from './violations.js';

/** Pieces of text, each of one conversation, found by their words and tags. */

/** How a chunk came about: said, brought from elsewhere, or concluded from others. */
export const CHUNK_SOURCES = ['interaction', 'import', 'derived'] as const;
export type ChunkSource = (typeof CHUNK_SOURCES)[number];

/** What a chunk has beside its node. */
export interface ChunkDetail {
  readonly form: 'chunk';
  readonly conversationId: string;
  readonly source: ChunkSource;
  readonly tokens: number;
  /** The node's, in the order in which they were given. */
  readonly tags: readonly string[];
}

export const CHUNK_CONFIDENCE_DEFAULT = 0.7;

/** More than a chunk may hold anyway: text is counted only when it is not longer than this. */
const CHUNK_CHARACTERS_MAX = 100_000;

/** The day of its making and eight digits of a random id. */
export const newChunkId = (nowMs: number, id: string): string =>
  `chunk-${new Date(nowMs).toISOString().slice(0, 10)}-${id.slice(-8)}`;

/** The month in whose folder a chunk is filed, from its id. */
export const monthOf = (id: string): string => id.slice('chunk-'.length, 'chunk-YYYY-MM'.length);

/** What it is found by. */
export const chunkTerms = (content: string, tags: readonly string[]): string[] =>
  indexTerms([content, ...tags].join('\n'));

export interface ChunkFields {
  readonly content?: string;
  readonly tags?: readonly string[];
  readonly conversationId?: string;
}

const semantic = (field: string, message: string): Violation => ({ field, code: 'semantic_error', message });

const isBlank = (text: string): boolean => text.trim() === '';

const BLANK = 'must contain something other than white space';

export function checkChunk({ content, tags, conversationId }: ChunkFields): Violation[] {
  return [
    ...(content === undefined ? [] : checkContent(content)),
    ...(conversationId === undefined ? [] : checkConversation(conversationId)),
    ...checkTags(tags ?? []),
  ];
}

/** Of a single chunk; a longer text is cut by whoever remembers it. */
function checkContent(content: string): Violation[] {
  if (isBlank(content)) return [semantic('content', BLANK)];
  return content.length > CHUNK_CHARACTERS_MAX ? [tooLong(`${content.length} characters`)] : [];
}

export const checkTokens = (tokens: number): Violation[] =>
  tokens > CHUNK_TOKENS_MAX ? [tooLong(`more than ${CHUNK_TOKENS_MAX} tokens`)] : [];

const tooLong = (length: string): Violation =>
  semantic('content', `has ${length}, which is too much for one chunk; POST /chunks/remember cuts it into several`);

export const checkConversation = (conversationId: string): Violation[] =>
  isBlank(conversationId) ? [semantic('conversation_id', BLANK)] : [];

function checkTags(tags: readonly string[]): Violation[] {
  const count = tags.length > TAGS_MAX ? [semantic('tags', `holds ${tags.length}, at most ${TAGS_MAX} are kept`)] : [];
  const each = tags.flatMap((tag, index) => {
    if (isBlank(tag)) return [semantic(`tags.${index}`, BLANK)];
    if (tag.length <= NAME_CHARACTERS_MAX) return [];
    return [semantic(`tags.${index}`, `has ${tag.length} characters, at most ${NAME_CHARACTERS_MAX} are kept`)];
  });
  return [...count, ...each];
}

/** What is said within this time after something else follows on it. */
export const FOLLOW_MS = 300_000;

/** The links between chunks: the first three come about by themselves. */
export const CHUNK_LINKS = ['context_of', 'follows', 'related_to', 'supports', 'contradicts'] as const;
export type ChunkLinkWord = (typeof CHUNK_LINKS)[number];

/** Those that somebody draws. */
export const DRAWN_LINKS = ['supports', 'contradicts', 'related_to'] as const satisfies readonly ChunkLinkWord[];
export type DrawnLinkWord = (typeof DRAWN_LINKS)[number];

export const CONTEXT_STRENGTH = 1;
export const DRAWN_STRENGTH_DEFAULT = 0.5;

/** From 1 at the same moment down to 0.3. */
export const followStrength = (betweenMs: number): number => Math.max(0.3, 1 - betweenMs / FOLLOW_MS);

/** Each tag that two chunks share brings them nearer. */
export const tagStrength = (sharedTags: number): number => Math.min(0.9, 0.3 + 0.2 * sharedTags);
