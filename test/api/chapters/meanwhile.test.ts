import { afterAll, beforeAll, beforeEach, expect, test, vi } from 'vitest';
import { EpisodeClient, type EpisodeReport } from '../../support/episodes.js';
import { NarrativeClient, startNarrator, storeTold, type Told } from '../../support/narratives.js';
import { tables } from '../../support/rows.js';
import type { Service } from '../../support/service.js';
import { times } from '../../support/together.js';

/**
 * What somebody else does while a text is being made: a model takes seconds, and nobody waits for it. The summarizer of these tests
 * has no words of its own; it does something else first.
 */

let service: Service;
let meanwhile: (() => Promise<unknown>) | null = null;
let repos = 0;
let repoId: string;
let episodes: EpisodeClient;
let narratives: NarrativeClient;
let agentId: string;
beforeAll(async () => {
  service = await startNarrator(() => ({
    summarize: async () => {
      const act = meanwhile;
      meanwhile = null;
      await act?.();
      return null;
    },
  }));
});
afterAll(() => service.stop());
beforeEach(async () => {
  meanwhile = null;
  repoId = `meanwhile/${++repos}`;
  episodes = new EpisodeClient(service, repoId);
  narratives = new NarrativeClient(service, repoId);
  agentId = (await episodes.register()).agent.id;
});

const SECRET = 'zyqsecret';
const store = (...all: Told[]): Promise<EpisodeReport[]> => storeTold(service, episodes, agentId, ...all);
const four = (): Promise<EpisodeReport[]> =>
  store(
    { tags: ['x', 'y'], goal: `Say ${SECRET}`, learned: [SECRET] },
    ...times(3, (): Told => ({ tags: ['x', 'y'] })),
  );
const purge = (episode: EpisodeReport | undefined) => episodes.remove(episode?.id as string, { permanent: true });
/** Removing asks no summarizer: something else happens right before it is stored. */
function beforeItIsStored(act: () => Promise<unknown>): void {
  const apply = service.store.apply.bind(service.store);
  const spy = vi.spyOn(service.store, 'apply').mockImplementationOnce(async (plan) => {
    spy.mockRestore();
    await act();
    return apply(plan);
  });
}
const standsSomewhere = (): boolean => JSON.stringify(tables(service, repoId)).includes(SECRET);

test('an episode that goes while chapters are found is in none of them, and the rest is made', async () => {
  const [hidden] = await four();
  meanwhile = () => purge(hidden);
  const answer = await narratives.postDetect();
  expect(answer.status).toBe(200);
  expect(answer.body.created).toBe(2);
  expect((await narratives.chapters()).map(({ memory_count }) => memory_count)).toEqual([3, 3]);
  expect(standsSomewhere()).toBe(false);
});

test('an episode that goes while a chapter is made by hand leaves no word in it', async () => {
  const made = await four();
  meanwhile = () => purge(made[0]);
  const { status } = await narratives.postChapter({ memory_ids: made.map(({ id }) => id) });
  expect(status).toBeOneOf([404, 409]);
  expect(standsSomewhere()).toBe(false);
});

test('an episode that goes while a wisdom is made leaves no word in it', async () => {
  const [hidden] = await four();
  await narratives.detect();
  meanwhile = () => purge(hidden);
  await narratives.postSynthesis();
  expect(standsSomewhere()).toBe(false);
});

test('a chapter that is made of an episode while that goes does not keep its words', async () => {
  const made = await four();
  await narratives.chapter(made);
  beforeItIsStored(() => narratives.chapter(made.slice(0, 2), { title: 'In between' }));
  await purge(made[0]);
  expect((await narratives.chapters()).map(({ memory_count }) => memory_count).sort()).toEqual([1, 3]);
  expect(standsSomewhere()).toBe(false);
});

test('a wisdom that is made while an episode goes does not keep its words', async () => {
  const [hidden] = await four();
  await narratives.detect();
  beforeItIsStored(() => narratives.wisdom());
  await purge(hidden);
  expect(await narratives.wisdoms()).toHaveLength(1);
  expect(standsSomewhere()).toBe(false);
});

test('a title that is given while a chapter is told anew is kept', async () => {
  await four();
  await narratives.detect();
  const { id } = await narratives.chapterTitled('Topic: x');
  await store({ tags: ['x'] });
  meanwhile = () => narratives.patchChapter(id, { title: 'Mine' });
  await narratives.detect();
  expect(await narratives.read(id)).toMatchObject({ title: 'Mine', memory_count: 5 });
});

test('a chapter that is put away while it is told anew stays away', async () => {
  await four();
  await narratives.detect();
  const { id } = await narratives.chapterTitled('Topic: x');
  await store({ tags: ['x'] });
  meanwhile = () => narratives.deleteChapter(id);
  await narratives.detect();
  expect((await narratives.read(id)).archived_at).not.toBeNull();
});
