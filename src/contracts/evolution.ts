import Type, { type Static } from 'typebox';
import { CONFIDENCE_TRIGGERS, TIERS } from '../domain/vocabulary.js';
import type { ConfidenceHistory, Decayed, DecaySettings } from '../services/evolution.js';
import type { EvolutionFilter, LogPage, LogPlace } from '../services/evolution-log.js';
import type { Evolved } from '../services/evolving.js';
import { presentCursor, toPlace } from './cursor.js';
import { EXAMPLE_NODE_ID, NodeId } from './nodes.js';
import { named, nullable, strict, withDefaults, words } from './schema.js';

/** How nodes move between tiers and gain or lose confidence, and the log of all of it. */

const DryRun = Type.Boolean({ default: false, description: 'Say what would happen, and change nothing' });
const EdgeWeight = Type.Object({ edge_id: Type.String(), weight: Type.Number() });

export const ConsolidateRequest = named(
  'ConsolidateRequest',
  strict(
    {
      task_id: Type.String({ minLength: 1, description: 'The task that is done' }),
      dry_run: Type.Optional(DryRun),
    },
    { examples: [{ task_id: 'fix-checkout', dry_run: true }] },
  ),
);

export const PromoteRequest = named(
  'PromoteRequest',
  Type.Unsafe<PromoteRequest>({
    type: 'object',
    discriminator: { propertyName: 'of' },
    required: ['of'],
    oneOf: [
      strict({
        of: Type.Literal('session'),
        session_id: Type.String({ minLength: 1, description: 'The session that is over' }),
        threshold: Type.Optional(
          Type.Number({ minimum: 0, maximum: 1, default: 0.8, description: 'The least confidence that goes up' }),
        ),
        dry_run: Type.Optional(DryRun),
      }),
      strict({
        of: Type.Literal('node'),
        node_id: NodeId,
        tier: Type.Optional(words(['session', 'longterm'], { description: 'Where to; one step up if left out' })),
        dry_run: Type.Optional(DryRun),
      }),
    ],
    examples: [
      { of: 'session', session_id: 's-2026-01-31' },
      { of: 'node', node_id: EXAMPLE_NODE_ID, tier: 'longterm' },
    ],
  }),
);
export type PromoteRequest =
  | { of: 'session'; session_id: string; threshold?: number; dry_run?: boolean }
  | { of: 'node'; node_id: string; tier?: 'session' | 'longterm'; dry_run?: boolean };

export const THRESHOLD_DEFAULT = 0.8;

export const EvolvedAnswer = named(
  'Evolved',
  Type.Object({
    applied: Type.Boolean({ description: 'False for a dry run: nothing was changed' }),
    promoted_node_ids: Type.Array(NodeId),
    merged: Type.Array(Type.Object({ node_id: NodeId, into_node_id: NodeId }), {
      description: 'Archived, because another says the same',
    }),
    strengthened: Type.Array(EdgeWeight, { description: 'Edges between nodes that were used' }),
    relinked: Type.Array(Type.Object({ edge_id: Type.String(), node_ids: Type.Array(NodeId) }), {
      description: 'Edges of merged nodes that were drawn again, and whom the new ones join; edge_id names the old one',
    }),
    summaries: Type.Array(
      Type.Object({
        node_id: nullable(NodeId, 'The new fact; null for a dry run'),
        source_node_ids: Type.Array(NodeId),
      }),
      { description: 'New facts that say in short what their sources say' },
    ),
    summary_node_ids: Type.Array(NodeId, { description: 'The ids of the summaries; empty for a dry run' }),
  }),
);

export const presentEvolved = (evolved: Evolved, dryRun: boolean): Static<typeof EvolvedAnswer> => ({
  applied: !dryRun,
  promoted_node_ids: [...evolved.promotedIds],
  merged: evolved.merged.map(({ id, keeperId }) => ({ node_id: id, into_node_id: keeperId })),
  strengthened: evolved.strengthened.map(({ edgeId, weight }) => ({ edge_id: edgeId, weight })),
  relinked: evolved.relinked.map(({ edgeId, nodeIds }) => ({ edge_id: edgeId, node_ids: [...nodeIds] })),
  summaries: evolved.summaries.map(({ id, sourceIds }) => ({
    node_id: dryRun ? null : id,
    source_node_ids: [...sourceIds],
  })),
  summary_node_ids: dryRun ? [] : evolved.summaries.map(({ id }) => id),
});

const FACTOR_DEFAULT = 0.95;
const MIN_CONFIDENCE_DEFAULT = 0.3;

export const DecayRequest = named(
  'DecayRequest',
  strict(
    {
      factor: Type.Optional(
        Type.Number({
          exclusiveMinimum: 0,
          maximum: 1,
          default: FACTOR_DEFAULT,
          description: 'What a day without a look leaves of the confidence',
        }),
      ),
      min_confidence: Type.Optional(
        Type.Number({
          minimum: 0,
          maximum: 1,
          default: MIN_CONFIDENCE_DEFAULT,
          description: 'Below it, into the archive',
        }),
      ),
      dry_run: Type.Optional(DryRun),
    },
    { examples: [{ dry_run: true }] },
  ),
);

