import { CHUNK_TYPES, type ChunkType } from '../../domain/chunk-types.js';
import type { ChunkSource } from '../../domain/chunks.js';
import type { ChosenTerms } from '../../domain/ranking.js';
import type { SpaceName } from '../../domain/spaces.js';
import type { Tier } from '../../domain/vocabulary.js';
import type {
  ChunkCandidate,
  ChunkCounts,
  ChunkFilter,
  ChunkPlace,
  ChunkReads,
  ChunkRelative,
  ChunkSpot,
  ChunksAround,
  StoredChunk,
} from '../port.js';
import type { AccessCounts } from './access.js';
import type { Connection } from './connection.js';
import { bestMatches } from './search.js';
import type { Spaces } from './spaces.js';

const COLUMNS = `c.node_seq AS seq, n.id, n.kind, n.content, n.confidence, n.tier, n.archived_at, n.revision, c.created_at,
  c.conversation_id, c.source, c.tokens, c.tags, a.access_count, a.last_accessed_at`;

const JOINS = 'JOIN nodes n ON n.seq = c.node_seq LEFT JOIN node_access a ON a.node_seq = c.node_seq';

/** Every part of a filter, for every statement: none can forget one. */
const FITS = `(@archived = 1 OR n.tier <> 'archive')
  AND (@conversation IS NULL OR c.conversation_id = @conversation) AND (@type IS NULL OR n.kind = @type)
  AND (@since IS NULL OR c.created_at >= @since) AND (@until IS NULL OR c.created_at <= @until)
  AND n.confidence >= @min
  AND (@tags IS NULL OR NOT EXISTS (SELECT 1 FROM json_each(@tags) AS w
    WHERE NOT EXISTS (SELECT 1 FROM node_tags t WHERE t.node_seq = c.node_seq AND t.tag = w.value)))`;

/** Where a list begins to look: with the part of the filter that fits the fewest, else along the order of the list. */
const SOURCES = {
  conversation: 'chunks c INDEXED BY chunks_conversation',
  tag: `node_tags AS d CROSS JOIN chunks c ON c.node_seq = d.node_seq AND d.tag = json_extract(@tags, '$[0]')`,
  all: 'chunks c INDEXED BY chunks_recent',
} as const;

/** A conversation is named outright: a parameter that may be null would keep the index from being used. */
const ONLY = { conversation: 'c.conversation_id = @conversation AND', tag: '', all: '' } as const;

export const listStatement = (source: keyof typeof SOURCES): string => `
  SELECT ${COLUMNS} FROM ${SOURCES[source]} ${JOINS}
  WHERE ${ONLY[source]} ${FITS} AND (c.created_at, c.id) < (@place, @placeId)
  ORDER BY c.created_at DESC, c.id DESC LIMIT @limit`;

export const GET_CHUNKS = `
  SELECT ${COLUMNS} FROM json_each(@ids) AS wanted CROSS JOIN nodes n ON n.id = wanted.value
  CROSS JOIN chunks c ON c.node_seq = n.seq LEFT JOIN node_access a ON a.node_seq = c.node_seq
  WHERE @archived = 1 OR n.tier <> 'archive'`;

export const FITTING_CHUNKS = `
  SELECT n.id, n.search_terms, n.terms, n.content, n.confidence, c.created_at, c.tags FROM json_each(@seqs) AS matched
  CROSS JOIN chunks c ON c.node_seq = matched.value JOIN nodes n ON n.seq = c.node_seq WHERE ${FITS}`;

const alongConversation = (comparison: '<' | '>', order: 'DESC' | 'ASC'): string => `
  SELECT n.id, c.node_seq AS seq, c.created_at, 0 AS shared FROM chunks c JOIN nodes n ON n.seq = c.node_seq
  WHERE c.conversation_id = @conversation AND (c.created_at, c.id) ${comparison} (@place, @placeId)
  AND c.created_at >= @since AND n.tier <> 'archive'
  ORDER BY c.created_at ${order}, c.id ${order} LIMIT @limit`;

export const SAID_BEFORE = alongConversation('<', 'DESC');
export const SAID_AFTER = alongConversation('>', 'ASC');

/** Of each tag the latest holders, so that a tag that everybody has costs no more than a rare one. */
export const LATEST_HOLDERS = `
  SELECT t.node_seq FROM node_tags t JOIN chunks c ON c.node_seq = t.node_seq JOIN nodes n ON n.seq = t.node_seq
  WHERE t.tag = @tag AND t.node_seq < @before AND c.conversation_id <> @conversation AND n.tier <> 'archive'
  ORDER BY t.node_seq DESC LIMIT @limit`;

