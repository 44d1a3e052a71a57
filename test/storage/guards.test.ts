import { copyFileSync } from 'node:fs';
import type { Database } from 'better-sqlite3';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { FORM_NAMES, formOf, REFERENCE_FORM } from '../../src/domain/forms.js';
import { NODE_TYPES, ROLES, SCOPES, TIERS } from '../../src/domain/vocabulary.js';
import { temporaryDirectory } from '../support/directories.js';
import { planOf } from '../support/plans.js';
import { connectDirectly, dumpOf, openSqliteStore, repoFileOf } from '../support/sqlite.js';
import { FURNITURE } from './conformance/atomicity.js';

const directory = temporaryDirectory();
const file = directory.path('memory.db');
const copy = directory.path('copy.db');
let db: Database;

beforeAll(async () => {
  const store = openSqliteStore(file);
  await store.apply(planOf(...FURNITURE));
  await store.close();
});
beforeEach(() => {
  copyFileSync(repoFileOf(file), copy);
  db = connectDirectly(copy);
  db.pragma('synchronous = OFF');
});
afterEach(() => {
  db.close();
});
afterAll(() => directory.remove());

const MEMORY = `form = 'memory'`;

/** Copies a row over itself with one column changed: the way around a guard that only looks at UPDATE and DELETE. */
const replaceRow = (table: string, columns: string, changed: string): string =>
  `INSERT OR REPLACE INTO ${table} (${columns}) SELECT ${changed} FROM ${table}`;
const NODE_COLUMNS =
  'seq, id, form, kind, type, repo_id, scope, content, tier, archived_at, terms, search_terms, created_at, updated_at';
const VOTE_COLUMNS = 'seq, id, repo_id, memory_seq, problem_seq, vote, created_at';
const LOG_COLUMNS = 'seq, at, operation, repo_id, node_ids';

const TAMPERING: [what: string, sql: string][] = [
  ["change a memory's text", `UPDATE nodes SET content = 'other' WHERE ${MEMORY}`],
  ["change a memory's kind", `UPDATE nodes SET kind = 'preference' WHERE kind = 'fact'`],
  ["change a memory's confidence", `UPDATE nodes SET confidence = 0.1 WHERE ${MEMORY}`],
  ["change a memory's scope", `UPDATE nodes SET scope = 'global' WHERE ${MEMORY}`],
  ["change a memory's id", `UPDATE nodes SET id = id || 'x' WHERE ${MEMORY}`],
  ["change a memory's form", `UPDATE nodes SET form = '${REFERENCE_FORM}' WHERE ${MEMORY}`],
  ["change a memory's type", `UPDATE nodes SET type = 'entity' WHERE ${MEMORY}`],
  ["change a memory's repo", `UPDATE nodes SET repo_id = 'x' WHERE ${MEMORY}`],
  ["change a memory's time", `UPDATE nodes SET created_at = 0 WHERE ${MEMORY}`],
  ["change a memory's number", `UPDATE nodes SET seq = seq + 100 WHERE ${MEMORY}`],
  ["change a memory's length", `UPDATE nodes SET terms = terms + 1 WHERE ${MEMORY}`],
  ["change a memory's terms", `UPDATE nodes SET search_terms = ' other ' WHERE ${MEMORY}`],
  ['delete a memory', `DELETE FROM nodes WHERE ${MEMORY}`],
  ["change a memory's rationale", `UPDATE memories SET rationale = 'other'`],
  ["change a memory's digest", `UPDATE memories SET text_digest = 'other'`],
  ["change a memory's kind beside the text", `UPDATE memories SET kind = 'change'`],
  ["delete a memory's rationale", `DELETE FROM memories`],
  ['change a vote', `UPDATE utility_observations SET vote = -1`],
  ["change a vote's rationale", `UPDATE utility_observations SET rationale = 'other'`],
  ['delete a vote', `DELETE FROM utility_observations`],
  ['change the log', `UPDATE evolution_log SET reasoning = 'other'`],
  ['delete the log', `DELETE FROM evolution_log`],
  ['replace a memory', replaceRow('nodes', NODE_COLUMNS, NODE_COLUMNS.replace('content', `'other'`))],
  [
    'replace a rationale',
    replaceRow('memories', 'node_seq, kind, rationale, text_digest', `node_seq, kind, 'other', 'x'`),
  ],
  ['replace a vote', replaceRow('utility_observations', VOTE_COLUMNS, VOTE_COLUMNS.replace('vote', '-1'))],
  ['replace a line of the log', replaceRow('evolution_log', LOG_COLUMNS, LOG_COLUMNS.replace('operation', `'other'`))],
];