export const toDecaySettings = (request: Static<typeof DecayRequest>): DecaySettings => ({
  factor: request.factor ?? FACTOR_DEFAULT,
  minConfidence: request.min_confidence ?? MIN_CONFIDENCE_DEFAULT,
});

export const DecayAnswer = named(
  'Decayed',
  Type.Object({
    applied: Type.Boolean({ description: 'False for a dry run: nothing was changed' }),
    examined: Type.Integer(),
    decayed: Type.Integer({ description: 'Nodes that lost confidence and stay' }),
    archived: Type.Integer({ description: 'Nodes that lost so much that they went to the archive' }),
    nodes: Type.Array(
      Type.Object({ node_id: NodeId, from: Type.Number(), to: Type.Number(), archived: Type.Boolean() }),
      { description: 'The first 1,000 of them' },
    ),
  }),
);

export const presentDecayed = (decayed: Decayed, dryRun: boolean): Static<typeof DecayAnswer> => ({
  applied: !dryRun,
  examined: decayed.examined,
  decayed: decayed.decayed,
  archived: decayed.archived,
  nodes: decayed.nodes.map(({ id, ...change }) => ({ node_id: id, ...change })),
});

export const EvolutionQuery = withDefaults({
  repo_id: Type.String({ minLength: 1, default: 'default', description: 'The repo to look from' }),
  node: Type.Optional(
    Type.String({
      description:
        'Only what concerned this node; of a global one what this repo did with it, and what is in the log of all',
    }),
  ),
  operation: Type.Optional(
    Type.String({
      description: 'Only lines of this operation; of edges link:, unlink: or relink: with the label',
      examples: ['tier_transition'],
    }),
  ),
  since: Type.Optional(Type.Integer({ minimum: 0, description: 'From this moment on, in milliseconds' })),
  before: Type.Optional(
    Type.Integer({ minimum: 0, description: 'Up to this moment and without it, in milliseconds; later than since' }),
  ),
  limit: Type.Integer({ minimum: 1, maximum: 500, default: 100 }),
  cursor: Type.Optional(Type.String({ description: 'next_cursor of the previous page' })),
});

export const toEvolutionFilter = (query: Static<typeof EvolutionQuery>): EvolutionFilter => ({
  nodeId: query.node ?? null,
  operation: query.operation ?? null,
  sinceMs: query.since ?? null,
  beforeMs: query.before ?? null,
});

export function toLogPlace(cursor: string | undefined): LogPlace | null {
  const place = toPlace(
    cursor,
    (value): value is readonly [number, number] =>
      value.length === 2 && value.every((part) => Number.isSafeInteger(part) && (part as number) >= 0),
  );
  return place && { repo: place[0], global: place[1] };
}

export const EvolutionAnswer = named(
  'EvolutionPage',
  Type.Object({
    entries: Type.Array(
      Type.Object({
        at: Type.Integer({ description: 'UTC, in milliseconds' }),
        operation: Type.String(),
        node_ids: Type.Array(NodeId),
        from_tier: nullable(words([...TIERS])),
        to_tier: nullable(words([...TIERS])),
        reasoning: nullable(Type.String()),
      }),
      { description: 'Newest first' },
    ),
    next_cursor: nullable(
      Type.String(),
      'Where the next page begins; null at the beginning of the log. A page may hold fewer than the limit, even none, and yet not be the last.',
    ),
  }),
);

export const presentEvolution = ({ entries, next }: LogPage): Static<typeof EvolutionAnswer> => ({
  entries: entries.map((entry) => ({
    at: entry.atMs,
    operation: entry.operation,
    node_ids: [...entry.nodeIds],
    from_tier: entry.fromTier,
    to_tier: entry.toTier,
    reasoning: entry.reasoning,
  })),
  next_cursor: next && presentCursor([next.repo, next.global]),
});

export const ConfidenceAnswer = named(
  'ConfidenceHistory',
  Type.Object({
    node_id: NodeId,
    updates: Type.Array(
      Type.Object({
        at: Type.Integer(),
        from: Type.Number(),
        to: Type.Number(),
        trigger: words([...CONFIDENCE_TRIGGERS]),
      }),
      { description: 'Newest first; the newest 500' },
    ),
    drift: Type.Object({
      updates: Type.Integer(),
      initial: nullable(Type.Number()),
      current: nullable(Type.Number()),
      change: Type.Number(),
      by_trigger: Type.Object(Object.fromEntries(CONFIDENCE_TRIGGERS.map((word) => [word, Type.Integer()]))),
    }),
  }),
);

export const presentConfidence = (
  id: string,
  { updates, drift }: ConfidenceHistory,
): Static<typeof ConfidenceAnswer> => ({
  node_id: id,
  updates: updates.map(({ atMs, oldConfidence, newConfidence, trigger }) => ({
    at: atMs,
    from: oldConfidence,
    to: newConfidence,
    trigger,
  })),
  drift: {
    updates: drift.total,
    initial: drift.initial,
    current: drift.current,
    change: drift.drift,
    by_trigger: { ...drift.byTrigger },
  },
});
