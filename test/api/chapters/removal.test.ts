import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { EpisodeClient, type EpisodeReport } from '../../support/episodes.js';
import { NarrativeClient, storeTold, type Told } from '../../support/narratives.js';
import { idsOf } from '../../support/nodes.js';
import { allItems, recall } from '../../support/requests.js';
import { tables } from '../../support/rows.js';
import { type Service, startService } from '../../support/service.js';

/** Whoever has an episode removed for good means its words, wherever they stand. */

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
  repoId = `removal/${++repos}`;
  episodes = new EpisodeClient(service, repoId);
  narratives = new NarrativeClient(service, repoId);
  agentId = (await episodes.register()).agent.id;
});

const store = <Count extends Told[]>(...all: Count) =>
  storeTold(service, episodes, agentId, ...all) as Promise<{ [Key in keyof Count]: EpisodeReport }>;

/** No stemmer changes them. */
const SECRETS = {
  goal: 'zyqgoal',
  summary: 'zyqsum',
  reason: 'zyqwhy',
  learned: 'zyqlesson',
  file: 'zyqdir/zyqfile.ts',
};
const SECRET = /zyq/i;

/** What nobody may read any more after it is gone. */
const secret = (fields: Told = {}): Told => ({
  goal: `Say ${SECRETS.goal} aloud`,
  summary: `It was ${SECRETS.summary}`,
  failed: { reason: `Because of ${SECRETS.reason}`, category: 'other' },
  learned: [`Never say ${SECRETS.learned}`, 'Shared lesson'],
  importance: 1,
  ...fields,
});
const plain = (number: number, fields: Told = {}): Told => ({
  goal: `Plain ${number}`,
  learned: ['Shared lesson', `Lesson ${number}`],
  ...fields,
});

/** The tables of the project in which one of the words still stands. */
const holders = (): string[] =>
  Object.entries(tables(service, repoId))
    .filter(([, rows]) => SECRET.test(JSON.stringify(rows)))
    .map(([name]) => name);

const purge = (id: string) => episodes.remove(id, { permanent: true });

test('its words stand in its chapters and their wisdom until it goes, and nowhere after', async () => {
  const [one, hidden, three] = await store(
    plain(1, { tags: ['x'] }),
    secret({ tags: ['x'] }),
    plain(3, { tags: ['x'] }),
  );
  const manual = await narratives.chapter([one, hidden]);
  await narratives.detect();
  const wisdom = await narratives.wisdom();
  expect(holders()).toEqual(expect.arrayContaining(['chapters', 'episodes', 'nodes', 'wisdom']));
  await purge(hidden.id);
  expect(holders()).toEqual([]);
  expect(await narratives.read(manual.id)).toMatchObject({
    memory_ids: [one.id],
    learnings: ['Shared lesson', 'Lesson 1'],
  });
  expect((await narratives.chapterTitled('Topic: x')).memory_ids).toEqual(idsOf([one, three]));
  expect((await narratives.readWisdom(wisdom.id)).insights).toEqual(['Shared lesson', 'Lesson 1', 'Lesson 3']);
  expect(allItems(await recall(service, Object.values(SECRETS).join(' '), {}, repoId))).toEqual([]);
  const search = await narratives.postNodeSearch({ query: SECRETS.learned, include_archived: true });
  expect(search.body.results).toEqual([]);
});

test('no line cites it any more', async () => {
  const [one, hidden] = await store(plain(1), secret());
  const { id } = await narratives.chapter([one, hidden]);
  await purge(hidden.id);
  const { sources, memories } = await narratives.read(id);
  expect(JSON.stringify(sources)).not.toContain(hidden.id);
  expect(sources.learnings[0]).toEqual({ text: 'Shared lesson', source_ids: [one.id] });
  expect(memories?.map((memory) => memory.id)).toEqual([one.id]);
});

test('a chapter that told of nothing else goes along, and so does the wisdom of nothing else', async () => {
  const [hidden, other] = await store(secret(), plain(1));
  const [alone, second] = [await narratives.chapter([hidden]), await narratives.chapter([other])];
  const wisdom = await narratives.wisdom({ chapter_ids: [alone.id], min_chapters: 1 });
  await purge(hidden.id);
  await narratives.getChapter(alone.id).expect(404);
  await narratives.getWisdom(wisdom.id).expect(404);
  expect(idsOf(await narratives.chapters({ include_archived: true }))).toEqual([second.id]);
  expect(await narratives.wisdoms({ include_archived: true })).toEqual([]);
  expect(holders()).toEqual([]);
});

test('a wisdom of other chapters too tells of those', async () => {
  const [hidden, other] = await store(secret(), plain(1));
  const chapters = [await narratives.chapter([hidden]), await narratives.chapter([other])] as const;
  const wisdom = await narratives.wisdom({ chapter_ids: idsOf(chapters) });
  await purge(hidden.id);
  expect(await narratives.readWisdom(wisdom.id)).toMatchObject({
    chapter_ids: [chapters[1].id],
    insights: ['Shared lesson', 'Lesson 1'],
    start_ts: other.created_at,
  });
});

