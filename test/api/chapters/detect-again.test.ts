import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { EpisodeClient, type EpisodeReport } from '../../support/episodes.js';
import { type ChapterReport, HOUR_MS, NarrativeClient, storeTold, type Told } from '../../support/narratives.js';
import { idsOf, sendAtOnce } from '../../support/nodes.js';
import { countRows, stored, tables } from '../../support/rows.js';
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
  repoId = `again/${++repos}`;
  episodes = new EpisodeClient(service, repoId);
  narratives = new NarrativeClient(service, repoId);
  agentId = (await episodes.register()).agent.id;
});

const store = <Count extends Told[]>(...all: Count) =>
  storeTold(service, episodes, agentId, ...all) as Promise<{ [Key in keyof Count]: EpisodeReport }>;
const three = (fields: Told): [Told, Told, Told] => [fields, fields, fields];

/** Groups of all three kinds. */
const ALL_KINDS: Told[] = [
  ...times(
    3,
    (number): Told => ({ tags: ['x', `only-${number}`], goal: `Tag ${number}`, learned: ['Same', `Own ${number}`] }),
  ),
  ...times(3, (number): Told => ({ task: 'bug_fix', goal: `Type ${number}` })),
  { task: 'refactor', files: ['a.ts'], goal: 'Work 1' },
  { task: 'test_write', files: ['a.ts'], goal: 'Work 2' },
  { task: 'other', files: ['a.ts'], goal: 'Work 3' },
];

test('a second run changes nothing: not one row more, and not one other', async () => {
  await store(...ALL_KINDS);
  const first = await narratives.detect();
  expect(first).toMatchObject({ created: 3, updated: 0, unchanged: 0 });
  const before = stored(service, repoId);
  service.clock.advance(HOUR_MS);
  const second = await narratives.detect();
  expect(second).toMatchObject({ created: 0, updated: 0, unchanged: 3 });
  expect(second.chapters.map(({ action, ...one }) => one)).toEqual(first.chapters.map(({ action, ...one }) => one));
  expect(stored(service, repoId)).toEqual(before);
});

test('a group that grew is the same chapter, told anew', async () => {
  const made = await store(...three({ tags: ['x'], learned: ['Old'] }));
  await narratives.detect();
  const before = await narratives.chapterTitled('Topic: x');
  const [added] = await store({ tags: ['x'], goal: 'Newest goal', learned: ['New'] });
  expect(await narratives.detect()).toMatchObject({ created: 0, updated: 1 });
  const after = await narratives.chapterTitled('Topic: x');
  expect(after).toMatchObject({
    id: before.id,
    created_at: before.created_at,
    updated_at: service.clock.now(),
    memory_ids: idsOf([...made, added]),
    end_ts: added.created_at,
    learnings: ['Old', 'New'],
  });
  expect(after.summary).toContain('Newest goal');
  expect(await narratives.detect()).toMatchObject({ created: 0, updated: 0, unchanged: 1 });
});

test('work that goes on is the same chapter', async () => {
  const work = (task: string): Told => ({ task, files: ['a.ts'] });
  await store(work('bug_fix'), work('refactor'), work('other'));
  const [first] = (await narratives.detect()).chapters;
  await store(work('test_write'));
  expect((await narratives.detect()).chapters).toMatchObject([{ action: 'updated', chapter_id: first?.chapter_id }]);
  expect(await narratives.chapters()).toHaveLength(1);
});

test('work whose oldest episode was put away is still the same chapter', async () => {
  const work = (task: string): Told => ({ task, files: ['a.ts'] });
  const made = await store(work('bug_fix'), work('refactor'), work('other'), work('test_write'));
  const [first] = (await narratives.detect()).chapters;
  await episodes.remove(made[0].id);
  expect((await narratives.detect()).chapters).toMatchObject([
    { action: 'updated', chapter_id: first?.chapter_id, memory_ids: idsOf(made.slice(1)) },
  ]);
  expect(await narratives.detect()).toMatchObject({ created: 0, updated: 0, unchanged: 1 });
});

test('a question about fewer does not take the others out of a chapter', async () => {
  const made = await store(...three({ tags: ['x'] }), ...three({ tags: ['x'] }));
  await narratives.detect();
  expect(await narratives.detect({ since: made[3]?.created_at })).toMatchObject({ unchanged: 1, updated: 0 });
  expect((await narratives.chapterTitled('Topic: x')).memory_count).toBe(6);
});

