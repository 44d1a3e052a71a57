import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { EpisodeClient } from '../../support/episodes.js';
import { DAY_MS, HOUR_MS, MINUTE_MS, NarrativeClient, type Told, told } from '../../support/narratives.js';
import { refused, stored } from '../../support/rows.js';
import { type Service, startService } from '../../support/service.js';
import { times } from '../../support/together.js';

const FILE = 'src/payment/charge.ts';

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
  const repoId = `files/${++repos}`;
  episodes = new EpisodeClient(service, repoId);
  narratives = new NarrativeClient(service, repoId);
  agentId = (await episodes.register()).agent.id;
});

/** Episodes about the file, one minute after the other; their ids. */
async function tried(...all: Told[]): Promise<string[]> {
  const ids: string[] = [];
  for (const one of all) {
    ids.push((await episodes.store(agentId, told({ files: [FILE], ...one }))).id);
    service.clock.advance(MINUTE_MS);
  }
  return ids;
}

const shown = async (fields: object = {}): Promise<string[]> =>
  (await narratives.check({ file_path: FILE, ...fields })).memories.map(({ memory_id }) => memory_id);

const NOTHING = { notification: null, silent_because: null, total: 0, failed: 0, memories: [], warning: null };

test('of an unknown file there is nothing to tell', async () => {
  await tried({});
  expect(await narratives.check({ file_path: 'src/other.ts', action: 'Anything' })).toEqual({
    file_path: 'src/other.ts',
    ...NOTHING,
  });
});

test('in a project that is not there, there is nothing to tell, and it is not made', async () => {
  const nowhere = new NarrativeClient(service, 'files/nowhere');
  expect(await nowhere.check({ file_path: FILE })).toEqual({ file_path: FILE, ...NOTHING });
  await service.http.get('/repos/files%2Fnowhere').expect(404);
});

test('failures come first, each with its reason and category; of each the newest come first', async () => {
  const ids = await tried(
    { goal: 'A lock', failed: { reason: 'Two servers', category: 'race_condition' }, summary: 'No use' },
    { goal: 'A key' },
    { goal: 'A queue', failed: { category: 'test_failure' }, summary: 'Too slow' },
    { goal: 'A log' },
  );
  const { memories, total, failed } = await narratives.check({ file_path: FILE, limit: 20 });
  expect(memories.map(({ memory_id }) => memory_id)).toEqual([ids[2], ids[0], ids[3], ids[1]]);
  expect({ total, failed }).toEqual({ total: 4, failed: 2 });
  expect(memories[1]).toEqual({
    memory_id: ids[0],
    agent_id: agentId,
    created_at: service.clock.now() - 4 * MINUTE_MS,
    age: 'just now',
    goal: 'A lock',
    success: false,
    summary: 'No use',
    failure_reason: 'Two servers',
    failure_category: 'race_condition',
    operation: 'edit',
  });
  expect(memories[0]).toMatchObject({ failure_reason: null, failure_category: 'test_failure' });
  expect(memories[2]).toMatchObject({ success: true, failure_reason: null, failure_category: null });
});

test('at most three are shown unless the limit says otherwise; all are counted', async () => {
  await tried(...times(5, () => ({})));
  expect(await shown()).toHaveLength(3);
  expect(await shown({ limit: 1 })).toHaveLength(1);
  expect(await shown({ limit: 20 })).toHaveLength(5);
  expect((await narratives.check({ file_path: FILE, limit: 1 })).total).toBe(5);
});

test('of very many the twenty newest failures and the twenty newest others are looked at: no success hides a failure', async () => {
  const ids = await tried({ failed: {} }, ...times(21, () => ({})));
  const { total, failed, memories } = await narratives.check({ file_path: FILE, limit: 20 });
  expect({ total, failed }).toEqual({ total: 21, failed: 1 });
  expect(memories.map(({ memory_id }) => memory_id)).toEqual([ids[0], ...ids.slice(3).reverse()]);
});

