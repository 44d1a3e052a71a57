import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { EpisodeClient, type EpisodeReport, UNKNOWN_EPISODE_ID } from '../../support/episodes.js';
import { HOUR_MS, NarrativeClient, storeTold, type Told, UNKNOWN_CHAPTER_ID } from '../../support/narratives.js';
import { expectRefused, GraphClient, idsOf } from '../../support/nodes.js';
import { allItems, idsIn, recall } from '../../support/requests.js';
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
  repoId = `manual/${++repos}`;
  episodes = new EpisodeClient(service, repoId);
  narratives = new NarrativeClient(service, repoId);
  agentId = (await episodes.register()).agent.id;
});

const store = <Count extends Told[]>(...all: Count) =>
  storeTold(service, episodes, agentId, ...all) as Promise<{ [Key in keyof Count]: EpisodeReport }>;

describe('a chapter made by hand', () => {
  test('tells of its episodes in order of time, whatever order they were named in', async () => {
    const [first, second, third] = await store(
      { goal: 'Find the leak', summary: 'It is in the cellar', learned: ['Gaskets age'] },
      { goal: 'Close the leak', summary: 'It drips', failed: { reason: 'Wrong gasket' }, tags: ['cellar'] },
      { goal: 'Dry the cellar', summary: 'It is dry', learned: ['Air helps', 'gaskets age'], tags: ['cellar', 'air'] },
    );
    const answer = await narratives
      .postChapter({ memory_ids: [third.id, first.id, second.id], title: 'Water' })
      .expect(201);
    const chapter = answer.body;
    expect(answer.headers.location).toBe(`/chapters/${chapter.id}?repo_id=${encodeURIComponent(repoId)}`);
    expect(chapter).toEqual({
      id: expect.stringMatching(/^chapter_[0-9a-f-]{36}$/),
      project_id: repoId,
      created_at: service.clock.now(),
      updated_at: service.clock.now(),
      title: 'Water',
      summary:
        'Goals: Find the leak; Close the leak; Dry the cellar. Outcomes: It is in the cellar; failed: It drips (Wrong gasket); It is dry.',
      summary_origin: 'extract',
      learnings: ['Gaskets age', 'Air helps'],
      start_ts: first.created_at,
      end_ts: third.created_at,
      tags: ['cellar', 'air'],
      topics: ['cellar', 'air'],
      origin: 'manual',
      memory_count: 3,
      memory_ids: idsOf([first, second, third]),
      sources: {
        summary: [
          { text: 'Goal: Find the leak', source_ids: [first.id] },
          { text: 'Done: It is in the cellar', source_ids: [first.id] },
          { text: 'Goal: Close the leak', source_ids: [second.id] },
          { text: 'Failed: It drips (Wrong gasket)', source_ids: [second.id] },
          { text: 'Goal: Dry the cellar', source_ids: [third.id] },
          { text: 'Done: It is dry', source_ids: [third.id] },
        ],
        learnings: [
          { text: 'Gaskets age', source_ids: [first.id, third.id] },
          { text: 'Air helps', source_ids: [third.id] },
        ],
      },
      archived_at: null,
    });
    expect(await narratives.read(chapter.id)).toMatchObject(chapter);
  });

  test('puts the tags and topics that were given before those of its episodes, each once', async () => {
    const made = await store({ tags: ['b', 'a'] }, { tags: ['a'] });
    const { tags, topics } = await narratives.chapter(made, { tags: ['given', 'a'], topics: ['theme'] });
    expect(tags).toEqual(['given', 'a', 'b']);
    expect(topics).toEqual(['theme', 'a', 'b']);
  });

  test('needs no title and no more than one episode', async () => {
    const [alone] = await store({ goal: 'Alone' });
    expect(await narratives.chapter([alone])).toMatchObject({ title: null, memory_count: 1, learnings: [], tags: [] });
  });

  test('may tell of an episode that was put away, and of one that another tells of', async () => {
    const [one, other] = await store({}, {});
    await episodes.remove(one.id);
    const first = await narratives.chapter([one, other]);
    const second = await narratives.chapter([one, other]);
    expect(second.id).not.toBe(first.id);
    expect(second.memory_ids).toEqual(first.memory_ids);
  });

  test('says only what its episodes say, however odd they are', async () => {
    const odd = [' “quoted”; -- ', '数据 🙂', 'ends.', "it's; done!"];
    const made = await store(...odd.map((text): Told => ({ goal: text, summary: text, learned: [text, ' '] })));
    const { sources } = await narratives.chapter(made);
    for (const { text, source_ids } of sources.learnings) {
      for (const id of source_ids) expect(made.find((one) => one.id === id)?.outcome.learnings).toContain(text);
    }
    expect(sources.learnings).toHaveLength(odd.length);
  });
});