describe('its words go also', () => {
  test('out of a chapter and a wisdom in the archive', async () => {
    const [one, hidden] = await store(plain(1), secret());
    const chapter = await narratives.chapter([one, hidden]);
    const wisdom = await narratives.wisdom({ min_chapters: 1 });
    await narratives.deleteWisdom(wisdom.id).expect(200);
    await narratives.deleteChapter(chapter.id).expect(200);
    await purge(hidden.id);
    expect(holders()).toEqual([]);
  });

  test('when it was itself in the archive', async () => {
    const [one, hidden] = await store(plain(1), secret());
    await narratives.chapter([one, hidden]);
    await episodes.remove(hidden.id);
    await purge(hidden.id);
    expect(holders()).toEqual([]);
  });

  test('when it is removed as a node', async () => {
    const [one, hidden] = await store(plain(1), secret());
    await narratives.chapter([one, hidden]);
    await service.http.delete(`/nodes/${hidden.id}`).query({ repo_id: repoId, permanent: true }).expect(200);
    expect(holders()).toEqual([]);
  });

  test('out of the title of the work that was named after it', async () => {
    const work = (task: string): Told => ({ task, files: ['a.ts'] });
    const [hidden] = await store(secret(work('bug_fix')), plain(1, work('refactor')), plain(2, work('other')));
    const [work1] = (await narratives.detect()).chapters;
    expect(work1?.title).toMatch(SECRET);
    await purge(hidden.id);
    expect(holders()).toEqual([]);
  });

  test('out of the title of a work that became more important since', async () => {
    const work = (task: string): Told => ({ task, files: ['a.ts'] });
    const [hidden, second] = await store(secret(work('bug_fix')), plain(1, work('refactor')), plain(2, work('other')));
    const [found] = (await narratives.detect()).chapters;
    await episodes.patch(hidden.id, { importance: 0.1, intent: { goal: 'Something else' } });
    await episodes.patch(second.id, { importance: 0.9 });
    await purge(hidden.id);
    expect(holders()).toEqual([]);
    expect((await narratives.read(found?.chapter_id as string)).title).toBe('Work: Plain 1');
  });

  test('out of the names of the files that only it had to do with', async () => {
    const [hidden] = await store(secret({ files: [SECRETS.file] }), plain(1));
    await purge(hidden.id);
    expect(holders()).toEqual([]);
  });

  test.each<[string, Told]>([
    ['', {}],
    [', though it learned nothing', { learned: [] }],
  ])('out of a wisdom that keeps its goal after its chapter is gone%s', async (_, fields) => {
    const [hidden, other] = await store(secret(fields), plain(1));
    const chapters = [await narratives.chapter([hidden]), await narratives.chapter([other])] as const;
    const wisdom = await narratives.wisdom({ chapter_ids: idsOf(chapters) });
    expect(wisdom.summary).toMatch(SECRET);
    await narratives.deleteChapter(chapters[0].id, { permanent: true }).expect(200);
    await purge(hidden.id);
    expect(holders()).toEqual([]);
    expect((await narratives.readWisdom(wisdom.id)).chapter_ids).toEqual([chapters[1].id]);
  });

  test.each<[string, Told]>([
    ['', {}],
    [', though it learned nothing', { learned: [] }],
  ])('out of a wisdom that keeps its goal after its chapter dropped it%s', async (_, fields) => {
    const others = [1, 2, 3].map((number) => plain(number, { tags: ['x'] }));
    const [hidden] = await store(secret({ tags: ['x'], ...fields }), ...others);
    await narratives.detect();
    await narratives.wisdom({ min_chapters: 1 });
    await episodes.remove(hidden.id);
    await narratives.detect();
    await purge(hidden.id);
    expect(holders()).toEqual([]);
  });

  test('out of a wisdom that keeps what it learned after it was taken back', async () => {
    const [hidden, other] = await store(secret(), plain(1));
    const chapters = [await narratives.chapter([hidden]), await narratives.chapter([other])] as const;
    const { insights } = await narratives.wisdom({ chapter_ids: idsOf(chapters) });
    expect(insights).toContainEqual(expect.stringMatching(SECRET));
    await narratives.deleteChapter(chapters[0].id, { permanent: true }).expect(200);
    await episodes.patch(hidden.id, { outcome: { learnings: [] } });
    await purge(hidden.id);
    expect(holders()).toEqual([]);
  });

  test('out of a wisdom that has only its tags', async () => {
    const [hidden, other] = await store(secret({ tags: ['zyqtag'], learned: [] }), plain(1));
    const chapters = [await narratives.chapter([hidden]), await narratives.chapter([hidden, other])] as const;
    expect((await narratives.wisdom()).patterns).toEqual(['zyqtag']);
    for (const { id } of chapters) await narratives.deleteChapter(id, { permanent: true }).expect(200);
    await purge(hidden.id);
    expect(holders()).toEqual([]);
  });

  test('out of a wisdom whose chapter is gone already', async () => {
    const [hidden, other] = await store(secret(), plain(1));
    const chapters = [await narratives.chapter([hidden]), await narratives.chapter([other])] as const;
    await narratives.wisdom({ chapter_ids: idsOf(chapters) });
    await narratives.deleteChapter(chapters[0].id, { permanent: true }).expect(200);
    await purge(hidden.id);
    expect(holders()).toEqual([]);
  });

  test('out of a wisdom whose chapter was told anew without it', async () => {
    const [hidden] = await store(secret({ tags: ['x'] }), ...[1, 2, 3].map((number) => plain(number, { tags: ['x'] })));
    await narratives.detect();
    await narratives.wisdom({ min_chapters: 1 });
    await episodes.remove((hidden as EpisodeReport).id);
    await narratives.detect();
    await purge((hidden as EpisodeReport).id);
    expect(holders()).toEqual([]);
  });
});

test('after it, detection and synthesis make nothing twice', async () => {
  const made = await store(...[1, 2, 3, 4].map((number) => plain(number, { tags: ['x', 'y'], files: ['a.ts'] })));
  await narratives.detect();
  const wisdom = await narratives.wisdom();
  await purge((made[0] as EpisodeReport).id);
  expect(await narratives.detect()).toMatchObject({ created: 0, updated: 0, unchanged: 2 });
  expect(await narratives.synthesize()).toMatchObject({ action: 'unchanged', wisdom: { id: wisdom.id } });
});
