import type { Violation } from './violations.js';

/** Notes of a journal: what holds in general (core), what was found out (learning), and work (task). */

export const ENTRY_TYPES = ['core', 'learning', 'task'] as const;
export type EntryType = (typeof ENTRY_TYPES)[number];

/** Least first. */
export const IMPORTANCES = ['low', 'medium', 'high'] as const;
export type Importance = (typeof IMPORTANCES)[number];

export const TASK_STATUSES = ['in-progress', 'blocked', 'completed'] as const;
export type TaskStatus = (typeof TASK_STATUSES)[number];

/** What a list of entries may be in the order of. */
export const ENTRY_ORDERS = [
  'created_at',
  'updated_at',
  'accessed_at',
  'importance',
  'access_count',
  'completed_at',
  'core',
] as const;
export type EntryOrder = (typeof ENTRY_ORDERS)[number];

/** How a task stands. */
export interface TaskState {
  readonly status: TaskStatus;
  readonly completedAtMs: number | null;
  readonly blockers: readonly string[] | null;
  readonly outcome: string | null;
}

/** What an entry has beside its node. */
export interface EntryDetail {
  readonly form: 'entry';
  readonly type: EntryType;
  readonly category: string | null;
  readonly importance: Importance;
  /** Of a task whose state nobody said there is none. */
  readonly task: TaskState | null;
  /** The node's, in the order in which they were given. */
  readonly tags: readonly string[];
  /** What its line in a file would take: limits are counted in these. */
  readonly bytes: number;
}

export const ENTRY_CHARACTERS_MAX = 5_000;
export const CATEGORY_CHARACTERS_MAX = 50;
export const ENTRY_TAGS_MAX = 10;
export const ENTRY_TAG_CHARACTERS_MAX = 30;

export interface EntryFields {
  readonly content?: string;
  readonly category?: string | null;
  readonly tags?: readonly string[];
}

const semantic = (field: string, message: string): Violation => ({ field, code: 'semantic_error', message });
const isBlank = (text: string): boolean => text.trim() === '';
const BLANK = 'must contain something other than white space';

const tooLong = (field: string, text: string, most: number): Violation[] => {
  // Counted as people count: a letter outside the basic plane is one.
  const length = [...text].length;
  return length > most ? [semantic(field, `has ${length} characters, at most ${most} are kept; shorten it`)] : [];
};

export function checkEntry({ content, category, tags }: EntryFields): Violation[] {
  const violations: Violation[] = [];
  if (content !== undefined) {
    if (isBlank(content)) violations.push(semantic('content', BLANK));
    violations.push(...tooLong('content', content, ENTRY_CHARACTERS_MAX));
  }
  if (category !== undefined && category !== null) {
    if (isBlank(category)) violations.push(semantic('category', `${BLANK}; leave it out`));
    violations.push(...tooLong('category', category, CATEGORY_CHARACTERS_MAX));
  }
  return [...violations, ...checkTags(tags ?? [])];
}

function checkTags(tags: readonly string[]): Violation[] {
  const most = ENTRY_TAGS_MAX;
  const count = tags.length > most ? [semantic('tags', `holds ${tags.length} tags, at most ${most} are kept`)] : [];
  const each = tags.flatMap((tag, place) =>
    isBlank(tag) ? [semantic(`tags.${place}`, BLANK)] : tooLong(`tags.${place}`, tag, ENTRY_TAG_CHARACTERS_MAX),
  );
  return [...count, ...each];
}

/** The state of a task as a caller says it: null takes a part away, what is left out follows from the status. */
export interface TaskDraft {
  readonly status: TaskStatus;
  readonly completedAtMs?: number | null;
  readonly blockers?: readonly string[] | null;
  readonly outcome?: string | null;
}

export function checkTask(type: EntryType, draft: TaskDraft | null | undefined): Violation[] {
  if (!draft) return [];
  if (type !== 'task') return [semantic('task_metadata', `is for tasks, and this is a ${type}; leave it out`)];
  const { status, completedAtMs, blockers, outcome } = draft;
  const only = (field: string, value: unknown, needed: TaskStatus): Violation[] =>
    value === undefined || value === null || status === needed
      ? []
      : [
          semantic(
            `task_metadata.${field}`,
            `is for a task that is ${needed}, and this one is ${status}; leave it out`,
          ),
        ];
  return [
    ...only('completed_at', completedAtMs, 'completed'),
    ...only('outcome', outcome, 'completed'),
    ...only('blockers', blockers, 'blocked'),
    ...(Number.isNaN(completedAtMs) ? [semantic('task_metadata.completed_at', 'is not a moment of the calendar')] : []),
    ...(blockers ?? []).flatMap((blocker, place) =>
      isBlank(blocker) ? [semantic(`task_metadata.blockers.${place}`, BLANK)] : [],
    ),
  ];
}

/** A task that is done is done at some moment, and a blocked one says by what. */
export const toTask = ({ status, completedAtMs, blockers, outcome }: TaskDraft, nowMs: number): TaskState => ({
  status,
  completedAtMs: status === 'completed' ? (completedAtMs ?? nowMs) : null,
  blockers: status === 'blocked' ? [...(blockers ?? [])] : null,
  outcome: status === 'completed' ? (outcome ?? null) : null,
});

/** How much there may be of a type. */
export interface EntryLimit {
  readonly entries: number;
  readonly bytes: number;
}

/** Beyond a hard limit nothing is taken; beyond a soft one the idle make room. */
export const LIMIT_KINDS = { core: 'hard', learning: 'soft', task: 'soft' } as const satisfies Record<
  EntryType,
  'hard' | 'soft'
>;

/** An entry as it is weighed against others when there is no room for all. */
export interface IdleEntry {
  readonly id: string;
  readonly bytes: number;
  readonly status: TaskStatus | null;
  readonly completedAtMs: number | null;
  readonly accessedAtMs: number;
  readonly accessCount: number;
}

/**
 * In the order in which they make room: of tasks those that are completed, longest ago first; then whatever nobody looked at for
 * the longest, of the same moment what was looked at the least.
 */
export const idlestFirst = (a: IdleEntry, b: IdleEntry): number =>
  Number(b.status === 'completed') - Number(a.status === 'completed') ||
  (a.completedAtMs ?? 0) - (b.completedAtMs ?? 0) ||
  a.accessedAtMs - b.accessedAtMs ||
  a.accessCount - b.accessCount ||
  (a.id < b.id ? -1 : 1);

/** Those that have to go so that the rest keeps to the limit. */
export function makeRoom(entries: readonly IdleEntry[], limit: EntryLimit): IdleEntry[] {
  let [count, bytes] = [entries.length, entries.reduce((sum, entry) => sum + entry.bytes, 0)];
  const going: IdleEntry[] = [];
  for (const entry of entries.toSorted(idlestFirst)) {
    if (count <= limit.entries && bytes <= limit.bytes) break;
    going.push(entry);
    count--;
    bytes -= entry.bytes;
  }
  return going;
}
