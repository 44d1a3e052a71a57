import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { ChunkClient, textOf } from '../../support/chunks.js';
import { expectRefused, GraphClient, sendAtOnce } from '../../support/nodes.js';
import { remember } from '../../support/requests.js';
import { type Service, startService } from '../../support/service.js';
import { times } from '../../support/together.js';

let service: Service;
let client: ChunkClient;
let repos = 0;
beforeAll(async () => {
  service = await startService();
});
afterAll(() => service.stop());
beforeEach(() => {
  client = new ChunkClient(service, `acme/${++repos}`);
});

const stats = async () => (await client.getStats().expect(200)).body;
const NONE = { fact: 0, preference: 0, pattern: 0, note: 0, decision: 0 };
const EMPTY = { total_chunks: 0, archived_chunks: 0, by_type: NONE, total_tokens: 0, conversations: 0 };

test('1e.8 of an empty repo are zeros', async () => {
  expect(await stats()).toEqual(EMPTY);
});

test('1e.8 count the chunks by type, with their tokens and conversations', async () => {
  await client.chunk(textOf(10), { type: 'fact' });
  await client.chunk(textOf(20), { type: 'fact', conversation_id: 'other' });
  await client.chunk(textOf(30), { type: 'decision' });
  expect(await stats()).toEqual({
    total_chunks: 3,
    archived_chunks: 0,
    by_type: { ...NONE, fact: 2, decision: 1 },
    total_tokens: 60,
    conversations: 2,
  });
});

test('follow every change of a chunk', async () => {
  const one = await client.chunk(textOf(10), { type: 'fact' });
  const other = await client.chunk(textOf(20), { type: 'note', conversation_id: 'other' });
  const full = { total_chunks: 2, archived_chunks: 0, total_tokens: 30, conversations: 2 };
  expect(await stats()).toEqual({ ...full, by_type: { ...NONE, fact: 1, note: 1 } });
  await client.patchChunk(one.id, { type: 'pattern', content: textOf(15) }).expect(200);
  const changed = { ...full, total_tokens: 35 };
  expect(await stats()).toEqual({ ...changed, by_type: { ...NONE, pattern: 1, note: 1 } });
  await client.remove(one.id);
  await client.remove(one.id);
  const archived = { ...changed, total_chunks: 1, archived_chunks: 1 };
  expect(await stats()).toEqual({ ...archived, by_type: { ...NONE, note: 1 } });
  await client.postRestore(one.id).expect(200);
  expect(await stats()).toEqual({ ...changed, by_type: { ...NONE, pattern: 1, note: 1 } });
  await client.remove(one.id, { permanent: true });
  const left = { total_chunks: 1, archived_chunks: 0, total_tokens: 20, conversations: 1 };
  expect(await stats()).toEqual({ ...left, by_type: { ...NONE, note: 1 } });
  await client.remove(other.id);
  await client.remove(other.id, { permanent: true });
  expect(await stats()).toEqual(EMPTY);
});

test('count nothing that is no chunk, and nothing of another repo', async () => {
  await remember(service, {}, client.repoId);
  await new GraphClient(service, client.repoId).node({ content: 'A concept', type: 'decision' });
  await new ChunkClient(service, 'acme/elsewhere').chunk('Not here');
  expect(await stats()).toEqual(EMPTY);
});

test('count each of many that come at the same time', async () => {
  await sendAtOnce(service, () =>
    times(20, (index) => client.postChunk({ content: textOf(3), conversation_id: `talk ${index % 4}`, type: 'fact' })),
  );
  expect(await stats()).toEqual({
    total_chunks: 20,
    archived_chunks: 0,
    by_type: { ...NONE, fact: 20 },
    total_tokens: 60,
    conversations: 4,
  });
});

test('with a parameter that nobody knows, or of a blank repo, are refused', async () => {
  const unknown = client.getStats().query({ by: 'tag' });
  expect((await expectRefused(service, unknown, 400, client.repoId)).fields).toEqual(['by']);
  const blank = new ChunkClient(service, ' ').getStats();
  expect((await expectRefused(service, blank, 422, client.repoId)).fields).toEqual(['repo_id']);
});
