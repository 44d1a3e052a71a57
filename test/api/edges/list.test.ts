import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { presentCursor } from '../../../src/contracts/cursor.js';
import { EDGE_TYPES } from '../../../src/domain/vocabulary.js';
import { type EdgeReport, GraphClient, idsOf, members, type NodeReport } from '../../support/nodes.js';
import { type Service, startService } from '../../support/service.js';

const LABELS = ['', 'near', 'over', 'Über', 'under'];

let service: Service;
let graph: GraphClient;
let hub: NodeReport;
let all: EdgeReport[];
beforeAll(async () => {
  service = await startService();
  graph = new GraphClient(service, 'edges/list');
  hub = await graph.node({ content: 'Hub' });
  all = [];
  for (let round = 0; round < 3; round++) {
    const other = await graph.node({ content: `Other ${round}` });
    for (const type of EDGE_TYPES) {
      for (const label of LABELS) {
        // In every third edge the hub is not.
        const parts = round === 2 ? members(['subject', other]) : members(['subject', hub], ['context', other]);
        all.push(await graph.edge(parts, { type, label }));
      }
    }
  }
});
afterAll(() => service.stop());

const order = ({ type, label }: EdgeReport): Buffer => Buffer.from(`${type}\0${label}`);
/** By type, then by label, character by character, and then by age. */
const inOrder = (edges: readonly EdgeReport[]): string[] =>
  idsOf([...edges].sort((a, b) => Buffer.compare(order(a), order(b)) || all.indexOf(a) - all.indexOf(b)));
const ofHub = ({ members: parts }: EdgeReport): boolean => parts.some(({ node_id }) => node_id === hub.id);

const FILTERS: [name: string, query: Record<string, string>, fits: (edge: EdgeReport) => boolean][] = [
  ['everything', {}, () => true],
  ...EDGE_TYPES.map((type): (typeof FILTERS)[number] => [`the type ${type}`, { type }, (edge) => edge.type === type]),
  ...LABELS.map((label): (typeof FILTERS)[number] => [
    `the label ${JSON.stringify(label)}`,
    { label },
    (edge) => edge.label === label,
  ]),
  [
    'a type and a label',
    { type: 'context', label: 'over' },
    ({ type, label }) => type === 'context' && label === 'over',
  ],
  ['an unknown label', { label: 'ov%' }, () => false],
  ['a node', { node: 'hub' }, ofHub],
  ['a node and a type', { node: 'hub', type: 'causation' }, (edge) => ofHub(edge) && edge.type === 'causation'],
  ['a node and a label', { node: 'hub', label: 'near' }, (edge) => ofHub(edge) && edge.label === 'near'],
  [
    'a node, a type and a label',
    { node: 'hub', type: 'relation', label: '' },
    (edge) => ofHub(edge) && edge.type === 'relation' && edge.label === '',
  ],
  ['an unknown node', { node: 'nobody' }, () => false],
];

describe.each(FILTERS)('SPEC-02.25 the list of edges by %s', (_, query, fits) => {
  const filled = () => (query.node === 'hub' ? { ...query, node: hub.id } : query);

  test('holds those that fit, by type, label and age', async () => {
    const { body } = await graph.getEdges({ ...filled(), limit: 500 }).expect(200);
    expect(idsOf(body.edges)).toEqual(inOrder(all.filter(fits)));
    expect(body.next_cursor).toBeNull();
  });

  test.each([1, 7, 20])('gives each of them once in pages of %d', async (limit) => {
    const edges = await graph.allEdges({ ...filled(), limit });
    expect(idsOf(edges)).toEqual(inOrder(all.filter(fits)));
  });
});

test('SPEC-02.25 each edge is listed as it is shown by itself', async () => {
  const [first] = await graph.allEdges({ limit: 1, node: hub.id });
  expect((await graph.getEdge(first?.id as string).expect(200)).body).toEqual(first);
});

test('SPEC-02.25 an edge in which a node plays two parts is listed once', async () => {
  const own = new GraphClient(service, 'edges/twice');
  const node = await own.node();
  const edge = await own.edge(members(['subject', node], ['object', node]), { label: 'twice' });
  expect(idsOf(await own.allEdges({ node: node.id }))).toEqual([edge.id]);
});

test('SPEC-02.25 a page holds 100 unless it is told otherwise, and edges added meanwhile repeat nothing', async () => {
  const own = new GraphClient(service, 'edges/many');
  const node = await own.node();
  const made: EdgeReport[] = [];
  for (let index = 0; index < 110; index++) {
    made.push(
      await own.edge(members(['subject', node]), { label: `label ${String(index % 37).padStart(3, '0')} ${index}` }),
    );
  }
  const { body } = await own.getEdges().expect(200);
  expect(body.edges).toHaveLength(100);
  await own.edge(members(['subject', node]), { label: 'a first one' });
  await own.edge(members(['subject', node]), { label: 'z last one' });
  const rest = await own.allEdges({ cursor: body.next_cursor });
  const ids = idsOf([...body.edges, ...rest]);
  expect(new Set(ids).size).toBe(ids.length);
  expect(ids).toEqual(expect.arrayContaining(idsOf(made)));
});

test('SPEC-02.25 an edge without nodes of the repo that asks is in no list of it', async () => {
  expect(await new GraphClient(service, 'edges/empty').allEdges()).toEqual([]);
});

test.each([
  ['garbage', 'garbage'],
  ['empty', ''],
  ['of the list of nodes', presentCursor([0.5, 3])],
  ['of an unknown type', presentCursor(['friendship', 'near', 3])],
  ['without a number', presentCursor(['relation', 'near', 'x'])],
  ['of half a number', presentCursor(['relation', 'near', 1.5])],
])('SPEC-02.25 a cursor that is %s is refused', async (_, cursor) => {
  const { body } = await graph.getEdges({ cursor }).expect(400);
  expect(body).toMatchObject({ code: 'invalid_cursor', errors: [{ field: 'cursor' }] });
});

test.each([
  ['an unknown type', { type: 'friendship' }, 'type'],
  ['a limit of nothing', { limit: 0 }, 'limit'],
  ['a limit above the most', { limit: 501 }, 'limit'],
  ['an unknown parameter', { weight: 1 }, 'weight'],
])('SPEC-02.25 %s is refused by its name', async (_, query, field) => {
  const { body } = await graph.getEdges(query as Record<string, string | number>).expect(400);
  expect(body).toMatchObject({ code: 'schema_error', errors: [{ field }] });
});
