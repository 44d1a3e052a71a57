import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { JournalClient, momentNow, UNKNOWN_ENTRY_ID } from '../../support/journal.js';
import { expectRefused, GraphClient, idsOf, REPO, sendAtOnce } from '../../support/nodes.js';
import { select } from '../../support/rows.js';
import { type Service, startService } from '../../support/service.js';
import { times } from '../../support/together.js';

let service: Service;
let client: JournalClient;
beforeAll(async () => {
  service = await startService();
  client = new JournalClient(service);
});
afterAll(() => service.stop());

const NOT_FOUND = { code: 'not_found', fields: ['entry_id'] };

describe('4e.5 a deletion', () => {
  test('puts the entry into the archive, where it can still be read', async () => {
    const { id } = await client.entry('Put away', { category: 'c', tags: ['a'] });
    const before = await client.read(id);
    service.clock.advance(1_000);
    const { body } = await client.deleteEntry(id).expect(200);
    expect(body).toEqual({ id, action: 'archived' });
    const now = momentNow(service);
    expect(await client.read(id)).toEqual({
      ...before,
      archived: true,
      updated_at: now,
      accessed_at: now,
      access_count: 2,
    });
    expect(idsOf(await client.listed())).not.toContain(id);
    expect(idsOf(await client.listed({ archived: true }))).toContain(id);
  });

  test('again finds nothing', async () => {
    const { id } = await client.entry('Put away twice');
    await client.remove(id);
    expect(await expectRefused(service, client.deleteEntry(id), 404)).toEqual(NOT_FOUND);
  });

  test('for good leaves nothing of it, and again finds nothing', async () => {
    const { id } = await client.entry('Removed for zyqgood', { tags: ['zyqtag'] });
    const { body } = await client.deleteEntry(id, { permanent: true }).expect(200);
    expect(body).toEqual({ id, action: 'deleted' });
    expect(await expectRefused(service, client.getEntry(id), 404)).toEqual(NOT_FOUND);
    expect(await expectRefused(service, client.deleteEntry(id, { permanent: true }), 404)).toEqual(NOT_FOUND);
    expect(await expectRefused(service, client.patchEntry(id, { archived: false }), 404)).toEqual(NOT_FOUND);
    expect(idsOf(await client.listed({ archived: true }))).not.toContain(id);
    expect(select(service, REPO, 'SELECT 1 FROM nodes WHERE id = ?', id)).toEqual([]);
    expect(select(service, REPO, 'SELECT 1 FROM entries WHERE node_seq NOT IN (SELECT seq FROM nodes)')).toEqual([]);
    expect(select(service, REPO, "SELECT 1 FROM node_tags WHERE tag = 'zyqtag'")).toEqual([]);
  });

  test('for good takes an archived one too', async () => {
    const { id } = await client.entry('Put away, then removed');
    await client.remove(id);
    const { body } = await client.deleteEntry(id, { permanent: true }).expect(200);
    expect(body).toEqual({ id, action: 'deleted' });
    await client.getEntry(id).expect(404);
  });

  test('by many at the same time is done by all who came in time, and leaves one archived entry', async () => {
    const { id } = await client.entry('Wanted by nobody');
    const answers = await sendAtOnce(service, () => times(6, () => client.deleteEntry(id)));
    expect(new Set(answers.map(({ status }) => status))).not.toContain(409);
    expect(answers.map(({ status }) => status)).toContain(200);
    expect((await client.read(id)).archived).toBe(true);
  });
});

describe.each(['getEntry', 'deleteEntry'] as const)('%s', (verb) => {
  test.each([UNKNOWN_ENTRY_ID, '../../etc/passwd', '..%2f..%2fetc', 'x', 'ffffffff-ffff-1fff-8fff-ffffffffffff'])(
    'finds nobody under %j',
    async (id) => {
      expect(await expectRefused(service, client[verb](id), 404)).toEqual(NOT_FOUND);
    },
  );

  test('does not know a node that is no entry', async () => {
    const { id } = await new GraphClient(service).node({ content: 'A concept' });
    expect(await expectRefused(service, client[verb](id), 404)).toEqual(NOT_FOUND);
  });
});

test('what is put away as a node is put away in the journal too, and comes back through the journal', async () => {
  const graph = new GraphClient(service);
  const { id } = await client.entry('Moved as a node');
  await graph.deleteNode(id).expect(200);
  expect((await client.read(id)).archived).toBe(true);
  expect(idsOf(await client.listed())).not.toContain(id);
  await graph.restoreNode(id).expect(409);
  await client.patch(id, { archived: false });
  expect((await client.read(id)).archived).toBe(false);
  expect(idsOf(await client.listed())).toContain(id);
});
