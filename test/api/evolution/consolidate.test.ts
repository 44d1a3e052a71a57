import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { DAY_MS, EvolutionClient } from '../../support/evolution.js';
import { expectRefused, type GraphClient, idsOf, type NodeReport, sendAtOnce } from '../../support/nodes.js';
import { remember } from '../../support/requests.js';
import { tables } from '../../support/rows.js';
import { type Service, startService } from '../../support/service.js';

const TASK = 'fix-checkout';
const SESSION = 's-1';

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

/** A node of the task. */
const noted = (content: string, fields: object = {}): Promise<NodeReport> =>
  graph.node({ content, task_id: TASK, session_id: SESSION, ...fields });

/** A task with twins, edges between used nodes and enough of one subtype for a summary. */
async function busyTask() {
  const redis = await noted('Redis listens on 6380', { subtype: 'finding', confidence: 0.6 });
  const twin = await noted(' redis LISTENS on 6380\n', { subtype: 'finding', confidence: 0.9 });
  const pool = await noted('The pool holds ten', { subtype: 'finding', confidence: 0.7 });
  const cart = await noted('The cart is cached', { subtype: 'finding', confidence: 0.5 });
  const edge = await graph.link(redis, pool, { label: 'explains', weight: 2 });
  evolution.look(redis, redis, twin, pool, pool, pool);
  return { redis, twin, pool, cart, edge };
}

test('SPEC-02.17 every node of a task that is done moves to tier session', async () => {
  const nodes = [await noted('One'), await noted('Two', { type: 'entity' }), await noted('', { confidence: 0 })];
  const evolved = await evolution.consolidate(TASK);
  expect(evolved).toMatchObject({ applied: true, merged: [], strengthened: [], summary_node_ids: [] });
  expect([...evolved.promoted_node_ids].sort()).toEqual(idsOf(nodes).sort());
  for (const { id } of nodes) expect(await evolution.seen(id)).toMatchObject({ tier: 'session', task_id: TASK });
});

test.each([
  ['the same text', 'Redis is up', 'Redis is up'],
  ['another case', 'Redis is up', 'REDIS is Up'],
  ['white space around it', 'Redis is up', '\n  Redis is up\t '],
])('two nodes that say the same are merged: %s', async (_, one, other) => {
  const [first, second] = [await noted(one, { confidence: 0.4 }), await noted(other, { confidence: 0.6 })];
  const evolved = await evolution.consolidate(TASK);
  expect(evolved.promoted_node_ids).toEqual([second.id]);
  expect(evolved.merged).toEqual([{ node_id: first.id, into_node_id: second.id }]);
});

test.each([
  ['white space inside', 'Redis is up', {}, 'Redis  is up', {}],
  ['another type', 'Redis is up', { type: 'fact' }, 'Redis is up', { type: 'entity' }],
  ['another text', 'Redis is up', {}, 'Redis is down', {}],
  ['another subtype', 'Redis is up', { subtype: 'finding' }, 'Redis is up', {}],
  ['other metadata', 'Retry', { metadata: { success: true } }, 'Retry', { metadata: { success: false } }],
  ['no text', '', { subtype: 'person' }, '', { subtype: 'person' }],
  ['nothing but white space', '', {}, '  ', {}],
])('two nodes that differ are both kept: %s', async (_, one, oneFields, other, otherFields) => {
  await noted(one, oneFields);
  await noted(other, otherFields);
  expect(await evolution.consolidate(TASK)).toMatchObject({
    promoted_node_ids: [expect.any(String), expect.any(String)],
  });
});

test('of many that say the same the surest is kept as it is, and the others are archived as merged into it', async () => {
  const unsure = await noted('redis is up', { confidence: 0.2 });
  const surest = await noted('Redis is up', { confidence: 0.9, tags: ['cache'] });
  const middling = await noted('REDIS IS UP', { confidence: 0.5 });
  await evolution.consolidate(TASK);
  expect(await evolution.seen(surest.id)).toMatchObject({
    tier: 'session',
    confidence: 0.9,
    content: 'Redis is up',
    tags: ['cache'],
  });
  for (const { id, content, confidence } of [unsure, middling]) {
    expect(await evolution.seen(id)).toMatchObject({ tier: 'archive', content, confidence });
    expect(await evolution.log({ node: id, operation: 'consolidate' })).toMatchObject([
      { from_tier: 'task', to_tier: 'archive', reasoning: `merged into ${surest.id}` },
    ]);
  }
});

