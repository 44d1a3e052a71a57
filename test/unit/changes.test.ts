import { describe, expect, test } from 'vitest';
import type { Change } from '../../src/domain/changes.js';
import { effectsOf, type SideEffect } from '../../src/domain/effects.js';
import { attach, concept, idOf, insert, keep, link, move, patch, REPO, START_MS, vote } from '../support/plans.js';

/** One row per member of the union; the type makes a new kind of change add its row. */
const EFFECTS: { readonly [Name in Change['change']]: { change: Change; effects: SideEffect[] } } = {
  insert_memory: {
    change: insert(idOf(1), { kind: 'problem' }),
    effects: [{ effect: 'memory_inserted', memoryId: idOf(1), kind: 'problem' }],
  },
  insert_node: { change: concept(idOf(1)), effects: [{ effect: 'node_inserted', nodeId: idOf(1) }] },
  patch_node: {
    change: patch(idOf(1), { confidence: 0.4 }),
    effects: [{ effect: 'node_patched', nodeId: idOf(1) }],
  },
  purge_node: {
    change: { change: 'purge_node', nodeId: idOf(1), repoId: REPO, atMs: START_MS },
    effects: [{ effect: 'node_purged', nodeId: idOf(1) }],
  },
  patch_edge: {
    change: {
      change: 'patch_edge',
      edge: link('supports', [idOf(1), idOf(2)], { id: idOf(9) }),
      weight: 2,
      atMs: START_MS,
    },
    effects: [{ effect: 'edge_patched', edgeId: idOf(9) }],
  },
  remove_edge: {
    change: { change: 'remove_edge', edge: link('supports', [idOf(1), idOf(2)], { id: idOf(9) }), atMs: START_MS },
    effects: [{ effect: 'edge_removed', edgeId: idOf(9) }],
  },
  expect_nodes: { change: { change: 'expect_nodes', nodes: [{ nodeId: idOf(1), revision: 1 }] }, effects: [] },
  set_members: {
    change: {
      change: 'set_members',
      label: 'narrates',
      repoId: REPO,
      ownerId: 'chapter',
      memberIds: [],
      edgeId: idOf(9),
      origin: 'auto',
      atMs: START_MS,
    },
    effects: [],
  },
  expect_room: {
    change: { change: 'expect_room', type: 'core', entriesMax: 1, bytesMax: 1 },
    effects: [],
  },
  join_conversation: {
    change: {
      change: 'join_conversation',
      repoId: REPO,
      conversationId: 'conversation',
      members: [{ nodeId: idOf(1), saidAtMs: START_MS }],
      edgeId: idOf(9),
      atMs: START_MS,
    },
    effects: [],
  },
  insert_agent: {
    change: {
      change: 'insert_agent',
      agent: {
        id: 'agent',
        type: 'main',
        parentId: null,
        specialization: null,
        capabilities: [],
        metadata: {},
        createdAtMs: START_MS,
      },
    },
    effects: [],
  },
  insert_session: {
    change: {
      change: 'insert_session',
      session: { id: 'session', agentId: 'agent', initialIntent: null, startedAtMs: START_MS },
    },
    effects: [],
  },
  end_session: {
    change: { change: 'end_session', sessionId: 'session', finalOutcome: null, atMs: START_MS },
    effects: [],
  },
  attach_evidence: {
    change: attach({ of: 'node', id: idOf(1) }, ['commit:1', 'commit:2']),
    effects: [
      { effect: 'evidence_attached', owner: { of: 'node', id: idOf(1) }, evidenceRefs: ['commit:1', 'commit:2'] },
    ],
  },
  insert_edge: {
    change: link('attempts', [idOf(2), idOf(1)], { id: idOf(9) }),
    effects: [
      {
        effect: 'edge_inserted',
        edgeId: idOf(9),
        label: 'attempts',
        weight: 1,
        members: [
          { nodeId: idOf(2), role: 'subject', position: 0 },
          { nodeId: idOf(1), role: 'object', position: 1 },
        ],
      },
    ],
  },
  move_tier: {
    change: move(idOf(1), { from: 'session' }),
    effects: [{ effect: 'tier_moved', memoryId: idOf(1), fromTier: 'session', toTier: 'archive' }],
  },
  record_vote: {
    change: vote(idOf(2), idOf(1), { id: idOf(9), vote: -0.5 }),
    effects: [{ effect: 'vote_recorded', observationId: idOf(9), memoryId: idOf(2), problemId: idOf(1), vote: -0.5 }],
  },
  // What a caller is told of these are the moves and nodes that they go with.
  count_access: {
    change: { change: 'count_access', nodeId: idOf(1), count: 2, lastAccessedAtMs: START_MS, decayedAtMs: null },
    effects: [],
  },
  record_evolution: {
    change: {
      change: 'record_evolution',
      operation: 'decay',
      repoId: REPO,
      nodeIds: [idOf(1)],
      from: 'longterm',
      to: 'archive',
      reasoning: 'unused',
      atMs: START_MS,
    },
    effects: [],
  },
  // The kept reply is how the service works, not something the caller did.
  remember_reply: { change: keep('a-key'), effects: [] },
};

describe('the effects of a plan', () => {
  test.each(Object.entries(EFFECTS))('%s is told to the one who asked', (_, { change, effects }) => {
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
