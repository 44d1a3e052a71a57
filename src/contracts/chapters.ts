import Type, { type Static } from 'typebox';
import type { CitedLine } from '../domain/citations.js';
import { FORMS } from '../domain/forms.js';
import { type ChapterDetail, SUMMARY_ORIGINS } from '../domain/narratives.js';
import type {
  Chapter,
  ChapterDraft,
  NarrativeFilter,
  NarrativeOrder,
  NarrativePage,
  NarrativePlace,
  StoredNarrative,
} from '../services/chapters.js';
import type { Detected, Detection } from '../services/detection.js';
import type { StoredEpisode } from '../services/episodes.js';
import { Milliseconds } from './agents.js';
import { presentCursor, toPlace } from './cursor.js';
import { EpisodeId, EpisodeReport, presentEpisode, Tags } from './episodes.js';
import { ProjectId } from './projects.js';
import { named, nullable, ref, strict, withDefaults, words } from './schema.js';
import { TagsQuery, toTags } from './tags.js';

/** `/chapters`: episodes told together. Times are milliseconds. */

export const ChapterId = Type.String({ description: 'Id of a chapter', examples: [FORMS.chapter.idExample] });
const Title = Type.String({ minLength: 1, maxLength: 500 });
const ORIGINS = Object.keys(FORMS.chapter.kinds) as ('manual' | 'auto')[];

export const Cited = named(
  'CitedLine',
  Type.Object({
    text: Type.String(),
    source_ids: Type.Array(Type.String(), { description: 'What the line was taken from, word for word' }),
  }),
);

export const presentLines = (lines: readonly CitedLine[]): Static<typeof Cited>[] =>
  lines.map(({ text, sourceIds }) => ({ text, source_ids: [...sourceIds] }));

export const ChapterInput = named(
  'ChapterInput',
  strict(
    {
      project_id: Type.Optional(ProjectId),
      title: Type.Optional(Title),
      memory_ids: Type.Array(EpisodeId, { minItems: 1, maxItems: 1_000, uniqueItems: true }),
      tags: Type.Optional(Tags),
      topics: Type.Optional(Tags),
    },
    { examples: [{ project_id: 'acme/shop', title: 'Payments in January', memory_ids: [FORMS.episode.idExample] }] },
  ),
);

export const toChapterDraft = (input: Static<typeof ChapterInput>): ChapterDraft => ({
  title: input.title ?? null,
  memoryIds: input.memory_ids,
  tags: input.tags ?? [],
  topics: input.topics ?? [],
});

export const SummaryOriginWord = words([...SUMMARY_ORIGINS], {
  description: 'extract: taken word for word from the sources; model: worded by the configured summarizer',
});

export const ChapterReport = named(
  'Chapter',
  Type.Object({
    id: ChapterId,
    project_id: ProjectId,
    created_at: Milliseconds,
    updated_at: Milliseconds,
    title: nullable(Type.String()),
    summary: Type.String(),
    summary_origin: SummaryOriginWord,
    learnings: Type.Array(Type.String(), { description: 'Most often learned first' }),
    start_ts: Milliseconds,
    end_ts: Milliseconds,
    tags: Type.Array(Type.String()),
    topics: Type.Array(Type.String()),
    origin: words(ORIGINS),
    memory_count: Type.Integer(),
    memory_ids: Type.Array(EpisodeId, { description: 'Oldest first' }),
    sources: Type.Object(
      { summary: Type.Array(ref(Cited)), learnings: Type.Array(ref(Cited)) },
      { description: 'Every line, with the episodes that it was taken from' },
    ),
    archived_at: nullable(Milliseconds),
    memories: Type.Optional(
      Type.Array(ref(EpisodeReport), { description: 'In their order, in short; archived ones are left out' }),
    ),
  }),
);
type ChapterReport = Static<typeof ChapterReport>;

export function presentChapter({ narrative, memberIds }: Chapter, episodes?: readonly StoredEpisode[]): ChapterReport {
  const { title, startMs, endMs, text } = narrative.detail as ChapterDetail;
  return {
    ...presentNarrative(narrative),
    title,
    summary: text.summary,
    summary_origin: text.summaryOrigin,
    learnings: text.learnings.map((line) => line.text),
    start_ts: startMs,
    end_ts: endMs,
    tags: [...text.tags],
    topics: [...text.topics],
    origin: narrative.kind as ChapterReport['origin'],
    memory_count: memberIds.length,
    memory_ids: [...memberIds],
    sources: { summary: presentLines(text.summaryLines), learnings: presentLines(text.learnings) },
    ...(episodes && { memories: episodes.map((episode) => presentEpisode(episode, null, 'summary')) }),
  };
}

export const presentNarrative = (narrative: StoredNarrative) => ({
  id: narrative.id,
  project_id: narrative.repoId,
  created_at: narrative.createdAtMs,
  updated_at: narrative.updatedAtMs,
  archived_at: narrative.archivedAtMs,
});

export const ByChapter = Type.Object({ chapter_id: ChapterId });

export const ChapterPatch = named(
  'ChapterPatch',
  strict(
    { project_id: Type.Optional(ProjectId), title: nullable(Title, 'Null takes it away') },
    { examples: [{ project_id: 'acme/shop', title: 'The winter of payments' }] },
  ),
);

const IN_REPO = {
  repo_id: Type.String({ minLength: 1, default: 'default', description: 'The project to look in' }),
};

export const NarrativeDeletion = withDefaults({
  ...IN_REPO,
  permanent: Type.Boolean({ default: false, description: 'Remove it for good; what it was made of stays' }),
});

export const NarrativeDeleted = named(
  'NarrativeDeleted',
  Type.Object({ id: Type.String(), purged: Type.Boolean({ description: 'Whether it is gone for good' }) }),
);

