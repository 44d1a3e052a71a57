import { CHUNK_TYPES, type ChunkType } from '../../domain/chunk-types.js';
import type { ChunkLinkWord, ChunkSource } from '../../domain/chunks.js';
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
  DrawnRow,
  SharingPage,
  StoredChunk,
  TagHolder,
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
  SELECT n.id, c.node_seq AS seq, c.created_at FROM chunks c JOIN nodes n ON n.seq = c.node_seq
  WHERE c.conversation_id = @conversation AND (c.created_at, c.id) ${comparison} (@place, @placeId)
  AND c.created_at >= @since AND n.tier <> 'archive'
  ORDER BY c.created_at ${order}, c.id ${order} LIMIT @limit`;

export const SAID_BEFORE = alongConversation('<', 'DESC');
export const SAID_AFTER = alongConversation('>', 'ASC');

/** Of a tag the latest holders: a tag that everybody has costs no more than a rare one. */
export const LATEST_HOLDERS = `
  SELECT c.id, c.node_seq AS seq, c.created_at, c.conversation_id, c.tags, n.tier FROM (
    SELECT node_seq FROM node_tags WHERE tag = @tag AND node_seq < @before ORDER BY node_seq DESC LIMIT @looked) AS t
  CROSS JOIN chunks c ON c.node_seq = t.node_seq CROSS JOIN nodes n ON n.seq = c.node_seq`;

/** How far the latest of them reach, chunks or not. */
export const OLDEST_LOOKED_AT = `
  SELECT node_seq FROM node_tags WHERE tag = @tag AND node_seq < @before ORDER BY node_seq DESC LIMIT 1 OFFSET @looked - 1`;

/** What reads the same from either end has no subject: each of two participants is the other's. */
export const DRAWN_LINKS = `
  SELECT from_id, to_id, label, weight, edge_id FROM (
    SELECT wanted.value AS from_id, t.id AS to_id, x.label, e.weight, e.id AS edge_id,
      row_number() OVER (PARTITION BY x.node_seq, x.label ORDER BY e.weight DESC, t.id) AS place
    FROM json_each(@ids) AS wanted CROSS JOIN nodes f ON f.id = wanted.value
    CROSS JOIN json_each(@words) AS word CROSS JOIN membership x ON x.node_seq = f.seq AND x.label = word.value
    CROSS JOIN membership y ON y.edge_seq = x.edge_seq AND y.node_seq <> x.node_seq
    CROSS JOIN nodes t ON t.seq = y.node_seq CROSS JOIN hyperedges e ON e.seq = x.edge_seq
    WHERE (x.role = 'subject' AND y.role = 'object' OR x.role = 'participant' AND y.role = 'participant')
    AND t.form = 'chunk' AND t.tier <> 'archive' AND (@among IS NULL OR t.id IN (SELECT value FROM json_each(@among)))
  ) AS placed WHERE place <= @each`;

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
/** Of each tag so many holders are looked at for one page. */
const HOLDERS_LOOKED_AT = 2_000;
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

  async findHolders(space: SpaceName, tags: readonly string[], each: number): Promise<Map<string, TagHolder[]>> {
    return this.spaces.peek(
      space,
      (connection) =>
        new Map(tags.map((tag) => [tag, holdersOf(connection, { tag, before: AFTER_ALL, looked: each })])),
      new Map<string, TagHolder[]>(),
    );
  }

  async listSharing(
    space: SpaceName,
    { tags, conversationId }: ChunkSpot,
    beforeSeq: number | null,
    limit: number,
  ): Promise<SharingPage> {
    const looking = { before: beforeSeq ?? AFTER_ALL, looked: HOLDERS_LOOKED_AT };
    return this.spaces.peek<SharingPage>(
      space,
      (connection) => {
        const bySeq = new Map<number, TagHolder>();
        // Only as far as all tags were looked at: beyond that the order would not be the latest first.
        let floor = 0;
        for (const tag of tags) {
          floor = Math.max(floor, connection.rows<[number]>(OLDEST_LOOKED_AT, { tag, ...looking })[0]?.[0] ?? 0);
          for (const holder of holdersOf(connection, { tag, ...looking })) bySeq.set(holder.seq, holder);
        }
        const found = [...bySeq.values()]
          .filter((holder) => holder.seq >= floor && holder.conversationId !== conversationId)
          .sort((a, b) => b.seq - a.seq);
        const holders = found.slice(0, limit);
        return { holders, next: found.length > limit ? (holders.at(-1)?.seq ?? null) : floor || null };
      },
      { holders: [], next: null },
    );
  }

  async findDrawn(
    space: SpaceName,
    ids: readonly string[],
    words: readonly ChunkLinkWord[],
    each: number,
    amongIds?: readonly string[],
  ): Promise<DrawnRow[]> {
    const parameters = {
      ids: JSON.stringify([...new Set(ids)]),
      words: JSON.stringify(words),
      each,
      among: amongIds ? JSON.stringify(amongIds) : null,
    };
    return this.spaces
      .peek<DrawnLinkRow[]>(space, (connection) => connection.rows<DrawnLinkRow>(DRAWN_LINKS, parameters), [])
      .map(([fromId, toId, word, strength, edgeId]) => ({ fromId, toId, word, strength, edgeId }));
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
    const accessCount = (row.access_count ?? 0) + (waiting?.count ?? 0);
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
      accessCount,
      // A chunk that came back from the archive has a moment without a look.
      lastAccessedAtMs: accessCount === 0 ? null : lastAccessedAtMs,
    };
  }
}

function holdersOf(
  connection: Connection,
  parameters: { readonly tag: string; readonly before: number; readonly looked: number },
): TagHolder[] {
  return connection
    .all<HolderRow>(LATEST_HOLDERS, parameters)
    .filter(({ tier }) => tier !== 'archive')
    .map((row) => ({
      ...toRelative(row),
      conversationId: row.conversation_id,
      tags: JSON.parse(row.tags) as string[],
    }));
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

type DrawnLinkRow = readonly [string, string, ChunkLinkWord, number, string];

interface RelativeRow {
  id: string;
  seq: number;
  created_at: number;
}

interface HolderRow extends RelativeRow {
  conversation_id: string;
  tags: string;
  tier: Tier;
}

const toRelative = ({ id, seq, created_at: createdAtMs }: RelativeRow): ChunkRelative => ({ id, seq, createdAtMs });

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
