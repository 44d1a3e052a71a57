import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { presentCursor } from '../../../src/contracts/cursor.js';
import { contentsOf, type EntryReport, JournalClient, momentNow } from '../../support/journal.js';
import { expectRefused, idsOf, sendAtOnce } from '../../support/nodes.js';
import { type Service, startService } from '../../support/service.js';
import { times } from '../../support/together.js';

let service: Service;
let client: JournalClient;
beforeAll(async () => {
  service = await startService();
  client = new JournalClient(service);
});
afterAll(() => service.stop());

type Query = Record<string, string | number | boolean>;

describe('4e.3 a list', () => {
  let few: JournalClient;
  beforeAll(async () => {
    few = new JournalClient(service, 'acme/few');
    await few.entry('one', { type: 'core', category: 'fact', tags: ['x'], importance: 'high' });
    await few.entry('two', { type: 'core', category: 'preference', tags: ['y', 'x'] });
    await few.entry('three', { type: 'learning', category: 'fact', tags: ['x', 'y', 'z'], importance: 'low' });
    await few.entry('four', { type: 'task', importance: 'high' });
    const { id } = await few.entry('five', { type: 'learning', tags: ['x', 'y'], importance: 'high' });
    await few.remove(id);
  });

  test('shows each entry whole, with what was asked for', async () => {
    const page = await few.page({ type: 'learning' });
    const { id } = page.memories[0] as EntryReport;
    expect(page).toEqual({
      memories: [
        {
          id,
          type: 'learning',
          content: 'three',
          category: 'fact',
          created_at: '2026-01-01T00:00:00Z',
          updated_at: '2026-01-01T00:00:00Z',
          accessed_at: '2026-01-01T00:00:00Z',
          access_count: 1,
          tags: ['x', 'y', 'z'],
          importance: 'low',
          archived: false,
        },
      ],
      total: 1,
      limit: 10,
      offset: 0,
      has_more: false,
      next_cursor: null,
    });
  });

  test.each<[Query, string[]]>([
    [{}, ['four', 'three', 'two', 'one']],
    [{ type: 'core' }, ['two', 'one']],
    [{ type: 'learning' }, ['three']],
    [{ type: 'task' }, ['four']],
    [{ tags: 'x' }, ['three', 'two', 'one']],
    [{ tags: 'x,y' }, ['three', 'two']],
    [{ tags: ' y , x ' }, ['three', 'two']],
    [{ tags: 'x,y,z' }, ['three']],
    [{ tags: 'x,nobody' }, []],
    [{ tags: 'X' }, []],
    [{ importance: 'high' }, ['four', 'one']],
    [{ importance: 'medium' }, ['two']],
    [{ importance: 'low' }, ['three']],
    [{ category: 'fact' }, ['three', 'one']],
    [{ category: 'Fact' }, []],
    [{ search: 'o' }, ['four', 'two', 'one']],
    [{ archived: false }, ['four', 'three', 'two', 'one']],
    [{ archived: true }, ['five', 'four', 'three', 'two', 'one']],
    [{ archived: true, type: 'learning', tags: 'x', importance: 'high' }, ['five']],
    [{ type: 'core', category: 'fact' }, ['one']],
    [{ type: 'core', search: 'three' }, []],
    [{ category: 'fact', tags: 'x', importance: 'low', search: 'hre', type: 'learning' }, ['three']],
  ])('of what fits %j', async (query, expected) => {
    const page = await few.page({ sort_by: 'created_at', ...query });
    expect(contentsOf(page.memories)).toEqual(expected);
    expect(page.total).toBe(expected.length);
  });

  test.each([
    ['type', 'fact'],
    ['type', ''],
    ['tags', ''],
    ['search', ''],
    ['search', 's'.repeat(201)],
    ['importance', 'urgent'],
    ['category', ''],
    ['archived', 'perhaps'],
    ['limit', 0],
    ['limit', 101],
    ['limit', 1.5],
    ['offset', -1],
    ['sort_by', 'content'],
    ['sort_by', 'completed_at'],
    ['sort_order', 'up'],
    ['status', 'completed'],
  ])('is refused for %s=%j', async (field, value) => {
    const { code, fields } = await expectRefused(service, client.getEntries({ [field]: value }), 400);
    expect([code, fields]).toEqual(['schema_error', [field]]);
  });

  test.each(['garbage', '', presentCursor([-1]), presentCursor([1.5]), presentCursor(['1']), presentCursor([1, 2])])(
    'is refused for the cursor %j',
    async (cursor) => {
      const { code, fields } = await expectRefused(service, client.getEntries({ cursor }), 400);
      expect([code, fields]).toEqual(['invalid_cursor', ['cursor']]);
    },
  );

  test('of a repo in which nothing was ever written is empty', async () => {
    expect(await new JournalClient(service, 'acme/nothing').page()).toMatchObject({ memories: [], total: 0 });
  });
});