test('two nodes that differ only in the order of their metadata and in where it places them are merged', async () => {
  const metadata = { outcome: { code: 1, by: 'x' }, success: true };
  await noted('Retry', { metadata: { ...metadata, task_id: TASK } });
  await noted('Retry', { metadata: { success: true, outcome: { by: 'x', code: 1 }, session_id: SESSION } });
  expect((await evolution.consolidate(TASK)).merged).toHaveLength(1);
});

test('who is kept has the tags of all that were merged into it, and that is logged', async () => {
  const kept = await noted('Redis is up', { confidence: 0.9, tags: ['cache', 'net'] });
  await noted('redis is up', { tags: ['db', 'net'] });
  const alone = await noted('The pool holds ten', { tags: ['pool'] });
  await evolution.consolidate(TASK);
  expect(await evolution.seen(kept.id)).toMatchObject({ tier: 'session', tags: ['cache', 'db', 'net'] });
  expect(await evolution.log({ node: kept.id, operation: 'update' })).toMatchObject([
    { reasoning: 'took over the tags of what was merged into it' },
  ]);
  expect(await evolution.log({ node: alone.id, operation: 'update' })).toEqual([]);
});

test('a node that was merged can be restored, and says what it said', async () => {
  const { redis } = await busyTask();
  await evolution.consolidate(TASK);
  expect((await graph.restoreNode(redis.id).expect(200)).body).toMatchObject({
    tier: 'task',
    content: redis.content,
    confidence: redis.confidence,
  });
});

test('who is kept was looked at as often as all that were merged into it, and as lately as the last of them', async () => {
  const kept = await noted('Redis is up', { confidence: 0.9 });
  const twin = await noted('redis is up');
  const lonely = await noted('The pool holds ten');
  evolution.look(kept, lonely);
  const atMs = service.clock.advance(DAY_MS);
  evolution.look(twin, twin, twin);
  service.clock.advance(DAY_MS);
  await evolution.consolidate(TASK);
  expect(await evolution.seen(kept.id)).toMatchObject({ access_count: 4, last_accessed: atMs });
  expect(await evolution.seen(lonely.id)).toMatchObject({ access_count: 1, last_accessed: lonely.created_at });
});

test('an edge of used nodes is strengthened once, by the most used of its members', async () => {
  const [one, two, three] = [await noted('One'), await noted('Two'), await noted('Three')];
  const used = await graph.link(one, two, { label: 'explains', weight: 2 });
  const unused = await graph.link(three, await graph.node({ content: 'Elsewhere' }), { label: 'explains', weight: 2 });
  evolution.look(one, one, two, two, two, two, three);
  const evolved = await evolution.consolidate(TASK);
  expect(evolved.strengthened).toEqual([{ edge_id: used.id, weight: expect.closeTo(2 * 1.4, 9) }]);
  expect((await graph.getEdge(used.id).expect(200)).body.weight).toBeCloseTo(2 * 1.4, 9);
  expect((await graph.getEdge(unused.id).expect(200)).body.weight).toBe(2);
});

test.each([
  [1, 2],
  [4, 8],
  [6, 10],
  [10, 10],
  [50, 50],
])('an edge of weight %d between nodes of many looks has weight %d then', async (before, after) => {
  const [one, two] = [await noted('One'), await noted('Two')];
  const { id } = await graph.link(one, two, { label: 'explains', weight: before });
  evolution.look(...Array.from({ length: 30 }, () => one));
  await evolution.consolidate(TASK);
  expect((await graph.getEdge(id).expect(200)).body.weight).toBeCloseTo(after, 9);
});

test('three nodes with two of one subtype are summed up in a fact of the session', async () => {
  const sources = [
    await noted('Redis listens on 6380', { subtype: 'finding', confidence: 0.4 }),
    await noted('The pool\nholds ten', { subtype: 'finding', confidence: 0.8 }),
  ];
  const apart = await noted('The cart is cached', { subtype: 'guess' });
  const { summary_node_ids: summaries } = await evolution.consolidate(TASK);
  expect(summaries).toHaveLength(1);
  const summary = await evolution.seen(summaries[0] as string);
  expect(summary).toMatchObject({
    type: 'fact',
    tier: 'session',
    session_id: SESSION,
    content: '- Redis listens on 6380\n- The pool holds ten',
    confidence: expect.closeTo(0.6, 9),
    metadata: { source_nodes: idsOf(sources) },
  });
  const edges = await graph.allEdges({ label: 'summarizes' });
  expect(edges).toHaveLength(2);
  for (const { type, members } of edges) {
    expect(type).toBe('composition');
    expect(members[0]).toMatchObject({ node_id: summary.id, role: 'subject' });
    expect(members[1]?.role).toBe('object');
  }
  expect(edges.map(({ members }) => members[1]?.node_id).sort()).toEqual(idsOf(sources).sort());
  expect(edges.flatMap(({ members }) => members.map(({ node_id }) => node_id))).not.toContain(apart.id);
});

