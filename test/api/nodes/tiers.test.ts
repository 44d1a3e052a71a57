import { afterAll, beforeAll, expect, test } from 'vitest';
import { TIERS } from '../../../src/domain/vocabulary.js';
import { GraphClient, REPO } from '../../support/nodes.js';
import { remember } from '../../support/requests.js';
import { select } from '../../support/rows.js';
import { type Service, startService } from '../../support/service.js';

let service: Service;
let graph: GraphClient;
beforeAll(async () => {
  service = await startService();
  graph = new GraphClient(service);
});
afterAll(() => service.stop());

const MOVES = TIERS.flatMap((from) => TIERS.filter((to) => to !== from).map((to) => [from, to] as const));
const logOf = (id: string) =>
  select(
    service,
    REPO,
    `SELECT l.at, l.operation, l.node_ids, l.from_tier, l.to_tier FROM evolution_log l
     JOIN evolution_nodes h ON h.log_seq = l.seq JOIN nodes n ON n.seq = h.node_seq WHERE n.id = ? ORDER BY l.seq`,
    id,
  );

test.each(MOVES)('SPEC-02.17 SPEC-02.19 a move from %s to %s is made and logged', async (from, to) => {
  const { id } = await graph.node({ tier: from });
  const atMs = service.clock.advance(1_000);
  const { body } = await graph.patchNode(id, { tier: to }).expect(200);
  expect(body).toMatchObject({ tier: to, archived_at: to === 'archive' ? atMs : null, updated_at: atMs });
  const operation = to === 'archive' ? 'archive' : from === 'archive' ? 'restore' : 'tier_transition';
  expect(logOf(id).slice(1)).toEqual([
    { at: atMs, operation, node_ids: JSON.stringify([id]), from_tier: from, to_tier: to },
  ]);
});

test.each(TIERS)('SPEC-02.19 the tier %s that a node begins in is logged', async (tier) => {
  const { id, created_at } = await graph.node({ tier });
  expect(logOf(id)).toEqual([
    { at: created_at, operation: 'create', node_ids: JSON.stringify([id]), from_tier: null, to_tier: tier },
  ]);
});

test.each(TIERS)('SPEC-02.19 a move from %s to where the node is already is none, and is not logged', async (tier) => {
  const before = await graph.node({ tier });
  service.clock.advance(1_000);
  expect((await graph.patchNode(before.id, { tier }).expect(200)).body).toEqual(before);
  expect(logOf(before.id)).toHaveLength(1);
});

test('SPEC-02.19 archiving and restoring are logged as moves', async () => {
  const { id } = await graph.node({ tier: 'session' });
  await graph.deleteNode(id).expect(200);
  await graph.restoreNode(id).expect(200);
  expect(logOf(id).slice(1)).toMatchObject([
    { operation: 'archive', from_tier: 'session', to_tier: 'archive' },
    { operation: 'restore', from_tier: 'archive', to_tier: 'session' },
  ]);
});

test('SPEC-02.19 the moves of a memory are logged like those of any node', async () => {
  const id = await remember(service, { text: 'Moved about' });
  await graph.patchNode(id, { tier: 'session' }).expect(200);
  expect(logOf(id).at(-1)).toMatchObject({
    operation: 'tier_transition',
    from_tier: 'longterm',
    to_tier: 'session',
  });
});

test('SPEC-02.19 removing a node for good is logged with its id and the tier it was in', async () => {
  const { id } = await graph.node({ tier: 'longterm' });
  await graph.deleteNode(id, { permanent: true }).expect(200);
  const log = 'SELECT operation, from_tier, to_tier FROM evolution_log WHERE node_ids = ? ORDER BY seq';
  expect(select(service, REPO, log, JSON.stringify([id]))).toEqual([
    { operation: 'create', from_tier: null, to_tier: 'longterm' },
    { operation: 'purge', from_tier: 'longterm', to_tier: null },
  ]);
});

test('SPEC-02.19 a patch that moves a node and changes it does both or neither', async () => {
  const { id } = await graph.node({ content: 'Before' });
  await graph.patchNode(id, { tier: 'longterm', content: 'x'.repeat(100_001) }).expect(422);
  expect((await graph.getNode(id).expect(200)).body).toMatchObject({ tier: 'task', content: 'Before', revision: 1 });
  await graph.patchNode(id, { tier: 'longterm', content: 'After' }).expect(200);
  expect((await graph.getNode(id).expect(200)).body).toMatchObject({ tier: 'longterm', content: 'After' });
});
