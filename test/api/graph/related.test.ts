import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { EDGE_TYPES } from '../../../src/domain/vocabulary.js';
import { type EdgeReport, GraphClient, members, type NodeReport, REPO, sendAtOnce } from '../../support/nodes.js';
import { concept, idOf, link } from '../../support/plans.js';
import { remember } from '../../support/requests.js';
import { type Service, startService } from '../../support/service.js';
import { times } from '../../support/together.js';

interface Related {
  node: NodeReport;
  hops: number;
  from_node_id: string;
  edge: EdgeReport;
}

let service: Service;
let graph: GraphClient;
beforeAll(async () => {
  service = await startService();
  graph = new GraphClient(service);
});
afterAll(() => service.stop());

type Query = Parameters<GraphClient['getRelated']>[1];
const relatedTo = async ({ id }: { id: string }, query: Query = {}): Promise<Related[]> => {
  const { body } = await graph.getRelated(id, query).expect(200);
  expect(body.node_id).toBe(id);
  return body.related;
};
const names = (related: readonly Related[]): string[] => related.map(({ node }) => node.content);
const namesAround = async (node: { id: string }, query: Query = {}): Promise<string[]> =>
  names(await relatedTo(node, query)).sort();
const nodes = async <Names extends string[]>(...contents: Names): Promise<{ [Index in keyof Names]: NodeReport }> =>
  (await graph.nodes(...contents)) as { [Index in keyof Names]: NodeReport };

test('SPEC-02.26 the other members of an edge are related, whichever end is asked', async () => {
  const [a, b, c] = await nodes('a', 'b', 'c');
  const edge = await graph.edge(members(['subject', a], ['object', b], ['context', c]), { label: 'joins' });
  expect(await namesAround(a)).toEqual(['b', 'c']);
  expect(await namesAround(b)).toEqual(['a', 'c']);
  expect(await namesAround(c)).toEqual(['a', 'b']);
  expect(await relatedTo(a)).toEqual([
    { node: b, hops: 1, from_node_id: a.id, edge },
    { node: c, hops: 1, from_node_id: a.id, edge },
  ]);
});

test('SPEC-02.26 a node without edges has nobody related, nor has one that is alone in its edge', async () => {
  const [a] = await nodes('a');
  expect(await relatedTo(a)).toEqual([]);
  await graph.edge(members(['context', a]), { type: 'context' });
  expect(await relatedTo(a, { hops: 3 })).toEqual([]);
});

test('SPEC-02.26 a node is not related to itself, in however many parts it is in an edge', async () => {
  const [a, b] = await nodes('a', 'b');
  await graph.edge(members(['subject', a], ['object', a], ['context', b]), { label: 'own' });
  expect(await namesAround(a)).toEqual(['b']);
  expect(await namesAround(b, { hops: 3 })).toEqual(['a']);
});

test('SPEC-02.26 a node that is joined by several edges is related once, over the strongest', async () => {
  const [a, b] = await nodes('a', 'b');
  await graph.link(a, b, { label: 'weak', weight: 0.1 });
  const strong = await graph.link(b, a, { label: 'strong', weight: 5 });
  await graph.link(a, b, { label: 'plain' });
  expect((await relatedTo(a)).map(({ edge }) => edge)).toEqual([strong]);
});

test('SPEC-02.26 nearest come first, and of the same distance those over the strongest edge', async () => {
  const [a, b, c, d, e] = await nodes('a', 'b', 'c', 'd', 'e');
  await graph.link(a, b, { weight: 1 });
  await graph.link(a, c, { weight: 9 });
  await graph.link(b, d, { weight: 100 });
  await graph.link(c, e, { weight: 50 });
  expect(names(await relatedTo(a, { hops: 2 }))).toEqual(['c', 'b', 'd', 'e']);
});

