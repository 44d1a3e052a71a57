import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  type AgentReport,
  EpisodeClient,
  type EpisodeReport,
  NO_LINKS,
  UNKNOWN_EPISODE_ID,
} from '../../support/episodes.js';
import { expectRefused, GraphClient, REPO, sendAtOnce, UNKNOWN_ID } from '../../support/nodes.js';
import { remember } from '../../support/requests.js';
import { linksOf } from '../../support/rows.js';
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

const episodes = (count: number): Promise<EpisodeReport[]> =>
  client.storeGoals(agent.id, ...times(count, (index) => `Goal ${index}`));
const linksAt = async (id: string) => (await client.get(id)).links;

/** Each word, how one id is given to it, and how the other end tells the same link. */
const WORDS = [
  ['caused_by', (id: string) => [id], { led_to: true }],
  ['led_to', (id: string) => [id], { caused_by: true }],
  ['related_to', (id: string) => [id], { related_to: true }],
  ['supersedes', (id: string) => id, {}],
  ['blocked_by', (id: string) => id, {}],
] as const;

describe('3e.8 all five words for a link', () => {
  test('are kept on store, none dropped, and each is read back from both ends', async () => {
    const others = await episodes(7);
    const [cause, cause2, effect, related, related2, old, blocker] = others.map(({ id }) => id) as [
      string,
      string,
      string,
      string,
      string,
      string,
      string,
    ];
    const links = {
      caused_by: [cause, cause2],
      led_to: [effect],
      related_to: [related, related2],
      supersedes: old,
      blocked_by: blocker,
    };
    const { id, links: shown } = await client.store(agent.id, { links });
    const sorted = (given: typeof links | typeof shown) => ({
      ...given,
      caused_by: [...given.caused_by].sort(),
      related_to: [...given.related_to].sort(),
    });
    expect(sorted(shown)).toEqual(sorted(links));
    expect(sorted(await linksAt(id))).toEqual(sorted(links));
    expect(await linksAt(cause)).toEqual({ ...NO_LINKS, led_to: [id] });
    expect(await linksAt(cause2)).toEqual({ ...NO_LINKS, led_to: [id] });
    expect(await linksAt(effect)).toEqual({ ...NO_LINKS, caused_by: [id] });
    expect(await linksAt(related)).toEqual({ ...NO_LINKS, related_to: [id] });
    expect(await linksAt(old)).toEqual(NO_LINKS);
    expect(await linksAt(blocker)).toEqual(NO_LINKS);
  });

  test.each(WORDS)('%s joins two episodes afterwards, and once only', async (word, given, back) => {
    const [one, other] = (await episodes(2)) as [EpisodeReport, EpisodeReport];
    const expected = { created: true, links: { ...NO_LINKS, [word]: given(other.id) }, links_complete: true };
    const request = () => client.postLink(one.id, { link_type: word, target_id: other.id });
    expect((await request().expect(201)).body).toEqual(expected);
    expect((await request().expect(200)).body).toEqual({ ...expected, created: false });
    expect(await linksAt(one.id)).toEqual(expected.links);
    const seen = Object.fromEntries(Object.keys(back).map((name) => [name, [one.id]]));
    expect(await linksAt(other.id)).toEqual({ ...NO_LINKS, ...seen });
  });

  test.each([
    ['caused_by', 'led_to', 'causes'],
    ['related_to', 'related_to', 'related_to'],
  ])('%s from one end is %s from the other: the same link, not a second', async (word, reverse, label) => {
    const [one, other] = (await episodes(2)) as [EpisodeReport, EpisodeReport];
    await client.postLink(one.id, { link_type: word, target_id: other.id }).expect(201);
    const { body } = await client.postLink(other.id, { link_type: reverse, target_id: one.id }).expect(200);
    expect(body.created).toBe(false);
    const edges = linksOf(service, REPO, label).filter(({ members }) => members.some(({ id }) => id === one.id));
    expect(edges).toHaveLength(1);
  });

  test('caused_by and led_to the same episode are two links', async () => {
    const [one, other] = (await episodes(2)) as [EpisodeReport, EpisodeReport];
    await client.link(one.id, 'caused_by', other.id);
    const { created, links } = await client.link(one.id, 'led_to', other.id);
    expect([created, links.caused_by, links.led_to]).toEqual([true, [other.id], [other.id]]);
  });

  test('may point at anything that is visible: a memory, a node, an archived episode', async () => {
    const fact = await remember(service, { text: 'Redis is on port 6380' });
    const concept = await new GraphClient(service).node({ content: 'Redis' });
    const [old] = (await episodes(1)) as [EpisodeReport];
    await client.remove(old.id);
    const ids = [fact, concept.id, old.id];
    const { links } = await client.store(agent.id, { links: { related_to: ids } });
    expect([...links.related_to].sort()).toEqual(ids.sort());
  });
});

