import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import SqliteDatabase, { type Database } from 'better-sqlite3';
import { readMigrationFiles } from 'drizzle-orm/migrator';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { GLOBAL_SPACE, viewOf } from '../../src/domain/spaces.js';
import { StoreUnavailable } from '../../src/storage/port.js';
import { Connection } from '../../src/storage/sqlite/connection.js';
import { temporaryDirectory } from '../support/directories.js';
import { idOf, insert, planOf, REPO } from '../support/plans.js';
import { connectDirectly, openSqliteStore, repoFileOf } from '../support/sqlite.js';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const MIGRATIONS = readMigrationFiles({ migrationsFolder: `${ROOT}drizzle/sqlite` });

let directory: ReturnType<typeof temporaryDirectory>;
let file: string;
beforeEach(() => {
  directory = temporaryDirectory();
  file = directory.path('memory.db');
});
afterEach(() => directory.remove());

/** All files below a folder with their contents. */
const contentsOf = (folder: string): Record<string, string> =>
  Object.fromEntries(
    readdirSync(folder, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => [entry.name, readFileSync(`${entry.parentPath}/${entry.name}`, 'utf8')]),
  );

describe('the migrations', () => {
  /** Runs the generator on a copy of the migrations, so that the repository is never changed. */
  const generate = (schemaFile: string): { before: object; after: object } => {
    const copy = directory.path('drizzle');
    cpSync(`${ROOT}drizzle/sqlite`, copy, { recursive: true });
    const before = contentsOf(copy);
    const options = ['--dialect', 'sqlite', '--schema', schemaFile, '--out', './drizzle'];
    execFileSync(process.execPath, [`${ROOT}node_modules/drizzle-kit/bin.cjs`, 'generate', ...options], {
      cwd: directory.path(),
      stdio: 'pipe',
    });
    return { before, after: contentsOf(copy) };
  };

  test('are all there: the schema would generate no new one', () => {
    const { before, after } = generate(`${ROOT}src/storage/sqlite/schema.ts`);
    expect(Object.keys(before).length).toBeGreaterThan(2);
    expect(after).toEqual(before);
  });

  test('would not be all there for a schema with one table more', () => {
    const schemaFile = directory.path('schema.ts');
    writeFileSync(
      schemaFile,
      `export * from '${ROOT}src/storage/sqlite/schema.ts';
       import { integer, sqliteTable } from '${ROOT}node_modules/drizzle-orm/sqlite-core/index.js';
       export const extra = sqliteTable('extra', { seq: integer().primaryKey() });`,
    );
    const { before, after } = generate(schemaFile);
    expect(Object.keys(after).length).toBeGreaterThan(Object.keys(before).length);
  });
});

const schemaOf = (db: Database): unknown =>
  db.prepare('SELECT type, name, sql FROM sqlite_master ORDER BY type, name').all();
const appliedIn = (db: Database): unknown => db.prepare('SELECT * FROM __drizzle_migrations ORDER BY id').all();

function read<Result>(path: string, look: (db: Database) => Result): Result {
  const db = connectDirectly(path);
  try {
    return look(db);
  } finally {
    db.close();
  }
}

/** Writes a file as an older version of the service left it: with the first migrations only, and what was done to it then. */
function writeOldFile(path: string, migrations = 1, fill: (db: Database) => void = () => {}): void {
  mkdirSync(dirname(path), { recursive: true });
  const db = new SqliteDatabase(path);
  db.exec('CREATE TABLE __drizzle_migrations (id INTEGER PRIMARY KEY, hash text NOT NULL, created_at numeric)');
  const note = db.prepare('INSERT INTO __drizzle_migrations (hash, created_at) VALUES (?, ?)');
  for (const { sql, hash, folderMillis } of MIGRATIONS.slice(0, migrations)) {
    for (const statement of sql) db.exec(statement);
    note.run(hash, folderMillis);
  }
  fill(db);
  db.close();
}

/** Notes a migration that this version does not know. */
function noteFuture(path: string): void {
  const db = new SqliteDatabase(path);
  db.prepare('INSERT INTO __drizzle_migrations (hash, created_at) VALUES (?, ?)').run('future', 9e15);
  db.close();
}

