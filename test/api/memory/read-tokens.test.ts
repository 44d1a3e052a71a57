import { countTokens } from 'gpt-tokenizer';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { allItems, change, idsIn, type Pack, readBody, recall, remember } from '../../support/requests.js';
import { type Service, startService } from '../../support/service.js';

let service: Service;
let repos = 0;
beforeAll(async () => {
  service = await startService();
});
afterAll(() => service.stop());

const newRepo = (): string => `tokens/${++repos}`;
const leftOut = (pack: Pack): string[] => pack.meta.tokens?.left_out.map((item) => item.memory_id) ?? [];
const tokensIn = (pack: Pack): number => allItems(pack).reduce((sum, item) => sum + countTokens(item.text), 0);

test('without max_tokens the answer says nothing about tokens', async () => {
  const repoId = newRepo();
  await remember(service, {}, repoId);
  expect((await recall(service, 'redis', {}, repoId)).meta).not.toHaveProperty('tokens');
});

test('a budget that is large enough changes nothing but the report', async () => {
  const repoId = newRepo();
  const firstId = await remember(service, { text: 'Curlew deploys at noon, after the smoke tests' }, repoId);
  await remember(service, { text: 'Related to it', links: { related_memory_ids: [firstId] } }, repoId);
  const { meta: plainMeta, ...plain } = await recall(service, 'curlew', {}, repoId);
  const { meta, ...items } = await recall(service, 'curlew', { max_tokens: 1000 }, repoId);
  expect(items).toEqual(plain);
  expect(meta).toEqual({ ...plainMeta, tokens: { max: 1000, used: tokensIn(items as Pack), left_out: [] } });
});

test('whatever the budget, the texts stay within it, used is their true sum, and what is missing is named', async () => {
  const repoId = newRepo();
  const ids: string[] = [];
  for (const words of [3, 30, 8, 60, 15]) {
    ids.push(await remember(service, { text: `Dunlin ${'filler '.repeat(words)}` }, repoId));
  }
  ids.push(
    await remember(service, { text: 'A linked aside', links: { related_memory_ids: [ids[0] as string] } }, repoId),
  );
  for (const max of [1, 5, 9, 20, 33, 60, 100, 127, 200]) {
    const pack = await recall(service, 'dunlin', { max_tokens: max }, repoId);
    expect(pack.meta.tokens).toMatchObject({ max, used: tokensIn(pack) });
    expect(tokensIn(pack)).toBeLessThanOrEqual(max);
    expect([...idsIn(allItems(pack)), ...leftOut(pack)].sort()).toEqual([...ids].sort());
  }
});

test('a text is never cut short: what is too long is left out, and shorter ones behind it still come', async () => {
  const repoId = newRepo();
  const longId = await remember(service, { text: `Turnstone turnstone turnstone ${'and more '.repeat(40)}` }, repoId);
  const shortId = await remember(service, { text: 'One turnstone among a handful of other birds' }, repoId);
  const pack = await recall(service, 'turnstone', { max_tokens: 30 }, repoId);
  expect(idsIn(pack.direct)).toEqual([shortId]);
  expect(leftOut(pack)).toEqual([longId]);
});

test('left_out is ordered by score, and names nothing that the item limit kept out', async () => {
  const repoId = newRepo();
  for (let index = 0; index < 6; index++) await remember(service, { text: `Sanderling beach${index}` }, repoId);
  const full = await recall(service, 'sanderling', { limit: 2, max_tokens: 1000 }, repoId);
  expect(full.direct).toHaveLength(2);
  expect(leftOut(full)).toEqual([]);
  const none = await recall(service, 'sanderling', { limit: 6, max_tokens: 1 }, repoId);
  expect(allItems(none)).toEqual([]);
  const scores = none.meta.tokens?.left_out.map((item) => (item as unknown as { score: number }).score) as number[];
  expect(scores).toEqual([...scores].sort((a, b) => b - a));
  expect(scores).toHaveLength(6);
});

test('when the budget does not hold a replaced fact and its successor, the successor comes', async () => {
  const repoId = newRepo();
  const oldId = await remember(service, { text: 'Godwit counts the orders of the day' }, repoId);
  const newId = await remember(service, { text: 'Someone else counts them' }, repoId);
  const changeId = await remember(service, { text: `Long story: ${'word '.repeat(50)}`, kind: 'change' }, repoId);
  await change(service, changeId, { type: 'fact_update_link', old_fact_id: oldId, new_fact_id: newId }, repoId);
  const pack = await recall(service, 'godwit orders', { max_tokens: 9 }, repoId);
  expect(idsIn(allItems(pack))).toEqual([newId]);
  expect(leftOut(pack).sort()).toEqual([oldId, changeId].sort());
});

/** Merging byte pairs naively takes half a minute on each of the first three; a minute is all a test has. */
test.each([
  ['100,000 ideographs without a blank', '界'.repeat(100_000), '界界'],
  ['100,000 equal letters', 'a'.repeat(100_000), 'a'.repeat(100_000).slice(0, 9_000)],
  ['50,000 emoji', `heron ${'🚀'.repeat(49_990)}`, 'heron'],
  ['blanks only, after a word', `heron${' '.repeat(99_990)}`, 'heron'],
  ['a path of 33,000 directories', `heron ${'ab/'.repeat(33_000)}`, 'heron'],
  ['a name of 49,000 humps', `heron ${'aB'.repeat(49_000)}`, 'heron'],
  ['punctuation without end', `heron ${'_./'.repeat(33_000)}`, 'heron'],
])('%s is counted, left out of a small budget and taken into a large one', async (_text, text, query) => {
  const repoId = newRepo();
  const id = await remember(service, { text }, repoId);
  const small = await recall(service, query, { max_tokens: 100 }, repoId);
  expect([idsIn(allItems(small)), leftOut(small)]).toEqual([[], [id]]);
  const large = await recall(service, query, { max_tokens: 1_000_000 }, repoId);
  expect([idsIn(allItems(large)), leftOut(large)]).toEqual([[id], []]);
  expect(large.meta.tokens?.used).toBeGreaterThan(100);
});

test("a text that quotes a model's control tokens is counted like any other", async () => {
  const repoId = newRepo();
  const id = await remember(service, { text: 'Whimbrel prompts end with <|endoftext|> and <|im_start|>' }, repoId);
  const pack = await recall(service, 'whimbrel prompts', { max_tokens: 200 }, repoId);
  expect(idsIn(pack.direct)).toEqual([id]);
  expect(pack.meta.tokens?.used).toBeGreaterThan(10);
});

test.each([
  ['zero', 0],
  ['more than a million', 1_000_001],
  ['a fraction', 10.5],
  ['text', '100'],
])('a max_tokens that is %s is refused', async (_wrong, max_tokens) => {
  const answer = await service.http.post('/memory/read').send(readBody('anything', { max_tokens })).expect(400);
  expect(answer.body.errors.map((error: { field: string }) => error.field)).toEqual(['max_tokens']);
});
