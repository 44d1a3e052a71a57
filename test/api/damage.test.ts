import { renameSync, writeFileSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { PROBLEMS } from '../../src/errors.js';
import { type TemporaryDirectory, temporaryDirectory } from '../support/directories.js';
import { readBody, recall, remember, updateBody, writeBody } from '../support/requests.js';
import { fileOf } from '../support/rows.js';
import { type Service, startService } from '../support/service.js';
import { connectDirectly } from '../support/sqlite.js';

/** What the service says when a file of its store can no longer be read, and what still works then. */

let directory: TemporaryDirectory;
let service: Service;
let memoryId: string;
beforeEach(async () => {
  directory = temporaryDirectory();
  service = await startService({ RLM_MEMORY_DB: directory.path('memory.db') });
});
afterEach(async () => {
  await service.stop();
  directory.remove();
});

describe('a repo whose file is damaged', () => {
  beforeEach(async () => {
    memoryId = await remember(service, {}, 'acme/shop');
    await remember(service, { text: 'The oven needs an hour' }, 'acme/bakery');
    await service.stop();
    writeFileSync(fileOf(service, 'acme/shop'), 'not a database, but long enough for one. '.repeat(1_000));
    service = await startService({ RLM_MEMORY_DB: service.file });
  });

  test('is listed as damaged, without memories, and the other repos as ever', async () => {
    const { body } = await service.http.get('/repos').expect(200);
    const told = body.repos.map(({ repo_id, damaged, memories }: Listed) => [repo_id, damaged, memories.total]);
    expect(told).toEqual([
      ['acme/bakery', false, 1],
      ['acme/shop', true, 0],
    ]);
  });
  type Listed = { repo_id: string; damaged: boolean; memories: { total: number } };

  const REQUESTS: readonly [name: string, send: () => Promise<{ status: number; body: Record<string, unknown> }>][] = [
    ['a read', async () => service.http.post('/memory/read').send(readBody('Redis'))],
    ['a memory', async () => service.http.get(`/memory/${memoryId}`).query({ repo_id: 'acme/shop' })],
    ['a chain', async () => service.http.get(`/memory/${memoryId}/chain`).query({ repo_id: 'acme/shop' })],
    ['its numbers', async () => service.http.get('/stats').query({ repo_id: 'acme/shop' })],
    ['a write', async () => service.http.post('/memory/write').send(writeBody())],
    ['an update', async () => service.http.post('/memory/update').send(updateBody(memoryId, ARCHIVE))],
  ];
  const ARCHIVE = { type: 'archive_state', archived: true };

  test.each(REQUESTS)('asked for %s is unavailable, and the detail says what is the matter', async (_name, send) => {
    const { status, body } = await send();
    const detail = 'the file of repo acme/shop is damaged; restore it from a backup';
    expect({ status, ...body }).toMatchObject({
      status: 503,
      code: 'unavailable',
      detail,
      hint: PROBLEMS.unavailable.hint,
    });
  });

  test('keeps nobody from the other repos, and can be removed', async () => {
    expect((await recall(service, 'oven', {}, 'acme/bakery')).direct).toHaveLength(1);
    await service.http.get('/health/ready').expect(200);
    await service.http.delete('/repos/acme%2Fshop').query({ confirm: 'acme/shop' }).expect(200);
    await remember(service, {}, 'acme/shop');
  });
});

test('a service whose main file was moved is not ready, says what to do, and is ready again once it is back', async () => {
  renameSync(service.file, directory.path('elsewhere.db'));
  const answer = await service.http.get('/health/ready');
  expect([answer.status, answer.body.code]).toEqual([503, 'unavailable']);
  expect(answer.body.detail).toBe('the main file was moved or deleted; put it back, or restart the service');
  renameSync(directory.path('elsewhere.db'), service.file);
  await service.http.get('/health/ready').expect(200);
});

test('a service whose store fails in a way that nobody foresaw is not ready either', async () => {
  const other = connectDirectly(service.file);
  other.exec('ALTER TABLE repos RENAME TO hidden');
  other.close();
  const answer = await service.http.get('/health/ready');
  expect([answer.status, answer.body.code]).toEqual([503, 'unavailable']);
  expect(answer.body.detail).toBe('the store cannot be read and written');
});
