import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { StoreFiles } from '../../src/storage/sqlite/files.js';
import { temporaryDirectory } from '../support/directories.js';
import { openSqliteStore } from '../support/sqlite.js';

let directory: ReturnType<typeof temporaryDirectory>;
let file: string;
let lock: string;
beforeEach(() => {
  directory = temporaryDirectory();
  file = directory.path('memory.db');
  lock = new StoreFiles(file).lock;
});
afterEach(() => directory.remove());

describe('a lock that cannot be taken', () => {
  test.each<[string, () => void]>([
    [
      'something else is in its file',
      () => writeFileSync(lock, 'not a database, but long enough for one. '.repeat(100)),
    ],
    ['it is a directory', () => mkdirSync(lock)],
  ])('because %s is not blamed on another process, but named', async (_, obstruct) => {
    obstruct();
    expect(() => openSqliteStore(file)).toThrow(
      expect.objectContaining({ name: 'StoreUnavailable', reason: 'unusable' }),
    );
    expect(() => openSqliteStore(file)).toThrow(lock);
    expect(() => openSqliteStore(file)).not.toThrow(/another process/);

    rmSync(lock, { recursive: true });
    await openSqliteStore(file).close();
  });
});
