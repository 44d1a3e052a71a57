import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { basename, dirname, resolve } from 'node:path';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { viewOf } from '../../src/domain/spaces.js';
import { fileNameOf } from '../../src/storage/sqlite/files.js';
import type { SqliteStore } from '../../src/storage/sqlite/store.js';
import { temporaryDirectory } from '../support/directories.js';
import { globalPlanOf, idOf, insert, insertGlobal, planIn } from '../support/plans.js';
import { openSqliteStore, repoFileOf } from '../support/sqlite.js';

const RUN = { seed: 20_260_101, numRuns: 300 };

let directory: ReturnType<typeof temporaryDirectory>;
let file: string;
beforeEach(() => {
  directory = temporaryDirectory();
  file = directory.path('memory.db');
});
afterEach(() => directory.remove());

const write = (store: SqliteStore, repoId: string, number = 1): Promise<void> =>
  store.apply(planIn(repoId, insert(idOf(number), { repoId })));

const idsIn = async (store: SqliteStore, repoId: string, numbers: readonly number[]): Promise<string[]> =>
  (await store.getMemories(viewOf(repoId), numbers.map(idOf))).map(({ id }) => id).sort();

const AWKWARD_IDS = [
  '../x',
  '../../etc/passwd',
  '/absolute',
  'a/b',
  'a\\b',
  'CON',
  'nul.txt',
  '.',
  '..',
  'x.',
  ' x',
  'a:b*c?"d"',
  'Shop',
  'shop',
  'SHOP',
  'caf\u00e9',
  'cafe\u0301',
  '🙂'.repeat(200),
  'é'.repeat(200),
  'x'.repeat(200),
];

describe('the name of a repo file', () => {
  test.each(AWKWARD_IDS)('for %j is safe on every file system', (repoId) => {
    expect(fileNameOf(repoId)).toMatch(/^[a-z0-9]([a-z0-9-]*[a-z0-9])?$/);
    expect(fileNameOf(repoId).length).toBeLessThanOrEqual(100);
    expect(dirname(resolve(repoFileOf(file, repoId)))).toBe(directory.path('memory.db.repos'));
  });

  test('differs for ids that differ, also where case does not count', () => {
    const names = AWKWARD_IDS.map((repoId) => fileNameOf(repoId).toLowerCase());
    expect(new Set(names).size).toBe(AWKWARD_IDS.length);
  });

  test('is always safe, always the same, and never that of another id', () => {
    const anyId = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 200 });
    fc.assert(
      fc.property(anyId, anyId, (one, other) => {
        expect(fileNameOf(one)).toMatch(/^[a-z0-9-]{1,100}$/);
        expect(fileNameOf(one)).toBe(fileNameOf(one));
        expect(fileNameOf(one) === fileNameOf(other)).toBe(one === other);
      }),
      RUN,
    );
  });

  test('lets people recognise the repo', () => {
    expect(basename(repoFileOf(file, 'acme/Shop'))).toMatch(/^acme-shop-[0-9a-f]{32}\.db$/);
  });
});

describe('a store', () => {
  test('has a file for each repo, and holds in it what is in that repo only', async () => {
    const store = openSqliteStore(file, 3);
    for (const [number, repoId] of AWKWARD_IDS.entries()) await write(store, repoId, number);
    const numbers = AWKWARD_IDS.map((_, number) => number);
    for (const [number, repoId] of AWKWARD_IDS.entries()) {
      expect(await idsIn(store, repoId, numbers)).toEqual([idOf(number)]);
    }
    await store.close();
    expect(readdirSync(directory.path('memory.db.repos')).sort()).toEqual(
      AWKWARD_IDS.map((repoId) => basename(repoFileOf(file, repoId))).sort(),
    );
    expect(readdirSync(directory.path()).sort()).toEqual(['memory.db', 'memory.db.lock', 'memory.db.repos']);
  });

  test('has no repo directory before there is a repo, and no file of a repo that was only read', async () => {
    const store = openSqliteStore(file);
    await store.apply(globalPlanOf(insertGlobal(idOf(1))));
    await idsIn(store, 'acme/shop', [1]);
    expect(existsSync(directory.path('memory.db.repos'))).toBe(false);
    await store.close();
  });

  test('keeps two main files in one directory apart', async () => {
    const [one, other] = [openSqliteStore(file), openSqliteStore(directory.path('other.db'))];
    await write(one, 'acme/shop', 1);
    await write(other, 'acme/shop', 2);
    expect(await idsIn(one, 'acme/shop', [1, 2])).toEqual([idOf(1)]);
    expect(await idsIn(other, 'acme/shop', [1, 2])).toEqual([idOf(2)]);
    await one.close();
    await other.close();
  });

  test('removes all files of a repo that is dropped, and no other', async () => {
    const store = openSqliteStore(file);
    await write(store, 'acme/shop');
    await write(store, 'acme/till');
    await store.dropRepo('acme/shop');
    const left = readdirSync(directory.path('memory.db.repos'));
    expect(left.every((name) => name.startsWith(basename(repoFileOf(file, 'acme/till'))))).toBe(true);
    expect(left).not.toEqual([]);
    await store.close();
  });
});

