import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { isIdOf } from '../../../src/domain/forms.js';
import { EDGE_TYPES, ROLES } from '../../../src/domain/vocabulary.js';
import {
  expectRefused,
  GraphClient,
  idsOf,
  members,
  type NodeReport,
  REPO,
  sendAtOnce,
  UNKNOWN_ID,
} from '../../support/nodes.js';
import { remember } from '../../support/requests.js';
import { select, tables } from '../../support/rows.js';
import { type Service, startService } from '../../support/service.js';
import { times } from '../../support/together.js';

let service: Service;
let graph: GraphClient;
let a: NodeReport;
let b: NodeReport;
let c: NodeReport;
beforeAll(async () => {
  service = await startService();
  graph = new GraphClient(service);
  [a, b, c] = (await graph.nodes('Aardvark', 'Badger', 'Cormorant')) as [NodeReport, NodeReport, NodeReport];
});
afterAll(() => service.stop());

const readBack = async (id: string) => (await graph.getEdge(id).expect(200)).body;
let lastLabel = 0;
/** A label that no other test uses. */
const fresh = () => ({ label: `label ${++lastLabel}` });
const countEdges = () => tables(service, REPO).hyperedges?.length ?? 0;

test('SPEC-02.11 the edge types are relation, composition, causation and context', () => {
  expect([...EDGE_TYPES]).toEqual(['relation', 'composition', 'causation', 'context']);
});

test.each(EDGE_TYPES)('SPEC-02.11 an edge of type %s is kept', async (type) => {
  const { id } = await graph.link(a, b, { type, ...fresh() });
  expect((await readBack(id)).type).toBe(type);
});

test.each(['friendship', 'Relation', ''])('SPEC-02.11 the unknown type %j is refused', async (type) => {
  const request = graph.postEdge({ type, members: members(['subject', a]) });
  expect((await expectRefused(service, request, 400)).fields).toEqual(['type']);
});

test('SPEC-02.12 SPEC-02.25 an edge is answered with its id, and read back the same', async () => {
  const atMs = service.clock.advance(1_000);
  const body = { type: 'causation', label: 'leads to', weight: 2.5, members: members(['cause', a], ['effect', b]) };
  const answer = await graph.postEdge(body).expect(201);
  expect(isIdOf('concept', answer.body.id)).toBe(true);
  expect(answer.body).toEqual({
    id: answer.body.id,
    type: 'causation',
    label: 'leads to',
    weight: 2.5,
    rationale: null,
    repo_id: REPO,
    created_at: atMs,
    members: [
      { node_id: a.id, role: 'cause', position: 0 },
      { node_id: b.id, role: 'effect', position: 1 },
    ],
  });
  expect(answer.headers.location).toBe(`/edges/${answer.body.id}?repo_id=${encodeURIComponent(REPO)}`);
  expect((await service.http.get(answer.headers.location as string).expect(200)).body).toEqual(answer.body);
});

test('SPEC-02.12 an edge is one row with id, type, label and weight', async () => {
  const { id } = await graph.link(a, b, { type: 'context', label: 'beside', weight: 3 });
  const columns = 'id, type, label, weight, typeof(weight) AS sort';
  expect(select(service, REPO, `SELECT ${columns} FROM hyperedges WHERE id = ?`, id)).toEqual([
    { id, type: 'context', label: 'beside', weight: 3, sort: 'real' },
  ]);
});

