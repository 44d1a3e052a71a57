import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { isIdOf } from '../../../src/domain/forms.js';
import { NODE_TYPES, TIERS } from '../../../src/domain/vocabulary.js';
import { expectRefused, GraphClient, REPO, sendAtOnce } from '../../support/nodes.js';
import { select } from '../../support/rows.js';
import { type Service, startService } from '../../support/service.js';

let service: Service;
let graph: GraphClient;
beforeAll(async () => {
  service = await startService();
  graph = new GraphClient(service);
});
afterAll(() => service.stop());

const readBack = async (id: string) => (await graph.getNode(id).expect(200)).body;

test('SPEC-02.05 the node types are entity, fact, experience, decision and snippet', () => {
  expect([...NODE_TYPES]).toEqual(['entity', 'fact', 'experience', 'decision', 'snippet']);
});

test.each(NODE_TYPES)('SPEC-02.05 a node of type %s is kept', async (type) => {
  const { id } = await graph.node({ type, content: `A ${type}` });
  expect(await readBack(id)).toMatchObject({ id, type, content: `A ${type}` });
});

test.each(['memory', 'Fact', '', 'fact ', 'procedure'])(
  'SPEC-02.05 the unknown type %j is refused, and nothing is kept',
  async (type) => {
    expect(await expectRefused(service, graph.postNode({ type }), 400)).toEqual({
      code: 'schema_error',
      fields: ['type'],
    });
  },
);

test('SPEC-02.06 SPEC-02.20 what is written is answered with its id, and read back the same', async () => {
  const fields = { type: 'decision', content: 'We ship on Fridays', tier: 'session', confidence: 0.25 };
  const answer = await graph.postNode(fields).expect(201);
  expect(answer.body).toMatchObject(fields);
  expect(answer.headers.location).toBe(`/nodes/${answer.body.id}?repo_id=${encodeURIComponent(REPO)}`);
  const { body } = await service.http.get(answer.headers.location as string).expect(200);
  expect(body).toEqual({ ...answer.body, access_count: 1 });
});

test('SPEC-02.06 a node is one row with id, type, content, tier and confidence', async () => {
  const { id } = await graph.node({ type: 'snippet', content: 'const x = 1', tier: 'longterm', confidence: 1 });
  const columns = 'typeof(id) AS id, type, content, tier, typeof(confidence) AS confidence';
  expect(select(service, REPO, `SELECT ${columns} FROM nodes WHERE id = ?`, id)).toEqual([
    { id: 'text', type: 'snippet', content: 'const x = 1', tier: 'longterm', confidence: 'real' },
  ]);
});

test.each(['type', 'content'])('SPEC-02.06 a node without %s is refused', async (field) => {
  const refusal = await expectRefused(service, graph.postNode({ [field]: undefined }), 400);
  expect(refusal).toEqual({ code: 'schema_error', fields: [field] });
});

test('SPEC-02.20 what is left out has its default', async () => {
  const node = await graph.node({ type: 'entity', content: 'Bare' });
  expect(node).toEqual({
    id: expect.any(String),
    form: 'concept',
    type: 'entity',
    subtype: null,
    content: 'Bare',
    tier: 'task',
    confidence: 0.5,
    provenance: null,
    metadata: {},
    tags: [],
    session_id: null,
    task_id: null,
    repo_id: REPO,
    scope: 'repo',
    created_at: service.clock.now(),
    updated_at: service.clock.now(),
    last_accessed: service.clock.now(),
    access_count: 0,
    archived_at: null,
    revision: 1,
  });
});

test('SPEC-02.20 without repo_id the repo called default is meant', async () => {
  const { body } = await service.http.post('/nodes').send({ type: 'fact', content: 'Nowhere special' }).expect(201);
  expect(body.repo_id).toBe('default');
  await service.http.get(`/nodes/${body.id}`).expect(200);
});

