import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { viewOf } from '../../src/domain/spaces.js';
import { Connection } from '../../src/storage/sqlite/connection.js';
import { BEST_FITTING } from '../../src/storage/sqlite/search.js';
import type { SqliteStore } from '../../src/storage/sqlite/store.js';
import { temporaryDirectory } from '../support/directories.js';
import { concept, idOf, planOf, REPO } from '../support/plans.js';
import { openSqliteStore } from '../support/sqlite.js';
import { ANYWHERE, EVERYTHING } from './conformance/subject.js';

let directory: ReturnType<typeof temporaryDirectory>;
let store: SqliteStore;
beforeEach(() => {
  directory = temporaryDirectory();
  store = openSqliteStore(directory.path('memory.db'));
});
afterEach(async () => {
  await store.close();
  directory.remove();
});

test('a search that nothing fits weighs its matches once, and no more than a bounded number of them', async () => {
  const nodes = Array.from({ length: 500 }, (_, number) => concept(idOf(number), { content: 'redis' }));
  await store.apply(planOf(...nodes));
  const spy = vi.spyOn(Connection.prototype, 'rows');
  const found = await store.searchNodes(
    viewOf(REPO, { includeGlobal: false }),
    { match: 'any', terms: ['redi'] },
    { ...ANYWHERE, kind: 'unheard' },
    5,
  );
  const weighed = spy.mock.calls.filter(([sql]) => /bm25/.test(sql));
  spy.mockRestore();
  expect(found).toEqual([]);
  expect(weighed).toHaveLength(1);
  expect(BEST_FITTING).toMatch(/ORDER BY rowid DESC LIMIT 20000\) AS s/);
});

test('a list reads the contents of those on its page and of nobody else', async () => {
  const tiers = ['task', 'session', 'longterm'] as const;
  const types = ['fact', 'entity', 'snippet'] as const;
  let number = 0;
  const nodes = tiers.flatMap((tier) =>
    types.flatMap((type) => [1, 2, 3].map(() => concept(idOf(++number), { tier, type, tags: ['t'], taskId: 'x' }))),
  );
  await store.apply(planOf(...nodes));
  for (const by of [{}, { tag: 't' }, { taskId: 'x' }]) {
    const spies = [vi.spyOn(Connection.prototype, 'all'), vi.spyOn(Connection.prototype, 'rows')];
    expect(await store.listNodes(REPO, { ...EVERYTHING, ...by }, null, 2)).toHaveLength(2);
    const calls = spies.flatMap(({ mock }) => mock.calls.map(([sql], index) => [sql, mock.results[index]?.value]));
    for (const spy of spies) spy.mockRestore();
    const read = calls.filter(([sql]) => /n\.content/.test(sql)).flatMap(([, rows]) => rows);
    expect(read).toHaveLength(2);
  }
});
