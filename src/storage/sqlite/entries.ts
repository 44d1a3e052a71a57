import {
  ENTRY_TYPES,
  type EntryType,
  type IdleEntry,
  IMPORTANCES,
  type Importance,
  type TaskStatus,
} from '../../domain/entries.js';
import { normalizeText } from '../../domain/node.js';
import type { SpaceName } from '../../domain/spaces.js';
import type { EntryCounts, EntryFilter, EntryReads, EntrySort, StoredEntry } from '../port.js';
import type { AccessCounts } from './access.js';
import type { Connection } from './connection.js';
import type { Spaces } from './spaces.js';

const JOINS = 'CROSS JOIN nodes n ON n.seq = e.node_seq LEFT JOIN node_access a ON a.node_seq = e.node_seq';

const COLUMNS = `e.node_seq AS seq, n.id, e.type, n.content, e.category, e.importance, e.status, e.completed_at, e.blockers,
  e.outcome, e.tags, e.archived, n.revision, n.created_at, n.updated_at, a.access_count, a.last_accessed_at`;

export const GET_ENTRIES = `
  SELECT ${COLUMNS} FROM json_each(@ids) AS wanted CROSS JOIN nodes n ON n.id = wanted.value
  CROSS JOIN entries e ON e.node_seq = n.seq LEFT JOIN node_access a ON a.node_seq = e.node_seq`;

const ACCESSED = 'ifnull(a.last_accessed_at, n.created_at)';

/** Of those that are not in the archive there are never many; the index has them apart. */
const FITS = `e.archived IN (SELECT value FROM json_each(@archived)) AND e.type IN (SELECT value FROM json_each(@types))
  AND (@importance IS NULL OR e.importance = @importance) AND (@category IS NULL OR e.category = @category)
  AND (@status IS NULL OR ifnull(e.status, 'in-progress') = @status)
  AND (@active IS NULL OR n.created_at >= @active OR ${ACCESSED} >= @active)
  AND (@completed IS NULL OR e.completed_at >= @completed)
  AND (@tags IS NULL OR NOT EXISTS (SELECT 1 FROM json_each(@tags) AS w
    WHERE NOT EXISTS (SELECT 1 FROM node_tags t WHERE t.node_seq = e.node_seq AND t.tag = w.value)))`;

const IMPORTANCE = `CASE e.importance WHEN 'high' THEN 2 WHEN 'medium' THEN 1 ELSE 0 END`;

const SORTS = {
  created_at: 'n.created_at',
  updated_at: 'n.updated_at',
  accessed_at: ACCESSED,
  importance: IMPORTANCE,
  access_count: 'ifnull(a.access_count, 0)',
  completed_at: 'ifnull(e.completed_at, 0)',
  core: IMPORTANCE,
} as const satisfies Record<EntrySort['by'], string>;

/** Of equals the one that was made last: a list must not move because its first page was looked at. */
export const findStatement = ({ by, order }: EntrySort, withContent: boolean): string => `
  SELECT n.id, ${withContent ? 'n.content' : "''"} FROM entries e ${JOINS} WHERE ${FITS}
  ORDER BY ${SORTS[by]} ${order}, ${by === 'core' ? `${ACCESSED} ${order}, ` : ''}e.node_seq ${order}`;

export const IDLE_ENTRIES = `
  SELECT n.id, e.bytes, e.status, e.completed_at, ${ACCESSED}, ifnull(a.access_count, 0) FROM entries e ${JOINS}
  WHERE e.archived = 0 AND e.type = ?`;

export const ENTRY_COUNTS = `
  SELECT e.archived, e.type, e.importance, count(*), sum(e.bytes), min(n.created_at), max(n.created_at), max(n.updated_at)
  FROM entries e ${JOINS} WHERE e.archived IN (0, 1) GROUP BY e.archived, e.type, e.importance`;

export const MOST_ACCESSED = `
  SELECT n.id FROM entries e ${JOINS} WHERE e.archived = 0 AND a.access_count > 0
  ORDER BY a.access_count DESC, a.last_accessed_at DESC, n.id LIMIT 1`;

export const TOP_TAGS = `
  SELECT t.tag, count(*) AS holders FROM entries e CROSS JOIN node_tags t ON t.node_seq = e.node_seq
  WHERE e.archived = 0 GROUP BY t.tag ORDER BY holders DESC, t.tag LIMIT 10`;

export const LIVE_INDEX = `
  SELECT n.id, e.tags, e.category, e.importance FROM entries e CROSS JOIN nodes n ON n.seq = e.node_seq
  WHERE e.archived = 0 ORDER BY e.node_seq`;

/** Entries of one space. */
export class Entries implements EntryReads {
  constructor(
    private readonly spaces: Spaces,
    private readonly access: AccessCounts,
  ) {}

