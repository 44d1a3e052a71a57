import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { EpisodeClient, type EpisodeReport } from '../../support/episodes.js';
import { type ChapterReport, HOUR_MS, NarrativeClient, storeTold, type Told } from '../../support/narratives.js';
import { expectRefused, idsOf } from '../../support/nodes.js';
import { stored } from '../../support/rows.js';
import { type Service, startService } from '../../support/service.js';
import { times } from '../../support/together.js';

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
  repoId = `detect/${++repos}`;
  episodes = new EpisodeClient(service, repoId);
  narratives = new NarrativeClient(service, repoId);
  agentId = (await episodes.register()).agent.id;
});

const store = <Count extends Told[]>(...all: Count) =>
  storeTold(service, episodes, agentId, ...all) as Promise<{ [Key in keyof Count]: EpisodeReport }>;

/** Title and members of each group that is found. */
const groups = async (fields: object = {}): Promise<[string | null, string[]][]> =>
  (await narratives.detect({ dry_run: true, ...fields })).chapters.map(({ title, memory_ids }) => [title, memory_ids]);
const titles = async (fields: object = {}) => (await groups(fields)).map(([title]) => title);

describe('by tag', () => {
  test('all with a tag are a chapter; an episode may be in several', async () => {
    const [a, b, c, d] = await store({ tags: ['x'] }, { tags: ['x', 'y'] }, { tags: ['x', 'y'] }, { tags: ['y'] });
    const detected = await narratives.detect();
    expect(detected).toMatchObject({ applied: true, created: 3, updated: 0, unchanged: 0 });
    expect(detected.chapters.map(({ action, basis, title, memory_ids }) => [action, basis, title, memory_ids])).toEqual(
      [
        ['created', 'tag', 'Topic: x', idsOf([a, b, c])],
        ['created', 'tag', 'Topic: y', idsOf([b, c, d])],
        ['created', 'work', 'Work: Warm the cache', idsOf([a, b, c, d])],
      ],
    );
    expect(await narratives.chapterTitled('Topic: x')).toMatchObject({
      origin: 'auto',
      tags: ['x', 'y'],
      topics: ['x', 'y'],
      start_ts: a.created_at,
      end_ts: c.created_at,
      memory_ids: idsOf([a, b, c]),
    });
  });

  test('a tag of too few is none, and how few is said', async () => {
    await store({ tags: ['x'] }, { tags: ['x'] });
    expect(await titles()).toEqual([]);
    expect(await titles({ min_memories: 2 })).toEqual(['Topic: x']);
    expect(await titles({ min_memories: 3 })).toEqual([]);
  });
});

describe('by task type', () => {
  test('the untagged of a type are a chapter, and the tagged are not in it', async () => {
    const made = await store(
      { task: 'bug_fix' },
      { task: 'refactor' },
      { task: 'bug_fix' },
      { task: 'bug_fix', tags: ['x'] },
      { task: 'bug_fix' },
    );
    expect(await groups()).toEqual([['Topic: bug_fix', idsOf([made[0], made[2], made[4]])]]);
    expect((await narratives.detect()).chapters[0]).toMatchObject({ basis: 'task_type' });
  });

  test('a tag of the same name is another chapter', async () => {
    await store(...times(3, (): Told => ({ task: 'bug_fix' })), ...times(3, (): Told => ({ tags: ['bug_fix'] })));
    const detected = await narratives.detect();
    expect(detected.chapters.map(({ basis, title }) => [basis, title])).toEqual([
      ['tag', 'Topic: bug_fix'],
      ['task_type', 'Topic: bug_fix'],
    ]);
    expect(new Set(detected.chapters.map(({ chapter_id }) => chapter_id)).size).toBe(2);
  });
});

