import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { EvolutionClient } from '../../support/evolution.js';
import {
  expectRefused,
  type GraphClient,
  idsOf,
  type NodeReport,
  sendAtOnce,
  UNKNOWN_ID,
} from '../../support/nodes.js';
import { remember } from '../../support/requests.js';
import { tables } from '../../support/rows.js';
import { type Service, startService } from '../../support/service.js';

const SESSION = 's-1';
const NOTHING = {
  applied: true,
  promoted_node_ids: [],
  merged: [],
  strengthened: [],
  relinked: [],
  summaries: [],
  summary_node_ids: [],
};

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

/** A node of the session, sure enough to stay. */
const learnt = (content: string, fields: object = {}): Promise<NodeReport> =>
  graph.node({ content, tier: 'session', session_id: SESSION, confidence: 0.9, ...fields });

/** Four sure nodes, three of them in a chain. */
async function chain(): Promise<[NodeReport, NodeReport, NodeReport, NodeReport]> {
  const first = await learnt('Redis listens on 6380', { confidence: 0.8 });
  const second = await learnt('The pool holds ten', { confidence: 0.95 });
  const third = await learnt('The cart is cached');
  const apart = await learnt('Tabs, not blanks');
  await graph.link(first, second, { label: 'explains' });
  await graph.link(second, third, { label: 'explains' });
  return [first, second, third, apart];
}

test.each([
  [0.8, undefined, true],
  [0.79, undefined, false],
  [1, undefined, true],
  [0, undefined, false],
  [0.5, 0.5, true],
  [0.49, 0.5, false],
  [0, 0, true],
  [0.99, 1, false],
])(
  'SPEC-02.17 with confidence %d and threshold %s a node of the session goes up: %s',
  async (confidence, threshold, up) => {
    const { id } = await learnt('Redis is up', { confidence });
    const evolved = await evolution.promoteSession(SESSION, threshold === undefined ? {} : { threshold });
    expect(evolved).toEqual({ ...NOTHING, promoted_node_ids: up ? [id] : [] });
    expect(await evolution.seen(id)).toMatchObject({ tier: up ? 'longterm' : 'session', confidence });
  },
);

test.each([
  [[0], [0]],
  [
    [0, 0, 0],
    [0, 1, 2],
  ],
  [
    [0, 1, 2],
    [1, 2],
  ],
  [
    [3, 1, 2, 2],
    [0, 2, 3],
  ],
  [
    [0, 0, 5, 6],
    [2, 3],
  ],
  [[1, 2], [1]],
])('of nodes looked at %j times those go up that reach the upper median: %j', async (looks, expected) => {
  const nodes: NodeReport[] = [];
  for (const [index, count] of looks.entries()) {
    const node = await learnt(`Number ${index}`);
    evolution.look(...Array.from({ length: count }, () => node));
    nodes.push(node);
  }
  const { promoted_node_ids: promoted } = await evolution.promoteSession(SESSION);
  expect(promoted.map((id) => idsOf(nodes).indexOf(id)).sort()).toEqual(expected);
});

test('a look is a request for the node, and not a list that holds it', async () => {
  const [looked, listed] = [await learnt('Looked at'), await learnt('Listed')];
  await graph.getNode(looked.id).expect(200);
  await graph.allNodes();
  expect((await evolution.promoteSession(SESSION)).promoted_node_ids).toEqual([looked.id]);
  expect((await evolution.seen(listed.id)).tier).toBe('session');
});

test('three connected nodes that go up are crystallised into a fact that stays', async () => {
  const [first, second, third, apart] = await chain();
  const evolved = await evolution.promoteSession(SESSION);
  expect([...evolved.promoted_node_ids].sort()).toEqual(idsOf([first, second, third, apart]).sort());
  expect(evolved.summary_node_ids).toHaveLength(1);
  const summary = await evolution.seen(evolved.summary_node_ids[0] as string);
  expect(summary).toMatchObject({
    type: 'fact',
    tier: 'longterm',
    confidence: 0.95,
    content: 'Summary: Redis listens on 6380; The pool holds ten; The cart is cached',
    metadata: { crystallized: true, source_nodes: idsOf([first, second, third]), session_id: SESSION },
  });
  const edges = await graph.allEdges({ label: 'summarizes' });
  expect(edges.map(({ type }) => type)).toEqual(['composition', 'composition', 'composition']);
  expect(edges.map(({ members }) => members.map(({ role, node_id }) => `${role} ${node_id}`)).sort()).toEqual(
    [first, second, third].map(({ id }) => [`subject ${summary.id}`, `object ${id}`]).sort(),
  );
});

test('two connected nodes, and three of which one stays behind, are not crystallised', async () => {
  const [one, two] = [await learnt('One'), await learnt('Two')];
  const unsure = await learnt('Three', { confidence: 0.5 });
  await graph.link(one, two, { label: 'explains' });
  await graph.link(two, unsure, { label: 'explains' });
  expect(await evolution.promoteSession(SESSION)).toMatchObject({ summary_node_ids: [] });
});

