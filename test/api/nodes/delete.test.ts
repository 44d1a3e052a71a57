import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { GraphClient, idsOf, REPO } from '../../support/nodes.js';
import { idsIn, recall, remember } from '../../support/requests.js';
import { tables } from '../../support/rows.js';
import { type Service, startService } from '../../support/service.js';

let service: Service;
let graph: GraphClient;
beforeAll(async () => {
  service = await startService();
  graph = new GraphClient(service);
});
afterAll(() => service.stop());

const FILLED = {
  type: 'experience',
  content: 'The gate of the old harbour',
  subtype: 'place',
  tier: 'session',
  confidence: 0.7,
  provenance: 'seen',
  metadata: { a: { b: [1] } },
  tags: ['harbour'],
};

test('SPEC-02.23 deleting a node moves it to the archive, and changes nothing else of it', async () => {
  const before = await graph.node(FILLED);
  const atMs = service.clock.advance(1_000);
  const { body } = await graph.deleteNode(before.id).expect(200);
  const node = { ...before, tier: 'archive', archived_at: atMs, updated_at: atMs, revision: 2 };
  expect(body).toEqual({ id: before.id, purged: false, node });
});

test('SPEC-02.23 deleting it again does nothing and is answered the same', async () => {
  const { id } = await graph.node(FILLED);
  const first = await graph.deleteNode(id).expect(200);
  service.clock.advance(1_000);
  const rows = tables(service, REPO).evolution_log?.length;
  expect((await graph.deleteNode(id).expect(200)).body).toEqual(first.body);
  expect(tables(service, REPO).evolution_log).toHaveLength(rows as number);
});

test('SPEC-02.23 an archived node is hidden from lists, unless they ask for the archive', async () => {
  const { id } = await graph.node(FILLED);
  const isListed = async (query = {}) => idsOf(await graph.allNodes(query)).includes(id);
  expect(await isListed()).toBe(true);
  await graph.deleteNode(id).expect(200);
  expect(await isListed()).toBe(false);
  expect(await isListed({ tag: 'harbour' })).toBe(false);
  expect(await isListed({ tier: 'session' })).toBe(false);
  expect(await isListed({ include_archived: true })).toBe(true);
  expect(await isListed({ tag: 'harbour', include_archived: true })).toBe(true);
  expect(await isListed({ tier: 'archive' })).toBe(true);
});

test('SPEC-02.23 an archived node stays addressable by its id, with all it says', async () => {
  const before = await graph.node(FILLED);
  await graph.deleteNode(before.id).expect(200);
  const { tier: _, updated_at, archived_at, revision, access_count, ...rest } = before;
  expect((await graph.getNode(before.id).expect(200)).body).toMatchObject({ ...rest, tier: 'archive' });
});

test('SPEC-02.23 an archived node is not found by a question, and is found again when it is restored', async () => {
  const { id } = await graph.node({ content: 'A pangolin guards the vault' });
  const found = async (more = {}) => idsIn((await recall(service, 'pangolin vault', more)).direct);
  expect(await found()).toEqual([id]);
  await graph.deleteNode(id).expect(200);
  expect(await found()).toEqual([]);
  expect(await found({ include_archived: true })).toEqual([id]);
  await graph.restoreNode(id).expect(200);
  expect(await found()).toEqual([id]);
});

test('SPEC-02.23 a node keeps its edges in the archive', async () => {
  const [first, second] = await graph.nodes('One end', 'Other end');
  if (!first || !second) throw new Error('nothing was made');
  const edge = await graph.link(first, second);
  await graph.deleteNode(first.id).expect(200);
  expect((await graph.getEdge(edge.id).expect(200)).body).toEqual(edge);
  await graph.restoreNode(first.id).expect(200);
  expect((await graph.getRelated(first.id).expect(200)).body.related).toHaveLength(1);
});

describe('SPEC-02.23 restoring', () => {
  test.each(['task', 'session', 'longterm'])('brings a node back to the tier %s that it came from', async (tier) => {
    const before = await graph.node({ ...FILLED, tier });
    await graph.deleteNode(before.id).expect(200);
    const atMs = service.clock.advance(1_000);
    const { body } = await graph.restoreNode(before.id).expect(200);
    expect(body).toEqual({ ...before, updated_at: atMs, revision: 3 });
  });

  test('goes to where the node was last, however it came to the archive', async () => {
    const { id } = await graph.node({ tier: 'task' });
    await graph.patchNode(id, { tier: 'longterm' }).expect(200);
    await graph.patchNode(id, { tier: 'archive' }).expect(200);
    expect((await graph.restoreNode(id).expect(200)).body.tier).toBe('longterm');
  });

  test('what is not archived does nothing', async () => {
    const before = await graph.node(FILLED);
    service.clock.advance(1_000);
    expect((await graph.restoreNode(before.id).expect(200)).body).toEqual(before);
  });

  test('works for a memory too', async () => {
    const id = await remember(service, { text: 'Put away by the graph' });
    expect((await graph.deleteNode(id).expect(200)).body.node).toMatchObject({ tier: 'archive', form: 'memory' });
    expect((await graph.restoreNode(id).expect(200)).body.tier).toBe('longterm');
  });
});

test('SPEC-02.23 a node that began in the archive was never anywhere else, whatever moment is looked from', async () => {
  const { id } = await graph.node({ content: 'An axolotl in the cellar', tier: 'archive' });
  const as_of = service.clock.iso();
  service.clock.advance(1_000);
  const found = async (more = {}) => idsIn((await recall(service, 'axolotl cellar', more)).direct);
  expect(await found()).toEqual([]);
  expect(await found({ as_of })).toEqual([]);
  expect(await found({ as_of, include_archived: true })).toEqual([id]);
});

test.each([
  ['an unknown parameter', { force: true }],
  ['a word for permanent', { permanent: 'yes' }],
])('SPEC-02.23 %s is refused, and nothing is archived', async (_, query) => {
  const { id } = await graph.node(FILLED);
  await graph.deleteNode(id, query as Record<string, string | boolean>).expect(400);
  expect((await graph.getNode(id).expect(200)).body.tier).toBe('session');
});
