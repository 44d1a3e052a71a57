import Type from 'typebox';
import { Check } from 'typebox/value';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { nullable, words } from '../../src/contracts/schema.js';
import { MEMORY_KINDS } from '../../src/domain/vocabulary.js';
import { readBody } from '../support/requests.js';
import { type Service, startService } from '../support/service.js';
import { expectRefusal } from './bad-input-replies.js';

/** Fields that hold one of a few words, and lists of them. */

let service: Service;
beforeAll(async () => {
  service = await startService();
});
afterAll(() => service.stop());

/** The value and every object inside it. */
function* parts(value: unknown): Generator<Record<string, unknown>> {
  if (typeof value !== 'object' || value === null) return;
  if (!Array.isArray(value)) yield value as Record<string, unknown>;
  for (const inner of Object.values(value)) yield* parts(inner);
}

test('the items of every list without repeats say a simple type, so that a long list is checked in one pass', async () => {
  const { body } = await service.http.get('/openapi.json').expect(200);
  const lists = [...parts(body)].filter(({ uniqueItems }) => uniqueItems === true);
  expect(lists.length).toBeGreaterThan(2);
  // AJV keeps a table of what it saw only where it knows from the items themselves that they are no objects and no lists.
  expect(lists.map(({ items }) => (items as { type?: unknown }).type)).toEqual(lists.map(() => 'string'));
});

describe('a word', () => {
  const read = (kinds: unknown) => service.http.post('/memory/read').send(readBody('Redis', { kinds }));

  test.each([
    ['another word', 'idea'],
    ['a number', 7],
    ['nothing', null],
    ['a list', []],
  ])('that is %s is one mistake, and the answer lists the words there are', async (_name, kind) => {
    const { detail, errors } = expectRefusal(await read([kind]), 'schema_error');
    expect(detail).toBe('1 field needs correction');
    const message = `must be one of ${MEMORY_KINDS.join(', ')}`;
    expect(errors).toEqual([{ field: 'kinds.0', code: 'schema_error', message }]);
  });

  test('that repeats another in a list is refused with the places of both', async () => {
    const { errors } = expectRefusal(await read(['fact', 'change', 'fact']), 'schema_error');
    expect(errors).toEqual([{ field: 'kinds', code: 'schema_error', message: expect.stringMatching(/2 and 0/) }]);
  });

  test('that may be missing may be null, and nothing else', () => {
    const schema = nullable(words(['up', 'down']));
    expect(['up', 'down', null, 'left', 1].map((value) => Check(schema, value))).toEqual([
      true,
      true,
      true,
      false,
      false,
    ]);
    expect(Check(Type.Array(schema), ['up', null])).toBe(true);
  });
});