describe.each([
  ['that keeps foreign keys', 'ON'],
  ['that does not', 'OFF'],
])('a direct client %s', (_, foreignKeys) => {
  test.each(TAMPERING)('cannot %s', (_what, sql) => {
    db.pragma(`foreign_keys = ${foreignKeys}`);
    const before = dumpOf(db);
    expect(() => db.exec(sql)).toThrow();
    expect(dumpOf(db)).toEqual(before);
  });
});

test('what the service itself changes about a memory stays possible: where it is kept', () => {
  db.exec(`UPDATE nodes SET tier = 'session', updated_at = 1, revision = revision + 1 WHERE id LIKE '%3'`);
  expect(db.prepare(`SELECT tier FROM nodes WHERE id LIKE '%3'`).pluck().get()).toBe('session');
});

/** A row that is right, so that each test is refused for the one thing it changes. */
const NODE = {
  id: 'new',
  form: 'memory',
  kind: 'fact',
  type: 'fact',
  repo_id: 'r',
  scope: 'repo',
  content: 'text',
  confidence: 0.5 as number | null,
  tier: 'longterm',
  archived_at: null as number | null,
  terms: 1,
  search_terms: ' text ',
  created_at: 1,
  updated_at: 1,
};

const insertRow = (table: string, row: object): void => {
  const columns = Object.keys(row);
  const places = columns.map((column) => `@${column}`).join(', ');
  db.prepare(`INSERT INTO ${table} (${columns.join(', ')}) VALUES (${places})`).run(row);
};

describe('a node is refused', () => {
  test.each<[string, object]>([
    ['of an unknown type', { type: 'rumour' }],
    ['of an unknown scope', { scope: 'galaxy' }],
    ['of an unknown tier', { tier: 'attic' }],
    ['with a confidence above 1', { confidence: 1.01 }],
    ['with a confidence below 0', { confidence: -0.01 }],
    ['that is archived without a time', { tier: 'archive' }],
    ['that is not archived but has a time', { archived_at: 1 }],
    ['without a text', { content: null }],
    ['with the id of another', { id: '00000000-0000-4000-8000-000000000001' }],
  ])('%s', (_, wrong) => {
    expect(() => insertRow('nodes', { ...NODE, ...wrong })).toThrow();
  });

  test('but not for any word of the vocabulary', () => {
    const rows = [
      ...NODE_TYPES.map((type) => ({ type })),
      ...SCOPES.map((scope) => ({ scope })),
      ...TIERS.map((tier) => ({ tier, archived_at: tier === 'archive' ? 1 : null })),
      { confidence: null },
    ];
    for (const [index, row] of rows.entries()) insertRow('nodes', { ...NODE, ...row, id: `new-${index}` });
  });
});

describe('the guard of forms', () => {
  const isAdmitted = (form: string, kind: string | null): boolean => {
    try {
      insertRow('nodes', { ...NODE, form, kind });
    } catch (error) {
      expect((error as Error).message).toMatch(/unknown form or kind/);
      return false;
    }
    return true;
  };

  test.each(
    FORM_NAMES.flatMap((form) => Object.keys(formOf(form).kinds ?? { 'any word': 0 }).map((kind) => [form, kind])),
  )('admits the form %s with the kind %s', (form, kind) => {
    expect(isAdmitted(form as string, kind as string)).toBe(true);
  });

  test('admits the stand-in for a global node', () => {
    expect(isAdmitted(REFERENCE_FORM, 'fact')).toBe(true);
  });

  test.each<[string, string | null]>([
    ['memory', 'rumour'],
    ['memory', 'Fact'],
    ['memory', ''],
    ['memory', null],
    ['Memory', 'fact'],
    ['', 'fact'],
    ...['episode', 'chapter', 'wisdom', 'concept', 'chunk', 'entry']
      .filter((form) => !(FORM_NAMES as string[]).includes(form))
      .map((form): [string, string] => [form, 'fact']),
  ])('refuses the form %j with the kind %j', (form, kind) => {
    expect(isAdmitted(form, kind)).toBe(false);
  });

  test('admits a detail row only for a memory of the same kind', () => {
    insertRow('nodes', NODE);
    const seq = db.prepare(`SELECT seq FROM nodes WHERE id = 'new'`).pluck().get();
    const detail = { node_seq: seq, kind: 'fact', text_digest: 'x' };
    expect(() => insertRow('memories', { ...detail, kind: 'change' })).toThrow(/not a memory of this kind/);
    insertRow('memories', detail);
  });
});