test('a crystallised fact says at most five sources in at most 100 characters each, and links to all', async () => {
  const nodes: NodeReport[] = [];
  for (let index = 0; index < 7; index++) nodes.push(await learnt(`${index}${'x'.repeat(200)}`));
  for (const node of nodes.slice(1)) await graph.link(nodes[0] as NodeReport, node, { label: 'explains' });
  const { summary_node_ids: summaries } = await evolution.promoteSession(SESSION);
  const { content } = await evolution.seen(summaries[0] as string);
  expect(content).toBe(`Summary: ${[0, 1, 2, 3, 4].map((index) => `${index}${'x'.repeat(99)}`).join('; ')}`);
  expect(await graph.allEdges({ label: 'summarizes' })).toHaveLength(7);
});

test('a session that is promoted a second time changes not one row more', async () => {
  await chain();
  await learnt('Hardly sure', { confidence: 0.2 });
  evolution.look(await learnt('Often looked at'));
  const first = await evolution.promoteSession(SESSION, { threshold: 0.8 });
  expect(first.promoted_node_ids.length).toBeGreaterThan(0);
  expect(first.summary_node_ids).toHaveLength(1);
  const before = await evolution.everything();
  service.clock.advance(1_000);
  expect(await evolution.promoteSession(SESSION)).toEqual(NOTHING);
  expect(await evolution.everything()).toEqual(before);
});

test('each run leaves the bar where it is: who was looked at too seldom stays behind for good', async () => {
  const nodes = [await learnt('Never'), await learnt('Once'), await learnt('Twice'), await learnt('Thrice')];
  for (const [count, node] of nodes.entries()) evolution.look(...Array.from({ length: count }, () => node));
  await evolution.promoteSession(SESSION);
  for (let run = 0; run < 3; run++) expect(await evolution.promoteSession(SESSION)).toEqual(NOTHING);
  expect((await evolution.seen(nodes[0]?.id as string)).tier).toBe('session');
});

test('a dry run says what a run then does, and changes not one row', async () => {
  await chain();
  const before = await evolution.everything();
  const { applied, summaries, ...said } = await evolution.promoteSession(SESSION, { dry_run: true });
  expect(applied).toBe(false);
  expect(said.promoted_node_ids).toHaveLength(4);
  expect(summaries).toEqual([{ node_id: null, source_node_ids: expect.any(Array) }]);
  expect(await evolution.everything()).toEqual(before);
  const done = await evolution.promoteSession(SESSION);
  expect(done).toMatchObject({ ...said, summary_node_ids: [expect.any(String)] });
  expect(done.summaries).toEqual([{ ...summaries[0], node_id: done.summary_node_ids[0] }]);
});

test('two runs at once do together what one run does', async () => {
  await chain();
  const answers = await sendAtOnce(service, () =>
    [1, 2, 3].map(() => evolution.postPromote({ of: 'session', session_id: SESSION })),
  );
  expect(answers.map(({ status }) => status)).toEqual([200, 200, 200]);
  expect(answers.flatMap(({ body }) => body.promoted_node_ids)).toHaveLength(4);
  expect(answers.flatMap(({ body }) => body.summary_node_ids)).toHaveLength(1);
});

test('a node that became unsure in the meantime does not go up', async () => {
  for (let round = 0; round < 10; round++) {
    const session = `s-${round}`;
    const { id } = await learnt('Redis is up', { session_id: session });
    await sendAtOnce(service, () => [
      graph.patchNode(id, { confidence: 0.1 }),
      evolution.postPromote({ of: 'session', session_id: session }),
    ]);
    const operations = (await evolution.log({ node: id })).map(({ operation }) => operation).reverse();
    const changedFirst =
      !operations.includes('promote') || operations.indexOf('update') < operations.indexOf('promote');
    expect((await evolution.seen(id)).tier).toBe(changedFirst ? 'session' : 'longterm');
  }
});

test('another session, nodes without one, other tiers and memories stay as they are', async () => {
  const others = [
    await learnt('Another', { session_id: 's-2' }),
    await graph.node({ content: 'Without', tier: 'session', confidence: 1 }),
    await learnt('Of a task', { tier: 'task' }),
    await learnt('There already', { tier: 'longterm' }),
    await learnt('Archived', { tier: 'archive' }),
    await evolution.seen(await remember(service, { text: 'A memory' }, evolution.repoId)),
  ];
  const { id } = await learnt('Redis is up');
  service.clock.advance(1_000);
  expect(await evolution.promoteSession(SESSION)).toMatchObject({ promoted_node_ids: [id] });
  for (const other of others) expect(await evolution.seen(other.id)).toEqual(other);
});

