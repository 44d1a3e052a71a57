import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { DAY_MS, type EntryReport, JournalClient, momentNow } from '../../support/journal.js';
import { type Service, startService } from '../../support/service.js';
import { times } from '../../support/together.js';

/** `GET /journal/stats`: the seed's index.json. That it is what a list counts is shown in test/property/journal.test.ts. */

let service: Service;
let client: JournalClient;
let repos = 0;
beforeAll(async () => {
  service = await startService();
});
afterAll(() => service.stop());
beforeEach(() => {
  client = new JournalClient(service, `stats/${++repos}`);
});

test('4e.6 the stats of an empty journal are all noughts', async () => {
  expect(await client.stats()).toEqual({
    version: '1.0.0',
    last_updated: null,
    statistics: {
      total_memories: 0,
      by_type: { core: 0, learning: 0, task: 0 },
      by_importance: { high: 0, medium: 0, low: 0 },
      archived_count: 0,
      total_storage_bytes: 0,
      oldest_memory: null,
      newest_memory: null,
      most_accessed: null,
      top_tags: [],
    },
    tags_index: {},
    category_index: {},
    importance_index: { high: [], medium: [], low: [] },
  });
});

test('4e.6 the stats tell what is there, of the archive only how much', async () => {
  const one = await client.entry('one', { type: 'core', category: 'fact', tags: ['x', 'y'], importance: 'high' });
  service.clock.advance(1_000);
  const two = await client.entry('two', { category: 'fact', tags: ['x'] });
  service.clock.advance(1_000);
  const three = await client.task('three');
  const gone = await client.entry('gone', { category: 'gone', tags: ['gone'], importance: 'low' });
  service.clock.advance(1_000);
  await client.remove(gone.id);
  const lastUpdated = momentNow(service);
  service.clock.advance(1_000);
  const looked = await client.read(two.id);
  await client.read(gone.id);
  await client.read(gone.id);
  const stats = await client.stats();
  expect(stats).toEqual({
    version: '1.0.0',
    last_updated: lastUpdated,
    statistics: {
      total_memories: 3,
      by_type: { core: 1, learning: 1, task: 1 },
      by_importance: { high: 1, medium: 2, low: 0 },
      archived_count: 1,
      total_storage_bytes: expect.any(Number),
      oldest_memory: one.created_at,
      newest_memory: three.created_at,
      most_accessed: looked,
      top_tags: [
        { tag: 'x', count: 2 },
        { tag: 'y', count: 1 },
      ],
    },
    tags_index: { x: [one.id, two.id], y: [one.id] },
    category_index: { fact: [one.id, two.id] },
    importance_index: { high: [one.id], medium: [two.id, three.id], low: [] },
  });
});

describe('4e.6 the stats', () => {
  test('have the ten tags that the most have', async () => {
    for (let index = 0; index < 12; index++) {
      // The tag k is had by those from k on.
      await client.entry(`${index}`, {
        tags: times(Math.min(index + 1, 10), (tag) => `t${String(tag).padStart(2, '0')}`),
      });
    }
    await client.entry('more', { tags: ['u', 'v'] });
    const { top_tags } = (await client.stats()).statistics;
    expect(top_tags).toEqual(times(10, (tag) => ({ tag: `t${String(tag).padStart(2, '0')}`, count: 12 - tag })));
  });

  test.each(['__proto__', 'constructor', 'hasOwnProperty', 'a.b"c\\'])(
    'index the word %s like any other',
    async (word) => {
      const { id } = await client.entry('Odd', { tags: [word], category: word });
      const { tags_index, category_index } = await client.stats();
      expect(Object.entries(tags_index)).toEqual([[word, [id]]]);
      expect(Object.entries(category_index)).toEqual([[word, [id]]]);
    },
  );

  test('tell the bytes that the entries take as lines of a file', async () => {
    const made: EntryReport[] = [
      await client.entry('x'),
      await client.entry('数据 🙂 "quoted" \n'.repeat(100), { category: 'c'.repeat(50), tags: ['t'.repeat(30)] }),
      await client.task('done', { status: 'completed', outcome: 'It works'.repeat(100) }),
      await client.task('stuck', { status: 'blocked', blockers: ['b'.repeat(200)] }),
    ];
    const lines = made.reduce((sum, entry) => sum + Buffer.byteLength(JSON.stringify(entry)) + 1, 0);
    const bytes = async () => (await client.stats()).statistics.total_storage_bytes;
    const before = await bytes();
    expect(before).toBeGreaterThanOrEqual(lines);
    expect(before).toBeLessThan(lines + made.length * 250);
    // What is in the archive takes its place too, and what is gone does not.
    await client.remove((made[0] as EntryReport).id);
    expect(await bytes()).toBe(before);
    await client.remove((made[1] as EntryReport).id, { permanent: true });
    expect(before - (await bytes())).toBeGreaterThan(Buffer.byteLength((made[1] as EntryReport).content));
    await client.patch((made[2] as EntryReport).id, { content: 'd'.repeat(1_004) });
    const { total_storage_bytes } = (await client.stats()).statistics;
    await client.patch((made[2] as EntryReport).id, { content: 'd'.repeat(4) });
    expect(total_storage_bytes - (await bytes())).toBe(1_000);
  });

  test('count no look', async () => {
    const { id } = await client.entry('one');
    service.clock.advance(DAY_MS);
    for (let count = 0; count < 3; count++) await client.stats();
    expect((await client.stats()).statistics.most_accessed).toBeNull();
    expect(await client.read(id)).toMatchObject({ access_count: 1 });
    expect((await client.stats()).statistics.most_accessed).toMatchObject({ id, access_count: 1 });
  });
});
