import type { Change } from '../domain/changes.js';
import {
  checkEntry,
  checkTask,
  type EntryDetail,
  type EntryLimit,
  type EntryType,
  type Importance,
  idlestFirst,
  LIMIT_KINDS,
  makeRoom,
  type TaskDraft,
  type TaskState,
  toTask,
} from '../domain/entries.js';
import { isIdOf, typeOf } from '../domain/forms.js';
import { newNode } from '../domain/node.js';
import { checkRepoId } from '../domain/rules.js';
import { indexTerms } from '../domain/terms.js';
import { passGate, type Violation } from '../domain/violations.js';
import { ApplyConflict, type EntryFilter, type EntrySort, type StoredEntry } from '../storage/port.js';
import type { Context } from './context.js';
import { archiveNode, purgeNode } from './nodes.js';
import { findReply, type Once, rememberReply } from './once.js';
import { retrying } from './retrying.js';
import { inTurn } from './turns.js';

export type { EntryFilter, EntrySort, StoredEntry } from '../storage/port.js';

export interface EntryDraft {
  readonly type: EntryType;
  readonly content: string;
  readonly category: string | null;
  readonly tags: readonly string[];
  readonly importance: Importance;
  readonly task: TaskDraft | null;
}

/** What is left out stays; null takes a part away. */
export interface EntryPatch {
  readonly content?: string;
  readonly category?: string | null;
  readonly tags?: readonly string[];
  readonly importance?: Importance;
  readonly archived?: boolean;
  readonly task?: TaskDraft | null;
}

/** A hard limit is reached: nothing was written, and these could make room. */
export class LimitReached extends Error {
  constructor(
    readonly type: EntryType,
    readonly limit: EntryLimit,
    readonly candidates: readonly string[],
  ) {
    super(`no more than ${limit.entries} entries of type ${type} and ${limit.bytes} bytes are kept`);
    this.name = 'LimitReached';
  }
}

export interface Kept {
  readonly entry: StoredEntry;
  /** Those that were put away to make room for it. */
  readonly archivedIds: readonly string[];
}

const CANDIDATES_NAMED = 5;

/** Writes an entry; where its type is full, the idle ones make room if the limit is soft. */
export async function createEntry(
  context: Context,
  repoId: string,
  draft: EntryDraft,
  once: Once | null,
): Promise<Kept> {
  passGate('semantic', [...checkRepoId('repo_id', repoId), ...checkEntry(draft), ...checkTask(draft.type, draft.task)]);
  return inTurn(context.store, `${repoId} ${draft.type}`, () =>
    retrying(async () => {
      const known = await findReply<Written>(context, repoId, once);
      const { id, archivedIds } = known ?? (await insertEntry(context, repoId, draft, once));
      return { entry: await entryOf(context, repoId, id), archivedIds };
    }),
  );
}

interface Written {
  readonly id: string;
  readonly archivedIds: readonly string[];
}

async function insertEntry(context: Context, repoId: string, draft: EntryDraft, once: Once | null): Promise<Written> {
  const id = context.newId();
  const createdAtMs = context.now();
  const { content, type, category } = draft;
  const tags = [...new Set(draft.tags)];
  const detail = toDetail({ ...draft, tags, task: draft.task && toTask(draft.task, createdAtMs) });
  const about = { repoId, content, tags, createdAtMs, detail };
  const node = newNode({ id, form: 'entry', kind: type, type: typeOf('entry', type), ...about });
  const insertion: Change = { change: 'insert_node', node, terms: entryTerms(content, tags, category) };
  const limit = context.journalLimits[type];
  const room = await roomFor(context, repoId, type, { id, bytes: detail.bytes }, limit);
  const written = { id, archivedIds: room.archivedIds };
  const changes = [insertion, ...room.changes, ...rememberReply(context, repoId, once, written)];
  await context.store.apply({ space: repoId, changes });
  return written;
}

const entryTerms = (content: string, tags: readonly string[], category: string | null): string[] =>
  indexTerms([content, ...(category === null ? [] : [category]), ...tags].join('\n'));

const toDetail = ({
  type,
  content,
  category,
  importance,
  task,
  tags,
}: Omit<EntryDraft, 'task'> & { readonly task: TaskState | null }): EntryDetail => ({
  form: 'entry',
  type,
  category,
  importance,
  task,
  tags,
  bytes: Buffer.byteLength(JSON.stringify({ type, content, category, importance, task, tags })) + LINE_BYTES,
});

/** What a line in a file has besides: the id, the moments, the counts and the names of the fields. */
const LINE_BYTES = 250;

