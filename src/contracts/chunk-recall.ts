import Type, { type Static } from 'typebox';
import { CHUNK_TYPES } from '../domain/chunk-types.js';
import { FORMS } from '../domain/forms.js';
import { ANALYSES } from '../domain/reasoning.js';
import type { ChunkLinks } from '../services/chunk-links.js';
import type { Reasoning, ReasonRequest } from '../services/chunk-reasoning.js';
import type { ChunkQuestion, ChunkRecollection } from '../services/chunk-recall.js';
import type { Remembered } from '../services/remembering.js';
import { ChunkId, ChunkReport, ConversationId, presentChunk, toChunkFilter } from './chunks.js';
import { named, nullable, ref, strict, words } from './schema.js';
import { Confidence, Time } from './shared.js';

/** `/chunks/remember`, `/chunks/recall` and `/chunks/reason`. */

export const RememberAnswer = named(
  'ChunksRemembered',
  Type.Object({
    chunk_ids: Type.Array(ChunkId, { description: 'In the order of the text' }),
    chunks_created: Type.Integer(),
    total_tokens: Type.Integer(),
  }),
);

export const presentRemembered = ({ chunkIds, tokens }: Remembered): Static<typeof RememberAnswer> => ({
  chunk_ids: [...chunkIds],
  chunks_created: chunkIds.length,
  total_tokens: tokens,
});

const QUERY_EXAMPLE = 'which database do we use';
const FILTER = {
  conversation_id: Type.Optional(ConversationId),
  tags: Type.Optional(Type.Array(Type.String({ minLength: 1 }), { uniqueItems: true, description: 'All of them' })),
  type: Type.Optional(words([...CHUNK_TYPES])),
  created_after: Type.Optional({ ...Time, description: 'From this moment on' }),
  created_before: Type.Optional({ ...Time, description: 'Up to this moment, which belongs to it' }),
};
const CONFIDENCE_MIN_DEFAULT = 0.5;
const LIMIT_DEFAULT = 5;

export const ChunkRecallInput = named(
  'ChunkRecallRequest',
  strict(
    {
      query: Type.String({ minLength: 1, description: 'Plain words' }),
      ...FILTER,
      min_confidence: Type.Optional(Type.Number({ ...Confidence, default: CONFIDENCE_MIN_DEFAULT })),
      include_archived: Type.Optional(Type.Boolean({ default: false })),
      max_results: Type.Optional(Type.Integer({ minimum: 1, maximum: 100, default: LIMIT_DEFAULT })),
      neighbours: Type.Optional(
        Type.Integer({
          minimum: 0,
          maximum: 5,
          default: 0,
          description: 'How many chunks before and after each hit are shown with it',
        }),
      ),
      max_tokens: Type.Optional(
        Type.Integer({ minimum: 1, maximum: 1_000_000, description: 'Most tokens (o200k) of all texts together' }),
      ),
    },
    { examples: [{ query: QUERY_EXAMPLE, conversation_id: 'conv-123', max_results: 3, neighbours: 1 }] },
  ),
);

export const toChunkQuestion = (repoId: string, input: Static<typeof ChunkRecallInput>): ChunkQuestion => ({
  repoId,
  query: input.query,
  filter: toChunkFilter(input, input.tags ?? [], CONFIDENCE_MIN_DEFAULT),
  limit: input.max_results ?? LIMIT_DEFAULT,
  neighbours: input.neighbours ?? 0,
  tokensMax: input.max_tokens ?? null,
});

const Neighbours = Type.Array(ref(ChunkReport), { description: 'In the order in which they were said' });

export const ChunkRecallAnswer = named(
  'ChunkRecollection',
  Type.Object({
    results: Type.Array(
      Type.Object({
        chunk: ref(ChunkReport),
        score: Type.Number(),
        matched: Type.Object({
          terms: Type.Array(Type.String(), {
            description: 'The words of the question that it holds, as they are indexed',
          }),
          tags: Type.Array(Type.String()),
          phrase: Type.Boolean({ description: 'Whether it holds the question word for word' }),
        }),
        before: Neighbours,
        after: Neighbours,
      }),
      { description: 'Best first' },
    ),
    confidence: Type.Number({
      description: 'How sure the chunks are, better matches counting for more; 0 without any',
    }),
    corrected: Type.Array(Type.Object({ term: Type.String(), to: Type.String() }), {
      description: 'Words that are written nowhere, with what was looked for instead',
    }),
    total_matches: Type.Integer({
      description: 'How many fit, before the limit; a part of them where complete is false',
    }),
    complete: Type.Boolean({ description: 'False when there were so many that the rest was not weighed' }),
    token_count: Type.Integer({ description: 'Of all texts that are shown' }),
  }),
);

