import Type, { type Static } from 'typebox';
import { FORMS } from '../domain/forms.js';
import type { WisdomDetail } from '../domain/narratives.js';
import type { NarrativeFilter, NarrativePage } from '../services/chapters.js';
import type { RecalledWisdom, Synthesis, Synthesized, Wisdom } from '../services/wisdom.js';
import { Milliseconds } from './agents.js';
import {
  ChapterId,
  Cited,
  NARRATIVES_QUERY,
  NextCursor,
  presentLines,
  presentNarrative,
  presentNext,
  SummaryOriginWord,
} from './chapters.js';
import { Tags } from './episodes.js';
import { ProjectId } from './projects.js';
import { named, nullable, ref, strict, withDefaults, words } from './schema.js';

/** `/wisdom`: what many chapters have in common. Times are milliseconds. */

const WisdomId = Type.String({ description: 'Id of a wisdom', examples: [FORMS.wisdom.idExample] });
const Lines = Type.Array(Type.String());

export const WisdomReport = named(
  'Wisdom',
  Type.Object({
    id: WisdomId,
    project_id: ProjectId,
    created_at: Milliseconds,
    updated_at: Milliseconds,
    summary: Type.String(),
    summary_origin: SummaryOriginWord,
    insights: Type.Array(Type.String(), { description: 'What was learned, each once, most often learned first' }),
    patterns: Type.Array(Type.String(), { description: 'Tags and topics of at least two chapters, commonest first' }),
    best_practices: Type.Array(Type.String(), { description: 'The insights that advise' }),
    tags: Lines,
    start_ts: Milliseconds,
    end_ts: Milliseconds,
    chapter_ids: Type.Array(ChapterId),
    sources: Type.Object(
      {
        summary: Type.Array(ref(Cited)),
        insights: Type.Array(ref(Cited)),
        patterns: Type.Array(
          Type.Object({ text: Type.String(), count: Type.Integer(), source_ids: Type.Array(ChapterId) }),
        ),
        best_practices: Type.Array(ref(Cited)),
      },
      { description: 'Every line, with the chapters that it was taken from' },
    ),
    archived_at: nullable(Milliseconds),
  }),
);

export function presentWisdom({ narrative, memberIds }: Wisdom): Static<typeof WisdomReport> {
  const { startMs, endMs, text } = narrative.detail as WisdomDetail;
  return {
    ...presentNarrative(narrative),
    summary: text.summary,
    summary_origin: text.summaryOrigin,
    insights: text.insights.map((line) => line.text),
    patterns: text.patterns.map((line) => line.text),
    best_practices: text.bestPractices.map((line) => line.text),
    tags: [...text.tags],
    start_ts: startMs,
    end_ts: endMs,
    chapter_ids: [...memberIds],
    sources: {
      summary: presentLines(text.summaryLines),
      insights: presentLines(text.insights),
      patterns: text.patterns.map((line) => ({
        text: line.text,
        count: line.count,
        source_ids: [...line.sourceIds],
      })),
      best_practices: presentLines(text.bestPractices),
    },
  };
}

export const ByWisdom = Type.Object({ wisdom_id: WisdomId });

export const SynthesizeInput = named(
  'WisdomSynthesis',
  strict(
    {
      project_id: Type.Optional(ProjectId),
      chapter_ids: Type.Optional(
        Type.Array(ChapterId, {
          minItems: 1,
          maxItems: 500,
          uniqueItems: true,
          description: 'Of exactly these; the filter below is then not asked',
        }),
      ),
      since: Type.Optional(Type.Integer({ minimum: 0, description: 'Chapters begun at this moment or later' })),
      before: Type.Optional(Type.Integer({ minimum: 0, description: 'Chapters over before this moment' })),
      tags: Type.Optional({ ...Tags, description: 'Chapters with all of these' }),
      min_chapters: Type.Optional(Type.Integer({ minimum: 1, maximum: 500, default: 2 })),
      dry_run: Type.Optional(
        Type.Boolean({ default: false, description: 'Say what would happen, and change nothing' }),
      ),
    },
    { examples: [{ project_id: 'acme/shop', chapter_ids: [FORMS.chapter.idExample] }] },
  ),
);

export const toSynthesis = (input: Static<typeof SynthesizeInput>): Synthesis => ({
  chapterIds: input.chapter_ids ?? null,
  filter: {
    form: 'chapter',
    key: null,
    kind: null,
    tags: input.tags ?? [],
    sinceMs: input.since ?? null,
    beforeMs: input.before ?? null,
    includeArchived: false,
  },
  chaptersMin: input.min_chapters ?? 2,
});

export const SynthesizeAnswer = named(
  'WisdomSynthesized',
  Type.Object({
    applied: Type.Boolean({ description: 'False for a dry run: nothing was changed' }),
    action: words(['created', 'updated', 'unchanged']),
    wisdom: nullable(ref(WisdomReport), 'As it stands; null after a dry run that would make one'),
    chapter_ids: Type.Array(ChapterId, { description: 'What it is made of, or would be' }),
    complete: Type.Boolean({ description: 'False when more than 500 chapters fit: the newest were taken' }),
  }),
);

export const presentSynthesized = (
  { action, wisdom, narration, isComplete }: Synthesized,
  dryRun: boolean,
): Static<typeof SynthesizeAnswer> => ({
  applied: !dryRun,
  action,
  wisdom: wisdom && presentWisdom(wisdom),
  chapter_ids: [...narration.memberIds],
  complete: isComplete,
});

export const WisdomQuery = withDefaults(NARRATIVES_QUERY);

export const WisdomsAnswer = named(
  'WisdomPage',
  Type.Object({ wisdom: Type.Array(ref(WisdomReport)), next_cursor: NextCursor }),
);

export const presentWisdoms = ({ narratives, next }: NarrativePage): Static<typeof WisdomsAnswer> => ({
  wisdom: narratives.map(presentWisdom),
  next_cursor: presentNext(next, 'recent'),
});

export const WisdomRecallInput = named(
  'WisdomRecall',
  strict(
    {
      project_id: Type.Optional(ProjectId),
      query: Type.String({ minLength: 1, description: 'Plain words; there is no query syntax' }),
      tags: Type.Optional({ ...Tags, description: 'All of them' }),
      since: Type.Optional(Type.Integer({ minimum: 0 })),
      before: Type.Optional(Type.Integer({ minimum: 0 })),
      limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 50, default: 5 })),
    },
    { examples: [{ project_id: 'acme/shop', query: 'retrying payments', limit: 3 }] },
  ),
);

export const toWisdomFilter = (input: Static<typeof WisdomRecallInput>): NarrativeFilter => ({
  form: 'wisdom',
  key: null,
  kind: null,
  tags: input.tags ?? [],
  sinceMs: input.since ?? null,
  beforeMs: input.before ?? null,
  includeArchived: false,
});

export const WisdomRecallAnswer = named(
  'WisdomRecallAnswer',
  Type.Object({
    results: Type.Array(
      Type.Object({ wisdom: ref(WisdomReport), score: Type.Number({ description: 'Higher is better' }) }),
      { description: 'Best first' },
    ),
  }),
);

export const presentRecalledWisdom = (found: readonly RecalledWisdom[]): Static<typeof WisdomRecallAnswer> => ({
  results: found.map((one) => ({ wisdom: presentWisdom(one), score: one.score })),
});
