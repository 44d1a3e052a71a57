import { afterAll, beforeAll, beforeEach, expect, test, vi } from 'vitest';
import type { Change, InsertNode, Plan } from '../../../src/domain/changes.js';
import type { Concept } from '../../../src/domain/node.js';
import { EvolutionClient } from '../../support/evolution.js';
import { members } from '../../support/nodes.js';
import { type Service, startService } from '../../support/service.js';

/** Tasks and sessions that are larger than one plan, and nodes with very many edges. */

const TASK = 'long-haul';
const SESSION = 's-long';
const NODES = 5_200;

let service: Service;
let evolution: EvolutionClient;
let repos = 0;
let ids = 0;
beforeAll(async () => {
  service = await startService();
});
beforeEach(() => {
  evolution = new EvolutionClient(service, `acme/large-${++repos}`);
});
afterAll(() => service.stop());

const newId = (): string => `10000000-0000-4000-8000-${String(++ids).padStart(12, '0')}`;

function concept(fields: Partial<Concept>): InsertNode {
  const atMs = service.clock.now();
  return {
    change: 'insert_node',
    terms: [],
    node: {
      id: newId(),
      form: 'concept',
      kind: null,
      type: 'fact',
      repoId: evolution.repoId,
      scope: 'repo',
      content: '',
      confidence: 0.9,
      tier: 'task',
      archivedAtMs: null,
      archiveReason: null,
      revision: 1,
      createdAtMs: atMs,
      updatedAtMs: atMs,
      provenance: null,
      metadata: {},
      tags: [],
      sessionId: SESSION,
      taskId: TASK,
      ...fields,
    },
  };
}

const relation = (from: string, to: string): Change => ({
  change: 'insert_edge',
  id: newId(),
  repoId: evolution.repoId,
  type: 'relation',
  label: 'owns',
  weight: 1,
  origin: 'manual',
  rationale: null,
  members: [
    { nodeId: from, role: 'subject', position: 0 },
    { nodeId: to, role: 'object', position: 1 },
  ],
  atMs: service.clock.now(),
});

const store = (changes: readonly Change[]): Promise<void> => service.store.apply({ space: evolution.repoId, changes });

const countIn = async (tier: string): Promise<number> => (await evolution.graph.allNodes({ tier, limit: 500 })).length;

test('one run takes a task of any size, with its twins wherever they are in it, and the next changes nothing', async () => {
  // The twins of the surest are the least sure, so that they are at both ends of every list.
  const nodes = Array.from({ length: NODES }, (_, index) =>
    concept({
      content: index < 10 ? `note ${index}` : index >= NODES - 10 ? `NOTE ${NODES - 1 - index}` : `text ${index}`,
      confidence: 1 - index / NODES,
      kind: index % 100 === 50 ? 'finding' : null,
    }),
  );
  await store(nodes);
  const dry = await evolution.consolidate(TASK, { dry_run: true });
  const done = await evolution.consolidate(TASK);
  expect(done.promoted_node_ids).toHaveLength(NODES - 10);
  expect(done.merged).toHaveLength(10);
  expect(done.summaries.map(({ source_node_ids }) => source_node_ids.length)).toEqual([52]);
  expect([...dry.promoted_node_ids].sort()).toEqual([...done.promoted_node_ids].sort());
  expect(dry.summaries[0]?.source_node_ids).toEqual(done.summaries[0]?.source_node_ids);
  expect(await countIn('task')).toBe(0);
  expect(await evolution.consolidate(TASK)).toMatchObject({ promoted_node_ids: [], merged: [], summaries: [] });
});

/** The plans that are applied while something runs. */
async function plansDuring(run: () => Promise<unknown>): Promise<Plan[]> {
  const spy = vi.spyOn(service.store, 'apply');
  await run();
  const plans = spy.mock.calls.map(([plan]) => plan);
  spy.mockRestore();
  return plans;
}

test('thousands of nodes that say the same are merged part by part, each part small, as the dry run said', async () => {
  const twins = Array.from({ length: 3_000 }, (_, index) =>
    concept({
      content: index % 2 === 0 ? 'same' : 'Same',
      confidence: 0.5 + (index % 7 === 3 ? 0.001 : 0),
      tags: [`t${index % 3}`],
    }),
  );
  const others = Array.from({ length: 40 }, (_, index) => concept({ content: `other ${index}` }));
  const idAt = (list: readonly InsertNode[], index: number): string =>
    (list[index % list.length] as InsertNode).node.id;
  const edges = twins.flatMap(({ node }, index) => [
    relation(node.id, idAt(others, index)),
    relation(idAt(others, index * 3 + 1), node.id),
    relation(node.id, idAt(twins, index + 1_500)),
  ]);
  await store([...twins, ...others, ...edges]);
  for (const { node } of [...twins.slice(0, 10), ...twins.slice(-10), ...others.slice(0, 5)])
    evolution.look(node, node);
  const dry = await evolution.consolidate(TASK, { dry_run: true });
  let done = dry;
  const plans = await plansDuring(async () => {
    done = await evolution.consolidate(TASK);
  });
  expect(Math.max(...plans.map(({ changes }) => changes.length))).toBeLessThanOrEqual(2_000);
  expect(done).toEqual({ ...dry, applied: true });
  expect(new Set(done.merged.map((each) => each.into_node_id)).size).toBe(1);
  expect([done.promoted_node_ids.length, done.merged.length, done.relinked.length]).toEqual([41, 2_999, 78]);
  const keptId = done.merged[0]?.into_node_id as string;
  const kept = (await evolution.graph.getNode(keptId).expect(200)).body;
  expect(kept).toMatchObject({ tier: 'session', confidence: 0.501, access_count: 41, tags: ['t0', 't1', 't2'] });
  const before = await evolution.everything();
  expect(await evolution.consolidate(TASK)).toMatchObject({ promoted_node_ids: [], merged: [], relinked: [] });
  expect(await evolution.everything()).toEqual(before);
});

