import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ChunkClient, paragraphs, UNKNOWN_CHUNK_ID } from '../../support/chunks.js';
import { expectRefused, GraphClient, sendAtOnce } from '../../support/nodes.js';
import { remember } from '../../support/requests.js';
import { stored } from '../../support/rows.js';
import { type Service, startService } from '../../support/service.js';
import { times } from '../../support/together.js';
import { send } from '../bad-input-replies.js';

let service: Service;
let client: ChunkClient;
beforeAll(async () => {
  service = await startService();
  client = new ChunkClient(service);
});
afterAll(() => service.stop());

describe('1e.3 a look at a chunk', () => {
  test('is counted, and shown at once', async () => {
    const { id } = await client.chunk('Looked at');
    const looks: unknown[] = [];
    for (const ms of [1_000, 60_500]) {
      service.clock.advance(ms);
      const { access_count, last_accessed } = (await client.read(id)).metadata;
      looks.push([access_count, last_accessed]);
    }
    expect(looks).toEqual([
      [1, '2026-01-01T00:00:01Z'],
      [2, '2026-01-01T00:01:01.500Z'],
    ]);
  });

  test('changes nothing else, the ETag neither', async () => {
    const made = await client.chunk('Looked at', { conversation_id: 'only', tags: ['look'] });
    const shown = await client.getChunk(made.id).expect(200);
    expect(shown.headers.etag).toBe('"1"');
    expect(shown.body).toEqual({
      ...made,
      metadata: { ...made.metadata, access_count: 1, last_accessed: service.clock.iso().replace('.000Z', 'Z') },
    });
    expect((await client.getChunk(made.id).expect(200)).headers.etag).toBe('"1"');
  });

  test('is counted once each, however many look at the same time', async () => {
    const { id } = await client.chunk('Wanted');
    const answers = await sendAtOnce(service, () => times(20, () => client.getChunk(id)));
    const counts = answers.map(({ body }) => body.metadata.access_count);
    expect(counts.sort((a, b) => a - b)).toEqual(times(20, (index) => index + 1));
  });

  test('is not counted where it is only listed, linked, changed, beside another, or new to a conversation', async () => {
    const conversation = { conversation_id: 'quiet', tags: ['quiet'] };
    const first = await client.chunk('The first of them', conversation);
    const second = await client.chunk('The zebra between them', conversation);
    const third = await client.chunk('The last of them', conversation);
    const count = async (id: string) =>
      (await client.listed({ conversation_id: 'quiet', include_archived: true })).find((each) => each.id === id)
        ?.metadata.access_count;
    await client.listed({ tags: 'quiet' });
    await client.getLinks(first.id, { type: 'context_of' }).expect(200);
    await client.postLink(first.id, { target_id: third.id, type: 'supports' }).expect(201);
    await client.patchChunk(first.id, { confidence: 0.9 }).expect(200);
    await client.remove(third.id);
    await client.postRestore(third.id).expect(200);
    const { results } = await client.recall('zebra', { conversation_id: 'quiet', neighbours: 1 });
    expect(results.map(({ before, after }) => [...before, ...after].map(({ id }) => id))).toEqual([
      [first.id, third.id],
    ]);
    await client.getStats().expect(200);
    await client.chunk('One more', conversation);
    expect([await count(first.id), await count(second.id), await count(third.id)]).toEqual([0, 1, 0]);
  });
});

/** Looks are counted beside it, and stored when nobody waits for them. */
const changeable = () => {
  const { node_access: _, ...rows } = stored(service).repo;
  return rows;
};

