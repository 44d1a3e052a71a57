import SqliteDatabase, { type Database } from 'better-sqlite3';
import { StoreFiles } from '../../src/storage/sqlite/files.js';
import { SqliteStore } from '../../src/storage/sqlite/store.js';
import { REPO, START_MS } from './plans.js';

export const openSqliteStore = (file: string, openSpacesMax = 10): SqliteStore =>
  new SqliteStore({ file, openSpacesMax, now: () => START_MS });

/** Where the store of a main file keeps a repo. */
export const repoFileOf = (mainFile: string, repoId = REPO): string => new StoreFiles(mainFile).repo(repoId);

/** A client that knows nothing of the service, as anybody has it on the command line. */
export const connectDirectly = (file: string): Database => new SqliteDatabase(file, { fileMustExist: true });

/** Every row of every table, in one order: what a client did or did not change. */
export function dumpOf(db: Database): Record<string, unknown[]> {
  const tables = db
    .prepare<[], { name: string }>(
      `SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'node_search%' ORDER BY name`,
    )
    .all();
  return Object.fromEntries(
    tables.map(({ name }) => [name, db.prepare(`SELECT * FROM "${name}" ORDER BY 1, 2`).all()]),
  );
}
