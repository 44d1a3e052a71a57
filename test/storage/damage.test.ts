import { closeSync, mkdirSync, openSync, rmSync, writeFileSync, writeSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import SqliteDatabase from 'better-sqlite3';
import { readMigrationFiles } from 'drizzle-orm/migrator';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { GLOBAL_SPACE, viewOf } from '../../src/domain/spaces.js';
import type { SqliteStore } from '../../src/storage/sqlite/store.js';
import { temporaryDirectory } from '../support/directories.js';
import {
  digestOf,
  globalPlanOf,
  idOf,
  insert,
  insertGlobal,
  OTHER_REPO,
  planIn,
  planOf,
  REPO,
} from '../support/plans.js';
import { connectDirectly, openSqliteStore, repoFileOf } from '../support/sqlite.js';

const VIEW = viewOf(REPO);
const MIGRATIONS = fileURLToPath(new URL('../../drizzle/sqlite', import.meta.url));
const MANY = 100;
const LABELS = ['related_to'];

let directory: ReturnType<typeof temporaryDirectory>;
let file: string;
let store: SqliteStore;

beforeEach(async () => {
  directory = temporaryDirectory();
  file = directory.path('memory.db');
  store = openSqliteStore(file);
  await store.apply(globalPlanOf(insertGlobal(idOf(9))));
  for (const repoId of [REPO, OTHER_REPO]) await store.apply(planIn(repoId, insert(idOf(1), { repoId })));
  await store.close();
});
afterEach(async () => {
  await store.close();
  directory.remove();
});

/** Overwrites the first page of each of the tables, and leaves the rest of the file whole. */
function damageTables(path: string, ...tables: string[]): void {
  const db = connectDirectly(path);
  const pageSize = db.pragma('page_size', { simple: true }) as number;
  const rootOf = db.prepare<[string], number>('SELECT rootpage FROM sqlite_master WHERE name = ?').pluck();
  const roots = tables.map((table) => rootOf.get(table) as number);
  db.close();
  const descriptor = openSync(path, 'r+');
  for (const root of roots) writeSync(descriptor, Buffer.alloc(pageSize, 0xff), 0, pageSize, (root - 1) * pageSize);
  closeSync(descriptor);
}

const overwrite = (path: string) => writeFileSync(path, 'not a database, but long enough for one. '.repeat(1_000));

const becomeDirectory = (path: string) => {
  rmSync(path);
  mkdirSync(path);
};

/** Every question there is about a repo. */
const READS: [string, (store: SqliteStore) => Promise<unknown>][] = [
  ['getMemories', (store) => store.getMemories(VIEW, [idOf(1)])],
  ['getBriefs', (store) => store.getBriefs(VIEW, [idOf(1)])],
  ['findSameText', (store) => store.findSameText(REPO, 'fact', digestOf('x'))],
  ['countTerms', (store) => store.countTerms(VIEW, ['number'])],
  ['searchTerms', (store) => store.searchTerms(VIEW, { any: ['number'], also: [] }, MANY)],
  ['findEdges', (store) => store.findEdges(VIEW, [idOf(1)], LABELS, MANY)],
  ['findNeighbours', (store) => store.findNeighbours(VIEW, [idOf(1)], LABELS, MANY)],
  ['findEdgesByKey', (store) => store.findEdgesByKey(VIEW, ['key'])],
  ['findReplacements', (store) => store.findReplacements(VIEW, [idOf(1)], MANY)],
  ['findHistory', (store) => store.findHistory(VIEW, [idOf(1)], MANY)],
  ['sumVotes', (store) => store.sumVotes(VIEW, [idOf(1)])],
  ['findVotes', (store) => store.findVotes(VIEW, idOf(1), MANY)],
  ['findEvidence', (store) => store.findEvidence(VIEW, idOf(1), MANY)],
  ['findAttached', (store) => store.findAttached(VIEW, idOf(1), ['ref'])],
  ['findReply', (store) => store.findReply(REPO, 'key-1', 0)],
  ['countNodes', (store) => store.countNodes(REPO)],
];

describe('a repo whose file is overwritten', () => {
  beforeEach(() => {
    overwrite(repoFileOf(file));
    store = openSqliteStore(file);
  });

  const refusal = {
    name: 'StoreUnavailable',
    reason: 'unusable',
    message: 'the file of repo acme/shop is damaged; restore it from a backup',
  };

  test.each(READS)('answers %s with what is wrong', async (_, read) => {
    await expect(read(store)).rejects.toMatchObject(refusal);
  });

  test('answers a write with what is wrong', async () => {
    await expect(store.apply(planOf(insert(idOf(2))))).rejects.toMatchObject(refusal);
  });

  test('keeps the words of the engine for the log', async () => {
    await expect(store.countNodes(REPO)).rejects.toMatchObject({ cause: { code: 'SQLITE_NOTADB' } });
  });

  test('leaves the other repos and the global space alone', async () => {
    await expect(store.countNodes(REPO)).rejects.toMatchObject(refusal);
    await store.apply(planIn(OTHER_REPO, insert(idOf(2), { repoId: OTHER_REPO })));
    await store.apply(globalPlanOf(insertGlobal(idOf(10))));
    expect(await store.getMemories(viewOf(OTHER_REPO), [1, 2, 9, 10].map(idOf))).toHaveLength(4);
    await store.check();
  });

  test('can be dropped, and begun anew', async () => {
    await expect(store.countNodes(REPO)).rejects.toMatchObject(refusal);
    expect(await store.dropRepo(REPO)).toBe(true);
    await store.apply(planOf(insert(idOf(2))));
    expect(await store.getMemories(VIEW, [idOf(2)])).toHaveLength(1);
  });
});

describe('a repo file that can be opened and not read', () => {
  test('because a page in it is broken is said to be damaged', async () => {
    damageTables(repoFileOf(file), 'nodes');
    store = openSqliteStore(file);
    await expect(store.getMemories(VIEW, [idOf(1)])).rejects.toMatchObject({
      name: 'StoreUnavailable',
      reason: 'unusable',
      message: 'the file of repo acme/shop is damaged; restore it from a backup',
    });
  });
});

describe('a repo file that cannot be opened', () => {
  test('because it is a directory is said to be out of reach', async () => {
    becomeDirectory(repoFileOf(file));
    store = openSqliteStore(file);
    const refusal = {
      name: 'StoreUnavailable',
      reason: 'unusable',
      message: 'the file of repo acme/shop cannot be read or written; look at the disk and at the rights to the file',
    };
    await expect(store.getMemories(VIEW, [idOf(1)])).rejects.toMatchObject(refusal);
    await expect(store.apply(planOf(insert(idOf(2))))).rejects.toMatchObject(refusal);
    await expect(store.dropRepo(REPO)).rejects.toMatchObject(refusal);
  });

  test('because a file is where its directory should be is said to be out of reach, by no path', async () => {
    const fresh = directory.path('fresh.db');
    writeFileSync(`${fresh}.repos`, '');
    store = openSqliteStore(fresh);
    await expect(store.apply(planOf(insert(idOf(1))))).rejects.toMatchObject({
      name: 'StoreUnavailable',
      reason: 'unusable',
      message: expect.not.stringContaining(directory.path()),
    });
  });

  test('because a newer version wrote it is named by its repo, not by its path', async () => {
    noteFuture(repoFileOf(file));
    store = openSqliteStore(file);
    await expect(store.countNodes(REPO)).rejects.toMatchObject({
      reason: 'newer',
      message: expect.stringMatching(/^the file of repo acme\/shop was written by a newer version/),
    });
  });
});

/** Notes a migration that this version does not know. */
function noteFuture(path: string): void {
  const db = connectDirectly(path);
  db.prepare('INSERT INTO __drizzle_migrations (hash, created_at) VALUES (?, ?)').run('future', 9e15);
  db.close();
}

/** Takes a file's schema away under it, as if another program's database lay in its place. */
function becomeForeign(path: string): void {
  rmSync(path);
  const db = new SqliteDatabase(path);
  db.exec('CREATE TABLE nodes (something_else)');
  db.close();
}

/** Leaves a file of an older version in its place, with a memory that belongs to no node. */
function becomeOldAndBroken(path: string): void {
  rmSync(path);
  const db = new SqliteDatabase(path);
  const [first] = readMigrationFiles({ migrationsFolder: MIGRATIONS });
  for (const statement of first?.sql ?? []) db.exec(statement);
  db.exec('CREATE TABLE __drizzle_migrations (id INTEGER PRIMARY KEY, hash text NOT NULL, created_at numeric)');
  db.prepare('INSERT INTO __drizzle_migrations (hash, created_at) VALUES (?, ?)').run(first?.hash, first?.folderMillis);
  db.pragma('foreign_keys = OFF');
  db.exec("INSERT INTO memories (node_seq, kind, text_digest) VALUES (7, 'fact', 'x')");
  db.close();
}

test('a main file that cannot be read is named as what it is', async () => {
  damageTables(file, 'repos', 'sqlite_autoindex_repos_1');
  store = openSqliteStore(file);
  await expect(store.listRepos(null, MANY)).rejects.toMatchObject({
    name: 'StoreUnavailable',
    reason: 'unusable',
    message: 'the main file is damaged; restore it from a backup',
  });
});

describe('the list of repos', () => {
  test.each<[string, (path: string) => void]>([
    ['is overwritten', overwrite],
    ['has a broken page', (path) => damageTables(path, 'node_counts')],
    ['is a directory', becomeDirectory],
    ['is of a newer version', noteFuture],
    ['is the database of another program', becomeForeign],
    ['is old and has references that lead nowhere', becomeOldAndBroken],
  ])('has all of them when the file of one %s, and marks that one', async (_, damage) => {
    damage(repoFileOf(file));
    store = openSqliteStore(file);
    const counts = [{ form: 'memory', kind: 'fact', tier: 'longterm', nodes: 1 }];
    expect(await store.listRepos(null, MANY)).toMatchObject([
      { repoId: REPO, damaged: true, counts: [] },
      { repoId: OTHER_REPO, damaged: false, counts },
    ]);
    expect(await store.countNodes(GLOBAL_SPACE)).toEqual(counts);
  });

  test('marks none when all can be read, nor one whose file is not there yet', async () => {
    rmSync(repoFileOf(file, OTHER_REPO));
    store = openSqliteStore(file);
    expect((await store.listRepos(null, MANY)).map(({ damaged }) => damaged)).toEqual([false, false]);
  });

  test('fails as a whole, and marks none, when the store is closed meanwhile', async () => {
    store = openSqliteStore(file);
    const listing = store.listRepos(null, MANY);
    await store.close();
    await expect(listing).rejects.toMatchObject({ reason: 'closed' });
  });
});