describe('SPEC-02.12 the label', () => {
  test.each([
    ['may be left out, and is empty then', {}, ''],
    ['may be empty', { label: '' }, ''],
    ['may be of any script', { label: 'größer als 日本 🙂' }, 'größer als 日本 🙂'],
    ['may hold quotes and marks', { label: `"|=' \\ %_` }, `"|=' \\ %_`],
    ['may be 200 characters long', { label: 'x'.repeat(200) }, 'x'.repeat(200)],
    ['may be a word that every object has', { label: 'constructor' }, 'constructor'],
  ])('%s', async (_, fields, label) => {
    const type = 'composition';
    // The empty label was used by the row before: other members make another edge.
    const parts = members(['subject', a], ['object', 'label' in fields ? b : c]);
    const { id } = await graph.edge(parts, { type, ...fields });
    expect((await readBack(id)).label).toBe(label);
  });

  test('is refused when it is longer', async () => {
    const request = graph.postEdge({ label: 'x'.repeat(201), members: members(['subject', a]) });
    expect((await expectRefused(service, request, 422)).fields).toEqual(['label']);
  });
});

test('SPEC-02.13 the weight is 1 unless it is given', async () => {
  expect((await graph.link(a, b, fresh())).weight).toBe(1);
});

test.each([0, 1e-9, 0.5, 1000, 1e300])('SPEC-02.13 a weight of %d is kept', async (weight) => {
  const { id } = await graph.link(a, b, { ...fresh(), weight });
  expect((await readBack(id)).weight).toBe(weight);
});

test.each([-1, -1e-9, '1', null])('SPEC-02.13 a weight is 0 or more, so %j is refused', async (weight) => {
  const request = graph.postEdge({ ...fresh(), weight, members: members(['subject', a], ['object', b]) });
  expect(await expectRefused(service, request, 400)).toEqual({ code: 'schema_error', fields: ['weight'] });
});

test('SPEC-02.13 a weight without bound is refused', async () => {
  const text = `{"type":"relation","weight":1e999,"members":[{"node_id":"${a.id}","role":"subject"}]}`;
  const before = countEdges();
  await service.http
    .post('/edges')
    .query({ repo_id: REPO })
    .set('content-type', 'application/json')
    .send(text)
    .expect(400);
  expect(countEdges()).toBe(before);
});

test('SPEC-02.14 a node may be in many edges, and an edge may have many nodes', async () => {
  const many = await graph.nodes(...times(20, (index) => `One of many ${index}`));
  const wide = await graph.edge(
    many.map(({ id }) => ({ node_id: id, role: 'participant' })),
    { label: 'together' },
  );
  expect((await readBack(wide.id)).members).toHaveLength(20);
  const [hub, ...others] = many as [NodeReport, ...NodeReport[]];
  for (const other of others) await graph.link(hub, other, { label: 'knows' });
  expect(await graph.allEdges({ node: hub.id })).toHaveLength(20);
  expect(select(service, REPO, `SELECT count(*) AS n FROM membership WHERE label = 'knows'`)).toEqual([{ n: 38 }]);
});

test('SPEC-02.14 SPEC-02.25 an edge may have one member', async () => {
  const { id } = await graph.edge(members(['context', a]), { type: 'context', ...fresh() });
  expect((await readBack(id)).members).toEqual([{ node_id: a.id, role: 'context', position: 0 }]);
});

test('SPEC-02.25 an edge may have a hundred members, and no more', async () => {
  const many = await graph.nodes(...times(101, (index) => `Of a hundred ${index}`));
  const parts = many.map(({ id }) => ({ node_id: id, role: 'participant' }));
  const { id } = await graph.edge(parts.slice(0, 100), fresh());
  expect((await readBack(id)).members).toHaveLength(100);
  expect((await expectRefused(service, graph.postEdge({ members: parts }), 400)).fields).toEqual(['members']);
});

test.each([
  ['without members', {}, 400, ['members']],
  ['with no members', { members: [] }, 400, ['members']],
  ['with a member that is none', { members: [{}] }, 400, ['members.0.node_id', 'members.0.role']],
  ['with a field that is not known', { members: [], rationale: 'why' }, 400, ['members', 'rationale']],
])('SPEC-02.25 an edge %s is refused', async (_, fields, status, named) => {
  expect((await expectRefused(service, graph.postEdge(fields), status)).fields.sort()).toEqual(named);
});