describe('1e.2 there is no chunk', () => {
  const ids = [
    UNKNOWN_CHUNK_ID,
    'garbage',
    '../../../etc/passwd',
    '%2e%2e',
    '%2e%2e%2f%2e%2e%2fetc%2fpasswd',
    'chunk-2026-01-01-',
    'chunk-2026-01-01-../../x',
    'chunk-2026-13-01-a1b2c3d4',
    'chunk-2026-01-01-A1B2C3D4',
    'chunk-2026-01-01-a1b2c3d4\n',
    ' chunk-2026-01-01-a1b2c3d4',
    '*',
    `chunk-2026-01-01-' OR 1=1 --`,
  ];
  const requests = {
    GET: (id: string) => client.getChunk(id),
    'GET with the archive': (id: string) => client.getChunk(id, { include_archived: true }),
    PATCH: (id: string) => client.patchChunk(id, { confidence: 1 }),
    DELETE: (id: string) => client.deleteChunk(id),
    'DELETE for good': (id: string) => client.deleteChunk(id, { permanent: true }),
    restore: (id: string) => client.postRestore(id),
    'GET links': (id: string) => client.getLinks(id, { type: 'context_of' }),
    'POST links': (id: string) => client.postLink(id, { target_id: UNKNOWN_CHUNK_ID, type: 'supports' }),
  };

  test.each(Object.entries(requests))('to %s', async (name, request) => {
    const memoryId = await remember(service, { text: `A memory for ${name}` });
    const concept = await new GraphClient(service).node({ content: 'A concept' });
    const before = changeable();
    for (const id of [...ids, memoryId, concept.id, `mem_${memoryId}`]) {
      const { status, body } = await request(id);
      expect([id, status, body.code]).toEqual([id, 404, 'not_found']);
      expect(body.errors.map(({ field }: { field: string }) => field)).toEqual(['chunk_id']);
    }
    expect(changeable()).toEqual(before);
  });

  test.each(['..%2f..%2f..%2fetc%2fpasswd', '%2e%2e', '%252e%252e', '..%5c..%5cetc'])(
    'at the path %s as it stands',
    async (path) => {
      if (!service.app.server.listening) await service.app.listen({ host: '127.0.0.1', port: 0 });
      for (const method of ['GET', 'DELETE']) {
        const { status } = await send(service, method, `/chunks/${path}?repo_id=acme%2Fshop`);
        expect(status).toBe(404);
      }
    },
  );
});

describe('a chunk that was put away', () => {
  test('is shown to whoever asks for the archive, and that is a look', async () => {
    const { id } = await client.chunk('Put away');
    await client.remove(id);
    await client.getChunk(id).expect(404);
    await client.getChunk(id, { include_archived: false }).expect(404);
    const shown = await client.read(id, { include_archived: true });
    expect([shown.content, shown.metadata.access_count]).toEqual(['Put away', 1]);
  });
});

test('a look with a parameter that nobody knows, or of the wrong sort, is refused', async () => {
  const { id } = await client.chunk('Looked at');
  expect((await expectRefused(service, client.getChunk(id, { depth: 'full' }), 400)).fields).toEqual(['depth']);
  const wrong = client.getChunk(id, { include_archived: 'maybe' });
  expect((await expectRefused(service, wrong, 400)).fields).toEqual(['include_archived']);
  const blank = new ChunkClient(service, ' ').getChunk(id);
  expect((await expectRefused(service, blank, 422)).fields).toEqual(['repo_id']);
});

test('1e.12 what was remembered is there after a restart, with its links and what was counted', async () => {
  const first = await startService();
  const before = new ChunkClient(first);
  const { chunk_ids } = await before.remember(paragraphs(3).join('\n\n'), { tags: ['kept'] });
  const [one, two] = chunk_ids as [string, string];
  await before.postLink(one, { target_id: two, type: 'contradicts', strength: 0.2 }).expect(201);
  await before.read(one);
  await before.remove(chunk_ids[2] as string);
  const shown = await before.listed({ include_archived: true });
  const stats = (await before.getStats().expect(200)).body;
  await first.app.close();
  const second = await startService({ RLM_MEMORY_DB: first.file });
  try {
    const after = new ChunkClient(second);
    expect(await after.listed({ include_archived: true })).toEqual(shown);
    expect((await after.getStats().expect(200)).body).toEqual(stats);
    expect((await after.read(one)).metadata.access_count).toBe(2);
    expect((await after.read(one)).links).toMatchObject({ context_of: [two], contradicts: [two] });
    expect(await after.recalled('part1')).toEqual([paragraphs(3)[1]]);
  } finally {
    await second.stop();
    await first.stop();
  }
});
