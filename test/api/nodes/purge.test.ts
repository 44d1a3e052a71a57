import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { expectRefused, GraphClient, idsOf, members, type NodeReport, REPO } from '../../support/nodes.js';
import { allItems, idsIn, recall, remember } from '../../support/requests.js';
import { select, tables } from '../../support/rows.js';
import { type Service, startService } from '../../support/service.js';

let service: Service;
let graph: GraphClient;
beforeAll(async () => {
  service = await startService();
  graph = new GraphClient(service);
});
afterAll(() => service.stop());

type Three = [NodeReport, NodeReport, NodeReport];
const three = async (): Promise<Three> => (await graph.nodes('Aardvark', 'Badger', 'Cormorant')) as Three;
const purge = (id: string) => graph.deleteNode(id, { permanent: true });
const membershipsOf = (edgeId: string) =>
  select(
    service,
    REPO,
    `SELECT n.id, s.role FROM membership s JOIN hyperedges e ON e.seq = s.edge_seq JOIN nodes n ON n.seq = s.node_seq
     WHERE e.id = ? ORDER BY s.position`,
    edgeId,
  );

test('SPEC-02.23 a node that is removed for good is nowhere any more', async () => {
  const { id } = await graph.node({ content: 'To be forgotten', tags: ['gone'], metadata: { x: 1 } });
  await graph.getNode(id).expect(200);
  expect((await purge(id).expect(200)).body).toEqual({ id, purged: true, node: null });
  await graph.getNode(id).expect(404);
  await graph.restoreNode(id).expect(404);
  await graph.patchNode(id, { content: 'x' }).expect(404);
  await graph.deleteNode(id).expect(404);
  await purge(id).expect(404);
  await graph.getRelated(id).expect(404);
  expect(idsOf(await graph.allNodes({ include_archived: true }))).not.toContain(id);
  expect(await graph.listed({ tag: 'gone', include_archived: true })).toEqual([]);
  expect(select(service, REPO, 'SELECT * FROM nodes WHERE id = ?', id)).toEqual([]);
});

test('SPEC-02.23 an archived node can be removed for good', async () => {
  const { id } = await graph.node();
  await graph.deleteNode(id).expect(200);
  await purge(id).expect(200);
  await graph.getNode(id).expect(404);
});

test('SPEC-02.23 nothing that hung on a removed node is left in any table', async () => {
  const alone = new GraphClient(service, 'purge/alone');
  const [first, second] = [
    await alone.node({ content: 'Hung with things', tags: ['a', 'b'] }),
    await alone.node({ content: 'Plain' }),
  ];
  const edge = await alone.link(first, second);
  await alone.patchNode(first.id, { confidence: 0.9 }).expect(200);
  await alone.deleteNode(first.id, { permanent: true }).expect(200);
  await alone.getEdge(edge.id).expect(404);
  const left = tables(service, 'purge/alone');
  for (const table of ['hyperedges', 'membership', 'node_tags', 'confidence_updates', 'node_access'])
    expect(left[table], table).toEqual([]);
  expect(left.nodes).toMatchObject([{ id: second.id }]);
});

test('SPEC-02.14 SPEC-02.38 a removed node leaves its edges; those with fewer than two members left go with it', async () => {
  const [a, b, c] = await three();
  const pair = await graph.link(a, b);
  const single = await graph.edge(members(['context', a]), { type: 'context' });
  const self = await graph.edge(members(['subject', a], ['object', a]), { label: 'knows' });
  const triple = await graph.edge(members(['subject', b], ['object', a], ['context', c]));
  const others = await graph.link(b, c);
  await purge(a.id).expect(200);
  for (const { id } of [pair, single, self]) await graph.getEdge(id).expect(404);
  expect(membershipsOf(triple.id)).toEqual([
    { id: b.id, role: 'subject' },
    { id: c.id, role: 'context' },
  ]);
  expect((await graph.getEdge(triple.id).expect(200)).body).toEqual({
    ...triple,
    members: triple.members.filter(({ node_id }) => node_id !== a.id),
  });
  expect((await graph.getEdge(others.id).expect(200)).body).toEqual(others);
  expect(idsOf(await graph.allEdges({ node: b.id })).sort()).toEqual([triple.id, others.id].sort());
});

