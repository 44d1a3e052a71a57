import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Label, LINKS } from '../../../src/domain/links.js';
import { EDGE_TYPES } from '../../../src/domain/vocabulary.js';
import { ChunkClient } from '../../support/chunks.js';
import { EpisodeClient } from '../../support/episodes.js';
import { NarrativeClient } from '../../support/narratives.js';
import { expectRefused, GraphClient, members, type NodeReport, REPO } from '../../support/nodes.js';
import { change, remember } from '../../support/requests.js';
import { select } from '../../support/rows.js';
import { type Service, startService } from '../../support/service.js';

let service: Service;
let graph: GraphClient;
beforeAll(async () => {
  service = await startService();
  graph = new GraphClient(service);
});
afterAll(() => service.stop());

const two = async () => (await graph.nodes('One', 'Other')) as [NodeReport, NodeReport];
const EVIDENCE = ['supports', 'contradicts', 'validates', 'invalidates'];
const KEPT = (Object.keys(LINKS) as Label[]).filter((label) => LINKS[label].keeper !== null);

describe.each([...EVIDENCE.map((label) => [label, 'relation'] as const), ['summarizes', 'composition'] as const])(
  'SPEC-02.25 a link that says %s',
  (label, type) => {
    test('leads from its subject to its object', async () => {
      const [from, to] = await two();
      const edge = await graph.link(from, to, { label, type });
      expect(edge).toMatchObject({ label, type, weight: 1 });
      const related = async (id: string, direction: string) =>
        (await graph.getRelated(id, { label, direction }).expect(200)).body.related;
      expect(await related(from.id, 'outgoing')).toMatchObject([{ node: { id: to.id } }]);
      expect(await related(from.id, 'incoming')).toEqual([]);
      expect(await related(to.id, 'incoming')).toMatchObject([{ node: { id: from.id } }]);
    });

    test.each(EDGE_TYPES.filter((other) => other !== type))('is not of type %s', async (other) => {
      const [from, to] = await two();
      const request = graph.postEdge({ label, type: other, members: members(['subject', from], ['object', to]) });
      expect(await expectRefused(service, request, 422)).toEqual({ code: 'semantic_error', fields: ['type'] });
    });

    test('has a subject and an object, and nothing else', async () => {
      const [from, to] = await two();
      const third = await graph.node();
      for (const parts of [
        members(['subject', from]),
        members(['subject', from], ['subject', to]),
        members(['cause', from], ['effect', to]),
        members(['participant', from], ['participant', to]),
        members(['subject', from], ['object', to], ['context', third]),
        members(['subject', from], ['object', to], ['object', third]),
      ]) {
        const request = graph.postEdge({ label, type, members: parts });
        expect(await expectRefused(service, request, 422)).toEqual({ code: 'semantic_error', fields: ['members'] });
      }
    });

    test('joins two different nodes', async () => {
      const [from] = await two();
      const request = graph.postEdge({ label, type, members: members(['subject', from], ['object', from]) });
      expect((await expectRefused(service, request, 422)).fields).toEqual(['members']);
    });

    test('cannot be made of another edge that does not fit it', async () => {
      const [from, to] = await two();
      const edge = await graph.edge(members(['participant', from], ['participant', to]), { label: 'meets' });
      const fits = await graph.link(from, to, { label: 'nearly', type });
      expect((await expectRefused(service, graph.patchEdge(edge.id, { label }), 422)).code).toBe('semantic_error');
      expect((await graph.patchEdge(fits.id, { label }).expect(200)).body.label).toBe(label);
    });
  },
);

describe('SPEC-02.25 a link that says related_to', () => {
  test('joins two or more participants', async () => {
    const [one, other] = await two();
    const third = await graph.node();
    const pair = members(['participant', one], ['participant', other]);
    expect(await graph.edge(pair, { label: 'related_to' })).toMatchObject({ label: 'related_to', weight: 1 });
    expect(
      (await graph.edge([...pair, ...members(['participant', third])], { label: 'related_to' })).members,
    ).toHaveLength(3);
  });

  test('is the same from either end', async () => {
    const [one, other] = await two();
    const edge = await graph.edge(members(['participant', one], ['participant', other]), { label: 'related_to' });
    const body = { label: 'related_to', members: members(['participant', other], ['participant', one]) };
    expect((await graph.postEdge(body).expect(200)).body).toEqual(edge);
  });

  test('is the one that a memory brought along', async () => {
    const one = await remember(service, { text: 'First' });
    const second = await remember(service, { text: 'Second', links: { related_memory_ids: [one] } });
    const body = { label: 'related_to', members: members(['participant', one], ['participant', second]) };
    expect((await graph.postEdge(body).expect(200)).body).toMatchObject({ weight: 0.5 });
  });

  test.each([
    ['one participant', 'one'],
    ['a subject and an object', 'roles'],
  ])('has not %s', async (_, which) => {
    const [one, other] = await two();
    const parts = which === 'one' ? members(['participant', one]) : members(['subject', one], ['object', other]);
    const request = graph.postEdge({ label: 'related_to', members: parts });
    expect((await expectRefused(service, request, 422)).fields).toEqual(['members']);
  });
});