describe('by work', () => {
  const work = async (fields: object = {}) => (await groups(fields)).filter(([title]) => title?.startsWith('Work: '));

  test('episodes that share a file, one after the other, belong together', async () => {
    const made = await store(
      { task: 'bug_fix', files: ['a.ts'], goal: 'Begin' },
      { task: 'refactor', files: ['a.ts', 'b.ts'] },
      { task: 'test_write', files: ['c.ts'] },
      { task: 'other', files: ['b.ts'] },
    );
    expect(await work()).toEqual([['Work: Begin', idsOf([made[0], made[1], made[3]])]]);
  });

  test('a shared tag joins as a file does', async () => {
    const [a, b, c] = await store(
      { task: 'bug_fix', files: ['a.ts'], goal: 'Begin' },
      { task: 'refactor', files: ['a.ts'], tags: ['x'] },
      { task: 'test_write', tags: ['x'] },
    );
    expect(await work()).toEqual([['Work: Begin', idsOf([a, b, c])]]);
  });

  test('without a shared file or tag nothing belongs together', async () => {
    await store({ task: 'bug_fix', files: ['a.ts'] }, { task: 'refactor', files: ['b.ts'] }, { task: 'other' });
    expect(await work()).toEqual([]);
  });

  test('a pause of more than four hours ends it, unless another is named', async () => {
    const one: Told = { task: 'bug_fix', files: ['a.ts'], tags: [] };
    const before = await store({ ...one, goal: 'Begin' }, { ...one, task: 'refactor' }, { ...one, task: 'other' });
    service.clock.advance(4 * HOUR_MS);
    const after = await store(
      { ...one, task: 'test_write', goal: 'Go on' },
      { ...one, task: 'optimization' },
      { ...one, task: 'configuration' },
    );
    expect(await work()).toEqual([
      ['Work: Begin', idsOf(before)],
      ['Work: Go on', idsOf(after)],
    ]);
    expect(await work({ gap_hours: 5 })).toEqual([['Work: Begin', idsOf([...before, ...after])]]);
    expect(await work({ gap_hours: 0.001 })).toEqual([]);
  });

  test('a pause of exactly four hours does not end it', async () => {
    const one: Told = { task: 'bug_fix', files: ['a.ts'] };
    await store({ ...one, goal: 'Begin' }, { ...one, task: 'refactor' });
    service.clock.advance(4 * HOUR_MS - 60_000);
    await store({ ...one, task: 'other' });
    expect(await work()).toHaveLength(1);
  });

  test('what a tag tells of already is not told twice', async () => {
    await store(...times(3, (): Told => ({ files: ['a.ts'], tags: ['x'] })));
    expect(await titles()).toEqual(['Topic: x']);
  });

  test('its title is the goal of the most important', async () => {
    await store(
      { task: 'bug_fix', files: ['a.ts'], goal: 'Small' },
      { task: 'refactor', files: ['a.ts'], goal: 'Great', importance: 0.9 },
      { task: 'other', files: ['a.ts'] },
    );
    expect((await work())[0]?.[0]).toBe('Work: Great');
  });
});

describe('what is looked at', () => {
  let made: EpisodeReport[];
  beforeEach(async () => {
    made = await store(...times(6, (number): Told => ({ tags: ['x', number < 3 ? 'y' : 'z'] })));
  });
  const membersOfX = async (fields: object) => new Map(await groups({ min_memories: 2, ...fields })).get('Topic: x');

  test('since: from this moment on', async () => {
    expect(await membersOfX({ since: made[2]?.created_at })).toEqual(idsOf(made.slice(2)));
    expect(await membersOfX({ since: 0 })).toEqual(idsOf(made));
  });

  test('before: before this moment', async () => {
    expect(await membersOfX({ before: made[2]?.created_at })).toEqual(idsOf(made.slice(0, 2)));
    expect(await groups({ before: 0 })).toEqual([]);
  });

  test('tags: those with all of them', async () => {
    expect(await membersOfX({ tags: ['z'] })).toEqual(idsOf(made.slice(3)));
    expect(await groups({ tags: ['y', 'z'] })).toEqual([]);
    expect(await groups({ tags: ['none'] })).toEqual([]);
  });

  test('limit: the newest', async () => {
    expect(await membersOfX({ limit: 4 })).toEqual(idsOf(made.slice(2)));
  });

  test('what was put away is not', async () => {
    await episodes.remove(made[0]?.id as string);
    expect(await membersOfX({})).toEqual(idsOf(made.slice(1)));
  });
});

test('more than a page of episodes is looked at, and up to the limit', async () => {
  await store(...times(260, (): Told => ({ tags: ['x'] })));
  const counts = async (fields: object = {}) => (await groups(fields)).map(([, ids]) => ids.length);
  expect(await counts()).toEqual([260]);
  expect(await counts({ limit: 255 })).toEqual([255]);
});

