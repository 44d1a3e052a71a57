import type { Response } from 'supertest';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { presentCursor } from '../../../src/contracts/cursor.js';
import { GraphClient, idsOf, type NodeReport, sendAtOnce } from '../../support/nodes.js';
import { type Service, startService } from '../../support/service.js';
import { times } from '../../support/together.js';

const COUNT = 250;
const TYPES = ['entity', 'fact', 'decision'];
const TIERS = ['task', 'session', 'longterm'];

let service: Service;
let graph: GraphClient;
let made: NodeReport[];
beforeAll(async () => {
  service = await startService();
  graph = new GraphClient(service, 'pages/many');
  made = [];
  for (let start = 0; start < COUNT; start += 50) {
    const answers = await sendAtOnce(service, () => times(50, (index) => graph.postNode(fieldsOf(start + index))));
    made.push(...answers.map(({ body }) => body));
  }
});
afterAll(() => service.stop());

/** Few confidences, so that most places in the list are told apart by age alone. */
const fieldsOf = (index: number) => ({
  content: `Number ${index}`,
  type: TYPES[index % 3],
  tier: TIERS[Math.floor(index / 3) % 3],
  confidence: [0, 0.1, 0.5, 0.9][index % 4],
  tags: index % 2 === 0 ? ['even'] : ['odd'],
  session_id: index % 5 === 0 ? 'fifth' : 'other',
});

const sorted = (ids: readonly string[]): string[] => [...ids].sort();

test('SPEC-02.24 a page holds 100 unless it is told otherwise, and says where the next begins', async () => {
  const { body } = await graph.getNodes().expect(200);
  expect(body.nodes).toHaveLength(100);
  expect(body.next_cursor).toMatch(/^[\w-]+$/);
});

test.each([1, 7, 100, 249, 250, 251, 500])('SPEC-02.24 pages of %d give every node once', async (limit) => {
  const ids = idsOf(await graph.allNodes({ limit }));
  expect(ids).toHaveLength(COUNT);
  expect(sorted(ids)).toEqual(sorted(idsOf(made)));
});

test('SPEC-02.24 the pages together are the list in its order', async () => {
  expect(idsOf(await graph.allNodes({ limit: 9 }))).toEqual(idsOf(await graph.listed({ limit: 500 })));
});

test.each([
  ['the last page that is full', 125],
  ['a list that fits', 250],
])('SPEC-02.24 %s is known to be the last', async (_, limit) => {
  let pages = 1;
  let { body } = await graph.getNodes({ limit }).expect(200);
  for (; body.next_cursor !== null; pages++) {
    body = (await graph.getNodes({ limit, cursor: body.next_cursor }).expect(200)).body;
    expect(body.nodes.length).toBeGreaterThan(0);
  }
  expect(pages).toBe(COUNT / limit);
});

test.each([
  ['a type', { type: 'fact' }, (node: NodeReport) => node.type === 'fact'],
  ['a tier', { tier: 'session' }, (node: NodeReport) => node.tier === 'session'],
  ['a confidence', { min_confidence: 0.5 }, (node: NodeReport) => (node.confidence ?? 0) >= 0.5],
  ['a tag', { tag: 'even' }, (node: NodeReport) => node.tags.includes('even')],
  ['a session', { session: 'fifth' }, (node: NodeReport) => node.tier === 'longterm' || node.session_id === 'fifth'],
  [
    'a session and a tag',
    { session: 'fifth', tag: 'odd' },
    (node: NodeReport) => node.tags.includes('odd') && (node.tier === 'longterm' || node.session_id === 'fifth'),
  ],
])('SPEC-02.24 the pages of a list of %s give every node that fits once, and in order', async (_, query, fits) => {
  const paged = idsOf(await graph.allNodes({ ...query, limit: 8 }));
  expect(sorted(paged)).toEqual(sorted(idsOf(made.filter(fits))));
  expect(paged).toEqual(idsOf(await graph.listed({ ...query, limit: 500 })));
});

test('SPEC-02.24 while nodes are added, no page repeats a node and none that was there is missed', async () => {
  const seen: string[] = [];
  let added = 0;
  let cursor: string | null = null;
  do {
    const { body }: Response = await graph.getNodes({ limit: 30, ...(cursor === null ? {} : { cursor }) }).expect(200);
    seen.push(...idsOf(body.nodes));
    cursor = body.next_cursor;
    for (const confidence of [0, 0.1, 0.5, 0.9, 1]) {
      await graph.node({ content: `Added ${added++}`, confidence, type: TYPES[added % 3] });
    }
  } while (cursor !== null);
  expect(new Set(seen).size).toBe(seen.length);
  expect(seen).toEqual(expect.arrayContaining(idsOf(made)));
});

test('SPEC-02.24 a node that goes while a list is paged leaves the others in their places', async () => {
  const few = new GraphClient(service, 'pages/few');
  const nodes = await few.nodes('a', 'b', 'c', 'd', 'e', 'f');
  const { body } = await few.getNodes({ limit: 2 }).expect(200);
  await few.deleteNode(body.nodes[1].id, { permanent: true }).expect(200);
  const rest = await few.allNodes({ limit: 2, cursor: body.next_cursor });
  expect(idsOf(rest)).toEqual(idsOf(nodes).reverse().slice(2));
});

describe('SPEC-02.24 a cursor', () => {
  test.each([
    ['that is no cursor', 'garbage'],
    ['that is empty', ''],
    ['of SQL', `' OR 1=1 --`],
    ['of the wrong shape', presentCursor([1])],
    ['of words', presentCursor(['a', 'b'])],
    ['of too much', presentCursor([1, 2, 3])],
    ['of another list', presentCursor(['relation', 'label', 1])],
    ['of no list', Buffer.from('{"confidence":1}').toString('base64url')],
    ['of null', Buffer.from('[null,1]').toString('base64url')],
  ])('%s is refused', async (_, cursor) => {
    const { body } = await graph.getNodes({ cursor }).expect(400);
    expect(body).toMatchObject({ code: 'invalid_cursor', errors: [{ field: 'cursor', code: 'invalid_cursor' }] });
  });

  test('past the end gives nothing', async () => {
    const { body } = await graph.getNodes({ cursor: presentCursor([-1, 0]) }).expect(200);
    expect(body).toEqual({ nodes: [], next_cursor: null });
  });
});
