import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { EpisodeClient } from '../../support/episodes.js';
import { HOUR_MS, NarrativeClient, storeTold, type WisdomReport } from '../../support/narratives.js';
import { GraphClient, idsOf } from '../../support/nodes.js';
import { refused } from '../../support/rows.js';
import { type Service, startService } from '../../support/service.js';

let service: Service;
let narratives: NarrativeClient;
/** Made in this order of two chapters each; the last was put away. */
let birds: WisdomReport;
let fish: WisdomReport;
let away: WisdomReport;
beforeAll(async () => {
  service = await startService();
  narratives = new NarrativeClient(service);
  const episodes = new EpisodeClient(service);
  const { agent } = await episodes.register();
  const make = async (learned: string, tag: string): Promise<WisdomReport> => {
    const chapters = [];
    for (const number of [1, 2]) {
      const told = { goal: `Keep ${tag} ${number}`, learned: [learned], tags: [tag, 'animal'] };
      chapters.push(await narratives.chapter(await storeTold(service, episodes, agent.id, told)));
      service.clock.advance(HOUR_MS);
    }
    return narratives.wisdom({ chapter_ids: idsOf(chapters) });
  };
  birds = await make('Pelicans like herring', 'bird');
  fish = await make('Herring likes salt, and salt, and salt again', 'fish');
  away = await make('Moles like herring', 'mole');
  await narratives.deleteWisdom(away.id).expect(200);
});
afterAll(() => service.stop());

describe('recall', () => {
  const found = async (query: string, fields: object = {}) =>
    idsOf(await narratives.recalledWisdom({ query, ...fields }));

  test('finds by words, best first, and not what was put away', async () => {
    expect(await found('pelicans')).toEqual([birds.id]);
    expect(await found('herring pelicans')).toEqual([birds.id, fish.id]);
    expect(await found('moles')).toEqual([]);
    expect(await found('zeppelin')).toEqual([]);
  });

  test('shows the wisdom as it is, with a falling score', async () => {
    const { body } = await narratives.postWisdomRecall({ query: 'herring pelicans' }).expect(200);
    expect(body.results[0].wisdom).toEqual(await narratives.readWisdom(birds.id));
    expect(body.results[0].score).toBeGreaterThan(body.results[1].score);
  });

  test.each<[string, object, () => WisdomReport[]]>([
    ['tags', { tags: ['fish'] }, () => [fish]],
    ['all tags', { tags: ['fish', 'bird'] }, () => []],
    ['since', { since: () => fish.start_ts }, () => [fish]],
    ['since 0', { since: 0 }, () => [birds, fish]],
    ['before', { before: () => fish.start_ts }, () => [birds]],
    ['before 0', { before: 0 }, () => []],
  ])('%s', async (_, fields, expected) => {
    const asked = Object.entries(fields).map(([key, value]) => [key, typeof value === 'function' ? value() : value]);
    expect((await found('herring', Object.fromEntries(asked))).sort()).toEqual(idsOf(expected()).sort());
  });

  test('limit', async () => {
    expect(await found('herring', { limit: 1 })).toHaveLength(1);
    expect(await found('herring', { limit: 50 })).toHaveLength(2);
  });

  test('only wisdom is found, and only of this project', async () => {
    expect(await found('Keep')).toHaveLength(2);
    expect(await new NarrativeClient(service, 'acme/till').recalledWisdom({ query: 'herring' })).toEqual([]);
  });

  test('counts a look at each that is shown', async () => {
    const graph = new GraphClient(service);
    const looks = async () => (await graph.getNode(fish.id)).body.access_count;
    const before = await looks();
    await found('salt');
    expect(await looks()).toBe(before + 2);
    await found('pelicans');
    expect(await looks()).toBe(before + 3);
  });

  test.each(['%', '*', '"', "'", '🙂', 'NEAR('])('%j is plain words', async (query) => {
    expect(await found(query)).toEqual([]);
  });

  test('too long or blank is refused by its field', async () => {
    for (const query of ['x'.repeat(10_001), ' ']) {
      const refusal = await refused(service, '/wisdom/recall', { project_id: 'acme/shop', query });
      expect(refusal).toMatchObject({ status: 422, errors: [['query', 'semantic_error']] });
    }
    for (const fields of [
      {},
      { query: '' },
      { query: 'x', limit: 0 },
      { query: 'x', limit: 51 },
      { query: 'x', depth: 1 },
    ])
      await narratives.postWisdomRecall(fields).expect(400);
  });
});

describe('the list', () => {
  const listed = async (query: Record<string, string | number | boolean> = {}) =>
    idsOf(await narratives.wisdoms(query));

  test('has the newest first, and what was put away when it is asked for', async () => {
    expect(await listed()).toEqual(idsOf([fish, birds]));
    expect(await listed({ include_archived: true })).toEqual(idsOf([away, fish, birds]));
    expect((await narratives.wisdoms())[1]).toEqual(birds);
  });

  test.each<[string, () => Record<string, string | number | boolean>, () => WisdomReport[]]>([
    ['tags', () => ({ tags: 'bird' }), () => [birds]],
    ['all tags', () => ({ tags: 'bird,animal' }), () => [birds]],
    ['tags of none', () => ({ tags: 'bird,fish' }), () => []],
    ['since', () => ({ since: birds.start_ts + 1 }), () => [fish]],
    ['before', () => ({ before: birds.end_ts + 1 }), () => [birds]],
    ['limit', () => ({ limit: 1 }), () => [fish]],
  ])('%s', async (_, query, expected) => {
    expect(await listed(query())).toEqual(idsOf(expected()));
  });

  test('comes in pages', async () => {
    const ids: string[] = [];
    let cursor: string | null = null;
    do {
      const query: Record<string, string | number> = { limit: 1, ...(cursor !== null && { cursor }) };
      const { body } = await narratives.getWisdoms({ ...query, include_archived: true }).expect(200);
      ids.push(...idsOf(body.wisdom));
      cursor = body.next_cursor;
    } while (cursor !== null);
    expect(ids).toEqual(idsOf([away, fish, birds]));
    await narratives.getWisdoms({ cursor: 'nonsense' }).expect(400);
  });

  test('of another project is empty', async () => {
    expect(await new NarrativeClient(service, 'acme/till').wisdoms()).toEqual([]);
  });
});
