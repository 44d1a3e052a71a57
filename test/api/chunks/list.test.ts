import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { presentCursor } from '../../../src/contracts/cursor.js';
import { ChunkClient, type ChunkReport } from '../../support/chunks.js';
import { expectRefused, idsOf, sendAtOnce } from '../../support/nodes.js';
import { type Service, startService } from '../../support/service.js';
import { times } from '../../support/together.js';

let service: Service;
let client: ChunkClient;
beforeAll(async () => {
  service = await startService();
  client = new ChunkClient(service);
});
afterAll(() => service.stop());

const texts = async (query: Record<string, string | number | boolean> = {}, from = client): Promise<string[]> =>
  (await from.listed(query)).map(({ content }) => content);

describe('1e.6 a list', () => {
  let few: ChunkClient;
  let from: string;
  let upTo: string;
  beforeAll(async () => {
    few = new ChunkClient(service, 'acme/few');
    const at = (conversation_id: string, fields: object) => ({ conversation_id, ...fields });
    await few.chunk('one', at('a', { tags: ['x'], confidence: 0.2, type: 'note' }));
    service.clock.advance(1_000);
    from = service.clock.iso();
    await few.chunk('two', at('a', { tags: ['y', 'x'], confidence: 0.5, type: 'fact' }));
    service.clock.advance(1);
    await few.chunk('three', at('b', { tags: ['x', 'y', 'z'], confidence: 0.50001, type: 'decision' }));
    upTo = service.clock.iso();
    service.clock.advance(1);
    await few.chunk('four', at('b', { confidence: 1, type: 'fact' }));
    const { id } = await few.chunk('five', at('a', { tags: ['x', 'y'], type: 'fact' }));
    await few.remove(id);
  });

  test('shows each chunk whole, newest first', async () => {
    const { body } = await few.getChunks().expect(200);
    expect(Object.keys(body).sort()).toEqual(['chunks', 'next_cursor']);
    expect(body.next_cursor).toBeNull();
    for (const chunk of body.chunks as ChunkReport[]) {
      const shown = await few.read(chunk.id);
      const { access_count, last_accessed } = chunk.metadata;
      expect(chunk).toEqual({ ...shown, metadata: { ...shown.metadata, access_count, last_accessed } });
      expect(access_count).toBe(0);
    }
    expect(body.chunks.map(({ content }: ChunkReport) => content)).toEqual(['four', 'three', 'two', 'one']);
  });

  test.each([
    [{}, ['four', 'three', 'two', 'one']],
    [{ conversation_id: 'a' }, ['two', 'one']],
    [{ conversation_id: 'A' }, []],
    [{ tags: 'x' }, ['three', 'two', 'one']],
    [{ tags: 'x,y' }, ['three', 'two']],
    [{ tags: ' y , x ' }, ['three', 'two']],
    [{ tags: 'x,y,z' }, ['three']],
    [{ tags: 'x,nobody' }, []],
    [{ tags: 'X' }, []],
    [{ type: 'fact' }, ['four', 'two']],
    [{ type: 'pattern' }, []],
    [{ min_confidence: 0.2 }, ['four', 'three', 'two', 'one']],
    [{ min_confidence: 0.5 }, ['four', 'three', 'two']],
    [{ min_confidence: 0.50001 }, ['four', 'three']],
    [{ min_confidence: 1 }, ['four']],
    [{ include_archived: true }, ['five', 'four', 'three', 'two', 'one']],
    [{ include_archived: true, conversation_id: 'a', tags: 'y', type: 'fact' }, ['five', 'two']],
    [{ conversation_id: 'b', tags: 'x' }, ['three']],
    [{ conversation_id: 'a', tags: 'z' }, []],
    [{ type: 'fact', min_confidence: 0.9, conversation_id: 'b' }, ['four']],
    [{ limit: 2 }, ['four', 'three']],
  ])('of what fits %j', async (query, expected) => {
    // Of the same moment the ids decide; both were made in that order.
    expect(await texts({ ...query }, few)).toEqual(expected);
  });

  test('of what was made between two moments has both of them in it', async () => {
    expect(await texts({ created_after: from }, few)).toEqual(['four', 'three', 'two']);
    expect(await texts({ created_before: upTo }, few)).toEqual(['three', 'two', 'one']);
    expect(await texts({ created_after: from, created_before: upTo }, few)).toEqual(['three', 'two']);
    expect(await texts({ created_after: from, created_before: from }, few)).toEqual(['two']);
    expect(await texts({ created_after: upTo, created_before: from }, few)).toEqual([]);
    const past = new Date(Date.parse(upTo) + 1).toISOString();
    expect(await texts({ created_after: past }, few)).toEqual(['four']);
    const before = new Date(Date.parse(from) - 1).toISOString();
    expect(await texts({ created_before: before, conversation_id: 'a', tags: 'x' }, few)).toEqual(['one']);
  });

  test('reads a moment in its time zone, and however it is written', async () => {
    const east = from.replace('T00:', 'T02:').replace('Z', '+02:00');
    expect(await texts({ created_after: east }, few)).toEqual(['four', 'three', 'two']);
    expect(await texts({ created_after: from.replace('T', 't').replace('Z', 'z') }, few)).toEqual([
      'four',
      'three',
      'two',
    ]);
  });

  test('up to a leap second leaves nothing out that was before, and from one on nothing that came after', async () => {
    expect(await texts({ created_after: '2016-12-31T23:59:60Z' }, few)).toHaveLength(4);
    expect(await texts({ created_before: '2016-12-31T23:59:60Z' }, few)).toEqual([]);
  });
});