describe('a space file', () => {
  test('is brought to the present schema when it is opened, the main file and every repo', async () => {
    writeOldFile(file);
    writeOldFile(repoFileOf(file));
    const store = openSqliteStore(file);
    await store.apply(planOf(insert(idOf(1))));
    expect(await store.getMemories(viewOf(REPO), [idOf(1)])).toHaveLength(1);
    await store.close();

    new Connection(directory.path('new.db')).close();
    const fresh = read(directory.path('new.db'), schemaOf);
    for (const path of [file, repoFileOf(file)]) {
      expect(read(path, schemaOf)).toEqual(fresh);
      expect(read(path, appliedIn)).toMatchObject(
        MIGRATIONS.map(({ hash, folderMillis }) => ({ hash, created_at: folderMillis })),
      );
    }
  });

  test('that is up to date is not changed by opening it again', async () => {
    const open = () => new Connection(file).close();
    open();
    const look = (db: Database) => [schemaOf(db), appliedIn(db), db.pragma('schema_version')];
    const before = read(file, look);
    const bytes = readFileSync(file);
    open();
    expect(read(file, look)).toEqual(before);
    expect(readFileSync(file)).toEqual(bytes);
  });

  test('that counted concepts by their kinds counts them together, and keeps its sums', () => {
    const insertNode = `INSERT INTO nodes (id, form, kind, type, repo_id, scope, tier, archived_at, terms, created_at, updated_at, content, search_terms)
      VALUES (?, ?, ?, 'fact', 'r', 'repo', ?, ?, 3, 0, 0, '', '')`;
    writeOldFile(file, 5, (db) => {
      const rows = [
        ['a', 'concept', 'x', 'task'],
        ['b', 'concept', 'y', 'task'],
        ['c', 'concept', null, 'task'],
        ['d', 'concept', 'y', 'archive'],
        ['e', 'memory', 'fact', 'task'],
        ['f', 'concept', 'gone', 'session'],
      ] as const;
      for (const row of rows) db.prepare(insertNode).run(...row, row[3] === 'archive' ? 0 : null);
      db.exec("DELETE FROM nodes WHERE id = 'f'");
    });
    const counts = () =>
      read(file, (db) => db.prepare('SELECT * FROM node_counts ORDER BY form, kind, tier').raw().all());
    expect(counts()).toHaveLength(6);
    const connection = new Connection(file);
    expect(counts()).toEqual([
      ['concept', '', 'archive', 1, 3],
      ['concept', '', 'task', 3, 9],
      ['memory', 'fact', 'task', 1, 3],
    ]);
    connection.run("UPDATE nodes SET kind = 'z', terms = 5 WHERE id = 'a'");
    connection.run("DELETE FROM nodes WHERE id = 'd'");
    connection.run(insertNode, 'g', 'concept', 'w', 'task', null);
    expect(counts()).toEqual([
      ['concept', '', 'task', 4, 14],
      ['memory', 'fact', 'task', 1, 3],
    ]);
    connection.close();
  });

  test('whose migration fails is left as it was', () => {
    writeOldFile(file);
    // A table in the way of one that a later migration creates.
    read(file, (db) => db.exec('CREATE TABLE node_search (x)'));
    const before = read(file, schemaOf);
    expect(() => new Connection(file)).toThrow(/node_search/);
    expect(read(file, schemaOf)).toEqual(before);
  });

  test('of a newer version is refused with a message that says so, and the store stays free', async () => {
    new Connection(file).close();
    noteFuture(file);
    for (let attempt = 0; attempt < 2; attempt++) {
      expect(() => openSqliteStore(file)).toThrow(StoreUnavailable);
      expect(() => openSqliteStore(file)).toThrow(/newer version/);
      expect(() => openSqliteStore(file)).toThrow(file);
    }
  });

  test('of a newer version that belongs to one repo does not keep the others from working', async () => {
    const store = openSqliteStore(file);
    await store.apply(planOf(insert(idOf(1))));
    await store.close();
    noteFuture(repoFileOf(file));
    const reopened = openSqliteStore(file);
    await expect(reopened.getMemories(viewOf(REPO), [idOf(1)])).rejects.toMatchObject({ reason: 'newer' });
    await expect(reopened.apply(planOf(insert(idOf(2))))).rejects.toMatchObject({ reason: 'newer' });
    await reopened.apply({ space: 'acme/other', changes: [insert(idOf(3), { repoId: 'acme/other' })] });
    expect(await reopened.countNodes(GLOBAL_SPACE)).toEqual([]);
    await reopened.close();
  });
});

test.each([
  ['journal_mode', 'wal'],
  ['foreign_keys', 1],
  // FULL: an acknowledged write survives a power cut.
  ['synchronous', 2],
  ['busy_timeout', 5_000],
])('an open file has %s = %s', (pragma, value) => {
  const connection = new Connection(file);
  expect(connection.db.pragma(pragma, { simple: true })).toBe(value);
  connection.close();
});
