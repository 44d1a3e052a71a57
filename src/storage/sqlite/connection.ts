import { type BigIntStats, chmodSync, closeSync, existsSync, mkdirSync, openSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import SqliteDatabase, { type Database, type Statement } from 'better-sqlite3';
import { migrate } from './migrations.js';

const DIRECTORY_MODE = 0o700;
const FILE_MODE = 0o600;
const BUSY_TIMEOUT_MS = 5_000;
/** A quarter of what the driver would take, times hundreds of open files; the operating system caches the rest. */
export const CACHE_KIB = 4_000;

/** One open space file. Statements are prepared once for as long as the file is open. */
export class Connection {
  readonly db: Database;
  readonly #file: string;
  /** What the path led to when it was opened. */
  readonly #opened: BigIntStats | undefined;
  readonly #objectStatements = new Map<string, Statement>();
  readonly #arrayStatements = new Map<string, Statement>();
  #isEmpty: boolean | null = null;
  /** In how many documents a term occurs: asked for by every query, and the same until something is written. */
  readonly termFrequencies = new Map<string, number>();
  /** Row numbers of nodes that were met lately. */
  readonly nodeSeqs = new Map<string, number>();

  /** `name` is what a message calls the file; not everybody who reads one may know the path. */
  constructor(file: string, name = file) {
    createPrivateFile(file);
    this.#file = file;
    this.#opened = identityOf(file);
    this.db = new SqliteDatabase(file, { timeout: BUSY_TIMEOUT_MS });
    try {
      this.db.pragma('journal_mode = WAL');
      // better-sqlite3 defaults to NORMAL in WAL, which may lose acknowledged writes at a power cut.
      this.db.pragma('synchronous = FULL');
      // A savepoint keeps what it may have to undo in temporary files, one for every plan, unless it is told to keep it in memory.
      this.db.pragma('temp_store = MEMORY');
      this.db.pragma(`cache_size = -${CACHE_KIB}`);
      migrate(this.db, name);
      this.db.pragma('foreign_keys = ON');
    } catch (error) {
      this.db.close();
      throw error;
    }
  }

  /** Whether the path still leads to the open file. One that was moved or deleted takes writes all the same. */
  isInPlace(): boolean {
    const found = identityOf(this.#file);
    return found !== undefined && found.ino === this.#opened?.ino && found.dev === this.#opened.dev;
  }

  /** Whether nothing was ever remembered here. Nobody else writes, so it need not be asked again until a commit. */
  isEmpty(): boolean {
    this.#isEmpty ??= this.get('SELECT 1 FROM nodes LIMIT 1') === undefined;
    return this.#isEmpty;
  }

  /** What is worked out from the whole of the file is worked out anew after it changed. */
  noteCommit(): void {
    this.#isEmpty = null;
    this.termFrequencies.clear();
    this.nodeSeqs.clear();
  }

  statement(sql: string, asArrays = false): Statement {
    // A statement answers in one way or the other for good, so each way has its own.
    const statements = asArrays ? this.#arrayStatements : this.#objectStatements;
    let statement = statements.get(sql);
    if (!statement) {
      statement = this.db.prepare(sql);
      if (asArrays) statement.raw();
      statements.set(sql, statement);
    }
    return statement;
  }

  all<Row>(sql: string, ...parameters: unknown[]): Row[] {
    return this.statement(sql).all(...parameters) as Row[];
  }

  /** Rows as arrays in the order of the columns: on the hot path, half the price of objects. */
  rows<Row extends readonly unknown[]>(sql: string, ...parameters: unknown[]): Row[] {
    return this.statement(sql, true).all(...parameters) as Row[];
  }

  get<Row>(sql: string, ...parameters: unknown[]): Row | undefined {
    return this.statement(sql).get(...parameters) as Row | undefined;
  }

  run(sql: string, ...parameters: unknown[]): { changes: number; lastInsertRowid: number | bigint } {
    return this.statement(sql).run(...parameters);
  }

  close(): void {
    this.db.close();
  }
}

const identityOf = (file: string): BigIntStats | undefined => statSync(file, { bigint: true, throwIfNoEntry: false });

/** Memories are private: nobody but the owner may even list them. SQLite gives its side files the mode of the main one. */
export function createPrivateFile(file: string): void {
  const directory = dirname(file);
  if (!existsSync(directory)) mkdirSync(directory, { recursive: true, mode: DIRECTORY_MODE });
  if (existsSync(file)) return;
  closeSync(openSync(file, 'a', FILE_MODE));
  chmodSync(file, FILE_MODE);
}
