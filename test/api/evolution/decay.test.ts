import { afterAll, beforeAll, beforeEach, expect, test, vi } from 'vitest';
import { Connection } from '../../../src/storage/sqlite/connection.js';
import { DAY_MS, EvolutionClient } from '../../support/evolution.js';
import { expectRefused, type GraphClient, type NodeReport, sendAtOnce } from '../../support/nodes.js';
import { concept, idOf } from '../../support/plans.js';
import { remember } from '../../support/requests.js';
import { select, tables } from '../../support/rows.js';
import { type Service, startService } from '../../support/service.js';

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

/** A node that stays, and fades. */
const kept = (fields: object = {}): Promise<NodeReport> =>
  graph.node({ content: 'Redis is up', tier: 'longterm', confidence: 1, ...fields });

const pass = (days: number): number => service.clock.advance(days * DAY_MS);

test.each([
  [1.0, 1, 0.95, 1, 0.95],
  [1.0, 7, 0.95, 1, 0.698],
  [0.8, 10, 0.9, 1, 0.279],
  [1.0, 30, 0.95, 1, 0.215],
  [1.0, 7, 0.95, 20, 0.931],
])('confidence %d after %d days at factor %d and %d looks is %d', async (confidence, days, factor, looks, expected) => {
  const { id } = await kept({ confidence });
  evolution.look(...Array.from({ length: looks }, () => ({ id })));
  pass(days);
  const decayed = await evolution.decay({ factor, min_confidence: 0 });
  expect(decayed).toMatchObject({ applied: true, examined: 1, decayed: 1, archived: 0 });
  expect(decayed.nodes).toEqual([{ node_id: id, from: confidence, to: expect.closeTo(expected, 3), archived: false }]);
  expect(await evolution.seen(id)).toMatchObject({
    tier: 'longterm',
    confidence: decayed.nodes[0]?.to,
    access_count: looks,
  });
});

test('the factor is .95 and the least confidence .3 unless told otherwise', async () => {
  const [above, below] = [await kept({ confidence: 0.32 }), await kept({ confidence: 0.31 })];
  pass(1);
  expect(await evolution.decay()).toMatchObject({ decayed: 1, archived: 1 });
  expect(await evolution.seen(above.id)).toMatchObject({ tier: 'longterm', confidence: expect.closeTo(0.304, 9) });
  expect(await evolution.seen(below.id)).toMatchObject({ tier: 'archive', confidence: expect.closeTo(0.2945, 9) });
});

test('use slows decay down: the more looks, the surer a node stays', async () => {
  const nodes = [await kept(), await kept(), await kept(), await kept()];
  for (const [index, node] of nodes.entries()) evolution.look(...Array.from({ length: 4 ** index }, () => node));
  pass(7);
  await evolution.decay({ min_confidence: 0 });
  const left: number[] = [];
  for (const { id } of nodes) left.push((await evolution.seen(id)).confidence as number);
  expect(left).toEqual([...left].sort((a, b) => a - b));
  expect(new Set(left).size).toBe(4);
});

test('SPEC-02.17 SPEC-02.19 who falls below the least goes to the archive, with its confidence, and that is logged', async () => {
  const { id, content } = await kept({ confidence: 0.5 });
  const atMs = pass(20);
  expect(await evolution.decay()).toMatchObject({ decayed: 0, archived: 1, nodes: [{ node_id: id, archived: true }] });
  expect(await evolution.seen(id)).toMatchObject({
    tier: 'archive',
    content,
    archived_at: atMs,
    confidence: expect.closeTo(0.5 * 0.95 ** 20, 9),
  });
  expect(await graph.allNodes()).toEqual([]);
  expect(await evolution.moves(id)).toEqual(['archive: longterm to archive', 'decay: longterm to archive']);
});

test('who comes to lie exactly at the least stays', async () => {
  const { id } = await kept({ confidence: 0.5 });
  pass(1);
  expect(await evolution.decay({ factor: 0.5, min_confidence: 0.25 })).toMatchObject({ decayed: 1, archived: 0 });
  expect(await evolution.seen(id)).toMatchObject({ tier: 'longterm', confidence: 0.25 });
});

test('a node that decay archived is never removed, and a restore brings it back', async () => {
  const { id, content } = await kept({ confidence: 0.4 });
  pass(400);
  await evolution.decay();
  pass(400);
  await evolution.decay();
  expect(await evolution.seen(id)).toMatchObject({ tier: 'archive', content });
  expect((await graph.restoreNode(id).expect(200)).body).toMatchObject({ tier: 'longterm', content });
  await graph.getNode(id).expect(200);
  expect(await evolution.decay()).toMatchObject({ decayed: 0, archived: 0 });
  expect(await graph.allNodes()).toMatchObject([{ id, tier: 'longterm' }]);
});

