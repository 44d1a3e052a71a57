import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { expectRefused, GraphClient, idsOf, members, type NodeReport } from '../../support/nodes.js';
import { idsIn, recall, remember } from '../../support/requests.js';
import { type Service, startService } from '../../support/service.js';

let service: Service;
beforeAll(async () => {
  service = await startService();
});
afterAll(() => service.stop());

describe('SPEC-02.24 seen from a session', () => {
  let graph: GraphClient;
  const made = new Map<string, NodeReport>();
  beforeAll(async () => {
    graph = new GraphClient(service, 'sessions/one');
    for (const tier of ['task', 'session', 'longterm', 'archive']) {
      for (const session of ['one', 'two', null]) {
        const content = `${tier} of ${session}`;
        const of =
          session === null ? {} : session === 'one' ? { session_id: session } : { metadata: { session_id: session } };
        made.set(content, await graph.node({ content, tier, ...of }));
      }
    }
  });
  const contents = async (query: Record<string, string | boolean>): Promise<string[]> =>
    (await graph.listed(query)).map(({ content }) => content).sort();
  const SHARED = ['longterm of null', 'longterm of one', 'longterm of two'];

  test('the task and session tiers hold only what belongs to it, and the long term is shared', async () => {
    expect(await contents({ session: 'one' })).toEqual([...SHARED, 'session of one', 'task of one']);
    expect(await contents({ session: 'two' })).toEqual([...SHARED, 'session of two', 'task of two']);
  });

  test.each(['task', 'session'])('the tier %s by itself holds only what belongs to it', async (tier) => {
    expect(await contents({ session: 'one', tier })).toEqual([`${tier} of one`]);
  });

  test('the archive is shared', async () => {
    const archive = ['archive of null', 'archive of one', 'archive of two'];
    expect(await contents({ session: 'one', tier: 'archive' })).toEqual(archive);
    expect(await contents({ session: 'one', include_archived: true })).toEqual(
      [...archive, ...SHARED, 'session of one', 'task of one'].sort(),
    );
  });

  test('a session that nobody wrote in holds nothing of its own', async () => {
    expect(await contents({ session: 'three' })).toEqual(SHARED);
    expect(await contents({ session: 'three', tier: 'session' })).toEqual([]);
    expect(await contents({ session: 'on%', tier: 'task' })).toEqual([]);
  });

  test('without a session everything is listed', async () => {
    expect(await contents({ include_archived: true })).toEqual([...made.keys()].sort());
    expect(await contents({ tier: 'task' })).toEqual(['task of null', 'task of one', 'task of two']);
  });
});

describe('SPEC-02.21 seen from another repo', () => {
  const ours = () => new GraphClient(service, 'isolation/ours');
  const theirs = () => new GraphClient(service, 'isolation/theirs');

  test('a node cannot be read, changed, archived, removed, restored or listed', async () => {
    const { id } = await ours().node({ content: 'The numbat knows our secret', tags: ['secret'], session_id: 's' });
    const before = (await ours().listed({ tag: 'secret' }))[0];
    await theirs().getNode(id).expect(404);
    await theirs().patchNode(id, { content: 'x' }).expect(404);
    await theirs().deleteNode(id).expect(404);
    await theirs().deleteNode(id, { permanent: true }).expect(404);
    await theirs().restoreNode(id).expect(404);
    await theirs().getRelated(id).expect(404);
    await theirs().getPicture({ node: id }).expect(404);
    await theirs().getPath({ from: id, to: id }).expect(404);
    for (const query of [{}, { tag: 'secret' }, { session: 's' }, { scope: 'global' }, { include_archived: true }]) {
      expect(idsOf(await theirs().allNodes(query))).not.toContain(id);
    }
    expect(await recall(service, 'numbat secret', {}, theirs().repoId)).toMatchObject({ direct: [] });
    expect((await ours().listed({ tag: 'secret' }))[0]).toEqual(before);
  });

  test('a node cannot be made a member of an edge', async () => {
    const { id } = await ours().node({ content: 'Not for others' });
    const own = await theirs().node({ content: 'Their own' });
    const request = theirs().postEdge({ members: members(['subject', own], ['object', id]) });
    const refusal = await expectRefused(service, request, 404, theirs().repoId);
    expect(refusal).toEqual({ code: 'not_found', fields: ['members.1.node_id'] });
  });

  test('an edge cannot be read, changed, removed or listed', async () => {
    const [a, b] = await ours().nodes('One', 'Two');
    if (!a || !b) throw new Error('nothing was made');
    const edge = await ours().link(a, b, { label: 'hidden' });
    await theirs().getEdge(edge.id).expect(404);
    await theirs().patchEdge(edge.id, { weight: 9 }).expect(404);
    await theirs().deleteEdge(edge.id).expect(404);
    expect(await theirs().allEdges({ label: 'hidden' })).toEqual([]);
    expect(await theirs().allEdges({ node: a.id })).toEqual([]);
    expect(await theirs().allEdges({ scope: 'global', label: 'hidden' })).toEqual([]);
    expect((await ours().getEdge(edge.id).expect(200)).body).toEqual(edge);
  });
});

