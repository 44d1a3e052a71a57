import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { ChunkClient, type ChunkReport, NO_LINKS } from '../../support/chunks.js';
import { expectRefused, GraphClient, idsOf, sendAtOnce } from '../../support/nodes.js';
import { allItems, idsIn, recall } from '../../support/requests.js';
import { linksOf, select, tables } from '../../support/rows.js';
import { type Service, startService } from '../../support/service.js';
import { times } from '../../support/together.js';

let service: Service;
let client: ChunkClient;
let graph: GraphClient;
let repos = 0;
let repoId: string;
beforeAll(async () => {
  service = await startService();
});
afterAll(() => service.stop());
beforeEach(() => {
  repoId = `acme/${++repos}`;
  client = new ChunkClient(service, repoId);
  graph = new GraphClient(service, repoId);
});

const contextEdges = () => linksOf(service, repoId, 'context_of').map(({ members }) => members.map(({ id }) => id));
/** Everything by which somebody could still see it. */
async function seenOf({ id }: ChunkReport, query: string): Promise<Record<string, boolean>> {
  const others = await client.listed();
  const hits = await client.recall(query);
  const nodes = await service.http.post('/nodes/search').query({ repo_id: repoId }).send({ query });
  const reasoned = await client.postReason({ query }).expect(200);
  return {
    get: (await client.getChunk(id)).status === 200,
    list: idsOf(others).includes(id),
    links: others.some((other) => other.id !== id && Object.values(other.links).flat().includes(id)),
    recall: hits.results.some(({ chunk }) => chunk.id === id),
    neighbours: JSON.stringify(await client.recall('wildebeest', { neighbours: 5, min_confidence: 0 })).includes(id),
    reason: JSON.stringify(reasoned.body).includes(id),
    read: allItems(await recall(service, query, {}, repoId)).some((item) => item.memory_id === id),
    search: JSON.stringify(nodes.body).includes(id),
  };
}
const WAYS = ['get', 'list', 'links', 'recall', 'neighbours', 'reason', 'read', 'search'];
const everywhere = Object.fromEntries(WAYS.map((way) => [way, true]));
const nowhere = Object.fromEntries(WAYS.map((way) => [way, false]));

async function talk(): Promise<[ChunkReport, ChunkReport, ChunkReport]> {
  const first = await client.chunk('The okapi eats leaves', { tags: ['okapi'] });
  const second = await client.chunk('The wildebeest runs', { tags: ['other'] });
  const third = await client.chunk('Something about stripes', { tags: ['okapi'], conversation_id: 'elsewhere' });
  await client.postLink(second.id, { target_id: first.id, type: 'supports' }).expect(201);
  await client.postLink(third.id, { target_id: first.id, type: 'contradicts' }).expect(201);
  return [first, second, third];
}

describe('1e.5 a chunk that is put away', () => {
  test('is answered', async () => {
    const [{ id }] = await talk();
    expect((await client.deleteChunk(id).expect(200)).body).toEqual({ id, purged: false });
  });

  test('is seen nowhere any more, and restored it is seen everywhere again', async () => {
    const [first, second] = await talk();
    expect(await seenOf(first, 'okapi leaves')).toEqual(everywhere);
    const linked = await client.read(second.id);
    await client.remove(first.id);
    expect(await seenOf(first, 'okapi leaves')).toEqual(nowhere);
    expect((await client.read(second.id)).links).toEqual({ ...NO_LINKS });
    for (const type of ['context_of', 'follows', 'supports', 'related_to']) {
      expect(await client.allLinks(second.id, type)).toEqual([]);
    }
    await client.postRestore(first.id).expect(200);
    expect((await client.read(second.id)).links).toEqual(linked.links);
    expect(await seenOf(first, 'okapi leaves')).toEqual(everywhere);
  });

  test('is listed to whoever asks for the archive', async () => {
    const [first, second, third] = await talk();
    await client.remove(first.id);
    expect(idsOf(await client.listed({ include_archived: true })).sort()).toEqual(idsOf([first, second, third]).sort());
    expect(await client.recalled('okapi leaves', { include_archived: true })).toContain(first.content);
    expect(idsOf(await client.listed({ include_archived: true, conversation_id: 'talk', tags: 'okapi' }))).toEqual([
      first.id,
    ]);
  });

  test('keeps its place in the conversation', async () => {
    const [first, second] = await talk();
    await client.remove(first.id);
    expect(contextEdges()[0]).toEqual([first.id, second.id]);
  });

  test('is put away once, however often that is said', async () => {
    const [{ id }] = await talk();
    const answers = await sendAtOnce(service, () => times(4, () => client.deleteChunk(id)));
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
    expect(select(service, repoId, 'SELECT revision FROM nodes WHERE id = ?', id)).toEqual([{ revision: 2 }]);
  });

  test('can be removed for good', async () => {
    const [{ id }] = await talk();
    await client.remove(id);
    expect((await client.deleteChunk(id, { permanent: true }).expect(200)).body).toEqual({ id, purged: true });
    await client.getChunk(id, { include_archived: true }).expect(404);
  });

  test('takes no link, from neither side', async () => {
    const [first, second] = await talk();
    await client.remove(first.id);
    const from = client.postLink(first.id, { target_id: second.id, type: 'supports' });
    expect(await expectRefused(service, from, 404, repoId)).toEqual({ code: 'not_found', fields: ['chunk_id'] });
    const to = client.postLink(second.id, { target_id: first.id, type: 'contradicts' });
    expect(await expectRefused(service, to, 404, repoId)).toEqual({ code: 'not_found', fields: ['target_id'] });
  });
});

