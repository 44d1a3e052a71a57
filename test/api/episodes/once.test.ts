import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { EpisodeClient, intentOf, outcomeOf } from '../../support/episodes.js';
import { sendAtOnce } from '../../support/nodes.js';
import { stored } from '../../support/rows.js';
import { type Service, startService } from '../../support/service.js';
import { times } from '../../support/together.js';

/** What makes something anew makes it once for each idempotency key. */

let service: Service;
let repos = 0;
let repoId: string;
let agentId: string;
beforeAll(async () => {
  service = await startService();
});
afterAll(() => service.stop());
beforeEach(async () => {
  repoId = `once/${++repos}`;
  agentId = (await new EpisodeClient(service, repoId).register()).agent.id;
});

const send = (path: string, key: string, body: object) =>
  service.http.post(path).query({ repo_id: repoId }).set('idempotency-key', key).send(body);
const store = async () => (await new EpisodeClient(service, repoId).store(agentId)).id;
const episode = (fields: object = {}) => ({ agent_id: agentId, intent: intentOf(), outcome: outcomeOf(), ...fields });

const ROUTES: [string, () => Promise<{ path: string; body: object; other: object }>][] = [
  ['POST /episodes', async () => ({ path: '/episodes', body: episode(), other: episode({ importance: 1 }) })],
  ['POST /agents', async () => ({ path: '/agents', body: {}, other: { specialization: 'x' } })],
  [
    'POST /agents/{agent_id}/sessions',
    async () => ({ path: `/agents/${agentId}/sessions`, body: {}, other: { initial_intent: 'x' } }),
  ],
  [
    'POST /chapters',
    async () => {
      const memory_ids = [await store()];
      return { path: '/chapters', body: { memory_ids }, other: { memory_ids, title: 'x' } };
    },
  ],
  [
    'POST /nodes',
    async () => ({
      path: '/nodes',
      body: { type: 'fact', content: 'Water is wet' },
      other: { type: 'fact', content: 'Water is dry' },
    }),
  ],
];

describe.each(ROUTES)('%s', (_, prepare) => {
  test('twice with one key makes one, and gives the same answer', async () => {
    const { path, body } = await prepare();
    const first = await send(path, 'k', body).expect(201);
    const before = stored(service, repoId);
    const second = await send(path, 'k', body).expect(201);
    expect(second.body).toEqual(first.body);
    expect(second.headers.location).toBe(first.headers.location);
    expect(stored(service, repoId)).toEqual(before);
  });

  test('at once with one key makes one', async () => {
    const { path, body } = await prepare();
    const answers = await sendAtOnce(service, () => times(4, () => send(path, 'k', body)));
    expect(answers.map(({ status }) => status)).toEqual([201, 201, 201, 201]);
    expect(new Set(answers.map(({ headers }) => headers.location)).size).toBe(1);
  });

  test('with another key makes another', async () => {
    const { path, body } = await prepare();
    const first = await send(path, 'a', body).expect(201);
    const second = await send(path, 'b', body).expect(201);
    expect(second.headers.location).not.toBe(first.headers.location);
  });

  test('with the key of another request is refused, and changes nothing', async () => {
    const { path, body, other } = await prepare();
    await send(path, 'k', body).expect(201);
    const before = stored(service, repoId);
    const { body: problem, status } = await send(path, 'k', other);
    expect([status, problem.code]).toEqual([422, 'idempotency_key_reused']);
    expect(stored(service, repoId)).toEqual(before);
  });
});

test('the sessions of two agents are two requests', async () => {
  const other = (await new EpisodeClient(service, repoId).register()).agent.id;
  await send(`/agents/${agentId}/sessions`, 'k', {}).expect(201);
  await send(`/agents/${other}/sessions`, 'k', {}).expect(422);
});

test('an episode whose session ended since is answered as it was stored', async () => {
  const client = new EpisodeClient(service, repoId);
  const first = await send('/episodes', 'k', episode()).expect(201);
  await client.endSession(first.body.memory.session_id).expect(200);
  const second = await send('/episodes', 'k', episode()).expect(201);
  expect(second.body.memory_id).toBe(first.body.memory_id);
});
