import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { Connection } from '../../src/storage/sqlite/connection.js';
import { temporaryDirectory } from '../support/directories.js';

let directory: ReturnType<typeof temporaryDirectory>;
let connection: Connection;
beforeEach(() => {
  directory = temporaryDirectory();
  connection = new Connection(directory.path('space.db'));
});
afterEach(() => {
  connection.close();
  directory.remove();
});

const ONE = 'SELECT 1 AS one';

describe('the same question is answered with objects or with arrays as it is asked', () => {
  test('when objects were asked for first', () => {
    expect(connection.all(ONE)).toEqual([{ one: 1 }]);
    expect(connection.rows(ONE)).toEqual([[1]]);
  });

  test('when arrays were asked for first', () => {
    expect(connection.rows(ONE)).toEqual([[1]]);
    expect(connection.all(ONE)).toEqual([{ one: 1 }]);
    expect(connection.get(ONE)).toEqual({ one: 1 });
  });
});

test('a statement is prepared once', () => {
  expect(connection.statement(ONE)).toBe(connection.statement(ONE));
  expect(connection.statement(ONE, true)).toBe(connection.statement(ONE, true));
});