/** What has to be done so that one more, or a longer one, keeps to the limit of its type. */
async function roomFor(
  context: Context,
  repoId: string,
  type: EntryType,
  coming: { readonly id: string; readonly bytes: number },
  limit: EntryLimit,
): Promise<{ readonly changes: Change[]; readonly archivedIds: string[] }> {
  const idle = (await context.store.entries.listIdle(repoId, type)).filter(({ id }) => id !== coming.id);
  const taken = { entries: limit.entries - 1, bytes: limit.bytes - coming.bytes };
  const going = makeRoom(idle, taken);
  const expected: Change = { change: 'expect_room', type, entriesMax: limit.entries, bytesMax: limit.bytes };
  if (going.length === 0) return { changes: [expected], archivedIds: [] };
  if (LIMIT_KINDS[type] === 'hard') {
    const candidates = idle.toSorted(idlestFirst).slice(0, CANDIDATES_NAMED);
    throw new LimitReached(
      type,
      limit,
      candidates.map(({ id }) => id),
    );
  }
  const archivedIds = going.map(({ id }) => id);
  const reason = `made room: at most ${limit.entries} entries of type ${type} are kept`;
  return { changes: [...archivedIds.map((id) => archival(context, repoId, id, reason)), expected], archivedIds };
}

export const archival = (context: Context, repoId: string, nodeId: string, reason: string): Change => ({
  change: 'move_tier',
  nodeId,
  repoId,
  from: 'longterm',
  to: 'archive',
  reason,
  atMs: context.now(),
});

/** An entry by its id, archived or not. An id of the wrong form is simply nobody's. */
export async function findEntry({ store }: Context, repoId: string, id: string): Promise<StoredEntry | null> {
  passGate('semantic', checkRepoId('repo_id', repoId));
  if (!isIdOf('entry', id)) return null;
  const [entry] = await store.entries.getEntries(repoId, [id]);
  return entry ?? null;
}

/** One that is known to be there; the repo may have been dropped in the meantime. */
async function entryOf(context: Context, repoId: string, id: string): Promise<StoredEntry> {
  const entry = await findEntry(context, repoId, id);
  if (!entry) throw new ApplyConflict('node_missing', id);
  return entry;
}

/** Whoever asks for an entry looks at it, and that counts. */
export async function readEntry(context: Context, repoId: string, id: string): Promise<StoredEntry | null> {
  if (!(await findEntry(context, repoId, id))) return null;
  context.store.noteAccess(repoId, [id], context.now());
  return findEntry(context, repoId, id);
}

export interface Patched extends Kept {
  /** The names of the fields that are not what they were. */
  readonly updated: readonly (keyof EntryPatch)[];
}

/** Changes what is named and is not so yet; null when there is no such entry. */
export function patchEntry(
  context: Context,
  repoId: string,
  id: string,
  patch: EntryPatch,
  /** What the caller takes it to be. */
  type: EntryType | null = null,
): Promise<Patched | null> {
  return retrying(async () => {
    const entry = await findEntry(context, repoId, id);
    if (!entry) return null;
    passGate('semantic', [
      ...checkEntry(patch),
      ...checkTask(entry.type, patch.task),
      ...(type === null || type === entry.type ? [] : [OTHER_TYPE(entry.type)]),
    ]);
    const after = applied(entry, patch, context.now());
    const updated = (Object.keys(patch) as (keyof EntryPatch)[]).filter((field) => !isSame(entry[field], after[field]));
    if (updated.length === 0) return { entry, updated, archivedIds: [] };
    const detail = toDetail(after);
    const room = await roomForPatch(context, entry, after, detail.bytes);
    const changes = [...patchChanges(context, entry, after, detail, updated), ...room.changes];
    await context.store.apply({ space: repoId, changes });
    // Whoever changes an entry has it before them.
    context.store.noteAccess(repoId, [id], context.now());
    return { entry: await entryOf(context, repoId, id), updated, archivedIds: room.archivedIds };
  });
}

/** What comes back takes a place; what grows takes bytes; what does neither may be corrected however full it is. */
async function roomForPatch(context: Context, entry: StoredEntry, after: Patchable, bytes: number) {
  const { repoId, type, id, archived } = entry;
  const limit = context.journalLimits[type];
  if (after.archived) return NO_ROOM_NEEDED;
  if (archived) return roomFor(context, repoId, type, { id, bytes }, limit);
  if (bytes <= toDetail(entry).bytes) return NO_ROOM_NEEDED;
  return roomFor(context, repoId, type, { id, bytes }, { ...limit, entries: Number.MAX_SAFE_INTEGER });
}

