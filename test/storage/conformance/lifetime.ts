import { expect, test } from 'vitest';
import { GLOBAL_SPACE, viewOf } from '../../../src/domain/spaces.js';
import type {
  ChunkFilter,
  ChunkReads,
  EntryFilter,
  EntryReads,
  EpisodeFilter,
  NarrativeFilter,
  Store,
} from '../../../src/storage/port.js';
import {
  digestOf,
  globalPlanOf,
  idOf,
  insert,
  insertGlobal,
  keep,
  planOf,
  REPO,
  START_MS,
} from '../../support/plans.js';
import { FURNITURE } from './atomicity.js';
import { ANYWHERE, EVERYTHING, imageOf, LABELS, MANY, type Subject } from './subject.js';

const VIEW = viewOf(REPO);

const EVER = { nodeId: null, operation: null, sinceMs: null, beforeMs: null };

const ANY_EPISODE: EpisodeFilter = {
  agentId: null,
  sessionId: null,
  taskType: null,
  success: null,
  failureCategory: null,
  tags: [],
  file: null,
  sinceMs: null,
  beforeMs: null,
  includeArchived: true,
};
const ANY_CHAPTER: NarrativeFilter = {
  form: 'chapter',
  key: null,
  kind: null,
  tags: [],
  sinceMs: null,
  beforeMs: null,
  includeArchived: true,
};

/** Every call there is but `close`; the type makes a new method add its row. */
const CALLS: { [Method in Exclude<keyof Store, 'close' | 'chunks' | 'entries'>]: (store: Store) => Promise<unknown> } =
  {
    apply: (store) => store.apply(planOf(insert(idOf(9)))),
    getMemories: (store) => store.getMemories(VIEW, [idOf(1)]),
    getBriefs: (store) => store.getBriefs(VIEW, [idOf(1)]),
    findSameText: (store) => store.findSameText(REPO, 'fact', digestOf('x')),
    countTerms: (store) => store.countTerms(VIEW, ['redi']),
    searchTerms: (store) => store.searchTerms(VIEW, { any: ['redi'], also: [] }, MANY),
    findEdges: (store) => store.findEdges(VIEW, [idOf(1)], LABELS, MANY),
    findNeighbours: (store) => store.findNeighbours(VIEW, [idOf(1)], LABELS, MANY),
    findEdgesByKey: (store) => store.findEdgesByKey(VIEW, ['related_to|a|b']),
    findReplacements: (store) => store.findReplacements(VIEW, [idOf(3)], MANY),
    findHistory: (store) => store.findHistory(VIEW, [idOf(3)], MANY),
    sumVotes: (store) => store.sumVotes(VIEW, [idOf(2)]),
    getNodes: (store) => store.getNodes(VIEW, [idOf(1)]),
    findVisible: (store) => store.findVisible(VIEW, [idOf(1)]),
    listNodes: (store) => store.listNodes(REPO, EVERYTHING, null, MANY),
    listWear: (store) => store.listWear(REPO, EVERYTHING, null, MANY),
    listEvolution: (store) => store.listEvolution(REPO, EVER, null, MANY),
    readConfidence: (store) => store.readConfidence(VIEW, idOf(1), MANY),
    findTerms: (store) => store.findTerms(VIEW, ['re'], MANY),
    searchNodes: (store) => store.searchNodes(VIEW, { match: 'any', terms: ['redi'] }, ANYWHERE, MANY),
    noteQuery: async (store) => store.noteQuery(REPO, 'session'),
    getAgent: (store) => store.getAgent(REPO, 'agent'),
    findLatestMain: (store) => store.findLatestMain(REPO),
    getSession: (store) => store.getSession(REPO, 'session'),
    findOpenSession: (store) => store.findOpenSession(REPO, 'agent'),
    getEpisodes: (store) => store.getEpisodes(REPO, [idOf(1)], true),
    findFiles: (store) => store.findFiles(REPO, 'a.ts'),
    listEpisodes: (store) => store.listEpisodes(REPO, ANY_EPISODE, 'recent', null, MANY),
    searchEpisodes: (store) => store.searchEpisodes(REPO, { any: ['redi'], also: [] }, ANY_EPISODE, MANY),
    getNarratives: (store) => store.getNarratives(REPO, [idOf(1)], true),
    listNarratives: (store) => store.listNarratives(REPO, ANY_CHAPTER, 'recent', null, MANY),
    findMembers: (store) => store.findMembers(REPO, 'narrates', [idOf(1)]),
    noteAccess: async (store) => store.noteAccess(REPO, [idOf(1)], 0),
    getEdge: (store) => store.getEdge(VIEW, idOf(1)),
    listEdges: (store) => store.listEdges(REPO, { type: null, label: null, nodeId: null }, null, MANY),
    findEdgesAround: (store) => store.findEdgesAround(VIEW, [idOf(1)], { types: null, label: null, perNode: MANY }),
    findVotes: (store) => store.findVotes(VIEW, idOf(2), MANY),
    findEvidence: (store) => store.findEvidence(VIEW, idOf(3), MANY),
    findAttached: (store) => store.findAttached(VIEW, idOf(3), ['a']),
    findReply: (store) => store.findReply(REPO, 'key-1', 0),
    listRepos: (store) => store.listRepos(null, MANY),
    dropRepo: (store) => store.dropRepo(REPO),
    countNodes: (store) => store.countNodes(REPO),
    summarize: (store) => store.summarize(),
    check: (store) => store.check(),
  };

