import { existsSync, rmSync, statSync } from 'node:fs';
import { GLOBAL_SPACE, type SpaceName, type View } from '../../domain/spaces.js';
import { StoreUnavailable } from '../port.js';
import { Connection } from './connection.js';
import { nameOf, toUnavailable } from './failures.js';
import type { StoreFiles } from './files.js';

/**
 * The open files of a store, least recently used closed first. Connections are lent for one synchronous callback and never handed
 * out: one kept across an await might have been closed meanwhile.
 */
export class Spaces {
  readonly #files: StoreFiles;
  readonly #openMax: number;
  readonly #main: Connection;
  readonly #open = new Map<SpaceName, Connection>();
  readonly #onOpen: (repoId: string) => void;
  #closed = false;

  /** `onOpen` is called before a repo's file is opened or created. */
  constructor(files: StoreFiles, openMax: number, onOpen: (main: Connection, repoId: string) => void) {
    this.#files = files;
    this.#openMax = openMax;
    this.#main = new Connection(files.main);
    this.#onOpen = (repoId) => this.use(GLOBAL_SPACE, (main) => onOpen(main, repoId));
  }

  get openCount(): number {
    return this.#open.size + (this.#closed ? 0 : 1);
  }

  /** Lends the space's connection; a repo that does not exist yet is created. */
  use<Result>(space: SpaceName, callback: (connection: Connection) => Result): Result {
    try {
      return callback(this.#connection(space, true) as Connection);
    } catch (error) {
      throw toUnavailable(error, space);
    }
  }

  /** Lends the connection of a space that exists, else answers `otherwise`. */
  peek<Result>(space: SpaceName, callback: (connection: Connection) => Result, otherwise: Result): Result {
    try {
      const connection = this.#connection(space, false);
      return connection ? callback(connection) : otherwise;
    } catch (error) {
      throw toUnavailable(error, space);
    }
  }

  /** Reads every space of a view. One that holds nothing is not asked: many stores have no global memories at all. */
  inEach<Row>(view: View, read: (connection: Connection) => Row[]): Row[] {
    return view.spaces.flatMap((space) =>
      this.peek<Row[]>(space, (connection) => (connection.isEmpty() ? [] : read(connection)), []),
    );
  }

  bytes(space: SpaceName): number {
    const file = this.#fileOf(space);
    return [file, `${file}-wal`].reduce((sum, path) => sum + (statSync(path, { throwIfNoEntry: false })?.size ?? 0), 0);
  }

  /** Removes a repo's file; false when there is none. */
  drop(repoId: string): boolean {
    this.refuseClosed();
    this.#open.get(repoId)?.close();
    this.#open.delete(repoId);
    const file = this.#fileOf(repoId);
    const isThere = existsSync(file);
    try {
      // The side files first: a main file that outlives its log is an older state, a log that outlives its file is a trap.
      for (const path of [`${file}-wal`, `${file}-shm`, file]) rmSync(path, { force: true });
    } catch (error) {
      throw toUnavailable(error, repoId);
    }
    return isThere;
  }

  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    for (const connection of this.#open.values()) connection.close();
    this.#open.clear();
    this.#main.close();
  }

  #connection(space: SpaceName, create: boolean): Connection | null {
    this.refuseClosed();
    if (space === GLOBAL_SPACE) return this.#main;
    const known = this.#open.get(space);
    if (known) {
      this.#open.delete(space);
      this.#open.set(space, known);
      return known;
    }
    const file = this.#fileOf(space);
    if (!create && !existsSync(file)) return null;
    // Catalogued before it exists: after a crash in between, an empty repo is listed rather than a full one forgotten. One that
    // exists may be unknown all the same, when the main file is older than it: somebody restored a backup.
    this.#onOpen(space);
    this.#closeOldest();
    const opened = new Connection(file, nameOf(space));
    this.#open.set(space, opened);
    return opened;
  }

  refuseClosed(): void {
    if (this.#closed) throw new StoreUnavailable('closed', 'the store is closed');
  }

  #closeOldest(): void {
    while (this.#open.size >= this.#openMax) {
      const [oldest, connection] = this.#open.entries().next().value as [SpaceName, Connection];
      this.#open.delete(oldest);
      connection.close();
    }
  }

  #fileOf(space: SpaceName): string {
    return space === GLOBAL_SPACE ? this.#files.main : this.#files.repo(space);
  }
}
