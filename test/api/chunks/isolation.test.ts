import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ChunkClient, type ChunkReport, NO_LINKS } from '../../support/chunks.js';
import { GraphClient, idsOf } from '../../support/nodes.js';
import { allItems, recall } from '../../support/requests.js';
import { changedTables, tables } from '../../support/rows.js';
import { type Service, startService } from '../../support/service.js';

/** Two repos with the same talk in them; what one of them holds must not show in the other. */

let service: Service;
let mine: ChunkClient;
let theirs: ChunkClient;
let own: ChunkReport;
let foreign: ChunkReport[];
const SECRET = 'zyqsecret';
const TALK = { conversation_id: 'talk', tags: ['shared'] };
beforeAll(async () => {
  service = await startService();
  mine = new ChunkClient(service, 'acme/mine');
  theirs = new ChunkClient(service, 'acme/theirs');
  own = await mine.chunk('The heron fishes', TALK);
  foreign = [
    await theirs.chunk(`The heron fishes for the ${SECRET}`, TALK),
    await theirs.chunk(`We do not say ${SECRET}`, { ...TALK, conversation_id: 'other' }),
  ];
  await theirs.postLink(idsOf(foreign)[0] as string, { target_id: foreign[1]?.id, type: 'supports' }).expect(201);
  await theirs.remove((await theirs.chunk(`Put away ${SECRET}`, TALK)).id);
});
afterAll(() => service.stop());

test('the same id may be taken in both, and is two chunks', () => {
  expect(idsOf(foreign)).not.toContain(own.id);
});

describe('nothing of another repo is seen', () => {
  const ask: [string, () => Promise<{ body: unknown }>][] = [
    ['list', () => mine.getChunks({ include_archived: true }).expect(200)],
    ['list by conversation', () => mine.getChunks({ conversation_id: 'talk' }).expect(200)],
    ['list by tag', () => mine.getChunks({ tags: 'shared' }).expect(200)],
    ['stats', () => mine.getStats().expect(200)],
    ['recall', () => mine.postRecall({ query: `heron ${SECRET}`, neighbours: 5, include_archived: true }).expect(200)],
    ['recall of a misspelt word', () => mine.postRecall({ query: 'zyqsecrett' }).expect(200)],
    ['reason', () => mine.postReason({ query: `heron ${SECRET}` }).expect(200)],
    ['chunk', () => mine.getChunk(own.id).expect(200)],
    ...['context_of', 'follows', 'related_to', 'supports', 'contradicts'].map(
      (type): [string, () => Promise<{ body: unknown }>] => [
        `links ${type}`,
        () => mine.getLinks(own.id, { type }).expect(200),
      ],
    ),
  ];

  test.each(ask)('by %s', async (_, request) => {
    const text = JSON.stringify((await request()).body);
    // The words of the question itself are no secret.
    expect(text.replaceAll(/"term":"[^"]*"/g, '')).not.toContain(SECRET);
    for (const id of idsOf(foreign)) expect(text).not.toContain(id);
  });

  test('in what is counted', async () => {
    expect((await mine.getStats().expect(200)).body).toMatchObject({
      total_chunks: 1,
      archived_chunks: 0,
      conversations: 1,
      total_tokens: own.tokens,
    });
    expect((await theirs.getStats().expect(200)).body).toMatchObject({ total_chunks: 2, archived_chunks: 1 });
  });

  test('in the links of a chunk', async () => {
    expect((await mine.read(own.id)).links).toEqual(NO_LINKS);
  });

  test('by /memory/read, /nodes and /edges', async () => {
    expect(allItems(await recall(service, SECRET, {}, 'acme/mine'))).toEqual([]);
    const graph = new GraphClient(service, 'acme/mine');
    expect(idsOf(await graph.listed())).toEqual([own.id]);
    expect((await graph.allEdges()).flatMap(({ members }) => members.map(({ node_id }) => node_id))).toEqual([own.id]);
  });
});

test('nothing of another repo is changed, nor found, by its id', async () => {
  const before = tables(service, 'acme/theirs');
  const id = foreign[0]?.id as string;
  for (const request of [
    mine.getChunk(id),
    mine.getChunk(id, { include_archived: true }),
    mine.patchChunk(id, { confidence: 0 }),
    mine.deleteChunk(id),
    mine.deleteChunk(id, { permanent: true }),
    mine.postRestore(id),
    mine.getLinks(id, { type: 'supports' }),
    mine.postLink(id, { target_id: own.id, type: 'supports' }),
    mine.postLink(own.id, { target_id: id, type: 'supports' }),
    mine.postReason({ chunk_ids: [id] }),
  ]) {
    const { status, body } = await request;
    expect([status, body.code]).toEqual([404, 'not_found']);
    expect(body.detail).not.toContain(SECRET);
  }
  expect(changedTables(before, tables(service, 'acme/theirs')).filter((name) => name !== 'node_access')).toEqual([]);
});

test('a chunk in one repo writes to that repo alone', async () => {
  const [before, all] = [tables(service, 'acme/theirs'), tables(service, null)];
  await mine.chunk('Another', TALK);
  await mine.remember('And another', TALK);
  expect(changedTables(before, tables(service, 'acme/theirs')).filter((name) => name !== 'node_access')).toEqual([]);
  expect(changedTables(all, tables(service, null))).toEqual([]);
});

test('repos are told apart to the letter', async () => {
  for (const repoId of ['acme/Mine', 'acme/mine/', 'acme/min', '../acme/mine', 'acme%2Fmine']) {
    expect(await new ChunkClient(service, repoId).listed({ include_archived: true })).toEqual([]);
  }
});

test('what is said without a repo is in the repo called default', async () => {
  const { body } = await service.http
    .post('/chunks')
    .send({ content: 'By default', ...TALK })
    .expect(201);
  expect(body.links).toEqual(NO_LINKS);
  const named = new ChunkClient(service, 'default');
  expect(idsOf(await named.listed())).toEqual([body.id]);
  expect((await service.http.get('/chunks').expect(200)).body.chunks).toHaveLength(1);
});
