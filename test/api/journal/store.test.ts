import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { JournalClient, momentNow, UNKNOWN_ENTRY_ID } from '../../support/journal.js';
import { expectRefused, GraphClient, idsOf, REPO, sendAtOnce } from '../../support/nodes.js';
import { allItems, recall } from '../../support/requests.js';
import { stored } from '../../support/rows.js';
import { type Service, startService } from '../../support/service.js';
import { times } from '../../support/together.js';

let service: Service;
let client: JournalClient;
beforeAll(async () => {
  service = await startService();
  client = new JournalClient(service);
});
afterAll(() => service.stop());

const UUID_V4 = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

describe('4e.1 an entry', () => {
  test('is answered whole, with what was left out filled in and nothing made up', async () => {
    const answer = await client.postEntry({ type: 'core', content: 'User prefers pytest' }).expect(201);
    const { id } = answer.body;
    const now = '2026-01-01T00:00:00Z';
    expect(answer.body).toEqual({
      id: expect.stringMatching(UUID_V4),
      created: true,
      memory: {
        id,
        type: 'core',
        content: 'User prefers pytest',
        created_at: now,
        updated_at: now,
        accessed_at: now,
        access_count: 0,
        tags: [],
        importance: 'medium',
        archived: false,
      },
      archived_ids: [],
    });
    expect(answer.headers.location).toBe(`/journal/${id}?repo_id=acme%2Fshop`);
    const shown = await service.http.get(answer.headers.location as string).expect(200);
    expect(shown.body).toEqual({ ...answer.body.memory, access_count: 1 });
  });

  test('is answered whole, with everything that was said of it', async () => {
    service.clock.advance(5);
    const said = {
      type: 'task',
      content: 'Ship the parser',
      category: 'completed',
      tags: ['z', 'a'],
      importance: 'high',
      task_metadata: { status: 'completed', completed_at: '2025-12-31T10:00:00Z', outcome: 'Shipped' },
    };
    const { body } = await client.postEntry(said).expect(201);
    const now = '2026-01-01T00:00:00.005Z';
    expect(body.memory).toEqual({
      ...said,
      id: body.id,
      created_at: now,
      updated_at: now,
      accessed_at: now,
      access_count: 0,
      archived: false,
    });
    expect(await client.read(body.id)).toEqual({ ...body.memory, access_count: 1 });
  });

  test.each([
    ['core', 'fact'],
    ['learning', 'experience'],
    ['task', 'experience'],
  ])('of type %s is a node of type %s', async (type, nodeType) => {
    const { id } = await client.entry('Some entry', { type });
    const { body } = await new GraphClient(service).getNode(id).expect(200);
    expect(body).toMatchObject({ id, form: 'entry', subtype: type, type: nodeType, content: 'Some entry' });
  });

  test.each([
    'héllo — 数据 🙂 👩‍👩‍👧 שלום e\u0301 é',
    '  indented\n\n```js\nconst a = `b`;\n```\n\ttab \r\n ',
    `'); DROP TABLE entries; -- "quoted" \\ %_`,
    '{"json": [1, 2]}',
  ])('keeps %j to the letter', async (content) => {
    const { id } = await client.entry(content, { category: content.slice(0, 20), tags: [content.slice(0, 20)] });
    expect(await client.read(id)).toMatchObject({
      content,
      category: content.slice(0, 20),
      tags: [content.slice(0, 20)],
    });
  });

  test('that is said twice is kept twice', async () => {
    expect((await client.entry('Twice')).id).not.toBe((await client.entry('Twice')).id);
  });

  test('4e.9 is kept once each, however many come at the same time', async () => {
    const own = new JournalClient(service, 'acme/rush');
    const answers = await sendAtOnce(service, () =>
      times(60, (index) => own.postEntry({ content: `Rushed ${index}`, type: index % 2 ? 'core' : 'learning' })),
    );
    expect(answers.map(({ status }) => status)).toEqual(times(60, () => 201));
    const listed = await own.listed();
    expect(listed.map(({ content }) => content).sort()).toEqual(times(60, (index) => `Rushed ${index}`).sort());
    expect(idsOf(listed).sort()).toEqual(answers.map(({ body }) => body.id).sort());
  });
});