describe('an episode that changed', () => {
  test('changes what its chapter says', async () => {
    const [one] = await store(...three({ tags: ['x'], goal: 'Old goal', learned: ['Old learning'] }));
    await store({ tags: ['x'], goal: 'Other goal' });
    await narratives.detect();
    await episodes.patch(one.id, {
      intent: { goal: 'New goal' },
      outcome: { learnings: ['New learning'] },
      importance: 1,
    });
    expect(await narratives.detect()).toMatchObject({ updated: 1, created: 0 });
    const { summary, learnings } = await narratives.chapterTitled('Topic: x');
    expect(summary).toContain('New goal');
    expect(learnings).toEqual(['Old learning', 'New learning']);
  });

  test('in what no chapter tells of changes none', async () => {
    const [one] = await store(...three({ tags: ['x'] }));
    await narratives.detect();
    await episodes.patch(one.id, { perception: { anomalies: ['A noise'] } });
    expect(await narratives.detect()).toMatchObject({ updated: 0, unchanged: 1 });
  });

  test('and was put away leaves its chapter', async () => {
    const made = await store(...three({ tags: ['x'] }), { tags: ['x'], learned: ['To be forgotten'] });
    await narratives.detect();
    await episodes.remove(made[3].id);
    expect(await narratives.detect()).toMatchObject({ updated: 1 });
    const chapter = await narratives.chapterTitled('Topic: x');
    expect(chapter).toMatchObject({ memory_ids: idsOf(made.slice(0, 3)), learnings: [] });
  });

  test('and has the tag no longer leaves the chapter of the tag', async () => {
    const made = await store(...three({ tags: ['x'] }), { tags: ['x'], learned: ['Strange here'] });
    await narratives.detect();
    await episodes.patch(made[3].id, { tags: ['y'] });
    await narratives.detect();
    expect(await narratives.chapterTitled('Topic: x')).toMatchObject({ memory_ids: idsOf(made.slice(0, 3)) });
  });
});

describe('a chapter that no group is any more', () => {
  const quiet = { created: 0, updated: 0, archived: 0 };

  test('of a tag that few episodes still have tells of those, however few', async () => {
    const made = await store(...three({ tags: ['x'], learned: ['Gone'] }), { tags: ['x'], learned: ['Kept'] });
    await narratives.detect();
    const { id } = await narratives.chapterTitled('Topic: x');
    await episodes.remove(made[0].id);
    await episodes.patch(made[1].id, { tags: ['y'] });
    await episodes.patch(made[2].id, { tags: [], outcome: { learnings: [] } });
    const { chapters, updated } = await narratives.detect();
    expect(updated).toBe(1);
    expect(chapters).toMatchObject([
      { action: 'updated', chapter_id: id, title: 'Topic: x', memory_ids: [made[3].id] },
    ]);
    expect(await narratives.read(id)).toMatchObject({ learnings: ['Kept'], memory_ids: [made[3].id] });
    expect(await narratives.detect()).toMatchObject(quiet);
  });

  test('and of which nothing is left goes into the archive, and is made anew when its group comes back', async () => {
    const made = await store(...three({ tags: ['x'] }));
    await narratives.detect();
    const { id } = await narratives.chapterTitled('Topic: x');
    for (const episode of made) await episodes.remove(episode.id);
    const before = stored(service, repoId);
    const preview = await narratives.detect({ dry_run: true });
    expect(preview).toMatchObject({ ...quiet, archived: 1, chapters: [{ action: 'archived', chapter_id: id }] });
    expect(stored(service, repoId)).toEqual(before);
    expect(await narratives.detect()).toEqual({ ...preview, applied: true });
    expect(await narratives.chapters()).toEqual([]);
    expect(await narratives.detect()).toMatchObject({ ...quiet, chapters: [] });
    await store(...three({ tags: ['x'] }));
    expect(await narratives.detect()).toMatchObject({ created: 1 });
  });

  test('of a work that became part of another goes into the archive, and wisdom counts its episodes once', async () => {
    const work = (file: string): Told => ({ task: 'other', files: [file], tags: [], learned: ['Same'] });
    const first = ['bug_fix', 'refactor', 'other', 'test_write'].map((task) => ({ ...work('a.ts'), task }));
    const second = ['bug_fix', 'refactor', 'other'].map((task) => ({ ...work('b.ts'), task }));
    const made = await store(...first, ...second);
    await narratives.detect({ min_memories: 3 });
    const before = (await narratives.chapters()).filter(({ title }) => title?.startsWith('Work: '));
    expect(before).toHaveLength(2);
    const [bridge] = await store({ ...work('a.ts'), files: ['a.ts', 'b.ts'] });
    const detected = await narratives.detect();
    expect(detected.archived).toBe(1);
    const after = (await narratives.chapters()).filter(({ title }) => title?.startsWith('Work: '));
    expect(after.map(({ memory_ids }) => memory_ids)).toEqual([idsOf([...made, bridge as EpisodeReport])]);
    expect(await narratives.detect()).toMatchObject(quiet);
  });

  test('stays as it is while a question is about others', async () => {
    await store(...three({ tags: ['x'], learned: ['Old'] }));
    await narratives.detect();
    const before = tables(service, repoId).chapters;
    const [added] = await store({ tags: ['y'] });
    await narratives.detect({ since: added.created_at });
    await narratives.detect({ min_memories: 100 });
    expect(tables(service, repoId).chapters).toEqual(before);
  });
});

