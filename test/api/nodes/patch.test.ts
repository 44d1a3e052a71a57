import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { TIERS } from '../../../src/domain/vocabulary.js';
import { expectRefused, GraphClient, type NodeReport, REPO } from '../../support/nodes.js';
import { remember } from '../../support/requests.js';
import { select } from '../../support/rows.js';
import { type Service, startService } from '../../support/service.js';

let service: Service;
let graph: GraphClient;
beforeAll(async () => {
  service = await startService();
  graph = new GraphClient(service);
});
afterAll(() => service.stop());

const FILLED = {
  type: 'entity',
  content: 'As it was',
  subtype: 'service',
  confidence: 0.4,
  provenance: 'a letter',
  metadata: { kept: { deep: [1, 2] }, other: true },
  tags: ['one', 'two'],
  session_id: 'session-1',
  task_id: 'task-1',
};

/** Changes a node and proves that the answer is what is read back later. */
async function patched(id: string, fields: object): Promise<NodeReport> {
  const { body } = await graph.patchNode(id, fields).expect(200);
  expect((await graph.allNodes({ include_archived: true })).find((node) => node.id === id)).toEqual(body);
  return body;
}

describe('SPEC-02.22 a patch changes the one field it names, and the time and revision of the change:', () => {
  test.each([
    ['content', 'As it is now'],
    ['content', ''],
    ['subtype', 'person'],
    ['confidence', 0.9],
    ['confidence', 0],
    ['provenance', 'another letter'],
    ['metadata', { fresh: [{ x: null }] }],
    ['metadata', {}],
    ['tags', ['three']],
    ['tags', []],
    ['tier', 'longterm'],
  ])('%s to %j', async (field, value) => {
    const before = await graph.node(FILLED);
    const atMs = service.clock.advance(1_000);
    const after = await patched(before.id, { [field]: value });
    expect(after).toEqual({ ...before, [field]: value, updated_at: atMs, revision: 2 });
  });
});

test('SPEC-02.22 metadata that names a session or a task moves the node there, as on creation', async () => {
  const { id } = await graph.node({ content: 'Moves', metadata: { session_id: 'A', task_id: 'one' } });
  expect(await patched(id, { metadata: { session_id: 'B' } })).toMatchObject({ session_id: 'B', task_id: 'one' });
  expect(await patched(id, { metadata: { task_id: 'two' } })).toMatchObject({ session_id: 'B', task_id: 'two' });
  expect(await patched(id, { metadata: { session_id: 5 } })).toMatchObject({ session_id: 'B', task_id: 'two' });
  expect((await graph.listed({ session: 'B', tier: 'task' })).map((node) => node.id)).toEqual([id]);
});

test('SPEC-02.22 metadata that names a session too long to keep is refused', async () => {
  const { id } = await graph.node();
  const request = graph.patchNode(id, { metadata: { session_id: 's'.repeat(201) } });
  expect(await expectRefused(service, request, 422)).toEqual({ code: 'semantic_error', fields: ['session_id'] });
});

test('SPEC-02.22 several fields change together', async () => {
  const before = await graph.node(FILLED);
  const fields = { content: 'New', confidence: 1, tags: ['x'], metadata: { y: 1 }, subtype: 'z', provenance: 'p' };
  expect(await patched(before.id, { ...fields, tier: 'session' })).toMatchObject({ ...fields, tier: 'session' });
});

test.each(['subtype', 'provenance'])('SPEC-02.22 null clears %s', async (field) => {
  const before = await graph.node(FILLED);
  expect(await patched(before.id, { [field]: null })).toMatchObject({ [field]: null, content: before.content });
});

test.each(['content', 'confidence', 'metadata', 'tags', 'tier'])(
  'SPEC-02.22 %s cannot be cleared with null',
  async (field) => {
    const { id } = await graph.node(FILLED);
    const refusal = await expectRefused(service, graph.patchNode(id, { [field]: null }), 400);
    expect(refusal).toEqual({ code: 'schema_error', fields: [field] });
  },
);

