import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { EpisodeClient, type EpisodeReport } from '../../support/episodes.js';
import { type ChapterReport, HOUR_MS, NarrativeClient, storeTold, type Told } from '../../support/narratives.js';
import { idsOf, sendAtOnce } from '../../support/nodes.js';
import { stored } from '../../support/rows.js';
import { type Service, startService } from '../../support/service.js';
import { times } from '../../support/together.js';

/** Asking again brings what is there up to date, and makes nothing twice. */

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
  repoId = `wisdom-again/${++repos}`;
  episodes = new EpisodeClient(service, repoId);
  narratives = new NarrativeClient(service, repoId);
  agentId = (await episodes.register()).agent.id;
});

async function chapter(...all: Told[]): Promise<ChapterReport> {
  const made: EpisodeReport[] = await storeTold(service, episodes, agentId, ...all);
  service.clock.advance(HOUR_MS);
  return narratives.chapter(made);
}
const everything = () => narratives.wisdoms({ include_archived: true });

const WAYS: [string, (chapters: readonly ChapterReport[]) => object][] = [
  ['of all chapters', () => ({})],
  ['by tags', () => ({ tags: ['x'] })],
  ['of named chapters', (chapters) => ({ chapter_ids: idsOf(chapters) })],
];

describe.each(WAYS)('asked again %s', (_, fieldsOf) => {
  let chapters: ChapterReport[];
  beforeEach(async () => {
    chapters = [await chapter({ tags: ['x'], learned: ['Old'] }), await chapter({ tags: ['x'] })];
  });

  test('while nothing changed, nothing changes: not one row', async () => {
    const first = await narratives.synthesize(fieldsOf(chapters));
    const before = stored(service, repoId);
    service.clock.advance(HOUR_MS);
    const { status, body } = await narratives.postSynthesis(fieldsOf(chapters));
    expect([status, body]).toEqual([200, { ...first, action: 'unchanged' }]);
    expect(stored(service, repoId)).toEqual(before);
  });

  test('with one chapter more it is the same wisdom, told anew', async () => {
    const before = await narratives.wisdom(fieldsOf(chapters));
    chapters.push(await chapter({ tags: ['x'], learned: ['New'] }));
    const { status, body } = await narratives.postSynthesis(fieldsOf(chapters));
    expect([status, body.action]).toEqual([200, 'updated']);
    expect(body.wisdom).toMatchObject({
      id: before.id,
      created_at: before.created_at,
      updated_at: service.clock.now(),
      insights: ['Old', 'New'],
      chapter_ids: idsOf(chapters).sort(),
      end_ts: chapters[2]?.end_ts,
    });
    expect(await everything()).toHaveLength(1);
    expect(await narratives.synthesize(fieldsOf(chapters))).toMatchObject({ action: 'unchanged' });
  });

  test('four at once make one', async () => {
    const answers = await sendAtOnce(service, () => times(4, () => narratives.postSynthesis(fieldsOf(chapters))));
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 200, 200, 201]);
    expect(await everything()).toHaveLength(1);
  });

  test('after it was removed for good, a new one is made', async () => {
    const { id } = await narratives.wisdom(fieldsOf(chapters));
    await narratives.deleteWisdom(id, { permanent: true }).expect(200);
    const again = await narratives.synthesize(fieldsOf(chapters));
    expect(again.action).toBe('created');
    expect(again.wisdom?.id).not.toBe(id);
    expect(await everything()).toHaveLength(1);
  });
});

describe('asked for again after it was put away', () => {
  test.each([
    ['of all chapters', {}],
    ['by tags', { tags: ['x'] }],
  ])('%s, it comes back', async (_, fields) => {
    await chapter({ tags: ['x'] });
    await chapter({ tags: ['x'] });
    const { id } = await narratives.wisdom(fields);
    await narratives.deleteWisdom(id).expect(200);
    expect(await narratives.wisdoms()).toEqual([]);
    expect(await narratives.synthesize(fields)).toMatchObject({ action: 'updated', wisdom: { id, archived_at: null } });
    expect(idsOf(await narratives.wisdoms())).toEqual([id]);
    expect(await narratives.synthesize(fields)).toMatchObject({ action: 'unchanged' });
  });

  test('of named chapters, there is one that stands', async () => {
    const chapters = [await chapter({}), await chapter({})];
    const { id } = await narratives.wisdom({ chapter_ids: idsOf(chapters) });
    await narratives.deleteWisdom(id).expect(200);
    await narratives.synthesize({ chapter_ids: idsOf(chapters) });
    expect(await narratives.wisdoms()).toHaveLength(1);
  });
});

describe('another question is another wisdom', () => {
  test('all, by each set of tags, and of named chapters', async () => {
    const chapters = [await chapter({ tags: ['x', 'y'] }), await chapter({ tags: ['x', 'y'] })];
    const ids = [
      (await narratives.wisdom()).id,
      (await narratives.wisdom({ tags: ['x'] })).id,
      (await narratives.wisdom({ tags: ['x', 'y'] })).id,
      (await narratives.wisdom({ chapter_ids: idsOf(chapters) })).id,
    ];
    expect(new Set(ids).size).toBe(4);
    expect((await narratives.wisdom({ tags: ['y', 'x'] })).id).toBe(ids[2]);
  });

  test('of other chapters by name', async () => {
    const [a, b, c, d] = [await chapter({}), await chapter({}), await chapter({}), await chapter({})];
    const first = await narratives.wisdom({ chapter_ids: idsOf([a, b]) });
    const second = await narratives.wisdom({ chapter_ids: idsOf([c, d]) });
    expect(second.id).not.toBe(first.id);
    expect((await narratives.readWisdom(first.id)).chapter_ids).toEqual(idsOf([a, b]).sort());
  });
});

test('a chapter that was told anew changes the wisdom when it is asked for again', async () => {
  const made = await storeTold(
    service,
    episodes,
    agentId,
    ...times(3, (): Told => ({ tags: ['x'], learned: ['Old'] })),
  );
  await narratives.detect();
  await narratives.wisdom({ min_chapters: 1 });
  await episodes.patch(made[0]?.id as string, { outcome: { learnings: ['New'] } });
  await narratives.detect();
  const again = await narratives.synthesize({ min_chapters: 1 });
  expect(again).toMatchObject({ action: 'updated', wisdom: { insights: ['Old', 'New'] } });
});

test('removing a wisdom keeps its chapters, and removing a chapter keeps the wisdom', async () => {
  const chapters = [await chapter({ learned: ['Kept'] }), await chapter({})];
  const wisdom = await narratives.wisdom();
  await narratives.deleteChapter(chapters[0]?.id as string, { permanent: true }).expect(200);
  expect(await narratives.readWisdom(wisdom.id)).toMatchObject({ insights: ['Kept'], summary: wisdom.summary });
  expect((await narratives.deleteWisdom(wisdom.id, { permanent: true }).expect(200)).body).toEqual({
    id: wisdom.id,
    purged: true,
  });
  await narratives.getWisdom(wisdom.id).expect(404);
  expect(idsOf(await narratives.chapters())).toEqual([chapters[1]?.id]);
});