test('SPEC-02.25 what is left of an edge is still one edge: drawing it again finds it', async () => {
  const [a, b, c] = await three();
  const edge = await graph.edge(members(['participant', a], ['participant', b], ['participant', c]), {
    label: 'related_to',
  });
  await purge(c.id).expect(200);
  const again = await graph.postEdge({ label: 'related_to', members: members(['participant', a], ['participant', b]) });
  expect([again.status, again.body.id]).toEqual([200, edge.id]);
});

test('SPEC-02.25 an edge that comes to say the same as another does not stay beside it', async () => {
  const [a, b, c] = await three();
  await graph.edge(members(['participant', a], ['participant', b]), { label: 'related_to' });
  await graph.edge(members(['participant', a], ['participant', b], ['participant', c]), { label: 'related_to' });
  await purge(c.id).expect(200);
  expect(await graph.allEdges({ node: a.id })).toHaveLength(1);
});

test('SPEC-02.19 the members that are left are told in the log that an edge of theirs is gone', async () => {
  const [a, b, c] = await three();
  await graph.link(a, b, { label: 'explains' });
  await graph.edge(members(['participant', b], ['participant', c]), { label: 'related_to' });
  await graph.edge(members(['participant', a], ['participant', b], ['participant', c]), { label: 'related_to' });
  await purge(a.id).expect(200);
  const log = async (id: string) =>
    (await service.http.get('/evolution').query({ repo_id: REPO, node: id }).expect(200)).body.entries.map(
      ({ operation, node_ids }: { operation: string; node_ids: string[] }) => [operation, node_ids],
    );
  expect((await log(b.id)).slice(0, 2)).toEqual([
    ['unlink:related_to', [b.id, c.id]],
    ['unlink:explains', [a.id, b.id]],
  ]);
  expect((await log(c.id))[0]).toEqual(['unlink:related_to', [b.id, c.id]]);
  expect((await log(a.id)).slice(0, 2)).toEqual([
    ['purge', [a.id]],
    ['unlink:explains', [a.id, b.id]],
  ]);
});

test('SPEC-02.23 a removed node is not found by a question', async () => {
  const { id } = await graph.node({ content: 'The quokka hides the spare key' });
  expect(idsIn((await recall(service, 'quokka spare key')).direct)).toEqual([id]);
  await purge(id).expect(200);
  expect(allItems(await recall(service, 'quokka spare key', { include_archived: true }))).toEqual([]);
});

test('SPEC-02.23 what is written after a removal is not taken for what was removed', async () => {
  const left = new GraphClient(service, 'purge/reuse');
  const [other, gone] = [await left.node({ content: 'Stays' }), await left.node({ content: 'The okapi sleeps' })];
  await left.getNode(gone.id).expect(200);
  await left.getRelated(gone.id).expect(200);
  await left.deleteNode(gone.id, { permanent: true }).expect(200);
  const fresh = await left.node({ content: 'The tapir wakes' });
  await left.link(fresh, other);
  expect(await left.allEdges({ node: gone.id })).toEqual([]);
  await left.getNode(gone.id).expect(404);
  expect((await left.listed()).find(({ id }) => id === fresh.id)).toMatchObject({ access_count: 0, tags: [] });
  expect(allItems(await recall(service, 'okapi', {}, 'purge/reuse'))).toEqual([]);
  expect(idsIn((await recall(service, 'tapir', {}, 'purge/reuse')).direct)).toEqual([fresh.id]);
});

describe('SPEC-02.23 a memory', () => {
  test.each(['repo', 'global'])('of scope %s is never removed', async (scope) => {
    const id = await remember(service, { text: `Here to stay in ${scope}`, scope });
    const refusal = await expectRefused(service, purge(id), 409);
    expect(refusal).toEqual({ code: 'conflict', fields: ['permanent'] });
    await graph.getNode(id).expect(200);
  });

  test('outlives the nodes that were linked to it', async () => {
    const memoryId = await remember(service, { text: 'Linked to a node that goes' });
    const { id } = await graph.node({ content: 'Goes' });
    await graph.edge(members(['subject', memoryId], ['object', id]), { label: 'supports' });
    await purge(id).expect(200);
    expect(await graph.allEdges({ node: memoryId })).toEqual([]);
    await graph.getNode(memoryId).expect(200);
  });
});