test.each([
  ['restored', (id: string) => graph.restoreNode(id)],
  ['moved by a patch', (id: string) => graph.patchNode(id, { tier: 'longterm' })],
  ['moved and changed by a patch', (id: string) => graph.patchNode(id, { tier: 'longterm', subtype: 'x' })],
])('the days in the archive do not count: who was %s today is not archived again today', async (_, bringBack) => {
  const { id } = await kept({ confidence: 0.9 });
  await graph.deleteNode(id).expect(200);
  pass(100);
  await bringBack(id).expect(200);
  expect(await evolution.decay()).toMatchObject({ examined: 1, decayed: 0, archived: 0 });
  expect(await evolution.seen(id)).toMatchObject({ tier: 'longterm', confidence: 0.9 });
});

test.each(['task', 'session', 'archive'])('SPEC-02.17 a node of tier %s does not decay', async (tier) => {
  const node = await kept({ tier });
  pass(100);
  expect(await evolution.decay()).toEqual({ applied: true, examined: 0, decayed: 0, archived: 0, nodes: [] });
  expect(await evolution.seen(node.id)).toEqual(node);
});

test.each(['repo', 'global'])('a memory of scope %s never decays', async (scope) => {
  const id = await remember(
    service,
    { text: `Of ${scope} ${evolution.repoId}`, scope, confidence: 0.9 },
    evolution.repoId,
  );
  const spaces = () => [tables(service, evolution.repoId), tables(service, null)];
  const before = spaces();
  pass(1_000);
  expect(await evolution.decay()).toMatchObject({ decayed: 0, archived: 0, nodes: [] });
  expect(spaces()).toEqual(before);
  expect((await graph.getNode(id).expect(200)).body).toMatchObject({ tier: 'longterm', confidence: 0.9 });
});

test('a second run on the same day changes not one row more, and a run on the next day does', async () => {
  const { id } = await kept();
  await kept({ confidence: 0.34 });
  pass(3.5);
  expect(await evolution.decay()).toMatchObject({ decayed: 1, archived: 1 });
  const before = tables(service, evolution.repoId);
  for (const hours of [0, 1, 10.9]) {
    pass(hours / 24);
    expect(await evolution.decay()).toMatchObject({ decayed: 0, archived: 0, nodes: [] });
    expect(tables(service, evolution.repoId)).toEqual(before);
  }
  pass(0.5);
  expect(await evolution.decay()).toMatchObject({ examined: 1, decayed: 1, archived: 0 });
  expect((await evolution.seen(id)).confidence).toBeCloseTo(0.95 ** 4, 9);
});

test('daily runs leave what one run at the end leaves', async () => {
  const daily = new EvolutionClient(service, `${evolution.repoId}-daily`);
  const [once, often] = [await kept(), await daily.graph.node({ tier: 'longterm', confidence: 1 })];
  for (let day = 0; day < 12; day++) {
    pass(1);
    await daily.decay();
  }
  await evolution.decay();
  const { confidence } = await evolution.seen(once.id);
  expect(confidence).toBeCloseTo(0.95 ** 12, 9);
  expect((await daily.seen(often.id)).confidence).toBeCloseTo(confidence as number, 9);
});

test('without a whole day since it was made nothing decays', async () => {
  await kept({ confidence: 0.1 });
  const before = tables(service, evolution.repoId);
  service.clock.advance(DAY_MS - 1);
  expect(await evolution.decay()).toEqual({ applied: true, examined: 1, decayed: 0, archived: 0, nodes: [] });
  expect(tables(service, evolution.repoId)).toEqual(before);
});

test('who was looked at today is spared, and its days are counted from the look', async () => {
  const [looked, left] = [await kept(), await kept()];
  pass(5);
  await graph.getNode(looked.id).expect(200);
  expect((await evolution.decay()).nodes).toMatchObject([{ node_id: left.id }]);
  expect((await evolution.seen(looked.id)).confidence).toBe(1);
  pass(2);
  await evolution.decay();
  expect((await evolution.seen(looked.id)).confidence).toBeCloseTo(0.95 ** 2, 9);
  expect((await evolution.seen(left.id)).confidence).toBeCloseTo(0.95 ** 7, 9);
});

test('a list and a run of decay are no looks', async () => {
  const { id, last_accessed: before } = await kept();
  pass(2);
  await graph.allNodes();
  await evolution.decay();
  expect(await evolution.seen(id)).toMatchObject({ access_count: 0, last_accessed: before });
});

test('a dry run says what a run then does, and changes not one row', async () => {
  await kept();
  await kept({ confidence: 0.31 });
  pass(3);
  const before = tables(service, evolution.repoId);
  const { applied, ...said } = await evolution.decay({ dry_run: true });
  expect(applied).toBe(false);
  expect(said).toMatchObject({ examined: 2, decayed: 1, archived: 1 });
  expect(tables(service, evolution.repoId)).toEqual(before);
  expect(await evolution.decay()).toEqual({ applied: true, ...said });
});

