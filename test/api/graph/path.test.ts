import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  type EdgeReport,
  GraphClient,
  idsOf,
  members,
  type NodeReport,
  REPO,
  UNKNOWN_ID,
} from '../../support/nodes.js';
import { concept, idOf } from '../../support/plans.js';
import { remember } from '../../support/requests.js';
import { type Service, startService } from '../../support/service.js';

let service: Service;
let graph: GraphClient;
beforeAll(async () => {
  service = await startService();
  graph = new GraphClient(service);
});
afterAll(() => service.stop());

type Query = Parameters<GraphClient['getPath']>[0];
interface Path {
  found: boolean;
  nodes: NodeReport[];
  edges: EdgeReport[];
  complete: boolean;
}
const pathOf = async (from: { id: string }, to: { id: string }, query: Query = {}): Promise<Path> =>
  (await graph.getPath({ from: from.id, to: to.id, ...query }).expect(200)).body;
const names = ({ nodes }: Path): string => nodes.map(({ content }) => content).join(' ');
const NO_PATH = { found: false, nodes: [], edges: [], complete: true };

/** Nodes by their names, joined as the pairs say. */
async function draw(
  pairs: readonly string[],
  fieldsOf: (pair: string) => object = () => ({}),
): Promise<Record<string, NodeReport>> {
  const nodes: Record<string, NodeReport> = {};
  for (const name of new Set(pairs.join(''))) nodes[name] = await graph.node({ content: name });
  for (const pair of pairs) {
    await graph.link(nodes[pair[0] as string] as NodeReport, nodes[pair[1] as string] as NodeReport, fieldsOf(pair));
  }
  return nodes;
}

