import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { JournalClient, momentNow, UNKNOWN_ENTRY_ID } from '../../support/journal.js';
import { expectRefused, GraphClient, sendAtOnce } from '../../support/nodes.js';
import { type Service, startService } from '../../support/service.js';

let service: Service;
let client: JournalClient;
let graph: GraphClient;
beforeAll(async () => {
  service = await startService();
  client = new JournalClient(service);
  graph = new GraphClient(service);
});
afterAll(() => service.stop());

const SAID = { type: 'task', content: 'Said', category: 'c', tags: ['a', 'b'], importance: 'low' };
const make = () => client.entry('Said', SAID);

describe('4e.4 a change', () => {
  test.each<[object, string[]]>([
    [{ content: 'Other' }, ['content']],
    [{ category: 'd' }, ['category']],
    [{ tags: ['a'] }, ['tags']],
    [{ tags: [] }, ['tags']],
    [{ importance: 'high' }, ['importance']],
    [{ archived: true }, ['archived']],
    [{ task_metadata: { status: 'blocked', blockers: ['b'] } }, ['task_metadata']],
    [{ content: 'Said', importance: 'high', category: 'c' }, ['importance']],
    [
      { content: 'Other', category: 'd', tags: ['z'], importance: 'medium' },
      ['category', 'content', 'importance', 'tags'],
    ],
    [{ content: 'said' }, ['content']],
  ])('to %j names exactly what it changed, and keeps the rest', async (fields, updated) => {
    const { id } = await make();
    const before = await client.read(id);
    service.clock.advance(1_000);
    const body = await client.patch(id, fields);
    const { updated_fields, ...rest } = body;
    expect(updated_fields.toSorted()).toEqual(updated);
    const changed = { updated_at: momentNow(service), accessed_at: momentNow(service), access_count: 2 };
    expect(rest).toEqual({ memory: { ...before, ...fields, ...changed }, archived_ids: [] });
    const looked = { access_count: before.access_count + 2 };
    expect(await client.read(id)).toEqual({ ...rest.memory, ...looked });
  });

  test.each([
    { content: 'Said' },
    { category: 'c' },
    { tags: ['a', 'b'] },
    { importance: 'low' },
    { archived: false },
    { task_metadata: null },
    { content: 'Said', category: 'c', tags: ['a', 'b'], importance: 'low', archived: false },
  ])('to %j, as it is already, changes nothing', async (fields) => {
    const { id } = await make();
    const before = await client.read(id);
    service.clock.advance(1_000);
    expect(await client.patch(id, fields)).toEqual({ memory: before, updated_fields: [], archived_ids: [] });
  });

  test('to no category takes it away', async () => {
    const { id } = await make();
    const { memory, updated_fields } = await client.patch(id, { category: null });
    expect(updated_fields).toEqual(['category']);
    expect(memory).not.toHaveProperty('category');
    expect((await client.patch(id, { category: null })).updated_fields).toEqual([]);
    expect((await client.listed({ category: 'c' })).map((entry) => entry.id)).not.toContain(id);
  });

  test('to archived and back moves it out of the list and into it, and moves updated_at', async () => {
    const { id } = await make();
    const listed = async () => (await client.listed()).some((entry) => entry.id === id);
    service.clock.advance(1_000);
    expect((await client.patch(id, { archived: true })).memory).toMatchObject({
      archived: true,
      updated_at: momentNow(service),
    });
    expect(await listed()).toBe(false);
    expect((await client.patch(id, { archived: true })).updated_fields).toEqual([]);
    expect((await client.read(id)).archived).toBe(true);
    service.clock.advance(1_000);
    const { memory, updated_fields } = await client.patch(id, { archived: false, content: 'Back' });
    expect(updated_fields.toSorted()).toEqual(['archived', 'content']);
    expect(memory).toMatchObject({ archived: false, content: 'Back', updated_at: momentNow(service) });
    expect(await listed()).toBe(true);
  });

  test('of an archived entry leaves it in the archive', async () => {
    const { id } = await make();
    await client.remove(id);
    expect((await client.patch(id, { content: 'Changed there' })).memory).toMatchObject({
      archived: true,
      content: 'Changed there',
    });
  });

  test('of the order of the tags is one', async () => {
    const { id } = await make();
    const { memory, updated_fields } = await client.patch(id, { tags: ['b', 'a'] });
    expect([memory.tags, updated_fields]).toEqual([['b', 'a'], ['tags']]);
  });

  test('by many at the same time loses nothing', async () => {
    const { id } = await make();
    const answers = await sendAtOnce(service, () => [
      client.patchEntry(id, { content: 'Changed' }),
      client.patchEntry(id, { tags: ['z'] }),
      client.patchEntry(id, { category: 'd' }),
      client.patchEntry(id, { importance: 'high' }),
      client.patchEntry(id, { task_metadata: { status: 'in-progress' } }),
      client.patchEntry(id, { archived: true }),
    ]);
    expect(answers.map(({ status }) => status)).toEqual(Array(6).fill(200));
    expect(await client.read(id)).toMatchObject({
      content: 'Changed',
      tags: ['z'],
      category: 'd',
      importance: 'high',
      archived: true,
      task_metadata: { status: 'in-progress' },
    });
  });
});

