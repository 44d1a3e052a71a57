import { afterAll, beforeAll, expect, test } from 'vitest';
import { GraphClient } from '../../support/nodes.js';
import { type Service, startService } from '../../support/service.js';

let service: Service;
let graph: GraphClient;
beforeAll(async () => {
  service = await startService();
  graph = new GraphClient(service);
});
afterAll(() => service.stop());

test('SPEC-02.35 a node and an edge are created, read, changed, listed, put away, brought back and removed', async () => {
  const redis = await graph.node({ content: 'Redis listens on 6379', tags: ['cache'] });
  const cart = await graph.node({ content: 'The cart is cached' });
  const edge = await graph.link(cart, redis, { label: 'needs' });

  await graph.patchNode(redis.id, { content: 'Redis listens on 6380', confidence: 0.9 }).expect(200);
  await graph.patchEdge(edge.id, { weight: 3 }).expect(200);
  expect((await graph.getNode(redis.id).expect(200)).body).toMatchObject({
    content: 'Redis listens on 6380',
    confidence: 0.9,
    tags: ['cache'],
    revision: 2,
    access_count: 1,
  });
  expect((await graph.getEdge(edge.id).expect(200)).body).toMatchObject({ label: 'needs', weight: 3 });
  expect((await graph.listed()).map(({ id }) => id)).toEqual([redis.id, cart.id]);

  await graph.deleteNode(redis.id).expect(200);
  expect((await graph.listed()).map(({ id }) => id)).toEqual([cart.id]);
  await graph.restoreNode(redis.id).expect(200);
  expect((await graph.listed()).map(({ id }) => id)).toEqual([redis.id, cart.id]);

  await graph.deleteEdge(edge.id).expect(200);
  await graph.getEdge(edge.id).expect(404);
  await graph.deleteNode(redis.id, { permanent: true }).expect(200);
  await graph.getNode(redis.id).expect(404);
  expect((await graph.listed()).map(({ id }) => id)).toEqual([cart.id]);
});