describe('a chunk that is restored', () => {
  test('is answered as it was, and at its new revision', async () => {
    const made = await client.chunk('Back again', { tags: ['b', 'a'], confidence: 0.3, source: 'import' });
    service.clock.advance(1_000);
    await client.remove(made.id);
    const { body, headers } = await client.postRestore(made.id).expect(200);
    expect(body).toEqual(made);
    expect(headers.etag).toBe('"3"');
  });

  test('without having been put away stays as it was', async () => {
    const made = await client.chunk('Never gone');
    const { body, headers } = await client.postRestore(made.id).expect(200);
    expect([body, headers.etag]).toEqual([made, '"1"']);
  });
});

describe('a chunk that is removed for good', () => {
  test('is seen nowhere any more, and cannot be brought back', async () => {
    const [first] = await talk();
    expect((await client.deleteChunk(first.id, { permanent: true }).expect(200)).body).toEqual({
      id: first.id,
      purged: true,
    });
    expect(await seenOf(first, 'okapi leaves')).toEqual(nowhere);
    expect(idsOf(await client.listed({ include_archived: true }))).not.toContain(first.id);
    await client.postRestore(first.id).expect(404);
    await client.deleteChunk(first.id, { permanent: true }).expect(404);
    await client.deleteChunk(first.id).expect(404);
  });

  test('takes its rows along, and leaves no word of it in any table', async () => {
    await client.chunk('Another one');
    const word = 'zyzzyva';
    const { id } = await client.chunk(`The ${word}`, { tags: [word] });
    await client.read(id);
    await client.patchChunk(id, { content: `The ${word} again` }).expect(200);
    await client.remove(id, { permanent: true });
    const left = tables(service, repoId);
    expect(Object.keys(left).filter((name) => JSON.stringify(left[name]).includes(word))).toEqual([]);
    expect([left.chunks?.length, left.nodes?.length, left.membership?.length]).toEqual([1, 1, 1]);
  });

  test('leaves the edge of the conversation to those who stay, also to the last one', async () => {
    const ids: string[] = [];
    for (const content of ['a', 'b', 'c']) ids.push((await client.chunk(content)).id);
    expect(contextEdges()).toEqual([ids]);
    const [edge] = select(service, repoId, 'SELECT id, key FROM hyperedges');
    await client.remove(ids[1] as string, { permanent: true });
    expect(contextEdges()).toEqual([[ids[0], ids[2]]]);
    await client.remove(ids[0] as string, { permanent: true });
    expect(contextEdges()).toEqual([[ids[2]]]);
    expect(select(service, repoId, 'SELECT id, key FROM hyperedges')).toEqual([edge]);
    const next = await client.chunk('d');
    expect(contextEdges()).toEqual([[ids[2], next.id]]);
    expect(next.links.context_of).toEqual([ids[2]]);
  });

  test('takes the edge of the conversation along when it was the last', async () => {
    const { id } = await client.chunk('alone');
    await client.chunk('elsewhere', { conversation_id: 'elsewhere' });
    await client.remove(id, { permanent: true });
    expect(contextEdges()).toHaveLength(1);
    expect((await client.getStats().expect(200)).body.conversations).toBe(1);
    await client.chunk('anew');
    expect(contextEdges()).toHaveLength(2);
  });

  test('takes the links along that were drawn from it and to it', async () => {
    const [first, second, third] = await talk();
    await client.postLink(first.id, { target_id: third.id, type: 'supports' }).expect(201);
    await client.remove(first.id, { permanent: true });
    expect(select(service, repoId, "SELECT label FROM hyperedges WHERE label <> 'context_of'")).toEqual([]);
    expect((await client.read(second.id)).links).toEqual(NO_LINKS);
    expect(
      select(service, repoId, 'SELECT count(*) AS many FROM membership WHERE node_seq NOT IN (SELECT seq FROM nodes)'),
    ).toEqual([{ many: 0 }]);
  });

  test('is removed once, however many do it at the same time, and no change brings it back', async () => {
    const [first, second] = await talk();
    const answers = await sendAtOnce(service, () => [
      ...times(4, () => client.deleteChunk(first.id, { permanent: true })),
      client.patchChunk(first.id, { confidence: 1 }),
      client.postLink(second.id, { target_id: first.id, type: 'supports', strength: 1 }),
      client.postRestore(first.id),
    ]);
    expect(answers.filter(({ body }) => body.purged === true)).toHaveLength(1);
    for (const { status } of answers) expect(status).toBeLessThan(500);
    await client.getChunk(first.id, { include_archived: true }).expect(404);
    expect((await client.read(second.id)).links.supports).toEqual([]);
  });
});

test('a chunk is put away, brought back and removed as a node too', async () => {
  const { id } = await client.chunk('As a node');
  await graph.deleteNode(id).expect(200);
  await client.getChunk(id).expect(404);
  await graph.restoreNode(id).expect(200);
  await client.getChunk(id).expect(200);
  await graph.deleteNode(id, { permanent: true }).expect(200);
  expect(contextEdges()).toEqual([]);
  expect(idsIn(allItems(await recall(service, 'node', {}, repoId)))).toEqual([]);
});

test.each([
  ['permanent', { permanent: 'maybe' }],
  ['force', { force: true }],
])('a removal with a wrong %s is refused', async (field, query) => {
  const { id } = await client.chunk('Stays');
  expect(await expectRefused(service, client.deleteChunk(id, query), 400, repoId)).toEqual({
    code: 'schema_error',
    fields: [field],
  });
});
