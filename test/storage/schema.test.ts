import { getTableConfig, type SQLiteTable } from 'drizzle-orm/sqlite-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Connection } from '../../src/storage/sqlite/connection.js';
import * as schema from '../../src/storage/sqlite/schema.js';
import { temporaryDirectory } from '../support/directories.js';

/** Some tables are recreated by hand, which the generator cannot see: this holds every table against the schema. */
const TABLES = (Object.values(schema) as SQLiteTable[]).map((table) => getTableConfig(table));

let directory: ReturnType<typeof temporaryDirectory>;
let connection: Connection;
beforeAll(() => {
  directory = temporaryDirectory();
  connection = new Connection(directory.path('memory.db'));
});
afterAll(() => {
  connection.close();
  directory.remove();
});

test.each(TABLES.map((table) => [table.name, table] as const))('%s is as the schema says', (name, table) => {
  const columns = connection.all<{ name: string; type: string; notnull: number }>(
    'SELECT name, lower(type) AS type, "notnull" FROM pragma_table_info(?) ORDER BY cid',
    name,
  );
  // SQLite does not report a primary key of one integer column as not null.
  const expected = table.columns.map((column) => ({
    name: column.name,
    type: column.getSQLType(),
    notnull: column.notNull && !(column.primary && column.getSQLType() === 'integer') ? 1 : expect.any(Number),
  }));
  expect(columns).toEqual(expected);
  const key = connection.all<{ name: string }>('SELECT name FROM pragma_table_info(?) WHERE pk > 0 ORDER BY pk', name);
  const composite = table.primaryKeys.flatMap((primaryKey) => primaryKey.columns.map((column) => column.name));
  const single = table.columns.filter((column) => column.primary).map((column) => column.name);
  expect(key.map((column) => column.name)).toEqual([...single, ...composite]);
  const references = connection.all<{ id: number }>('SELECT id FROM pragma_foreign_key_list(?)', name);
  expect(references).toHaveLength(table.foreignKeys.length);
  const indexes = connection
    .all<{ name: string }>(`SELECT name FROM pragma_index_list(?) WHERE origin = 'c' ORDER BY name`, name)
    .map((index) => index.name);
  expect(indexes).toEqual(table.indexes.map((index) => index.config.name).sort());
});
