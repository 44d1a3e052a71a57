import Type, { type Static } from 'typebox';
import type { Depth } from '../domain/depth.js';
import { DEPTHS } from '../domain/depth.js';
import { FAILURE_CATEGORIES, TASK_TYPES } from '../domain/vocabulary.js';
import type { Recalled, RecallRequest, Recollection } from '../services/recall.js';
import type { Trace, TraceDirection } from '../services/trace.js';
import { AgentId } from './agents.js';
import { DepthWord, EpisodeId, EpisodeReport, presentEpisode, Tags } from './episodes.js';
import { ProjectId } from './projects.js';
import { named, ref, strict, withDefaults, words } from './schema.js';

/** `/episodes/recall` and `/episodes/{id}/trace`: what was tried before, and what led to what. */

const LIMIT_DEFAULT = 5;

export const RecallInput = named(
  'RecallRequest',
  strict(
    {
      project_id: Type.Optional(ProjectId),
      memory_id: Type.Optional(Type.String({ description: 'Exactly this one; nothing else is then asked' })),
      query: Type.Optional(Type.String({ minLength: 1, description: 'Plain words, anywhere in the episode' })),
      intent: Type.Optional(
        Type.String({ minLength: 1, description: 'What you are about to do: plain words that its goal must have' }),
      ),
      file: Type.Optional(
        Type.String({ minLength: 1, maxLength: 4_000, description: 'A path, the end of one, or a glob with * and **' }),
      ),
      task_type: Type.Optional(words([...TASK_TYPES])),
      agent_id: Type.Optional(AgentId),
      success_only: Type.Optional(Type.Boolean({ default: false, description: 'Goes before failures_only' })),
      failures_only: Type.Optional(Type.Boolean({ default: false })),
      failure_category: Type.Optional(words([...FAILURE_CATEGORIES])),
      tags: Type.Optional({ ...Tags, description: 'All of them' }),
      since: Type.Optional(Type.Integer({ minimum: 0, description: 'From this moment on, in milliseconds' })),
      before: Type.Optional(Type.Integer({ minimum: 0, description: 'Up to this moment, in milliseconds' })),
      include_archived: Type.Optional(Type.Boolean({ default: false })),
      limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 100, default: LIMIT_DEFAULT })),
      depth: Type.Optional(words([...DEPTHS], { ...DepthWord, default: 'summary' })),
      include_links: Type.Optional(Type.Boolean({ default: false, description: 'At the depths full and complete' })),
      max_tokens: Type.Optional(
        Type.Integer({
          minimum: 1,
          maximum: 1_000_000,
          description: 'Most tokens (o200k) of all episodes together: the last are shown less deeply, then left out',
        }),
      ),
      session_id: Type.Optional(Type.String({ description: 'The session that asks; its questions are counted' })),
    },
    {
      examples: [{ project_id: 'acme/shop', query: 'charged twice', failures_only: true, depth: 'outcome', limit: 3 }],
    },
  ),
);

export const toRecallRequest = (repoId: string, input: Static<typeof RecallInput>): RecallRequest => ({
  repoId,
  memoryId: input.memory_id ?? null,
  query: input.query ?? null,
  intent: input.intent ?? null,
  filter: {
    agentId: input.agent_id ?? null,
    sessionId: null,
    taskType: input.task_type ?? null,
    success: input.success_only ? true : input.failures_only ? false : null,
    failureCategory: input.failure_category ?? null,
    tags: input.tags ?? [],
    file: input.file ?? null,
    sinceMs: input.since ?? null,
    beforeMs: input.before ?? null,
    includeArchived: input.include_archived ?? false,
  },
  limit: input.limit ?? LIMIT_DEFAULT,
  depth: input.depth ?? 'summary',
  withLinks: input.include_links ?? false,
  tokensMax: input.max_tokens ?? null,
  askingSessionId: input.session_id ?? null,
});

/** As it is sent: this is what its tokens are counted of. */
export const showRecalled = ({ episode, links }: Recalled, depth: Depth): Static<typeof EpisodeReport> =>
  presentEpisode(episode, links, depth);

export const RecallAnswer = named(
  'RecallAnswer',
  Type.Object({
    memories: Type.Array(
      Type.Object({
        memory: ref(EpisodeReport),
        score: Type.Number({ description: 'Higher is better; relevance, moved by importance' }),
        depth: DepthWord,
        tokens: Type.Integer({ description: 'Of this memory, as it is shown' }),
      }),
      { description: 'Best first' },
    ),
    query_strategy_used: words(['direct', 'query', 'file', 'filter']),
    confidence: Type.Number({ description: 'The best score, at most 1; 0 when there is nothing' }),
    total_matches: Type.Integer({
      description: 'How many fit, before the limit; a part of them where complete is false',
    }),
    complete: Type.Boolean({ description: 'False when there were so many that the rest was not weighed' }),
    token_count: Type.Integer({ description: 'Of all memories together, as they are shown' }),
  }),
);

export const presentRecollection = (recollection: Recollection): Static<typeof RecallAnswer> => ({
  memories: recollection.recalled.map(({ item, depth, tokens }) => ({
    memory: showRecalled(item, depth),
    score: item.score,
    depth,
    tokens,
  })),
  query_strategy_used: recollection.strategy,
  confidence: Math.min(1, recollection.recalled[0]?.item.score ?? 0),
  total_matches: recollection.matches,
  complete: recollection.isComplete,
  token_count: recollection.tokens,
});

export const TraceQuery = withDefaults({
  repo_id: Type.String({ minLength: 1, default: 'default', description: 'The project to look in' }),
  direction: words(['causes', 'effects', 'both'], { default: 'both' }),
  max_depth: Type.Integer({ minimum: 1, maximum: 20, default: 3 }),
  depth: words([...DEPTHS], { ...DepthWord, default: 'summary' }),
});

export const toDirection = (word: string): TraceDirection => word as TraceDirection;

export const TraceAnswer = named(
  'EpisodeTrace',
  Type.Object({
    origin: ref(EpisodeReport),
    chain: Type.Array(
      Type.Object({
        memory: ref(EpisodeReport),
        relationship: words(['caused_by', 'led_to'], { description: 'From the origin on' }),
        distance: Type.Integer({ minimum: 1 }),
        from_id: EpisodeId,
      }),
      { description: 'Causes first, then effects; nearest first' },
    ),
    total_nodes: Type.Integer({ description: 'Shown here, with the origin; at most 1,000' }),
    complete: Type.Boolean({
      description:
        'False when more may be within max_depth than these, or when one has more than 2,000 causes and effects',
    }),
  }),
);

export const presentTrace = ({ origin, chain, isComplete }: Trace, depth: Depth): Static<typeof TraceAnswer> => ({
  origin: presentEpisode(origin, null, depth),
  chain: chain.map(({ episode, relationship, distance, fromId }) => ({
    memory: presentEpisode(episode, null, depth),
    relationship,
    distance,
    from_id: fromId,
  })),
  total_nodes: chain.length + 1,
  complete: isComplete,
});
