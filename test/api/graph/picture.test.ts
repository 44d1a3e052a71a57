import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { GraphClient, idsOf, members, type NodeReport, sendAtOnce, UNKNOWN_ID } from '../../support/nodes.js';
import { remember } from '../../support/requests.js';
import { type Service, startService } from '../../support/service.js';
import { times } from '../../support/together.js';

let service: Service;
let graph: GraphClient;
beforeAll(async () => {
  service = await startService();
  graph = new GraphClient(service);
});
afterAll(() => service.stop());

interface Picture {
  nodes: NodeReport[];
  edges: { id: string }[];
  complete: boolean;
}
type Query = Parameters<GraphClient['getPicture']>[0];
const pictureOf = async ({ id }: { id: string }, query: Query = {}): Promise<Picture> =>
  (await graph.getPicture({ node: id, ...query }).expect(200)).body;
const names = ({ nodes }: Picture): string[] => nodes.map(({ content }) => content);
const sorted = (items: readonly { id: string }[]): string[] => idsOf(items).sort();

/** 0 → 1 → 2 → 3 → 4, and 1 → 4. */
async function chain(): Promise<[NodeReport[], { id: string }[]]> {
  const nodes = await graph.nodes('0', '1', '2', '3', '4');
  const edges = [];
  for (const [from, to] of [
    [0, 1],
    [1, 2],
    [2, 3],
    [3, 4],
    [1, 4],
  ] as const) {
    edges.push(await graph.link(nodes[from] as NodeReport, nodes[to] as NodeReport, { label: 'next' }));
  }
  return [nodes, edges];
}

describe('SPEC-02.26 a picture', () => {
  test('of a node alone is that node', async () => {
    const node = await graph.node({ content: 'alone' });
    expect(await pictureOf(node)).toEqual({ nodes: [node], edges: [], complete: true });
  });

  test.each([
    [1, ['0', '1'], [0]],
    [2, ['0', '1', '2', '4'], [0, 1, 4]],
    [3, ['0', '1', '2', '3', '4'], [0, 1, 2, 3, 4]],
  ])('within %d steps holds the nodes there and the edges between them', async (hops, expected, between) => {
    const [nodes, edges] = await chain();
    const picture = await pictureOf(nodes[0] as NodeReport, { hops });
    expect(names(picture).sort()).toEqual(expected);
    expect(sorted(picture.edges)).toEqual(sorted(between.map((index) => edges[index] as { id: string })));
    expect(picture.complete).toBe(true);
  });

  test('shows two steps unless it is said', async () => {
    const [nodes] = await chain();
    expect(await pictureOf(nodes[0] as NodeReport)).toEqual(await pictureOf(nodes[0] as NodeReport, { hops: 2 }));
  });

  test('has the node in the middle first and the others nearest first', async () => {
    const [nodes] = await chain();
    const order = names(await pictureOf(nodes[0] as NodeReport, { hops: 3 }));
    expect(order.slice(0, 2)).toEqual(['0', '1']);
    expect(order.slice(2, 4).sort()).toEqual(['2', '4']);
    expect(order[4]).toBe('3');
  });

  test('has the others nearest first even where the way leads over a global memory', async () => {
    const [a, b] = (await graph.nodes('a', 'b')) as [NodeReport, NodeReport];
    const globalId = await remember(service, { text: 'between', scope: 'global' });
    await graph.edge(members(['subject', a], ['object', globalId]), { label: 'over' });
    await graph.edge(members(['subject', globalId], ['object', b]), { label: 'over' });
    expect(names(await pictureOf(a))).toEqual(['a', 'between', 'b']);
  });

  test('shows no archived node, and no edge that would lead to one alone', async () => {
    const [nodes, edges] = await chain();
    await graph.deleteNode((nodes[1] as NodeReport).id).expect(200);
    expect(await pictureOf(nodes[0] as NodeReport, { hops: 3 })).toMatchObject({
      nodes: [{ content: '0' }],
      edges: [],
    });
    const picture = await pictureOf(nodes[2] as NodeReport, { hops: 3 });
    expect(names(picture)).toEqual(['2', '3', '4']);
    expect(sorted(picture.edges)).toEqual(sorted([edges[2], edges[3]] as { id: string }[]));
  });

  test('may be drawn over one type, one label and one direction of edges', async () => {
    const [a, b, c] = (await graph.nodes('a', 'b', 'c')) as [NodeReport, NodeReport, NodeReport];
    await graph.link(a, b, { type: 'causation', label: 'x' });
    await graph.link(c, a, { type: 'context', label: 'y' });
    expect(names(await pictureOf(a, { edge_type: 'causation' }))).toEqual(['a', 'b']);
    expect(names(await pictureOf(a, { label: 'y' }))).toEqual(['a', 'c']);
    expect(names(await pictureOf(a, { direction: 'outgoing' }))).toEqual(['a', 'b']);
    expect(names(await pictureOf(a, { direction: 'incoming' }))).toEqual(['a', 'c']);
    expect((await pictureOf(a, { edge_type: 'causation' })).edges).toHaveLength(1);
  });

  test('shows each edge once, with all its members', async () => {
    const [a, b, c] = (await graph.nodes('a', 'b', 'c')) as [NodeReport, NodeReport, NodeReport];
    const edge = await graph.edge(members(['participant', a], ['participant', b], ['participant', c]), {
      label: 'related_to',
    });
    expect((await pictureOf(a)).edges).toEqual([edge]);
  });
});

