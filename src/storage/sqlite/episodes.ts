import type { FileUse, Layers } from '../../domain/episodes.js';
import type { ChosenTerms } from '../../domain/ranking.js';
import type { SpaceName } from '../../domain/spaces.js';
import type { Tier } from '../../domain/vocabulary.js';
import type { EpisodeCandidate, EpisodeFilter, EpisodeOrder, EpisodePlace, StoredEpisode } from '../port.js';
import type { AccessCounts } from './access.js';
import type { Connection } from './connection.js';
import { findFileSeqs } from './files-of.js';
import { bestMatches } from './search.js';
import type { Spaces } from './spaces.js';

const TAGS = `(SELECT json_group_array(t.tag) FROM node_tags t WHERE t.node_seq = e.node_seq) AS tags`;

const COLUMNS = `e.node_seq AS seq, n.id, n.session_id, n.tier, n.archived_at, n.revision, n.created_at, n.updated_at,
  e.importance, e.layers, g.id AS agent_id, a.access_count, a.last_accessed_at, ${TAGS}, (
    SELECT json_group_array(json_array(f.path, x.operation)) FROM node_files x JOIN files f ON f.seq = x.file_seq
    WHERE x.node_seq = e.node_seq) AS files`;

const JOINS = `JOIN nodes n ON n.seq = e.node_seq JOIN agents g ON g.seq = e.agent_seq
  LEFT JOIN node_access a ON a.node_seq = e.node_seq`;

/** Every part of a filter, for every statement: none can forget one. */
const FITS = `(@archived = 1 OR n.tier <> 'archive')
  AND (@agent IS NULL OR g.id = @agent) AND (@session IS NULL OR n.session_id = @session)
  AND (@taskType IS NULL OR e.task_type = @taskType) AND (@success IS NULL OR e.success = @success)
  AND (@failureCategory IS NULL OR e.failure_category = @failureCategory)
  AND (@since IS NULL OR e.created_at >= @since) AND (@before IS NULL OR e.created_at < @before)
  AND (@tags IS NULL OR NOT EXISTS (SELECT 1 FROM json_each(@tags) AS w
    WHERE NOT EXISTS (SELECT 1 FROM node_tags t WHERE t.node_seq = e.node_seq AND t.tag = w.value)))
  AND (@files IS NULL OR EXISTS (SELECT 1 FROM node_files x
    WHERE x.node_seq = e.node_seq AND x.file_seq IN (SELECT value FROM json_each(@files))))`;

/** Where a list begins to look: with the part of the filter that fits the fewest, else along the order of the list. */
const SOURCES = {
  /** Backwards along the index, so that a list of the last stored ends where it is full. */
  file: 'node_files AS d CROSS JOIN episodes e ON e.node_seq = d.node_seq AND d.file_seq = @file',
  files: `(SELECT DISTINCT node_seq FROM node_files WHERE file_seq IN (SELECT value FROM json_each(@files))) AS d
    CROSS JOIN episodes e ON e.node_seq = d.node_seq`,
  session: 'nodes AS d CROSS JOIN episodes e ON e.node_seq = d.seq AND d.session_id = @session',
  tag: `node_tags AS d CROSS JOIN episodes e ON e.node_seq = d.node_seq AND d.tag = json_extract(@tags, '$[0]')`,
  all: 'episodes e',
} as const;

const ORDERS = {
  recent: 'e.created_at',
  importance: 'e.importance',
  access_count: 'ifnull(a.access_count, 0)',
  stored: 'e.node_seq',
} as const satisfies Record<EpisodeOrder, string>;

export function listStatement(source: keyof typeof SOURCES, order: EpisodeOrder): string {
  // Of what is joined one to one, the engine walks an index for the order only if its own column is named.
  const place = source === 'file' && order === 'stored' ? 'd.node_seq' : ORDERS[order];
  return `
  SELECT ${COLUMNS}, ${place} AS place FROM ${SOURCES[source]} ${JOINS}
  WHERE ${FITS} AND (${place}, e.node_seq) < (@place, @placeSeq)
  ORDER BY ${place} DESC, e.node_seq DESC LIMIT @limit`;
}

export const GET_EPISODES = `
  SELECT ${COLUMNS} FROM json_each(@ids) AS wanted CROSS JOIN nodes n ON n.id = wanted.value
  CROSS JOIN episodes e ON e.node_seq = n.seq JOIN agents g ON g.seq = e.agent_seq
  LEFT JOIN node_access a ON a.node_seq = e.node_seq WHERE @archived = 1 OR n.tier <> 'archive'`;

export const FITTING_EPISODES = `
  SELECT n.id, n.search_terms, n.terms, e.goal, e.importance FROM json_each(@seqs) AS matched
  CROSS JOIN episodes e ON e.node_seq = matched.value JOIN nodes n ON n.seq = e.node_seq
  JOIN agents g ON g.seq = e.agent_seq WHERE ${FITS}`;

const AFTER_ALL = Number.MAX_SAFE_INTEGER;
/** How much further to look when the filter takes too many of the best matches away. */
const POOL_GROWTH = 8;

/** Episodes of one space; there are none of global scope. */
export class Episodes {
  constructor(
    private readonly spaces: Spaces,
    private readonly access: AccessCounts,
  ) {}

