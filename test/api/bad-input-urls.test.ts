import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import type { Service } from '../support/service.js';
import { digestOf, expectRefusal, send } from './bad-input-replies.js';
import { describedOperations, FACT_ID, startSeeded } from './bad-input-requests.js';

/** URLs, query strings and methods that lead nowhere. */

let service: Service;
let untouched: Record<string, string>;
beforeAll(async () => {
  service = await startSeeded();
  untouched = digestOf(service);
});
afterEach(() => expect(digestOf(service)).toEqual(untouched));
afterAll(() => service.stop());

const OPERATIONS = describedOperations();
const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE', 'PROPFIND', 'LOCK'];
const pathOf = (path: string): string => path.split('?')[0] as string;
const PATHS = [...new Set(OPERATIONS.map(({ path }) => pathOf(path)))];

describe.each(PATHS)('%s', (path) => {
  const served = OPERATIONS.filter((operation) => pathOf(operation.path) === path).map(({ method }) => method);
  test.each(METHODS.filter((method) => !served.includes(method)))('has no %s', async (method) => {
    // To GET, the last word of /memory/write is an id, and there is no such memory; to PATCH, that of /nodes/search is one.
    expectRefusal(await send(service, method, path), 'route_not_found', 'not_found', 'schema_error');
  });
});

test.each([
  '/nothing',
  '/memory',
  '/memory/write/',
  '/Memory/Write',
  '//memory/read',
  '/memory/a/b/c',
  '/problems',
  '/health',
  '/health/live/',
  '/.env',
  '/../../etc/passwd',
  '/docs/../package.json',
  '/docs/static/..%2f..%2f..%2fpackage.json',
  '/docs/static/nothing.js',
  '/%2e%2e%2fpackage.json',
  `/${'a'.repeat(10_000)}`,
])('%s is no route', async (path) => {
  for (const method of ['POST', 'DELETE', 'GET']) {
    const { code } = expectRefusal(await send(service, method, path));
    expect(['route_not_found', 'not_found']).toContain(code);
  }
});

const BROKEN = ['%', '%4', '%zz', '%u0041', '%ff', '%c3', '%c0%af', '%ed%a0%80', '%f5%80%80%80'];
const WITH_PARAMETER: readonly [method: string, before: string, after: string][] = [
  ['GET', '/memory/', ''],
  ['GET', '/memory/', '/chain'],
  ['DELETE', '/repos/', '?confirm=x'],
  ['GET', '/problems/', ''],
];
const WITH_QUERY: readonly [method: string, path: string][] = [
  ['GET', `/memory/${FACT_ID}?repo_id=`],
  ['GET', `/memory/${FACT_ID}/chain?repo_id=`],
  ['GET', '/stats?repo_id='],
  ['GET', '/repos?cursor='],
  ['GET', '/repos?limit='],
  ['DELETE', '/repos/acme%2Fshop?confirm='],
];

describe.each(BROKEN)('the percent-encoding %s', (text) => {
  test.each(WITH_PARAMETER)('is refused in the path of %s %s…%s', async (method, before, after) => {
    expectRefusal(await send(service, method, before + text + after), 'malformed_request');
  });
  test.each(WITH_QUERY)('is refused in the query of %s %s', async (method, path) => {
    expectRefusal(await send(service, method, path + text));
  });
});

test.each([
  ['a NUL character', '%00'],
  ['an id of the wrong form', 'latest'],
  ['a path', '..%2f..%2fetc%2fpasswd'],
  ['a blank', '%20'],
  ['a name of every object', '__proto__'],
  ['an id as long as a path allows', 'a'.repeat(2_400)],
  ['SQL', "'%20OR%201=1--"],
])('%s in place of an id is not found', async (_name, id) => {
  for (const after of ['', '/chain', '?repo_id=acme%2Fshop', '/chain?repo_id=acme%2Fshop']) {
    expectRefusal(await send(service, 'GET', `/memory/${id}${after}`), 'not_found');
  }
});

test.each([
  ['an id that is longer than any', `/memory/${'a'.repeat(2_401)}`],
  ['a repo id that is longer than any', `/repos/${'a'.repeat(2_401)}?confirm=a`],
  ['a repo that does not exist', '/repos/nobody?confirm=nobody'],
  ['a repo id that is not confirmed', '/repos/acme%2Fshop?confirm=acme'],
  ['a repo id that is confirmed twice', '/repos/acme%2Fshop?confirm=acme%2Fshop&confirm=acme%2Fshop'],
  ['a repo id without confirmation', '/repos/acme%2Fshop'],
  ['a repo id of control characters', '/repos/%00%0a?confirm=%00%0a'],
  ['an empty repo id', '/repos/?confirm='],
])('%s is refused', async (_name, path) => {
  expectRefusal(await send(service, 'DELETE', path));
  expectRefusal(await send(service, 'GET', path));
});

test.each([
  'NaN',
  'Infinity',
  '-Infinity',
  '',
  '%20',
  '0',
  '-1',
  '1.5',
  '101',
  'ten',
  '1,5',
  '1e400',
  '1_0',
  'null',
  '٣',
])('GET /repos refuses the limit %j', async (limit) => {
  const reply = await send(service, 'GET', `/repos?limit=${encodeURI(decodeURI(limit))}`);
  expect(expectRefusal(reply, 'schema_error').errors.map(({ field }) => field)).toEqual(['limit']);
});

test.each(['', '%20', '!!!', 'YQ==', 'YQ%3D%3D', 'AA', 'Cg', 'gICA', "'%20OR%201", 'YWNtZQ%00', 'a'.repeat(9_000)])(
  'GET /repos refuses the cursor %j, which it never gave out',
  async (cursor) => {
    expectRefusal(await send(service, 'GET', `/repos?cursor=${cursor}`), 'invalid_cursor');
  },
);

describe.each(['/stats', '/repos', `/memory/${FACT_ID}`, `/memory/${FACT_ID}/chain`].map((path) => [path]))(
  'GET %s',
  (path) => {
    test.each([
      'unknown=1',
      '__proto__=1',
      'constructor=1',
      'hasOwnProperty=1',
      'limit%00=1',
      '=1',
      'repo_id=a&repo_id=b',
      'limit=1&limit=2',
      'repo_id[]=a',
      'repo_id[name]=a',
      'repo_id=',
      'REPO_ID=a',
    ])('refuses the query %s', async (query) => {
      expectRefusal(await send(service, 'GET', `${path}?${query}`), 'schema_error');
    });
  },
);

describe('Idempotency-Key', () => {
  test.each([
    ['empty', ''],
    ['longer than 200 characters', 'k'.repeat(201)],
  ])('is refused when it is %s', async (_name, key) => {
    const body = { op: 'write', repo_id: 'acme/shop', memory: {} };
    const reply = await service.http.post('/memory/write').set('idempotency-key', key).send(body);
    expectRefusal(reply, 'schema_error');
  });
});