  async getEntries(space: SpaceName, ids: readonly string[]): Promise<StoredEntry[]> {
    if (ids.length === 0) return [];
    const wanted = { ids: JSON.stringify([...new Set(ids)]) };
    return this.spaces
      .peek<EntryRow[]>(space, (connection) => connection.all<EntryRow>(GET_ENTRIES, wanted), [])
      .map((row) => this.#toEntry(space, row));
  }

  async findEntries(space: SpaceName, filter: EntryFilter, sort: EntrySort): Promise<string[]> {
    // What waits to be counted counts in the order, and in who was active.
    this.access.flush();
    const sought = filter.search === null ? null : fold(filter.search);
    const rows = this.spaces.peek<[string, string][]>(
      space,
      (connection) => connection.rows<[string, string]>(findStatement(sort, sought !== null), parametersOf(filter)),
      [],
    );
    const found = sought === null ? rows : rows.filter(([, content]) => fold(content).includes(sought));
    return found.map(([id]) => id);
  }

  async listIdle(space: SpaceName, type: EntryType): Promise<IdleEntry[]> {
    this.access.flush();
    const rows = this.spaces.peek<IdleRow[]>(space, (connection) => connection.rows<IdleRow>(IDLE_ENTRIES, type), []);
    return rows.map(([id, bytes, status, completedAtMs, accessedAtMs, accessCount]) => ({
      id,
      bytes,
      status,
      completedAtMs,
      accessedAtMs,
      accessCount,
    }));
  }

  async countEntries(space: SpaceName): Promise<EntryCounts> {
    this.access.flush();
    return this.spaces.peek(space, readCounts, countsOf([], undefined, [], []));
  }

  #toEntry(space: SpaceName, row: EntryRow): StoredEntry {
    const waiting = this.access.waiting(space, row.id);
    return {
      id: row.id,
      seq: row.seq,
      repoId: space,
      type: row.type,
      content: row.content,
      category: row.category,
      importance: row.importance,
      task:
        row.status === null
          ? null
          : {
              status: row.status,
              completedAtMs: row.completed_at,
              blockers: row.blockers === null ? null : (JSON.parse(row.blockers) as string[]),
              outcome: row.outcome,
            },
      tags: JSON.parse(row.tags) as string[],
      archived: row.archived === 1,
      revision: row.revision,
      createdAtMs: row.created_at,
      updatedAtMs: row.updated_at,
      accessedAtMs: Math.max(waiting?.atMs ?? 0, row.last_accessed_at ?? row.created_at),
      accessCount: (row.access_count ?? 0) + (waiting?.count ?? 0),
    };
  }
}

/** A word reads the same whether its last letter is the last of a word or not. */
const fold = (text: string): string => normalizeText(text).replaceAll('ς', 'σ');

const parametersOf = (filter: EntryFilter): Record<string, string | number | null> => ({
  archived: filter.includeArchived ? '[0,1]' : '[0]',
  types: JSON.stringify(filter.type === null ? ENTRY_TYPES : [filter.type]),
  importance: filter.importance,
  category: filter.category,
  status: filter.status,
  active: filter.activeSinceMs,
  completed: filter.completedSinceMs,
  tags: filter.tags.length > 0 ? JSON.stringify(filter.tags) : null,
});

const readCounts = (connection: Connection): EntryCounts =>
  countsOf(
    connection.rows<CountRow>(ENTRY_COUNTS),
    connection.rows<[string]>(MOST_ACCESSED)[0]?.[0],
    connection.rows<[string, number]>(TOP_TAGS).map(([tag, count]) => ({ tag, count })),
    connection
      .rows<[string, string, string | null, Importance]>(LIVE_INDEX)
      .map(([id, tags, category, importance]) => ({ id, tags: JSON.parse(tags) as string[], category, importance })),
  );

function countsOf(
  rows: readonly CountRow[],
  mostAccessedId: string | undefined,
  topTags: EntryCounts['topTags'],
  indexed: EntryCounts['live'],
): EntryCounts {
  const live = rows.filter(([archived]) => archived === 0);
  const sum = (counted: readonly CountRow[]): number => counted.reduce((total, [, , , count]) => total + count, 0);
  const least = (values: readonly number[]): number | null => (values.length === 0 ? null : Math.min(...values));
  const most = (values: readonly number[]): number | null => (values.length === 0 ? null : Math.max(...values));
  return {
    byType: Object.fromEntries(
      ENTRY_TYPES.map((type) => [type, sum(live.filter((row) => row[1] === type))]),
    ) as EntryCounts['byType'],
    byImportance: Object.fromEntries(
      IMPORTANCES.map((word) => [word, sum(live.filter((row) => row[2] === word))]),
    ) as EntryCounts['byImportance'],
    archived: sum(rows) - sum(live),
    bytes: rows.reduce((total, row) => total + row[4], 0),
    oldestAtMs: least(live.map((row) => row[5])),
    newestAtMs: most(live.map((row) => row[6])),
    mostAccessedId: mostAccessedId ?? null,
    topTags,
    lastUpdatedAtMs: most(rows.map((row) => row[7])),
    live: indexed,
  };
}

type CountRow = readonly [
  archived: 0 | 1,
  type: EntryType,
  importance: Importance,
  count: number,
  bytes: number,
  oldest: number,
  newest: number,
  updated: number,
];

type IdleRow = readonly [string, number, TaskStatus | null, number | null, number, number];

interface EntryRow {
  seq: number;
  id: string;
  type: EntryType;
  content: string;
  category: string | null;
  importance: Importance;
  status: TaskStatus | null;
  completed_at: number | null;
  blockers: string | null;
  outcome: string | null;
  tags: string;
  archived: 0 | 1;
  revision: number;
  created_at: number;
  updated_at: number;
  access_count: number | null;
  last_accessed_at: number | null;
}