  getEpisodes(space: SpaceName, ids: readonly string[], includeArchived: boolean): StoredEpisode[] {
    if (ids.length === 0) return [];
    const parameters = { ids: JSON.stringify([...new Set(ids)]), archived: includeArchived ? 1 : 0 };
    return this.#read(space, (connection) => connection.all<EpisodeRow>(GET_EPISODES, parameters));
  }

  /** The row numbers of the files that somebody means. */
  findFiles(space: SpaceName, given: string): Promise<number[]> {
    return findFileSeqs((callback, otherwise) => this.spaces.peek(space, callback, otherwise), given);
  }

  async listEpisodes(
    space: SpaceName,
    filter: EpisodeFilter,
    order: EpisodeOrder,
    after: EpisodePlace | null,
    limit: number,
  ): Promise<StoredEpisode[]> {
    const files = await this.#filesOf(space, filter);
    // What waits to be counted counts in the order.
    if (order === 'access_count') this.access.flush();
    return this.#read(space, (connection) => {
      const place = { place: after?.value ?? AFTER_ALL, placeSeq: after?.seq ?? AFTER_ALL };
      const parameters = { ...parametersOf(filter, files), file: files?.[0] ?? null, ...place, limit };
      return connection.all<EpisodeRow>(listStatement(sourceOf(filter, files), order), parameters);
    });
  }

  async searchEpisodes(
    space: SpaceName,
    terms: ChosenTerms,
    filter: EpisodeFilter,
    poolSize: number,
  ): Promise<EpisodeCandidate[]> {
    if (terms.any.length === 0) return [];
    const parameters = parametersOf(filter, await this.#filesOf(space, filter));
    return this.spaces.peek<EpisodeCandidate[]>(
      space,
      (connection) => {
        for (let looked = poolSize; ; looked *= POOL_GROWTH) {
          const { seqs, isAll } = bestMatches(connection, terms, looked);
          const rows = connection.rows<CandidateRow>(FITTING_EPISODES, { ...parameters, seqs: JSON.stringify(seqs) });
          if (rows.length >= poolSize || isAll) return rows.map(toCandidate);
        }
      },
      [],
    );
  }

  async #filesOf(space: SpaceName, { file, files }: EpisodeFilter): Promise<readonly number[] | null> {
    return file === null ? null : (files ?? this.findFiles(space, file));
  }

  #read(space: SpaceName, read: (connection: Connection) => EpisodeRow[]): StoredEpisode[] {
    const rows = this.spaces.peek<EpisodeRow[]>(space, read, []);
    return rows.map((row) => this.#toEpisode(space, row));
  }

  #toEpisode(space: SpaceName, row: EpisodeRow): StoredEpisode {
    const waiting = this.access.waiting(space, row.id);
    const lastAccessedAtMs = Math.max(waiting?.atMs ?? 0, row.last_accessed_at ?? 0);
    return {
      id: row.id,
      seq: row.seq,
      agentId: row.agent_id,
      repoId: space,
      sessionId: row.session_id,
      tier: row.tier,
      archivedAtMs: row.archived_at,
      revision: row.revision,
      createdAtMs: row.created_at,
      updatedAtMs: row.updated_at,
      importance: row.importance,
      layers: JSON.parse(row.layers) as Layers,
      tags: (JSON.parse(row.tags) as string[]).sort(),
      files: (JSON.parse(row.files) as [string, FileUse['operation']][]).map(([path, operation]) => ({
        path,
        operation,
      })),
      accessCount: (row.access_count ?? 0) + (waiting?.count ?? 0),
      lastAccessedAtMs: lastAccessedAtMs === 0 ? null : lastAccessedAtMs,
    };
  }
}

function sourceOf({ sessionId, tags }: EpisodeFilter, files: readonly number[] | null): keyof typeof SOURCES {
  if (files !== null) return files.length === 1 ? 'file' : 'files';
  if (sessionId !== null) return 'session';
  return tags.length > 0 ? 'tag' : 'all';
}

const parametersOf = (
  filter: EpisodeFilter,
  files: readonly number[] | null,
): Record<string, string | number | null> => ({
  archived: filter.includeArchived ? 1 : 0,
  agent: filter.agentId,
  session: filter.sessionId,
  taskType: filter.taskType,
  success: filter.success === null ? null : Number(filter.success),
  failureCategory: filter.failureCategory,
  since: filter.sinceMs,
  before: filter.beforeMs,
  tags: filter.tags.length > 0 ? JSON.stringify(filter.tags) : null,
  files: files && JSON.stringify(files),
});

type CandidateRow = readonly [string, string, number, string, number];

const toCandidate = ([id, terms, length, goal, importance]: CandidateRow): EpisodeCandidate => ({
  id,
  terms,
  length,
  goal,
  importance,
});

interface EpisodeRow {
  seq: number;
  id: string;
  session_id: string;
  tier: Tier;
  archived_at: number | null;
  revision: number;
  created_at: number;
  updated_at: number;
  importance: number;
  layers: string;
  agent_id: string;
  access_count: number | null;
  last_accessed_at: number | null;
  tags: string;
  files: string;
}
