import { existsSync } from 'node:fs';
import { isDeepStrictEqual } from 'node:util';
import SqliteDatabase, { type Database } from 'better-sqlite3';
import { expect } from 'vitest';
import { StoreFiles } from '../../src/storage/sqlite/files.js';
import type { Service } from './service.js';

/** What really lies in a space's file, seen by a database client of its own. A repo id of null means the global space. */

export type Row = Record<string, unknown>;
type Tables = Record<string, Row[]>;

export const fileOf = (service: Service, repoId: string | null): string =>
  repoId === null ? service.file : new StoreFiles(service.file).repo(repoId);

/** Lends a read-only client; a space that was never written has no file and answers `otherwise`. */
function reading<Result>(file: string, read: (database: Database) => Result, otherwise: Result): Result {
  if (!existsSync(file)) return otherwise;
  const database = new SqliteDatabase(file, { readonly: true });
  try {
    return read(database);
  } finally {
    database.close();
  }
}

export const select = (service: Service, repoId: string | null, sql: string, ...parameters: unknown[]): Row[] =>
  reading(fileOf(service, repoId), (database) => database.prepare(sql).all(...parameters) as Row[], []);

const TABLE_NAMES = `SELECT name FROM pragma_table_list
  WHERE schema = 'main' AND type IN ('table', 'virtual') AND name NOT LIKE 'sqlite_%' ORDER BY name`;

/** Every row of every table. The search index counts by what it finds, not by how it is laid out. */
export const tables = (service: Service, repoId: string | null = 'acme/shop'): Tables =>
  reading(
    fileOf(service, repoId),
    (database) => {
      const names = database.prepare(TABLE_NAMES).pluck().all() as string[];
      return Object.fromEntries(
        names.map((name) => [name, database.prepare(`SELECT * FROM "${name}"`).all() as Row[]]),
      );
    },
    {},
  );

export const countRows = (tables: Tables): Record<string, number> =>
  Object.fromEntries(Object.entries(tables).map(([name, rows]) => [name, rows.length]));

/** The names of the tables in which anything is different. */
export const changedTables = (before: Tables, after: Tables): string[] =>
  [...new Set([...Object.keys(before), ...Object.keys(after)])]
    .filter((name) => !isDeepStrictEqual(before[name] ?? [], after[name] ?? []))
    .sort();

/** Everything that a request in the repo could have changed. */
export const stored = (service: Service, repoId = 'acme/shop'): { repo: Tables; global: Tables } => ({
  repo: tables(service, repoId),
  global: tables(service, null),
});

/** The links of a label: who plays which part, as the membership rows say. */
export function linksOf(service: Service, repoId: string | null, label: string): { weight: unknown; members: Row[] }[] {
  return select(service, repoId, 'SELECT seq, weight FROM hyperedges WHERE label = ? ORDER BY seq', label).map(
    (edge) => ({
      weight: edge.weight,
      members: select(
        service,
        repoId,
        'SELECT n.id, s.role FROM membership s JOIN nodes n ON n.seq = s.node_seq WHERE s.edge_seq = ? ORDER BY s.position',
        edge.seq,
      ),
    }),
  );
}

interface Refusal {
  readonly status: number;
  readonly code: string;
  /** Field and code of each violation, in order of the fields. */
  readonly errors: [field: string, code: string][];
  readonly messages: string[];
}

/** Sends what has to be refused, and proves that not one row was changed by it. */
export async function refused(service: Service, path: string, body: object, repoId = 'acme/shop'): Promise<Refusal> {
  const before = stored(service, repoId);
  const answer = await service.http.post(path).send(body);
  expect(answer.status).toBeGreaterThanOrEqual(400);
  expect(answer.headers['content-type']).toMatch(/^application\/problem\+json/);
  expect(stored(service, repoId)).toEqual(before);
  const errors = answer.body.errors as { field: string; code: string; message: string }[];
  errors.sort((a, b) => (a.field < b.field ? -1 : 1));
  expect(errors.every(({ message }) => message.length > 0)).toBe(true);
  return {
    status: answer.status,
    code: answer.body.code,
    errors: errors.map(({ field, code }) => [field, code]),
    messages: errors.map(({ message }) => message),
  };
}
