import Type, { type Static } from 'typebox';
import {
  CATEGORY_CHARACTERS_MAX,
  ENTRY_CHARACTERS_MAX,
  ENTRY_ORDERS,
  ENTRY_TAG_CHARACTERS_MAX,
  ENTRY_TAGS_MAX,
  ENTRY_TYPES,
  type EntryOrder,
  IMPORTANCES,
  TASK_STATUSES,
  type TaskDraft,
  type TaskState,
} from '../domain/entries.js';
import { FORMS } from '../domain/forms.js';
import type {
  EntryDraft,
  EntryFilter,
  EntryPage,
  EntryPatch,
  EntrySort,
  Kept,
  Patched,
  StoredEntry,
} from '../services/journal.js';
import { presentMoment } from './chunks.js';
import { presentCursor, toPlace } from './cursor.js';
import { named, nullable, ref, strict, withDefaults, words } from './schema.js';
import { Time } from './shared.js';
import { TagsQuery } from './tags.js';

/** `/journal`: core, learning and task entries. Times are ISO 8601 in UTC. */

const EntryId = Type.String({ description: 'Id of an entry', examples: [FORMS.entry.idExample] });
const EntryTypeWord = words([...ENTRY_TYPES], {
  description:
    'core: what holds in general; learning: what was found out; task: work that is done, under way or blocked',
});
const ImportanceWord = words([...IMPORTANCES]);
const StatusWord = words([...TASK_STATUSES]);
/** How long each may be is told by the service, with the other rules of an entry. */
const Content = Type.String({ description: `What to remember, at most ${ENTRY_CHARACTERS_MAX} characters` });
const Category = Type.String({ description: `A word of your own, at most ${CATEGORY_CHARACTERS_MAX} characters` });
const EntryTags = Type.Array(Type.String(), {
  uniqueItems: true,
  description: `At most ${ENTRY_TAGS_MAX}, each of at most ${ENTRY_TAG_CHARACTERS_MAX} characters`,
});
const TaskInput = named(
  'TaskMetadata',
  strict(
    {
      status: StatusWord,
      completed_at: Type.Optional({ ...Time, description: 'Of a completed task; the present moment if left out' }),
      blockers: Type.Optional(
        Type.Array(Type.String({ maxLength: 500 }), { maxItems: 20, description: 'Of a blocked task' }),
      ),
      outcome: Type.Optional(Type.String({ maxLength: 5_000, description: 'Of a completed task' })),
    },
    { examples: [{ status: 'blocked', blockers: ['The staging database is down'] }] },
  ),
);

export const EntryInput = named(
  'EntryInput',
  strict(
    {
      id: Type.Optional({ ...EntryId, description: 'An entry that is there already: it is updated' }),
      type: EntryTypeWord,
      content: Content,
      category: Type.Optional(Category),
      tags: Type.Optional(EntryTags),
      importance: Type.Optional(words([...IMPORTANCES], { description: 'medium if a new entry does not say' })),
      task_metadata: Type.Optional(ref(TaskInput)),
    },
    {
      examples: [
        {
          type: 'core',
          content: 'User prefers pytest over unittest',
          category: 'preference',
          tags: ['python', 'testing'],
          importance: 'high',
        },
      ],
    },
  ),
);
export type EntryInput = Static<typeof EntryInput>;

const toTaskDraft = (input: Static<typeof TaskInput>): TaskDraft => ({
  status: input.status,
  ...(input.completed_at !== undefined && { completedAtMs: Date.parse(input.completed_at) }),
  ...(input.blockers !== undefined && { blockers: input.blockers }),
  ...(input.outcome !== undefined && { outcome: input.outcome }),
});

export const toEntryDraft = (input: EntryInput): EntryDraft => ({
  type: input.type,
  content: input.content,
  category: input.category ?? null,
  tags: input.tags ?? [],
  importance: input.importance ?? 'medium',
  task: input.task_metadata === undefined ? null : toTaskDraft(input.task_metadata),
});

/** An entry that is written a second time is changed in what is said of it. */
export const toRewrite = ({ id: _id, type: _type, ...patch }: EntryInput): EntryPatch => toEntryPatch(patch);

export const EntryPatchInput = named(
  'EntryPatch',
  strict(
    {
      content: Type.Optional(Content),
      category: Type.Optional(nullable(Category, 'null takes it away')),
      tags: Type.Optional({ ...EntryTags, description: 'In place of those it had' }),
      importance: Type.Optional(ImportanceWord),
      archived: Type.Optional(Type.Boolean({ description: 'Put it away, or bring it back' })),
      task_metadata: Type.Optional(nullable(ref(TaskInput), 'In place of what it was; null takes it away')),
    },
    { minProperties: 1, examples: [{ importance: 'high', archived: false }] },
  ),
);

export function toEntryPatch(input: Static<typeof EntryPatchInput>): EntryPatch {
  const { task_metadata: task, ...rest } = input;
  return { ...rest, ...(task !== undefined && { task: task && toTaskDraft(task) }) };
}

const TaskReport = Type.Object({
  status: StatusWord,
  completed_at: Type.Optional(Time),
  blockers: Type.Optional(Type.Array(Type.String())),
  outcome: Type.Optional(Type.String()),
});

