import { readFileSync } from 'node:fs';
import AjvCompiler from '@fastify/ajv-compiler';
import type supertest from 'supertest';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { memoryBody, readBody, remember, updateBody, writeBody } from '../support/requests.js';
import { type Service, startService } from '../support/service.js';

/** What the service answers is what its description promises: every field described, none missing, none besides. */

interface Content {
  content: Record<string, { schema: object }>;
}
const document = JSON.parse(readFileSync(new URL('../../openapi/openapi.json', import.meta.url), 'utf8')) as {
  components: { schemas: Record<string, Record<string, unknown>> };
  paths: Record<string, Record<string, { requestBody?: Content; responses: Record<string, Content> }>>;
};

type Validator = ((value: unknown) => boolean) & { errors?: unknown };
/** Fastify's own compiler takes a route where its type says schema. */
const compile = AjvCompiler()(
  {},
  {
    customOptions: { coerceTypes: false, removeAdditional: false, useDefaults: false, strict: false, allErrors: true },
  },
) as unknown as (route: { schema: object }) => Validator;

/** Objects admit no other fields than those described; a description alone would let anything by. */
const closed = (schemas: object): object =>
  JSON.parse(JSON.stringify(schemas), (_key, value) =>
    value?.type === 'object' && value.properties ? { additionalProperties: false, ...value } : value,
  );
const components = closed(document.components);

function expectValid(schema: object, value: unknown): void {
  const validate = compile({ schema: { ...schema, components } });
  validate(value);
  expect(validate.errors ?? []).toEqual([]);
}

let service: Service;
beforeAll(async () => {
  service = await startService();
});
afterAll(() => service.stop());

/** Sends the request and holds the answer against the response that the document has for the route and status. */
async function answers(method: string, path: string, status: number, request: supertest.Test): Promise<void> {
  const answer = await request;
  expect([answer.status, answer.body.errors ?? []]).toEqual([status, expect.anything()]);
  const described = document.paths[path]?.[method]?.responses[status];
  const type = String(answer.headers['content-type']).split(';')[0] as string;
  expect(Object.keys(described?.content ?? {})).toEqual([type]);
  expectValid(described?.content[type]?.schema as object, answer.body);
}

const REPO = { repo_id: 'acme/shop' };
const post = (path: string, body: object) => service.http.post(path).send(body);

