import { describe, expect, test } from 'vitest';
import type { Change } from '../../src/domain/changes.js';
import { effectsOf, type SideEffect } from '../../src/domain/effects.js';
import { attach, idOf, insert, keep, link, move, vote } from '../support/plans.js';

/** One row per member of the union; the type makes a new kind of change add its row. */
const EFFECTS: { readonly [Name in Change['change']]: { change: Change; effects: SideEffect[] } } = {
  insert_memory: {
    change: insert(idOf(1), { kind: 'problem' }),
    effects: [{ effect: 'memory_inserted', memory_id: idOf(1), kind: 'problem' }],
  },
  attach_evidence: {
    change: attach({ of: 'node', id: idOf(1) }, ['commit:1', 'commit:2']),
    effects: [{ effect: 'evidence_attached', to: 'node', id: idOf(1), evidence_refs: ['commit:1', 'commit:2'] }],
  },
  insert_edge: {
    change: link('attempts', [idOf(2), idOf(1)], { id: idOf(9) }),
    effects: [
      {
        effect: 'edge_inserted',
        edge_id: idOf(9),
        label: 'attempts',
        weight: 1,
        members: [
          { memory_id: idOf(2), role: 'subject' },
          { memory_id: idOf(1), role: 'object' },
        ],
      },
    ],
  },
  move_tier: {
    change: move(idOf(1), { from: 'session' }),
    effects: [{ effect: 'tier_moved', memory_id: idOf(1), from_tier: 'session', to_tier: 'archive' }],
  },
  record_vote: {
    change: vote(idOf(2), idOf(1), { id: idOf(9), vote: -0.5 }),
    effects: [
      { effect: 'vote_recorded', observation_id: idOf(9), memory_id: idOf(2), problem_id: idOf(1), vote: -0.5 },
    ],
  },
  // The kept reply is how the service works, not something the caller did.
  remember_reply: { change: keep('a-key'), effects: [] },
};

describe('the effects of a plan', () => {
  test.each(Object.entries(EFFECTS))('%s is told in the words of the answer', (_, { change, effects }) => {
    expect(effectsOf([change])).toEqual(effects);
  });

  test('come in the order of the changes', () => {
    const rows = Object.values(EFFECTS);
    expect(effectsOf(rows.map((row) => row.change))).toEqual(rows.flatMap((row) => row.effects));
  });

  test('of no changes are none', () => {
    expect(effectsOf([])).toEqual([]);
  });

  test('survive being kept as JSON, because a retried request is answered from there', () => {
    const effects = effectsOf(Object.values(EFFECTS).map((row) => row.change));
    expect(JSON.parse(JSON.stringify(effects))).toEqual(effects);
  });
});
