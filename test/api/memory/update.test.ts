import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { remember, updateBody } from '../../support/requests.js';
import { changedTables, type Row, stored, tables } from '../../support/rows.js';
import { type Service, startService } from '../../support/service.js';

let service: Service;
beforeAll(async () => {
  service = await startService();
});
afterAll(() => service.stop());

const send = (body: object) => service.http.post('/memory/update').send(body);

interface World {
  repoId: string;
  problemId: string;
  oldId: string;
  newId: string;
  changeId: string;
}

let worlds = 0;
/** A repo of its own with one of everything that an update may point at. */
async function newWorld(): Promise<World> {
  const repoId = `world/${++worlds}`;
  return {
    repoId,
    problemId: await remember(service, { kind: 'problem', text: 'Tests cannot connect' }, repoId),
    oldId: await remember(service, { text: 'The port is 6379', rationale: 'tried' }, repoId),
    newId: await remember(service, { text: 'The port is 6380' }, repoId),
    changeId: await remember(service, { kind: 'change', text: 'The port moved' }, repoId),
  };
}

interface Case {
  type: string;
  /** The memory concerned, and the update. */
  build: (world: World) => [memoryId: string, update: object];
  effects: (world: World) => object[];
  ownTables: string[];
}

const LOG = ['evolution_log', 'evolution_nodes'];
const reasons = { rationale: 'as observed', evidence_refs: ['session:1', 'session:2'] };
const evidence = (to: string) => ({
  effect: 'evidence_attached',
  to,
  id: expect.any(String),
  evidence_refs: reasons.evidence_refs,
});

const CASES: Case[] = [
  {
    type: 'archive_state',
    build: ({ oldId }) => [oldId, { type: 'archive_state', archived: true, rationale: 'as observed' }],
    effects: ({ oldId }) => [{ effect: 'tier_moved', memory_id: oldId, from_tier: 'longterm', to_tier: 'archive' }],
    ownTables: [...LOG, 'node_counts', 'nodes'],
  },
  {
    type: 'utility_vote',
    build: ({ oldId, problemId }) => [oldId, { type: 'utility_vote', problem_id: problemId, vote: 0.5, ...reasons }],
    effects: ({ oldId, problemId }) => [
      {
        effect: 'vote_recorded',
        observation_id: expect.any(String),
        memory_id: oldId,
        problem_id: problemId,
        vote: 0.5,
      },
      evidence('vote'),
    ],
    ownTables: ['evidence_refs', ...LOG, 'utility_observations', 'vote_evidence'],
  },
  {
    type: 'fact_update_link',
    build: ({ oldId, newId, changeId }) => [
      changeId,
      { type: 'fact_update_link', old_fact_id: oldId, new_fact_id: newId, ...reasons },
    ],
    effects: ({ oldId, newId, changeId }) => [
      {
        effect: 'edge_inserted',
        edge_id: expect.any(String),
        label: 'fact_update',
        weight: 1,
        members: [
          { memory_id: changeId, role: 'cause' },
          { memory_id: oldId, role: 'object' },
          { memory_id: newId, role: 'effect' },
        ],
      },
      evidence('edge'),
    ],
    ownTables: ['edge_evidence', 'evidence_refs', ...LOG, 'hyperedges', 'membership'],
  },
];

describe.each(CASES)('$type', ({ build, effects, ownTables }) => {
  test('in a dry run previews its side effects and writes nothing', async () => {
    const world = await newWorld();
    const [memoryId, update] = build(world);
    const before = stored(service, world.repoId);
    const { body } = await send(updateBody(memoryId, update, 'dry_run', world.repoId)).expect(200);
    expect(body).toEqual({ memory_id: memoryId, mode: 'dry_run', applied: false, side_effects: effects(world) });
    expect(stored(service, world.repoId)).toEqual(before);
  });

  test('when committed has the side effects that the dry run previewed', async () => {
    const world = await newWorld();
    const [memoryId, update] = build(world);
    await send(updateBody(memoryId, update, 'dry_run', world.repoId)).expect(200);
    const { body } = await send(updateBody(memoryId, update, 'commit', world.repoId)).expect(200);
    expect(body).toEqual({ memory_id: memoryId, mode: 'commit', applied: true, side_effects: effects(world) });
  });

  test('writes into its own tables and no others', async () => {
    const world = await newWorld();
    const [memoryId, update] = build(world);
    const before = stored(service, world.repoId);
    await send(updateBody(memoryId, update, 'commit', world.repoId)).expect(200);
    const after = stored(service, world.repoId);
    expect(changedTables(before.repo, after.repo)).toEqual(ownTables);
    expect(changedTables(before.global, after.global)).toEqual([]);
  });

  test('leaves what the memories say untouched', async () => {
    const world = await newWorld();
    const [memoryId, update] = build(world);
    const fixed = (row: Row) => [row.id, row.kind, row.content, row.confidence, row.scope, row.created_at];
    const before = tables(service, world.repoId);
    service.clock.advance(1_000);
    await send(updateBody(memoryId, update, 'commit', world.repoId)).expect(200);
    const after = tables(service, world.repoId);
    expect(after.nodes?.map(fixed)).toEqual(before.nodes?.map(fixed));
    expect(after.memories).toEqual(before.memories);
    expect(after.node_search).toEqual(before.node_search);
  });

  test('is logged once, with its reason', async () => {
    const world = await newWorld();
    const [memoryId, update] = build(world);
    const before = tables(service, world.repoId).evolution_log ?? [];
    service.clock.advance(1_000);
    await send(updateBody(memoryId, update, 'commit', world.repoId)).expect(200);
    const added = (tables(service, world.repoId).evolution_log ?? []).slice(before.length);
    expect(added).toMatchObject([{ at: service.clock.now(), repo_id: world.repoId, reasoning: 'as observed' }]);
    expect(JSON.parse(added[0]?.node_ids as string)).toContain(memoryId);
  });
});