describe('4e.1 an entry that is written with its id', () => {
  test('is updated, and is said not to be new', async () => {
    const { id } = await client.entry('First words', { category: 'old', tags: ['a'], importance: 'high' });
    const wasStored = await client.read(id);
    service.clock.advance(1_000);
    const answer = await client
      .postEntry({ id, content: 'Other words', category: 'new', tags: ['b'], importance: 'low' })
      .expect(200);
    expect(answer.body).toEqual({
      id,
      created: false,
      memory: {
        ...wasStored,
        content: 'Other words',
        category: 'new',
        tags: ['b'],
        importance: 'low',
        updated_at: momentNow(service),
        accessed_at: momentNow(service),
        access_count: wasStored.access_count + 1,
      },
      archived_ids: [],
    });
    expect(answer.headers.location).toBeUndefined();
  });

  test('keeps what is not said again', async () => {
    const said = { category: 'insight', tags: ['a'], importance: 'high' };
    const { id } = await client.entry('First words', said);
    const { body } = await client.postEntry({ id, content: 'Other words' }).expect(200);
    expect(body.memory).toMatchObject({ ...said, content: 'Other words' });
  });

  test('and just as it is, stays as it is', async () => {
    const { id, updated_at } = await client.entry('The same', { tags: ['a'] });
    service.clock.advance(1_000);
    const { body } = await client.postEntry({ id, content: 'The same', tags: ['a'] }).expect(200);
    expect(body).toMatchObject({ created: false, memory: { updated_at } });
  });

  test.each([UNKNOWN_ENTRY_ID, '../../etc/passwd', 'x'])('that nobody has, %j, is not found', async (id) => {
    expect(await expectRefused(service, client.postEntry({ id }), 404)).toEqual({ code: 'not_found', fields: ['id'] });
  });

  test('of a node that is no entry is not found', async () => {
    const node = await new GraphClient(service).node({ content: 'A concept' });
    await expectRefused(service, client.postEntry({ id: node.id }), 404);
  });

  test('never becomes one of another type', async () => {
    const { id } = await client.entry('Learned', { type: 'learning' });
    expect(await expectRefused(service, client.postEntry({ id, type: 'core', content: 'Changed' }), 422)).toEqual({
      code: 'semantic_error',
      fields: ['type'],
    });
  });

  test('is held to the same rules', async () => {
    const { id } = await client.entry('Learned');
    const wrong = { id, content: ' ', category: 'c'.repeat(51), task_metadata: { status: 'blocked' } };
    const { fields } = await expectRefused(service, client.postEntry(wrong), 422);
    expect(fields.sort()).toEqual(['category', 'content', 'task_metadata']);
  });
});

/** What may just be, counted in characters as people count them, and not as a string does. */
const WIDEST: [string, object][] = [
  ['content of 1', { content: 'x' }],
  ['content of 5000', { content: 'x'.repeat(5_000) }],
  ['content of 5000 outside the basic plane', { content: '🙂'.repeat(5_000) }],
  ['a category of 50', { category: 'c'.repeat(50) }],
  ['a category of 50 outside the basic plane', { category: '𝒳'.repeat(50) }],
  ['no tags', { tags: [] }],
  ['10 tags', { tags: times(10, (index) => `tag ${index}`) }],
  ['a tag of 30', { tags: ['t'.repeat(30)] }],
  ['a tag of 30 outside the basic plane', { tags: ['🙂'.repeat(30)] }],
  ['tags that differ in their case', { tags: ['a', 'A'] }],
];

const TOO_MUCH: [string, object, string][] = [
  ['content of nothing', { content: '' }, 'content'],
  ['blank content', { content: ' \n\t\u00a0' }, 'content'],
  ['content of 5001', { content: 'x'.repeat(5_001) }, 'content'],
  ['content of 5001 outside the basic plane', { content: '🙂'.repeat(5_001) }, 'content'],
  ['a category of nothing', { category: '' }, 'category'],
  ['a blank category', { category: '  ' }, 'category'],
  ['a category of 51', { category: 'c'.repeat(51) }, 'category'],
  ['11 tags', { tags: times(11, (index) => `tag ${index}`) }, 'tags'],
  ['a tag of 31', { tags: ['a', 't'.repeat(31)] }, 'tags.1'],
  ['an empty tag', { tags: [''] }, 'tags.0'],
  ['a blank tag', { tags: ['a', ' '] }, 'tags.1'],
];

describe('4e.2 an entry', () => {
  test.each(WIDEST)('may have %s', async (_, fields) => {
    const { body } = await client.postEntry(fields).expect(201);
    expect(body.memory).toMatchObject(fields);
    const { id } = await client.entry('To be changed');
    expect((await client.patch(id, fields)).memory).toMatchObject(fields);
  });

  test.each(TOO_MUCH)('may not have %s, neither new nor changed', async (_, fields, field) => {
    const refusal = { code: 'semantic_error', fields: [field] };
    expect(await expectRefused(service, client.postEntry(fields), 422)).toEqual(refusal);
    const { id } = await client.entry('To be changed');
    expect(await expectRefused(service, client.patchEntry(id, fields), 422)).toEqual(refusal);
  });

  test.each([
    ['type', undefined],
    ['type', 'Core'],
    ['type', 'fact'],
    ['type', null],
    ['content', undefined],
    ['content', null],
    ['content', 7],
    ['content', 'a\0b'],
    ['content', 'half \ud83d'],
    ['category', null],
    ['category', 7],
    ['category', 'a\0b'],
    ['tags', 'text'],
    ['tags', null],
    ['tags', ['a', 'a']],
    ['tags.1', ['a', 1]],
    ['importance', 'urgent'],
    ['importance', null],
    ['id', 7],
    ['archived', true],
    ['created_at', '2026-01-01T00:00:00Z'],
    ['access_count', 3],
  ])('is refused for the shape of %s: %j', async (field, value) => {
    const fields = { [field.split('.')[0] as string]: value };
    const { code, fields: named } = await expectRefused(service, client.postEntry(fields), 400);
    expect([code, named[0]]).toEqual(['schema_error', field]);
  });

  test('is refused with everything that is wrong with it named at once', async () => {
    const wrong = { content: '', category: ' ', tags: ['ok', 't'.repeat(31)], task_metadata: { status: 'completed' } };
    const { fields } = await expectRefused(service, client.postEntry(wrong), 422);
    expect(fields.sort()).toEqual(['category', 'content', 'tags.1', 'task_metadata']);
  });

  test.each([' ', 'r'.repeat(201), 'a\u0007b'])('is refused in the repo %j', async (repoId) => {
    const request = new JournalClient(service, repoId).postEntry();
    expect(await expectRefused(service, request, 422)).toEqual({ code: 'semantic_error', fields: ['repo_id'] });
  });
});

