import { afterAll, beforeAll, expect, test } from 'vitest';
import { dataDirectory, type ServiceProcess, startProcess } from '../../support/process.js';

const UUID_V4 = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

const directory = dataDirectory();
let service: ServiceProcess;
beforeAll(async () => {
  service = await startProcess(directory.path);
});
afterAll(async () => {
  await service.stop();
  directory.remove();
});

test('SPEC-02.09 the service as it is shipped gives nodes and edges random uuids of version 4', async () => {
  const ids: string[] = [];
  for (let index = 0; index < 10; index++) {
    const { body } = await service.http.post('/nodes').send({ type: 'fact', content: 'The same' }).expect(201);
    const edge = { type: 'context', label: '', members: [{ node_id: body.id, role: 'context' }] };
    ids.push(body.id, (await service.http.post('/edges').send(edge).expect(201)).body.id);
  }
  for (const id of ids) expect(id).toMatch(UUID_V4);
  expect(new Set(ids).size).toBe(20);
  // Counted up they would agree in most of their digits.
  expect(new Set(ids.map((id) => id.slice(0, 8))).size).toBeGreaterThan(15);
});

test('SPEC-02.07 the service as it is shipped keeps real time, in milliseconds', async () => {
  const before = Date.now();
  const { body } = await service.http.post('/nodes').send({ type: 'fact', content: 'Now' }).expect(201);
  expect(body.created_at).toBeGreaterThanOrEqual(before);
  expect(body.created_at).toBeLessThanOrEqual(Date.now());
});
