import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { DAY_MS, EvolutionClient } from '../../support/evolution.js';
import { type GraphClient, UNKNOWN_ID } from '../../support/nodes.js';
import { patch } from '../../support/plans.js';
import { remember } from '../../support/requests.js';
import { tables } from '../../support/rows.js';
import { type Service, startService } from '../../support/service.js';

const NO_TRIGGERS = { outcome: 0, decay: 0, consolidation: 0, manual: 0 };
const NO_DRIFT = { updates: 0, initial: null, current: null, change: 0, by_trigger: NO_TRIGGERS };

let service: Service;
let evolution: EvolutionClient;
let graph: GraphClient;
let repos = 0;
beforeAll(async () => {
  service = await startService();
});
beforeEach(() => {
  evolution = new EvolutionClient(service, `acme/shop-${++repos}`);
  graph = evolution.graph;
});
afterAll(() => service.stop());

test('every change of a confidence is told, newest first, with what brought it about', async () => {
  const { id } = await graph.node({ tier: 'longterm', confidence: 0.5 });
  const firstMs = service.clock.advance(1_000);
  await graph.patchNode(id, { confidence: 0.8 }).expect(200);
  const secondMs = service.clock.advance(2 * DAY_MS);
  await evolution.decay();
  const thirdMs = service.clock.advance(1_000);
  await graph.patchNode(id, { confidence: 1 }).expect(200);
  const left = expect.closeTo(0.8 * 0.95 ** 2, 9);
  expect(await evolution.confidence(id)).toEqual({
    node_id: id,
    updates: [
      { at: thirdMs, from: left, to: 1, trigger: 'manual' },
      { at: secondMs, from: 0.8, to: left, trigger: 'decay' },
      { at: firstMs, from: 0.5, to: 0.8, trigger: 'manual' },
    ],
    drift: { updates: 3, initial: 0.5, current: 1, change: 0.5, by_trigger: { ...NO_TRIGGERS, manual: 2, decay: 1 } },
  });
});

test('changes of the same moment stand as they happened', async () => {
  const { id } = await graph.node({ confidence: 0.1 });
  for (const confidence of [0.4, 0.2, 0.9]) await graph.patchNode(id, { confidence }).expect(200);
  const { updates, drift } = await evolution.confidence(id);
  expect(updates.map(({ from, to }) => [from, to])).toEqual([
    [0.2, 0.9],
    [0.4, 0.2],
    [0.1, 0.4],
  ]);
  expect(drift).toMatchObject({ initial: 0.1, current: 0.9, change: expect.closeTo(0.8, 9) });
});

test('a confidence that came down has a drift below zero', async () => {
  const { id } = await graph.node({ confidence: 0.9 });
  await graph.patchNode(id, { confidence: 0.4 }).expect(200);
  expect((await evolution.confidence(id)).drift.change).toBeCloseTo(-0.5, 9);
});

test('the history of a node whose confidence never changed is empty', async () => {
  const { id } = await graph.node({ confidence: 0.5 });
  expect(await evolution.confidence(id)).toEqual({ node_id: id, updates: [], drift: NO_DRIFT });
  await graph.patchNode(id, { content: 'Something else', confidence: 0.5 }).expect(200);
  await graph.patchNode(id, { tier: 'longterm' }).expect(200);
  expect(await evolution.confidence(id)).toEqual({ node_id: id, updates: [], drift: NO_DRIFT });
});

test('each node has a history of its own', async () => {
  const [one, other] = [await graph.node(), await graph.node()];
  await graph.patchNode(one.id, { confidence: 0.9 }).expect(200);
  expect((await evolution.confidence(one.id)).updates).toHaveLength(1);
  expect((await evolution.confidence(other.id)).updates).toEqual([]);
});

test('an archived node keeps its history', async () => {
  const { id } = await graph.node({ tier: 'longterm', confidence: 0.5 });
  service.clock.advance(100 * DAY_MS);
  await evolution.decay();
  const { updates } = await evolution.confidence(id);
  expect(updates).toMatchObject([{ from: 0.5, trigger: 'decay' }]);
  await graph.restoreNode(id).expect(200);
  expect((await evolution.confidence(id)).updates).toEqual(updates);
});

test.each(['repo', 'global'])('a memory of scope %s has a history, and it is empty', async (scope) => {
  const id = await remember(service, { text: `Of ${scope}`, scope }, evolution.repoId);
  expect(await evolution.confidence(id)).toEqual({ node_id: id, updates: [], drift: NO_DRIFT });
});

test('asking for the history is no look at the node, and changes nothing', async () => {
  const { id } = await graph.node();
  const before = tables(service, evolution.repoId);
  await evolution.confidence(id);
  expect(tables(service, evolution.repoId)).toEqual(before);
  expect((await evolution.seen(id)).access_count).toBe(0);
});

test('of a long history the newest 500 changes are told, and the drift is that of all of it', async () => {
  const { id } = await graph.node({ confidence: 0 });
  const { repoId } = evolution;
  const changes = Array.from({ length: 600 }, (_, index) =>
    patch(id, { confidence: (index + 1) / 1_000 }, { repoId, expectedRevision: index + 1, atMs: service.clock.now() }),
  );
  await service.store.apply({ space: repoId, changes });
  const { updates, drift } = await evolution.confidence(id);
  expect(updates).toHaveLength(500);
  expect(updates[0]).toMatchObject({ from: 0.599, to: 0.6 });
  expect(drift).toMatchObject({ updates: 600, initial: 0, current: 0.6, change: 0.6 });
});

test.each([UNKNOWN_ID, 'no-id'])('the node %s, which there is not, has no history', async (id) => {
  const { body } = await evolution
    .getConfidence(id)
    .expect(404)
    .expect('content-type', /^application\/problem\+json/);
  expect(body.code).toBe('not_found');
});

test('a node of another repo has no history here', async () => {
  const { id } = await new EvolutionClient(service, `${evolution.repoId}-other`).graph.node();
  await evolution.getConfidence(id).expect(404);
});