const OTHER_TYPE = (type: EntryType): Violation => ({
  field: 'type',
  code: 'semantic_error',
  message: `of this entry is ${type}, and never changes; write another one`,
});

const NO_ROOM_NEEDED = { changes: [], archivedIds: [] };

type Patchable = Pick<StoredEntry, 'type' | 'content' | 'category' | 'tags' | 'importance' | 'archived' | 'task'>;

function applied(entry: StoredEntry, patch: EntryPatch, nowMs: number): Patchable {
  const { task: draft, tags, ...rest } = patch;
  const { type, content, category, importance, archived } = entry;
  // What a task was done at stays when it is only said again that it is done.
  const completedAtMs = draft?.completedAtMs ?? entry.task?.completedAtMs ?? null;
  const task = draft === undefined ? entry.task : draft && toTask({ ...draft, completedAtMs }, nowMs);
  return { type, content, category, importance, archived, ...rest, task, tags: tags ? [...new Set(tags)] : entry.tags };
}

const isSame = (a: unknown, b: unknown): boolean => JSON.stringify(a) === JSON.stringify(b);

function patchChanges(
  context: Context,
  entry: StoredEntry,
  after: Patchable,
  detail: EntryDetail,
  updated: readonly (keyof EntryPatch)[],
): Change[] {
  const { id, repoId, revision } = entry;
  const atMs = context.now();
  const changes: Change[] = [];
  if (updated.some((field) => field !== 'archived')) {
    const { content, tags, category } = after;
    const isReworded = updated.includes('content');
    changes.push({
      change: 'patch_node',
      nodeId: id,
      repoId,
      expectedRevision: revision,
      fields: {
        ...(isReworded && { content }),
        ...(updated.includes('tags') && { tags }),
        terms: entryTerms(content, tags, category),
        detail,
      },
      trigger: 'manual',
      reason: `changed ${updated.filter((field) => field !== 'archived').join(', ')}`,
      atMs,
    });
  }
  if (updated.includes('archived')) {
    const [from, to] = after.archived ? (['longterm', 'archive'] as const) : (['archive', 'longterm'] as const);
    changes.push({ change: 'move_tier', nodeId: id, repoId, from, to, reason: null, atMs });
  }
  return changes;
}

/** Puts an entry away, or removes it for good; null when there is none to be put away or removed. */
export async function removeEntry(
  context: Context,
  repoId: string,
  id: string,
  permanent: boolean,
): Promise<'archived' | 'deleted' | null> {
  const entry = await findEntry(context, repoId, id);
  if (!entry || (entry.archived && !permanent)) return null;
  if (permanent) return (await purgeNode(context, repoId, id, null)) ? 'deleted' : null;
  return (await archiveNode(context, repoId, id, null)) ? 'archived' : null;
}

export interface EntryPage {
  readonly entries: readonly StoredEntry[];
  /** How many fit in all. */
  readonly total: number;
  readonly offset: number;
  readonly next: number | null;
}

/** From the least looked at on, a page that counts as looked at would push the next one to its own place. */
const movesWhenLookedAt = ({ by, order }: EntrySort): boolean =>
  order === 'asc' && (by === 'accessed_at' || by === 'access_count');

const checkSearch = (search: string | null): Violation[] =>
  search === null || search.trim() !== ''
    ? []
    : [{ field: 'search', code: 'semantic_error', message: 'must contain something other than white space' }];

/** Entries that fit. Each in the answer counts as looked at, unless it is only viewed. */
export async function listEntries(
  context: Context,
  repoId: string,
  filter: EntryFilter,
  sort: EntrySort,
  page: { readonly offset: number; readonly limit: number },
  isView = false,
): Promise<EntryPage> {
  passGate('semantic', [...checkRepoId('repo_id', repoId), ...checkSearch(filter.search)]);
  const ids = await context.store.entries.findEntries(repoId, filter, sort);
  const shownIds = ids.slice(page.offset, page.offset + page.limit);
  const isCounted = !isView && !(movesWhenLookedAt(sort) && shownIds.length < ids.length);
  if (isCounted && shownIds.length > 0) context.store.noteAccess(repoId, shownIds, context.now());
  const byId = new Map((await context.store.entries.getEntries(repoId, shownIds)).map((entry) => [entry.id, entry]));
  const end = page.offset + shownIds.length;
  return {
    entries: shownIds.flatMap((id) => byId.get(id) ?? []),
    total: ids.length,
    offset: page.offset,
    next: end < ids.length && shownIds.length > 0 ? end : null,
  };
}
