import { afterAll, beforeAll, expect, test } from 'vitest';
import { change, recall, remember, updateBody } from '../../support/requests.js';
import { type Row, select, stored, tables } from '../../support/rows.js';
import { type Service, startService } from '../../support/service.js';
import { sendTogether, times } from '../../support/together.js';

let service: Service;
beforeAll(async () => {
  service = await startService();
});
afterAll(() => service.stop());

const archive = (archived: boolean, rationale?: string) => ({
  type: 'archive_state',
  archived,
  ...(rationale === undefined ? {} : { rationale }),
});
const nodeOf = (id: string): Row => select(service, 'acme/shop', 'SELECT * FROM nodes WHERE id = ?', id)[0] as Row;
const differences = (before: Row, after: Row): string[] =>
  Object.keys(before)
    .filter((column) => before[column] !== after[column])
    .sort();

test('archiving changes the tier and what belongs to it, and no other column', async () => {
  const id = await remember(service, { text: 'To be put away' });
  const before = nodeOf(id);
  const atMs = service.clock.advance(1_000);
  await change(service, id, archive(true, 'no longer so'));
  const after = nodeOf(id);
  expect(differences(before, after)).toEqual([
    'archive_reason',
    'archived_at',
    'archived_from',
    'revision',
    'tier',
    'updated_at',
  ]);
  expect(after).toMatchObject({
    tier: 'archive',
    archived_from: 'longterm',
    archived_at: atMs,
    archive_reason: 'no longer so',
    updated_at: atMs,
  });
});

test('archiving can be undone, and leaves the memory as it was', async () => {
  const id = await remember(service, { text: 'Put away and brought back' });
  const before = nodeOf(id);
  service.clock.advance(1_000);
  await change(service, id, archive(true));
  service.clock.advance(1_000);
  await change(service, id, archive(false));
  expect(differences(before, nodeOf(id))).toEqual(['revision', 'updated_at']);
  await change(service, id, archive(true));
  expect(nodeOf(id).tier).toBe('archive');
});

test('an archived memory leaves reads, stays addressable, and comes back when it is restored', async () => {
  const id = await remember(service, { text: 'The zeppelin hangar opens at noon' });
  const found = async () => (await recall(service, 'zeppelin hangar')).direct.map((item) => item.memory_id);
  const state = async () => (await service.http.get(`/memory/${id}`).query({ repo_id: 'acme/shop' })).body.state;
  expect([await found(), await state()]).toEqual([[id], 'current']);
  await change(service, id, archive(true));
  expect([await found(), await state()]).toEqual([[], 'archived']);
  await change(service, id, archive(false));
  expect([await found(), await state()]).toEqual([[id], 'current']);
});

test.each([
  ['archiving what is archived', true],
  ['restoring what was never archived', false],
])('%s does nothing and says so', async (name, archived) => {
  const id = await remember(service, { text: name });
  if (archived) await change(service, id, archive(true, 'the first reason'));
  service.clock.advance(1_000);
  const before = stored(service);
  const { body } = await service.http
    .post('/memory/update')
    .send(updateBody(id, archive(archived, 'another reason')))
    .expect(200);
  expect(body).toEqual({ memory_id: id, mode: 'commit', applied: true, side_effects: [] });
  expect(stored(service)).toEqual(before);
});

test('archived by many at once, a memory is archived once', async () => {
  const id = await remember(service, { text: 'Everybody wants it gone' });
  const rowsBefore = tables(service).evolution_log?.length ?? 0;
  const answers = await sendTogether(
    service,
    times(20, () => ({ path: '/memory/update', body: updateBody(id, archive(true)) })),
  );
  expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200));
  expect(answers.filter(({ body }) => body.side_effects.length === 1)).toHaveLength(1);
  expect(nodeOf(id).revision).toBe(2);
  expect(tables(service).evolution_log).toHaveLength(rowsBefore + 1);
});