describe('SPEC-02.26 a path', () => {
  test('is a shortest one: from the first node to the last, with an edge between each and the next', async () => {
    const { a, b, f } = (await draw(['ab', 'bc', 'cf', 'ad', 'df'])) as Record<'a' | 'b' | 'f', NodeReport>;
    const path = await pathOf(a, f);
    expect([path.found, names(path)]).toEqual([true, 'a d f']);
    expect(path.edges).toHaveLength(2);
    for (const [index, edge] of path.edges.entries()) {
      const joined = edge.members.map(({ node_id }) => node_id);
      expect(joined).toEqual(expect.arrayContaining(idsOf(path.nodes.slice(index, index + 2))));
    }
    expect(names(await pathOf(b, f))).toBe('b c f');
  });

  test('is not lengthened for a stronger edge', async () => {
    const { a, c } = (await draw(['ac', 'ab', 'bc'], (pair) => ({ weight: pair === 'ac' ? 0 : 100 }))) as Record<
      'a' | 'c',
      NodeReport
    >;
    expect(names(await pathOf(a, c))).toBe('a c');
  });

  test('is the same each time it is asked for', async () => {
    const { a, d } = (await draw(['ab', 'ac', 'bd', 'cd'])) as Record<'a' | 'd', NodeReport>;
    const first = await pathOf(a, d);
    expect(first.nodes).toHaveLength(3);
    expect(await pathOf(a, d)).toEqual(first);
  });

  test('leads back as well as forth, unless a direction is said', async () => {
    const { a, c } = (await draw(['ab', 'bc'])) as Record<'a' | 'c', NodeReport>;
    expect(names(await pathOf(c, a))).toBe('c b a');
    expect(names(await pathOf(a, c, { direction: 'outgoing' }))).toBe('a b c');
    expect(await pathOf(c, a, { direction: 'outgoing' })).toEqual(NO_PATH);
    expect(names(await pathOf(c, a, { direction: 'incoming' }))).toBe('c b a');
  });

  test('leads over edges of the chosen type alone, even if it is longer', async () => {
    const { a, c } = (await draw(['ac', 'ab', 'bc'], (pair) => ({
      type: pair === 'ac' ? 'context' : 'causation',
    }))) as Record<'a' | 'c', NodeReport>;
    expect(names(await pathOf(a, c))).toBe('a c');
    const path = await pathOf(a, c, { edge_type: 'causation' });
    expect(names(path)).toBe('a b c');
    expect(path.edges.map(({ type }) => type)).toEqual(['causation', 'causation']);
    expect(await pathOf(a, c, { edge_type: 'composition' })).toEqual(NO_PATH);
  });

  test('leads over edges of any of the chosen types', async () => {
    const typeOf: Record<string, string> = { ab: 'context', bc: 'causation', ac: 'relation' };
    const { a, c } = (await draw(['ac', 'ab', 'bc'], (pair) => ({ type: typeOf[pair] }))) as Record<
      'a' | 'c',
      NodeReport
    >;
    expect(names(await pathOf(a, c, { edge_type: ['context', 'causation'] }))).toBe('a b c');
    expect(await pathOf(a, c, { edge_type: ['context', 'composition'] })).toEqual(NO_PATH);
    const { body } = await graph.getPath({ from: a.id, to: c.id, edge_type: ['context', 'x'] }).expect(400);
    expect(body.errors).toMatchObject([{ field: 'edge_type' }]);
  });

  test('leads over edges of the chosen label alone', async () => {
    const { a, c } = (await draw(['ac', 'ab', 'bc'], (pair) => ({
      label: pair === 'ac' ? 'short' : 'long',
    }))) as Record<'a' | 'c', NodeReport>;
    expect(names(await pathOf(a, c, { label: 'long' }))).toBe('a b c');
    expect(await pathOf(a, c, { label: 'none' })).toEqual(NO_PATH);
  });

  test('that does not exist is not found', async () => {
    const { a, d } = (await draw(['ab', 'cd'])) as Record<'a' | 'd', NodeReport>;
    expect(await pathOf(a, d)).toEqual(NO_PATH);
  });

  test('from a node to itself is that node', async () => {
    const a = await graph.node({ content: 'a' });
    expect(await pathOf(a, a)).toEqual({ found: true, nodes: [a], edges: [], complete: true });
  });

  test('of as many steps as are allowed is found, and of more is not', async () => {
    const { a, h } = (await draw(['ab', 'bc', 'cd', 'de', 'ef', 'fg', 'gh'])) as Record<'a' | 'h', NodeReport>;
    expect(await pathOf(a, h)).toEqual(NO_PATH);
    expect(await pathOf(a, h, { max_hops: 6 })).toEqual(NO_PATH);
    expect(names(await pathOf(a, h, { max_hops: 7 }))).toBe('a b c d e f g h');
  });

  test('does not lead over an archived node, and goes around it where it can', async () => {
    const { a, b, c } = (await draw(['ab', 'bc', 'ad', 'de', 'ec'])) as Record<'a' | 'b' | 'c', NodeReport>;
    await graph.deleteNode(b.id).expect(200);
    expect(names(await pathOf(a, c))).toBe('a d e c');
  });

  test('does not lead to an archived node', async () => {
    const { a, c } = (await draw(['ab', 'bc'])) as Record<'a' | 'c', NodeReport>;
    await graph.deleteNode(c.id).expect(200);
    expect(await pathOf(a, c)).toEqual(NO_PATH);
  });

  test('may lead over memories, global ones too', async () => {
    const [a, b] = (await graph.nodes('a', 'b')) as [NodeReport, NodeReport];
    const globalId = await remember(service, { text: 'global', scope: 'global' });
    await graph.edge(members(['subject', a], ['object', globalId]), { label: 'over' });
    await graph.edge(members(['subject', globalId], ['object', b]), { label: 'over' });
    expect(names(await pathOf(a, b))).toBe('a global b');
  });

  test('goes over one edge between any two of its members', async () => {
    const [a, b, c] = (await graph.nodes('a', 'b', 'c')) as [NodeReport, NodeReport, NodeReport];
    const edge = await graph.edge(members(['participant', a], ['participant', b], ['participant', c]));
    expect(await pathOf(a, c)).toEqual({ found: true, nodes: [a, c], edges: [edge], complete: true });
  });
});