test.each([
  ['only two nodes', ['finding', 'finding']],
  ['no subtype twice', ['finding', 'guess', 'plan']],
  ['no subtype at all', [undefined, undefined, undefined]],
])('nothing is summed up where there is %s', async (_, subtypes) => {
  for (const [index, subtype] of subtypes.entries()) await noted(`Number ${index}`, { ...(subtype && { subtype }) });
  expect((await evolution.consolidate(TASK)).summary_node_ids).toEqual([]);
});

test('a summary has at most ten items of 200 characters and 1,000 in all, and links to every source', async () => {
  for (let index = 0; index < 12; index++) await noted(`${index} ${'x'.repeat(300)}`, { subtype: 'finding' });
  const { summary_node_ids: summaries } = await evolution.consolidate(TASK);
  const { content } = await evolution.seen(summaries[0] as string);
  expect(content.length).toBeLessThanOrEqual(1_000);
  expect(content.split('\n').length).toBeGreaterThan(1);
  for (const line of content.split('\n')) expect(line.length).toBeLessThanOrEqual(202);
  expect(await graph.allEdges({ label: 'summarizes' })).toHaveLength(12);
});

test('a task that is consolidated a second time changes not one row more', async () => {
  await busyTask();
  const first = await evolution.consolidate(TASK);
  expect(first.merged).toHaveLength(1);
  expect(first.strengthened).toHaveLength(1);
  expect(first.summary_node_ids).toHaveLength(1);
  const before = await evolution.everything();
  service.clock.advance(1_000);
  expect(await evolution.consolidate(TASK)).toEqual({
    applied: true,
    promoted_node_ids: [],
    merged: [],
    strengthened: [],
    relinked: [],
    summaries: [],
    summary_node_ids: [],
  });
  expect(await evolution.everything()).toEqual(before);
});

test('a dry run says what a run then does, and changes not one row', async () => {
  const { redis, twin, pool, cart, edge } = await busyTask();
  const before = await evolution.everything();
  const { applied, summaries, summary_node_ids, ...said } = await evolution.consolidate(TASK, { dry_run: true });
  expect(applied).toBe(false);
  expect(said.merged).toEqual([{ node_id: redis.id, into_node_id: twin.id }]);
  expect(said.relinked).toEqual([{ edge_id: edge.id, node_ids: [twin.id, pool.id] }]);
  expect(summaries).toEqual([{ node_id: null, source_node_ids: [twin.id, pool.id, cart.id] }]);
  expect(summary_node_ids).toEqual([]);
  expect(await evolution.everything()).toEqual(before);
  const done = await evolution.consolidate(TASK);
  expect(done).toMatchObject(said);
  expect(done.summaries).toEqual([{ ...summaries[0], node_id: done.summary_node_ids[0] }]);
});

test('two runs at once do together what one run does', async () => {
  const { redis, edge } = await busyTask();
  const answers = await sendAtOnce(service, () => [1, 2, 3].map(() => evolution.postConsolidate({ task_id: TASK })));
  expect(answers.map(({ status }) => status)).toEqual([200, 200, 200]);
  expect(answers.flatMap(({ body }) => body.merged)).toHaveLength(1);
  expect(answers.flatMap(({ body }) => body.promoted_node_ids)).toHaveLength(3);
  expect(answers.flatMap(({ body }) => body.summary_node_ids)).toHaveLength(1);
  expect((await graph.getEdge(edge.id).expect(200)).body.weight).toBeCloseTo(2 * 1.3, 9);
  expect(await evolution.moves(redis.id)).toHaveLength(2);
});

test('two tasks that are done at once each strengthen the edge between them', async () => {
  const [one, other] = [await noted('One'), await noted('Other', { task_id: 'another' })];
  const { id } = await graph.link(one, other, { label: 'explains', weight: 2 });
  evolution.look(one, one, other, other);
  await sendAtOnce(service, () => [TASK, 'another'].map((task_id) => evolution.postConsolidate({ task_id })));
  expect((await graph.getEdge(id).expect(200)).body.weight).toBeCloseTo(2 * 1.2 * 1.2, 9);
});