export const SHARING = `
  SELECT n.id, n.seq, n.created_at, (SELECT count(*) FROM node_tags t
    WHERE t.node_seq = n.seq AND t.tag IN (SELECT value FROM json_each(@tags))) AS shared
  FROM json_each(@seqs) AS found CROSS JOIN nodes n ON n.seq = found.value`;

/** Ids of chunks are one range of the index of all ids. */
export const WALK_CHUNKS = `
  SELECT ${COLUMNS} FROM nodes n CROSS JOIN chunks c ON c.node_seq = n.seq
  LEFT JOIN node_access a ON a.node_seq = c.node_seq
  WHERE n.id > @after AND n.id < 'chunk.' ORDER BY n.id LIMIT @limit`;

export const COUNTS = `SELECT kind, tier, nodes FROM node_counts WHERE form = 'chunk'`;

export const TOKENS = 'SELECT tokens FROM chunk_sums WHERE one = 1';

/** Each conversation has one edge. */
export const CONVERSATIONS = "SELECT count(*) FROM hyperedges WHERE type = 'context' AND label = 'context_of'";

const AFTER_ALL = Number.MAX_SAFE_INTEGER;
/** How much further to look when the filter takes too many of the best matches away. */
const POOL_GROWTH = 8;

/** Chunks of one space, and what is derived about them. */
export class Chunks implements ChunkReads {
  constructor(
    private readonly spaces: Spaces,
    private readonly access: AccessCounts,
  ) {}

  async getChunks(space: SpaceName, ids: readonly string[], includeArchived: boolean): Promise<StoredChunk[]> {
    if (ids.length === 0) return [];
    const parameters = { ids: JSON.stringify([...new Set(ids)]), archived: includeArchived ? 1 : 0 };
    return this.#read(space, (connection) => connection.all<ChunkRow>(GET_CHUNKS, parameters));
  }

  async listChunks(
    space: SpaceName,
    filter: ChunkFilter,
    after: ChunkPlace | null,
    limit: number,
  ): Promise<StoredChunk[]> {
    const place = { place: after?.createdAtMs ?? AFTER_ALL, placeId: after?.id ?? '' };
    const parameters = { ...parametersOf(filter), ...place, limit };
    return this.#read(space, (connection) => connection.all<ChunkRow>(listStatement(sourceOf(filter)), parameters));
  }

  async searchChunks(
    space: SpaceName,
    terms: ChosenTerms,
    filter: ChunkFilter,
    poolSize: number,
  ): Promise<ChunkCandidate[]> {
    if (terms.any.length === 0) return [];
    const parameters = parametersOf(filter);
    return this.spaces.peek<ChunkCandidate[]>(
      space,
      (connection) => {
        for (let looked = poolSize; ; looked *= POOL_GROWTH) {
          const { seqs, isAll } = bestMatches(connection, terms, looked);
          const rows = connection.rows<CandidateRow>(FITTING_CHUNKS, { ...parameters, seqs: JSON.stringify(seqs) });
          if (rows.length >= poolSize || isAll) return rows.map(toCandidate);
        }
      },
      [],
    );
  }

  async findAround(space: SpaceName, chunk: ChunkSpot, each: number): Promise<ChunksAround> {
    const parameters = { ...spotOf(chunk), since: 0, limit: each };
    return {
      before: this.#relatives(space, SAID_BEFORE, parameters),
      after: this.#relatives(space, SAID_AFTER, parameters),
    };
  }

  async listConversation(
    space: SpaceName,
    conversationId: string,
    before: ChunkPlace | null,
    sinceMs: number,
    limit: number,
  ): Promise<ChunkRelative[]> {
    const place = { place: before?.createdAtMs ?? AFTER_ALL, placeId: before?.id ?? '' };
    return this.#relatives(space, SAID_BEFORE, { conversation: conversationId, ...place, since: sinceMs, limit });
  }

  async listSharing(
    space: SpaceName,
    { tags, conversationId: conversation }: ChunkSpot,
    beforeSeq: number | null,
    limit: number,
  ): Promise<ChunkRelative[]> {
    const before = beforeSeq ?? AFTER_ALL;
    return this.spaces.peek<ChunkRelative[]>(
      space,
      (connection) => {
        const holders = new Set(
          tags.flatMap((tag) =>
            connection.rows<[number]>(LATEST_HOLDERS, { tag, before, conversation, limit }).map(([seq]) => seq),
          ),
        );
        const seqs = JSON.stringify([...holders].sort((a, b) => b - a).slice(0, limit));
        const rows = connection.all<RelativeRow>(SHARING, { seqs, tags: JSON.stringify(tags) });
        return rows.map(toRelative).sort((a, b) => b.seq - a.seq);
      },
      [],
    );
  }

