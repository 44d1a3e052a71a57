import { copyFileSync, renameSync, rmSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { SqliteStore } from '../../src/storage/sqlite/store.js';
import { temporaryDirectory } from '../support/directories.js';
import { globalPlanOf, idOf, insertGlobal } from '../support/plans.js';
import { connectDirectly, openSqliteStore } from '../support/sqlite.js';

let directory: ReturnType<typeof temporaryDirectory>;
let file: string;
let store: SqliteStore;

beforeEach(() => {
  directory = temporaryDirectory();
  file = directory.path('memory.db');
  store = openSqliteStore(file);
});
afterEach(async () => {
  await store.close();
  directory.remove();
});

describe('a store whose main file is no longer in its place', () => {
  test.each<[string, () => void]>([
    ['deleted', () => rmSync(file)],
    ['renamed', () => renameSync(file, directory.path('elsewhere.db'))],
    [
      'replaced by another',
      () => {
        copyFileSync(file, directory.path('copy.db'));
        renameSync(directory.path('copy.db'), file);
      },
    ],
  ])('because it was %s says that it cannot answer', async (_, displace) => {
    await store.check();
    displace();
    await expect(store.check()).rejects.toMatchObject({
      name: 'StoreUnavailable',
      reason: 'unusable',
      message: 'the main file was moved or deleted; put it back, or restart the service',
    });
  });

  test('can answer again once it is back', async () => {
    renameSync(file, directory.path('elsewhere.db'));
    await expect(store.check()).rejects.toMatchObject({ reason: 'unusable' });
    renameSync(directory.path('elsewhere.db'), file);
    await expect(store.check()).resolves.toBeUndefined();
  });
});

test('a check that fails leaves no transaction behind', async () => {
  const other = connectDirectly(file);
  // Nobody is waited for: what is locked now stays locked.
  other.pragma('busy_timeout = 0');
  try {
    other.exec('ALTER TABLE repos RENAME TO hidden');
    await expect(store.check()).rejects.toThrow(/no such table/);
    other.exec('ALTER TABLE hidden RENAME TO repos');
    await expect(store.check()).resolves.toBeUndefined();
    await store.apply(globalPlanOf(insertGlobal(idOf(1))));
  } finally {
    other.close();
  }
});