describe('a path that cannot hold a store', () => {
  const refusal = (path: string): unknown => {
    try {
      openSqliteStore(path);
    } catch (error) {
      return error;
    }
    return null;
  };

  test.each<[string, () => string]>([
    ['because a file is where a directory should be', () => directory.path('file', 'memory.db')],
    ['because it is a directory', () => directory.path('folder')],
    ['because something else is in the file', () => directory.path('file')],
  ])('%s is refused with a sentence that says so', (_, pathOf) => {
    writeFileSync(directory.path('file'), 'not a database at all, but long enough to be taken for one'.repeat(100));
    mkdirSync(directory.path('folder'));
    expect(refusal(pathOf())).toMatchObject({
      name: 'StoreUnavailable',
      reason: 'unusable',
      message: expect.stringContaining(pathOf()),
    });
    expect(readFileSync(directory.path('file'), 'utf8')).toMatch(/^not a database/);
  });
});

describe('open files', () => {
  const repoIds = Array.from({ length: 12 }, (_, number) => `acme/repo-${number}`);

  test.each([1, 2, 5])('are %i repos at most, and everything stays right', async (openSpacesMax) => {
    const store = openSqliteStore(file, openSpacesMax);
    for (const [number, repoId] of repoIds.entries()) {
      await write(store, repoId, number);
      expect((await store.summarize()).openSpaces).toBeLessThanOrEqual(openSpacesMax + 1);
    }
    // Written all at once, in the order that closes the one needed next.
    await Promise.all(repoIds.map((repoId, number) => write(store, repoId, 100 + number)));
    for (const [number, repoId] of repoIds.entries()) {
      expect(await idsIn(store, repoId, [number, 100 + number])).toEqual([idOf(number), idOf(100 + number)]);
    }
    expect((await store.summarize()).openSpaces).toBe(openSpacesMax + 1);
    await store.close();
  });

  test('the least recently used is closed first', async () => {
    const store = openSqliteStore(file, 2);
    // A file that is closed in order has no log beside it.
    const isOpen = (repoId: string) => existsSync(`${repoFileOf(file, repoId)}-wal`);
    await write(store, 'a');
    await write(store, 'b');
    await idsIn(store, 'a', [1]);
    await write(store, 'c');
    expect(['a', 'b', 'c'].map(isOpen)).toEqual([true, false, true]);
    await idsIn(store, 'b', [1]);
    expect(isOpen('a')).toBe(false);
    await store.close();
  });
});

describe('nobody but the owner', () => {
  const modeOf = (path: string): string => (statSync(path).mode & 0o777).toString(8);
  let umask: number;
  beforeEach(() => {
    // The most careless setting a shell could have.
    umask = process.umask(0);
  });
  afterEach(() => {
    process.umask(umask);
  });

  test('may enter the directories, which are made as far as they are missing', async () => {
    const deep = directory.path('not', 'yet', 'there', 'memory.db');
    const store = openSqliteStore(deep);
    await write(store, 'acme/shop');
    for (const path of ['not', 'not/yet', 'not/yet/there', 'not/yet/there/memory.db.repos'])
      expect(modeOf(directory.path(path)), path).toBe('700');
    await store.close();
  });

  test('may read the files, those beside them and the lock included', async () => {
    const store = openSqliteStore(file);
    await write(store, 'acme/shop');
    await store.apply(globalPlanOf(insertGlobal(idOf(2))));
    const repo = repoFileOf(file, 'acme/shop');
    const paths = [
      file,
      `${file}-wal`,
      `${file}-shm`,
      repo,
      `${repo}-wal`,
      `${repo}-shm`,
      directory.path('memory.db.lock'),
    ];
    expect(paths.map(modeOf)).toEqual(paths.map(() => '600'));
    await store.close();
  });

  test('may read the files in a directory that was there before, though that is left as it was', async () => {
    mkdirSync(directory.path('mine'), { mode: 0o755 });
    const store = openSqliteStore(directory.path('mine', 'memory.db'));
    expect(modeOf(directory.path('mine'))).toBe('755');
    expect(modeOf(directory.path('mine', 'memory.db'))).toBe('600');
    await store.close();
  });
});