test('of very many failures the twenty newest are looked at', async () => {
  const ids = await tried(...times(21, () => ({ failed: {} })));
  const { total, failed, memories } = await narratives.check({ file_path: FILE, limit: 20 });
  expect({ total, failed }).toEqual({ total: 20, failed: 20 });
  expect(memories.map(({ memory_id }) => memory_id)).toEqual(ids.slice(1).reverse());
});

describe('what is too old', () => {
  test('is not told: thirty days unless it is said', async () => {
    const [id] = await tried({});
    service.clock.advance(30 * DAY_MS - MINUTE_MS);
    expect(await shown()).toEqual([id]);
    service.clock.advance(1);
    expect(await narratives.check({ file_path: FILE })).toEqual({ file_path: FILE, ...NOTHING });
    expect(await shown({ max_age_days: 31 })).toEqual([id]);
  });

  test('is a reason for a warning still', async () => {
    await tried({ goal: 'Add a lock', failed: {} });
    service.clock.advance(2 * DAY_MS);
    const { warning, total, memories } = await narratives.check({
      file_path: FILE,
      action: 'Add a lock',
      max_age_days: 1,
    });
    expect(warning?.memory.goal).toBe('Add a lock');
    expect({ total, memories }).toEqual({ total: 0, memories: [] });
  });
});

test.each([
  [0, 'just now'],
  [HOUR_MS, 'just now'],
  [HOUR_MS + 1, '1 hour ago'],
  [2 * HOUR_MS, '2 hours ago'],
  [DAY_MS - 1, '23 hours ago'],
  [DAY_MS, 'yesterday'],
  [2 * DAY_MS - 1, 'yesterday'],
  [2 * DAY_MS, '2 days ago'],
  [7 * DAY_MS - 1, '6 days ago'],
  [7 * DAY_MS, '1 week ago'],
  [20 * DAY_MS, '2 weeks ago'],
])('what is %d ms old was %s', async (ageMs, age) => {
  await episodes.store(agentId, told({ files: [FILE] }));
  service.clock.advance(ageMs);
  expect((await narratives.check({ file_path: FILE })).memories[0]?.age).toBe(age);
});

test('fewer than min_memories are not told, but counted', async () => {
  await tried({}, { failed: {} });
  expect(await narratives.check({ file_path: FILE, min_memories: 3 })).toMatchObject({
    notification: null,
    memories: [],
    total: 2,
    failed: 1,
    silent_because: null,
  });
  expect(await shown({ min_memories: 2 })).toHaveLength(2);
});

test('include_failures: false leaves failures out of what is told and counted', async () => {
  const [, fine] = await tried({ failed: {} }, {});
  const { total, failed, memories, notification } = await narratives.check({
    file_path: FILE,
    include_failures: false,
  });
  expect({ total, failed }).toEqual({ total: 1, failed: 0 });
  expect(memories.map(({ memory_id }) => memory_id)).toEqual([fine]);
  expect(notification).toBe('There is 1 memory about charge.ts.');
  expect(await shown({ include_failures: false, min_memories: 2 })).toEqual([]);
});

test('what was put away or removed is not told', async () => {
  const [first, second, third] = (await tried({}, {}, {})) as [string, string, string];
  await episodes.remove(first);
  await episodes.remove(second, { permanent: true });
  expect(await shown()).toEqual([third]);
});