describe('SPEC-02.25 the links that a contract keeps', () => {
  let rounds = 0;
  /** One edge of each such label. */
  async function keptEdges(): Promise<Record<string, string>> {
    return { ...(await memoryEdges()), ...(await narrativeEdges()), ...(await chunkEdge()) };
  }

  /** A conversation of two. */
  async function chunkEdge(): Promise<Record<string, string>> {
    const chunks = new ChunkClient(service, REPO);
    await chunks.chunk('Said first');
    const { id: node } = await chunks.chunk('Said next');
    return { context_of: (await graph.allEdges({ node, label: 'context_of' }))[0]?.id as string };
  }

  /** An episode that another one blocks and that replaced a third, a chapter of them and a wisdom of that. */
  async function narrativeEdges(): Promise<Record<string, string>> {
    const [episodes, narratives] = [new EpisodeClient(service, REPO), new NarrativeClient(service, REPO)];
    const { agent } = await episodes.register();
    const made = await episodes.storeGoals(agent.id, 'Blocked', 'Blocks', 'Replaced');
    const [blocked, blocks, replaced] = made.map(({ id }) => id) as [string, string, string];
    await episodes.link(blocked, 'blocked_by', blocks);
    await episodes.link(blocked, 'supersedes', replaced);
    const chapter = await narratives.chapter(made);
    const wisdom = await narratives.wisdom({ chapter_ids: [chapter.id], min_chapters: 1 });
    const idOf = async (label: string, node: string): Promise<string> =>
      (await graph.allEdges({ node, label }))[0]?.id as string;
    return {
      blocks: await idOf('blocks', blocked),
      supersedes: await idOf('supersedes', blocked),
      narrates: await idOf('narrates', chapter.id),
      distills: await idOf('distills', wisdom.id),
    };
  }

  /** An attempt at a problem, and a fact that was replaced. */
  async function memoryEdges(): Promise<Record<string, string>> {
    const tag = `kept ${++rounds}`;
    const problemId = await remember(service, { text: `Problem ${tag}`, kind: 'problem' });
    const links = { problem_id: problemId };
    await remember(service, { text: `Solution ${tag}`, kind: 'solution', links });
    const oldId = await remember(service, { text: `Old ${tag}` });
    const newId = await remember(service, { text: `New ${tag}` });
    const changeId = await remember(service, { text: `Change ${tag}`, kind: 'change' });
    await change(service, changeId, { type: 'fact_update_link', old_fact_id: oldId, new_fact_id: newId });
    const [attempt] = await graph.allEdges({ node: problemId, label: 'attempts' });
    const [update] = await graph.allEdges({ node: oldId, label: 'fact_update' });
    return { attempts: attempt?.id as string, fact_update: update?.id as string };
  }

  test('are those that a contract promises something about', () => {
    expect([...KEPT].sort()).toEqual([
      ...['attempts', 'blocks', 'context_of', 'distills', 'fact_update', 'narrates', 'supersedes'],
    ]);
  });

  test.each(KEPT)('%s are shown like any edge', async (label) => {
    const id = (await keptEdges())[label] as string;
    expect((await graph.getEdge(id).expect(200)).body).toMatchObject({ id, label, type: LINKS[label].type });
  });

  test.each(KEPT)('%s cannot be drawn here', async (label) => {
    const ids: string[] = [];
    for (const kind of ['problem', 'fact', 'change'])
      ids.push(await remember(service, { text: `${label} ${kind}`, kind }));
    const parts = LINKS[label].roles.map((role, index): [string, string] => [role, ids[index] as string]);
    const request = graph.postEdge({ label, type: LINKS[label].type, members: members(...parts) });
    expect(await expectRefused(service, request, 422)).toEqual({ code: 'semantic_error', fields: ['label'] });
  });

  test.each(KEPT)('%s cannot be made of another edge', async (label) => {
    const [from, to] = await two();
    const edge = await graph.link(from, to, { label: 'tries' });
    const refusal = await expectRefused(service, graph.patchEdge(edge.id, { label }), 422);
    expect(refusal).toEqual({ code: 'semantic_error', fields: ['label'] });
  });

  test.each(KEPT)('%s cannot be weighed, renamed or removed here', async (label) => {
    const id = (await keptEdges())[label] as string;
    for (const fields of [{ weight: 0 }, { label: 'mine' }]) {
      const refusal = await expectRefused(service, graph.patchEdge(id, fields), 409);
      expect(refusal).toEqual({ code: 'conflict', fields: ['edge_id'] });
    }
    const refusal = await expectRefused(service, graph.deleteEdge(id), 409);
    expect(refusal).toEqual({ code: 'conflict', fields: ['edge_id'] });
    expect(select(service, REPO, 'SELECT label FROM hyperedges WHERE id = ?', id)).toEqual([{ label }]);
  });
});
