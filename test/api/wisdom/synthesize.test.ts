import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { EpisodeClient, type EpisodeReport, UNKNOWN_EPISODE_ID } from '../../support/episodes.js';
import {
  type ChapterReport,
  HOUR_MS,
  NarrativeClient,
  storeTold,
  type Told,
  UNKNOWN_CHAPTER_ID,
  UNKNOWN_WISDOM_ID,
} from '../../support/narratives.js';
import { expectRefused, GraphClient, idsOf } from '../../support/nodes.js';
import { allItems, recall } from '../../support/requests.js';
import { stored } from '../../support/rows.js';
import { type Service, startService } from '../../support/service.js';

let service: Service;
let repos = 0;
let repoId: string;
let episodes: EpisodeClient;
let narratives: NarrativeClient;
let agentId: string;
beforeAll(async () => {
  service = await startService();
});
afterAll(() => service.stop());
beforeEach(async () => {
  repoId = `wisdom/${++repos}`;
  episodes = new EpisodeClient(service, repoId);
  narratives = new NarrativeClient(service, repoId);
  agentId = (await episodes.register()).agent.id;
});

/** A chapter of these episodes, an hour after the last one. */
async function chapter(...all: Told[]): Promise<ChapterReport> {
  const made: EpisodeReport[] = await storeTold(service, episodes, agentId, ...all);
  service.clock.advance(HOUR_MS);
  return narratives.chapter(made);
}

describe('a wisdom', () => {
  test('is made of given chapters: insights each once, patterns with their counts, advice, and what each was taken from', async () => {
    const one = await chapter({
      goal: 'Fix the pump',
      summary: 'It runs',
      learned: ['Always oil the pump', 'The cellar is wet'],
      tags: ['pump', 'cellar'],
    });
    const two = await chapter({
      goal: 'Fix the tap',
      summary: 'It drips',
      learned: ['always oil the pump!', 'Taps drip', 'You should avoid force'],
      tags: ['tap', 'cellar'],
    });
    const three = await chapter({ goal: 'Rest', summary: 'Rested', tags: ['pump', 'cellar'] });
    const ids = idsOf([one, two, three]);
    const { status, body } = await narratives.postSynthesis({ chapter_ids: [three.id, one.id, two.id] });
    expect([status, body.applied, body.action]).toEqual([201, true, 'created']);
    expect(body.chapter_ids).toEqual(ids.toSorted());
    expect(body.wisdom).toEqual({
      id: expect.stringMatching(/^wisdom_[0-9a-f-]{36}$/),
      project_id: repoId,
      created_at: service.clock.now(),
      updated_at: service.clock.now(),
      summary: `Synthesis across 3 chapters: ${[one, two, three].map(({ summary }) => summary).join(' | ')}`,
      summary_origin: 'extract',
      insights: ['Always oil the pump', 'The cellar is wet', 'Taps drip', 'You should avoid force'],
      patterns: ['cellar', 'pump'],
      best_practices: ['Always oil the pump', 'You should avoid force'],
      tags: ['cellar', 'pump'],
      start_ts: one.start_ts,
      end_ts: three.end_ts,
      chapter_ids: ids.toSorted(),
      sources: {
        summary: [one, two, three].map(({ id, summary }) => ({ text: summary, source_ids: [id] })),
        insights: [
          { text: 'Always oil the pump', source_ids: [one.id, two.id] },
          { text: 'The cellar is wet', source_ids: [one.id] },
          { text: 'Taps drip', source_ids: [two.id] },
          { text: 'You should avoid force', source_ids: [two.id] },
        ],
        patterns: [
          { text: 'cellar', count: 3, source_ids: ids },
          { text: 'pump', count: 2, source_ids: [one.id, three.id] },
        ],
        best_practices: [
          { text: 'Always oil the pump', source_ids: [one.id, two.id] },
          { text: 'You should avoid force', source_ids: [two.id] },
        ],
      },
      archived_at: null,
    });
    expect(await narratives.readWisdom(body.wisdom.id)).toEqual(body.wisdom);
  });

  test('does not take for one what says the opposite', async () => {
    const [one, two] = [
      await chapter({ learned: ['Use the cache'] }),
      await chapter({ learned: ['Do not use the cache'] }),
    ];
    expect((await narratives.wisdom({ chapter_ids: idsOf([one, two]) })).insights).toEqual([
      'Use the cache',
      'Do not use the cache',
    ]);
  });

  test('of one chapter finds no pattern, though its tags are its topics too', async () => {
    const one = await chapter({ tags: ['pump'] });
    const { patterns, tags } = await narratives.wisdom({ chapter_ids: [one.id], min_chapters: 1 });
    expect({ patterns, tags }).toEqual({ patterns: [], tags: [] });
  });

  test('quotes every line from a chapter that it cites', async () => {
    for (const number of [1, 2, 3, 4])
      await chapter({
        goal: `Goal ${number}`,
        learned: ['Common', `Never do ${number}`],
        tags: ['t', `t${number % 2}`],
      });
    const { sources } = await narratives.wisdom();
    const chapters = new Map((await narratives.chapters()).map((one) => [one.id, one]));
    for (const { text, source_ids } of [...sources.insights, ...sources.best_practices])
      for (const id of source_ids) expect(chapters.get(id)?.learnings).toContain(text);
    for (const { text, source_ids } of sources.summary)
      expect(chapters.get(source_ids[0] as string)?.summary).toBe(text);
    for (const { text, count, source_ids } of sources.patterns) {
      expect(new Set(source_ids).size).toBe(count);
      for (const id of source_ids) expect(chapters.get(id)?.tags).toContain(text);
    }
  });
});