describe('SPEC-02.26 by the type of the edge', () => {
  test.each(EDGE_TYPES)('those over %s edges alone are related', async (edge_type) => {
    const [a] = await nodes('a');
    for (const type of EDGE_TYPES) {
      const [other] = await nodes(type);
      await graph.link(a, other, { type, label: 'typed' });
      await graph.link(other, a, { type, label: 'typed back' });
    }
    expect(await namesAround(a, { edge_type })).toEqual([edge_type]);
    expect(await namesAround(a)).toEqual([...EDGE_TYPES].sort());
  });

  test('several types may be said', async () => {
    const [a, b, c, d] = await nodes('a', 'b', 'c', 'd');
    await graph.link(a, b, { type: 'causation' });
    await graph.link(a, c, { type: 'context' });
    await graph.link(a, d, { type: 'composition' });
    expect(await namesAround(a, { edge_type: ['causation', 'context'] })).toEqual(['b', 'c']);
    const { body } = await graph.getPicture({ node: a.id, edge_type: ['context', 'composition'] }).expect(200);
    expect(names(body.nodes.map((node: NodeReport) => ({ node }) as Related)).sort()).toEqual(['a', 'c', 'd']);
  });

  test('every step has to be over that type', async () => {
    const [a, b, c, d] = await nodes('a', 'b', 'c', 'd');
    await graph.link(a, b, { type: 'causation' });
    await graph.link(b, c, { type: 'causation' });
    await graph.link(b, d, { type: 'context' });
    expect(await namesAround(a, { edge_type: 'causation', hops: 3 })).toEqual(['b', 'c']);
  });

  test('one is found however many edges of other types a node has', async () => {
    const [hub, wanted, other] = await nodes('hub', 'wanted', 'other');
    await graph.link(hub, wanted, { type: 'causation' });
    for (const start of [0, 70, 140]) {
      await sendAtOnce(service, () =>
        times(70, (index) => {
          const parts = members(['subject', hub], ['object', other]);
          return graph.postEdge({ label: `newer ${start + index}`, members: parts }).expect(201);
        }),
      );
    }
    expect(await namesAround(hub, { edge_type: 'causation' })).toEqual(['wanted']);
  });
});

test('SPEC-02.26 by the label of the edge, those over such edges alone are related', async () => {
  const [a, b, c, d] = await nodes('a', 'b', 'c', 'd');
  await graph.link(a, b, { label: 'knows' });
  await graph.link(a, c, { label: 'knew' });
  await graph.link(a, d, { label: '' });
  expect(await namesAround(a, { label: 'knows' })).toEqual(['b']);
  expect(await namesAround(a, { label: '' })).toEqual(['d']);
  expect(await namesAround(a, { label: 'kn%' })).toEqual([]);
  expect(await namesAround(a, { label: 'knows', edge_type: 'context' })).toEqual([]);
});

describe('SPEC-02.26 by direction', () => {
  test.each([
    ['subject', 'object'],
    ['cause', 'effect'],
  ])('an edge leads out from its %s and in from its %s', async (from, to) => {
    const [a, b] = await nodes('a', 'b');
    await graph.edge(members([from, a], [to, b]), { label: 'one way' });
    expect(await namesAround(a, { direction: 'outgoing' })).toEqual(['b']);
    expect(await namesAround(a, { direction: 'incoming' })).toEqual([]);
    expect(await namesAround(b, { direction: 'outgoing' })).toEqual([]);
    expect(await namesAround(b, { direction: 'incoming' })).toEqual(['a']);
    expect(await namesAround(a, { direction: 'both' })).toEqual(['b']);
    expect(await namesAround(b, { direction: 'both' })).toEqual(['a']);
  });

  test.each([
    ['participant', 'participant'],
    ['context', 'context'],
    ['participant', 'context'],
  ])('between a %s and a %s an edge leads both ways', async (from, to) => {
    const [a, b] = await nodes('a', 'b');
    await graph.edge(members([from, a], [to, b]), { label: 'both ways' });
    for (const direction of ['outgoing', 'incoming', 'both']) {
      expect(await namesAround(a, { direction })).toEqual(['b']);
      expect(await namesAround(b, { direction })).toEqual(['a']);
    }
  });

  test('every step goes the same way', async () => {
    const [a, b, c, d] = await nodes('a', 'b', 'c', 'd');
    await graph.link(a, b);
    await graph.link(b, c);
    await graph.link(d, b);
    expect(await namesAround(a, { direction: 'outgoing', hops: 3 })).toEqual(['b', 'c']);
    expect(await namesAround(c, { direction: 'incoming', hops: 3 })).toEqual(['a', 'b', 'd']);
    expect(await namesAround(b, { direction: 'incoming', hops: 3 })).toEqual(['a', 'd']);
  });
});

