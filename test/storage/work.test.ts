import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import type { InsertEdge } from '../../src/domain/changes.js';
import { viewOf } from '../../src/domain/spaces.js';
import type { Context } from '../../src/services/context.js';
import { stepsFrom } from '../../src/services/graph.js';
import { Connection } from '../../src/storage/sqlite/connection.js';
import { EDGES_AROUND, EDGES_BY_SEQ } from '../../src/storage/sqlite/edges.js';
import { BEST_FITTING } from '../../src/storage/sqlite/search.js';
import type { SqliteStore } from '../../src/storage/sqlite/store.js';
import { temporaryDirectory } from '../support/directories.js';
import { concept, idOf, planOf, REPO, START_MS } from '../support/plans.js';
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

describe('looking around many nodes of a dense graph', () => {
  const ids = Array.from({ length: 100 }, (_, number) => idOf(number));
  const edge = (number: number, weight: number, among: readonly string[]): InsertEdge => ({
    change: 'insert_edge',
    id: idOf(1_000 + number),
    repoId: REPO,
    type: 'relation',
    label: `way ${number}`,
    weight,
    origin: 'manual',
    rationale: null,
    members: among.map((nodeId, position) => ({ nodeId, role: 'participant', position })),
    atMs: START_MS,
  });
  const ANY_WAY = { types: null, label: null, perNode: 1_000 };
  const VIEW = viewOf(REPO, { includeGlobal: false });

  test('asks for a few nodes and edges at a time, and others have their turn in between', async () => {
    const edges = ids.map((id, number) => edge(number, 1, [id, ids[(number + 1) % ids.length] as string]));
    await store.apply(planOf(...ids.map((id) => concept(id)), ...edges));
    const spies = [vi.spyOn(Connection.prototype, 'all'), vi.spyOn(Connection.prototype, 'rows')];
    let turns = 0;
    let isOver = false;
    const count = (): void => {
      turns++;
      if (!isOver) setImmediate(count);
    };
    setImmediate(count);
    const { found, isComplete } = await store.findEdgesAround(VIEW, ids, ANY_WAY);
    isOver = true;
    const calls = spies.flatMap(({ mock }) => mock.calls);
    for (const spy of spies) spy.mockRestore();
    expect([found.length, isComplete]).toEqual([100, true]);
    const asked = calls.flatMap(([sql, given]) =>
      sql === EDGES_AROUND ? [JSON.parse((given as { seqs: string }).seqs).length] : [],
    );
    const read = calls.flatMap(([sql, given]) => (sql === EDGES_BY_SEQ ? [JSON.parse(given as string).length] : []));
    expect([asked, read]).toEqual([
      [25, 25, 25, 25],
      [25, 25, 25, 25],
    ]);
    expect(turns).toBeGreaterThanOrEqual(6);
  });

  test('takes the strongest edge of each node before the second of any, and never more than an answer can use', async () => {
    const strong = ids.map((id, number) => edge(number, 2, [id, ids[(number + 50) % ids.length] as string]));
    const large = Array.from({ length: 250 }, (_, number) => edge(500 + number, 1, ids));
    await store.apply(planOf(...ids.map((id) => concept(id)), ...strong.slice(0, 50), ...large));
    const { found, isComplete } = await store.findEdgesAround(VIEW, ids, ANY_WAY);
    expect(new Set(found.slice(0, 50).map(({ weight }) => weight))).toEqual(new Set([2]));
    const members = found.reduce((sum, each) => sum + each.members.length, 0);
    expect(members).toBeGreaterThanOrEqual(20_000);
    expect(members).toBeLessThan(20_000 + 25 * 100);
    expect(isComplete).toBe(false);
  });

  test('goes over a large edge to each of its members once, however many of them are left behind', async () => {
    await store.apply(planOf(...ids.map((id) => concept(id)), edge(1, 1, ids)));
    const { found } = await stepsFrom({ store } as unknown as Context, VIEW, ids, {
      types: null,
      label: null,
      direction: 'both',
    });
    expect(found.map(({ toId }) => toId).sort()).toEqual([...ids].sort());
  });
});
