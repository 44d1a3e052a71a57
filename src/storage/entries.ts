import type { EntryOrder, EntryType, IdleEntry, Importance, TaskState, TaskStatus } from '../domain/entries.js';
import type { SpaceName } from '../domain/spaces.js';

/** What a store holds of a journal, and how it is asked for it. There are no entries of global scope. */
export interface EntryReads {
  /** The space's entries with these ids, archived or not, in no particular order. */
  getEntries(space: SpaceName, ids: readonly string[]): Promise<StoredEntry[]>;
  /** The ids of the space's entries that fit, in their order. */
  findEntries(space: SpaceName, filter: EntryFilter, sort: EntrySort): Promise<string[]>;
  /** The live entries of a type, as they are weighed when there is no room for all. */
  listIdle(space: SpaceName, type: EntryType): Promise<IdleEntry[]>;
  countEntries(space: SpaceName): Promise<EntryCounts>;
}

export interface StoredEntry {
  readonly id: string;
  readonly seq: number;
  readonly repoId: string;
  readonly type: EntryType;
  readonly content: string;
  readonly category: string | null;
  readonly importance: Importance;
  readonly task: TaskState | null;
  readonly tags: readonly string[];
  readonly archived: boolean;
  readonly revision: number;
  readonly createdAtMs: number;
  readonly updatedAtMs: number;
  readonly accessedAtMs: number;
  readonly accessCount: number;
}

/** Null, or no tags, where anything fits. */
export interface EntryFilter {
  readonly type: EntryType | null;
  /** All of them. */
  readonly tags: readonly string[];
  /** Stands in the content, in whatever case. */
  readonly search: string | null;
  readonly importance: Importance | null;
  readonly category: string | null;
  readonly status: TaskStatus | null;
  readonly includeArchived: boolean;
  /** Created or looked at since. */
  readonly activeSinceMs: number | null;
  readonly completedSinceMs: number | null;
}

export interface EntrySort {
  readonly by: EntryOrder;
  readonly order: 'asc' | 'desc';
}

export interface EntryCounts {
  readonly byType: Readonly<Record<EntryType, number>>;
  readonly byImportance: Readonly<Record<Importance, number>>;
  readonly archived: number;
  readonly bytes: number;
  readonly oldestAtMs: number | null;
  readonly newestAtMs: number | null;
  readonly mostAccessedId: string | null;
  readonly topTags: readonly { readonly tag: string; readonly count: number }[];
  readonly lastUpdatedAtMs: number | null;
  /** The live ones, by what they are looked up by. */
  readonly live: readonly IndexedEntry[];
}

type IndexedEntry = Pick<StoredEntry, 'id' | 'tags' | 'category' | 'importance'>;
