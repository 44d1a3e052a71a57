import { expect } from 'vitest';
import type { Change } from '../../../src/domain/changes.js';
import { LINKS } from '../../../src/domain/links.js';
import { GLOBAL_SPACE, viewOf } from '../../../src/domain/spaces.js';
import { NODE_TYPES, TIERS } from '../../../src/domain/vocabulary.js';
import { ApplyConflict, type NodeFilter, type SearchFilter, type Store } from '../../../src/storage/port.js';
import { idOf, OTHER_REPO, REPO } from '../../support/plans.js';

/** A store under test. `reopen` ends the store as an orderly shutdown does and opens what it left. */
export interface OpenedStore {
  readonly store: Store;
  reopen(): Promise<Store>;
  cleanUp(): Promise<void>;
}

export type OpenStore = () => Promise<OpenedStore>;

/** The store of the running test. */
export class Subject {
  #opened: OpenedStore | null = null;
  #store: Store | null = null;

  constructor(private readonly open: OpenStore) {}

  async setUp(): Promise<void> {
    this.#opened = await this.open();
    this.#store = this.#opened.store;
  }

  async tearDown(): Promise<void> {
    await this.#opened?.cleanUp();
    this.#opened = null;
  }

  get store(): Store {
    if (!this.#store) throw new Error('the store is not open');
    return this.#store;
  }

  async reopen(): Promise<Store> {
    this.#store = await (this.#opened as OpenedStore).reopen();
    return this.#store;
  }

  apply(...changes: Change[]): Promise<void> {
    return this.store.apply({ space: REPO, changes });
  }

  applyIn(space: string, ...changes: Change[]): Promise<void> {
    return this.store.apply({ space, changes });
  }

  applyGlobal(...changes: Change[]): Promise<void> {
    return this.store.apply({ space: GLOBAL_SPACE, changes });
  }

  /** Ids of what a view shows, sorted. */
  async shownIn(view: Parameters<Store['getMemories']>[0], ids = ALL_IDS): Promise<string[]> {
    return (await this.store.getMemories(view, ids)).map(({ id }) => id).sort();
  }
}

export const LABELS = Object.keys(LINKS);
export const ALL_IDS = Array.from({ length: 40 }, (_, number) => idOf(number));
export const ANYWHERE: SearchFilter = {
  type: null,
  tier: null,
  form: null,
  kind: null,
  minConfidence: 0,
  sessionId: null,
};
/** The list of all nodes. */
export const EVERYTHING: NodeFilter = {
  types: NODE_TYPES,
  tiers: TIERS,
  form: null,
  kind: null,
  minConfidence: 0,
  tag: null,
  sessionId: null,
  withShared: true,
  taskId: null,
};
const KEYS = ['key-1', 'key-2', 'key-3'];
const TERMS = ['memori', 'number', 'redi', 'port', 'cart'];
/** More than any of these tests writes. */
export const MANY = 1_000;

const byId = (a: { id: string }, b: { id: string }): number => (a.id < b.id ? -1 : 1);

/** Everything that can be read of two repos and the global space: two stores that look the same are the same. */
export async function imageOf(store: Store): Promise<unknown> {
  const repos = await Promise.all(
    [REPO, OTHER_REPO].map(async (repoId) => {
      const view = viewOf(repoId, { includeArchived: true });
      const corpus = await store.countTerms(view, TERMS);
      const candidates = await store.searchTerms(view, { any: TERMS, also: [] }, MANY);
      return {
        memories: (await store.getMemories(view, ALL_IDS)).sort(byId),
        briefs: (await store.getBriefs(view, ALL_IDS)).sort(byId),
        nodes: (await store.getNodes(view, ALL_IDS)).sort(byId),
        listed: await store.listNodes(repoId, EVERYTHING, null, MANY),
        allEdges: await store.listEdges(repoId, { type: null, label: null, nodeId: null }, null, MANY),
        edges: (await store.findEdges(view, ALL_IDS, LABELS, MANY)).sort(byId),
        neighbours: sortedRows(await store.findNeighbours(view, ALL_IDS, LABELS, MANY)),
        replacements: await store.findReplacements(view, ALL_IDS, MANY),
        history: await store.findHistory(view, ALL_IDS, MANY),
        voteSums: [...(await store.sumVotes(view, ALL_IDS))].sort(),
        votes: await Promise.all(ALL_IDS.map((id) => store.findVotes(view, id, MANY))),
        evidence: await Promise.all(ALL_IDS.map((id) => store.findEvidence(view, id, MANY))),
        corpus: [corpus.documents, corpus.terms, TERMS.map((term) => corpus.frequencies.get(term) ?? 0)],
        candidates: candidates.map(({ memory, terms }) => [memory.id, terms]).sort(),
        replies: await Promise.all(KEYS.map((key) => store.findReply(repoId, key, 0))),
        counts: sortedRows(await store.countNodes(repoId)),
      };
    }),
  );
  const listed = await store.listRepos(null, MANY);
  return {
    repos,
    globalCounts: sortedRows(await store.countNodes(GLOBAL_SPACE)),
    listed: listed.map(({ repoId, createdAtMs }) => [repoId, createdAtMs]),
  };
}

/** Rows without an id of their own, in one order. */
export const sortedRows = (rows: readonly object[]): string[] =>
  rows.map((row) => JSON.stringify(Object.entries(row).sort())).sort();

/** Asserts that the plan is refused for this reason, and answers the conflict. */
export async function expectConflict(applied: Promise<void>, reason: ApplyConflict['reason']): Promise<ApplyConflict> {
  const error = await applied.then(
    () => null,
    (thrown: unknown) => thrown,
  );
  expect(error).toBeInstanceOf(ApplyConflict);
  expect((error as ApplyConflict).reason).toBe(reason);
  return error as ApplyConflict;
}