describe('answers are as described', () => {
  test('of a write: stored, stored before, refused at each gate', async () => {
    const path = '/memory/write';
    const problem = await remember(service, { kind: 'problem', text: 'Pages load slowly' });
    const solution = writeBody({
      kind: 'solution',
      text: 'Cache pages',
      rationale: 'measured',
      links: { problem_id: problem },
    });
    await answers('post', path, 201, post(path, solution));
    await answers('post', path, 200, post(path, solution));
    await answers('post', path, 201, post(path, writeBody({ scope: 'global', text: 'Everywhere', links: {} })));
    await answers('post', path, 400, post(path, {}));
    await answers('post', path, 415, service.http.post(path).type('text').send('hello'));
    await answers('post', path, 422, post(path, writeBody({ kind: 'solution' })));
    await answers('post', path, 404, post(path, writeBody({ links: { related_memory_ids: ['nobody'] } })));
  });

  test('of an update: every type, as a dry run and carried out', async () => {
    const path = '/memory/update';
    const problem = await remember(service, { kind: 'problem', text: 'Builds are slow' });
    const [older, newer] = [
      await remember(service, { text: 'Builds use make' }),
      await remember(service, { text: 'Builds use ninja' }),
    ];
    const cause = await remember(service, { kind: 'change', text: 'The build tool was replaced' });
    const updates: [string, object][] = [
      [older, { type: 'utility_vote', problem_id: problem, vote: -1, evidence_refs: ['session://1'] }],
      [cause, { type: 'fact_update_link', old_fact_id: older, new_fact_id: newer, evidence_refs: ['commit:1'] }],
      [problem, { type: 'archive_state', archived: true }],
      [problem, { type: 'archive_state', archived: false }],
    ];
    for (const [id, update] of updates) {
      await answers('post', path, 200, post(path, updateBody(id, update, 'dry_run')));
      await answers('post', path, 200, post(path, updateBody(id, update)));
    }
    const [, again] = updates[1] as [string, object];
    await answers('post', path, 409, post(path, updateBody(cause, again)));
    await answers('get', '/memory/{memory_id}', 200, service.http.get(`/memory/${older}`).query(REPO));
    await answers('get', '/memory/{memory_id}/chain', 200, service.http.get(`/memory/${older}/chain`).query(REPO));
    await answers('get', '/memory/{memory_id}/chain', 422, service.http.get(`/memory/${problem}/chain`).query(REPO));
  });

  test('of a batch', async () => {
    const path = '/memory/batch';
    const items = [
      { op: 'write', ref: 'slow', memory: memoryBody({ kind: 'problem', text: 'Logs grow' }) },
      { op: 'write', memory: memoryBody({ kind: 'solution', text: 'Rotate logs', links: { problem_id: '@slow' } }) },
      { op: 'update', memory_id: '@slow', update: { type: 'archive_state', archived: true } },
    ];
    await answers('post', path, 200, post(path, { ...REPO, mode: 'dry_run', items }));
    await answers('post', path, 200, post(path, { ...REPO, items }));
    await answers('post', path, 400, post(path, { ...REPO, items: [] }));
  });

  test('of a read: plain, explained, of a past moment, within a budget, empty', async () => {
    const path = '/memory/read';
    const everything = { explain: true, as_of: service.clock.iso(), max_tokens: 1, include_archived: true };
    for (const more of [{}, { explain: true }, everything, { mode: 'ambient' }, { kinds: ['change'] }]) {
      await answers('post', path, 200, post(path, readBody('which tool do builds use, make or ninja?', more)));
    }
    await answers('post', path, 200, post(path, readBody('zeppelin')));
    await answers('post', path, 422, post(path, readBody(' ')));
  });

  test('of repos, counts, health, problems and removal', async () => {
    await answers('get', '/repos', 200, service.http.get('/repos').query({ limit: 1 }));
    await answers('get', '/repos', 400, service.http.get('/repos').query({ cursor: '!' }));
    await answers('get', '/stats', 200, service.http.get('/stats').query(REPO));
    await answers('get', '/health/live', 200, service.http.get('/health/live'));
    await answers('get', '/health/ready', 200, service.http.get('/health/ready'));
    await answers('get', '/problems/{code}', 200, service.http.get('/problems/conflict'));
    await answers('get', '/problems/{code}', 400, service.http.get('/problems/nothing'));
    await answers('get', '/memory/{memory_id}', 404, service.http.get('/memory/nobody'));
    const drop = () => service.http.delete('/repos/acme%2Fshop').query({ confirm: 'acme/shop' });
    await answers('delete', '/repos/{repo_id}', 415, drop().type('text').send('please'));
    await answers('delete', '/repos/{repo_id}', 200, drop());
    await answers('delete', '/repos/{repo_id}', 404, drop());
  });
});

test('every example of a schema is right by that schema', () => {
  const check = (schema: Record<string, unknown>): number => {
    const examples = (schema.examples ?? []) as unknown[];
    for (const example of examples) expectValid(schema, example);
    return Object.values(schema)
      .filter((inner): inner is Record<string, unknown> => typeof inner === 'object' && inner !== null)
      .reduce((sum, inner) => sum + check(inner), examples.length);
  };
  expect(check(document.components.schemas)).toBeGreaterThan(5);
});

test('every example of a body is accepted by its route, up to the ids that it makes up', async () => {
  for (const [path, { post: operation }] of Object.entries(document.paths)) {
    const { $ref = '' } = (operation?.requestBody?.content['application/json']?.schema ?? {}) as { $ref?: string };
    const schema = document.components.schemas[$ref.split('/').at(-1) as string];
    for (const example of (schema?.examples ?? []) as object[]) {
      const answer = await post(path, example);
      expect({ path, status: answer.status }).toEqual({
        path,
        status: expect.toSatisfy((status) => [200, 201, 404].includes(status)),
      });
    }
  }
});
