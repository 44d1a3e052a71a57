import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { DAY_MS, EvolutionClient } from '../../support/evolution.js';
import { expectRefused, type GraphClient, members, UNKNOWN_ID } from '../../support/nodes.js';
import { concept, idOf } from '../../support/plans.js';
import { remember } from '../../support/requests.js';
import { type Service, startService } from '../../support/service.js';

let service: Service;
let evolution: EvolutionClient;
let graph: GraphClient;
let repos = 0;
beforeAll(async () => {
  service = await startService();
});
beforeEach(() => {
  evolution = new EvolutionClient(service, `acme/shop-${++repos}`);
  graph = evolution.graph;
});
afterAll(() => service.stop());

const cursorOf = (place: unknown): string => Buffer.from(JSON.stringify(place)).toString('base64url');

/** Nodes that moved about, a second apart. */
async function history(): Promise<string[]> {
  const ids: string[] = [];
  for (let index = 0; index < 4; index++) {
    const { id } = await graph.node({ content: `Number ${index}` });
    service.clock.advance(1_000);
    await graph.patchNode(id, { tier: 'session', confidence: 0.9 }).expect(200);
    service.clock.advance(1_000);
    await graph.deleteNode(id).expect(200);
    ids.push(id);
  }
  return ids;
}

test('SPEC-02.17 SPEC-02.19 every way to change a tier is in the log with from and to', async () => {
  const { id } = await graph.node({ content: 'Redis is up', task_id: 't', session_id: 's', confidence: 0.9 });
  const atMs = service.clock.advance(1_000);
  await evolution.consolidate('t');
  await evolution.promoteSession('s');
  await graph.patchNode(id, { tier: 'session' }).expect(200);
  await evolution.promoteNode(id);
  await graph.deleteNode(id).expect(200);
  await graph.restoreNode(id).expect(200);
  expect(await evolution.moves(id)).toEqual([
    'tier_transition: task to session',
    'consolidate: task to session',
    'tier_transition: session to longterm',
    'promote: session to longterm',
    'tier_transition: longterm to session',
    'tier_transition: session to longterm',
    'promote: session to longterm',
    'archive: longterm to archive',
    'restore: archive to longterm',
  ]);
  service.clock.advance(100 * DAY_MS);
  await evolution.decay();
  expect((await evolution.moves(id)).slice(-2)).toEqual(['archive: longterm to archive', 'decay: longterm to archive']);
  const [, made] = (await evolution.log({ node: id, before: atMs + 1 })).reverse();
  expect(made).toMatchObject({ at: atMs, node_ids: [id] });
});

test('SPEC-02.19 the log tells of each change when, what, of which nodes and why', async () => {
  const { id, created_at: createdAt } = await graph.node({ provenance: 'the manual' });
  const atMs = service.clock.advance(1_000);
  await evolution.promoteNode(id, { tier: 'longterm' });
  const moved = { at: atMs, node_ids: [id], from_tier: 'task', to_tier: 'longterm', reasoning: 'promoted by hand' };
  expect(await evolution.log()).toEqual([
    { ...moved, operation: 'promote' },
    { ...moved, operation: 'tier_transition' },
    { at: createdAt, operation: 'create', node_ids: [id], from_tier: null, to_tier: 'task', reasoning: 'the manual' },
  ]);
});

test('SPEC-02.19 a move that is refused or only tried out is not in the log', async () => {
  const { id } = await graph.node({ tier: 'longterm', task_id: 't', session_id: 's' });
  const before = await evolution.log();
  service.clock.advance(DAY_MS);
  await evolution.postPromote({ of: 'node', node_id: id }).expect(409);
  await evolution.consolidate('t', { dry_run: true });
  await evolution.promoteSession('s', { dry_run: true });
  await evolution.decay({ dry_run: true });
  expect(await evolution.log()).toEqual(before);
});

test.each(['repo', 'global'])('SPEC-02.19 the moves of a memory of scope %s are in the log', async (scope) => {
  const id = await remember(service, { text: `Of ${scope}`, scope }, evolution.repoId);
  await graph.patchNode(id, { tier: 'session' }).expect(200);
  expect(await evolution.moves(id)).toEqual(['tier_transition: longterm to session']);
});

test('SPEC-02.19 a node that was removed for good is still in the log', async () => {
  const { id } = await graph.node();
  await graph.patchNode(id, { tier: 'longterm' }).expect(200);
  await graph.deleteNode(id, { permanent: true }).expect(200);
  expect(await evolution.log()).toMatchObject([
    { operation: 'purge', node_ids: [id], from_tier: 'longterm', to_tier: null },
    { operation: 'tier_transition', node_ids: [id], from_tier: 'task', to_tier: 'longterm' },
    { operation: 'create', node_ids: [id] },
  ]);
});