describe('the title of a work', () => {
  const work = (task: string, fields: Told = {}): Told => ({ task, files: ['a.ts'], ...fields });

  test('follows the most important of its episodes, and the answer says it as it stands', async () => {
    const made = await store(work('bug_fix', { goal: 'First' }), work('refactor'), work('other'));
    await narratives.detect();
    await episodes.patch(made[1].id, { intent: { goal: 'Second' }, importance: 1 });
    const { chapters } = await narratives.detect();
    expect(chapters).toMatchObject([{ action: 'updated', title: 'Work: Second' }]);
    expect((await narratives.chapters()).map(({ title }) => title)).toEqual(['Work: Second']);
    expect((await narratives.detect()).chapters).toMatchObject([{ action: 'unchanged', title: 'Work: Second' }]);
  });

  test.each(['Mine', 'Work: First', null])('stays when somebody gave %j, and the answer says that', async (title) => {
    const made = await store(work('bug_fix', { goal: 'First' }), work('refactor'), work('other'));
    const [found] = (await narratives.detect()).chapters;
    await narratives.patchChapter(found?.chapter_id as string, { title }).expect(200);
    await episodes.patch(made[1].id, { intent: { goal: 'Second' }, importance: 1 });
    expect((await narratives.detect()).chapters).toMatchObject([{ action: 'updated', title }]);
    await narratives.deleteChapter(found?.chapter_id as string).expect(200);
    expect((await narratives.detect()).chapters).toMatchObject([{ action: 'dismissed', title }]);
  });
});

describe('a chapter that somebody', () => {
  const chapterOfX = async (): Promise<ChapterReport> => {
    await store(...three({ tags: ['x'] }));
    await narratives.detect();
    return narratives.chapterTitled('Topic: x');
  };

  test('put away is not made again, nor told anew', async () => {
    const { id } = await chapterOfX();
    await narratives.deleteChapter(id).expect(200);
    await store({ tags: ['x'] });
    const before = stored(service, repoId);
    expect(await narratives.detect()).toMatchObject({
      created: 0,
      updated: 0,
      unchanged: 0,
      chapters: [{ action: 'dismissed', chapter_id: id }],
    });
    expect(stored(service, repoId)).toEqual(before);
  });

  test('put away and brought back is told anew', async () => {
    const { id } = await chapterOfX();
    await narratives.deleteChapter(id).expect(200);
    await store({ tags: ['x'] });
    await service.http.post(`/nodes/${id}/restore`).query({ repo_id: repoId }).expect(200);
    expect((await narratives.detect()).chapters).toMatchObject([{ action: 'updated', chapter_id: id }]);
    expect(await narratives.read(id)).toMatchObject({ memory_count: 4, archived_at: null });
  });

  test('removed for good is made again', async () => {
    const { id } = await chapterOfX();
    await narratives.deleteChapter(id, { permanent: true }).expect(200);
    const { created, chapters } = await narratives.detect();
    expect(created).toBe(1);
    expect(chapters[0]?.chapter_id).not.toBe(id);
  });

  test('gave a title keeps it, when it grows too', async () => {
    const { id } = await chapterOfX();
    await narratives.patchChapter(id, { title: 'The long winter' }).expect(200);
    expect(await narratives.detect()).toMatchObject({ unchanged: 1, updated: 0 });
    await store({ tags: ['x'] });
    expect(await narratives.detect()).toMatchObject({ updated: 1 });
    expect(await narratives.read(id)).toMatchObject({ title: 'The long winter', memory_count: 4 });
  });

  test('took the title from keeps none', async () => {
    const { id } = await chapterOfX();
    await narratives.patchChapter(id, { title: null }).expect(200);
    expect(await narratives.detect()).toMatchObject({ unchanged: 1 });
    expect((await narratives.read(id)).title).toBeNull();
  });
});

describe('runs at the same time', () => {
  test('make each chapter once', async () => {
    await store(...ALL_KINDS);
    const answers = await sendAtOnce(service, () => times(4, () => narratives.postDetect()));
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
    expect((await narratives.chapters({ include_archived: true })).map(({ title }) => title).sort()).toEqual([
      'Topic: bug_fix',
      'Topic: x',
      expect.stringMatching(/^Work: /),
    ]);
    expect(answers.reduce((sum, { body }) => sum + body.created, 0)).toBe(3);
    expect(countRows(tables(service, repoId))).toMatchObject({ chapters: 3 });
    expect(await narratives.detect()).toMatchObject({ created: 0, updated: 0, unchanged: 3 });
  });

  test('and a patch of a member end with a chapter that says what the member says', async () => {
    const [one] = await store(...three({ tags: ['x'], goal: 'Old goal' }));
    await sendAtOnce(service, () => [
      narratives.postDetect(),
      episodes.patchEpisode(one.id, { intent: { goal: 'New goal' }, importance: 1 }),
      narratives.postDetect(),
    ]);
    await narratives.detect();
    expect((await narratives.chapterTitled('Topic: x')).summary).toContain('New goal');
    expect(await narratives.chapters()).toHaveLength(1);
  });
});