test('the sources of a long summary are joined to it part by part', async () => {
  await store(Array.from({ length: 2_500 }, (_, index) => concept({ content: `text ${index}`, kind: 'finding' })));
  const plans = await plansDuring(() => evolution.consolidate(TASK));
  expect(Math.max(...plans.map(({ changes }) => changes.length))).toBeLessThanOrEqual(2_000);
  expect(await evolution.graph.allEdges({ label: 'summarizes', limit: 500 })).toHaveLength(2_500);
  expect(await evolution.consolidate(TASK)).toMatchObject({ promoted_node_ids: [], summaries: [] });
});

test('an edge between parts of a large task is strengthened once, by the most used of its members', async () => {
  const nodes = Array.from({ length: 1_100 }, (_, index) => concept({ content: `text ${index}` }));
  const [first, last] = [nodes[0] as InsertNode, nodes.at(-1) as InsertNode];
  await store([...nodes, relation(first.node.id, last.node.id)]);
  for (let look = 0; look < 4; look++) evolution.look(last.node);
  evolution.look(first.node, first.node);
  const { strengthened } = await evolution.consolidate(TASK);
  expect(strengthened.map(({ weight }) => weight)).toEqual([expect.closeTo(1.4, 9)]);
});

test('one run promotes a session of any size, by the median of all of it', async () => {
  const nodes = Array.from({ length: NODES }, (_, index) =>
    concept({ content: `text ${index}`, tier: 'session', confidence: index < 100 ? 0.5 : 0.9 }),
  );
  await store(nodes);
  const [one, two, three] = nodes.slice(-3).map((node) => node.node.id) as [string, string, string];
  await store([relation(one, two), relation(two, three)]);
  const dry = await evolution.promoteSession(SESSION, { dry_run: true });
  expect(dry.summaries).toEqual([{ node_id: null, source_node_ids: [one, two, three] }]);
  expect(dry.summary_node_ids).toEqual([]);
  const done = await evolution.promoteSession(SESSION);
  expect(done.promoted_node_ids).toHaveLength(NODES - 100);
  expect(done.summaries).toEqual([{ node_id: done.summary_node_ids[0], source_node_ids: [one, two, three] }]);
  expect(await countIn('session')).toBe(100);
  expect(await evolution.promoteSession(SESSION)).toMatchObject({ promoted_node_ids: [], summaries: [] });
});

test('what most of a large session was asked for more often than stays in it', async () => {
  const nodes = Array.from({ length: 1_200 }, (_, index) => concept({ content: `text ${index}`, tier: 'session' }));
  await store(nodes);
  const used = nodes.slice(0, 700).map((node) => node.node);
  evolution.look(...used);
  const { promoted_node_ids: promoted } = await evolution.promoteSession(SESSION);
  expect([...promoted].sort()).toEqual(used.map(({ id }) => id).sort());
});

test.each([250, 1_300])(
  'a node that is merged leaves all of its %d connections to the one that is kept',
  async (count) => {
    const [twin, kept] = [concept({ content: 'same', confidence: 0.4 }), concept({ content: 'Same' })];
    const others = Array.from({ length: count }, () => concept({ tier: 'longterm', taskId: null }));
    await store([twin, kept, ...others, ...others.map((other) => relation(twin.node.id, other.node.id))]);
    const { merged, relinked } = await evolution.consolidate(TASK);
    expect(merged).toEqual([{ node_id: twin.node.id, into_node_id: kept.node.id }]);
    expect(relinked).toHaveLength(count);
    const joined = await evolution.graph.allEdges({ node: kept.node.id, limit: 500 });
    expect(joined.map((edge) => edge.members[1]?.node_id).sort()).toEqual(others.map((other) => other.node.id).sort());
  },
);

test('a node with more connections than can be drawn again is not merged', async () => {
  const [hub, twin] = [concept({ content: 'same', confidence: 0.4 }), concept({ content: 'Same' })];
  const others = Array.from({ length: 2_100 }, () => concept({ tier: 'longterm', taskId: null }));
  await store([hub, twin, ...others, ...others.map((other) => relation(hub.node.id, other.node.id))]);
  const { promoted_node_ids: promoted, merged } = await evolution.consolidate(TASK);
  expect(merged).toEqual([]);
  expect([...promoted].sort()).toEqual([hub.node.id, twin.node.id].sort());
});

test('an edge in which several become one joins the one to all others', async () => {
  const note = (confidence: number) => evolution.graph.node({ content: 'same', task_id: TASK, confidence });
  const [one, two, kept] = [await note(0.5), await note(0.5), await note(0.9)];
  const other = await evolution.graph.node({ content: 'other', tier: 'longterm' });
  const parts = members(['participant', one], ['participant', two], ['participant', other]);
  const { id } = await evolution.graph.edge(parts, { label: 'with' });
  const { relinked } = await evolution.consolidate(TASK);
  expect(relinked).toEqual([{ edge_id: id, node_ids: [kept.id, other.id] }]);
  const { body } = await evolution.graph.getRelated(kept.id).expect(200);
  expect(JSON.stringify(body)).toContain(other.id);
});