/** Nodes and edges in numbers, written at once: pairs of numbers are joined. */
async function drawMany(
  numbers: readonly number[],
  pairs: Iterable<readonly [number, number, number?]>,
): Promise<void> {
  const repoId = REPO;
  const nodes = numbers.map((number) => concept(idOf(number), { repoId, tier: 'longterm' }));
  await service.store.apply({ space: REPO, changes: nodes });
  const edges = [...pairs].map(([from, to, weight = 1], index) => ({
    change: 'insert_edge' as const,
    id: idOf((numbers[0] as number) + 500_000 + index),
    repoId,
    type: 'relation' as const,
    label: 'owns',
    weight,
    origin: 'manual' as const,
    rationale: null,
    members: [
      { nodeId: idOf(from), role: 'subject' as const, position: 0 },
      { nodeId: idOf(to), role: 'object' as const, position: 1 },
    ],
    atMs: 0,
  }));
  await service.store.apply({ space: REPO, changes: edges });
}
const range = (start: number, count: number): number[] => Array.from({ length: count }, (_, index) => start + index);
const between = async (from: number, to: number, query: Query = {}) => {
  const { found, nodes, complete } = await pathOf({ id: idOf(from) }, { id: idOf(to) }, query);
  return { found, hops: nodes.length - 1, complete };
};

describe('SPEC-02.26 in a large graph', () => {
  test('a path is found from both ends where one end alone would have to look at everything', async () => {
    // Two trees of three steps, each node with 22 below it, joined at one leaf of each.
    const start = 1_000_000;
    const tree = (root: number): [number, number][] =>
      range(1, 22 + 22 ** 2 + 22 ** 3).map((child) => [root + Math.floor((child - 1) / 22), root + child]);
    const size = 1 + 22 + 22 ** 2 + 22 ** 3;
    const other = start + 20_000;
    await drawMany(
      [...range(start, size), ...range(other, size)],
      [...tree(start), ...tree(other), [start + size - 1, other + size - 1]],
    );
    const leaf = other + size - 1;
    expect(await between(start, leaf)).toEqual({ found: true, hops: 4, complete: true });
    expect(await between(leaf, start)).toEqual({ found: true, hops: 4, complete: true });
    // Between the roots even two short walks are too long, and nobody claims that there is nothing.
    expect(await between(start, other, { max_hops: 10 })).toEqual({ found: false, hops: -1, complete: false });
  });

  test('an old and weak edge between two hubs is found, and so is a way over it', async () => {
    const [a, b] = [2_000_000, 2_010_000];
    await drawMany(
      [...range(a, 1_200), ...range(b, 1_200)],
      [
        [a, b, 0],
        ...range(1, 1_150).flatMap((number): [number, number][] => [
          [a, a + number],
          [b, b + number],
        ]),
      ],
    );
    expect(await between(a, b)).toEqual({ found: true, hops: 1, complete: true });
    expect(await between(a, b, { direction: 'outgoing' })).toEqual({ found: true, hops: 1, complete: true });
    expect(await between(b, a, { direction: 'outgoing', max_hops: 1 })).toMatchObject({ found: false });
    expect(await between(a + 1, b + 1)).toMatchObject({ found: true, hops: 3 });
    // Nothing leads to it: that is known from its own end, whatever the hub has.
    expect(await between(a, a + 1_190)).toEqual({ found: false, hops: -1, complete: true });
    // The strongest thousand of a hub do not lead there, so it cannot be said that nothing does.
    expect(await between(a, b + 1, { max_hops: 1 })).toMatchObject({ found: false, complete: false });
  });
});

test.each([
  ['from a node that nothing has', { from: UNKNOWN_ID }],
  ['to a node that nothing has', { to: UNKNOWN_ID }],
  ['from an id of the wrong form', { from: 'x' }],
])('SPEC-02.26 a path %s is not found with 404', async (_, ends) => {
  const { id } = await graph.node();
  const { body } = await graph.getPath({ from: id, to: id, ...(ends as Query) }).expect(404);
  expect(body.code).toBe('not_found');
});

test.each([
  ['without an end', { from: UNKNOWN_ID }, 'to'],
  ['without a beginning', { to: UNKNOWN_ID }, 'from'],
  ['of no steps', { from: UNKNOWN_ID, to: UNKNOWN_ID, max_hops: 0 }, 'max_hops'],
  ['of too many steps', { from: UNKNOWN_ID, to: UNKNOWN_ID, max_hops: 11 }, 'max_hops'],
  ['over an unknown type', { from: UNKNOWN_ID, to: UNKNOWN_ID, edge_type: 'x' }, 'edge_type'],
])('SPEC-02.26 a path %s is refused', async (_, query, field) => {
  const { body } = await graph.getPath(query as Query).expect(400);
  expect(body.errors).toMatchObject([{ field }]);
});