test('SPEC-02.20 a field that is not known is refused by its name', async () => {
  const refusal = await expectRefused(service, graph.postNode({ embedding: [0.1], id: 'mine' }), 400);
  expect(refusal.fields.sort()).toEqual(['embedding', 'id']);
});

test('SPEC-02.07 all times of a new node are the moment it was written, in milliseconds', async () => {
  const atMs = service.clock.advance(1_234);
  const node = await graph.node();
  expect([node.created_at, node.updated_at, node.last_accessed]).toEqual([atMs, atMs, atMs]);
  expect(new Date(node.created_at).getUTCFullYear()).toBe(2026);
  expect(node.access_count).toBe(0);
});

describe('SPEC-02.08 the optional fields come back as they were given:', () => {
  const metadata = {
    nested: { list: [1, 'two', { three: [3.5, null, true] }], empty: {}, none: null },
    'key with "quotes" and . dots': 'Grüße, 世界 🙂',
    '': 'an empty key',
    seconds: 1_767_225_600.25,
    constructor: 'a word like others',
  };
  test.each([
    ['subtype', 'service'],
    ['provenance', `session "7" of Zoë's 🙂`],
    ['metadata', metadata],
    ['tags', ['alpha', 'größe', 'with blank', '日本']],
    ['session_id', 'session-7'],
    ['task_id', 'task 8'],
  ])('%s', async (field, value) => {
    const node = await graph.node({ [field]: value });
    expect(node[field as keyof typeof node]).toEqual(value);
    expect((await readBack(node.id))[field]).toEqual(value);
  });

  test('all together', async () => {
    const fields = {
      subtype: 'person',
      provenance: 'a letter',
      metadata,
      tags: ['one', 'two'],
      session_id: 's',
      task_id: 't',
    };
    const { id } = await graph.node(fields);
    expect(await readBack(id)).toMatchObject(fields);
  });
});

test('SPEC-02.08 the session and the task may stand in the metadata; what is said beside it goes first', async () => {
  const metadata = { session_id: 'inside', task_id: 'inner task' };
  expect(await graph.node({ metadata })).toMatchObject({ session_id: 'inside', task_id: 'inner task', metadata });
  expect(await graph.node({ metadata, session_id: 'beside' })).toMatchObject({
    session_id: 'beside',
    task_id: 'inner task',
    metadata,
  });
  expect(await graph.node({ metadata: { session_id: 7 } })).toMatchObject({ session_id: null });
  const blank = { session_id: ' ', task_id: '' };
  expect(await graph.node({ metadata: blank })).toMatchObject({ session_id: null, task_id: null, metadata: blank });
});

test.each([
  ['a list for metadata', { metadata: [1] }, 400, 'metadata'],
  ['a text for metadata', { metadata: 'x' }, 400, 'metadata'],
  ['the same tag twice', { tags: ['a', 'a'] }, 400, 'tags'],
  ['an empty tag', { tags: [''] }, 400, 'tags.0'],
  ['a blank tag', { tags: ['a', ' '] }, 422, 'tags.1'],
  ['a tag that is too long', { tags: ['x'.repeat(201)] }, 422, 'tags.0'],
  ['more tags than are kept', { tags: Array.from({ length: 51 }, (_, index) => `tag ${index}`) }, 400, 'tags'],
  ['a subtype that is too long', { subtype: 'x'.repeat(201) }, 422, 'subtype'],
  ['an empty session', { session_id: '' }, 400, 'session_id'],
  ['a blank session', { session_id: ' ' }, 422, 'session_id'],
  ['an empty task', { task_id: '' }, 400, 'task_id'],
  ['a blank task', { task_id: '\t' }, 422, 'task_id'],
  ['a session that is too long', { session_id: 'x'.repeat(201) }, 422, 'session_id'],
  ['a task that is too long', { task_id: 'x'.repeat(201) }, 422, 'task_id'],
  ['a provenance that is too long', { provenance: 'x'.repeat(2_001) }, 422, 'provenance'],
  ['metadata that is too long', { metadata: { x: 'x'.repeat(65_536) } }, 422, 'metadata'],
  ['content that is too long', { content: 'x'.repeat(100_001) }, 422, 'content'],
  ['content that is no text', { content: 7 }, 400, 'content'],
])('SPEC-02.08 %s is refused by its name, and nothing is kept', async (_, fields, status, field) => {
  expect((await expectRefused(service, graph.postNode(fields), status)).fields).toEqual([field]);
});