export const NARRATIVES_QUERY = {
  ...IN_REPO,
  tags: TagsQuery,
  since: Type.Optional(Type.Integer({ minimum: 0, description: 'Begun at this moment or later, in milliseconds' })),
  before: Type.Optional(Type.Integer({ minimum: 0, description: 'Over before this moment, in milliseconds' })),
  include_archived: Type.Boolean({ default: false }),
  limit: Type.Integer({ minimum: 1, maximum: 100, default: 20 }),
  cursor: Type.Optional(Type.String({ description: 'next_cursor of the previous page' })),
};

export const ChaptersQuery = withDefaults({
  ...NARRATIVES_QUERY,
  origin: Type.Optional(words(ORIGINS)),
  sort: words(['recent', 'start'], { default: 'recent', description: 'By when it was made, or by when it begins' }),
});

export const toNarrativeFilter = (
  form: NarrativeFilter['form'],
  query: { tags?: string[]; since?: number; before?: number; include_archived: boolean; origin?: string },
): NarrativeFilter => ({
  form,
  key: null,
  kind: query.origin ?? null,
  tags: toTags(query.tags),
  sinceMs: query.since ?? null,
  beforeMs: query.before ?? null,
  includeArchived: query.include_archived,
});

export function toNarrativePlace(cursor: string | undefined, order: NarrativeOrder): NarrativePlace | null {
  const place = toPlace(
    cursor,
    (value): value is readonly [string, number, number] =>
      value.length === 3 && value[0] === order && value.slice(1).every((part) => Number.isFinite(part)),
  );
  return place && { value: place[1], seq: place[2] };
}

export const presentNext = (next: NarrativePlace | null, order: NarrativeOrder): string | null =>
  next && presentCursor([order, next.value, next.seq]);

export const NextCursor = nullable(Type.String(), 'Where the next page begins; null on the last');

export const ChaptersAnswer = named(
  'ChapterPage',
  Type.Object({ chapters: Type.Array(ref(ChapterReport)), next_cursor: NextCursor }),
);

export const presentChapters = (
  { narratives, next }: NarrativePage,
  order: NarrativeOrder,
): Static<typeof ChaptersAnswer> => ({
  chapters: narratives.map((chapter) => presentChapter(chapter)),
  next_cursor: presentNext(next, order),
});

const HOUR_MS = 3_600_000;

export const DetectInput = named(
  'ChapterDetection',
  strict(
    {
      project_id: Type.Optional(ProjectId),
      since: Type.Optional(Type.Integer({ minimum: 0, description: 'Only episodes from this moment on' })),
      before: Type.Optional(Type.Integer({ minimum: 0, description: 'Only episodes before this moment' })),
      tags: Type.Optional({ ...Tags, description: 'Only episodes with all of these' }),
      min_memories: Type.Optional(Type.Integer({ minimum: 2, maximum: 1_000, default: 3 })),
      gap_hours: Type.Optional(
        Type.Number({
          exclusiveMinimum: 0,
          maximum: 8_760,
          default: 4,
          description: 'A longer pause ends a stretch of work',
        }),
      ),
      limit: Type.Optional(
        Type.Integer({
          minimum: 1,
          maximum: 10_000,
          default: 5_000,
          description: 'Look at the newest so many episodes',
        }),
      ),
      dry_run: Type.Optional(
        Type.Boolean({ default: false, description: 'Say what would happen, and change nothing' }),
      ),
    },
    { examples: [{ project_id: 'acme/shop', min_memories: 3, dry_run: true }] },
  ),
);

export const toDetection = (input: Static<typeof DetectInput>): Detection => ({
  filter: {
    agentId: null,
    sessionId: null,
    taskType: null,
    success: null,
    failureCategory: null,
    tags: input.tags ?? [],
    file: null,
    sinceMs: input.since ?? null,
    beforeMs: input.before ?? null,
    includeArchived: false,
  },
  episodesMin: input.min_memories ?? 3,
  gapMs: (input.gap_hours ?? 4) * HOUR_MS,
  episodesMax: input.limit ?? 5_000,
});

export const DetectAnswer = named(
  'ChaptersDetected',
  Type.Object({
    applied: Type.Boolean({ description: 'False for a dry run: nothing was changed' }),
    created: Type.Integer(),
    updated: Type.Integer(),
    unchanged: Type.Integer(),
    dismissed: Type.Integer(),
    archived: Type.Integer(),
    chapters: Type.Array(
      Type.Object({
        action: words(['created', 'updated', 'unchanged', 'dismissed', 'archived'], {
          description:
            'dismissed: somebody put the chapter into the archive, and it stays there; archived: nothing that another does not tell is left of it',
        }),
        chapter_id: nullable(ChapterId, 'Null where a dry run would make one'),
        basis: words(['tag', 'task_type', 'work'], { description: 'What its episodes have in common' }),
        title: nullable(Type.String(), 'As the chapter is called, or would be'),
        memory_ids: Type.Array(EpisodeId),
      }),
    ),
  }),
);

export const presentDetected = (detected: readonly Detected[], dryRun: boolean): Static<typeof DetectAnswer> => {
  const count = (action: Detected['action']): number => detected.filter((one) => one.action === action).length;
  return {
    applied: !dryRun,
    created: count('created'),
    updated: count('updated'),
    unchanged: count('unchanged'),
    dismissed: count('dismissed'),
    archived: count('archived'),
    chapters: detected.map(({ action, chapterId, basis, title, memberIds }) => ({
      action,
      chapter_id: chapterId,
      basis,
      title,
      memory_ids: [...memberIds],
    })),
  };
};
