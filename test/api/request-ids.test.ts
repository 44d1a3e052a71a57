import { afterAll, beforeAll, expect, test } from 'vitest';
import { writeBody } from '../support/requests.js';
import type { Service } from '../support/service.js';
import { JSON_TYPE, type ProblemReport, send } from './bad-input-replies.js';
import { startSeeded } from './bad-input-requests.js';

/** Every answer names its request. */

let service: Service;
beforeAll(async () => {
  service = await startSeeded();
});
afterAll(() => service.stop());

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

test.each(['a', 'trace-1', '4bf92f3577b34da6a3ce929d0e0e4736', 'build:77.step_2', 'x'.repeat(128)])(
  'the id %s, sent by the caller, comes back',
  async (id) => {
    const answer = await service.http.get('/health/live').set('x-request-id', id);
    expect(answer.headers['x-request-id']).toBe(id);
  },
);

test.each(['', ' ', 'x'.repeat(129), 'a b', 'a,b', '{"a":1}', '<script>', 'caf\u00e9'])(
  'the text %j is no id, and a new one is made instead',
  async (id) => {
    const reply = await send(service, 'GET', '/health/live', { 'x-request-id': id });
    expect(reply.headers['x-request-id']).toMatch(UUID);
  },
);

test('requests without an id get one each, and none twice', async () => {
  const answers = await Promise.all(Array.from({ length: 20 }, () => service.http.get('/health/live')));
  const ids = answers.map((answer) => answer.headers['x-request-id']);
  for (const id of ids) expect(id).toMatch(UUID);
  expect(new Set(ids).size).toBe(ids.length);
});

test('two ids in one request are none', async () => {
  const reply = await send(service, 'GET', '/health/live', { 'x-request-id': ['one', 'two'] });
  expect(reply.headers['x-request-id']).toMatch(UUID);
});

test('an answer that stored something names its request too', async () => {
  const answer = await service.http.post('/memory/write').set('x-request-id', 'write-1').send(writeBody());
  expect(answer.status).toBe(201);
  expect(answer.headers['x-request-id']).toBe('write-1');
});

test.each([
  ['a refused body', 'POST', '/memory/write', '{}'],
  ['a body that is not JSON', 'POST', '/memory/write', '{'],
  ['a body that is too large', 'POST', '/memory/write', ' '.repeat(1024 * 1024 + 1)],
  ['an unknown memory', 'GET', '/memory/nobody', ''],
  ['an unknown route', 'GET', '/nowhere', ''],
  ['an unknown method', 'PUT', '/memory/write', ''],
  ['a URL that is not valid', 'GET', '/memory/%zz', ''],
  ['an id that is longer than any', 'GET', `/memory/${'a'.repeat(3_000)}`, ''],
])(
  'the problem for %s carries the id of its request, in the header and in the report',
  async (_name, method, path, body) => {
    const reply = await send(service, method, path, { ...JSON_TYPE, 'x-request-id': 'mine-1' }, body);
    expect((reply.body as ProblemReport).request_id).toBe('mine-1');
    expect(reply.headers['x-request-id']).toBe('mine-1');
  },
);

test('what is no request at all is answered with an id of its own', async () => {
  const reply = await send(service, 'GET', '/stats', { 'x-padding': 'x'.repeat(20_000) });
  expect(reply.headers['x-request-id']).toMatch(UUID);
  expect((reply.body as ProblemReport).request_id).toBe(reply.headers['x-request-id']);
});