test('every line of a chapter stands in the episodes that it cites, word for word', async () => {
  await store(
    { goal: 'Fix the pump', summary: 'It runs', learned: ['Oil it', 'Never force it'], tags: ['x'], importance: 0.9 },
    { goal: 'Fix the pump!', summary: 'It stands', failed: { reason: 'No oil' }, learned: ['oil it.'], tags: ['x'] },
    { goal: 'Paint it', summary: 'Blue', learned: ['Paint dries slowly'], tags: ['x', 'y'], files: ['a.ts'] },
    { goal: 'Sell it', summary: 'Sold', tags: ['y'], files: ['a.ts'], importance: 0.1 },
  );
  await narratives.detect({ min_memories: 2 });
  const texts = new Map((await episodes.listed({ depth: 'complete' })).map((one) => [one.id, one]));
  const chapters = await narratives.chapters();
  expect(chapters.length).toBeGreaterThan(1);
  for (const { sources, learnings, memory_ids, summary } of chapters) {
    expect(sources.learnings.map(({ text }) => text)).toEqual(learnings);
    for (const { text, source_ids } of [...sources.summary, ...sources.learnings]) {
      const words = text.replace(/^(Goal|Done|Failed): /, '').replace(/ \(No oil\)$/, '');
      expect(source_ids.length).toBeGreaterThan(0);
      const holders = source_ids.filter((id) =>
        JSON.stringify(texts.get(id)).includes(JSON.stringify(words).slice(1, -1)),
      );
      expect(holders, text).toContain(source_ids[0]);
      for (const id of source_ids) expect(memory_ids).toContain(id);
      if (!sources.learnings.some((line) => line.text === text)) expect(summary).toContain(words);
    }
  }
});

describe('a dry run', () => {
  test('says what a run then does, and changes nothing', async () => {
    await store({ tags: ['x'] }, { tags: ['x', 'y'] }, { tags: ['x'] }, { task: 'bug_fix' });
    const before = stored(service, repoId);
    const planned = await narratives.detect({ dry_run: true });
    expect(stored(service, repoId)).toEqual(before);
    expect(planned).toMatchObject({ applied: false, created: 1, chapters: [{ chapter_id: null }] });
    const done = await narratives.detect();
    expect(done.applied).toBe(true);
    const withoutIds = (chapters: typeof done.chapters) => chapters.map(({ chapter_id: _, ...one }) => one);
    expect(withoutIds(done.chapters)).toEqual(withoutIds(planned.chapters));
    expect(done.chapters.map(({ chapter_id }) => chapter_id)).toEqual(idsOf(await narratives.chapters()));
  });

  test('says also what would be updated, left and not made again', async () => {
    const [first] = await store(...times(3, (): Told => ({ tags: ['x', 'y', 'z'] })));
    await narratives.detect();
    await store({ tags: ['x'] });
    const z = await narratives.chapterTitled('Topic: z');
    await narratives.deleteChapter(z.id).expect(200);
    await narratives.deleteChapter((await narratives.chapterTitled('Topic: y')).id, { permanent: true }).expect(200);
    const before = stored(service, repoId);
    const planned = await narratives.detect({ dry_run: true });
    expect(stored(service, repoId)).toEqual(before);
    expect(planned.chapters.map(({ title, action }) => [title, action])).toEqual([
      ['Topic: x', 'updated'],
      ['Topic: y', 'created'],
      ['Topic: z', 'dismissed'],
    ]);
    const done = await narratives.detect();
    expect(done.chapters.map(({ title, action }) => [title, action])).toEqual([
      ['Topic: x', 'updated'],
      ['Topic: y', 'created'],
      ['Topic: z', 'dismissed'],
    ]);
    expect(first?.id).toBe((await narratives.chapterTitled('Topic: x')).memory_ids[0]);
  });
});

test('of nothing there is nothing, and no project is made', async () => {
  const nowhere = new NarrativeClient(service, 'detect/nowhere');
  expect(await nowhere.detect()).toEqual({
    applied: true,
    created: 0,
    updated: 0,
    unchanged: 0,
    dismissed: 0,
    archived: 0,
    chapters: [],
  });
  await service.http.get('/repos/detect%2Fnowhere').expect(404);
});

test('only this project is looked at', async () => {
  await store(...times(3, (): Told => ({ tags: ['x'] })));
  expect((await new NarrativeClient(service, 'detect/other').detect()).chapters).toEqual([]);
});

test.each([
  { min_memories: 1 },
  { min_memories: 1_001 },
  { gap_hours: 0 },
  { gap_hours: 8_761 },
  { limit: 0 },
  { limit: 10_001 },
  { since: -1 },
  { tags: 'x' },
  { dry_run: 'yes' },
  { auto_detect: true },
])('%j is refused', async (fields) => {
  await expectRefused(service, narratives.postDetect(fields), 400, repoId);
});

test('a chapter that was made by hand stays as it is', async () => {
  const made = await store(...times(3, (): Told => ({ tags: ['x'] })));
  const manual: ChapterReport = await narratives.chapter(made, { title: 'Topic: x' });
  expect(await narratives.detect()).toMatchObject({ created: 1 });
  const { memories: _, ...standing } = await narratives.read(manual.id);
  expect(standing).toEqual(manual);
});
