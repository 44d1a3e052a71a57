import Type, { type Static } from 'typebox';
import type { SideEffect } from '../domain/effects.js';
import { TIERS } from '../domain/vocabulary.js';
import { named, words } from './schema.js';
import { Kind, MemoryId, RoleWord } from './shared.js';

const tier = () => Type.Optional(words([...TIERS]));

/** One object with all the details that any effect has, because a union would be checked again on every answer. */
export const SideEffectReport = named(
  'SideEffect',
  Type.Object(
    {
      effect: words([
        'memory_inserted',
        'node_inserted',
        'node_patched',
        'node_purged',
        'evidence_attached',
        'edge_inserted',
        'edge_patched',
        'edge_removed',
        'tier_moved',
        'vote_recorded',
      ]),
      memory_id: Type.Optional(MemoryId),
      kind: Type.Optional(Kind),
      to: Type.Optional(words(['node', 'edge', 'vote'])),
      id: Type.Optional(Type.String()),
      evidence_refs: Type.Optional(Type.Array(Type.String())),
      edge_id: Type.Optional(Type.String()),
      label: Type.Optional(Type.String()),
      weight: Type.Optional(Type.Number()),
      members: Type.Optional(Type.Array(Type.Object({ memory_id: MemoryId, role: RoleWord }))),
      from_tier: tier(),
      to_tier: tier(),
      observation_id: Type.Optional(Type.String()),
      problem_id: Type.Optional(Type.String()),
      vote: Type.Optional(Type.Number()),
    },
    { description: 'One record that the request adds or moves, in the order it happens' },
  ),
);

type EffectReport = Static<typeof SideEffectReport>;

export const presentEffects = (effects: readonly SideEffect[]): EffectReport[] => effects.map(presentEffect);

function presentEffect(effect: SideEffect): EffectReport {
  switch (effect.effect) {
    case 'memory_inserted':
      return { effect: effect.effect, memory_id: effect.memoryId, kind: effect.kind as Static<typeof Kind> };
    case 'node_inserted':
    case 'node_patched':
    case 'node_purged':
      return { effect: effect.effect, id: effect.nodeId };
    case 'edge_patched':
    case 'edge_removed':
      return { effect: effect.effect, edge_id: effect.edgeId };
    case 'evidence_attached':
      return {
        effect: effect.effect,
        to: effect.owner.of,
        id: effect.owner.id,
        evidence_refs: [...effect.evidenceRefs],
      };
    case 'edge_inserted':
      return {
        effect: effect.effect,
        edge_id: effect.edgeId,
        label: effect.label,
        weight: effect.weight,
        members: effect.members.map(({ nodeId, role }) => ({ memory_id: nodeId, role })),
      };
    case 'tier_moved':
      return {
        effect: effect.effect,
        memory_id: effect.memoryId,
        from_tier: effect.fromTier,
        to_tier: effect.toTier,
      };
    case 'vote_recorded':
      return {
        effect: effect.effect,
        observation_id: effect.observationId,
        memory_id: effect.memoryId,
        problem_id: effect.problemId,
        vote: effect.vote,
      };
  }
}
