import { afterAll, beforeAll, expect, test } from 'vitest';
import { memoryBody, readBody, updateBody, writeBody } from '../support/requests.js';
import { type Service, startService } from '../support/service.js';

/** What a person gets wrong in the first hour, and the word that puts it right. */

let service: Service;
beforeAll(async () => {
  service = await startService();
});
afterAll(() => service.stop());

const ID = '3f2b8c1e-5d47-4a6b-9c0d-1e2f3a4b5c6d';
const post = (path: string, body: object) => service.http.post(path).send(body);
const solution = (problemId: string) => memoryBody({ kind: 'solution', links: { problem_id: problemId } });

test('an unknown sort of update is answered with the sorts there are', async () => {
  const { body } = await post('/memory/update', updateBody(ID, { type: 'archive', archived: true })).expect(400);
  expect(body.errors).toMatchObject([
    { field: 'update.type', message: 'must be one of archive_state, utility_vote, fact_update_link' },
  ]);
});

test('a moment that is none is answered with one', async () => {
  const { body } = await post('/memory/read', readBody('redis', { as_of: 'yesterday' })).expect(400);
  expect(body.errors[0]).toMatchObject({ field: 'as_of', message: expect.stringContaining('2026-01-31T09:30:00Z') });
});

test('a name that no earlier item bears is told from an id', async () => {
  const items = [{ op: 'write', memory: solution('@later') }];
  const { body } = await post('/memory/batch', { repo_id: 'acme/shop', items }).expect(404);
  expect(body.errors[0].message).toBe('no earlier item of this batch is named "later"');
});

test('a memory that is not found is said to be missing from which repo', async () => {
  const id = (await post('/memory/write', writeBody()).expect(201)).body.memory_id;
  const { body } = await service.http.get(`/memory/${id}`).expect(404);
  expect(body.detail).toContain('is visible from repo "default"; ?repo_id= names another');
});

test('a foreign cursor is named as the field it is', async () => {
  const { body } = await service.http.get('/repos').query({ cursor: 'zzz' }).expect(400);
  expect(body.errors).toMatchObject([{ field: 'cursor', code: 'invalid_cursor' }]);
});