describe('the message', () => {
  const message = async (fields: object = {}) =>
    (await narratives.check({ file_path: FILE, ...fields })).notification as string;

  test.each<[string, Told[], string]>([
    ['of one', [{}], 'There is 1 memory about charge.ts.'],
    ['of many', [{}, {}], 'There are 2 memories about charge.ts.'],
    ['of failures', [{}, { failed: {} }, { failed: {} }], 'There are 3 memories about charge.ts, 2 of them failed.'],
  ])('%s', async (_, all, expected) => {
    await tried(...all);
    expect(await message()).toBe(expected);
  });

  test('counts all, not only those that are shown', async () => {
    await tried(...times(6, () => ({})));
    expect(await message({ limit: 1 })).toContain('6 memories');
  });

  test.each([
    ['charge.ts', 'charge.ts'],
    ['/home/me/shop/src/payment/charge.ts', 'charge.ts'],
    ['C:\\shop\\src\\payment\\charge.ts', 'charge.ts'],
    ['src\\payment\\charge.ts', 'charge.ts'],
  ])('about %j names the file', async (file_path, name) => {
    await tried({});
    expect(await message({ file_path })).toBe(`There is 1 memory about ${name}.`);
  });

  test('about a path that ends in a slash still names something', async () => {
    await tried({});
    expect(await message({ file_path: `${FILE}/` })).toMatch(/about \S*charge\.ts\S*\.$/);
  });
});

describe('a path', () => {
  test.each([
    ['itself', FILE, FILE],
    ['absolute, of what was stored relative', FILE, `/home/me/shop/${FILE}`],
    ['relative, of what was stored absolute', `/home/me/shop/${FILE}`, FILE],
    ['of Windows, of what was stored relative', FILE, 'C:\\shop\\src\\payment\\charge.ts'],
    ['relative, of what was stored on Windows', 'C:\\shop\\src\\payment\\charge.ts', FILE],
    ['with dots and double slashes', './src//payment/./charge.ts', FILE],
    ['its name alone', FILE, 'charge.ts'],
  ])('%s finds it', async (_, storedAs, askedAs) => {
    const [id] = await tried({ files: [storedAs] });
    expect(await shown({ file_path: askedAs })).toEqual([id]);
  });

  test.each(['rge.ts', 'src/other/charge.ts', 'CHARGE.TS', '%', 'src/payment', 'src/payment/charge_ts'])(
    '%j is another file',
    async (file_path) => {
      await tried({});
      expect(await shown({ file_path })).toEqual([]);
    },
  );

  test.each(['/', './', '  ', '\\'])('%j names no file', async (file_path) => {
    const refusal = await refused(
      service,
      '/files/check',
      { project_id: narratives.repoId, file_path },
      narratives.repoId,
    );
    expect(refusal).toMatchObject({ status: 422, errors: [['file_path', 'semantic_error']] });
  });

  test('read but not changed is told as such', async () => {
    await episodes.store(agentId, {
      perception: { relevant_files: [{ path: FILE, relevance: 'main', state_summary: 'fine' }] },
    });
    expect((await narratives.check({ file_path: FILE })).memories).toMatchObject([{ operation: 'relevant' }]);
  });
});

test.each([
  {},
  { file_path: '' },
  { file_path: 7 },
  { file_path: FILE, limit: 0 },
  { file_path: FILE, limit: 21 },
  { file_path: FILE, min_memories: 0 },
  { file_path: FILE, max_age_days: 0 },
  { file_path: FILE, cooldown_seconds: -1 },
  { file_path: FILE, cooldown_seconds: 86_401 },
  { file_path: FILE, action: '' },
  { file_path: FILE, include_failures: 'no' },
  { file_path: FILE, unknown: 1 },
])('%j is refused', async (fields) => {
  await narratives.postCheck(fields).expect(400);
});

test('asking changes nothing in the store, and is no look at what it tells', async () => {
  await tried({ goal: 'Add a lock', failed: {} }, {});
  const before = stored(service, narratives.repoId);
  await narratives.check({ file_path: FILE, action: 'Add a lock' });
  await narratives.postCheck({ file_path: FILE, agent_id: agentId }).expect(200);
  expect((await episodes.listed({ depth: 'complete' })).map(({ access_count }) => access_count)).toEqual([0, 0]);
  expect(stored(service, narratives.repoId)).toEqual(before);
});