describe('a link that cannot be is refused by its field, and nothing is stored', () => {
  test.each([UNKNOWN_EPISODE_ID, UNKNOWN_ID, 'garbage', ''])('to %j', async (unknown) => {
    const [known] = (await episodes(1)) as [EpisodeReport];
    const links = {
      caused_by: [known.id, unknown],
      led_to: [unknown],
      related_to: [unknown],
      supersedes: unknown,
      blocked_by: unknown,
    };
    const refusal = await expectRefused(service, client.postEpisode({ agent_id: agent.id, links }), 404);
    expect(refusal).toEqual({
      code: 'not_found',
      fields: ['links.caused_by.1', 'links.led_to.0', 'links.related_to.0', 'links.supersedes', 'links.blocked_by'],
    });
    await expectRefused(service, client.postLink(known.id, { link_type: 'led_to', target_id: unknown }), 404);
    await expectRefused(service, client.patchEpisode(known.id, { links: { related_to: [unknown] } }), 404);
  });

  test('afterwards, and the field is the one that the caller sent', async () => {
    const [known] = (await episodes(1)) as [EpisodeReport];
    const request = client.postLink(known.id, { link_type: 'led_to', target_id: UNKNOWN_EPISODE_ID });
    expect((await expectRefused(service, request, 404)).fields).toEqual(['target_id']);
  });

  test('to an episode of another project', async () => {
    const other = new EpisodeClient(service, 'acme/till');
    const stranger = await other.store((await other.register()).agent.id);
    const request = client.postEpisode({ agent_id: agent.id, links: { caused_by: [stranger.id] } });
    expect(await expectRefused(service, request, 404)).toMatchObject({ fields: ['links.caused_by.0'] });
  });

  test.each(WORDS)('%s to itself', async (word, given) => {
    const [{ id }] = (await episodes(1)) as [EpisodeReport];
    const linked = await expectRefused(service, client.postLink(id, { link_type: word, target_id: id }), 422);
    expect(linked.code).toBe('integrity_error');
    await expectRefused(service, client.patchEpisode(id, { links: { [word]: given(id) } }), 422);
  });

  test.each([
    [{ caused_by: 'mem_x' }, 'links.caused_by'],
    [{ related_to: [7] }, 'links.related_to.0'],
    [{ supersedes: ['mem_x'] }, 'links.supersedes'],
    [{ blocked_by: [] }, 'links.blocked_by'],
    [{ led_to: ['x', 'x'] }, 'links.led_to'],
  ])('that is written %j', async (links, field) => {
    const refusal = await expectRefused(service, client.postEpisode({ agent_id: agent.id, links }), 400);
    expect(refusal).toEqual({ code: 'schema_error', fields: [field] });
  });

  test('of a word that is none, or from an episode that is none', async () => {
    const [one, other] = (await episodes(2)) as [EpisodeReport, EpisodeReport];
    const wrong = client.postLink(one.id, { link_type: 'likes', target_id: other.id });
    expect(await expectRefused(service, wrong, 400)).toMatchObject({ fields: ['link_type'] });
    for (const id of [UNKNOWN_EPISODE_ID, 'garbage']) {
      const request = client.postLink(id, { link_type: 'led_to', target_id: other.id });
      expect(await expectRefused(service, request, 404)).toMatchObject({ fields: ['memory_id'] });
    }
  });
});

describe.each(['supersedes', 'blocked_by'])('%s is one at most', (word) => {
  test('so a second is refused, and a PATCH replaces it', async () => {
    const [one, first, second] = (await episodes(3)) as [EpisodeReport, EpisodeReport, EpisodeReport];
    await client.postLink(one.id, { link_type: word, target_id: first.id }).expect(201);
    const request = () => client.postLink(one.id, { link_type: word, target_id: second.id });
    expect(await expectRefused(service, request(), 409)).toMatchObject({ code: 'conflict' });
    expect((await request()).body.errors[0].message).toMatch(/PATCH/);
    expect((await client.patch(one.id, { links: { [word]: second.id } })).links).toEqual({
      ...NO_LINKS,
      [word]: second.id,
    });
    expect((await client.patch(one.id, { links: { [word]: null } })).links).toEqual(NO_LINKS);
    await request().expect(201);
  });

  test('but two episodes may have the same one', async () => {
    const [one, other, target] = (await episodes(3)) as [EpisodeReport, EpisodeReport, EpisodeReport];
    for (const { id } of [one, other]) {
      await client.postLink(id, { link_type: word, target_id: target.id }).expect(201);
    }
  });

  test('however many are drawn at the same time', async () => {
    const [one, ...targets] = (await episodes(5)) as [EpisodeReport, ...EpisodeReport[]];
    const answers = await sendAtOnce(service, () =>
      targets.map(({ id }) => client.postLink(one.id, { link_type: word, target_id: id })),
    );
    const label = word === 'supersedes' ? 'supersedes' : 'blocks';
    const edges = linksOf(service, REPO, label).filter(({ members }) => members.some(({ id }) => id === one.id));
    expect(edges).toHaveLength(1);
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 409, 409, 409]);
  });
});

test('linked by many at the same time, two episodes are joined once and all are answered', async () => {
  const [one, other] = (await episodes(2)) as [EpisodeReport, EpisodeReport];
  const answers = await sendAtOnce(service, () =>
    times(6, () => client.postLink(one.id, { link_type: 'led_to', target_id: other.id })),
  );
  expect(answers.map(({ status }) => status).sort()).toEqual([200, 200, 200, 200, 200, 201]);
  const edges = linksOf(service, REPO, 'causes').filter(({ members }) => members.some(({ id }) => id === one.id));
  expect(edges).toHaveLength(1);
});
