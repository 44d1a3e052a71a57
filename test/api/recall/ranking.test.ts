import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { EpisodeClient } from '../../support/episodes.js';
import { MINUTE_MS, type Told, told } from '../../support/narratives.js';
import { type Service, startService } from '../../support/service.js';
import { times } from '../../support/together.js';

let service: Service;
let repos = 0;
beforeAll(async () => {
  service = await startService();
});
afterAll(() => service.stop());

/** A project of its own with these episodes, oldest first. */
async function project(...all: Told[]): Promise<{ episodes: EpisodeClient; ids: string[] }> {
  const episodes = new EpisodeClient(service, `ranking/${++repos}`);
  const { agent } = await episodes.register();
  const ids: string[] = [];
  for (const one of all) {
    ids.push((await episodes.store(agent.id, told(one))).id);
    service.clock.advance(MINUTE_MS);
  }
  return { episodes, ids };
}

const FILLER: Told[] = [{ goal: 'Write the letter' }, { goal: 'Sort the stamps' }, { goal: 'Fold the paper' }];

describe('relevance and importance both rank', () => {
  test('of two that are equally relevant the important one comes first, in whatever order they were stored', async () => {
    for (const importances of [
      [0.2, 0.9],
      [0.9, 0.2],
      [0, 1],
      [1, 0],
    ] as const) {
      const { episodes, ids } = await project(
        ...FILLER,
        ...importances.map((importance) => ({ goal: 'Repair the walrus pump', importance })),
      );
      const [less, more] = importances[0] < importances[1] ? [ids[3], ids[4]] : [ids[4], ids[3]];
      for (const asked of [{ query: 'walrus pump' }, { intent: 'walrus pump' }])
        expect(await episodes.recalledIds(asked)).toEqual([more, less]);
    }
  });

  test('one that is far more relevant comes before an important one', async () => {
    const { episodes, ids } = await project(
      ...FILLER,
      { goal: 'Repair the walrus pump valve', importance: 0 },
      {
        goal: 'Look after the zoo',
        summary: `The walrus pump was passed, ${times(60, (number) => `cage ${number} was clean`).join(', ')}`,
        importance: 1,
      },
    );
    expect(await episodes.recalledIds({ query: 'walrus pump' })).toEqual([ids[3], ids[4]]);
  });

  test('without words the important come first, and of those the newest', async () => {
    const { episodes, ids } = await project(
      { importance: 0.5 },
      { importance: 0.9 },
      { importance: 0.5 },
      { importance: 0 },
    );
    expect(await episodes.recalledIds({})).toEqual([ids[1], ids[2], ids[0], ids[3]]);
    expect(await episodes.recalledIds({ limit: 2 })).toEqual([ids[1], ids[2]]);
  });

  test('an importance of 0 is 0, not the usual', async () => {
    const { episodes, ids } = await project({ importance: 0 }, {});
    expect(await episodes.recalledIds({})).toEqual([ids[1], ids[0]]);
  });
});

test('scores fall, and the confidence is the best of them, at most 1', async () => {
  const { episodes } = await project(
    ...FILLER,
    { goal: 'Repair the walrus pump' },
    { goal: 'Repair the walrus cage, which is old', importance: 0.1 },
    { goal: 'Repair the pump' },
  );
  for (const asked of [{ query: 'repair walrus' }, { intent: 'repair' }, {}, { query: 'repair', intent: 'pump' }]) {
    const { memories, confidence } = await episodes.recall({ ...asked, limit: 10 });
    const scores = memories.map(({ score }) => score);
    expect(scores.length).toBeGreaterThan(1);
    expect(scores).toEqual(scores.toSorted((a, b) => b - a));
    expect(scores.every((score) => score > 0)).toBe(true);
    expect(confidence).toBe(Math.min(1, scores[0] as number));
  }
});

test('the same question has the same answer', async () => {
  const { episodes } = await project(...times(12, (number) => ({ goal: `Repair pump ${number % 3}` })));
  const first = await episodes.recalledIds({ query: 'repair pump', limit: 100 });
  expect(first).toHaveLength(12);
  for (const limit of [1, 5, 12]) {
    expect(await episodes.recalledIds({ query: 'repair pump', limit })).toEqual(first.slice(0, limit));
  }
});

test('the limit is 5 unless it is said, and at most 100', async () => {
  const { episodes } = await project(...times(7, () => ({})));
  expect(await episodes.recalledIds({})).toHaveLength(5);
  expect(await episodes.recalledIds({ limit: 100 })).toHaveLength(7);
  for (const limit of [0, 101, -1, 1.5, '5', null]) await episodes.postRecall({ limit }).expect(400);
});

describe('looks', () => {
  const accessed = async (episodes: EpisodeClient) =>
    new Map((await episodes.listed({ depth: 'complete' })).map((one) => [one.id, one.access_count]));

  test('are counted once for each episode in the answer, and not for those left out', async () => {
    const { episodes, ids } = await project({ goal: 'First' }, { goal: 'Second', importance: 0.9 });
    const [first, second] = ids as [string, string];
    await episodes.recall({ limit: 1 });
    expect(await accessed(episodes)).toEqual(
      new Map([
        [second, 1],
        [first, 0],
      ]),
    );
    await episodes.recall({ memory_id: first });
    expect(await accessed(episodes)).toEqual(
      new Map([
        [second, 1],
        [first, 1],
      ]),
    );
    await episodes.recall({ query: 'second' });
    expect((await accessed(episodes)).get(second)).toBe(2);
  });

  test('are not counted for what did not fit into the tokens, nor when nothing is found', async () => {
    const { episodes, ids } = await project({ goal: 'First' }, { goal: 'Second', importance: 0.9 });
    const { memories } = await episodes.recall({ limit: 1 });
    await episodes.recall({ max_tokens: memories[0]?.tokens });
    await episodes.recall({ max_tokens: 1 });
    await episodes.recall({ query: 'zeppelin' });
    expect(await accessed(episodes)).toEqual(
      new Map([
        [ids[1], 2],
        [ids[0], 0],
      ]),
    );
  });

  test('say when', async () => {
    const { episodes, ids } = await project({});
    const atMs = service.clock.advance(MINUTE_MS);
    await episodes.recall({});
    const [episode] = await episodes.listed({ depth: 'complete' });
    expect(episode).toMatchObject({ id: ids[0], last_accessed: atMs });
  });
});

test('more than are weighed are said to be more', async () => {
  const { episodes, ids } = await project({});
  const [agent] = (await episodes.listed({ depth: 'complete' })).map(({ agent_id }) => agent_id) as [string];
  for (let count = 1; count < 505; count++) await episodes.store(agent);
  expect(ids).toHaveLength(1);
  expect(await episodes.recall({ limit: 1 })).toMatchObject({ total_matches: 101, complete: false });
  expect(await episodes.recall({ limit: 1, query: 'warm cache' })).toMatchObject({ complete: false });
});