test.each([
  ['that nothing has', UNKNOWN_ID],
  ['of the wrong form', 'somebody'],
  ['of SQL', `' OR 1=1 --`],
])('SPEC-02.25 SPEC-02.38 a member with an id %s is not found, and nothing of the edge is kept', async (_, id) => {
  const request = graph.postEdge({ members: members(['subject', a], ['object', id], ['context', b], ['cause', id]) });
  expect(await expectRefused(service, request, 404)).toEqual({
    code: 'not_found',
    fields: ['members.1.node_id', 'members.3.node_id'],
  });
});

test('SPEC-02.15 a membership names its edge, its node, the role and the position', async () => {
  const edge = await graph.edge(
    [
      { node_id: a.id, role: 'object', position: 7 },
      { node_id: b.id, role: 'subject', position: 3 },
    ],
    fresh(),
  );
  const sql = `SELECT e.id AS edge_id, n.id AS node_id, s.role, s.position FROM membership s
    JOIN hyperedges e ON e.seq = s.edge_seq JOIN nodes n ON n.seq = s.node_seq WHERE e.id = ? ORDER BY s.position`;
  expect(select(service, REPO, sql, edge.id)).toEqual([
    { edge_id: edge.id, node_id: b.id, role: 'subject', position: 3 },
    { edge_id: edge.id, node_id: a.id, role: 'object', position: 7 },
  ]);
});

describe('SPEC-02.15 members are shown by position:', () => {
  test('in the order given, when none is said', async () => {
    const edge = await graph.edge(members(['object', c], ['subject', a], ['context', b]), fresh());
    expect(edge.members.map(({ node_id, position }) => [node_id, position])).toEqual([
      [c.id, 0],
      [a.id, 1],
      [b.id, 2],
    ]);
  });

  test('in the order of the positions, when they are said', async () => {
    const parts = [
      { node_id: a.id, role: 'participant', position: 30 },
      { node_id: b.id, role: 'participant', position: 10 },
      { node_id: c.id, role: 'participant', position: 20 },
    ];
    const edge = await graph.edge(parts, fresh());
    expect(edge.members.map(({ node_id }) => node_id)).toEqual([b.id, c.id, a.id]);
    expect((await readBack(edge.id)).members).toEqual(edge.members);
    const [listed] = await graph.allEdges({ label: edge.label });
    expect(listed).toEqual(edge);
  });

  test.each([-1, 1.5, '1', 1_000_000_001, 1e20])('and a position of %j is refused', async (position) => {
    const request = graph.postEdge({ members: [{ node_id: a.id, role: 'subject', position }] });
    expect((await expectRefused(service, request, 400)).fields).toEqual(['members.0.position']);
  });
});

test('SPEC-02.16 the roles are subject, object, context, participant, cause and effect', () => {
  expect([...ROLES]).toEqual(['subject', 'object', 'context', 'participant', 'cause', 'effect']);
});

test.each(ROLES)('SPEC-02.16 a member may play the part of %s', async (role) => {
  const { id } = await graph.edge(members([role, a]), fresh());
  expect((await readBack(id)).members).toEqual([{ node_id: a.id, role, position: 0 }]);
});

test.each(['owner', 'Subject', ''])('SPEC-02.16 the unknown role %j is refused', async (role) => {
  const request = graph.postEdge({ members: members([role, a]) });
  expect((await expectRefused(service, request, 400)).fields).toEqual(['members.0.role']);
});

test('SPEC-02.15 a node may play two parts in one edge', async () => {
  const { id } = await graph.edge(members(['subject', a], ['object', a]), { label: 'talks to' });
  expect((await readBack(id)).members).toEqual([
    { node_id: a.id, role: 'subject', position: 0 },
    { node_id: a.id, role: 'object', position: 1 },
  ]);
});

