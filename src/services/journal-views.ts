import { DAY_MS } from '../domain/decay.js';
import { checkRepoId } from '../domain/rules.js';
import { passGate } from '../domain/violations.js';
import type { EntryCounts, EntryFilter, EntrySort, StoredEntry } from '../storage/port.js';
import type { Context } from './context.js';
import { findEntry, listEntries } from './journal.js';

export type ViewName = 'recent' | 'core' | 'learnings' | 'tasks-active' | 'tasks-completed';

/** A part of a journal as it is read aloud: nobody's look is counted. */
export interface View {
  readonly name: ViewName;
  readonly entries: readonly StoredEntry[];
  readonly total: number;
  /** Since when it tells, where it tells of what lately was. */
  readonly sinceMs: number | null;
  readonly nowMs: number;
}

const RECENT_MAX = 20;
const VIEW_MAX = 1_000;
const LATELY_DAYS = 30;

const ANY: EntryFilter = {
  type: null,
  tags: [],
  search: null,
  importance: null,
  category: null,
  status: null,
  includeArchived: false,
  activeSinceMs: null,
  completedSinceMs: null,
};

interface ViewRow {
  readonly filter: Partial<EntryFilter>;
  readonly sort: EntrySort['by'];
  readonly limit: number;
  /** Which moment has to lie in the last thirty days. */
  readonly lately?: 'activeSinceMs' | 'completedSinceMs';
}

const VIEWS: Readonly<Record<ViewName, ViewRow>> = {
  recent: { filter: {}, sort: 'accessed_at', limit: RECENT_MAX },
  core: { filter: { type: 'core' }, sort: 'core', limit: VIEW_MAX },
  learnings: { filter: { type: 'learning' }, sort: 'created_at', limit: VIEW_MAX, lately: 'activeSinceMs' },
  'tasks-active': { filter: { type: 'task' }, sort: 'updated_at', limit: VIEW_MAX },
  'tasks-completed': {
    filter: { type: 'task', status: 'completed' },
    sort: 'completed_at',
    limit: VIEW_MAX,
    lately: 'completedSinceMs',
  },
};

export async function readView(context: Context, repoId: string, name: ViewName): Promise<View> {
  const { filter, sort, limit, lately } = VIEWS[name];
  const nowMs = context.now();
  const sinceMs = lately === undefined ? null : nowMs - LATELY_DAYS * DAY_MS;
  const fits = { ...ANY, ...filter, ...(lately && { [lately]: sinceMs }) };
  const page = { offset: 0, limit };
  const { entries, total } = await listEntries(context, repoId, fits, { by: sort, order: 'desc' }, page, true);
  return { name, entries, total: name === 'recent' ? entries.length : total, sinceMs, nowMs };
}

export interface JournalCounts {
  readonly counts: EntryCounts;
  readonly mostAccessed: StoredEntry | null;
}

/** Worked out from what is there, so that it is never stale. */
export async function countJournal(context: Context, repoId: string): Promise<JournalCounts> {
  passGate('semantic', checkRepoId('repo_id', repoId));
  const counts = await context.store.entries.countEntries(repoId);
  const { mostAccessedId } = counts;
  return { counts, mostAccessed: mostAccessedId === null ? null : await findEntry(context, repoId, mostAccessedId) };
}