describe('4e.3 a search', () => {
  let searched: JournalClient;
  beforeAll(async () => {
    searched = new JournalClient(service, 'acme/search');
    await searched.entry('Naïve Café by the RIVER'.normalize('NFC'));
    await searched.entry('naïve café in town'.normalize('NFD'));
    await searched.entry('100 % of snake_case "quoted"', { tags: ['river'], category: 'river' });
    await searched.entry('Здравствуйте, ΟΔΥΣΣΕΥΣ', { tags: ['a'] });
  });

  test.each([
    ['river', 1],
    ['RiVeR', 1],
    ['ive', 1],
    ['aïve'.normalize('NFC'), 2],
    ['AÏVE'.normalize('NFD'), 2],
    ['CAFÉ'.normalize('NFC'), 2],
    ['café by'.normalize('NFD'), 1],
    ['cafe', 0],
    ['%', 1],
    ['_', 1],
    ['e_c', 1],
    ['"', 1],
    ["'", 0],
    ['*', 0],
    ['ЗДРАВ', 1],
    ['ствуй', 1],
    ['οδυσσευς', 1],
    ['ΟΔΥΣ', 1],
    ['nobody', 0],
    ['r'.repeat(200), 0],
  ])('for %j finds what has it in its text, in whatever case and composition', async (search, count) => {
    expect((await searched.page({ search })).total).toBe(count);
  });
});

describe('4e.3 pages', () => {
  let many: JournalClient;
  let made: EntryReport[];
  beforeAll(async () => {
    many = new JournalClient(service, 'acme/many');
    made = [];
    for (let index = 0; index < 23; index++) {
      made.push(await many.entry(`Number ${index}`, { tags: [index % 2 === 0 ? 'even' : 'odd'] }));
      if (index % 5 === 4) service.clock.advance(1);
    }
  });
  const BY_AGE = { sort_by: 'created_at', sort_order: 'asc' };

  test.each<[Query, { count: number; total: number; limit: number; offset: number; has_more: boolean }]>([
    [{}, { count: 10, total: 23, limit: 10, offset: 0, has_more: true }],
    [
      { limit: 5, offset: 5 },
      { count: 5, total: 23, limit: 5, offset: 5, has_more: true },
    ],
    [{ limit: 22 }, { count: 22, total: 23, limit: 22, offset: 0, has_more: true }],
    [{ limit: 23 }, { count: 23, total: 23, limit: 23, offset: 0, has_more: false }],
    [{ limit: 100 }, { count: 23, total: 23, limit: 100, offset: 0, has_more: false }],
    [
      { limit: 10, offset: 13 },
      { count: 10, total: 23, limit: 10, offset: 13, has_more: false },
    ],
    [
      { limit: 10, offset: 22 },
      { count: 1, total: 23, limit: 10, offset: 22, has_more: false },
    ],
    [
      { limit: 10, offset: 23 },
      { count: 0, total: 23, limit: 10, offset: 23, has_more: false },
    ],
    [
      { limit: 10, offset: 1_000 },
      { count: 0, total: 23, limit: 10, offset: 1_000, has_more: false },
    ],
    [
      { tags: 'odd', limit: 3 },
      { count: 3, total: 11, limit: 3, offset: 0, has_more: true },
    ],
    [
      { search: 'number 1', limit: 3 },
      { count: 3, total: 11, limit: 3, offset: 0, has_more: true },
    ],
  ])('of %j tell how many there are in all, and whether there are more', async (query, expected) => {
    const { memories, next_cursor, ...rest } = await many.page({ ...BY_AGE, ...query });
    expect({ count: memories.length, ...rest }).toEqual(expected);
    expect(next_cursor === null).toBe(!expected.has_more);
    const from = expected.offset;
    if (query.tags === undefined && query.search === undefined)
      expect(idsOf(memories)).toEqual(idsOf(made.slice(from, from + expected.limit)));
  });

  test('go on where they stopped, and the cursor goes before the offset', async () => {
    const first = await many.page({ ...BY_AGE, limit: 4, offset: 2 });
    const second = await many.page({ ...BY_AGE, limit: 4, offset: 2, cursor: first.next_cursor as string });
    expect(second.offset).toBe(6);
    expect(idsOf([...first.memories, ...second.memories])).toEqual(idsOf(made.slice(2, 10)));
  });
});

const KEYS = ['created_at', 'updated_at', 'accessed_at', 'importance', 'access_count'] as const;
const RANK: Record<string, number> = { low: 0, medium: 1, high: 2 };
const keyOf = (entry: EntryReport, key: (typeof KEYS)[number]): number =>
  key === 'importance'
    ? (RANK[entry.importance] as number)
    : key === 'access_count'
      ? entry.access_count
      : Date.parse(entry[key]);

