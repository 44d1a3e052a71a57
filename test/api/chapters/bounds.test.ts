import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { EpisodeClient, type EpisodeReport } from '../../support/episodes.js';
import { NarrativeClient, storeTold, type Told } from '../../support/narratives.js';
import { type Service, startService } from '../../support/service.js';
import { times } from '../../support/together.js';

let service: Service;
let repos = 0;
let episodes: EpisodeClient;
let narratives: NarrativeClient;
let agentId: string;
beforeAll(async () => {
  service = await startService();
});
afterAll(() => service.stop());
beforeEach(async () => {
  const repoId = `bounds/${++repos}`;
  episodes = new EpisodeClient(service, repoId);
  narratives = new NarrativeClient(service, repoId);
  agentId = (await episodes.register()).agent.id;
});

const store = (...all: Told[]): Promise<EpisodeReport[]> => storeTold(service, episodes, agentId, ...all);

const LINES_MAX = 200;
/** Two words of its own, so that it resembles no other. */
const ownLine = (episode: number, place: number): string => `word${episode}x${place} other${episode}y${place}`;
/** As many learnings as an episode may have: the same first, the same last, and its own between. */
const learningsOf = (episode: number): string[] => [
  'Everybody says this first',
  ...times(LINES_MAX - 2, (place) => ownLine(episode, place)),
  'Everybody says this last',
];

describe('of more learnings than are compared in one go', () => {
  test('the first of every episode come before the last of any, and what all begin with is cited from all', async () => {
    const made = await store(...times(11, (episode): Told => ({ learned: learningsOf(episode) })));
    const { learnings, sources } = await narratives.chapter(made);
    expect(sources.learnings[0]).toEqual({ text: 'Everybody says this first', source_ids: made.map(({ id }) => id) });
    expect(learnings).toHaveLength(100);
    expect(learnings).not.toContain('Everybody says this last');
  });

  test('up to 2,000 all are compared', async () => {
    const made = await store(...times(10, (episode): Told => ({ learned: learningsOf(episode) })));
    const { sources } = await narratives.chapter(made);
    expect(sources.learnings.slice(0, 2).map(({ text, source_ids }) => [text, source_ids.length])).toEqual([
      ['Everybody says this first', 10],
      ['Everybody says this last', 10],
    ]);
  });

  test('those of more than 200,000 characters together are the most important, then the newest', async () => {
    const long = (episode: number): string => `long${episode} ${'-'.repeat(19_990)}`;
    const made = await store(
      ...times(12, (episode): Told => ({ learned: [long(episode)], importance: episode === 0 ? 0.9 : 0.5 })),
    );
    const { learnings } = await narratives.chapter(made);
    expect(learnings.map((text) => text.split(' ')[0])).toEqual(['long0', ...times(10, (place) => `long${place + 2}`)]);
  });

  test('telling them again says the same', async () => {
    const all = times(11, (episode): Told => ({ learned: learningsOf(episode), tags: ['busy'] }));
    await store(...all);
    expect(await narratives.detect()).toMatchObject({ created: 1 });
    expect(await narratives.detect()).toMatchObject({ created: 0, updated: 0, unchanged: 1 });
  });

  test('a wisdom takes the first of every chapter before the last of any', async () => {
    for (const chapter of times(21, (index) => index)) {
      const own = times(98, (place) => ownLine(chapter, place));
      await narratives.chapter(await store({ learned: ['All say this first', ...own, 'All say this last'] }));
    }
    const { insights, sources } = await narratives.wisdom();
    expect(sources.insights[0]).toMatchObject({ text: 'All say this first', source_ids: { length: 21 } });
    expect(insights).toHaveLength(100);
    expect(insights).not.toContain('All say this last');
  });
});