test('a node that came to say something else in the meantime is not merged into one that does not say it', async () => {
  for (let round = 0; round < 10; round++) {
    const taskId = `task-${round}`;
    const kept = await graph.node({ content: `Redis is up ${round}`, task_id: taskId, confidence: 0.9 });
    const twin = await graph.node({ content: `redis is up ${round}`, task_id: taskId });
    const answers = await sendAtOnce(service, () => [
      graph.patchNode(twin.id, { content: `All alone ${round}` }),
      evolution.postConsolidate({ task_id: taskId }),
    ]);
    expect(answers.map(({ status }) => status)).toEqual([200, 200]);
    const operations = (await evolution.log({ node: twin.id })).map(({ operation }) => operation).reverse();
    const changedFirst = operations.indexOf('update') < operations.indexOf('consolidate');
    expect((await evolution.seen(twin.id)).tier).toBe(changedFirst ? 'session' : 'archive');
    expect((await evolution.seen(kept.id)).tier).toBe('session');
  }
});

test('nothing is lost: every text of the task is in sight afterwards, and every node is still there', async () => {
  const nodes = Object.values(await busyTask()).slice(0, 4) as NodeReport[];
  await evolution.consolidate(TASK);
  const inSight = (await graph.allNodes({ tier: 'session' })).map(({ content }) => content.trim().toLowerCase());
  for (const { id, content, confidence } of nodes) {
    expect(inSight).toContain(content.trim().toLowerCase());
    expect(await evolution.seen(id)).toMatchObject({ content, confidence });
  }
});

test('what a merged node was joined to is still found from there, by way of the one that was kept', async () => {
  const { twin, pool } = await busyTask();
  await evolution.consolidate(TASK);
  const { body } = await graph.getRelated(pool.id, { label: 'explains' }).expect(200);
  expect(JSON.stringify(body)).toContain(twin.id);
});

test('what two sessions noted in one task stays in sight of each of them', async () => {
  await noted('Redis is up', { session_id: 's-1', confidence: 0.9 });
  await noted('Redis is up', { session_id: 's-2' });
  await evolution.consolidate(TASK);
  for (const session of ['s-1', 's-2']) {
    expect((await graph.allNodes({ tier: 'session', session })).map(({ content }) => content)).toEqual(['Redis is up']);
  }
});

test('a summary never shows one session what only another noted', async () => {
  for (const [index, session_id] of ['s-1', 's-1', 's-2'].entries()) {
    await noted(`Number ${index}`, { session_id, subtype: 'finding', confidence: 1 - index / 10 });
  }
  await evolution.consolidate(TASK);
  const shown = (await graph.allNodes({ tier: 'session', session: 's-1' })).map(({ content }) => content).join('\n');
  expect(shown).toContain('Number 1');
  expect(shown).not.toContain('Number 2');
});

test('another task, nodes without one, other tiers and memories stay as they are', async () => {
  const others = [
    await noted('Redis is up', { task_id: 'another' }),
    await graph.node({ content: 'Redis is up' }),
    await noted('Redis is up', { tier: 'session' }),
    await noted('Redis is up', { tier: 'longterm' }),
    await noted('Redis is up', { tier: 'archive' }),
    await evolution.seen(await remember(service, { text: 'Redis is up' }, evolution.repoId)),
  ];
  const { id } = await noted('Redis is up');
  service.clock.advance(1_000);
  expect(await evolution.consolidate(TASK)).toMatchObject({ promoted_node_ids: [id], merged: [] });
  for (const other of others) expect(await evolution.seen(other.id)).toEqual(other);
});

test('the same task of another repo is not touched', async () => {
  const other = new EvolutionClient(service, 'acme/till');
  for (const content of ['Redis is up', 'redis is up']) await other.graph.node({ content, task_id: TASK });
  const before = tables(service, 'acme/till');
  await busyTask();
  await evolution.consolidate(TASK);
  expect(tables(service, 'acme/till')).toEqual(before);
});

test('a task that nobody knows is empty', async () => {
  await noted('Redis is up');
  const before = tables(service, evolution.repoId);
  expect(await evolution.consolidate('unheard-of')).toMatchObject({ promoted_node_ids: [], merged: [] });
  expect(tables(service, evolution.repoId)).toEqual(before);
});

test.each([
  ['no task', {}, 'task_id'],
  ['an empty task', { task_id: '' }, 'task_id'],
  ['a field that there is not', { task_id: TASK, confirm: false }, 'confirm'],
])('SPEC-02.36 a consolidation with %s is refused, and changes nothing', async (_, fields, field) => {
  await noted('Redis is up');
  expect((await expectRefused(service, evolution.postConsolidate(fields), 400, evolution.repoId)).fields).toEqual([
    field,
  ]);
});
