import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  type EdgeReport,
  expectRefused,
  GraphClient,
  idsOf,
  members,
  type NodeReport,
  REPO,
  sendAtOnce,
  UNKNOWN_ID,
} from '../../support/nodes.js';
import { select } from '../../support/rows.js';
import { type Service, startService } from '../../support/service.js';
import { times } from '../../support/together.js';

let service: Service;
let graph: GraphClient;
beforeAll(async () => {
  service = await startService();
  graph = new GraphClient(service);
});
afterAll(() => service.stop());

const linked = async (fields: object = {}): Promise<[EdgeReport, NodeReport, NodeReport]> => {
  const [from, to] = (await graph.nodes('From', 'To')) as [NodeReport, NodeReport];
  return [await graph.link(from, to, { label: 'before', ...fields }), from, to];
};
const readBack = async (id: string) => (await graph.getEdge(id).expect(200)).body;

describe('SPEC-02.25 a patch of an edge', () => {
  test.each([
    ['weight', 2.5],
    ['weight', 0],
    ['weight', 1000],
    ['label', 'after'],
    ['label', ''],
  ])('changes %s to %j, and nothing else', async (field, value) => {
    const [before] = await linked();
    service.clock.advance(1_000);
    const { body } = await graph.patchEdge(before.id, { [field]: value }).expect(200);
    expect(body).toEqual({ ...before, [field]: value });
    expect(await readBack(before.id)).toEqual(body);
  });

  test('may change both', async () => {
    const [before] = await linked();
    const fields = { weight: 7, label: 'both' };
    expect((await graph.patchEdge(before.id, fields).expect(200)).body).toEqual({ ...before, ...fields });
  });

  test('to another label is followed by lists and walks', async () => {
    const [edge, from, to] = await linked();
    await graph.patchEdge(edge.id, { label: 'follows now' }).expect(200);
    expect(idsOf(await graph.allEdges({ label: 'follows now' }))).toEqual([edge.id]);
    expect(idsOf(await graph.allEdges({ node: from.id, label: 'follows now' }))).toEqual([edge.id]);
    expect(await graph.allEdges({ node: from.id, label: 'before' })).toEqual([]);
    const related = async (label: string) => (await graph.getRelated(from.id, { label }).expect(200)).body.related;
    expect(await related('follows now')).toMatchObject([{ node: { id: to.id } }]);
    expect(await related('before')).toEqual([]);
  });

  test('to another label makes room for a new edge with the old one', async () => {
    const [edge, from, to] = await linked();
    await graph.patchEdge(edge.id, { label: 'moved on' }).expect(200);
    const again = await graph.link(from, to, { label: 'before' });
    expect(again.id).not.toBe(edge.id);
    const body = { label: 'moved on', members: members(['subject', from], ['object', to]) };
    expect((await graph.postEdge(body).expect(200)).body.id).toBe(edge.id);
  });

  test('to the label of another edge of the same nodes is refused', async () => {
    const [edge, from, to] = await linked();
    const other = await graph.link(from, to, { label: 'taken' });
    const refusal = await expectRefused(service, graph.patchEdge(edge.id, { label: 'taken', weight: 5 }), 409);
    expect(refusal).toEqual({ code: 'conflict', fields: ['label'] });
    expect(await readBack(other.id)).toEqual(other);
  });

  test('to the label that it has does nothing', async () => {
    const [edge] = await linked();
    expect((await graph.patchEdge(edge.id, { label: 'before' }).expect(200)).body).toEqual(edge);
  });

  test('is logged', async () => {
    const [edge, from, to] = await linked({ label: 'watched' });
    await graph.patchEdge(edge.id, { weight: 3 }).expect(200);
    await graph.deleteEdge(edge.id).expect(200);
    const sql = `SELECT operation, node_ids FROM evolution_log WHERE operation LIKE '%:watched' ORDER BY seq`;
    const node_ids = JSON.stringify([from.id, to.id]);
    expect(select(service, REPO, sql)).toEqual([
      { operation: 'link:watched', node_ids },
      { operation: 'relink:watched', node_ids },
      { operation: 'unlink:watched', node_ids },
    ]);
  });

  test.each([
    ['nothing', {}, 400, 'body'],
    ['a negative weight', { weight: -1 }, 400, 'weight'],
    ['a weight of null', { weight: null }, 400, 'weight'],
    ['a label of null', { label: null }, 400, 'label'],
    ['a label that is too long', { label: 'x'.repeat(201) }, 422, 'label'],
    ['another type', { type: 'context' }, 400, 'type'],
    ['other members', { members: [] }, 400, 'members'],
  ])('to %s is refused, and changes nothing', async (_, fields, status, field) => {
    const [edge] = await linked();
    expect((await expectRefused(service, graph.patchEdge(edge.id, fields), status)).fields).toEqual([field]);
  });

  test('of a node in two parts, and of one member, works like any other', async () => {
    const { id: nodeId } = await graph.node();
    const single = await graph.edge(members(['context', nodeId]), { label: 'single' });
    expect((await graph.patchEdge(single.id, { weight: 4, label: 'alone' }).expect(200)).body).toMatchObject({
      weight: 4,
      label: 'alone',
      members: single.members,
    });
  });
});