describe('pages', () => {
  const COUNT = 65;
  let many: ChunkClient;
  let made: ChunkReport[];
  beforeAll(async () => {
    many = new ChunkClient(service, 'acme/many');
    made = [];
    for (let index = 0; index < COUNT; index++) {
      // Few moments, so that most places in the list are told apart by the id alone.
      if (index % 20 === 19) service.clock.advance(1);
      made.push(
        await many.chunk(`Number ${index}`, {
          conversation_id: index % 3 === 0 ? 'third' : 'other',
          tags: index % 2 === 0 ? ['even', 'all'] : ['all'],
          confidence: (index % 5) / 5,
        }),
      );
    }
  });

  test('hold 20 unless it is told otherwise, and say where the next begins', async () => {
    const { body } = await many.getChunks().expect(200);
    expect(body.chunks).toHaveLength(20);
    expect(body.next_cursor).toMatch(/^[\w-]+$/);
  });

  test.each([1, 7, 20, 64, 65, 100])('of %d give every chunk once, in the order of the list', async (limit) => {
    expect(idsOf(await many.allChunks({ limit }))).toEqual(idsOf(made).reverse());
  });

  test('that are full to the last are known to be the last', async () => {
    const { body } = await many.getChunks({ limit: COUNT }).expect(200);
    expect([body.chunks.length, body.next_cursor]).toEqual([COUNT, null]);
  });

  test.each([
    ['a conversation', { conversation_id: 'third' }, (_: ChunkReport, index: number) => index % 3 === 0],
    ['a tag', { tags: 'even' }, (_: ChunkReport, index: number) => index % 2 === 0],
    ['a confidence', { min_confidence: 0.4 }, ({ metadata }: ChunkReport) => metadata.confidence >= 0.4],
    [
      'a conversation and two tags',
      { conversation_id: 'other', tags: 'all,even' },
      (_: ChunkReport, index: number) => index % 3 !== 0 && index % 2 === 0,
    ],
  ])('of %s give every chunk that fits once, in order', async (_, query, fits) => {
    const paged = idsOf(await many.allChunks({ ...query, limit: 4 }));
    expect(paged).toEqual(idsOf(made.filter(fits)).reverse());
  });

  test('repeat nothing and miss nothing while chunks are added', async () => {
    const own = new ChunkClient(service, 'acme/busy');
    const there: string[] = [];
    for (let index = 0; index < 12; index++) there.push((await own.chunk(`There ${index}`)).id);
    const seen: string[] = [];
    let cursor: string | null = null;
    do {
      const query = cursor === null ? { limit: 3 } : { limit: 3, cursor };
      const body: { chunks: ChunkReport[]; next_cursor: string | null } = (await own.getChunks(query).expect(200)).body;
      seen.push(...idsOf(body.chunks));
      cursor = body.next_cursor;
      if (seen.length % 2 === 0) service.clock.advance(1);
      await sendAtOnce(service, () =>
        times(2, (index) => own.postChunk({ content: `Added ${index}`, conversation_id: 'talk' })),
      );
    } while (cursor !== null);
    expect(new Set(seen).size).toBe(seen.length);
    expect(seen).toEqual(expect.arrayContaining(there));
  });

  test('go on where they were when the last of a page is removed', async () => {
    const own = new ChunkClient(service, 'acme/going');
    const ids: string[] = [];
    for (let index = 0; index < 6; index++) ids.push((await own.chunk(`${index}`)).id);
    const { body } = await own.getChunks({ limit: 2 }).expect(200);
    await own.remove(body.chunks[1].id, { permanent: true });
    expect(idsOf(await own.allChunks({ limit: 2, cursor: body.next_cursor }))).toEqual(ids.reverse().slice(2));
  });

  test.each([
    ['is none', 'garbage'],
    ['is empty', ''],
    ['is SQL', `' OR 1=1 --`],
    ['is of the wrong shape', presentCursor([1])],
    ['is of the wrong sorts', presentCursor(['a', 1])],
    ['is of another list', presentCursor([1, 'chunk-2026-01-01-a1b2', 3])],
    ['is half a number', presentCursor([0.5, 'chunk-2026-01-01-a1b2'])],
    ['is null', Buffer.from('null').toString('base64url')],
  ])('from a cursor that %s are refused', async (_, cursor) => {
    expect(await expectRefused(service, many.getChunks({ cursor }), 400)).toEqual({
      code: 'invalid_cursor',
      fields: ['cursor'],
    });
  });

  test('from a cursor past the end are empty', async () => {
    const { body } = await many.getChunks({ cursor: presentCursor([-1, '']) }).expect(200);
    expect(body).toEqual({ chunks: [], next_cursor: null });
  });
});

