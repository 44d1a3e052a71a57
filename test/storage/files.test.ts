import { readdirSync } from 'node:fs';
import { dirname } from 'node:path';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { viewOf } from '../../src/domain/spaces.js';
import { StoreUnavailable } from '../../src/storage/port.js';
import { StoreFiles } from '../../src/storage/sqlite/files.js';
import { temporaryDirectory } from '../support/directories.js';
import { idOf, insert, planOf, REPO } from '../support/plans.js';
import { openSqliteStore } from '../support/sqlite.js';

const RUN = { seed: 20_260_101, numRuns: 500 };

let directory: ReturnType<typeof temporaryDirectory>;
beforeEach(() => {
  directory = temporaryDirectory();
});
afterEach(() => directory.remove());

describe('two main files in one directory', () => {
  test.each([
    ['a.db', 'a.sqlite'],
    ['a', 'a.db'],
    ['a.db', 'a.db.db'],
    ['a.b', 'a.c'],
  ])('%s and %s are open at once and share nothing', async (oneName, otherName) => {
    const [one, other] = [openSqliteStore(directory.path(oneName)), openSqliteStore(directory.path(otherName))];
    await one.apply(planOf(insert(idOf(1))));
    await other.apply(planOf(insert(idOf(2))));
    const idsIn = async (store: typeof one) =>
      (await store.getMemories(viewOf(REPO), [idOf(1), idOf(2)])).map(({ id }) => id);
    expect([await idsIn(one), await idsIn(other)]).toEqual([[idOf(1)], [idOf(2)]]);
    await one.close();
    await other.close();
  });
});

test('no two stores have a path in common, whatever their main files are called', () => {
  /** Everything that a store writes to; null for a name that is refused. */
  const pathsOf = (name: string): string[] | null => {
    try {
      const files = new StoreFiles(directory.path(name));
      const ofEngine = ['', '-wal', '-shm', '-journal'].flatMap((ending) => [files.main + ending, files.lock + ending]);
      return [...ofEngine, dirname(files.repo(REPO))];
    } catch {
      return null;
    }
  };
  const ending = fc.constantFrom('.db', '.sqlite', '.lock', '.LOCK', '.repos', '-wal', '-shm', '-journal', '.');
  const name = fc
    .tuple(fc.constantFrom('a', 'b', '.a'), fc.array(ending, { maxLength: 3 }))
    .map(([stem, endings]) => stem + endings.join(''));
  fc.assert(
    fc.property(name, name, (oneName, otherName) => {
      fc.pre(oneName !== otherName);
      const [one, other] = [pathsOf(oneName), pathsOf(otherName)];
      expect(one?.filter((path) => other?.includes(path)) ?? []).toEqual([]);
    }),
    RUN,
  );
});

test.each(['x.lock', 'X.LOCK', 'a.db.lock', 'a.db.repos', 'a.db-wal', 'a.db-shm', 'a.db-journal'])(
  'a main file called %s, as what lies beside another is, is refused with what to do, and nothing is made',
  (name) => {
    const file = directory.path(name);
    expect(() => openSqliteStore(file)).toThrow(StoreUnavailable);
    expect(() => openSqliteStore(file)).toThrow(
      expect.objectContaining({ reason: 'unusable', message: expect.stringMatching(/set RLM_MEMORY_DB to/) }),
    );
    expect(() => openSqliteStore(file)).toThrow(file);
    expect(readdirSync(directory.path())).toEqual([]);
  },
);

test('what lies beside the main file bears its whole name', async () => {
  const store = openSqliteStore(directory.path('memory.db'));
  await store.apply(planOf(insert(idOf(1))));
  await store.close();
  expect(readdirSync(directory.path()).sort()).toEqual(['memory.db', 'memory.db.lock', 'memory.db.repos']);
});