describe('what is refused stores nothing', () => {
  const refuse = (fields: object, status: number) =>
    expectRefused(service, narratives.postChapter(fields), status, repoId);

  test('unknown episodes, each by its place', async () => {
    const [known] = await store({});
    const stranger = new EpisodeClient(service, 'manual/stranger');
    const { agent } = await stranger.register();
    const theirs = await stranger.store(agent.id);
    const fields = { memory_ids: [UNKNOWN_EPISODE_ID, known.id, 'nonsense', theirs.id] };
    expect(await refuse(fields, 404)).toEqual({
      code: 'not_found',
      fields: ['memory_ids.0', 'memory_ids.2', 'memory_ids.3'],
    });
    expect(await narratives.chapters({ include_archived: true })).toEqual([]);
  });

  test('nodes that are no episodes', async () => {
    const [known] = await store({});
    const { id } = await new GraphClient(service, repoId).node();
    const chapter = await narratives.chapter([known]);
    expect((await refuse({ memory_ids: [id, chapter.id] }, 404)).fields).toEqual(['memory_ids.0', 'memory_ids.1']);
  });

  test.each([
    {},
    { memory_ids: [] },
    { memory_ids: 'mem_1' },
    { memory_ids: [UNKNOWN_EPISODE_ID, UNKNOWN_EPISODE_ID] },
    { memory_ids: [UNKNOWN_EPISODE_ID], title: '' },
    { memory_ids: [UNKNOWN_EPISODE_ID], title: 'x'.repeat(501) },
    { memory_ids: [UNKNOWN_EPISODE_ID], tags: [''] },
    { memory_ids: [UNKNOWN_EPISODE_ID], summary: 'Mine' },
  ])('%j', async (fields) => {
    await refuse(fields, 400);
  });
});

describe('reading a chapter', () => {
  test('shows its episodes in their order, in short, without those that were put away', async () => {
    const made = await store({ goal: 'One' }, { goal: 'Two' }, { goal: 'Three' });
    const [one, two, three] = made;
    const { id } = await narratives.chapter([three, two, one]);
    await episodes.remove(two.id);
    const chapter = await narratives.read(id);
    expect(chapter.memories?.map((memory) => memory.id)).toEqual([one.id, three.id]);
    expect(chapter.memories?.[0]).toEqual({
      id: one.id,
      agent_id: agentId,
      created_at: one.created_at,
      intent: { goal: 'One', task_type: 'other' },
      outcome: { success: true, summary: one.outcome.summary },
    });
    expect(chapter.memory_ids).toEqual(idsOf(made));
  });

  test('counts a look at it, and none at its episodes', async () => {
    const made = await store({});
    const { id } = await narratives.chapter(made);
    await narratives.read(id);
    await narratives.read(id);
    const [listed] = await episodes.listed({ depth: 'complete' });
    expect(listed?.access_count).toBe(0);
    const { body: node } = await new GraphClient(service, repoId).getNode(id).expect(200);
    // With this look it is the third.
    expect(node.access_count).toBe(3);
  });

  test.each([UNKNOWN_CHAPTER_ID, 'nonsense', UNKNOWN_EPISODE_ID])('%s is unknown', async (id) => {
    await narratives.getChapter(id).expect(404);
    await narratives.patchChapter(id, { title: 'x' }).expect(404);
    await narratives.deleteChapter(id).expect(404);
    await narratives.deleteChapter(id, { permanent: true }).expect(404);
  });

  test('of another project is unknown', async () => {
    const { id } = await narratives.chapter(await store({}));
    const other = new NarrativeClient(service, 'manual/other');
    await other.getChapter(id).expect(404);
    await other.patchChapter(id, { title: 'Mine' }).expect(404);
    await other.deleteChapter(id, { permanent: true }).expect(404);
    await narratives.getChapter(id).expect(200);
  });

  test('an episode is no chapter, and cannot be removed as one', async () => {
    const [one] = await store({});
    await narratives.getChapter(one.id).expect(404);
    await narratives.deleteChapter(one.id, { permanent: true }).expect(404);
    await episodes.getEpisode(one.id).expect(200);
  });
});