describe('SPEC-02.26 over several steps', () => {
  let chain: NodeReport[];
  beforeAll(async () => {
    chain = await graph.nodes('0', '1', '2', '3', '4');
    for (const [index, node] of chain.slice(1).entries()) await graph.link(chain[index] as NodeReport, node);
  });

  test.each([
    [1, ['1']],
    [2, ['1', '2']],
    [3, ['1', '2', '3']],
  ])('%d at most, in order of distance', async (hops, expected) => {
    const related = await relatedTo(chain[0] as NodeReport, { hops });
    expect(names(related)).toEqual(expected);
    expect(related.map((reached) => reached.hops)).toEqual(expected.map(Number));
    expect(related.map(({ from_node_id }) => from_node_id)).toEqual(
      chain.slice(0, expected.length).map(({ id }) => id),
    );
  });

  test('one unless it is said', async () => {
    expect(names(await relatedTo(chain[0] as NodeReport))).toEqual(['1']);
  });

  test('a circle is walked once', async () => {
    const [a, b, c] = await nodes('a', 'b', 'c');
    await graph.link(a, b);
    await graph.link(b, c);
    await graph.link(c, a);
    const related = await relatedTo(a, { hops: 3 });
    expect(names(related).sort()).toEqual(['b', 'c']);
    expect(related.map(({ hops }) => hops)).toEqual([1, 1]);
  });
});

describe('SPEC-02.26 no more are shown than asked for:', () => {
  test('the nearest and strongest of them', async () => {
    const [a, ...others] = await graph.nodes('a', 'b', 'c', 'd', 'e');
    for (const [index, other] of others.entries()) await graph.link(a as NodeReport, other, { weight: index });
    expect(names(await relatedTo(a as NodeReport, { limit: 2 }))).toEqual(['e', 'd']);
    expect(names(await relatedTo(a as NodeReport, { limit: 1, hops: 3 }))).toEqual(['e']);
    expect(await relatedTo(a as NodeReport, { limit: 4 })).toHaveLength(4);
  });

  test('100 unless it is said, and all that there are when there is room', async () => {
    const [hub] = await nodes('hub');
    const others: NodeReport[] = [];
    for (const start of [0, 70, 140]) {
      const made = await sendAtOnce(service, () =>
        times(70, (index) => graph.postNode({ content: `neighbour ${start + index}` })),
      );
      others.push(...made.map(({ body }) => body));
      await sendAtOnce(service, () =>
        made.map(({ body }) => graph.postEdge({ members: members(['subject', hub], ['object', body.id]) }).expect(201)),
      );
    }
    expect(await relatedTo(hub)).toHaveLength(100);
    expect(await relatedTo(hub, { limit: 500 })).toHaveLength(others.length);
  });

  test('and whether that is all is said', async () => {
    const [a, b, c, d] = await nodes('a', 'b', 'c', 'd');
    for (const other of [b, c]) await graph.link(a, other);
    await graph.link(c, d);
    const complete = async (query: Query) => (await graph.getRelated(a.id, query).expect(200)).body.complete;
    expect([await complete({}), await complete({ limit: 2 }), await complete({ limit: 1 })]).toEqual([
      true,
      true,
      false,
    ]);
    expect([await complete({ hops: 2, limit: 2 }), await complete({ hops: 2, limit: 3 })]).toEqual([false, true]);
  });

  test('of a hub the strongest, however old, and it is said that there are more', async () => {
    const hubId = idOf(4_000_000);
    const ids = Array.from({ length: 1_200 }, (_, index) => idOf(4_000_001 + index));
    const fields = { repoId: REPO, tier: 'longterm' as const };
    await service.store.apply({ space: REPO, changes: [hubId, ...ids].map((id) => concept(id, fields)) });
    const edges = ids.map((id, index) =>
      link('supports', [hubId, id], { repoId: REPO, weight: index === 0 ? 100 : index === 1 ? 50 : 1 }),
    );
    await service.store.apply({ space: REPO, changes: edges });
    const { body } = await graph.getRelated(hubId, { limit: 500 }).expect(200);
    expect(body.related.slice(0, 2).map(({ node }: Related) => node.id)).toEqual(ids.slice(0, 2));
    expect([body.related.length, body.complete]).toEqual([500, false]);
  });
});