test('SPEC-02.19 a node that was removed for good is still found in the log by its id', async () => {
  const { id } = await graph.node();
  await graph.deleteNode(id, { permanent: true }).expect(200);
  expect((await evolution.log({ node: id })).map(({ operation }) => operation)).toEqual(['purge', 'create']);
});

test('of one node the log tells what concerned it, and nothing else', async () => {
  const ids = await history();
  const all = await evolution.log();
  for (const id of ids) {
    const own = await evolution.log({ node: id });
    expect(own).toEqual(all.filter(({ node_ids }) => node_ids.includes(id)));
    expect(own.map(({ operation }) => operation)).toEqual(['archive', 'tier_transition', 'update', 'create']);
  }
  expect(await evolution.log({ node: UNKNOWN_ID })).toEqual([]);
  expect(await evolution.log({ node: 'no-id' })).toEqual([]);
});

test('an edge is in the log of each of its members', async () => {
  const [one, other] = [await graph.node(), await graph.node()];
  await graph.link(one, other, { label: 'explains' });
  for (const { id } of [one, other]) {
    expect((await evolution.log({ node: id }))[0]).toMatchObject({
      operation: 'link:explains',
      node_ids: [one.id, other.id],
    });
  }
});

test.each(['create', 'update', 'tier_transition', 'archive'])(
  'of the operation %s the log tells all and no other',
  async (operation) => {
    await history();
    const entries = await evolution.log({ operation });
    expect(entries).toHaveLength(4);
    expect(entries).toEqual((await evolution.log()).filter((entry) => entry.operation === operation));
  },
);

test('an operation that never happened is not in the log', async () => {
  await graph.node();
  for (const operation of ['decay', 'link:unheard-of', 'unlink:x', 'relink:']) {
    expect(await evolution.log({ operation })).toEqual([]);
  }
});

test.each([
  ['an operation that there is none of', { operation: 'unheard-of' }, 'operation', 'tier_transition, archive, restore'],
  ['a moment before its beginning', { since: 5, before: 4 }, 'before', 'later than since'],
  ['a moment of no length', { since: 5, before: 5 }, 'before', 'later than since'],
])('%s is refused: nothing could ever answer that', async (_, query, field, message) => {
  const { body } = await evolution.getLog(query).expect(422);
  expect(body.errors).toMatchObject([{ field, code: 'semantic_error', message: expect.stringContaining(message) }]);
});

test('since takes its moment in, and before leaves it out', async () => {
  await history();
  const all = await evolution.log();
  for (const { at } of all) {
    expect(await evolution.log({ since: at })).toEqual(all.filter((entry) => entry.at >= at));
    expect(await evolution.log({ before: at })).toEqual(all.filter((entry) => entry.at < at));
    expect(await evolution.log({ since: at, before: at + 1 })).toEqual(all.filter((entry) => entry.at === at));
  }
});

test('filters narrow one another', async () => {
  const [first] = (await history()) as [string];
  const [entry] = await evolution.log({ node: first, operation: 'tier_transition' });
  expect(entry).toMatchObject({ node_ids: [first], from_tier: 'task', to_tier: 'session' });
  const at = entry?.at as number;
  expect(await evolution.log({ node: first, operation: 'tier_transition', since: at + 1 })).toEqual([]);
  expect(await evolution.log({ node: first, operation: 'tier_transition', since: at })).toEqual([entry]);
});

test.each([1, 2, 3, 5, 16, 500])('pages of %d lose and repeat nothing, newest first', async (limit) => {
  await history();
  const all = await evolution.log();
  expect(all).toHaveLength(16);
  expect(all.map(({ at }) => at)).toEqual(all.map(({ at }) => at).sort((a, b) => b - a));
  expect(await evolution.log({ limit })).toEqual(all);
  const { body } = await evolution.getLog({ limit }).expect(200);
  expect(body.entries).toEqual(all.slice(0, limit));
  const operation = 'archive';
  expect(await evolution.log({ limit, operation })).toEqual(await evolution.log({ operation }));
});

test('what happens between two pages is on neither, and moves nothing', async () => {
  await history();
  const all = await evolution.log();
  const { body: first } = await evolution.getLog({ limit: 7 }).expect(200);
  await history();
  const { body: second } = await evolution.getLog({ limit: 100, cursor: first.next_cursor }).expect(200);
  expect([...first.entries, ...second.entries]).toEqual(all);
  expect(second.next_cursor).toBeNull();
});