test('factor 1 leaves every confidence as it is', async () => {
  const { id } = await kept({ confidence: 0.7 });
  pass(50);
  expect(await evolution.decay({ factor: 1 })).toMatchObject({ examined: 1, decayed: 0, archived: 0 });
  expect((await evolution.seen(id)).confidence).toBe(0.7);
});

test('of more nodes than a page holds each decays exactly once', async () => {
  const count = 1_203;
  const { repoId } = evolution;
  const nodes = Array.from({ length: count }, (_, index) =>
    concept(idOf(1_000_000 + index), {
      repoId,
      tier: 'longterm',
      confidence: 0.3 + (index % 50) / 100,
      createdAtMs: service.clock.now(),
    }),
  );
  await service.store.apply({ space: repoId, changes: nodes });
  const archived = nodes.filter(({ node: { confidence } }) => (confidence as number) * 0.95 < 0.3).length;
  pass(1);
  const dry = await evolution.decay({ dry_run: true });
  expect(dry).toMatchObject({ examined: count, decayed: count - archived, archived });
  const decayed = await evolution.decay();
  expect({ ...decayed, applied: false }).toEqual(dry);
  expect(new Set(decayed.nodes.map(({ node_id }) => node_id)).size).toBe(1_000);
  const left = await graph.allNodes({ include_archived: true, limit: 500 });
  expect(left).toHaveLength(count);
  const before = new Map(nodes.map(({ node: { id, confidence } }) => [id, confidence as number]));
  for (const { id, confidence, tier } of left) {
    expect(confidence).toBeCloseTo((before.get(id) as number) * 0.95, 12);
    expect(tier).toBe((confidence as number) < 0.3 ? 'archive' : 'longterm');
  }
  const updates = 'SELECT count(*) AS updates, count(DISTINCT node_seq) AS nodes FROM confidence_updates';
  expect(select(service, repoId, updates)).toEqual([{ updates: count, nodes: count }]);
  const rows = tables(service, repoId);
  expect(await evolution.decay()).toMatchObject({ examined: count - archived, decayed: 0, archived: 0 });
  expect(tables(service, repoId)).toEqual(rows);
});

test('runs at once take a day off once', async () => {
  const { id } = await kept();
  pass(1);
  const answers = await sendAtOnce(service, () => [1, 2, 3].map(() => evolution.postDecay()));
  expect(answers.map(({ status }) => status)).toEqual([200, 200, 200]);
  expect(answers.reduce((sum, { body }) => sum + body.decayed, 0)).toBe(1);
  expect((await evolution.seen(id)).confidence).toBeCloseTo(0.95, 12);
});

test('a confidence set in the meantime is not overwritten', async () => {
  for (let round = 0; round < 5; round++) {
    const { id } = await kept();
    pass(1);
    const answers = await sendAtOnce(service, () => [graph.patchNode(id, { confidence: 0.6 }), evolution.postDecay()]);
    expect(answers.map(({ status }) => status)).toEqual([200, 200]);
    expect([0.6, 0.6 * 0.95]).toContain((await evolution.seen(id)).confidence);
  }
});

test('another repo is not touched', async () => {
  const other = new EvolutionClient(service, `${evolution.repoId}-other`);
  await other.graph.node({ tier: 'longterm', confidence: 0.3 });
  await kept();
  const before = tables(service, other.repoId);
  pass(10);
  await evolution.decay();
  expect(tables(service, other.repoId)).toEqual(before);
});

test('a repo that was never written to has nothing to decay', async () => {
  expect(await evolution.decay()).toEqual({ applied: true, examined: 0, decayed: 0, archived: 0, nodes: [] });
});

test.each([
  ['the factor 0', { factor: 0 }, 'factor'],
  ['a factor above 1', { factor: 1.01 }, 'factor'],
  ['a negative least confidence', { min_confidence: -0.1 }, 'min_confidence'],
  ['a least confidence above 1', { min_confidence: 1.1 }, 'min_confidence'],
  ['a field that there is not', { days: 3 }, 'days'],
])('SPEC-02.36 a decay with %s is refused, and changes nothing', async (_, fields, field) => {
  await kept();
  pass(10);
  const { fields: named } = await expectRefused(service, evolution.postDecay(fields), 400, evolution.repoId);
  expect(named).toEqual([field]);
});

test('SPEC-02.16 a run over all nodes does not read what they say', async () => {
  for (const content of ['one', 'two']) await graph.node({ content, tier: 'longterm', confidence: 0.9 });
  service.clock.advance(3 * DAY_MS);
  const spy = vi.spyOn(Connection.prototype, 'statement');
  const { examined, decayed } = await evolution.decay();
  const reading = spy.mock.calls.filter(([sql]) => /^\s*SELECT[\s\S]*\bcontent\b/.test(sql));
  spy.mockRestore();
  expect([examined, decayed, reading]).toEqual([2, 2, []]);
});