describe('links and votes', () => {
  const seqOf = (table: string, id: string): number =>
    db.prepare(`SELECT seq FROM ${table} WHERE id LIKE '%${id}'`).pluck().get() as number;
  const edge = (label: string) => ({
    id: 'e',
    repo_id: 'r',
    type: 'relation',
    label,
    weight: 1,
    origin: 'manual',
    key: 'k',
    created_at: 1,
  });
  const vote = () => ({
    id: 'v',
    repo_id: 'r',
    memory_seq: seqOf('nodes', '02'),
    problem_seq: seqOf('nodes', '01'),
    vote: 1,
    created_at: 1,
  });

  beforeEach(() => {
    db.pragma('foreign_keys = ON');
  });

  test.each(['attempts', 'fact_update', 'related_to'])('a node plays one part in %s', (label) => {
    insertRow('hyperedges', edge(label));
    const member = { edge_seq: seqOf('hyperedges', 'e'), node_seq: seqOf('nodes', '01'), label, position: 0 };
    insertRow('membership', { ...member, role: 'subject' });
    expect(() => insertRow('membership', { ...member, role: 'object' })).toThrow(/distinct/);
    insertRow('membership', { ...member, node_seq: seqOf('nodes', '02'), role: 'object' });
  });

  test('a member carries the label of its edge, and a part of the vocabulary', () => {
    insertRow('hyperedges', edge('attempts'));
    const member = { edge_seq: seqOf('hyperedges', 'e'), node_seq: seqOf('nodes', '01'), position: 0 };
    expect(() => insertRow('membership', { ...member, label: 'related_to', role: 'subject' })).toThrow(/label/);
    expect(() => insertRow('membership', { ...member, label: 'attempts', role: 'onlooker' })).toThrow(/CHECK/);
    insertRow('membership', { ...member, label: 'attempts', role: ROLES[0] });
  });

  test.each<[string, object]>([
    ['of an unknown type', { type: 'rumour' }],
    ['of unknown origin', { origin: 'hearsay' }],
    ['of negative weight', { weight: -0.1 }],
  ])('an edge %s is refused', (_, wrong) => {
    expect(() => insertRow('hyperedges', { ...edge('attempts'), ...wrong })).toThrow(/CHECK/);
  });

  test('one edge stands once', () => {
    insertRow('hyperedges', edge('attempts'));
    expect(() => insertRow('hyperedges', { ...edge('attempts'), id: 'e2' })).toThrow(/UNIQUE/);
  });

  test.each<[string, () => object]>([
    ['above 1', () => ({ vote: 1.1 })],
    ['below -1', () => ({ vote: -1.1 })],
    ['on itself', () => ({ problem_seq: vote().memory_seq })],
    ['on nothing', () => ({ memory_seq: 999 })],
    ['for nothing', () => ({ problem_seq: 999 })],
  ])('a vote %s is refused', (_, wrong) => {
    expect(() => insertRow('utility_observations', { ...vote(), ...wrong() })).toThrow(/CHECK|FOREIGN KEY/);
    insertRow('utility_observations', vote());
  });

  test.each<[string, string, object]>([
    ['a member that is nobody', 'membership', { edge_seq: 1, node_seq: 999, role: 'context', label: 'attempts' }],
    ['evidence of no node', 'node_evidence', { node_seq: 999, evidence_seq: 1, created_at: 1, position: 0 }],
    ['evidence that is none', 'node_evidence', { node_seq: 1, evidence_seq: 999, created_at: 1, position: 0 }],
    ['evidence of no edge', 'edge_evidence', { edge_seq: 999, evidence_seq: 1, created_at: 1, position: 0 }],
    ['evidence of no vote', 'vote_evidence', { vote_seq: 999, evidence_seq: 1, created_at: 1, position: 0 }],
    ['a line of the log for no node', 'evolution_nodes', { node_seq: 999, log_seq: 1 }],
  ])('%s is refused', (_, table, row) => {
    expect(() => insertRow(table, row)).toThrow(/FOREIGN KEY/);
  });

  test('blank evidence is refused, and a reference stands once for each repo', () => {
    const ref = { repo_id: 'r', ref: 'a', created_at: 1 };
    expect(() => insertRow('evidence_refs', { ...ref, ref: '  ' })).toThrow(/CHECK/);
    insertRow('evidence_refs', ref);
    expect(() => insertRow('evidence_refs', ref)).toThrow(/UNIQUE/);
    insertRow('evidence_refs', { ...ref, repo_id: 'other' });
  });
});