test('a seldom operation is found behind thousands of others', async () => {
  const { repoId } = evolution;
  const { id } = await graph.node();
  await graph.deleteNode(id).expect(200);
  const nodes = Array.from({ length: 5_100 }, (_, index) => concept(idOf(2_000_000 + index), { repoId }));
  await service.store.apply({ space: repoId, changes: nodes });
  expect(await evolution.log({ operation: 'archive' })).toMatchObject([{ node_ids: [id], operation: 'archive' }]);
  const all = (await evolution.log({ limit: 500 })).flatMap(({ node_ids }) => node_ids);
  expect(all).toHaveLength(5_102);
  expect(new Set(all).size).toBe(5_101);
});

test('what is older than since is not looked through to the beginning of the log', async () => {
  const { repoId } = evolution;
  const nodes = Array.from({ length: 5_100 }, (_, index) => concept(idOf(7_000_000 + index), { repoId }));
  await service.store.apply({ space: repoId, changes: nodes });
  service.clock.advance(DAY_MS);
  const { id, created_at: since } = await graph.node();
  const { body } = await evolution.getLog({ since }).expect(200);
  expect(body.entries).toMatchObject([{ operation: 'create', node_ids: [id] }]);
  expect(body.next_cursor).toBeNull();
  expect(await evolution.log({ since: since + 1 })).toEqual([]);
});

test.each([1, 2, 3, 500])(
  'of a global node, pages of %d tell what all know of it and what this repo did with it',
  async (limit) => {
    const id = await remember(service, { text: `Known to all ${limit}`, scope: 'global' }, evolution.repoId);
    const other = new EvolutionClient(service, `${evolution.repoId}-other`);
    for (const [client, label] of [
      [evolution, 'explains'],
      [other, 'uses'],
      [evolution, 'extends'],
    ] as const) {
      service.clock.advance(1_000);
      const node = await client.graph.node();
      await client.graph.edge(members(['subject', node], ['object', id]), { label });
      service.clock.advance(1_000);
      await client.graph.patchNode(id, { tier: label === 'uses' ? 'session' : 'longterm' });
    }
    const entries = await evolution.log({ node: id, limit });
    expect(entries.map(({ operation }) => operation)).toEqual([
      'tier_transition',
      'link:extends',
      'tier_transition',
      'link:explains',
      'create',
    ]);
    expect(entries.map(({ at }) => at)).toEqual(entries.map(({ at }) => at).sort((a, b) => b - a));
    expect((await other.log({ node: id, limit })).map(({ operation }) => operation)).toEqual([
      'tier_transition',
      'tier_transition',
      'link:uses',
      'create',
    ]);
  },
);

test('the log tells at most 100 changes at once unless told otherwise', async () => {
  const { repoId } = evolution;
  const nodes = Array.from({ length: 101 }, (_, index) => concept(idOf(3_000_000 + index), { repoId }));
  await service.store.apply({ space: repoId, changes: nodes });
  const { body } = await evolution.getLog().expect(200);
  expect(body.entries).toHaveLength(100);
  expect(body.next_cursor).toEqual(expect.any(String));
});

test.each([
  ['no cursor at all', 'nonsense'],
  ['an empty one', ''],
  ['a number', cursorOf(3)],
  ['an empty list', cursorOf([])],
  ['a text in a list', cursorOf(['3', 0])],
  ['a broken number', cursorOf([1.5, 0])],
  ['too large a number', cursorOf([1e300, 0])],
  ['a negative number', cursorOf([3, -1])],
  ['one number alone', cursorOf([3])],
  ['null', cursorOf([null, 0])],
  ['the cursor of a list of nodes', cursorOf([0.5, 3])],
])('a cursor that is %s is refused', async (_, cursor) => {
  await graph.node();
  const refused = await expectRefused(service, evolution.getLog({ cursor }), 400, evolution.repoId);
  expect(refused).toEqual({ code: 'invalid_cursor', fields: ['cursor'] });
});

test.each([
  ['limit', 0],
  ['limit', 501],
  ['limit', 'many'],
  ['since', -1],
  ['since', 'yesterday'],
  ['before', 1.5],
])('SPEC-02.36 the log refuses %s=%s by its name', async (field, value) => {
  const request = evolution.getLog({ [field]: value });
  expect((await expectRefused(service, request, 400, evolution.repoId)).fields).toEqual([field]);
});

test('the log of a repo tells nothing of another, and that of an unknown repo is empty', async () => {
  const other = new EvolutionClient(service, `${evolution.repoId}-other`);
  expect(await other.log()).toEqual([]);
  const [first] = (await history()) as [string];
  expect(await other.log()).toEqual([]);
  expect(await other.log({ node: first })).toEqual([]);
});
