import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { expectRefused, GraphClient, REPO, sendAtOnce } from '../../support/nodes.js';
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

const revisionOf = (id: string) => select(service, REPO, 'SELECT revision FROM nodes WHERE id = ?', id)[0]?.revision;
const ifMatch = (etag: string) => ({ 'If-Match': etag });

describe('SPEC-02.22 the ETag', () => {
  test('is the revision, which counts the changes of a node', async () => {
    const created = await graph.postNode({ content: 'Counted' }).expect(201);
    expect([created.headers.etag, created.body.revision]).toEqual(['"1"', 1]);
    const { id } = created.body;
    for (const revision of [2, 3]) {
      const changed = await graph.patchNode(id, { content: `Counted ${revision}` }).expect(200);
      expect([changed.headers.etag, changed.body.revision]).toEqual([`"${revision}"`, revision]);
    }
    const shown = await graph.getNode(id).expect(200);
    expect(shown.headers.etag).toBe('"3"');
    await graph.deleteNode(id).expect(200);
    expect((await graph.restoreNode(id).expect(200)).headers.etag).toBe('"5"');
  });

  test('of the node as it is lets the change through', async () => {
    const { headers, body } = await graph.postNode({ content: 'Read' }).expect(201);
    const changed = await graph.patchNode(body.id, { content: 'Changed' }, ifMatch(headers.etag as string)).expect(200);
    expect(changed.body.content).toBe('Changed');
    await graph.patchNode(body.id, { tier: 'session' }, ifMatch('"2"')).expect(200);
  });

  test.each([
    ['content', { content: 'Too late' }],
    ['the tier', { tier: 'longterm' }],
    ['nothing in the end', { tier: 'task' }],
  ])('of the node as it was refuses a change of %s, and says at which revision it is', async (_, fields) => {
    const { id } = await graph.node({ content: 'Read' });
    await graph.patchNode(id, { content: 'Changed by another' }).expect(200);
    const refusal = await expectRefused(service, graph.patchNode(id, fields, ifMatch('"1"')), 412);
    expect(refusal).toEqual({ code: 'precondition_failed', fields: ['headers.if-match'] });
    const { body } = await graph.patchNode(id, fields, ifMatch('"1"')).expect(412);
    expect(body.detail).toMatch(/revision 2\b/);
  });

  test.each([
    ['archiving', {}],
    ['removing', { permanent: true }],
  ])('guards %s as well', async (_, query) => {
    const { id } = await graph.node({ content: 'To go' });
    await graph.patchNode(id, { content: 'To go, but changed' }).expect(200);
    await expectRefused(service, graph.deleteNode(id, query).set(ifMatch('"1"')), 412);
    await graph.deleteNode(id, query).set(ifMatch('"2"')).expect(200);
  });

  test('of a star matches any revision', async () => {
    const { id } = await graph.node({ content: 'Any' });
    await graph.patchNode(id, { content: 'Any other' }, ifMatch('*')).expect(200);
  });

  test.each(['1', 'garbage', '"one"', '"-1"', '"1", "2"', '"1"x', '""', `"${'9'.repeat(16)}"`])(
    'that is %j is refused, and changes nothing',
    async (etag) => {
      const { id } = await graph.node({ content: 'Guarded' });
      const request = graph.patchNode(id, { content: 'Changed' }, ifMatch(etag));
      expect(await expectRefused(service, request, 400)).toEqual({
        code: 'schema_error',
        fields: ['headers.if-match'],
      });
    },
  );
});

describe('SPEC-02.22 at the same time', () => {
  test('two changes without If-Match both succeed', async () => {
    const { id } = await graph.node({ content: 'Wanted by two' });
    const answers = await sendAtOnce(service, () => [
      graph.patchNode(id, { content: 'Changed' }),
      graph.patchNode(id, { provenance: 'known' }),
    ]);
    expect(answers.map(({ status }) => status)).toEqual([200, 200]);
    expect((await graph.getNode(id).expect(200)).body).toMatchObject({
      content: 'Changed',
      provenance: 'known',
      revision: 3,
    });
  });

  test('a dozen changes without If-Match all succeed, and none is lost', async () => {
    const { id } = await graph.node({ content: 'Wanted by many' });
    const answers = await sendAtOnce(service, () =>
      times(12, (index) => graph.patchNode(id, { content: `Changed by ${index}` })),
    );
    expect(answers.map(({ status }) => status)).toEqual(times(12, () => 200));
    expect(revisionOf(id)).toBe(13);
  });

  const once = [
    ['changes of content', (id: string) => graph.patchNode(id, { content: 'Mine' }, ifMatch('"1"'))],
    ['moves to another tier', (id: string) => graph.patchNode(id, { tier: 'session' }, ifMatch('"1"'))],
  ] as const;
  test.each(once)('of many %s under one ETag one succeeds, and the others are told', async (_, change) => {
    const { id } = await graph.node({ content: 'Guarded by its ETag' });
    const answers = await sendAtOnce(service, () => times(5, () => change(id)));
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 412, 412, 412, 412]);
    expect(revisionOf(id)).toBe(2);
  });

  test.each([
    ['a move to another tier', (id: string) => graph.patchNode(id, { tier: 'session' }, ifMatch('"1"'))],
    ['archiving', (id: string) => graph.deleteNode(id).set(ifMatch('"1"'))],
    ['removing', (id: string) => graph.deleteNode(id, { permanent: true }).set(ifMatch('"1"'))],
  ])('a change and %s under one ETag do not both succeed', async (_, other) => {
    for (const isFirst of [true, false]) {
      const { id } = await graph.node({ content: 'Guarded by its ETag' });
      const change = () => graph.patchNode(id, { content: 'Mine' }, ifMatch('"1"'));
      const answers = await sendAtOnce(service, () => (isFirst ? [change(), other(id)] : [other(id), change()]));
      expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
    }
  });

  test('removed by many, a node is removed once, and the others are told that it is not there', async () => {
    const { id } = await graph.node({ content: 'To go' });
    const answers = await sendAtOnce(service, () => times(4, () => graph.deleteNode(id, { permanent: true })));
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 404, 404, 404]);
  });

  test('archived by many, a node is archived once and all are answered', async () => {
    const { id } = await graph.node({ content: 'To be put away' });
    const answers = await sendAtOnce(service, () => times(8, () => graph.deleteNode(id)));
    expect(answers.map(({ status }) => status)).toEqual(times(8, () => 200));
    expect(revisionOf(id)).toBe(2);
  });
});