describe('SPEC-02.26 a picture with a limit', () => {
  test.each([
    [1, false],
    [2, false],
    [5, false],
    [6, true],
    [7, true],
    [500, true],
  ])('of %d nodes says whether that is all: %s', async (limit, complete) => {
    const [middle, ...others] = (await graph.nodes('m', 'a', 'b', 'c', 'd', 'e')) as [NodeReport, ...NodeReport[]];
    for (const [index, other] of others.entries()) await graph.link(middle, other, { weight: index });
    const picture = await pictureOf(middle, { limit });
    expect(picture.nodes).toHaveLength(Math.min(limit, 6));
    expect(picture.complete).toBe(complete);
    expect(names(picture)).toEqual(['m', 'e', 'd', 'c', 'b', 'a'].slice(0, limit));
    expect(picture.edges).toHaveLength(Math.min(limit, 6) - 1);
  });

  test('that leaves the farther ones out says so', async () => {
    const [nodes] = await chain();
    const picture = await pictureOf(nodes[0] as NodeReport, { limit: 2, hops: 3 });
    expect([names(picture), picture.complete]).toEqual([['0', '1'], false]);
  });

  test('never says that it is complete while nodes within reach are missing', async () => {
    const hub = await graph.node({ content: 'hub' });
    for (const start of [0, 70, 140]) {
      const made = await sendAtOnce(service, () =>
        times(70, (index) => graph.postNode({ content: `${start + index}` })),
      );
      await sendAtOnce(service, () =>
        made.map(({ body }) => graph.postEdge({ members: members(['subject', hub], ['object', body.id]) }).expect(201)),
      );
    }
    const picture = await pictureOf(hub, { limit: 500, hops: 1 });
    expect(picture.complete).toBe(picture.nodes.length === 211);
  });
});

test.each([
  ['without a node', {}, 400, 'node'],
  ['of a node that nothing has', { node: UNKNOWN_ID }, 404, 'node'],
  ['of a node with an id of the wrong form', { node: 'x' }, 404, 'node'],
  ['of no steps', { node: UNKNOWN_ID, hops: 0 }, 400, 'hops'],
  ['of too many steps', { node: UNKNOWN_ID, hops: 4 }, 400, 'hops'],
  ['of nothing', { node: UNKNOWN_ID, limit: 0 }, 400, 'limit'],
  ['of too much', { node: UNKNOWN_ID, limit: 501 }, 400, 'limit'],
])('SPEC-02.26 a picture %s is refused', async (_, query, status, field) => {
  const { body } = await graph.getPicture(query as Query).expect(status);
  expect(body.errors).toMatchObject([{ field }]);
});
