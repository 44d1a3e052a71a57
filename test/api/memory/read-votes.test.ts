import { afterAll, beforeAll, expect, test } from 'vitest';
import { change, idsIn, type PackItem, recall, remember } from '../../support/requests.js';
import { type Service, startService } from '../../support/service.js';

let service: Service;
let repos = 0;
beforeAll(async () => {
  service = await startService();
});
afterAll(() => service.stop());

const newRepo = (): string => `votes/${++repos}`;
const problemIn = (repoId: string): Promise<string> =>
  remember(service, { text: 'Something went wrong', kind: 'problem' }, repoId);
const vote = (repoId: string, memoryId: string, problemId: string, value: number): Promise<void> =>
  change(service, memoryId, { type: 'utility_vote', problem_id: problemId, vote: value }, repoId);
const direct = async (repoId: string, query: string, more: object = {}): Promise<PackItem[]> =>
  (await recall(service, query, { explain: true, ...more }, repoId)).direct;
const factorOf = (item: PackItem | undefined): number => item?.explain?.utility_factor as number;

test.each([
  ['nobody voted', [], 1],
  ['one said it helped', [1], 1 + 0.05 / 11],
  ['one said it misled', [-1], 1 - 0.05 / 11],
  ['one said it made no difference', [0], 1],
  ['opinions cancel out', [1, -1], 1],
  ['one was half convinced', [0.5], 1 + 0.025 / 11],
  ['the same person voted three times: votes append', [1, 1, 1], 1 + (0.05 * 3) / 13],
])('%s', async (_votes, values, factor) => {
  const repoId = newRepo();
  const problemId = await problemIn(repoId);
  const id = await remember(service, { text: 'Dotterel advice' }, repoId);
  for (const value of values) await vote(repoId, id, problemId, value);
  expect(factorOf((await direct(repoId, 'dotterel'))[0])).toBeCloseTo(factor, 12);
});

test('between equal matches a vote decides, for better and for worse', async () => {
  const repoId = newRepo();
  const problemId = await problemIn(repoId);
  const ids: string[] = [];
  for (const word of ['first', 'second', 'third'])
    ids.push(await remember(service, { text: `Dotterel ${word}` }, repoId));
  const [first, second, third] = ids as [string, string, string];
  expect(idsIn(await direct(repoId, 'dotterel'))).toEqual([first, second, third]);
  await vote(repoId, third, problemId, 1);
  await vote(repoId, first, problemId, -1);
  expect(idsIn(await direct(repoId, 'dotterel'))).toEqual([third, second, first]);
  // Also when only one place is to be had.
  expect(idsIn(await direct(repoId, 'dotterel', { limit: 1 }))).toEqual([third]);
});

test('no number of votes moves a score by more than five in a hundred, or lifts a worse match over a better one', async () => {
  const repoId = newRepo();
  const problemId = await problemIn(repoId);
  const betterId = await remember(service, { text: 'Dotterel nests' }, repoId);
  const worseId = await remember(service, { text: 'Dotterel among many other words that have no part in it' }, repoId);
  const items = Array.from({ length: 100 }, (_, index) => ({
    op: 'update',
    memory_id: index % 2 === 0 ? worseId : betterId,
    update: { type: 'utility_vote', problem_id: problemId, vote: index % 2 === 0 ? 1 : -1 },
  }));
  for (let round = 0; round < 4; round++) {
    await service.http.post('/memory/batch').send({ repo_id: repoId, items }).expect(200);
  }
  const found = await direct(repoId, 'dotterel');
  expect(idsIn(found)).toEqual([betterId, worseId]);
  expect(factorOf(found[0])).toBeGreaterThan(0.95);
  expect(factorOf(found[0])).toBeLessThan(0.953);
  expect(factorOf(found[1])).toBeLessThan(1.05);
  expect(factorOf(found[1])).toBeGreaterThan(1.047);
});

test('a vote lets nothing in that the words do not: what misses the query is not found for being popular', async () => {
  const repoId = newRepo();
  const problemId = await problemIn(repoId);
  const id = await remember(service, { text: 'Rollback' }, repoId);
  await remember(service, { text: 'Deployment auth' }, repoId);
  await vote(repoId, id, problemId, 1);
  expect(idsIn(await direct(repoId, 'rollback deployment auth'))).not.toContain(id);
});

test("a repo's votes on a global memory do not move it in another repo", async () => {
  const repoId = newRepo();
  const problemId = await problemIn(repoId);
  const id = await remember(service, { text: 'Phalarope guidance', scope: 'global' }, repoId);
  await vote(repoId, id, problemId, 1);
  expect(factorOf((await direct(repoId, 'phalarope'))[0])).toBeCloseTo(1 + 0.05 / 11, 12);
  expect(factorOf((await direct(newRepo(), 'phalarope'))[0])).toBe(1);
});

test('a dry run of a vote moves nothing', async () => {
  const repoId = newRepo();
  const problemId = await problemIn(repoId);
  const memory_id = await remember(service, { text: 'Dotterel advice' }, repoId);
  const update = { type: 'utility_vote', problem_id: problemId, vote: 1 };
  const body = { op: 'update', repo_id: repoId, memory_id, mode: 'dry_run', update };
  await service.http.post('/memory/update').send(body).expect(200);
  expect(factorOf((await direct(repoId, 'dotterel'))[0])).toBe(1);
});

test('of two solutions reached from their problem, the one that helped comes first', async () => {
  const repoId = newRepo();
  const problemId = await problemIn(repoId);
  const tried = (text: string): Promise<string> =>
    remember(service, { text, kind: 'solution', links: { problem_id: problemId } }, repoId);
  const earlierId = await tried('Turn it off and on');
  const laterId = await tried('Replace the fuse');
  const reached = async (): Promise<string[]> =>
    idsIn((await recall(service, 'something went wrong', {}, repoId)).explicit_related);
  expect(await reached()).toEqual([earlierId, laterId]);
  await vote(repoId, laterId, problemId, 1);
  expect(await reached()).toEqual([laterId, earlierId]);
});