describe('SPEC-02.21 a global memory', () => {
  const from = (repoId: string) => new GraphClient(service, repoId);

  test('is a node that every repo sees, by its id and in the list of global nodes only', async () => {
    const id = await remember(service, { text: 'The numbat is for everybody', scope: 'global' }, 'global/home');
    for (const repoId of ['global/home', 'global/away', 'global/unknown']) {
      const { body } = await from(repoId).getNode(id).expect(200);
      expect(body).toMatchObject({ id, scope: 'global', repo_id: 'global/home', form: 'memory' });
      expect(idsOf(await from(repoId).allNodes({ scope: 'global' }))).toContain(id);
      expect(idsOf(await from(repoId).allNodes())).not.toContain(id);
      expect(idsIn((await recall(service, 'numbat everybody', {}, repoId)).direct)).toContain(id);
    }
  });

  test('may be joined to the nodes of a repo; the edge stays in that repo', async () => {
    const globalId = await remember(service, { text: 'Known to all repos', scope: 'global' }, 'global/home');
    const own = await from('global/home').node({ content: 'Known here' });
    const edge = await from('global/home').edge(members(['subject', own], ['object', globalId]), { label: 'cites' });
    expect(idsOf(await from('global/home').allEdges({ node: globalId }))).toEqual([edge.id]);
    const related = async (repoId: string) => (await from(repoId).getRelated(globalId).expect(200)).body.related;
    expect((await related('global/home')).map(({ node }: { node: NodeReport }) => node.id)).toEqual([own.id]);
    expect(await related('global/away')).toEqual([]);
    await from('global/away').getEdge(edge.id).expect(404);
    expect(idsOf(await from('global/home').allNodes())).toEqual([own.id]);
  });

  test('joined to global memories only, is joined for every repo', async () => {
    const [first, second] = [
      await remember(service, { text: 'First of two for all', scope: 'global' }, 'global/home'),
      await remember(service, { text: 'Second of two for all', scope: 'global' }, 'global/away'),
    ];
    const edge = await from('global/home').edge(members(['cause', first], ['effect', second]), { type: 'causation' });
    expect((await from('global/away').getEdge(edge.id).expect(200)).body).toEqual(edge);
    expect(idsOf(await from('global/away').allEdges({ scope: 'global', node: first }))).toEqual([edge.id]);
    expect(await from('global/home').allEdges({ node: first })).toEqual([]);
    const { body } = await from('global/unknown').getRelated(first).expect(200);
    expect(body.related.map(({ node }: { node: NodeReport }) => node.id)).toEqual([second]);
    await from('global/away').patchEdge(edge.id, { weight: 3 }).expect(200);
    expect((await from('global/home').getEdge(edge.id).expect(200)).body.weight).toBe(3);
    await from('global/away').deleteEdge(edge.id).expect(200);
    await from('global/home').getEdge(edge.id).expect(404);
  });
});