describe('without named chapters', () => {
  test('all are taken, but for those put away', async () => {
    const made = [await chapter({}), await chapter({}), await chapter({})];
    await narratives.deleteChapter(made[0]?.id as string).expect(200);
    expect((await narratives.wisdom()).chapter_ids).toEqual(idsOf(made.slice(1)).sort());
  });

  test('tags: those with all of them', async () => {
    const both = await chapter({ tags: ['x', 'y'] });
    const one = await chapter({ tags: ['x'] });
    await chapter({ tags: ['z'] });
    expect((await narratives.wisdom({ tags: ['x'] })).chapter_ids).toEqual(idsOf([both, one]).sort());
    expect((await narratives.wisdom({ tags: ['y', 'x'], min_chapters: 1 })).chapter_ids).toEqual([both.id]);
  });

  test('since and before: those begun and over by then', async () => {
    const [first, second, third] = [await chapter({}), await chapter({}), await chapter({})];
    const made = async (fields: object) => (await narratives.synthesize({ min_chapters: 1, ...fields })).chapter_ids;
    expect(await made({ since: second.start_ts })).toEqual(idsOf([second, third]).sort());
    expect(await made({ before: second.start_ts })).toEqual([first.id]);
    expect(await made({ since: second.start_ts, before: third.start_ts })).toEqual([second.id]);
    expect(await made({ since: 0 })).toHaveLength(3);
  });

  test('named chapters go before the filter', async () => {
    const [one, two] = [await chapter({}), await chapter({})];
    expect((await narratives.wisdom({ chapter_ids: idsOf([one, two]), tags: ['none'] })).chapter_ids).toHaveLength(2);
  });
});

describe('what is refused stores nothing', () => {
  const refuse = (fields: object, status: number) =>
    expectRefused(service, narratives.postSynthesis(fields), status, repoId);

  test('too few chapters, with how many there are and how many are wanted', async () => {
    const one = await chapter({ tags: ['x'] });
    expect(await refuse({}, 422)).toEqual({ code: 'semantic_error', fields: ['min_chapters'] });
    expect(await refuse({ tags: ['none'] }, 422)).toEqual({ code: 'semantic_error', fields: ['min_chapters'] });
    expect(await refuse({ chapter_ids: [one.id] }, 422)).toEqual({ code: 'semantic_error', fields: ['chapter_ids'] });
    expect((await refuse({ min_chapters: 5 }, 422)).fields).toEqual(['min_chapters']);
    const { body } = await narratives.postSynthesis({ min_chapters: 5 });
    expect(body.errors[0].message).toMatch(/^1 .*5/);
    expect(await narratives.synthesize({ min_chapters: 1 })).toMatchObject({ action: 'created' });
  });

  test('unknown chapters, each by its place', async () => {
    const one = await chapter({});
    const fields = { chapter_ids: [UNKNOWN_CHAPTER_ID, one.id, 'nonsense', UNKNOWN_EPISODE_ID] };
    expect(await refuse(fields, 404)).toEqual({
      code: 'not_found',
      fields: ['chapter_ids.0', 'chapter_ids.2', 'chapter_ids.3'],
    });
  });

  test('chapters of another project', async () => {
    const one = await chapter({});
    const other = new NarrativeClient(service, 'wisdom/other');
    const { body } = await other.postSynthesis({ chapter_ids: [one.id], min_chapters: 1 }).expect(404);
    expect(body.errors[0].field).toBe('chapter_ids.0');
  });

  test.each([
    { chapter_ids: [] },
    { chapter_ids: 'x' },
    { chapter_ids: [UNKNOWN_CHAPTER_ID, UNKNOWN_CHAPTER_ID] },
    { min_chapters: 0 },
    { min_chapters: 501 },
    { since: -1 },
    { tags: [''] },
    { dry_run: 1 },
    { summary: 'Mine' },
  ])('%j', async (fields) => {
    await refuse(fields, 400);
  });
});

