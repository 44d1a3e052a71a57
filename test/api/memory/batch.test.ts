import { existsSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type MemoryFields, memoryBody, remember } from '../../support/requests.js';
import { countRows, fileOf, linksOf, refused, stored, tables } from '../../support/rows.js';
import { type Service, startService } from '../../support/service.js';

let service: Service;
beforeAll(async () => {
  service = await startService();
});
afterAll(() => service.stop());

const write = (fields: MemoryFields, more: object = {}) => ({ op: 'write', memory: memoryBody(fields), ...more });
const update = (memoryId: string, change: object) => ({ op: 'update', memory_id: memoryId, update: change });
const batch = (repoId: string, items: object[], more: object = {}) => ({ repo_id: repoId, items, ...more });
const send = (body: object) => service.http.post('/memory/batch').send(body);

test('a batch of writes and updates is carried out in order, with one result per item', async () => {
  const repoId = 'batch/mixed';
  const old = await remember(service, { text: 'The port is 6379' }, repoId);
  const { body } = await send(
    batch(repoId, [
      write({ kind: 'problem', text: 'Tests cannot connect' }, { ref: 'trouble' }),
      write({ text: 'The port is 6380' }, { ref: 'port' }),
      write({ kind: 'change', text: 'The port moved' }, { ref: 'move' }),
      update('@move', { type: 'fact_update_link', old_fact_id: old, new_fact_id: '@port' }),
      update('@port', { type: 'utility_vote', problem_id: '@trouble', vote: 1 }),
      update(old, { type: 'archive_state', archived: true }),
    ]),
  ).expect(200);
  const [trouble, port, move] = body.results.map((result: { memory_id: string }) => result.memory_id);
  expect(body).toMatchObject({ mode: 'commit', applied: true });
  const results = body.results as { op: string; memory_id: string; memory: object | null; side_effects: object[] }[];
  expect(results.map(({ op, memory_id, memory }) => [op, memory_id, memory !== null])).toEqual([
    ['write', trouble, true],
    ['write', port, true],
    ['write', move, true],
    ['update', move, false],
    ['update', port, false],
    ['update', old, false],
  ]);
  expect(
    results.flatMap(({ side_effects }) => side_effects.map((effect) => (effect as { effect: string }).effect)),
  ).toEqual([
    'memory_inserted',
    'evidence_attached',
    'memory_inserted',
    'evidence_attached',
    'memory_inserted',
    'evidence_attached',
    'edge_inserted',
    'vote_recorded',
    'tier_moved',
  ]);
  const detail = async (id: string) => (await service.http.get(`/memory/${id}`).query({ repo_id: repoId })).body;
  expect(await detail(old)).toMatchObject({ state: 'archived', superseded_by: port });
  expect(await detail(port)).toMatchObject({ state: 'current', votes: { count: 1, mean: 1 } });
});

test('a batch answers for each memory exactly what a single write of it would', async () => {
  const fields = { text: 'Answered alike', rationale: 'why', confidence: 0.5, evidence_refs: ['a', 'b'] };
  const { body } = await send(batch('batch/alike', [write(fields)])).expect(200);
  const single = await service.http
    .post('/memory/write')
    .send({ op: 'write', repo_id: 'batch/alike', memory: memoryBody(fields), allow_duplicate: true })
    .expect(201);
  const { op, ...result } = body.results[0];
  const withoutIds = (value: object) => JSON.stringify(value).replaceAll(/[0-9a-f]{8}-[0-9a-f-]{27}/g, 'ID');
  expect([op, withoutIds(result)]).toEqual(['write', withoutIds(single.body)]);
});

describe('a batch holds', () => {
  const items = (count: number) => Array.from({ length: count }, (_, index) => write({ text: `Item ${index}` }));

  test('up to a hundred items', async () => {
    const { body } = await send(batch('batch/hundred', items(100))).expect(200);
    expect(body.results).toHaveLength(100);
    expect(tables(service, 'batch/hundred').memories).toHaveLength(100);
  });

  test.each([0, 101])('not %i items', async (count) => {
    const refusal = await refused(service, '/memory/batch', batch('batch/count', items(count)), 'batch/count');
    expect(refusal).toMatchObject({ status: 400, errors: [['items', 'schema_error']] });
  });
});

describe('a dry run of a batch', () => {
  test('previews what the commit then does, and writes nothing', async () => {
    const repoId = 'batch/preview';
    const fact = await remember(service, { text: 'To be voted on' }, repoId);
    const items = [
      write({ kind: 'problem', text: 'Slow' }, { ref: 'slow' }),
      write({ kind: 'solution', text: 'Cache', links: { problem_id: '@slow' } }),
      update(fact, { type: 'utility_vote', problem_id: '@slow', vote: -1 }),
    ];
    const before = stored(service, repoId);
    const preview = await send(batch(repoId, items, { mode: 'dry_run' })).expect(200);
    expect(stored(service, repoId)).toEqual(before);
    const done = await send(batch(repoId, items, { mode: 'commit' })).expect(200);
    expect(preview.body).toMatchObject({ mode: 'dry_run', applied: false });
    expect(done.body).toMatchObject({ mode: 'commit', applied: true });
    const effects = ({ body }: typeof done) =>
      body.results.map(({ side_effects }: { side_effects: { effect: string; label?: string }[] }) =>
        side_effects.map(({ effect, label }) => [effect, label]),
      );
    expect(effects(preview)).toEqual(effects(done));
  });

  test('in a repo that does not exist does not bring it into being', async () => {
    await send(batch('batch/unborn', [write({ text: 'Only asked' })], { mode: 'dry_run' })).expect(200);
    expect(existsSync(fileOf(service, 'batch/unborn'))).toBe(false);
  });

  test('is refused for what a commit is refused for', async () => {
    const items = [write({ kind: 'solution', text: 'For nothing', links: { problem_id: 'nobody' } })];
    const body = batch('acme/shop', items, { mode: 'dry_run' });
    expect(await refused(service, '/memory/batch', body)).toMatchObject({ status: 404 });
  });
});

test('a batch in global scope is stored in the global space', async () => {
  const { body } = await send(
    batch('batch/global', [
      write({ scope: 'global', kind: 'problem', text: 'Everybody is late' }, { ref: 'late' }),
      write({ scope: 'global', kind: 'solution', text: 'Leave earlier', links: { problem_id: '@late' } }),
    ]),
  ).expect(200);
  expect(
    linksOf(service, null, 'attempts')
      .at(-1)
      ?.members.map(({ id }) => id),
  ).toEqual(body.results.map((result: { memory_id: string }) => result.memory_id).reverse());
  expect(tables(service, 'batch/global')).toEqual({});
});

test('a batch finds duplicates, in the store and among its own items', async () => {
  const repoId = 'batch/duplicates';
  const known = await remember(service, { text: 'Known before' }, repoId);
  const { body } = await send(
    batch(repoId, [
      write({ text: 'known  BEFORE' }),
      write({ text: 'Twice in here' }),
      write({ text: 'Twice in here' }),
      write({ text: 'Twice in here' }, { allow_duplicate: true }),
    ]),
  ).expect(200);
  const ids = body.results.map((result: { memory_id: string }) => result.memory_id);
  expect(body.results.map((result: { duplicate_of: string }) => result.duplicate_of)).toEqual([
    known,
    null,
    ids[1],
    null,
  ]);
  expect(new Set(ids).size).toBe(3);
  expect(countRows(tables(service, repoId)).memories).toBe(3);
});
