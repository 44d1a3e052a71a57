import SqliteDatabase from 'better-sqlite3';
import { expect, test } from 'vitest';
import { GLOBAL_SPACE } from '../../src/domain/spaces.js';
import { StoreUnavailable } from '../../src/storage/port.js';
import { toUnavailable } from '../../src/storage/sqlite/failures.js';
import { REPO } from '../support/plans.js';

const engineError = (code: string): Error => new SqliteDatabase.SqliteError('in the words of the engine', code);
const systemError = (code: string): Error =>
  Object.assign(new Error(`${code}: '/home/somebody/memory.db'`), { code, syscall: 'open' });

test.each<[string, StoreUnavailable['reason'], RegExp]>([
  ['SQLITE_FULL', 'full', /disk .* is full/],
  ['SQLITE_BUSY', 'busy', /try again/],
  ['SQLITE_BUSY_SNAPSHOT', 'busy', /try again/],
  ['SQLITE_LOCKED', 'busy', /try again/],
  ['SQLITE_LOCKED_SHAREDCACHE', 'busy', /try again/],
  ['SQLITE_CORRUPT', 'unusable', /repo acme\/shop is damaged; restore it/],
  ['SQLITE_CORRUPT_VTAB', 'unusable', /repo acme\/shop is damaged; restore it/],
  ['SQLITE_NOTADB', 'unusable', /repo acme\/shop is damaged; restore it/],
  ['SQLITE_IOERR', 'unusable', /repo acme\/shop cannot be read or written/],
  ['SQLITE_IOERR_SHORT_READ', 'unusable', /repo acme\/shop cannot be read or written/],
  ['SQLITE_CANTOPEN_ISDIR', 'unusable', /repo acme\/shop cannot be read or written/],
  ['SQLITE_READONLY_DBMOVED', 'unusable', /repo acme\/shop cannot be read or written/],
])("the engine's %s makes the store %s, in a sentence that says what to do", (code, reason, sentence) => {
  const cause = engineError(code);
  const unavailable = toUnavailable(cause, REPO);
  expect(unavailable).toBeInstanceOf(StoreUnavailable);
  expect(unavailable).toMatchObject({ reason, message: expect.stringMatching(sentence), cause });
});

test.each<[string, StoreUnavailable['reason']]>([
  ['ENOSPC', 'full'],
  ['EDQUOT', 'full'],
  ['EACCES', 'unusable'],
  ['EROFS', 'unusable'],
  ['ENOTDIR', 'unusable'],
])("the operating system's %s makes the store %s, without a word of the path", (code, reason) => {
  const unavailable = toUnavailable(systemError(code), REPO) as Error;
  expect(unavailable).toMatchObject({ name: 'StoreUnavailable', reason });
  expect(unavailable.message).not.toContain('/home');
});

test('the file of the global space is called the main file', () => {
  expect(toUnavailable(engineError('SQLITE_CORRUPT'), GLOBAL_SPACE)).toMatchObject({
    message: 'the main file is damaged; restore it from a backup',
  });
});

test.each<[string, unknown]>([
  ['a broken rule of the schema', engineError('SQLITE_CONSTRAINT_UNIQUE')],
  ['a mistake in a statement', engineError('SQLITE_ERROR')],
  ['what was translated before', new StoreUnavailable('newer', 'of a newer version')],
  ['a mistake in the service', new TypeError('x is not a function')],
  ['what is no error at all', 'a word'],
  ['nothing', undefined],
])('%s stays what it is', (_, error) => {
  expect(toUnavailable(error, REPO)).toBe(error);
});