describe('a dry run', () => {
  test('says what would be made, and makes nothing', async () => {
    const [one, two] = [await chapter({}), await chapter({})];
    const before = stored(service, repoId);
    const { status, body } = await narratives.postSynthesis({ dry_run: true });
    expect(status).toBe(200);
    const chapterIds = idsOf([one, two]).sort();
    expect(body).toEqual({ applied: false, action: 'created', wisdom: null, chapter_ids: chapterIds, complete: true });
    expect(stored(service, repoId)).toEqual(before);
    expect(await narratives.wisdoms()).toEqual([]);
  });

  test('says what would be updated, and shows what stands', async () => {
    await chapter({});
    await chapter({});
    const standing = await narratives.wisdom();
    expect(await narratives.synthesize({ dry_run: true })).toMatchObject({ action: 'unchanged', wisdom: standing });
    await chapter({ learned: ['New'] });
    const before = stored(service, repoId);
    const planned = await narratives.synthesize({ dry_run: true });
    expect(planned).toMatchObject({ applied: false, action: 'updated', wisdom: standing });
    expect(planned.chapter_ids).toHaveLength(3);
    expect(stored(service, repoId)).toEqual(before);
  });
});

test('of more than 500 chapters the newest are taken, and the answer says so', async () => {
  const [first] = [await chapter({}), await chapter({})];
  const { memory_ids: memoryIds } = first as ChapterReport;
  for (let made = 2; made < 500; made++) await narratives.postChapter({ memory_ids: memoryIds }).expect(201);
  expect(await narratives.synthesize({ dry_run: true })).toMatchObject({ complete: true });
  await narratives.postChapter({ memory_ids: memoryIds }).expect(201);
  const { complete, chapter_ids: chapterIds } = await narratives.synthesize({});
  expect([complete, chapterIds.length, chapterIds.includes((first as ChapterReport).id)]).toEqual([false, 500, false]);
});

describe('reading a wisdom', () => {
  test.each([UNKNOWN_WISDOM_ID, 'nonsense', UNKNOWN_CHAPTER_ID])('%s is unknown', async (id) => {
    await narratives.getWisdom(id).expect(404);
    await narratives.deleteWisdom(id).expect(404);
    await narratives.deleteWisdom(id, { permanent: true }).expect(404);
  });

  test('counts a look', async () => {
    const one = await chapter({});
    const { id } = await narratives.wisdom({ chapter_ids: [one.id], min_chapters: 1 });
    await narratives.readWisdom(id);
    await narratives.readWisdom(id);
    // With this look it is the third.
    expect((await new GraphClient(service, repoId).getNode(id)).body).toMatchObject({
      form: 'wisdom',
      access_count: 3,
    });
    await new NarrativeClient(service, 'wisdom/other').getWisdom(id).expect(404);
  });

  test('it is found by /nodes/search and /memory/read', async () => {
    const made = [await chapter({ learned: ['Herring feeds pelicans'] }), await chapter({ goal: 'Tame the pelican' })];
    const { id } = await narratives.wisdom({ chapter_ids: idsOf(made) });
    const { body } = await narratives.postNodeSearch({ query: 'herring', form: 'wisdom' }).expect(200);
    expect(body.results).toMatchObject([{ node: { id, form: 'wisdom', type: 'fact' } }]);
    const items = allItems(await recall(service, 'pelican herring', {}, repoId));
    expect(items.find((item) => item.memory_id === id)).toMatchObject({ form: 'wisdom', kind: 'synthesis' });
  });
});