describe('SPEC-02.25 at the same time', () => {
  test('two changes of an edge both succeed', async () => {
    const [edge] = await linked();
    const answers = await sendAtOnce(service, () => [
      graph.patchEdge(edge.id, { weight: 2 }),
      graph.patchEdge(edge.id, { label: 'renamed' }),
    ]);
    expect(answers.map(({ status }) => status)).toEqual([200, 200]);
    expect(await readBack(edge.id)).toEqual({ ...edge, weight: 2, label: 'renamed' });
  });

  test('removed by many, an edge is removed once, and the others are told that it is not there', async () => {
    const [edge] = await linked();
    const answers = await sendAtOnce(service, () => times(4, () => graph.deleteEdge(edge.id)));
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 404, 404, 404]);
  });

  test('of two edges that want the same label one gets it', async () => {
    const [first, from, to] = await linked({ label: 'first' });
    const second = await graph.link(from, to, { label: 'second' });
    const answers = await sendAtOnce(service, () =>
      [first, second].map(({ id }) => graph.patchEdge(id, { label: 'wanted' })),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 409]);
  });

  test.each([0, 2, 4])('an edge may be drawn while it is removed, with %d who draw it going before', async (place) => {
    const [edge, from, to] = await linked();
    const body = { label: 'before', members: members(['subject', from], ['object', to]) };
    const answers = await sendAtOnce(service, () =>
      times(5, (index) => (index === place ? graph.deleteEdge(edge.id) : graph.postEdge(body))),
    );
    for (const { status } of answers) expect([200, 201]).toContain(status);
  });

  test('drawing an edge to a node while it is removed draws it or says that the node is not there', async () => {
    const [from, to] = (await graph.nodes('Stays', 'Goes')) as [NodeReport, NodeReport];
    const body = { label: 'late', members: members(['subject', from], ['object', to]) };
    const answers = await sendAtOnce(service, () => [
      graph.deleteNode(to.id, { permanent: true }),
      graph.postEdge(body),
    ]);
    expect(answers[0]?.status).toBe(200);
    expect([201, 404]).toContain(answers[1]?.status);
    expect(await graph.allEdges({ label: 'late' })).toEqual([]);
  });
});

describe('SPEC-02.14 removing an edge', () => {
  test('removes its memberships and leaves its nodes', async () => {
    const [edge, from, to] = await linked();
    const other = await graph.link(from, to, { label: 'stays' });
    const seq = select(service, REPO, 'SELECT seq FROM hyperedges WHERE id = ?', edge.id)[0]?.seq;
    expect((await graph.deleteEdge(edge.id).expect(200)).body).toEqual({ id: edge.id, removed: true });
    expect(select(service, REPO, 'SELECT * FROM membership WHERE edge_seq = ?', seq)).toEqual([]);
    expect(idsOf(await graph.allEdges({ node: from.id }))).toEqual([other.id]);
    for (const { id } of [from, to]) await graph.getNode(id).expect(200);
  });

  test('leaves no way between its nodes', async () => {
    const [edge, from] = await linked();
    await graph.deleteEdge(edge.id).expect(200);
    expect((await graph.getRelated(from.id).expect(200)).body.related).toEqual([]);
  });

  test('makes room for the same edge anew', async () => {
    const [edge, from, to] = await linked();
    await graph.deleteEdge(edge.id).expect(200);
    expect((await graph.link(from, to, { label: 'before' })).id).not.toBe(edge.id);
  });
});

test.each([
  ['that was removed', 'removed'],
  ['that nothing has', UNKNOWN_ID],
  ['of the wrong form', 'not-an-id'],
  ['of SQL', `' OR 1=1 --`],
])('SPEC-02.25 an edge with an id %s is not found', async (_, given) => {
  const [edge] = await linked();
  if (given === 'removed') await graph.deleteEdge(edge.id).expect(200);
  const id = given === 'removed' ? edge.id : given;
  for (const request of [graph.getEdge(id), graph.patchEdge(id, { weight: 1 }), graph.deleteEdge(id)]) {
    const { body } = await request.expect(404);
    expect(body).toMatchObject({ code: 'not_found', errors: [{ field: 'edge_id', code: 'not_found' }] });
  }
});
