import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { PROBLEMS, type ProblemCode } from '../../src/errors.js';
import { change, remember, updateBody, writeBody } from '../support/requests.js';
import type { Service } from '../support/service.js';
import { expectRefusal, JSON_TYPE, type Reply, send } from './bad-input-replies.js';
import { CHANGE_ID, CONCEPT_ID, FACT_ID, NEW_FACT_ID, PROBLEM_ID, startSeeded } from './bad-input-requests.js';

/** One catalogue of problems: the code, the papers, the description and the answers all say the same. */

let service: Service;
beforeAll(async () => {
  service = await startSeeded();
});
afterAll(() => service.stop());

const CODES = Object.keys(PROBLEMS) as ProblemCode[];
const readText = (path: string): string => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8');

describe('docs/errors.md', () => {
  /** The cells of every row that begins with a code: code, status, meaning, what to do. */
  const rows = () =>
    readText('docs/errors.md')
      .split('\n')
      .filter((line) => /^\|\s*`/.test(line))
      .map((line) => line.split('|').map((cell) => cell.trim()));

  test('has a row for every code with its status, and no other row', () => {
    expect(rows().map(([, code, status]) => [code, status])).toEqual(
      CODES.map((code) => [`\`${code}\``, String(PROBLEMS[code].status)]),
    );
  });

  test('tells what each code means and what to do about it in the words of the service', () => {
    expect(rows().map(([, , , meaning, advice]) => [meaning, advice])).toEqual(
      CODES.map((code) => [PROBLEMS[code].title, PROBLEMS[code].hint]),
    );
  });
});

describe('OpenAPI', () => {
  const document = JSON.parse(readText('openapi/openapi.json'));

  test('lists exactly the codes of the catalogue', () => {
    expect(document.components.schemas.Problem.properties.code.enum).toEqual(CODES);
  });

  test('describes every code at a route that may answer it, under its status', () => {
    const described = new Set<string>();
    for (const methods of Object.values(document.paths as Record<string, Record<string, Described>>)) {
      for (const { responses } of Object.values(methods)) {
        for (const [status, { description }] of Object.entries(responses)) {
          for (const [, code] of description.matchAll(/`(\w+)`:/g)) described.add(`${status} ${code}`);
        }
      }
    }
    type Described = { responses: Record<string, { description: string }> };
    // There is no route at which one could say that there is no such route.
    const expected = CODES.filter((code) => code !== 'route_not_found').map(
      (code) => `${PROBLEMS[code].status} ${code}`,
    );
    expect([...described].sort()).toEqual(expected.sort());
  });
});

describe.each(CODES)('/problems/%s', (code) => {
  test('tells what the code means', async () => {
    const answer = await service.http.get(`/problems/${code}`).expect(200);
    expect(answer.body).toEqual({ code, ...PROBLEMS[code] });
  });
});

test('titles and hints are sentences that differ from code to code', () => {
  const rows = Object.values(PROBLEMS);
  expect(new Set(rows.map(({ title }) => title)).size).toBe(rows.length);
  for (const { hint } of rows) expect(hint).toMatch(/^[A-Z].*\.$/);
});

const post = (path: string, body: object, headers: object = {}): Promise<Reply> =>
  send(service, 'POST', path, { ...JSON_TYPE, ...headers }, JSON.stringify(body));

/** For every code that a caller can cause: a request that causes it. */
const CAUSES: Readonly<Partial<Record<ProblemCode, () => Promise<Reply>>>> = {
  schema_error: () => post('/memory/write', {}),
  malformed_body: () => send(service, 'POST', '/memory/write', JSON_TYPE, '{'),
  malformed_request: () => send(service, 'GET', '/memory/%zz'),
  invalid_cursor: () => send(service, 'GET', '/repos?cursor=!'),
  not_found: () => send(service, 'GET', '/memory/nobody'),
  route_not_found: () => send(service, 'GET', '/nowhere'),
  conflict: async () => {
    const link = { type: 'fact_update_link', old_fact_id: FACT_ID, new_fact_id: NEW_FACT_ID };
    await change(service, CHANGE_ID, link);
    return post('/memory/update', updateBody(CHANGE_ID, link));
  },
  precondition_failed: () => send(service, 'DELETE', `/nodes/${CONCEPT_ID}?repo_id=acme%2Fshop`, { 'if-match': '"7"' }),
  payload_too_large: () => send(service, 'POST', '/memory/write', JSON_TYPE, ' '.repeat(1024 * 1024 + 1)),
  unsupported_media_type: () => send(service, 'POST', '/memory/write', { 'content-type': 'text/plain' }, 'hello'),
  host_not_allowed: () => send(service, 'GET', '/stats', { host: 'rebound.example' }),
  semantic_error: () => post('/memory/write', writeBody({ kind: 'solution' })),
  integrity_error: () => post('/memory/write', writeBody({ kind: 'solution', links: { problem_id: FACT_ID } })),
  idempotency_key_reused: async () => {
    await post('/memory/write', writeBody({ text: 'once' }), { 'idempotency-key': 'k' });
    return post('/memory/write', writeBody({ text: 'twice' }), { 'idempotency-key': 'k' });
  },
  snippet_failed: () => post('/repl', { code: 'memory_add_fact(7)' }),
  snippet_limit: () => post('/repl', { code: 'for (;;) {}' }),
  header_fields_too_large: () => send(service, 'GET', '/stats', { 'x-padding': 'x'.repeat(20_000) }),
};

test('every code below 500 has a request here that causes it', () => {
  expect(Object.keys(CAUSES)).toEqual(CODES.filter((code) => PROBLEMS[code].status < 500));
});

describe.each(Object.entries(CAUSES))('%s', (code, cause) => {
  test('is answered in full, and its type leads to its description', async () => {
    expectRefusal(await cause(), code as ProblemCode);
    await service.http.get(`/problems/${code}`).expect(200);
  });
});

test('every violation of a gate is reported, each with its field', async () => {
  const body = { op: 'wrong', repo_id: '', memory: { text: 1, scope: 'here', kind: 'idea' }, more: true };
  const report = expectRefusal(await post('/memory/write', body), 'schema_error');
  expect(report.errors.map(({ field }) => field).sort()).toEqual(
    ['memory.confidence', 'memory.kind', 'memory.scope', 'memory.text', 'more', 'op', 'repo_id'].sort(),
  );
});

test('a vote for a problem that is none names the field that is wrong', async () => {
  const id = await remember(service, { text: 'A fact to vote on' });
  const vote = updateBody(id, { type: 'utility_vote', problem_id: FACT_ID, vote: 1 });
  const report = expectRefusal(await post('/memory/update', vote), 'integrity_error');
  expect(report.errors.map(({ field, code }) => [field, code])).toEqual([['update.problem_id', 'integrity_error']]);
  await change(service, id, { type: 'utility_vote', problem_id: PROBLEM_ID, vote: 1 });
});