describe('a title', () => {
  test('is given, changed and taken away, and the rest stays', async () => {
    const chapter = await narratives.chapter(await store({ goal: 'Dig' }));
    service.clock.advance(HOUR_MS);
    const named = (await narratives.patchChapter(chapter.id, { title: 'Wells' }).expect(200)).body;
    expect(named).toEqual({ ...chapter, title: 'Wells', updated_at: service.clock.now() });
    const unnamed = (await narratives.patchChapter(chapter.id, { title: null }).expect(200)).body;
    expect(unnamed).toEqual({ ...chapter, updated_at: service.clock.now() });
  });

  test('that it has already changes nothing', async () => {
    const chapter = await narratives.chapter(await store({}), { title: 'Same' });
    service.clock.advance(HOUR_MS);
    expect((await narratives.patchChapter(chapter.id, { title: 'Same' }).expect(200)).body).toEqual(chapter);
  });

  test('is what it is found by, and its former one is not', async () => {
    const chapter = await narratives.chapter(await store({ goal: 'Dig' }), { title: 'Albatross' });
    await narratives.patchChapter(chapter.id, { title: 'Cormorant' }).expect(200);
    const search = async (query: string) =>
      (await narratives.postNodeSearch({ query, form: 'chapter' })).body.results.map(
        ({ node }: { node: { id: string } }) => node.id,
      );
    expect([await search('albatross'), await search('cormorant')]).toEqual([[], [chapter.id]]);
  });

  test.each([{}, { title: '' }, { title: 7 }, { title: 'x', summary: 'y' }, { summary: 'y' }])(
    '%j is refused',
    async (fields) => {
      const chapter = await narratives.chapter(await store({}));
      await expectRefused(service, narratives.patchChapter(chapter.id, fields), 400, repoId);
    },
  );
});

describe('a chapter that goes', () => {
  test('into the archive is still read, and not listed; its episodes stay', async () => {
    const made = await store({}, {});
    const { id } = await narratives.chapter(made);
    expect((await narratives.deleteChapter(id).expect(200)).body).toEqual({ id, purged: false });
    expect(await narratives.read(id)).toMatchObject({ archived_at: service.clock.now(), memory_count: 2 });
    expect(await narratives.chapters()).toEqual([]);
    expect(idsOf(await narratives.chapters({ include_archived: true }))).toEqual([id]);
    expect(idsOf(await episodes.listed())).toEqual(idsOf(made).reverse());
  });

  test('for good is nowhere; its episodes stay', async () => {
    const made = await store({}, {});
    const { id } = await narratives.chapter(made);
    expect((await narratives.deleteChapter(id, { permanent: true }).expect(200)).body).toEqual({ id, purged: true });
    await narratives.getChapter(id).expect(404);
    expect(await narratives.chapters({ include_archived: true })).toEqual([]);
    expect(idsOf(await episodes.listed())).toEqual(idsOf(made).reverse());
  });
});

describe('a chapter is a node', () => {
  test('found by /nodes/search and /memory/read', async () => {
    const { id } = await narratives.chapter(
      await store({ goal: 'Tame the pelican', learned: ['Pelicans like herring'] }),
      {
        title: 'Birds',
      },
    );
    const found = (await narratives.postNodeSearch({ query: 'herring', form: 'chapter' }).expect(200)).body.results;
    expect(found).toMatchObject([{ node: { id, form: 'chapter' } }]);
    const items = allItems(await recall(service, 'pelican herring', {}, repoId));
    expect(idsIn(items)).toContain(id);
    expect(items.find((item) => item.memory_id === id)).toMatchObject({ form: 'chapter', kind: 'manual' });
  });

  test('listed by /nodes like one of any other form', async () => {
    const { id } = await narratives.chapter(await store({}));
    const graph = new GraphClient(service, repoId);
    expect(idsOf(await graph.listed({ form: 'chapter' }))).toEqual([id]);
    expect(idsOf(await graph.listed({ form: 'episode' }))).toHaveLength(1);
  });

  test('changed by its own routes alone', async () => {
    const { id } = await narratives.chapter(await store({}));
    const refusal = await expectRefused(
      service,
      new GraphClient(service, repoId).patchNode(id, { content: 'x' }),
      409,
      repoId,
    );
    expect(refusal.code).toBe('conflict');
  });
});
