import { setImmediate } from 'node:timers/promises';
import type { Plan } from '../../domain/changes.js';
import type { Label } from '../../domain/links.js';
import type { ChosenTerms } from '../../domain/ranking.js';
import { GLOBAL_SPACE, type SpaceName, type View } from '../../domain/spaces.js';
import {
  type EdgeFilter,
  type EdgePlace,
  type EdgeWays,
  type EpisodeFilter,
  type EpisodeOrder,
  type EpisodePlace,
  type EvolutionFilter,
  type NarrativeFilter,
  type NarrativeOrder,
  type NarrativePlace,
  type NodeCount,
  type NodeFilter,
  type NodePlace,
  type RepoSummary,
  type SearchFilter,
  type Store,
  type StoreSummary,
  StoreUnavailable,
  type TermMatch,
} from '../port.js';
import { AccessCounts } from './access.js';
import { Agents } from './agents.js';
import { addRepo, countRepos, listRepos, removeRepo } from './catalogue.js';
import { Chunks } from './chunks.js';
import { Edges } from './edges.js';
import { Entries } from './entries.js';
import { Episodes } from './episodes.js';
import { Evolution } from './evolution.js';
import { isBeyondReading } from './failures.js';
import { StoreFiles } from './files.js';
import { Graph } from './graph.js';
import { GroupCommit } from './group-commit.js';
import { StoreLock } from './lock.js';
import { Narratives } from './narratives.js';
import { Nodes } from './nodes.js';
import { Reader } from './read.js';
import { countTerms, findTerms, searchNodes, searchTerms } from './search.js';
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
  readonly #access: AccessCounts;
  readonly #nodes: Nodes;
  readonly #edges: Edges;
  readonly #evolution: Evolution;
  readonly #agents: Agents;
  readonly #episodes: Episodes;
  readonly #narratives: Narratives;
  readonly chunks: Chunks;
  readonly entries: Entries;
  readonly #graph: Graph;
  readonly #commits: GroupCommit;

  constructor(options: SqliteOptions) {
    this.#files = new StoreFiles(options.file);
    const { lock } = this.#files;
    this.#lock = orUnusable(options.file, () => new StoreLock(lock, options.file), `its lock ${lock}: `);
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
    this.#access = new AccessCounts(this.#spaces);
    this.#nodes = new Nodes(this.#spaces, this.#access);
    this.#edges = new Edges(this.#spaces);
    this.#evolution = new Evolution(this.#spaces);
    this.#agents = new Agents(this.#spaces, this.#access);
    this.#episodes = new Episodes(this.#spaces, this.#access);
    this.#narratives = new Narratives(this.#spaces);
    this.chunks = new Chunks(this.#spaces, this.#access);
    this.entries = new Entries(this.#spaces, this.#access);
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

  async findEdgesByKey(view: View, keys: readonly string[]) {
    return this.#edges.findEdgesByKey(view, keys);
  }

  async findReplacements(view: View, factIds: readonly string[], max: number) {
    return this.#graph.findReplacements(view, factIds, max);
  }

  async findHistory(view: View, fromIds: readonly string[], max: number) {
    return this.#graph.findHistory(view, fromIds, max);
  }

  async sumVotes(view: View, memoryIds: readonly string[]) {
    return this.#graph.sumVotes(view, memoryIds);
  }

  async findVotes(view: View, memoryId: string, limit: number) {
    return this.#reader.findVotes(view, memoryId, limit);
  }

  async findEvidence(view: View, memoryId: string, limit: number) {
    return this.#reader.findEvidence(view, memoryId, limit);
  }

  async findAttached(view: View, memoryId: string, refs: readonly string[]) {
    return this.#reader.findAttached(view, memoryId, refs);
  }

  async getNodes(view: View, ids: readonly string[]) {
    return this.#nodes.getNodes(view, ids);
  }

  async findVisible(view: View, ids: readonly string[]) {
    return this.#graph.findVisible(view, ids);
  }

  async listNodes(space: SpaceName, filter: NodeFilter, after: NodePlace | null, limit: number) {
    return this.#nodes.listNodes(space, filter, after, limit);
  }

  async listWear(space: SpaceName, filter: NodeFilter, after: NodePlace | null, limit: number) {
    return this.#nodes.listWear(space, filter, after, limit);
  }

  async getEdge(view: View, id: string) {
    return this.#edges.getEdge(view, id);
  }

  async listEdges(space: SpaceName, filter: EdgeFilter, after: EdgePlace | null, limit: number) {
    return this.#edges.listEdges(space, filter, after, limit);
  }

  async findEdgesAround(view: View, nodeIds: readonly string[], ways: EdgeWays) {
    return this.#edges.findEdgesAround(view, nodeIds, ways);
  }

  async listEvolution(space: SpaceName, filter: EvolutionFilter, beforeSeq: number | null, limit: number) {
    return this.#evolution.listEvolution(space, filter, beforeSeq, limit);
  }

  async readConfidence(view: View, nodeId: string, limit: number) {
    return this.#evolution.readConfidence(view, nodeId, limit);
  }

  async findTerms(view: View, beginnings: readonly string[], max: number) {
    return findTerms(this.#spaces, view, beginnings, max);
  }

  async searchNodes(view: View, match: TermMatch, filter: SearchFilter, poolSize: number) {
    return searchNodes(this.#spaces, view, match, filter, poolSize);
  }

  noteAccess(space: SpaceName, nodeIds: readonly string[], atMs: number): void {
    this.#spaces.refuseClosed();
    this.#access.note(space, nodeIds, atMs);
  }

  noteQuery(space: SpaceName, sessionId: string): void {
    this.#spaces.refuseClosed();
    this.#access.noteQuery(space, sessionId);
  }

  async getAgent(space: SpaceName, id: string) {
    return this.#agents.getAgent(space, id);
  }

  async findLatestMain(space: SpaceName) {
    return this.#agents.findLatestMain(space);
  }

  async getSession(space: SpaceName, id: string) {
    return this.#agents.getSession(space, id);
  }

  async findOpenSession(space: SpaceName, agentId: string) {
    return this.#agents.findOpenSession(space, agentId);
  }

  async getEpisodes(space: SpaceName, ids: readonly string[], includeArchived: boolean) {
    return this.#episodes.getEpisodes(space, ids, includeArchived);
  }

  async findFiles(space: SpaceName, given: string) {
    return this.#episodes.findFiles(space, given);
  }

  async listEpisodes(
    space: SpaceName,
    filter: EpisodeFilter,
    order: EpisodeOrder,
    after: EpisodePlace | null,
    limit: number,
  ) {
    return this.#episodes.listEpisodes(space, filter, order, after, limit);
  }

  async searchEpisodes(space: SpaceName, terms: ChosenTerms, filter: EpisodeFilter, poolSize: number) {
    return this.#episodes.searchEpisodes(space, terms, filter, poolSize);
  }

  async getNarratives(space: SpaceName, ids: readonly string[], includeArchived: boolean) {
    return this.#narratives.getNarratives(space, ids, includeArchived);
  }

  async listNarratives(
    space: SpaceName,
    filter: NarrativeFilter,
    order: NarrativeOrder,
    after: NarrativePlace | null,
    limit: number,
  ) {
    return this.#narratives.listNarratives(space, filter, order, after, limit);
  }

  async findMembers(space: SpaceName, label: Label, ownerIds: readonly string[]) {
    return this.#narratives.findMembers(space, label, ownerIds);
  }

  async findReply(repoId: string, key: string, sinceMs: number) {
    return this.#reader.findReply([repoId, GLOBAL_SPACE], repoId, key, sinceMs);
  }

  async listRepos(after: string | null, limit: number): Promise<RepoSummary[]> {
    const rows = this.#spaces.use(GLOBAL_SPACE, (main) => listRepos(main, after, limit));
    const summaries: RepoSummary[] = [];
    for (const { repoId, createdAt } of rows) {
      const counts = this.#countUnlessDamaged(repoId);
      const bytes = this.#spaces.bytes(repoId);
      summaries.push({ repoId, createdAtMs: createdAt, bytes, damaged: counts === null, counts: counts ?? [] });
      // Each may be a file to open: others get their turn in between.
      await setImmediate();
    }
    return summaries;
  }

  /** Null when the file cannot be read: one broken repo must not hide the others. */
  #countUnlessDamaged(repoId: string): NodeCount[] | null {
    try {
      return this.#reader.countNodes(repoId);
    } catch (error) {
      if (isBeyondReading(error)) return null;
      throw error;
    }
  }

  async dropRepo(repoId: string): Promise<boolean> {
    if (repoId === GLOBAL_SPACE) return false;
    this.#commits.flush(repoId);
    this.#access.forget(repoId);
    const hadFile = this.#spaces.drop(repoId);
    const wasListed = this.#spaces.use(GLOBAL_SPACE, (main) => removeRepo(main, repoId));
    return hadFile || wasListed;
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
    this.#spaces.use(GLOBAL_SPACE, (main) => {
      if (!main.isInPlace())
        throw new StoreUnavailable(
          'unusable',
          'the main file was moved or deleted; put it back, or restart the service',
        );
      // A write lock taken and given back: proves that the file is readable and writable, and changes nothing.
      main.db.exec('BEGIN IMMEDIATE');
      try {
        countRepos(main);
      } finally {
        // Some failures end the transaction by themselves.
        if (main.db.inTransaction) main.db.exec('ROLLBACK');
      }
    });
  }

  async close(): Promise<void> {
    this.#commits.flushAll();
    this.#access.flush();
    this.#spaces.close();
    this.#lock.release();
  }
}

/** A path that cannot hold a store is the operator's to put right, so it is told in a sentence; `part` is what is at fault. */
function orUnusable<Result>(file: string, open: () => Result, part = ''): Result {
  try {
    return open();
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (error instanceof StoreUnavailable || code === undefined) throw error;
    throw new StoreUnavailable(
      'unusable',
      `${file} cannot be used as the database: ${part}${message}; set RLM_MEMORY_DB to another file`,
    );
  }
}
