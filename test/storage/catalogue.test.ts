import { existsSync, rmSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { viewOf } from '../../src/domain/spaces.js';
import { SqliteStore } from '../../src/storage/sqlite/store.js';
import { temporaryDirectory } from '../support/directories.js';
import { idOf, insert, OTHER_REPO, planIn, planOf, REPO, START_MS } from '../support/plans.js';
import { connectDirectly, openSqliteStore, repoFileOf } from '../support/sqlite.js';

let directory: ReturnType<typeof temporaryDirectory>;
let file: string;
let store: SqliteStore;

beforeEach(async () => {
  directory = temporaryDirectory();
  file = directory.path('memory.db');
  store = openSqliteStore(file);
  await store.apply(planOf(insert(idOf(1))));
  await store.close();
});
afterEach(async () => {
  await store.close();
  directory.remove();
});

/** Leaves the main file as a backup from before the repo was founded would. */
function forgetRepo(): void {
  const main = connectDirectly(file);
  main.exec('DELETE FROM repos');
  main.close();
}

const listed = async (): Promise<string[]> => (await store.listRepos(null, 10)).map(({ repoId }) => repoId);

describe('a repo file that the catalogue does not know', () => {
  beforeEach(async () => {
    forgetRepo();
    store = openSqliteStore(file);
    expect(await listed()).toEqual([]);
  });

  test.each<[string, () => Promise<unknown>]>([
    ['read', () => store.getMemories(viewOf(REPO), [idOf(1)])],
    ['counted', () => store.countNodes(REPO)],
    ['written', () => store.apply(planOf(insert(idOf(2))))],
  ])('is listed once it was %s, with what it holds', async (_, touch) => {
    await touch();
    const [repo] = await store.listRepos(null, 10);
    expect(repo).toMatchObject({ repoId: REPO, createdAtMs: START_MS });
    expect(repo?.counts).not.toEqual([]);
    expect((await store.summarize()).repos).toBe(1);
  });

  test('is listed after reopening too', async () => {
    await store.countNodes(REPO);
    await store.close();
    store = openSqliteStore(file);
    expect(await listed()).toEqual([REPO]);
  });

  test('can be dropped, once, and the answer says that there was something', async () => {
    expect(await store.dropRepo(REPO)).toBe(true);
    expect(existsSync(repoFileOf(file))).toBe(false);
    expect(await store.dropRepo(REPO)).toBe(false);
    expect(await store.countNodes(REPO)).toEqual([]);
  });
});

test('a repo of the catalogue whose file is missing can be dropped, once', async () => {
  rmSync(repoFileOf(file));
  store = openSqliteStore(file);
  expect(await store.dropRepo(REPO)).toBe(true);
  expect(await listed()).toEqual([]);
  expect(await store.dropRepo(REPO)).toBe(false);
});

test('a repo that the catalogue knows is opened without a write to the main file', async () => {
  store = openSqliteStore(file);
  const other = connectDirectly(file);
  // Whoever wanted to write now would wait in vain.
  other.exec('BEGIN IMMEDIATE');
  try {
    expect(await store.getMemories(viewOf(REPO), [idOf(1)])).toHaveLength(1);
  } finally {
    other.exec('ROLLBACK');
    other.close();
  }
});

test('a repo keeps the time since when it is listed, however often it is opened', async () => {
  let nowMs = START_MS + 1_000;
  store = new SqliteStore({ file, openSpacesMax: 1, now: () => nowMs++ });
  await store.apply(planIn(OTHER_REPO, insert(idOf(2), { repoId: OTHER_REPO })));
  for (const repoId of [REPO, OTHER_REPO, REPO, OTHER_REPO]) await store.countNodes(repoId);
  expect((await store.listRepos(null, 10)).map(({ createdAtMs }) => createdAtMs)).toEqual([START_MS, START_MS + 1_000]);
});
