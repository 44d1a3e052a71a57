import { setImmediate } from 'node:timers/promises';
import type { Plan } from '../../domain/changes.js';
import type { ChosenTerms } from '../../domain/ranking.js';
import { GLOBAL_SPACE, type SpaceName, type View } from '../../domain/spaces.js';
import { type RepoSummary, type Store, type StoreSummary, StoreUnavailable } from '../port.js';
import { addRepo, countRepos, listRepos, removeRepo } from './catalogue.js';
import { StoreFiles } from './files.js';
import { Graph } from './graph.js';
import { GroupCommit } from './group-commit.js';
import { StoreLock } from './lock.js';
import { Reader } from './read.js';
import { countTerms, searchTerms } from './search.js';
import { Spaces } from './spaces.js';

export interface SqliteOptions {
  /** Path of the main file; the other files lie beside it. */
  readonly file: string;
  readonly openSpacesMax: number;
  readonly now: () => number;
}

/** The store on SQLite files, one per space. Its work is synchronous; the promises are the port's. */
export class SqliteStore implements Store {
  readonly #files: StoreFiles;
  readonly #lock: StoreLock;
  readonly #spaces: Spaces;
  readonly #reader: Reader;
  readonly #graph: Graph;
  readonly #commits: GroupCommit;

  constructor(options: SqliteOptions) {
    this.#files = new StoreFiles(options.file);
    this.#lock = orUnusable(options.file, () => new StoreLock(this.#files.lock, options.file));
    try {
      this.#spaces = orUnusable(
        options.file,
        () => new Spaces(this.#files, options.openSpacesMax, (main, repoId) => addRepo(main, repoId, options.now())),
      );
    } catch (error) {
      this.#lock.release();
      throw error;
    }
    this.#reader = new Reader(this.#spaces);
    this.#graph = new Graph(this.#spaces);
    this.#commits = new GroupCommit(this.#spaces);
  }

  apply(plan: Plan): Promise<void> {
    return this.#commits.apply(plan);
  }

  async getMemories(view: View, ids: readonly string[]) {
    return this.#reader.getMemories(view, ids);
  }

  async getBriefs(view: View, ids: readonly string[]) {
    return this.#reader.getBriefs(view, ids);
  }

  async findSameText(space: SpaceName, kind: string, textDigest: string) {
    return this.#reader.findSameText(space, kind, textDigest);
  }

  async countTerms(view: View, terms: readonly string[]) {
    return countTerms(this.#spaces, view, terms);
  }

  async searchTerms(view: View, terms: ChosenTerms, poolSize: number) {
    return searchTerms(this.#spaces, view, terms, poolSize);
  }

  async findEdges(view: View, nodeIds: readonly string[], labels: readonly string[], perNode: number) {
    return this.#graph.findEdges(view, nodeIds, labels, perNode);
  }

  async findNeighbours(view: View, nodeIds: readonly string[], labels: readonly string[], perNode: number) {
    return this.#graph.findNeighbours(view, nodeIds, labels, perNode);
  }

  async findSuccessors(view: View, factIds: readonly string[]) {
    return this.#graph.findSuccessors(view, factIds);
  }

  async sumVotes(view: View, memoryIds: readonly string[]) {
    return this.#graph.sumVotes(view, memoryIds);
  }

  async findVotes(view: View, memoryId: string, limit: number) {
    return this.#reader.findVotes(view, memoryId, limit);
  }

  async findEvidence(view: View, memoryId: string) {
    return this.#reader.findEvidence(view, memoryId);
  }

  async findReply(repoId: string, key: string, sinceMs: number) {
    return this.#reader.findReply([repoId, GLOBAL_SPACE], repoId, key, sinceMs);
  }

  async listRepos(after: string | null, limit: number): Promise<RepoSummary[]> {
    const rows = this.#spaces.use(GLOBAL_SPACE, (main) => listRepos(main, after, limit));
    const summaries: RepoSummary[] = [];
    for (const { repoId, createdAt } of rows) {
      const counts = this.#reader.countNodes(repoId);
      summaries.push({ repoId, createdAtMs: createdAt, bytes: this.#spaces.bytes(repoId), counts });
      // Each may be a file to open: others get their turn in between.
      await setImmediate();
    }
    return summaries;
  }

  async dropRepo(repoId: string): Promise<boolean> {
    if (repoId === GLOBAL_SPACE) return false;
    this.#commits.flush(repoId);
    this.#spaces.drop(repoId);
    return this.#spaces.use(GLOBAL_SPACE, (main) => removeRepo(main, repoId));
  }

  async countNodes(space: SpaceName) {
    return this.#reader.countNodes(space);
  }

  async summarize(): Promise<StoreSummary> {
    return {
      engine: 'sqlite',
      location: this.#files.main,
      repos: this.#spaces.use(GLOBAL_SPACE, countRepos),
      openSpaces: this.#spaces.openCount,
    };
  }

  async check(): Promise<void> {
    // A write lock taken and given back: proves that the file is there, readable and writable, and changes nothing.
    this.#spaces.use(GLOBAL_SPACE, ({ db }) => {
      if (!db.open) throw new StoreUnavailable('closed', 'the store is closed');
      db.exec('BEGIN IMMEDIATE; SELECT count(*) FROM repos; ROLLBACK');
    });
  }

  async close(): Promise<void> {
    this.#commits.flushAll();
    this.#spaces.close();
    this.#lock.release();
  }
}

/** A path that cannot hold a store is the operator's to put right, so it is told in a sentence. */
function orUnusable<Result>(file: string, open: () => Result): Result {
  try {
    return open();
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (error instanceof StoreUnavailable || code === undefined) throw error;
    throw new StoreUnavailable(
      'unusable',
      `${file} cannot be used as the database: ${message}; set RLM_MEMORY_DB to another file`,
    );
  }
}