test('SPEC-02.15 a node cannot play the same part twice', async () => {
  const request = graph.postEdge({ ...fresh(), members: members(['subject', a], ['object', b], ['subject', a]) });
  expect(await expectRefused(service, request, 422)).toEqual({ code: 'semantic_error', fields: ['members.2'] });
});

test('SPEC-02.25 a memory may be a member like any node, and an archived node too', async () => {
  const memoryId = await remember(service, { text: 'A member' });
  const archived = await graph.node({ tier: 'archive' });
  const edge = await graph.edge(members(['subject', memoryId], ['object', archived]), fresh());
  expect(edge.members.map(({ node_id }) => node_id)).toEqual([memoryId, archived.id]);
});

describe('SPEC-02.25 the same edge again', () => {
  test('is answered as it stands, with 200, and is still one row', async () => {
    const body = { label: 'twice', weight: 2, members: members(['subject', a], ['object', b], ['context', c]) };
    const first = await graph.postEdge(body).expect(201);
    const rows = countEdges();
    service.clock.advance(1_000);
    const again = await graph.postEdge({ ...body, weight: 9, members: [...body.members].reverse() }).expect(200);
    expect(again.body).toEqual(first.body);
    expect(again.headers.location).toBe(first.headers.location);
    expect(countEdges()).toBe(rows);
  });

  test.each([
    ['another label', { label: 'again' }],
    ['another type', { type: 'context' }],
    ['another member', { members: 'more' }],
    ['other parts', { members: 'swapped' }],
  ])('with %s is another edge', async (_, change) => {
    const label = 'different';
    const type = 'relation';
    const [x, y] = (await graph.nodes('x', 'y')) as [NodeReport, NodeReport];
    const parts = {
      more: members(['subject', x], ['object', y], ['context', a]),
      swapped: members(['subject', y], ['object', x]),
    };
    const first = await graph.edge(members(['subject', x], ['object', y]), { label, type });
    const isMembers = 'members' in change;
    const given = isMembers ? parts[change.members as keyof typeof parts] : members(['subject', x], ['object', y]);
    const second = await graph.edge(given, { label, type, ...(isMembers ? {} : change) });
    expect(second.id).not.toBe(first.id);
  });

  test('is found among many edges of the same node', async () => {
    const hub = await graph.node({ content: 'Hub' });
    const others = await graph.nodes(...times(130, (index) => `Spoke ${index}`));
    const edges = [];
    for (const other of others) edges.push(await graph.link(hub, other, { label: 'spoke' }));
    for (const index of [0, 99, 100, 129]) {
      const body = { label: 'spoke', members: members(['subject', hub], ['object', others[index] as NodeReport]) };
      expect((await graph.postEdge(body).expect(200)).body).toEqual(edges[index]);
    }
  });

  test('drawn by many at once is drawn once, and all are answered with it', async () => {
    const [x, y] = (await graph.nodes('x', 'y')) as [NodeReport, NodeReport];
    const body = { label: 'at once', members: members(['subject', x], ['object', y]) };
    const answers = await sendAtOnce(service, () => times(10, () => graph.postEdge(body)));
    expect(answers.map(({ status }) => status).sort()).toEqual([...times(9, () => 200), 201]);
    expect(new Set(idsOf(answers.map((answer) => answer.body))).size).toBe(1);
  });
});

test('SPEC-02.25 an edge that is there is found by what it says, without looking through the edges of its nodes', async () => {
  const [a, b] = (await graph.nodes('a', 'b')) as [NodeReport, NodeReport];
  const edge = await graph.link(a, b, { label: 'said once' });
  const looks = [vi.spyOn(service.store, 'listEdges'), vi.spyOn(service.store, 'findEdgesAround')];
  const again = await graph
    .postEdge({ label: 'said once', members: members(['object', b], ['subject', a]) })
    .expect(200);
  expect(again.body).toEqual(edge);
  for (const look of looks) {
    expect(look).not.toHaveBeenCalled();
    look.mockRestore();
  }
});