describe('4e.4 a change is refused, and nothing is stored,', () => {
  test.each([UNKNOWN_ENTRY_ID, '../../etc/passwd', '..', '%', 'x'.repeat(300), 'a\u0000b'])(
    'for the id %j',
    async (id) => {
      const { status } = await client.patchEntry(id, { content: 'Changed' });
      expect([400, 404]).toContain(status);
    },
  );

  test('for the id of a node that is no entry', async () => {
    const { id } = await graph.node({ content: 'A concept' });
    expect(await expectRefused(service, client.patchEntry(id, { content: 'Changed' }), 404)).toEqual({
      code: 'not_found',
      fields: ['entry_id'],
    });
  });

  test.each([
    ['content', null],
    ['content', 7],
    ['category', 7],
    ['tags', null],
    ['tags', ['a', 'a']],
    ['importance', 'urgent'],
    ['importance', null],
    ['archived', null],
    ['archived', 'true'],
    ['task_metadata', 'completed'],
    ['type', 'core'],
    ['id', UNKNOWN_ENTRY_ID],
    ['created_at', '2026-01-01T00:00:00Z'],
    ['access_count', 0],
  ])('for the shape of %s: %j', async (field, value) => {
    const { id } = await make();
    const { code, fields } = await expectRefused(service, client.patchEntry(id, { [field]: value }), 400);
    expect([code, fields[0]]).toEqual(['schema_error', field]);
  });

  test('where it names no field', async () => {
    const { id } = await make();
    await expectRefused(service, client.patchEntry(id, {}), 400);
  });

  test.each([
    ['content', { content: 'Other' }],
    ['tags', { tags: ['t'] }],
    ['confidence', { confidence: 1 }],
    ['subtype', { subtype: 'core' }],
    ['metadata', { metadata: { a: 1 } }],
  ])('of %s as a node, and it is told who keeps it', async (field, fields) => {
    const { id } = await make();
    expect(await expectRefused(service, graph.patchNode(id, fields), 409)).toEqual({
      code: 'conflict',
      fields: [field],
    });
    const { body } = await graph.patchNode(id, fields);
    expect(body.errors[0].message).toContain('/journal');
  });
});

describe('an entry whose node was moved to another tier', () => {
  test.each(['task', 'session'])('%s can be put away and brought back', async (tier) => {
    const { id } = await make();
    const { status } = await graph.patchNode(id, { tier });
    // Whether it may be moved is for the graph to say; the journal goes on either way.
    expect([200, 409, 422]).toContain(status);
    expect((await client.patch(id, { archived: true })).memory.archived).toBe(true);
    expect((await client.patch(id, { archived: false })).memory.archived).toBe(false);
    await client.remove(id);
    expect((await client.read(id)).archived).toBe(true);
  });
});