test('the same session of another repo is not touched', async () => {
  const other = new EvolutionClient(service, `${evolution.repoId}-other`);
  await other.graph.node({ tier: 'session', session_id: SESSION, confidence: 1 });
  const before = tables(service, other.repoId);
  await chain();
  await evolution.promoteSession(SESSION);
  expect(tables(service, other.repoId)).toEqual(before);
});

test('a session that nobody knows is empty', async () => {
  expect(await evolution.promoteSession('unheard-of')).toEqual(NOTHING);
});

test('the end of a task and then of its session bring what was learnt to stay', async () => {
  const noted = { task_id: 't-1', session_id: SESSION, confidence: 0.9 };
  const { id } = await graph.node({ content: 'Redis is up', ...noted });
  await graph.node({ content: 'redis is up', ...noted, confidence: 0.3 });
  await evolution.consolidate('t-1');
  expect((await evolution.promoteSession(SESSION)).promoted_node_ids).toEqual([id]);
  expect(await evolution.moves(id)).toEqual([
    'tier_transition: task to session',
    'consolidate: task to session',
    'tier_transition: session to longterm',
    'promote: session to longterm',
  ]);
});

// One node

test.each([
  ['task', undefined, 'session'],
  ['task', 'session', 'session'],
  ['task', 'longterm', 'longterm'],
  ['session', undefined, 'longterm'],
  ['session', 'longterm', 'longterm'],
])(
  'SPEC-02.17 a node of tier %s promoted by hand to %s is in tier %s, however unsure',
  async (tier, target, expected) => {
    const { id } = await graph.node({ tier, confidence: 0 });
    expect(await evolution.promoteNode(id, target === undefined ? {} : { tier: target })).toEqual({
      ...NOTHING,
      promoted_node_ids: [id],
    });
    expect((await evolution.seen(id)).tier).toBe(expected);
    expect(await evolution.moves(id)).toEqual([
      `tier_transition: ${tier} to ${expected}`,
      `promote: ${tier} to ${expected}`,
    ]);
  },
);

test.each([
  ['longterm', undefined],
  ['longterm', 'longterm'],
  ['longterm', 'session'],
  ['archive', undefined],
  ['archive', 'longterm'],
  ['archive', 'session'],
  ['session', 'session'],
])('SPEC-02.17 a node of tier %s cannot be promoted to %s', async (tier, target) => {
  const { id } = await graph.node({ tier });
  const request = evolution.postPromote({ of: 'node', node_id: id, ...(target && { tier: target }) });
  const { code, fields } = await expectRefused(service, request, 409, evolution.repoId);
  expect({ code, fields }).toEqual({ code: 'conflict', fields: ['node_id'] });
});

test.each([UNKNOWN_ID, 'no-id', ''])('a node that there is not cannot be promoted: %j', async (id) => {
  await graph.node();
  const request = evolution.postPromote({ of: 'node', node_id: id });
  expect((await expectRefused(service, request, 404, evolution.repoId)).code).toBe('not_found');
});

test('a node of another repo cannot be promoted', async () => {
  const other = new EvolutionClient(service, `${evolution.repoId}-other`);
  const { id } = await other.graph.node();
  await evolution.postPromote({ of: 'node', node_id: id }).expect(404);
  expect((await other.seen(id)).tier).toBe('task');
});

test('a dry run of promoting one node says so, and changes not one row', async () => {
  const { id } = await graph.node();
  const before = await evolution.everything();
  expect(await evolution.promoteNode(id, { dry_run: true })).toEqual({
    ...NOTHING,
    applied: false,
    promoted_node_ids: [id],
  });
  expect(await evolution.everything()).toEqual(before);
});

test.each(['repo', 'global'])('a memory of scope %s that was moved down can be promoted by hand', async (scope) => {
  const id = await remember(service, { text: `Of ${scope}`, scope }, evolution.repoId);
  await graph.patchNode(id, { tier: 'session' }).expect(200);
  expect((await evolution.promoteNode(id)).promoted_node_ids).toEqual([id]);
  expect((await graph.getNode(id).expect(200)).body.tier).toBe('longterm');
});

test.each([
  ['nothing to promote', {}],
  ['an unknown thing to promote', { of: 'task', task_id: 't' }],
  ['no session', { of: 'session' }],
  ['an empty session', { of: 'session', session_id: '' }],
  ['a threshold above 1', { of: 'session', session_id: SESSION, threshold: 1.1 }],
  ['a threshold below 0', { of: 'session', session_id: SESSION, threshold: -0.1 }],
  ['the tier task', { of: 'node', node_id: UNKNOWN_ID, tier: 'task' }],
  ['the tier archive', { of: 'node', node_id: UNKNOWN_ID, tier: 'archive' }],
  ['a field that there is not', { of: 'session', session_id: SESSION, confirm: false }],
])('SPEC-02.36 a promotion with %s is refused, and changes nothing', async (_, fields) => {
  await learnt('Redis is up');
  const { fields: named } = await expectRefused(service, evolution.postPromote(fields), 400, evolution.repoId);
  expect(named.length).toBeGreaterThan(0);
});
