import { afterAll, beforeAll, expect, test } from 'vitest';
import { type AgentReport, EpisodeClient, type EpisodeReport, NO_LINKS } from '../../support/episodes.js';
import { expectRefused, GraphClient, members, sendAtOnce, UNKNOWN_ID } from '../../support/nodes.js';
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

type Four = [EpisodeReport, EpisodeReport, EpisodeReport, EpisodeReport];
const four = async (): Promise<Four> => (await client.storeGoals(agent.id, 'One', 'Two', 'Three', 'Four')) as Four;

test('3e.3 the words that a PATCH names are replaced wholesale, and the others are kept', async () => {
  const [one, two, three, four_] = await four();
  const links = { caused_by: [one.id, two.id], led_to: [three.id], related_to: [one.id], supersedes: two.id };
  const { id } = await client.store(agent.id, { links });
  const patched = await client.patch(id, { links: { caused_by: [two.id, four_.id], blocked_by: three.id } });
  expect({ ...patched.links, caused_by: [...patched.links.caused_by].sort() }).toEqual({
    caused_by: [two.id, four_.id].sort(),
    led_to: [three.id],
    related_to: [one.id],
    supersedes: two.id,
    blocked_by: three.id,
  });
  expect((await client.get(one.id)).links).toEqual({ ...NO_LINKS, related_to: [id] });
  expect((await client.get(four_.id)).links.led_to).toEqual([id]);
});

test('3e.3 an empty list takes all links of the word away, and an empty object none', async () => {
  const [one, two, three] = await four();
  const { id } = await client.store(agent.id, {
    links: { caused_by: [one.id], led_to: [two.id], supersedes: three.id },
  });
  expect((await client.patch(id, { links: {} })).links).toEqual({
    ...NO_LINKS,
    caused_by: [one.id],
    led_to: [two.id],
    supersedes: three.id,
  });
  expect((await client.patch(id, { links: { caused_by: [], supersedes: null } })).links).toEqual({
    ...NO_LINKS,
    led_to: [two.id],
  });
});

test('a word read from its other end is replaced from there too', async () => {
  const [one, two, three] = await four();
  await client.patch(one.id, { links: { led_to: [two.id] } });
  expect((await client.patch(two.id, { links: { caused_by: [three.id] } })).links.caused_by).toEqual([three.id]);
  expect((await client.get(one.id)).links).toEqual(NO_LINKS);
  await client.patch(three.id, { links: { related_to: [one.id] } });
  await client.patch(one.id, { links: { related_to: [] } });
  expect((await client.get(three.id)).links.related_to).toEqual([]);
});

test('a PATCH that keeps a link does not draw it anew', async () => {
  const graph = new GraphClient(service);
  const [one, two, three] = await four();
  await client.patch(one.id, { links: { led_to: [two.id] } });
  const [before] = await graph.allEdges({ node: two.id });
  await client.patch(one.id, { links: { led_to: [three.id, two.id] } });
  expect(await graph.allEdges({ node: two.id })).toEqual([before]);
});

test('a PATCH of the layers leaves the links alone, and one of the links leaves the layers alone', async () => {
  const [one, two] = await four();
  await client.patch(one.id, { links: { led_to: [two.id] } });
  expect((await client.patch(one.id, { intent: { goal: 'Another' } })).links.led_to).toEqual([two.id]);
  const { intent, outcome } = await client.patch(one.id, { links: { led_to: [] } });
  expect([intent, outcome]).toEqual([{ ...one.intent, goal: 'Another' }, one.outcome]);
});

test('a PATCH with a link that cannot be changes nothing, not even what was right in it', async () => {
  const [one, two] = await four();
  await client.patch(one.id, { links: { led_to: [two.id] } });
  const request = client.patchEpisode(one.id, {
    intent: { goal: 'Another' },
    tags: ['new'],
    links: { led_to: [], related_to: [two.id, UNKNOWN_ID] },
  });
  expect(await expectRefused(service, request, 404)).toEqual({ code: 'not_found', fields: ['links.related_to.1'] });
});

test('a link of several members is not one episode’s to take back', async () => {
  const graph = new GraphClient(service);
  const [one, two, three] = await four();
  const parts = members(['participant', one], ['participant', two], ['participant', three]);
  const edge = await graph.edge(parts, { label: 'related_to' });
  await client.patch(one.id, { links: { related_to: [] } });
  await graph.getEdge(edge.id).expect(200);
});

test('PATCHes of the same word at the same time leave what one of them said', async () => {
  const [one, ...others] = await four();
  const answers = await sendAtOnce(service, () =>
    others.map(({ id }) => client.patchEpisode(one.id, { links: { supersedes: id } })),
  );
  expect(answers.map(({ status }) => status)).toEqual(times(3, () => 200));
  const edges = await new GraphClient(service).allEdges({ node: one.id });
  expect(edges).toHaveLength(1);
});
