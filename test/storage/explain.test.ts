import { readdirSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { GLOBAL_SPACE, viewOf } from '../../src/domain/spaces.js';
import { NODE_TYPES, TIERS } from '../../src/domain/vocabulary.js';
import * as access from '../../src/storage/sqlite/access.js';
import * as agents from '../../src/storage/sqlite/agents.js';
import * as apply from '../../src/storage/sqlite/apply.js';
import * as applyChunks from '../../src/storage/sqlite/apply-chunks.js';
import * as applyEntries from '../../src/storage/sqlite/apply-entries.js';
import * as applyNodes from '../../src/storage/sqlite/apply-nodes.js';
import * as chunks from '../../src/storage/sqlite/chunks.js';
import { Connection } from '../../src/storage/sqlite/connection.js';
import * as edges from '../../src/storage/sqlite/edges.js';
import * as entries from '../../src/storage/sqlite/entries.js';
import * as episodes from '../../src/storage/sqlite/episodes.js';
import * as evolution from '../../src/storage/sqlite/evolution.js';
import * as filesOf from '../../src/storage/sqlite/files-of.js';
import * as graph from '../../src/storage/sqlite/graph.js';
import * as narratives from '../../src/storage/sqlite/narratives.js';
import * as nodes from '../../src/storage/sqlite/nodes.js';
import * as read from '../../src/storage/sqlite/read.js';
import * as search from '../../src/storage/sqlite/search.js';
import * as seqs from '../../src/storage/sqlite/seqs.js';
import type { SqliteStore } from '../../src/storage/sqlite/store.js';
import { ANY_CHUNK, chunk } from '../support/chunks.js';
import { temporaryDirectory } from '../support/directories.js';
import { concept, digestOf, idOf, insertGlobal, patch, REPO } from '../support/plans.js';
import { openSqliteStore } from '../support/sqlite.js';
import { FURNITURE } from './conformance/atomicity.js';
import { ANYWHERE, LABELS } from './conformance/subject.js';

const SOURCES = new URL('../../src/storage/sqlite/', import.meta.url);

/** Parts of statements, which stand in the select list of others. */
const IS_FRAGMENT = /_COLUMNS$|_MEMBERS$/;
/** A plain INSERT looks nothing up; what its plan shows of other tables are checks for the case that a row was missing before. */
const IS_STATEMENT = /^\s*(SELECT|WITH|UPDATE|DELETE|INSERT[^;]*\bSELECT)\b/;

const directory = temporaryDirectory();
const connection = new Connection(directory.path('space.db'));
afterAll(() => {
  connection.close();
  directory.remove();
});

interface Step {
  readonly id: number;
  readonly parent: number;
  readonly detail: string;
}

/** What the engine would do, step by step. All parameters are null: they do not change the plan. */
function planOf(sql: string): Step[] {
  const statement = connection.db.prepare(`EXPLAIN QUERY PLAN ${sql}`);
  const names = [...sql.matchAll(/@(\w+)/g)].map(([, name]) => name as string);
  const places = sql.match(/\?/g) ?? [];
  const rows =
    names.length > 0
      ? statement.all(Object.fromEntries(names.map((name) => [name, null])))
      : statement.all(places.map(() => null));
  return rows as Step[];
}

/** How the vocabulary of the index notes that it was asked for one term, or for a range of them. */
const SOME_TERMS = 0x700;

/** A step that reads a whole table, however large it is. */
function isFullScan(step: string, sql: string): boolean {
  if (/\bAUTOMATIC\b/.test(step)) return true;
  const [, name] = /^SCAN (\S+)/.exec(step) ?? [];
  if (name === undefined || step === 'SCAN CONSTANT ROW') return false;
  // A list from the caller or from a step of its own, the queue of a recursion, and a table of one row for each sort of node.
  const isList = name === 'json_each' || name.startsWith('(subquery') || new RegExp(`\\) AS ${name}\\b`).test(sql);
  if (isList || new RegExp(`WITH RECURSIVE ${name}\\(`).test(sql) || name === 'node_counts') return false;
  const [, number, constraint] = /VIRTUAL TABLE INDEX (\d+):(.*)$/.exec(step) ?? [];
  return number === undefined || (constraint === '' && (Number(number) & SOME_TERMS) === 0);
}

const fullScansOf = (sql: string): string[] =>
  planOf(sql)
    .map(({ detail }) => detail)
    .filter((step) => isFullScan(step, sql));

/** What is sorted anew for every row of an outer step: of a hub this makes the price of each edge that of all edges. */
function sortsPerRowOf(sql: string): string[] {
  const steps = planOf(sql);
  const perRow = new Set(steps.filter(({ detail }) => detail.startsWith('CORRELATED')).map(({ id }) => id));
  for (const { id, parent } of steps) if (perRow.has(parent)) perRow.add(id);
  return steps.filter(({ id, detail }) => perRow.has(id) && /TEMP B-TREE/.test(detail)).map(({ detail }) => detail);
}

/** The modules that hand statements out; a new one is added here, or the last test of the block below fails. */
const MODULES: Record<string, [name: string, value: unknown][]> = {
  'access.ts': Object.entries(access),
  'agents.ts': Object.entries(agents),
  'apply-chunks.ts': Object.entries(applyChunks),
  'apply-entries.ts': Object.entries(applyEntries),
  'apply-nodes.ts': Object.entries(applyNodes),
  'apply.ts': Object.entries(apply),
  'chunks.ts': Object.entries(chunks),
  'edges.ts': Object.entries(edges),
  'entries.ts': Object.entries(entries),
  'episodes.ts': Object.entries(episodes),
  'files-of.ts': Object.entries(filesOf),
  'narratives.ts': Object.entries(narratives),
  'graph.ts': Object.entries(graph),
  'evolution.ts': Object.entries(evolution),
  'nodes.ts': Object.entries(nodes),
  'read.ts': Object.entries(read),
  'search.ts': Object.entries(search),
  'seqs.ts': Object.entries(seqs),
};

const statementsOf = (exported: [name: string, value: unknown][]): [name: string, sql: string][] =>
  exported.flatMap(([name, value]) => (typeof value === 'string' && IS_STATEMENT.test(value) ? [[name, value]] : []));

describe('no statement that a module hands out reads a whole table', () => {
  const statements = Object.values(MODULES).flatMap(statementsOf);

  test.each(statements)('%s', (_, sql) => {
    expect(fullScansOf(sql)).toEqual([]);
  });

  test.each(statements)('nor sorts anew for every row: %s', (_, sql) => {
    expect(sortsPerRowOf(sql)).toEqual([]);
  });

  test('every text that they hand out is such a statement, or a part of one', () => {
    const names = statements.map(([name]) => name);
    const texts = Object.values(MODULES).flatMap((exported) =>
      exported.flatMap(([name, value]) => (typeof value === 'string' ? [name] : [])),
    );
    expect(texts.filter((name) => !IS_FRAGMENT.test(name) && !names.includes(name))).toEqual([]);
    expect(names.length).toBeGreaterThan(12);
  });

  test('no other module hands one out', async () => {
    const others = readdirSync(SOURCES).filter((file) => file.endsWith('.ts') && !(file in MODULES));
    expect(others.length).toBeGreaterThan(5);
    for (const file of others)
      expect(statementsOf(Object.entries(await import(new URL(file, SOURCES).href))), file).toEqual([]);
  });
});

/** A conversation, and every question about it. */
async function furnishChunks(store: SqliteStore): Promise<void> {
  await store.apply({ space: REPO, changes: [...chunk('chunk-2026-01-01-0001'), ...chunk('chunk-2026-01-01-0002')] });
  const [spot] = await store.chunks.getChunks(REPO, ['chunk-2026-01-01-0001'], true);
  if (!spot) throw new Error('the chunk is not there');
  for (const by of [{}, { conversationId: 'talk' }, { tags: ['a'] }]) {
    const filter = { ...ANY_CHUNK, ...by };
    await store.chunks.listChunks(REPO, filter, null, 10);
    await store.chunks.searchChunks(REPO, { any: ['redi'], also: [] }, filter, 10);
  }
  await store.chunks.findAround(REPO, spot, 10);
  await store.chunks.listConversation(REPO, 'talk', null, 0, 10);
  await store.chunks.listSharing(REPO, spot, null, 10);
  await store.chunks.findHolders(REPO, ['a'], 10);
  await store.chunks.findDrawn(REPO, [spot.id], ['supports', 'related_to'], 10);
  await store.chunks.walkChunks(REPO, null, 10);
  await store.chunks.countChunks(REPO);
  const purge = { change: 'purge_node', nodeId: spot.id, repoId: REPO, atMs: 0 } as const;
  await store.apply({ space: REPO, changes: [purge] });
}

describe('no statement that a store runs while everything is done once reads a whole table', () => {
  const prepared = new Set<string>();
  beforeAll(async () => {
    const spy = vi.spyOn(Connection.prototype, 'statement');
    const store = openSqliteStore(directory.path('memory.db'));
    await store.apply({ space: GLOBAL_SPACE, changes: [insertGlobal(idOf(9))] });
    await store.apply({ space: REPO, changes: FURNITURE });
    const view = viewOf(REPO, { kinds: ['fact'], asOfMs: Date.now() });
    await store.getMemories(view, [idOf(1)]);
    await store.getBriefs(view, [idOf(1)]);
    await store.findSameText(REPO, 'fact', digestOf('x'));
    await store.countTerms(view, ['redi']);
    await store.searchTerms(view, { any: ['redi'], also: ['port'] }, 1);
    await store.findEdges(view, [idOf(1)], LABELS, 10);
    await store.findNeighbours(view, [idOf(1)], LABELS, 10);
    await store.findEdgesByKey(view, ['related_to|a|b']);
    await store.findReplacements(view, [idOf(3)], 10);
    await store.findHistory(view, [idOf(3)], 10);
    await store.sumVotes(view, [idOf(2)]);
    await store.apply({ space: REPO, changes: [concept(idOf(30), { tags: ['a'], sessionId: 's', taskId: 't' })] });
    await store.apply({
      space: REPO,
      changes: [patch(idOf(30), { content: 'new', terms: ['new'], confidence: 0.1, tags: ['b'] })],
    });
    store.noteAccess(REPO, [idOf(30)], Date.now());
    await store.getNodes(view, [idOf(1)]);
    await store.findVisible(view, [idOf(1)]);
    const everything = { types: NODE_TYPES, tiers: TIERS, form: null, kind: null, minConfidence: 0 };
    for (const by of [{}, { tag: 'a' }, { sessionId: 's' }, { taskId: 't' }]) {
      const filter = { ...everything, tag: null, sessionId: null, withShared: true, taskId: null, ...by };
      await store.listNodes(REPO, filter, null, 10);
      await store.listWear(REPO, filter, null, 10);
      await store.listNodes(REPO, { ...filter, form: 'concept' }, null, 10);
    }
    for (const match of ['any', 'all', 'phrase'] as const)
      await store.searchNodes(view, { match, terms: ['redi'] }, ANYWHERE, 5);
    await store.searchNodes(view, { match: 'prefix', terms: ['port'], lastTerms: ['redi'] }, ANYWHERE, 5);
    await store.findTerms(view, ['re'], 5);
    for (const nodeId of [null, idOf(1)])
      await store.listEvolution(REPO, { nodeId, operation: null, sinceMs: null, beforeMs: null }, null, 5);
    await store.readConfidence(view, idOf(30), 5);
    await store.getEdge(view, idOf(9));
    for (const filter of [
      { type: null, label: null },
      { type: 'relation', label: 'x' },
    ] as const) {
      await store.listEdges(REPO, { ...filter, nodeId: null }, null, 10);
      await store.listEdges(REPO, { ...filter, nodeId: idOf(1) }, null, 10);
    }
    await store.findEdgesAround(view, [idOf(1)], { types: null, label: null, perNode: 10 });
    await store.apply({ space: REPO, changes: [{ change: 'purge_node', nodeId: idOf(30), repoId: REPO, atMs: 0 }] });
    await store.findVotes(viewOf(REPO), idOf(2), 10);
    await store.findEvidence(view, idOf(3), 10);
    await store.findAttached(view, idOf(3), ['a']);
    await store.findReply(REPO, 'key-1', 0);
    await store.countNodes(REPO);
    await furnishChunks(store);
    await store.close();
    for (const [sql] of spy.mock.calls) if (IS_STATEMENT.test(sql)) prepared.add(sql);
    spy.mockRestore();
  });

  test('but for the question whether there is anything at all', () => {
    const scanning = [...prepared].filter((sql) => fullScansOf(sql).length > 0);
    expect(scanning).toEqual(['SELECT 1 FROM nodes LIMIT 1']);
    expect(prepared.size).toBeGreaterThan(20);
  });
});

test.each([
  'SELECT * FROM nodes WHERE content = ?',
  'SELECT count(*) FROM nodes',
  'SELECT * FROM node_search',
  "SELECT * FROM node_search WHERE terms = 'x'",
  'SELECT * FROM node_search_terms WHERE doc = ?',
  'SELECT * FROM nodes n JOIN memories m ON n.content = m.rationale',
  'DELETE FROM evidence_refs WHERE created_at < ?',
])('a statement that does read a whole table is noticed: %s', (sql) => {
  expect(fullScansOf(sql)).not.toEqual([]);
});

test('a statement that does sort anew for every row is noticed', () => {
  const sorting = `SELECT * FROM membership x WHERE x.edge_seq >= (
    SELECT DISTINCT h.edge_seq FROM membership h WHERE h.node_seq = x.node_seq ORDER BY h.edge_seq DESC LIMIT 1 OFFSET 9)`;
  expect(sortsPerRowOf(sorting)).not.toEqual([]);
});
