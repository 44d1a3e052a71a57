import Type, { type Static } from 'typebox';
import { ENTRY_TYPES, IMPORTANCES, TASK_STATUSES } from '../domain/entries.js';
import type { StoredEntry } from '../services/journal.js';
import type { JournalCounts, View, ViewName } from '../services/journal-views.js';
import { presentMoment } from './chunks.js';
import { EntryReport, presentEntry } from './journal.js';
import { named, nullable, ref, words } from './schema.js';
import { Time } from './shared.js';

/** `/journal/views/{view}` and `/journal/stats`: what a journal holds, without counting as a look at it. */

const VIEWS = ['recent', 'core', 'learnings', 'tasks-active', 'tasks-completed'] as const satisfies readonly ViewName[];

export const ByView = Type.Object({ view: words([...VIEWS]) });

const Counts = Type.Record(Type.String(), Type.Integer());

export const ViewAnswer = named(
  'JournalView',
  Type.Object({
    view: words([...VIEWS]),
    generated_at: Time,
    count: Type.Integer(),
    total: Type.Integer({ description: 'How many there are; at most 1,000 are shown' }),
    memories: Type.Array(ref(EntryReport)),
    by_importance: Type.Optional({ ...Counts, description: 'Of core: how many of each importance' }),
    by_category: Type.Optional({ ...Counts, description: 'Of core: how many of each category' }),
    by_status: Type.Optional({ ...Counts, description: 'Of tasks: how many of each status' }),
    date_range: Type.Optional(Type.Object({ from: Time, to: Time }, { description: 'Of what lately was' })),
  }),
);

export function presentView({ name, entries, total, sinceMs, nowMs }: View): Static<typeof ViewAnswer> {
  const range = sinceMs === null ? {} : { date_range: { from: presentMoment(sinceMs), to: presentMoment(nowMs) } };
  return {
    view: name,
    generated_at: presentMoment(nowMs),
    count: entries.length,
    total,
    memories: entries.map(presentEntry),
    ...(name === 'core' && {
      by_importance: countBy(entries, ({ importance }) => importance, IMPORTANCES),
      by_category: countBy(entries, ({ category }) => category ?? ''),
    }),
    ...(name === 'tasks-active' && {
      by_status: countBy(entries, ({ task }) => task?.status ?? 'in-progress', TASK_STATUSES),
    }),
    ...range,
  };
}

function countBy(
  entries: readonly StoredEntry[],
  wordOf: (entry: StoredEntry) => string,
  all: readonly string[] = [],
): Record<string, number> {
  const counts = new Map(all.map((word) => [word, 0]));
  for (const entry of entries) counts.set(wordOf(entry), (counts.get(wordOf(entry)) ?? 0) + 1);
  return Object.fromEntries(counts);
}

const byWord = <Word extends string>(list: readonly Word[]) =>
  Type.Object(
    Object.fromEntries(list.map((word) => [word, Type.Integer()])) as Record<Word, ReturnType<typeof Type.Integer>>,
  );

const Index = (description: string) => Type.Record(Type.String(), Type.Array(Type.String()), { description });

export const JournalStats = named(
  'JournalStats',
  Type.Object({
    version: Type.String({ examples: ['1.0.0'] }),
    last_updated: nullable(Time),
    statistics: Type.Object({
      total_memories: Type.Integer({ description: 'Without those that were put away' }),
      by_type: byWord(ENTRY_TYPES),
      by_importance: byWord(IMPORTANCES),
      archived_count: Type.Integer(),
      total_storage_bytes: Type.Integer({ description: 'What all would take as lines of a file' }),
      oldest_memory: nullable(Time),
      newest_memory: nullable(Time),
      most_accessed: nullable(ref(EntryReport)),
      top_tags: Type.Array(Type.Object({ tag: Type.String(), count: Type.Integer() }), {
        description: 'The ten that the most have',
      }),
    }),
    tags_index: Index('The entries of each tag, oldest first'),
    category_index: Index('The entries of each category'),
    importance_index: Index('The entries of each importance'),
  }),
);

const orNull = (atMs: number | null): string | null => (atMs === null ? null : presentMoment(atMs));

export const presentStats = ({ counts, mostAccessed }: JournalCounts): Static<typeof JournalStats> => ({
  version: '1.0.0',
  last_updated: orNull(counts.lastUpdatedAtMs),
  statistics: {
    total_memories: Object.values(counts.byType).reduce((sum, count) => sum + count, 0),
    by_type: { ...counts.byType },
    by_importance: { ...counts.byImportance },
    archived_count: counts.archived,
    total_storage_bytes: counts.bytes,
    oldest_memory: orNull(counts.oldestAtMs),
    newest_memory: orNull(counts.newestAtMs),
    most_accessed: mostAccessed && presentEntry(mostAccessed),
    top_tags: counts.topTags.map(({ tag, count }) => ({ tag, count })),
  },
  tags_index: indexBy(counts.live, ({ tags }) => tags),
  category_index: indexBy(counts.live, ({ category }) => (category === null ? [] : [category])),
  importance_index: indexBy(counts.live, ({ importance }) => [importance], IMPORTANCES),
});

function indexBy(
  entries: JournalCounts['counts']['live'],
  wordsOf: (entry: JournalCounts['counts']['live'][number]) => readonly string[],
  all: readonly string[] = [],
): Record<string, string[]> {
  const index = new Map<string, string[]>(all.map((word) => [word, []]));
  for (const entry of entries) {
    for (const word of wordsOf(entry)) {
      const ids = index.get(word);
      if (ids) ids.push(entry.id);
      else index.set(word, [entry.id]);
    }
  }
  return Object.fromEntries(index);
}
