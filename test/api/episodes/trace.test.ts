import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  type AgentReport,
  EpisodeClient,
  type EpisodeReport,
  type TraceReport,
  UNKNOWN_EPISODE_ID,
} from '../../support/episodes.js';
import { expectRefused, GraphClient, members } from '../../support/nodes.js';
import { type Service, startService } from '../../support/service.js';
import { times } from '../../support/together.js';

let service: Service;
let client: EpisodeClient;
let agent: AgentReport;
beforeAll(async () => {
  service = await startService();
  client = new EpisodeClient(service);
  agent = (await client.register()).agent;
});
afterAll(() => service.stop());

type Five = [EpisodeReport, EpisodeReport, EpisodeReport, EpisodeReport, EpisodeReport];
const goals = (...names: string[]) => client.storeGoals(agent.id, ...names);

/** a → b → c → d → e, each link drawn with the other word in turn. */
async function chain(): Promise<Five> {
  const made = (await goals('a', 'b', 'c', 'd', 'e')) as Five;
  const [a, b, c, d, e] = made;
  await client.postLink(a.id, { link_type: 'led_to', target_id: b.id }).expect(201);
  await client.postLink(c.id, { link_type: 'caused_by', target_id: b.id }).expect(201);
  await client.postLink(c.id, { link_type: 'led_to', target_id: d.id }).expect(201);
  await client.postLink(e.id, { link_type: 'caused_by', target_id: d.id }).expect(201);
  return made;
}

/** Goal, distance and word of each step. */
const steps = ({ chain: found }: TraceReport) =>
  found.map(({ memory, distance, relationship }) => `${memory.intent.goal}${distance} ${relationship}`);

describe('3e.6 a trace', () => {
  test('follows causes, effects or both, whichever word the links were drawn with', async () => {
    const [, b, c, d] = await chain();
    const causes = await client.trace(c.id, { direction: 'causes' });
    expect(steps(causes)).toEqual(['b1 caused_by', 'a2 caused_by']);
    expect(causes.total_nodes).toBe(3);
    expect(causes.origin.id).toBe(c.id);
    expect(causes.chain.map(({ from_id }) => from_id)).toEqual([c.id, b.id]);
    const effects = await client.trace(c.id, { direction: 'effects' });
    expect(steps(effects)).toEqual(['d1 led_to', 'e2 led_to']);
    expect(effects.chain.map(({ from_id }) => from_id)).toEqual([c.id, d.id]);
    const both = await client.trace(c.id, { direction: 'both' });
    expect(steps(both)).toEqual([...steps(causes), ...steps(effects)]);
    expect(both.total_nodes).toBe(5);
    expect(await client.trace(c.id)).toEqual(both);
  });

  test('goes as far as max_depth, which is three unless it is said', async () => {
    const [a] = await chain();
    const from = async (query: Record<string, number>) =>
      steps(await client.trace(a.id, { direction: 'effects', ...query }));
    expect(await from({ max_depth: 1 })).toEqual(['b1 led_to']);
    expect(await from({ max_depth: 2 })).toEqual(['b1 led_to', 'c2 led_to']);
    expect(await from({})).toEqual(['b1 led_to', 'c2 led_to', 'd3 led_to']);
    expect(await from({ max_depth: 20 })).toEqual(['b1 led_to', 'c2 led_to', 'd3 led_to', 'e4 led_to']);
  });

  test.each([0, 21, 1.5, 'deep'])('does not go to the depth %j', async (depth) => {
    const request = client.getTrace(UNKNOWN_EPISODE_ID, { max_depth: depth });
    expect((await expectRefused(service, request, 400)).fields[0]).toContain('max_depth');
  });

  test('ends where everybody was met: circles of one, two and three', async () => {
    const [a, b, c] = (await goals('a', 'b', 'c')) as [EpisodeReport, EpisodeReport, EpisodeReport];
    for (const [from, to] of [
      [a, b],
      [b, a],
      [b, c],
      [c, a],
    ] as const) {
      await client.postLink(from.id, { link_type: 'led_to', target_id: to.id }).expect(201);
    }
    expect(steps(await client.trace(a.id, { direction: 'effects', max_depth: 20 }))).toEqual([
      'b1 led_to',
      'c2 led_to',
    ]);
    expect(steps(await client.trace(a.id, { direction: 'causes', max_depth: 20 }))).toEqual([
      'b1 caused_by',
      'c1 caused_by',
    ]);
    const both = await client.trace(a.id, { max_depth: 20 });
    expect(both.total_nodes).toBe(3);
  });

  test('meets whoever can be reached on two ways once, on the shorter one', async () => {
    const [a, b, c] = (await goals('a', 'b', 'c')) as [EpisodeReport, EpisodeReport, EpisodeReport];
    await client.patch(a.id, { links: { led_to: [b.id, c.id] } });
    await client.patch(b.id, { links: { led_to: [c.id] } });
    expect(steps(await client.trace(a.id, { direction: 'effects' }))).toEqual(['b1 led_to', 'c1 led_to']);
  });

  test('follows nothing but causes', async () => {
    const [a, b, c, d] = (await goals('a', 'b', 'c', 'd')) as [
      EpisodeReport,
      EpisodeReport,
      EpisodeReport,
      EpisodeReport,
    ];
    await client.patch(a.id, { links: { related_to: [b.id], supersedes: c.id, blocked_by: d.id } });
    expect((await client.trace(a.id)).chain).toEqual([]);
  });

  test('leaves out what is in the archive, and what lies behind it', async () => {
    const [, b, c, d] = await chain();
    await client.remove(b.id);
    expect(steps(await client.trace(c.id))).toEqual(['d1 led_to', 'e2 led_to']);
    await new GraphClient(service).restoreNode(b.id).expect(200);
    await client.remove(d.id);
    expect(steps(await client.trace(c.id))).toEqual(['b1 caused_by', 'a2 caused_by']);
    expect((await client.trace(d.id)).origin.archived_at).toBeUndefined();
  });

  test('leaves out what is no episode', async () => {
    const graph = new GraphClient(service);
    const concept = await graph.node({ content: 'A concept' });
    const [a] = (await goals('a')) as [EpisodeReport];
    await graph.edge(members(['cause', concept], ['effect', a]), { type: 'causation', label: 'causes' });
    expect((await client.trace(a.id)).chain).toEqual([]);
  });

  test('finds the cause of what had very many effects since', async () => {
    const [cause, hub] = (await goals('cause', 'hub')) as [EpisodeReport, EpisodeReport];
    await client.patch(hub.id, { links: { caused_by: [cause.id] } });
    for (const _ of times(101, () => 0)) {
      service.clock.advance(1);
      await client.store(agent.id, { links: { caused_by: [hub.id] } });
    }
    expect(steps(await client.trace(hub.id, { direction: 'causes' }))).toEqual(['cause1 caused_by']);
    expect((await client.trace(hub.id, { direction: 'effects', max_depth: 1 })).chain).toHaveLength(101);
  });

  test.each([UNKNOWN_EPISODE_ID, 'garbage'])('does not begin at %j', async (id) => {
    expect(await expectRefused(service, client.getTrace(id), 404)).toEqual({
      code: 'not_found',
      fields: ['memory_id'],
    });
  });

  test('does not begin in another project', async () => {
    const [a] = (await goals('a')) as [EpisodeReport];
    await new EpisodeClient(service, 'acme/till').getTrace(a.id).expect(404);
  });

  test('goes one of three ways', async () => {
    const request = client.getTrace(UNKNOWN_EPISODE_ID, { direction: 'up' });
    expect((await expectRefused(service, request, 400)).fields[0]).toContain('direction');
  });
});
