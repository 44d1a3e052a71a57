import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { memoryBody, remember, updateBody, writeBody } from '../../support/requests.js';
import { select, stored, tables } from '../../support/rows.js';
import { type Service, startService } from '../../support/service.js';
import { sendTogether, times } from '../../support/together.js';

let service: Service;
beforeAll(async () => {
  service = await startService();
});
afterAll(() => service.stop());

const send = (path: string, key: string, body: object) =>
  service.http.post(path).set('Idempotency-Key', key).send(body);

interface Case {
  route: string;
  /** A request that would leave a trace each time it is carried out. */
  build: (repoId: string) => Promise<object>;
  /** How many traces it has left. */
  traces: (repoId: string) => number;
  status: number;
}

const rows = (table: string) => (repoId: string) => tables(service, repoId)[table]?.length ?? 0;
const voteIn = async (repoId: string) => {
  const problem = await remember(service, { kind: 'problem', text: 'Slow' }, repoId);
  const fact = await remember(service, { text: 'Indexed' }, repoId);
  return { memory_id: fact, update: { type: 'utility_vote', problem_id: problem, vote: 1 } };
};

const CASES: Case[] = [
  {
    route: '/memory/write',
    build: async (repoId) => ({ ...writeBody({ text: 'Once only' }, repoId), allow_duplicate: true }),
    traces: rows('memories'),
    status: 201,
  },
  {
    route: '/memory/update',
    build: async (repoId) => ({ op: 'update', repo_id: repoId, mode: 'commit', ...(await voteIn(repoId)) }),
    traces: rows('utility_observations'),
    status: 200,
  },
  {
    route: '/memory/batch',
    build: async (repoId) => ({ repo_id: repoId, items: [{ op: 'update', ...(await voteIn(repoId)) }] }),
    traces: rows('utility_observations'),
    status: 200,
  },
];

describe.each(CASES)('$route with an Idempotency-Key', ({ route, build, traces, status }) => {
  test('is carried out once; each retry gets the first answer and writes nothing', async () => {
    const repoId = `retried${route}`;
    const body = await build(repoId);
    const first = await send(route, 'retry-1', body).expect(status);
    service.clock.advance(60_000);
    const before = stored(service, repoId);
    for (let retry = 0; retry < 3; retry++) {
      const again = await send(route, 'retry-1', body).expect(status);
      expect(again.body).toEqual(first.body);
      expect(again.headers.location).toBe(first.headers.location);
    }
    expect(stored(service, repoId)).toEqual(before);
    expect(traces(repoId)).toBe(1);
  });

  test('sent many times at once is carried out once, and all get one answer', async () => {
    const repoId = `at-once${route}`;
    const body = await build(repoId);
    const answers = await sendTogether(
      service,
      times(20, () => ({ path: route, key: 'at-once', body })),
    );
    expect(answers.map((answer) => answer.status)).toEqual(answers.map(() => status));
    for (const answer of answers) expect(answer.body).toEqual(answers[0]?.body);
    expect(traces(repoId)).toBe(1);
  });

  test('is carried out again under another key, and without one', async () => {
    const repoId = `other-key${route}`;
    const body = await build(repoId);
    await send(route, 'first', body).expect(status);
    await send(route, 'second', body).expect(status);
    await service.http.post(route).send(body).expect(status);
    expect(traces(repoId)).toBe(3);
  });

  test('refuses another request under the same key, and writes nothing', async () => {
    const repoId = `reused${route}`;
    const body = await build(repoId);
    await send(route, 'taken', body).expect(status);
    const before = stored(service, repoId);
    const other = writeBody({ text: 'Something else' }, repoId);
    const answer = await send('/memory/write', 'taken', other).expect(422);
    expect(answer.body).toMatchObject({
      code: 'idempotency_key_reused',
      errors: [{ field: 'headers.idempotency-key', code: 'idempotency_key_reused' }],
    });
    expect(stored(service, repoId)).toEqual(before);
  });

  test('belongs to its repo: another repo may use the same key', async () => {
    for (const repoId of [`mine${route}`, `yours${route}`]) {
      await send(route, 'shared', await build(repoId)).expect(status);
      expect(traces(repoId)).toBe(1);
    }
  });
});