test.each([
  'id',
  'type',
  'form',
  'scope',
  'repo_id',
  'created_at',
  'updated_at',
  'last_accessed',
  'access_count',
  'revision',
  'session_id',
  'kind',
  'content = content; --',
])('SPEC-02.22 SPEC-02.33 the field %j is not to be patched', async (field) => {
  const { id } = await graph.node(FILLED);
  const refusal = await expectRefused(service, graph.patchNode(id, { [field]: 'x', content: 'y' }), 400);
  expect(refusal).toEqual({ code: 'schema_error', fields: [field] });
});

test('SPEC-02.22 a patch of nothing is refused', async () => {
  const { id } = await graph.node(FILLED);
  expect((await expectRefused(service, graph.patchNode(id, {}), 400)).code).toBe('schema_error');
});

test.each([
  ['a confidence below 0', { confidence: -0.1 }, 400, 'confidence'],
  ['a confidence above 1', { confidence: 1.1 }, 400, 'confidence'],
  ['an unknown tier', { tier: 'attic' }, 400, 'tier'],
  ['content that is too long', { content: 'x'.repeat(100_001) }, 422, 'content'],
  ['a blank tag', { tags: [' '] }, 422, 'tags.0'],
  ['a list for metadata', { metadata: [] }, 400, 'metadata'],
])('SPEC-02.36 a patch to %s is refused, and changes nothing', async (_, fields, status, field) => {
  const { id } = await graph.node(FILLED);
  const refusal = await expectRefused(service, graph.patchNode(id, { provenance: 'new', ...fields }), status);
  expect(refusal.fields).toEqual([field]);
});

test('SPEC-02.22 an archived node may be corrected, and stays in the archive', async () => {
  const { id } = await graph.node(FILLED);
  await graph.deleteNode(id).expect(200);
  expect(await patched(id, { content: 'Corrected' })).toMatchObject({ content: 'Corrected', tier: 'archive' });
});

test('SPEC-02.22 a change leaves a line in the log, and a change of confidence one in its history', async () => {
  const { id } = await graph.node(FILLED);
  const atMs = service.clock.advance(1_000);
  await patched(id, { confidence: 0.75, content: 'Surer' });
  await patched(id, { confidence: 0.75 });
  const log = select(service, REPO, `SELECT * FROM evolution_log WHERE node_ids = ? ORDER BY seq`, `["${id}"]`);
  expect(log.map(({ operation }) => operation)).toEqual(['create', 'update', 'update']);
  expect(log[1]).toMatchObject({ at: atMs, from_tier: null, to_tier: null, repo_id: REPO });
  const history = `SELECT c.* FROM confidence_updates c JOIN nodes n ON n.seq = c.node_seq WHERE n.id = ?`;
  expect(select(service, REPO, history, id)).toMatchObject([
    { old_confidence: 0.4, new_confidence: 0.75, trigger: 'manual', at: atMs },
  ]);
});

describe('SPEC-02.22 a memory', () => {
  const FIELDS = {
    content: 'Rewritten',
    subtype: 'change',
    confidence: 0.1,
    provenance: 'elsewhere',
    metadata: { x: 1 },
    tags: ['x'],
  };

  test.each(Object.entries(FIELDS))('keeps %s as it was written', async (field, value) => {
    const id = await remember(service, { text: `A memory with ${field}` });
    const refusal = await expectRefused(service, graph.patchNode(id, { [field]: value }), 409);
    expect(refusal).toEqual({ code: 'conflict', fields: [field] });
  });

  test('is refused with every field that it keeps, and its tier is not moved either', async () => {
    const id = await remember(service, { text: 'A memory to be left alone' });
    const refusal = await expectRefused(service, graph.patchNode(id, { ...FIELDS, tier: 'session' }), 409);
    expect(refusal.fields.sort()).toEqual(Object.keys(FIELDS).sort());
  });

  test.each(TIERS)('may be moved to the tier %s', async (tier) => {
    const id = await remember(service, { text: `A memory for ${tier}` });
    expect((await graph.patchNode(id, { tier }).expect(200)).body).toMatchObject({ tier, form: 'memory' });
  });
});