test('SPEC-02.09 every id is of the form of a uuid of version 4, and no two are the same', async () => {
  const ids = (await graph.nodes('a', 'a', 'a', 'b')).map(({ id }) => id);
  expect(new Set(ids).size).toBe(4);
  for (const id of ids) expect(isIdOf('concept', id)).toBe(true);
});

test.each([0, 0.5, 1, 0.123456789012345])('SPEC-02.10 a confidence of %d is kept exactly', async (confidence) => {
  const { id } = await graph.node({ confidence });
  expect((await readBack(id)).confidence).toBe(confidence);
});

test.each([-0.1, 1.1, -1e-9, 1.000001, '0.5', null])(
  'SPEC-02.10 confidence is from 0 to 1, so %j is refused',
  async (confidence) => {
    expect(await expectRefused(service, graph.postNode({ confidence }), 400)).toEqual({
      code: 'schema_error',
      fields: ['confidence'],
    });
  },
);

test('SPEC-02.17 the tiers are task, session, longterm and archive', () => {
  expect([...TIERS]).toEqual(['task', 'session', 'longterm', 'archive']);
});

test.each(TIERS)('SPEC-02.17 a node may begin in the tier %s', async (tier) => {
  const { id } = await graph.node({ tier });
  const archivedAt = tier === 'archive' ? service.clock.now() : null;
  expect(await readBack(id)).toMatchObject({ tier, archived_at: archivedAt });
});

test.each(['working', 'Task', '', null])('SPEC-02.17 the unknown tier %j is refused', async (tier) => {
  expect((await expectRefused(service, graph.postNode({ tier }), 400)).fields).toEqual(['tier']);
});

test('SPEC-02.18 a new node begins in the tier task', async () => {
  expect((await graph.node()).tier).toBe('task');
});

test('SPEC-02.20 a node that begins in the archive is restored to where new nodes begin', async () => {
  const { id } = await graph.node({ tier: 'archive' });
  expect((await graph.restoreNode(id).expect(200)).body).toMatchObject({ tier: 'task', archived_at: null });
});

test.each([
  ['empty', ''],
  ['blank', '  \n\t '],
  ['a hundred thousand characters long', 'memory '.repeat(15_000).slice(0, 100_000)],
  ['of many scripts', 'Ünïcödé, 日本語, עברית, 🙂👩‍👩‍👧, e\u0301 and \u00e9'],
  ['full of quotes', `'single' "double" \`back\` \\ %_ ; --`],
  ['of several lines', 'one\r\ntwo\n\nthree\u2028four'],
  ['markup', '<script>alert(1)</script> &amp; {{x}} {%y%}'],
])('SPEC-02.34 content that is %s is kept character for character', async (_, content) => {
  const { id } = await graph.node({ content });
  expect((await readBack(id)).content).toBe(content);
});

test('SPEC-02.20 the same content twice is two nodes', async () => {
  const [first, second] = await graph.nodes('Said twice', 'Said twice');
  expect(first?.id).not.toBe(second?.id);
});

test('SPEC-02.20 a node that is made while its repo is dropped is made, before or after', async () => {
  const repoId = 'acme/short-lived';
  const shortLived = new GraphClient(service, repoId);
  for (let round = 0; round < 20; round++) {
    await shortLived.node();
    const answers = await sendAtOnce(service, () => [
      shortLived.postNode({ content: 'before' }),
      service.http.delete(`/repos/${encodeURIComponent(repoId)}`).query({ confirm: repoId }),
      shortLived.postNode({ content: 'after' }),
    ]);
    expect(answers.map(({ status }) => status)).toEqual([201, 200, 201]);
  }
});