export const EntryReport = named(
  'Entry',
  Type.Object({
    id: EntryId,
    type: EntryTypeWord,
    content: Type.String(),
    category: Type.Optional(Type.String()),
    created_at: Time,
    updated_at: Time,
    accessed_at: Time,
    access_count: Type.Integer(),
    tags: Type.Array(Type.String()),
    importance: ImportanceWord,
    archived: Type.Boolean(),
    task_metadata: Type.Optional(TaskReport),
  }),
);
export type EntryReport = Static<typeof EntryReport>;

const presentTask = ({ status, completedAtMs, blockers, outcome }: TaskState): Static<typeof TaskReport> => ({
  status,
  ...(completedAtMs !== null && { completed_at: presentMoment(completedAtMs) }),
  ...(blockers !== null && { blockers: [...blockers] }),
  ...(outcome !== null && { outcome }),
});

export const presentEntry = (entry: StoredEntry): EntryReport => ({
  id: entry.id,
  type: entry.type,
  content: entry.content,
  ...(entry.category !== null && { category: entry.category }),
  created_at: presentMoment(entry.createdAtMs),
  updated_at: presentMoment(entry.updatedAtMs),
  accessed_at: presentMoment(entry.accessedAtMs),
  access_count: entry.accessCount,
  tags: [...entry.tags],
  importance: entry.importance,
  archived: entry.archived,
  ...(entry.task !== null && { task_metadata: presentTask(entry.task) }),
});

const ArchivedIds = Type.Array(EntryId, { description: 'What was put away to make room for it, idlest first' });

export const EntryStored = named(
  'EntryStored',
  Type.Object({
    id: EntryId,
    created: Type.Boolean({ description: 'False when an entry that was there is updated' }),
    memory: ref(EntryReport),
    archived_ids: ArchivedIds,
  }),
);

export const presentStored = ({ entry, archivedIds }: Kept, created: boolean): Static<typeof EntryStored> => ({
  id: entry.id,
  created,
  memory: presentEntry(entry),
  archived_ids: [...archivedIds],
});

export const EntryUpdated = named(
  'EntryUpdated',
  Type.Object({
    memory: ref(EntryReport),
    updated_fields: Type.Array(Type.String(), { description: 'Exactly those that are not what they were' }),
    archived_ids: ArchivedIds,
  }),
);

export const presentUpdated = ({ entry, updated, archivedIds }: Patched): Static<typeof EntryUpdated> => ({
  memory: presentEntry(entry),
  updated_fields: updated.map((field) => (field === 'task' ? 'task_metadata' : field)),
  archived_ids: [...archivedIds],
});

export const ByEntry = Type.Object({ entry_id: EntryId });

const IN_REPO = { repo_id: Type.String({ minLength: 1, default: 'default', description: 'The repo to look in' }) };

export const EntryDeletion = withDefaults({
  ...IN_REPO,
  permanent: Type.Boolean({ default: false, description: 'Remove it for good' }),
});

export const EntryDeleted = named('EntryDeleted', Type.Object({ id: EntryId, action: words(['archived', 'deleted']) }));

export const EntriesQuery = withDefaults({
  ...IN_REPO,
  type: Type.Optional(EntryTypeWord),
  tags: TagsQuery,
  search: Type.Optional(
    Type.String({ minLength: 1, maxLength: 200, description: 'Stands in the content, in whatever case' }),
  ),
  importance: Type.Optional(ImportanceWord),
  category: Type.Optional(Type.String({ minLength: 1 })),
  archived: Type.Boolean({ default: false, description: 'Whether those that were put away come along' }),
  limit: Type.Integer({ minimum: 1, maximum: 100, default: 10 }),
  offset: Type.Integer({ minimum: 0, default: 0, description: 'How many to leave out at the beginning' }),
  cursor: Type.Optional(Type.String({ description: 'next_cursor of the previous page; goes before offset' })),
  sort_by: words(
    ENTRY_ORDERS.filter((order) => order !== 'completed_at' && order !== 'core'),
    { default: 'accessed_at' },
  ),
  sort_order: words(['asc', 'desc'], { default: 'desc' }),
});

const ANY_ENTRY: EntryFilter = {
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

export const toEntryFilter = (query: Static<typeof EntriesQuery>, tags: readonly string[]): EntryFilter => ({
  ...ANY_ENTRY,
  type: query.type ?? null,
  tags,
  search: query.search ?? null,
  importance: query.importance ?? null,
  category: query.category ?? null,
  includeArchived: query.archived,
});

export const toEntrySort = (query: Static<typeof EntriesQuery>): EntrySort => ({
  by: query.sort_by as EntryOrder,
  order: query.sort_order,
});

export function toOffset({ cursor, offset }: { cursor?: string; offset: number }): number {
  const place = toPlace(
    cursor,
    (value): value is readonly [number] =>
      value.length === 1 && Number.isSafeInteger(value[0]) && (value[0] as number) >= 0,
  );
  return place?.[0] ?? offset;
}

export const EntriesAnswer = named(
  'EntryPage',
  Type.Object({
    memories: Type.Array(ref(EntryReport)),
    total: Type.Integer({ description: 'How many fit in all' }),
    limit: Type.Integer(),
    offset: Type.Integer(),
    has_more: Type.Boolean(),
    next_cursor: nullable(Type.String(), 'Where the next page begins; null on the last'),
  }),
);

export const presentEntries = (
  { entries, total, offset, next }: EntryPage,
  limit: number,
): Static<typeof EntriesAnswer> => ({
  memories: entries.map(presentEntry),
  total,
  limit,
  offset,
  has_more: next !== null,
  next_cursor: next === null ? null : presentCursor([next]),
});
