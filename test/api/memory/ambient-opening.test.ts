import { afterAll, beforeAll, expect, test } from 'vitest';
import { idsIn, readBody, remember } from '../../support/requests.js';
import { type Service, startService } from '../../support/service.js';

let service: Service;
let wisdomId: string;
const PREFERENCE = 'We prefer small commits for the payment service';

beforeAll(async () => {
  service = await startService();
  const { body } = await service.http.post('/agents').send({ project_id: 'acme/shop' }).expect(201);
  for (const number of [1, 2, 3, 4]) {
    await service.http
      .post('/episodes')
      .send({
        project_id: 'acme/shop',
        agent_id: body.agent.id,
        intent: { goal: `Charge customers once, attempt ${number}`, task_type: 'bug_fix' },
        outcome: { success: true, summary: 'Done', learnings: ['Always send an idempotency key with a payment'] },
        tags: number % 2 === 0 ? ['payment'] : ['payment', 'retry'],
      })
      .expect(201);
  }
  await service.http.post('/chapters/detect').send({ project_id: 'acme/shop', min_memories: 2 }).expect(200);
  const answer = await service.http.post('/wisdom/synthesize').send({ project_id: 'acme/shop' }).expect(201);
  wisdomId = answer.body.wisdom.id;
  await remember(service, { text: PREFERENCE, kind: 'preference', evidence_refs: [] });
  await remember(service, { text: 'The payment service retries a payment three times with an idempotency key' });
});
afterAll(() => service.stop());

const read = async (mode: string, query: string, more = {}) =>
  (
    await service.http
      .post('/memory/read')
      .send(readBody(query, { mode, ...more }))
      .expect(200)
  ).body;

test('ambient context opens with the wisdom and the preferences that bear on the work, and then what is sure', async () => {
  const { direct } = await read('ambient', 'payment service retries payment idempotency key');
  const [first, second, ...rest] = direct;
  expect([first.form, second.form].sort()).toEqual(['memory', 'wisdom']);
  expect(idsIn([first, second])).toContain(wisdomId);
  expect([first, second].map(({ text }) => text)).toContain(PREFERENCE);
  expect(rest.map(({ text }: { text: string }) => text)).toContain(
    'The payment service retries a payment three times with an idempotency key',
  );
  expect(direct.map(({ priority }: { priority: number }) => priority)).toEqual(
    direct.map((_: unknown, index: number) => index + 1),
  );
});

test('what opens has to bear on the work', async () => {
  const { direct } = await read('ambient', 'translate the printer manual');
  expect(direct).toEqual([]);
});

test('a question is answered by what fits best, whatever its kind', async () => {
  const { direct } = await read('targeted', 'payment service retries payment idempotency key');
  expect(direct[0].text).toBe('The payment service retries a payment three times with an idempotency key');
});

test('kinds that are asked for bind what opens as well', async () => {
  const { direct } = await read('ambient', 'payment service commits', { kinds: ['preference'] });
  expect(direct.map(({ text }: { text: string }) => text)).toEqual([PREFERENCE]);
  expect((await read('ambient', 'payment service commits', { kinds: ['change'] })).direct).toEqual([]);
});

test('chapters and wisdom are found by a question', async () => {
  const { direct } = await read('targeted', 'charge customers once');
  const forms = new Set(direct.map(({ form }: { form: string }) => form));
  expect([...forms]).toEqual(expect.arrayContaining(['episode', 'chapter', 'wisdom']));
});
