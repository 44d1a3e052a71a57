import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type AgentReport, EpisodeClient, type EpisodeReport, intentOf, outcomeOf } from '../../support/episodes.js';
import { expectRefused, GraphClient, idsOf, members, REPO } from '../../support/nodes.js';
import { allItems, idsIn, recall } from '../../support/requests.js';
import { type Service, startService } from '../../support/service.js';

let service: Service;
let client: EpisodeClient;
let graph: GraphClient;
let agent: AgentReport;
let episode: EpisodeReport;
beforeAll(async () => {
  service = await startService();
  client = new EpisodeClient(service);
  graph = new GraphClient(service);
  agent = (await client.register()).agent;
  episode = await client.store(agent.id, {
    intent: intentOf({ goal: 'Deflate the hippogriff', task_type: 'bug_fix' }),
    outcome: outcomeOf({ summary: 'It is flat', failure_reason: 'It bit', learnings: ['Wear gloves'] }),
    tags: ['beast'],
  });
});
afterAll(() => service.stop());

describe('an episode is a node like any other', () => {
  test('GET /nodes/{id} shows it: its form, its kind, its session, and its text', async () => {
    const { body } = await graph.getNode(episode.id).expect(200);
    expect(body).toMatchObject({
      id: episode.id,
      form: 'episode',
      type: 'experience',
      subtype: 'bug_fix',
      tier: 'longterm',
      tags: ['beast'],
      content: 'Deflate the hippogriff\nIt is flat\nIt bit\nWear gloves',
    });
  });

  test('GET /nodes lists it, by its tag too', async () => {
    for (const query of [
      { tag: 'beast' },
      { form: 'episode', subtype: 'bug_fix' },
      { session: episode.session_id },
      {},
    ]) {
      expect(idsOf(await graph.allNodes(query)), JSON.stringify(query)).toContain(episode.id);
    }
  });

  test('GET /nodes lists them over pages, without a gap or a repeat', async () => {
    const own = new EpisodeClient(service, 'acme/listed');
    const ids = idsOf(await own.storeGoals((await own.register()).agent.id, 'One', 'Two', 'Three', 'Four'));
    const ownGraph = new GraphClient(service, 'acme/listed');
    const { id } = await ownGraph.node({ content: 'A concept', confidence: 0 });
    expect(idsOf(await ownGraph.allNodes({ limit: 2 })).sort()).toEqual([...ids, id].sort());
  });

  test('POST /nodes/search finds it', async () => {
    for (const fields of [{}, { form: 'episode' }, { subtype: 'bug_fix' }, { type: 'experience' }]) {
      const { body } = await service.http
        .post('/nodes/search')
        .query({ repo_id: REPO })
        .send({ query: 'hippogriff', ...fields })
        .expect(200);
      expect(JSON.stringify(body), JSON.stringify(fields)).toContain(episode.id);
    }
  });

  test('/memory/read finds it, and says what it is', async () => {
    const items = allItems(await recall(service, 'hippogriff'));
    expect(idsIn(items)).toEqual([episode.id]);
    expect(items[0]).toMatchObject({ form: 'episode', kind: 'bug_fix' });
  });

  test('/memory/read of another project does not', async () => {
    expect(allItems(await recall(service, 'hippogriff', {}, 'acme/till'))).toEqual([]);
  });

  test('/edges show its links, and may draw one that the episode then tells', async () => {
    const other = await client.store(agent.id, { links: { caused_by: [episode.id] } });
    const [edge] = await graph.allEdges({ node: other.id });
    expect(edge).toMatchObject({
      type: 'causation',
      label: 'causes',
      members: [
        { node_id: episode.id, role: 'cause' },
        { node_id: other.id, role: 'effect' },
      ],
    });
    const third = await client.store(agent.id);
    await graph.edge(members(['cause', other], ['effect', third]), { type: 'causation', label: 'causes' });
    expect((await client.get(third.id)).links.caused_by).toEqual([other.id]);
    await graph.deleteEdge(edge?.id as string).expect(200);
    expect((await client.get(other.id)).links.caused_by).toEqual([]);
  });

  test.each(['supersedes', 'blocks'])('/edges do not draw %s, of which an episode promises one', async (label) => {
    const [one, other] = (await client.storeGoals(agent.id, 'One', 'Other')) as [EpisodeReport, EpisodeReport];
    const [type, parts] =
      label === 'blocks'
        ? ['causation', members(['cause', one], ['effect', other])]
        : ['relation', members(['subject', one], ['object', other])];
    const { status } = await graph.postEdge({ type, label, members: parts });
    expect(status).toBeGreaterThanOrEqual(400);
    expect(status).toBeLessThan(500);
  });
});

describe('an episode is kept by /episodes alone', () => {
  test.each([{ content: 'Rewritten' }, { tags: ['x'] }, { metadata: { a: 1 } }, { confidence: 0.5 }])(
    'PATCH /nodes/{id} of %j is refused, and says where to go',
    async (fields) => {
      expect((await expectRefused(service, graph.patchNode(episode.id, fields), 409)).code).toBe('conflict');
      const { body } = await graph.patchNode(episode.id, fields).expect(409);
      expect(JSON.stringify(body)).toContain('/episodes');
    },
  );

  test('DELETE /nodes/{id} archives it as DELETE /episodes/{id} does', async () => {
    const { id } = await client.store(agent.id);
    await graph.deleteNode(id).expect(200);
    expect((await client.get(id)).archived_at).not.toBeNull();
    await graph.restoreNode(id).expect(200);
    expect((await client.get(id)).archived_at).toBeNull();
  });

  test('POST /nodes makes none', async () => {
    const { status, body } = await graph.postNode({ form: 'episode', content: 'x' });
    expect([status, body.code]).toEqual([400, 'schema_error']);
  });
});

test('what agents are and do is gone with its repo', async () => {
  const own = new EpisodeClient(service, 'acme/dropped');
  const at = await own.register();
  const { id } = await own.store(at.agent.id);
  const path = `/repos/${encodeURIComponent('acme/dropped')}`;
  await service.http.delete(path).query({ confirm: 'acme/dropped' }).expect(200);
  await own.getAgent(at.agent.id).expect(404);
  await own.getEpisode(id).expect(404);
  await own.getSession(at.session.id).expect(404);
});