  async walkChunks(space: SpaceName, afterId: string | null, limit: number): Promise<StoredChunk[]> {
    const parameters = { after: afterId ?? 'chunk-', limit };
    return this.#read(space, (connection) => connection.all<ChunkRow>(WALK_CHUNKS, parameters));
  }

  async countChunks(space: SpaceName): Promise<ChunkCounts> {
    const { rows, tokens, conversations } = this.spaces.peek(
      space,
      (connection) => ({
        rows: connection.rows<CountRow>(COUNTS),
        tokens: numberOf(connection, TOKENS),
        conversations: numberOf(connection, CONVERSATIONS),
      }),
      { rows: [], tokens: 0, conversations: 0 },
    );
    const live = rows.filter(([, tier]) => tier !== 'archive');
    const sum = (counted: readonly CountRow[]): number => counted.reduce((total, [, , nodes]) => total + nodes, 0);
    return {
      byType: Object.fromEntries(
        CHUNK_TYPES.map((type) => [type, sum(live.filter(([kind]) => kind === type))]),
      ) as ChunkCounts['byType'],
      total: sum(live),
      archived: sum(rows) - sum(live),
      tokens,
      conversations,
    };
  }

  #relatives(space: SpaceName, statement: string, parameters: object): ChunkRelative[] {
    return this.spaces.peek<ChunkRelative[]>(
      space,
      (connection) => connection.all<RelativeRow>(statement, parameters).map(toRelative),
      [],
    );
  }

  #read(space: SpaceName, read: (connection: Connection) => ChunkRow[]): StoredChunk[] {
    const rows = this.spaces.peek<ChunkRow[]>(space, read, []);
    return rows.map((row) => this.#toChunk(space, row));
  }

  #toChunk(space: SpaceName, row: ChunkRow): StoredChunk {
    const waiting = this.access.waiting(space, row.id);
    const lastAccessedAtMs = Math.max(waiting?.atMs ?? 0, row.last_accessed_at ?? 0);
    return {
      id: row.id,
      seq: row.seq,
      repoId: space,
      type: row.kind,
      content: row.content,
      tokens: row.tokens,
      source: row.source,
      conversationId: row.conversation_id,
      tags: JSON.parse(row.tags) as string[],
      confidence: row.confidence,
      tier: row.tier,
      archivedAtMs: row.archived_at,
      revision: row.revision,
      createdAtMs: row.created_at,
      accessCount: (row.access_count ?? 0) + (waiting?.count ?? 0),
      lastAccessedAtMs: lastAccessedAtMs === 0 ? null : lastAccessedAtMs,
    };
  }
}

function sourceOf({ conversationId, tags }: ChunkFilter): keyof typeof SOURCES {
  if (conversationId !== null) return 'conversation';
  return tags.length > 0 ? 'tag' : 'all';
}

const parametersOf = (filter: ChunkFilter): Record<string, string | number | null> => ({
  archived: filter.includeArchived ? 1 : 0,
  conversation: filter.conversationId,
  type: filter.type,
  since: filter.sinceMs,
  until: filter.untilMs,
  min: filter.minConfidence,
  tags: filter.tags.length > 0 ? JSON.stringify(filter.tags) : null,
});

const spotOf = ({ conversationId, createdAtMs, id }: ChunkSpot) => ({
  conversation: conversationId,
  place: createdAtMs,
  placeId: id,
});

const numberOf = (connection: Connection, sql: string): number => connection.rows<[number]>(sql)[0]?.[0] ?? 0;

type CountRow = readonly [kind: string, tier: Tier, nodes: number];

type CandidateRow = readonly [string, string, number, string, number, number, string];

const toCandidate = ([id, terms, length, content, confidence, createdAtMs, tags]: CandidateRow): ChunkCandidate => ({
  id,
  terms,
  length,
  content,
  confidence,
  createdAtMs,
  tags: JSON.parse(tags) as string[],
});

interface RelativeRow {
  id: string;
  seq: number;
  created_at: number;
  shared: number;
}

const toRelative = ({ id, seq, created_at: createdAtMs, shared: sharedTags }: RelativeRow): ChunkRelative => ({
  id,
  seq,
  createdAtMs,
  sharedTags,
});

interface ChunkRow {
  seq: number;
  id: string;
  kind: ChunkType;
  content: string;
  confidence: number;
  tier: Tier;
  archived_at: number | null;
  revision: number;
  created_at: number;
  conversation_id: string;
  source: ChunkSource;
  tokens: number;
  access_count: number | null;
  last_accessed_at: number | null;
  tags: string;
}
