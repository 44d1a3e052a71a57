import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { EpisodeClient } from '../../support/episodes.js';
import { type ChapterReport, HOUR_MS, NarrativeClient, told } from '../../support/narratives.js';
import { idsOf } from '../../support/nodes.js';
import { type Service, startService } from '../../support/service.js';

let service: Service;
let narratives: NarrativeClient;
/** Made in this order; the second begins first, and the fourth was put away. */
let late: ChapterReport;
let early: ChapterReport;
let long: ChapterReport;
let away: ChapterReport;
let auto: ChapterReport;
beforeAll(async () => {
  service = await startService();
  narratives = new NarrativeClient(service);
  const episodes = new EpisodeClient(service);
  const { agent } = await episodes.register();
  const store = async (tags: string[]) => {
    const episode = await episodes.store(agent.id, told({ tags }));
    service.clock.advance(HOUR_MS);
    return episode;
  };
  const [a, b, c] = [await store(['x']), await store(['x', 'y']), await store(['z%'])] as const;
  late = await narratives.chapter([c]);
  early = await narratives.chapter([a]);
  long = await narratives.chapter([a, b, c]);
  away = await narratives.chapter([b]);
  await narratives.deleteChapter(away.id).expect(200);
  await narratives.detect({ min_memories: 2, tags: ['x'] });
  auto = (await narratives.chapters({ origin: 'auto' }))[0] as ChapterReport;
});
afterAll(() => service.stop());

const listed = async (query: Record<string, string | number | boolean> = {}) => idsOf(await narratives.chapters(query));

test('the newest come first, and those put away not at all', async () => {
  expect(await listed()).toEqual(idsOf([auto, long, early, late]));
});

test('a list shows what a chapter is, without its episodes', async () => {
  const [, first] = await narratives.chapters();
  expect(first).toEqual(long);
  expect(first).not.toHaveProperty('memories');
});

test.each<[string, Record<string, string | number | boolean>, () => ChapterReport[]]>([
  ['origin manual', { origin: 'manual' }, () => [long, early, late]],
  ['origin auto', { origin: 'auto' }, () => [auto]],
  ['one tag', { tags: 'x' }, () => [auto, long, early]],
  ['all of several tags', { tags: 'x, z%' }, () => [long]],
  ['a tag that none has', { tags: 'none' }, () => []],
  ['% as a tag', { tags: '%' }, () => []],
  ['include_archived', { include_archived: true }, () => [auto, away, long, early, late]],
  ['limit', { limit: 2 }, () => [auto, long]],
  ['sort by its beginning', { sort: 'start' }, () => [late, auto, long, early]],
])('%s', async (_, query, expected) => {
  expect(await listed(query)).toEqual(idsOf(expected()));
});

describe('by time', () => {
  test('since: begun at this moment or later', async () => {
    expect(await listed({ since: late.start_ts })).toEqual([late.id]);
    expect(await listed({ since: late.start_ts + 1 })).toEqual([]);
    expect(await listed({ since: 0 })).toHaveLength(4);
  });

  test('before: over before this moment', async () => {
    expect(await listed({ before: early.end_ts + 1 })).toEqual([early.id]);
    expect(await listed({ before: early.end_ts })).toEqual([]);
    expect(await listed({ before: 0 })).toEqual([]);
  });
});

test.each(['recent', 'start'])('pages of the list by %s come to the whole of it', async (sort) => {
  const all = await listed({ sort, include_archived: true });
  for (const limit of [1, 2, 3])
    expect(idsOf(await narratives.allChapters({ sort, include_archived: true, limit }))).toEqual(all);
});

test('a page is good for the order it was made in', async () => {
  const { body } = await narratives.getChapters({ limit: 1 }).expect(200);
  await narratives.getChapters({ limit: 1, sort: 'start', cursor: body.next_cursor }).expect(400);
  await narratives.getChapters({ cursor: 'nonsense' }).expect(400);
});

test('another project has none', async () => {
  expect(await new NarrativeClient(service, 'acme/till').chapters()).toEqual([]);
});

test.each([{ limit: 0 }, { limit: 101 }, { sort: 'importance' }, { origin: 'both' }, { since: -1 }, { tags: '' }])(
  '%j is refused',
  async (query) => {
    await narratives.getChapters(query).expect(400);
  },
);
