import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { readBody, updateBody, writeBody } from '../support/requests.js';
import type { Service } from '../support/service.js';
import { digestOf, expectRefusal } from './bad-input-replies.js';
import { FACT_ID, FULL_BODIES, PROBLEM_ID, startSeeded } from './bad-input-requests.js';

/** Values of the right type that lie outside what a field means. */

let service: Service;
let untouched: Record<string, string>;
beforeAll(async () => {
  service = await startSeeded();
  untouched = digestOf(service);
});
afterEach(() => expect(digestOf(service)).toEqual(untouched));
afterAll(() => service.stop());

const vote = (value: unknown) => updateBody(FACT_ID, { type: 'utility_vote', problem_id: PROBLEM_ID, vote: value });
const memory = (confidence: unknown) => ({ ...writeBody(), memory: { ...writeBody().memory, confidence } });
const read = (more: object) => readBody('Redis', more);
/** Written into the text where a value should be, because JSON has numbers that JavaScript has not. */
const RAW = '@raw@';

const OUT_OF_RANGE: readonly [field: string, route: string, body: (value: unknown) => object, values: string[]][] = [
  ['memory.confidence', '/memory/write', memory, ['-0.01', '1.01', '-1e-300', '1e308', '1e999', '-1e999']],
  ['update.vote', '/memory/update', vote, ['-1.01', '1.01', '1e308', '-1e999', '1e999']],
  ['limit', '/memory/read', (limit) => read({ limit }), ['0', '-1', '101', '1.5', '1e21', '1e999', '9007199254740993']],
  ['expand.semantic_hops', '/memory/read', (hops) => read({ expand: { semantic_hops: hops } }), ['-1', '4', '0.5']],
  ['max_tokens', '/memory/read', (tokens) => read({ max_tokens: tokens }), ['0', '-5', '1000001', '2.5', '1e999']],
];

describe.each(OUT_OF_RANGE)('%s', (field, route, body, values) => {
  test.each(values)('refuses %s, which is out of its range', async (value) => {
    const text = JSON.stringify(body(RAW)).replace(`"${RAW}"`, value);
    const answer = await service.http.post(route).set('content-type', 'application/json').send(text);
    expect(expectRefusal(answer, 'schema_error').errors.map((error) => error.field)).toEqual([field]);
  });
});

test.each([
  'yesterday',
  '',
  '2026',
  '2026-01-01',
  '2026-13-01T00:00:00Z',
  '2026-02-30T00:00:00Z',
  '2026-01-01T25:00:00Z',
  '2026-01-01T00:00:00',
  '2016-12-31T23:59:60Z',
  '2026-01-01T00:00:00+05',
  '2026-01-01T00:00:00+99:99',
  '+275760-09-13T00:00:00.001Z',
  '-000001-01-01T00:00:00Z',
  '1767225600000',
])('as_of refuses %j, which is no moment', async (asOf) => {
  const answer = await service.http.post('/memory/read').send(read({ as_of: asOf }));
  const { errors } = expectRefusal(answer, 'schema_error', 'semantic_error');
  expect(errors.map((error) => error.field)).toEqual(['as_of']);
});

test.each([
  ['more than 200 characters', 'r'.repeat(201)],
  ['a line break', 'acme\nshop'],
  ['only white space', ' \t '],
  ['an escape character', 'acme\u001bshop'],
])('a repo id with %s is refused by every route that takes one', async (_name, repoId) => {
  for (const { path, body, method } of FULL_BODIES) {
    const [route] = path.split('?') as [string];
    const request = method === 'PATCH' ? service.http.patch(route) : service.http.post(route);
    const field = ['repo_id', 'project_id'].find((name) => name in body);
    const answer = await (field
      ? request.send({ ...body, [field]: repoId })
      : request.query({ repo_id: repoId }).send(body));
    expect(expectRefusal(answer, 'semantic_error').errors.map((error) => error.field)).toContain(field ?? 'repo_id');
  }
  for (const path of ['/stats', `/memory/${FACT_ID}`, `/memory/${FACT_ID}/chain`]) {
    expectRefusal(await service.http.get(path).query({ repo_id: repoId }), 'semantic_error');
  }
  const drop = service.http.delete(`/repos/${encodeURIComponent(repoId)}`).query({ confirm: repoId });
  expectRefusal(await drop, 'semantic_error');
});