describe('a key', () => {
  test('belongs to its route: the same key elsewhere is another request', async () => {
    const repoId = 'keys/route';
    const body = { repo_id: repoId, items: [{ op: 'write', memory: memoryBody() }] };
    await send('/memory/batch', 'route', body).expect(200);
    await send('/memory/write', 'route', writeBody({}, repoId)).expect(422);
  });

  test('of a global write belongs to the repo that sent it', async () => {
    const body = (text: string, repoId: string) => writeBody({ scope: 'global', text }, repoId);
    const first = await send('/memory/write', 'global', body('Ours for all', 'keys/ours')).expect(201);
    await send('/memory/write', 'global', body('Theirs for all', 'keys/theirs')).expect(201);
    const again = await send('/memory/write', 'global', body('Ours for all', 'keys/ours')).expect(201);
    expect(again.body).toEqual(first.body);
    await send('/memory/write', 'global', writeBody({}, 'keys/ours')).expect(422);
  });

  test('of a duplicate keeps answering that it was one', async () => {
    const repoId = 'keys/duplicate';
    const known = await remember(service, {}, repoId);
    const first = await send('/memory/write', 'again', writeBody({}, repoId)).expect(200);
    expect(first.body.duplicate_of).toBe(known);
    await service.http
      .post('/memory/update')
      .send(updateBody(known, { type: 'archive_state', archived: true }, 'commit', repoId))
      .expect(200);
    const again = await send('/memory/write', 'again', writeBody({}, repoId)).expect(200);
    expect(again.body).toEqual(first.body);
    expect(rows('memories')(repoId)).toBe(1);
  });

  test('of an update that had nothing to do is remembered all the same', async () => {
    const repoId = 'keys/nothing';
    const id = await remember(service, {}, repoId);
    const restore = updateBody(id, { type: 'archive_state', archived: false }, 'commit', repoId);
    const first = await send('/memory/update', 'nothing', restore).expect(200);
    await service.http
      .post('/memory/update')
      .send(updateBody(id, { type: 'archive_state', archived: true }, 'commit', repoId))
      .expect(200);
    const again = await send('/memory/update', 'nothing', restore).expect(200);
    expect(again.body).toEqual(first.body);
    expect(select(service, repoId, 'SELECT tier FROM nodes')).toEqual([{ tier: 'archive' }]);
  });

  test('of a refused request is free for the corrected one', async () => {
    const repoId = 'keys/refused';
    await send('/memory/write', 'typo', writeBody({ kind: 'idea' }, repoId)).expect(400);
    await send('/memory/write', 'typo', writeBody({ kind: 'solution' }, repoId)).expect(422);
    await send('/memory/write', 'typo', writeBody({ kind: 'fact' }, repoId)).expect(201);
  });

  test('of a dry run is not remembered: the commit may use it', async () => {
    const repoId = 'keys/dry';
    const { memory_id, update } = await voteIn(repoId);
    const dry = updateBody(memory_id, update, 'dry_run', repoId);
    const before = stored(service, repoId);
    await send('/memory/update', 'dry', dry).expect(200);
    const items = [{ op: 'update', memory_id, update }];
    await send('/memory/batch', 'dry', { repo_id: repoId, mode: 'dry_run', items }).expect(200);
    expect(stored(service, repoId)).toEqual(before);
    await send('/memory/update', 'dry', { ...dry, mode: 'commit' }).expect(200);
    expect(rows('utility_observations')(repoId)).toBe(1);
  });

  test.each(['', 'x'.repeat(201)])('must have between 1 and 200 characters', async (key) => {
    const before = stored(service, 'keys/length');
    const answer = await send('/memory/write', key, writeBody({}, 'keys/length')).expect(400);
    expect(answer.body.errors).toMatchObject([{ field: 'headers.idempotency-key', code: 'schema_error' }]);
    expect(stored(service, 'keys/length')).toEqual(before);
  });
});

describe('different requests at once under one key', () => {
  test.each([
    ['of one scope', 'repo'],
    ['of two scopes', 'global'],
  ])('%s: one is carried out, the others are refused', async (name, scope) => {
    const repoId = `keys/race ${name}`;
    const globalBefore = tables(service, null).memories?.length ?? 0;
    const answers = await sendTogether(
      service,
      times(10, (index) => ({
        path: '/memory/write',
        key: 'race',
        body: writeBody({ text: `${name} ${index}`, scope: index % 2 === 1 ? scope : 'repo' }, repoId),
      })),
    );
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(1);
    expect(answers.filter(({ status }) => status === 422)).toHaveLength(9);
    const globalAfter = tables(service, null).memories?.length ?? 0;
    expect(rows('memories')(repoId) + globalAfter - globalBefore).toBe(1);
  });
});