const SPOT = { id: 'chunk', seq: 1, conversationId: 'talk', tags: ['tag'], createdAtMs: START_MS };
const ANY_CHUNK: ChunkFilter = {
  conversationId: null,
  tags: [],
  type: null,
  sinceMs: null,
  untilMs: null,
  minConfidence: 0,
  includeArchived: true,
};

const CHUNK_CALLS: { [Method in keyof ChunkReads]: (store: Store) => Promise<unknown> } = {
  getChunks: ({ chunks }) => chunks.getChunks(REPO, ['chunk'], true),
  listChunks: ({ chunks }) => chunks.listChunks(REPO, ANY_CHUNK, null, MANY),
  searchChunks: ({ chunks }) => chunks.searchChunks(REPO, { any: ['redi'], also: [] }, ANY_CHUNK, MANY),
  findAround: ({ chunks }) => chunks.findAround(REPO, SPOT, MANY),
  listConversation: ({ chunks }) => chunks.listConversation(REPO, 'talk', null, 0, MANY),
  listSharing: ({ chunks }) => chunks.listSharing(REPO, SPOT, null, MANY),
  findHolders: ({ chunks }) => chunks.findHolders(REPO, ['tag'], MANY),
  findDrawn: ({ chunks }) => chunks.findDrawn(REPO, ['chunk'], ['supports'], MANY),
  walkChunks: ({ chunks }) => chunks.walkChunks(REPO, null, MANY),
  countChunks: ({ chunks }) => chunks.countChunks(REPO),
};

const ANY_ENTRY: EntryFilter = {
  type: null,
  tags: [],
  search: null,
  importance: null,
  category: null,
  status: null,
  includeArchived: true,
  activeSinceMs: null,
  completedSinceMs: null,
};

const ENTRY_CALLS: { [Method in keyof EntryReads]: (store: Store) => Promise<unknown> } = {
  getEntries: ({ entries }) => entries.getEntries(REPO, [idOf(1)]),
  findEntries: ({ entries }) => entries.findEntries(REPO, ANY_ENTRY, { by: 'created_at', order: 'asc' }),
  listIdle: ({ entries }) => entries.listIdle(REPO, 'task'),
  countEntries: ({ entries }) => entries.countEntries(REPO),
};

export function lifetime(subject: Subject): void {
  const furnish = async () => {
    await subject.applyGlobal(insertGlobal(idOf(20), { content: 'Redis for all' }), keep('key-3'));
    await subject.apply(...FURNITURE);
  };

  test('everything that was acknowledged is there after reopening, and nothing else', async () => {
    await furnish();
    const before = await imageOf(subject.store);
    expect(await imageOf(await subject.reopen())).toEqual(before);
  });

  test('a reopened store goes on where it was', async () => {
    await furnish();
    await subject.reopen();
    await subject.apply(insert(idOf(9)));
    expect(await subject.shownIn(VIEW)).toContain(idOf(9));
  });

  test('a plan under way while the store closes is there afterwards exactly when it was acknowledged', async () => {
    const numbers = Array.from({ length: 20 }, (_, number) => number);
    const applied = Promise.allSettled(numbers.map((number) => subject.apply(insert(idOf(number)))));
    await subject.reopen();
    const acknowledged = (await applied).flatMap(({ status }, number) =>
      status === 'fulfilled' ? [idOf(number)] : [],
    );
    expect(await subject.shownIn(VIEW)).toEqual(acknowledged);
  });

  test.each(Object.entries({ ...CALLS, ...CHUNK_CALLS, ...ENTRY_CALLS }))(
    'once closed, %s is refused and changes nothing',
    async (_, call) => {
      await furnish();
      const before = await imageOf(subject.store);
      await subject.store.close();
      await expect((async () => call(subject.store))()).rejects.toThrow(/closed/);
      expect(await imageOf(await subject.reopen())).toEqual(before);
    },
  );

  test('closing twice is closing once', async () => {
    await subject.store.close();
    await expect(subject.store.close()).resolves.toBeUndefined();
  });

  test('a store that can answer says so, and the check changes nothing', async () => {
    await furnish();
    const before = await imageOf(subject.store);
    await expect(subject.store.check()).resolves.toBeUndefined();
    expect(await imageOf(subject.store)).toEqual(before);
  });

  test('a summary names the engine and the place, and counts the repos', async () => {
    await subject.store.apply(globalPlanOf(insertGlobal(idOf(1))));
    expect(await subject.store.summarize()).toMatchObject({ repos: 0 });
    await subject.apply(insert(idOf(2)));
    const summary = await subject.store.summarize();
    expect(summary.repos).toBe(1);
    expect(summary.engine).not.toBe('');
    expect(summary.location).not.toBe('');
    expect(summary.openSpaces).toBeGreaterThanOrEqual(1);
  });

  test('an empty store is empty everywhere', async () => {
    expect(await subject.store.countNodes(GLOBAL_SPACE)).toEqual([]);
    expect(await subject.store.countNodes(REPO)).toEqual([]);
    expect(await subject.shownIn(VIEW)).toEqual([]);
  });
}
