import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import SqliteDatabase from 'better-sqlite3';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { dataDirectory, type ServiceProcess, startProcess } from '../support/process.js';
import { writeBody } from '../support/requests.js';

/** The storage layer of the specification, held against the built service. */

const directory = dataDirectory();
const home = directory.path;
let atHome: ServiceProcess;
let elsewhere: ServiceProcess;
beforeAll(async () => {
  atHome = await startProcess(home);
  elsewhere = await startProcess(home, { RLM_MEMORY_DB: join(directory.path, 'other', 'memory.db') });
  for (const service of [atHome, elsewhere]) await service.http.post('/memory/write').send(writeBody()).expect(201);
});
afterAll(async () => {
  await atHome.kill();
  await elsewhere.kill();
  directory.remove();
});

const SQLITE_MAGIC = 'SQLite format 3\0';

test('SPEC-02.01 memories are kept in SQLite files', () => {
  for (const { data } of [atHome, elsewhere]) expect(readFileSync(data).subarray(0, 16).toString()).toBe(SQLITE_MAGIC);
});

test('SPEC-02.02 the database is ~/.claude/rlm-memory.db by default', () => {
  expect(atHome.data).toBe(join(home, '.claude', 'rlm-memory.db'));
  expect(existsSync(atHome.data)).toBe(true);
});

test('SPEC-02.03 RLM_MEMORY_DB names another file', () => {
  expect(elsewhere.data).toBe(join(directory.path, 'other', 'memory.db'));
  expect(existsSync(elsewhere.data)).toBe(true);
});

test('SPEC-02.04 the files are in WAL mode', () => {
  const database = new SqliteDatabase(atHome.data, { readonly: true });
  try {
    expect(database.pragma('journal_mode', { simple: true })).toBe('wal');
  } finally {
    database.close();
  }
});