test('SPEC-02.23 SPEC-02.26 an archived node is neither shown nor led over, until it is restored', async () => {
  const [a, b, c] = await nodes('a', 'b', 'c');
  await graph.link(a, b);
  await graph.link(b, c);
  await graph.deleteNode(b.id).expect(200);
  expect(await relatedTo(a, { hops: 3 })).toEqual([]);
  expect(await relatedTo(c, { hops: 3 })).toEqual([]);
  await graph.restoreNode(b.id).expect(200);
  expect(await namesAround(a, { hops: 3 })).toEqual(['b', 'c']);
});

test('SPEC-02.23 SPEC-02.26 of an edge of three only the archived member is left out', async () => {
  const [a, b, c] = await nodes('a', 'b', 'c');
  await graph.edge(members(['participant', a], ['participant', b], ['participant', c]), { label: 'related_to' });
  await graph.deleteNode(b.id).expect(200);
  expect(await namesAround(a)).toEqual(['c']);
});

test('SPEC-02.26 an archived node takes no place from those that are shown', async () => {
  const [a, b, c] = await nodes('a', 'b', 'c');
  await graph.link(a, b, { weight: 9 });
  await graph.link(a, c, { weight: 1 });
  await graph.deleteNode(b.id).expect(200);
  expect(await namesAround(a, { limit: 1 })).toEqual(['c']);
});

test('SPEC-02.26 memories are related like any node, over the links that came with them', async () => {
  const problemId = await remember(service, { text: 'Slow tests', kind: 'problem' });
  const links = { problem_id: problemId };
  const solutionId = await remember(service, { text: 'Run fewer', kind: 'solution', links });
  const [node] = await nodes('note');
  await graph.edge(members(['subject', node], ['object', solutionId]), { label: 'supports' });
  expect(await namesAround(node, { hops: 2 })).toEqual(['Run fewer', 'Slow tests']);
  expect(await namesAround({ id: problemId }, { label: 'attempts', direction: 'incoming' })).toEqual(['Run fewer']);
});

test.each([
  ['no step', { hops: 0 }, 'hops'],
  ['more steps than are walked', { hops: 4 }, 'hops'],
  ['an unknown type', { edge_type: 'friendship' }, 'edge_type'],
  ['an unknown direction', { direction: 'up' }, 'direction'],
  ['a limit of nothing', { limit: 0 }, 'limit'],
  ['a limit above the most', { limit: 501 }, 'limit'],
  ['an unknown parameter', { depth: 1 }, 'depth'],
])('SPEC-02.26 %s is refused by its name', async (_, query, field) => {
  const [a] = await nodes('a');
  const { body } = await graph.getRelated(a.id, query as Query).expect(400);
  expect(body).toMatchObject({ code: 'schema_error', errors: [{ field }] });
});