test.each([
  ['limit', { limit: 0 }],
  ['limit', { limit: 101 }],
  ['limit', { limit: 'many' }],
  ['type', { type: 'opinion' }],
  ['min_confidence', { min_confidence: 1.1 }],
  ['min_confidence', { min_confidence: -0.1 }],
  ['created_after', { created_after: 'yesterday' }],
  ['created_after', { created_after: '2026-01-01' }],
  ['created_before', { created_before: '2026-01-01T00:00:00' }],
  ['created_before', { created_before: '2026-13-01T00:00:00Z' }],
  ['include_archived', { include_archived: 'maybe' }],
  ['conversation_id', { conversation_id: '' }],
  ['conversation_id', { conversation_id: 'c'.repeat(501) }],
  ['tags', { tags: '' }],
  ['sort', { sort: 'oldest' }],
])('a list with a wrong %s is refused: %j', async (field, query) => {
  const { code, fields } = await expectRefused(service, client.getChunks({ ...query }), 400);
  expect([code, fields[0]]).toEqual(['schema_error', field]);
});

test('a list of a blank conversation or repo is refused', async () => {
  const refusal = await expectRefused(service, client.getChunks({ conversation_id: '  ' }), 422);
  expect(refusal).toEqual({ code: 'semantic_error', fields: ['conversation_id'] });
  const blank = new ChunkClient(service, ' ').getChunks();
  expect(await expectRefused(service, blank, 422)).toEqual({ code: 'semantic_error', fields: ['repo_id'] });
});

test('a repo that nobody wrote to has an empty list', async () => {
  const { body } = await new ChunkClient(service, 'acme/nothing').getChunks().expect(200);
  expect(body).toEqual({ chunks: [], next_cursor: null });
});
