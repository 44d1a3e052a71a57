import SqliteDatabase, { type Database } from 'better-sqlite3';
import { StoreUnavailable } from '../port.js';
import { createPrivateFile } from './connection.js';

/**
 * Holds a store for one process. An open write transaction on a file of its own is a lock that the operating system gives back
 * when the process dies, however it dies, so there are no stale locks to clear.
 */
export class StoreLock {
  readonly #db: Database;

  constructor(file: string, store: string) {
    createPrivateFile(file);
    this.#db = new SqliteDatabase(file, { timeout: 0 });
    try {
      this.#db.exec('BEGIN EXCLUSIVE');
    } catch (error) {
      this.#db.close();
      // Anything else is no sign of another process: the file or the disk is at fault.
      if (!isHeldElsewhere(error)) throw error;
      throw new StoreUnavailable(
        'locked',
        `another process already serves ${store}; stop it, or set RLM_MEMORY_DB to another file`,
      );
    }
  }

  release(): void {
    if (this.#db.open) this.#db.close();
  }
}

const isHeldElsewhere = (error: unknown): boolean =>
  error instanceof SqliteDatabase.SqliteError && error.code.startsWith('SQLITE_BUSY');
