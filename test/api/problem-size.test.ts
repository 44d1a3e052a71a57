import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ERRORS_NAMED_MAX } from '../../src/errors.js';
import { memoryBody, readBody, writeBody } from '../support/requests.js';
import { type Service, startService } from '../support/service.js';
import { expectRefusal } from './bad-input-replies.js';

/** However much is wrong with a request, its refusal stays short enough to read. */

const ANSWER_BYTES_MAX = 256 * 1024;
const BODY_BYTES_MAX = 1024 * 1024;

let service: Service;
beforeAll(async () => {
  service = await startService();
});
afterAll(() => service.stop());

const post = (path: string, body: object) => service.http.post(path).type('json').send(JSON.stringify(body));

const fields = (count: number, key: (index: number) => string): object =>
  Object.fromEntries(Array.from({ length: count }, (_, index) => [key(index), index]));

/** The value inside as many objects as there are levels, each with one long key. */
const nest = (levels: number, key: string, value: unknown): object =>
  levels === 1 ? { [key]: value } : { [key]: nest(levels - 1, key, value) };

const batch = (memory: (item: number) => object): object => ({
  repo_id: 'acme/shop',
  items: Array.from({ length: 100 }, (_, item) => ({ op: 'write', memory: memory(item) })),
});
const related = (id: (item: number, index: number) => string): object =>
  batch((item) =>
    memoryBody({
      text: `Fact ${item}`,
      links: { related_memory_ids: Array.from({ length: 100 }, (_, index) => id(item, index)) },
    }),
  );

const HOSTILE: readonly [name: string, path: string, body: object][] = [
  ['a bad leaf under 30 long keys', '/memory/write', nest(30, 'k'.repeat(30_000), ['\0', '\0'])],
  ['1,000 bad leaves under 30 long keys', '/memory/write', nest(30, 'k'.repeat(30_000), Array(1_000).fill('\0'))],
  ['bad leaves under keys of emoji', '/memory/write', nest(30, '🙂'.repeat(7_000), Array(1_000).fill('\0'))],
  ['bad leaves under keys that are escaped', '/memory/write', nest(30, '\u0001'.repeat(5_000), Array(900).fill('\0'))],
  ['bad leaves by the ten thousand', '/memory/write', { a: Array(100).fill(Array(1_000).fill('\0')) }],
  [
    '1,000 unknown fields of 1,000 characters',
    '/memory/write',
    fields(1_000, (index) => `${index}`.padEnd(1_000, 'x')),
  ],
  ['1,000 unknown fields of escaped characters', '/memory/write', fields(1_000, (at) => `${at}`.padEnd(150, '\u0001'))],
  ['an unknown field of 1,000,000 characters', '/memory/write', { ['x'.repeat(1_000_000)]: 1 }],
  ['60,000 unknown fields', '/memory/write', fields(60_000, (index) => `f${index}`)],
  [
    '1,000 words that are no kinds',
    '/memory/read',
    readBody('Redis', { kinds: Array.from(Array(1_000).keys(), String) }),
  ],
  ['100 items with 1,000 blank references', '/memory/batch', blankEvidence()],
  ['10,000 references to nobody', '/memory/batch', related((item, index) => `${item}/${index}`)],
  ['1,000 long references to nobody', '/memory/write', longReferences()],
];

function blankEvidence(): object {
  const blanks = Array.from({ length: 1_000 }, (_, length) => ' '.repeat(length % 10) + '\t'.repeat(length / 10));
  return { repo_id: 'acme/shop', items: [{ op: 'write', memory: memoryBody({ evidence_refs: blanks }) }] };
}

function longReferences(): object {
  const ids = Array.from({ length: 100 }, (_, index) => `${index}`.padEnd(1_500, '\u0001'));
  return writeBody({ links: { related_memory_ids: ids } });
}

describe.each(HOSTILE)('%s', (_name, path, body) => {
  test('get an answer of bounded length that names the first of what is wrong', async () => {
    expect(JSON.stringify(body).length).toBeLessThan(BODY_BYTES_MAX);
    const answer = await post(path, body);
    expect(Buffer.byteLength(answer.text)).toBeLessThan(ANSWER_BYTES_MAX);
    const { errors } = expectRefusal(answer);
    expect(errors.length).toBeGreaterThan(0);
    expect(errors.length).toBeLessThanOrEqual(ERRORS_NAMED_MAX);
    for (const { field, message } of errors)
      expect([field.isWellFormed(), message.isWellFormed()]).toEqual([true, true]);
  });
});

test('an answer that names only some of the fields says how many there are', async () => {
  const some = await post('/memory/write', { ...writeBody(), ...fields(ERRORS_NAMED_MAX, (index) => `f${index}`) });
  expect(some.body.detail).toBe(`${ERRORS_NAMED_MAX} fields need correction`);
  expect(some.body.errors).toHaveLength(ERRORS_NAMED_MAX);

  const more = await post('/memory/write', { ...writeBody(), ...fields(1_203, (index) => `f${index}`) });
  expect(more.body.detail).toBe(`1203 fields need correction; the first ${ERRORS_NAMED_MAX} are named`);
  expect(more.body.errors).toHaveLength(ERRORS_NAMED_MAX);
});

test('a gate that finds more than an answer names says so like the schema does', async () => {
  const answer = await post(
    '/memory/batch',
    related((item, index) => `${item}/${index}`),
  );
  expect(answer.body.code).toBe('not_found');
  expect(answer.body.detail).toBe(`10000 fields need correction; the first ${ERRORS_NAMED_MAX} are named`);
});

test('a body that holds more than can be told which cannot be stored says so', async () => {
  const answer = await post('/memory/write', { a: Array(1_000).fill('\0') });
  expect(answer.body.detail).toBe(`the body holds what cannot be stored; the first ${ERRORS_NAMED_MAX} are named`);
});

test('a long field name is shortened in each part, so that the last part is still told', async () => {
  const unknown = await post('/memory/write', { ...writeBody(), ['🙂'.repeat(500)]: 1 });
  const [{ field }] = unknown.body.errors;
  expect(field).toMatch(/^(🙂){90,100}…$/u);

  const unfit = await post('/memory/write', { [`x${'🙂'.repeat(500)}`]: { leaf: '\0' } });
  expect(unfit.body.errors[0].field).toMatch(/^x(🙂){90,100}….leaf$/u);
});