describe.each(KEYS)('4e.3 in the order of %s', (key) => {
  let ordered: JournalClient;
  let before: Map<string, number>;
  /** Four of each value, all of them apart in each of the keys. */
  const furnish = async () => {
    ordered = new JournalClient(service, `acme/by-${key}-${Math.random()}`);
    const made: EntryReport[] = [];
    for (let index = 0; index < 12; index++) {
      const importance = ['medium', 'low', 'high'][index % 3];
      made.push(await ordered.entry(`Number ${index}`, { importance }));
      if (index % 3 === 2) service.clock.advance(1_000);
    }
    for (let index = 11; index >= 0; index -= 2) {
      service.clock.advance(1_000);
      await ordered.patch((made[index] as EntryReport).id, { content: `Changed ${index}` });
    }
    for (const index of [3, 0, 3, 7, 7, 7, 4, 1]) {
      service.clock.advance(1_000);
      await ordered.read((made[index] as EntryReport).id);
    }
    service.clock.advance(1_000);
    const { memories } = await ordered.view('recent');
    before = new Map(memories.map((entry) => [entry.id, keyOf(entry, key)]));
  };

  test.each([
    ['asc', 1],
    ['desc', -1],
  ] as const)('%s, entries are as they were before anyone looked', async (sort_order, sign) => {
    await furnish();
    const listed = await ordered.listed({ sort_by: key, sort_order });
    const values = listed.map(({ id }) => before.get(id) as number);
    expect(values).toEqual([...before.values()].sort((a, b) => sign * (a - b)));
    expect(new Set(values).size).toBeGreaterThan(2);
  });

  test.each(['asc', 'desc'])('%s, pages one after the other have each entry once', async (sort_order) => {
    await furnish();
    const walked: string[] = [];
    let page = await ordered.page({ sort_by: key, sort_order, limit: 5 });
    for (let count = 1; count <= 5; count++) {
      walked.push(...idsOf(page.memories));
      if (page.next_cursor === null) break;
      service.clock.advance(1_000);
      page = await ordered.page({ sort_by: key, sort_order, limit: 5, cursor: page.next_cursor });
    }
    expect(walked.toSorted()).toEqual([...before.keys()].sort());
  });
});

test('4e.3 unless it is said otherwise, what was looked at last comes first', async () => {
  const own = new JournalClient(service, 'acme/default-order');
  const made: EntryReport[] = [];
  for (const content of ['one', 'two', 'three']) made.push(await own.entry(content));
  service.clock.advance(1_000);
  await own.read((made[0] as EntryReport).id);
  expect(contentsOf(await own.listed())).toEqual(['one', 'three', 'two']);
});

describe('4e.3 a look', () => {
  test('is counted once for each entry that is shown, and for no other', async () => {
    const own = new JournalClient(service, 'acme/looks');
    const [one, two, three] = [await own.entry('one'), await own.entry('two'), await own.entry('three')];
    const updatedAt = one.updated_at;
    service.clock.advance(1_000);
    const lookedAt = momentNow(service);
    const { memories } = await own.page({ sort_by: 'created_at', sort_order: 'asc', limit: 2 });
    expect(memories.map(({ access_count, accessed_at }) => [access_count, accessed_at])).toEqual([
      [1, lookedAt],
      [1, lookedAt],
    ]);
    service.clock.advance(1_000);
    expect(await own.read(one.id)).toMatchObject({
      access_count: 2,
      accessed_at: momentNow(service),
      updated_at: updatedAt,
    });
    const { memories: seen } = await own.view('recent');
    const counted = new Map(seen.map(({ id, access_count, accessed_at }) => [id, [access_count, accessed_at]]));
    expect(counted.get(two.id)).toEqual([1, lookedAt]);
    expect(counted.get(three.id)).toEqual([0, three.created_at]);
  });

  test('at an archived entry is counted too', async () => {
    const own = new JournalClient(service, 'acme/archived-looks');
    const { id } = await own.entry('one');
    await own.remove(id);
    await own.listed({ archived: true });
    expect(await own.read(id)).toMatchObject({ access_count: 2, archived: true });
  });

  test('of many at the same time is counted each', async () => {
    const own = new JournalClient(service, 'acme/many-looks');
    const { id } = await own.entry('one');
    await sendAtOnce(service, () => times(20, (index) => (index % 2 === 0 ? own.getEntry(id) : own.getEntries())));
    expect((await own.read(id)).access_count).toBe(21);
  });

  test('is kept over a restart', async () => {
    const first = await startService();
    const own = new JournalClient(first);
    const { id } = await own.entry('one');
    await own.read(id);
    await first.app.close();
    const second = await startService({ RLM_MEMORY_DB: first.file });
    try {
      expect((await new JournalClient(second).read(id)).access_count).toBe(2);
    } finally {
      await second.stop();
      await first.stop();
    }
  });
});
