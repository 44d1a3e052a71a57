import Type, { type Static } from 'typebox';
import type { SideEffect } from '../domain/effects.js';
import { LINKS } from '../domain/links.js';
import { TIERS } from '../domain/vocabulary.js';
import { named } from './schema.js';
import { Kind, MemoryId, RoleWord } from './shared.js';

const tier = () => Type.Optional(Type.Enum([...TIERS]));

/** One object with all the details that any effect has, because a union would be checked again on every answer. */
export const SideEffectReport = named(
  'SideEffect',
  Type.Object(
    {
      effect: Type.Enum(['memory_inserted', 'evidence_attached', 'edge_inserted', 'tier_moved', 'vote_recorded']),
      memory_id: Type.Optional(MemoryId),
      kind: Type.Optional(Kind),
      to: Type.Optional(Type.Enum(['node', 'edge', 'vote'])),
      id: Type.Optional(Type.String()),
      evidence_refs: Type.Optional(Type.Array(Type.String())),
      edge_id: Type.Optional(Type.String()),
      label: Type.Optional(Type.Enum(Object.keys(LINKS))),
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
export const presentEffects = (effects: readonly SideEffect[]): EffectReport[] => effects as unknown as EffectReport[];
