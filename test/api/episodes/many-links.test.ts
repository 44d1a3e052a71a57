import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { Change } from '../../../src/domain/changes.js';
import { typeOf } from '../../../src/domain/forms.js';
import type { Label } from '../../../src/domain/links.js';
import { newNode } from '../../../src/domain/node.js';
import { type AgentReport, EpisodeClient, type EpisodeReport } from '../../support/episodes.js';
import { expectRefused } from '../../support/nodes.js';
import { concept, link, planOf } from '../../support/plans.js';
import { type Service, startService } from '../../support/service.js';
import { times } from '../../support/together.js';

/** Above the 1,000 links of an episode that are shown, and the 1,000 episodes of a trace. */

const SHOWN_MAX = 1_000;

let service: Service;
let client: EpisodeClient;
let agent: AgentReport;
beforeAll(async () => {
  service = await startService();
  client = new EpisodeClient(service);
  agent = (await client.register()).agent;
});
afterAll(() => service.stop());

let hub: EpisodeReport;
let first: EpisodeReport;
beforeEach(async () => {
  [hub, first] = (await client.storeGoals(agent.id, 'Hub', 'First')) as [EpisodeReport, EpisodeReport];
});

let lastNode = 0;
const freshId = (): string => `22222222-2222-4222-8222-${String(++lastNode).padStart(12, '0')}`;

/** Nodes that are joined to the hub after everything that was joined to it before. */
async function join(count: number, label: Label, place: 0 | 1): Promise<void> {
  service.clock.advance(1_000);
  const ids = times(count, freshId);
  await service.store.apply(planOf(...ids.map((id) => concept(id))));
  const members = (id: string) => (place === 0 ? [hub.id, id] : [id, hub.id]);
  const atMs = service.clock.now();
  await service.store.apply(planOf(...ids.map((id) => link(label, members(id), { atMs }))));
}

/** Episodes like the first that the hub led to. */
async function joinEffects(count: number): Promise<void> {
  const [model] = await service.store.getEpisodes(client.repoId, [first.id], true);
  if (!model) throw new Error('the first episode is gone');
  const { createdAtMs, sessionId, agentId, importance, layers } = model;
  const said = { form: 'episode', kind: 'other', type: typeOf('episode', 'other'), content: 'An effect' } as const;
  const fields = { ...said, repoId: client.repoId, createdAtMs, sessionId };
  const detail = { form: 'episode', agentId, importance, layers } as const;
  const ids = times(count, () => `mem_${freshId()}`);
  const nodes = ids.map((id) => newNode({ id, ...fields, detail }));
  await service.store.apply(planOf(...nodes.map((node): Change => ({ change: 'insert_node', node, terms: [] }))));
  await service.store.apply(planOf(...ids.map((id) => link('causes', [hub.id, id]))));
}

describe('an episode with more links than are shown', () => {
  test('shows the newest and says that there are more', async () => {
    await client.link(hub.id, 'related_to', first.id);
    await join(SHOWN_MAX - 1, 'related_to', 0);
    expect((await client.get(hub.id)).links_complete).toBe(true);
    await join(1, 'related_to', 0);
    const { links, links_complete } = await client.get(hub.id);
    expect(links.related_to).toHaveLength(SHOWN_MAX);
    expect(links.related_to).not.toContain(first.id);
    expect(links_complete).toBe(false);
    const recalled = await client.recall({ memory_id: hub.id, depth: 'full', include_links: true });
    expect(recalled.memories[0]?.memory.links_complete).toBe(false);
  });

  test.each([
    ['related_to', 'related_to', 0],
    ['led_to', 'causes', 0],
    ['caused_by', 'causes', 1],
  ] as const)('knows a %s link that is not shown: linking again makes nothing', async (word, label, place) => {
    await client.link(hub.id, word, first.id);
    await join(SHOWN_MAX, label, place);
    const answer = await client.postLink(hub.id, { link_type: word, target_id: first.id });
    expect(answer.status).toBe(200);
    expect(answer.body).toMatchObject({ created: false, links_complete: false });
  });

  test.each([
    ['supersedes', 'supersedes', 1],
    ['blocked_by', 'blocks', 0],
  ] as const)(
    'shows its one %s link, and refuses another, however many say it of this one',
    async (word, label, place) => {
      await client.link(hub.id, word, first.id);
      await join(SHOWN_MAX, label, place);
      expect((await client.get(hub.id)).links[word]).toBe(first.id);
      const [other] = await client.storeGoals(agent.id, 'Other');
      const fields = { link_type: word, target_id: other?.id };
      await expectRefused(service, client.postLink(hub.id, fields), 409, client.repoId);
      expect((await client.patch(hub.id, { links: { [word]: other?.id } })).links[word]).toBe(other?.id);
    },
  );

  test('loses all of them when a PATCH takes them away, and no others', async () => {
    await client.link(hub.id, 'related_to', first.id);
    await client.link(hub.id, 'caused_by', first.id);
    await join(SHOWN_MAX + 50, 'related_to', 0);
    const { links, links_complete } = await client.patch(hub.id, { links: { related_to: [] } });
    expect(links).toMatchObject({ related_to: [], caused_by: [first.id] });
    expect(links_complete).toBe(true);
    expect((await client.get(first.id)).links.related_to).toEqual([]);
  });

  test('keeps those that a PATCH names, shown or not', async () => {
    await client.link(hub.id, 'led_to', first.id);
    await join(SHOWN_MAX, 'causes', 0);
    const { links } = await client.patch(hub.id, { links: { led_to: [first.id] } });
    expect(links.led_to).toEqual([first.id]);
  });

  test('is told when a PATCH would take away too many at once', async () => {
    await join(5_001, 'related_to', 0);
    const answer = await client.patchEpisode(hub.id, { links: { related_to: [] } });
    expect(answer.status).toBe(409);
    expect(answer.body.errors).toEqual([
      { field: 'links.related_to', code: 'conflict', message: expect.stringContaining('more than 5000') },
    ]);
    expect((await client.get(hub.id)).links.related_to).toHaveLength(SHOWN_MAX);
  });
});

describe('a trace', () => {
  test('of more than 1,000 episodes says that there are more', async () => {
    const traced = async () => {
      const { total_nodes, complete } = await client.trace(hub.id, { direction: 'effects' });
      return { total_nodes, complete };
    };
    await joinEffects(SHOWN_MAX - 1);
    expect(await traced()).toEqual({ total_nodes: SHOWN_MAX, complete: true });
    await joinEffects(1);
    expect(await traced()).toEqual({ total_nodes: SHOWN_MAX, complete: false });
  });

  test('past a node with more than 2,000 causes says that it may lack some', async () => {
    await client.link(hub.id, 'caused_by', first.id);
    await join(1_999, 'causes', 0);
    expect(await client.trace(hub.id, { direction: 'causes' })).toMatchObject({ total_nodes: 2, complete: true });
    await join(1, 'causes', 0);
    expect(await client.trace(hub.id, { direction: 'causes' })).toMatchObject({ complete: false });
  });
});
