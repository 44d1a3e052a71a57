import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  type AgentReport,
  actionOf,
  EpisodeClient,
  intentOf,
  JWT_LAYERS,
  NO_LINKS,
  UNKNOWN_EPISODE_ID,
} from '../../support/episodes.js';
import { expectRefused, GraphClient, idsOf, sendAtOnce } from '../../support/nodes.js';
import { countRows, tables } from '../../support/rows.js';
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

describe('an episode that is deleted', () => {
  test('is in the archive: no list and no recall shows it, whoever asks for it by its id still sees it', async () => {
    const { id } = await client.store(agent.id, {
      intent: intentOf({ goal: 'Groom the alpaca' }),
      actions: [actionOf({ details: { file_path: 'alpaca.ts' } })],
    });
    const at = service.clock.advance(1_000);
    expect((await client.deleteEpisode(id).expect(200)).body).toEqual({ id, purged: false });
    expect(idsOf(await client.allEpisodes({ limit: 200 }))).not.toContain(id);
    expect(await client.listed({ file: 'alpaca.ts' })).toEqual([]);
    for (const asked of [{ query: 'alpaca' }, { intent: 'alpaca' }, { file: 'alpaca.ts' }]) {
      expect(await client.recalledIds(asked)).toEqual([]);
      expect(await client.recalledIds({ ...asked, include_archived: true })).toEqual([id]);
    }
    expect(await client.get(id)).toMatchObject({ archived_at: at, revision: 2 });
  });

  test('comes back as it was', async () => {
    const before = await client.store(agent.id, { ...JWT_LAYERS, tags: ['back'], importance: 0.3 });
    const other = await client.store(agent.id, { links: { caused_by: [before.id] } });
    await client.remove(before.id);
    await new GraphClient(service).restoreNode(before.id).expect(200);
    expect(await client.listed({ tags: 'back' })).toHaveLength(1);
    expect(await client.get(before.id)).toMatchObject({
      ...JWT_LAYERS,
      archived_at: null,
      importance: 0.3,
      files: before.files,
      links: { ...NO_LINKS, led_to: [other.id] },
    });
    expect(await client.recalledIds({ tags: ['back'] })).toEqual([before.id]);
  });

  test('is deleted once, and stays deleted when that is said again', async () => {
    const { id } = await client.store(agent.id);
    await client.remove(id);
    expect((await client.deleteEpisode(id).expect(200)).body).toEqual({ id, purged: false });
    expect((await client.get(id)).revision).toBe(2);
  });

  test('can still be changed and removed', async () => {
    const { id } = await client.store(agent.id);
    await client.remove(id);
    expect(await client.patch(id, { importance: 1 })).toMatchObject({ importance: 1, archived_at: expect.any(Number) });
    await client.remove(id, { permanent: true });
    await client.getEpisode(id).expect(404);
  });
});

describe('an episode that is removed for good', () => {
  test('leaves nothing of it in any table', async () => {
    const own = new EpisodeClient(service, 'acme/purged');
    const { agent: ada } = await own.register();
    const other = await own.store(ada.id);
    const before = countRows(tables(service, 'acme/purged'));
    const word = 'Zyzzyva';
    const { id } = await own.store(ada.id, {
      ...JWT_LAYERS,
      intent: { ...JWT_LAYERS.intent, goal: `Catch the ${word}`, task_type: 'other' },
      actions: [actionOf({ details: { file_path: `src/${word}.ts` } })],
      tags: [word],
      links: { caused_by: [other.id], supersedes: other.id },
    });
    await own.get(id);
    await own.patch(id, { outcome: { summary: `The ${word} is caught` } });
    await own.listed({ sort: 'access_count' });
    expect((await own.deleteEpisode(id, { permanent: true }).expect(200)).body).toEqual({ id, purged: true });
    await own.getEpisode(id).expect(404);
    expect((await own.get(other.id)).links).toEqual(NO_LINKS);
    const left = tables(service, 'acme/purged');
    const isToldIn = (name: string) => JSON.stringify(left[name]).toLowerCase().includes(word.toLowerCase());
    expect(Object.keys(left).filter(isToldIn)).toEqual([]);
    // What happened is kept, and no more than its id.
    const isLog = (name: string) => /^(evolution|purged)/.test(name);
    const own_ = (counts: Record<string, number>) =>
      Object.fromEntries(Object.entries(counts).filter(([name]) => !isLog(name) && !name.includes('search')));
    const { node_access: _looks, ...counts } = own_(countRows(left));
    const { node_access: _before, ...expected } = own_(before);
    expect(counts).toEqual(expected);
  });

  test.each([UNKNOWN_EPISODE_ID, 'garbage', 'agent_ffffffff-ffff-4fff-8fff-ffffffffffff'])(
    'is never %j',
    async (id) => {
      for (const permanent of [true, false]) {
        const refusal = await expectRefused(service, client.deleteEpisode(id, { permanent }), 404);
        expect(refusal).toEqual({ code: 'not_found', fields: ['memory_id'] });
      }
    },
  );

  test('is never a node of another form, nor an episode of another project', async () => {
    const { id } = await new GraphClient(service).node({ content: 'A concept' });
    await expectRefused(service, client.deleteEpisode(id, { permanent: true }), 404);
    const mine = await client.store(agent.id);
    await new EpisodeClient(service, 'acme/till').deleteEpisode(mine.id, { permanent: true }).expect(404);
    await client.getEpisode(mine.id).expect(200);
  });

  test('is removed once, however many do it at the same time', async () => {
    const { id } = await client.store(agent.id);
    const answers = await sendAtOnce(service, () => times(4, () => client.deleteEpisode(id, { permanent: true })));
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 404, 404, 404]);
  });

  test('is not brought back by a PATCH or a link at the same time', async () => {
    const { id } = await client.store(agent.id);
    const other = await client.store(agent.id);
    const answers = await sendAtOnce(service, () => [
      client.deleteEpisode(id, { permanent: true }),
      client.patchEpisode(id, { importance: 1 }),
      client.postLink(other.id, { link_type: 'led_to', target_id: id }),
    ]);
    for (const { status } of answers) expect(status).toBeLessThan(500);
    await client.getEpisode(id).expect(404);
    expect((await client.get(other.id)).links).toEqual(NO_LINKS);
  });
});
