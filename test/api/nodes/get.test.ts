import { afterAll, beforeAll, expect, test } from 'vitest';
import { temporaryDirectory } from '../../support/directories.js';
import { GraphClient, REPO, sendAtOnce, UNKNOWN_ID } from '../../support/nodes.js';
import { recall, remember } from '../../support/requests.js';
import { type Service, startService } from '../../support/service.js';
import { times } from '../../support/together.js';

let service: Service;
let graph: GraphClient;
beforeAll(async () => {
  service = await startService();
  graph = new GraphClient(service);
});
afterAll(() => service.stop());

const accessOf = async (id: string) => {
  const node = (await graph.allNodes()).find((listed) => listed.id === id);
  return { count: node?.access_count, atMs: node?.last_accessed };
};

test('SPEC-02.07 SPEC-02.21 each look at a node is counted at once, with its moment', async () => {
  const { id, created_at } = await graph.node({ content: 'Looked at' });
  for (const count of [1, 2, 3]) {
    const atMs = service.clock.advance(1_000);
    const { body } = await graph.getNode(id).expect(200);
    expect(body).toMatchObject({ access_count: count, last_accessed: atMs, created_at, updated_at: created_at });
    expect(await accessOf(id)).toEqual({ count, atMs });
  }
});

test('SPEC-02.07 looks at the same time are all counted', async () => {
  const { id } = await graph.node({ content: 'Looked at by many' });
  await sendAtOnce(service, () => times(20, () => graph.getNode(id)));
  expect((await accessOf(id)).count).toBe(20);
});

test('SPEC-02.07 a look is no change: neither the revision nor the time of the last change moves', async () => {
  const made = await graph.node({ content: 'Only looked at' });
  service.clock.advance(1_000);
  const { body, headers } = await graph.getNode(made.id).expect(200);
  expect(body).toEqual({ ...made, access_count: 1, last_accessed: service.clock.now() });
  expect(headers.etag).toBe('"1"');
});

test('SPEC-02.07 lists, neighbours, pictures, paths and searches are no looks', async () => {
  const content = 'The walrus keeps the ledger';
  const [first, second] = [await graph.node({ content, tags: ['sea'] }), await graph.node({ content })];
  const edge = await graph.link(first, second);
  const before = await accessOf(first.id);
  service.clock.advance(1_000);
  await graph.getNodes({ tag: 'sea' }).expect(200);
  await graph.getRelated(second.id).expect(200);
  await graph.getRelated(first.id).expect(200);
  await graph.getPicture({ node: first.id }).expect(200);
  await graph.getPath({ from: first.id, to: second.id }).expect(200);
  await graph.getEdge(edge.id).expect(200);
  await graph.getEdges({ node: first.id }).expect(200);
  expect((await recall(service, 'walrus ledger')).direct).toHaveLength(2);
  expect(await accessOf(first.id)).toEqual(before);
  expect(before).toEqual({ count: 0, atMs: first.created_at });
});

test('SPEC-02.07 a change, a move to the archive and a refusal are no looks', async () => {
  const { id } = await graph.node({ content: 'Worked on' });
  await graph.patchNode(id, { content: 'Worked on again' }).expect(200);
  await graph.patchNode(id, { confidence: 2 }).expect(400);
  await graph.deleteNode(id).expect(200);
  expect((await graph.restoreNode(id).expect(200)).body.access_count).toBe(0);
});

test('SPEC-02.07 looks at a memory are counted too, without changing it', async () => {
  const id = await remember(service, { text: 'A memory that is looked at' });
  const first = (await graph.getNode(id).expect(200)).body;
  expect(first).toMatchObject({ form: 'memory', access_count: 1, revision: 1 });
  expect((await graph.getNode(id).expect(200)).body).toEqual({ ...first, access_count: 2 });
});

test('SPEC-02.07 looks at a global memory are counted for all repos together', async () => {
  const id = await remember(service, { text: 'Looked at from everywhere', scope: 'global' });
  await graph.getNode(id).expect(200);
  const { body } = await new GraphClient(service, 'acme/other').getNode(id).expect(200);
  expect(body.access_count).toBe(2);
});

test('SPEC-02.01 SPEC-02.07 nodes, edges and looks are there after a restart, and counted on', async () => {
  const directory = temporaryDirectory();
  try {
    const file = directory.path('memory.db');
    const first = await startService({ RLM_MEMORY_DB: file });
    const before = new GraphClient(first);
    const [node, other] = await before.nodes('Kept over a restart', 'Kept too');
    if (!node || !other) throw new Error('nothing was made');
    const edge = await before.link(node, other, { label: 'outlives' });
    await before.getNode(node.id).expect(200);
    const lookedAtMs = first.clock.advance(5_000);
    const { body: seen } = await before.getNode(node.id).expect(200);
    expect(seen).toMatchObject({ access_count: 2, last_accessed: lookedAtMs });
    await first.stop();

    const second = await startService({ RLM_MEMORY_DB: file });
    const after = new GraphClient(second);
    expect((await after.allNodes()).find(({ id }) => id === node.id)).toEqual(seen);
    expect((await after.getEdge(edge.id).expect(200)).body).toEqual(edge);
    const atMs = second.clock.advance(60_000);
    expect((await after.getNode(node.id).expect(200)).body).toEqual({ ...seen, access_count: 3, last_accessed: atMs });
    await second.stop();
  } finally {
    directory.remove();
  }
});

test.each([
  ['an id that nothing has', UNKNOWN_ID],
  ['an id of the wrong form', 'not-an-id'],
  ['an id in capitals', UNKNOWN_ID.toUpperCase()],
  ['SQL for an id', `' OR 1=1 --`],
  ['a percent sign for an id', '%'],
])('SPEC-02.21 SPEC-02.33 %s is not found', async (_, id) => {
  const { body } = await graph.getNode(id).expect(404);
  expect(body).toMatchObject({ code: 'not_found', errors: [{ field: 'node_id', code: 'not_found' }] });
  await graph.patchNode(id, { content: 'x' }).expect(404);
  await graph.deleteNode(id).expect(404);
  await graph.deleteNode(id, { permanent: true }).expect(404);
  await graph.restoreNode(id).expect(404);
  await graph.getRelated(id).expect(404);
});

test.each([
  ['an unknown parameter', { verbose: 'yes' }, 400],
  ['an empty repo id', { repo_id: '' }, 400],
  ['a blank repo id', { repo_id: ' ' }, 422],
])('SPEC-02.21 %s is refused', async (_, query, status) => {
  await service.http.get(`/nodes/${UNKNOWN_ID}`).query(query).expect(status);
});

test('SPEC-02.21 a memory is shown as the node that it is', async () => {
  const id = await remember(service, { text: 'Also a node', kind: 'preference', confidence: 0.6 });
  expect((await graph.getNode(id).expect(200)).body).toMatchObject({
    id,
    form: 'memory',
    type: 'fact',
    subtype: 'preference',
    content: 'Also a node',
    tier: 'longterm',
    confidence: 0.6,
    repo_id: REPO,
    scope: 'repo',
    metadata: {},
    tags: [],
  });
});