describe('an entry is found', () => {
  test('by /memory/read and /nodes/search, by its text, its category and its tags', async () => {
    const own = new JournalClient(service, 'acme/found');
    const { id } = await own.entry('The walrus sleeps', { category: 'zoology', tags: ['tusks'] });
    await own.entry('Nothing of the sort');
    for (const query of ['walrus', 'zoology', 'tusks']) {
      const { body } = await service.http
        .post('/nodes/search')
        .query({ repo_id: own.repoId })
        .send({ query, form: 'entry' })
        .expect(200);
      expect(body.results).toMatchObject([{ node: { id, form: 'entry' } }]);
      const items = allItems(await recall(service, query, {}, own.repoId));
      expect(items).toMatchObject([{ memory_id: id, form: 'entry', kind: 'learning' }]);
    }
  });

  test('by what it says now, and no longer by what it said', async () => {
    const own = new JournalClient(service, 'acme/reworded');
    const { id } = await own.entry('The walrus sleeps', { category: 'zoology', tags: ['tusks'] });
    await own.patch(id, { content: 'The ostrich runs', category: 'ornithology', tags: ['feathers'] });
    const found = async (query: string) => allItems(await recall(service, query, {}, own.repoId)).length;
    for (const query of ['ostrich', 'ornithology', 'feathers']) expect([query, await found(query)]).toEqual([query, 1]);
    for (const query of ['walrus', 'zoology', 'tusks']) expect([query, await found(query)]).toEqual([query, 0]);
  });

  test('no more once it is put away, and again once it is back', async () => {
    const own = new JournalClient(service, 'acme/away');
    const { id } = await own.entry('The walrus sleeps');
    const found = async () => allItems(await recall(service, 'walrus', {}, own.repoId)).length;
    await own.remove(id);
    expect(await found()).toBe(0);
    await own.patch(id, { archived: false });
    expect(await found()).toBe(1);
  });
});

describe('Idempotency-Key', () => {
  const send = (key: string, body: object, repoId = REPO) =>
    service.http.post('/journal').query({ repo_id: repoId }).set('idempotency-key', key).send(body);
  const BODY = { type: 'learning', content: 'Once' };

  test('twice with one key makes one, and gives the same answer', async () => {
    const first = await send('once', BODY).expect(201);
    const before = stored(service);
    const second = await send('once', BODY).expect(201);
    expect(second.body).toEqual(first.body);
    expect(second.headers.location).toBe(first.headers.location);
    expect(stored(service)).toEqual(before);
  });

  test('at once with one key makes one', async () => {
    const answers = await sendAtOnce(service, () => times(6, () => send('together', BODY)));
    expect(answers.map(({ status }) => status)).toEqual(times(6, () => 201));
    expect(new Set(answers.map(({ body }) => body.id)).size).toBe(1);
  });

  test('with another key, and in another repo, makes another', async () => {
    const ids = [await send('k', BODY), await send('l', BODY), await send('k', BODY, 'acme/else')];
    expect(new Set(ids.map(({ body }) => body.id)).size).toBe(3);
  });

  test('with the key of another request is refused, and changes nothing', async () => {
    await send('taken', BODY).expect(201);
    const refusal = await expectRefused(service, send('taken', { ...BODY, content: 'Twice' }), 422);
    expect(refusal.code).toBe('idempotency_key_reused');
  });

  test('names those that made room, a second time too', async () => {
    const small = await startService({ JOURNAL_LEARNINGS_MAX: '1' });
    try {
      const { id } = await new JournalClient(small).entry('First');
      const post = () =>
        small.http.post('/journal').query({ repo_id: REPO }).set('idempotency-key', 'k').send(BODY).expect(201);
      const first = await post();
      expect(first.body.archived_ids).toEqual([id]);
      expect((await post()).body).toEqual(first.body);
    } finally {
      await small.stop();
    }
  });
});