export const presentRecalled = (
  { recalled, confidence, corrected, matches, isComplete, tokens }: ChunkRecollection,
  links: ReadonlyMap<string, ChunkLinks>,
): Static<typeof ChunkRecallAnswer> => {
  const present = (chunk: Parameters<typeof presentChunk>[0]) => presentChunk(chunk, links.get(chunk.id));
  return {
    results: recalled.map(({ chunk, score, matched, before, after }) => ({
      chunk: present(chunk),
      score,
      matched: { terms: [...matched.terms], tags: [...matched.tags], phrase: matched.phrase },
      before: before.map(present),
      after: after.map(present),
    })),
    confidence,
    corrected: [...corrected].map(([term, to]) => ({ term, to })),
    total_matches: matches,
    complete: isComplete,
    token_count: tokens,
  };
};

export const ReasonInput = named(
  'ChunkReasonRequest',
  strict(
    {
      query: Type.Optional(
        Type.String({ minLength: 1, description: 'Plain words; the ten best matches are the evidence' }),
      ),
      chunk_ids: Type.Optional(
        Type.Array(ChunkId, { minItems: 1, maxItems: 100, uniqueItems: true, description: 'The evidence, by name' }),
      ),
      conversation_id: FILTER.conversation_id,
      analysis_type: Type.Optional(
        words([...ANALYSES], {
          default: 'synthesis',
          description:
            'synthesis: what is known, surest first; comparison: what they share and where they differ; pattern: what recurs; gap: what is unsure or stands alone',
        }),
      ),
    },
    {
      description: 'A query, chunk_ids, or both: then the ids are the evidence',
      examples: [
        { query: QUERY_EXAMPLE, analysis_type: 'synthesis' },
        { chunk_ids: [FORMS.chunk.idExample], analysis_type: 'gap' },
      ],
    },
  ),
);

export const toReasonRequest = (repoId: string, input: Static<typeof ReasonInput>): ReasonRequest => ({
  repoId,
  query: input.query ?? null,
  chunkIds: input.chunk_ids ?? null,
  conversationId: input.conversation_id ?? null,
  analysis: input.analysis_type ?? 'synthesis',
});

export const ReasonAnswer = named(
  'ChunkReasoning',
  Type.Object({
    analysis_type: words([...ANALYSES]),
    synthesis: Type.String({ description: 'Taken from the evidence, in its words' }),
    insights: Type.Array(Type.Object({ text: Type.String(), source_chunks: Type.Array(ChunkId) })),
    evidence: Type.Array(Type.Object({ chunk_id: ChunkId, content: Type.String(), confidence: Confidence }), {
      description: 'Surest first',
    }),
    contradictions: Type.Array(
      Type.Object({
        kind: words(['explicit', 'potential_preference_conflict', 'negation_conflict'], {
          description: 'explicit: somebody linked them so; the others are guesses from their words',
        }),
        chunk_ids: Type.Array(ChunkId),
        tag: nullable(Type.String(), 'The tag that both have; null where somebody linked them'),
      }),
    ),
    confidence: Type.Number({ description: 'Never above the mean of the evidence; 0 without any' }),
  }),
);

export const presentReasoning = ({ analysis, evidence, reasoned }: Reasoning): Static<typeof ReasonAnswer> => ({
  analysis_type: analysis,
  synthesis: reasoned.synthesis,
  insights: reasoned.insights.map(({ text, sourceIds }) => ({ text, source_chunks: [...sourceIds] })),
  evidence: evidence.map(({ id, content, confidence }) => ({ chunk_id: id, content, confidence })),
  contradictions: reasoned.contradictions.map(({ kind, ids, tag }) => ({ kind, chunk_ids: [...ids], tag })),
  confidence: reasoned.confidence,
});
