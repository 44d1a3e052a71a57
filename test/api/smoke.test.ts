import { afterAll, beforeAll, expect, test } from 'vitest';
import { recall, remember } from '../support/requests.js';
import { type Service, startService } from '../support/service.js';

let service: Service;
beforeAll(async () => {
  service = await startService();
});
afterAll(() => service.stop());

test('a written memory is found again', async () => {
  const id = await remember(service);
  const pack = await recall(service, 'which port does Redis need?');
  expect(pack.direct.map((item) => item.memory_id)).toEqual([id]);
});
