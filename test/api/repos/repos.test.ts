import { existsSync, readdirSync, statSync } from 'node:fs';
import { basename, dirname } from 'node:path';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { allItems, change, recall, remember } from '../../support/requests.js';
import { fileOf } from '../../support/rows.js';
import { type Service, startService } from '../../support/service.js';

let service: Service;
beforeAll(async () => {
  service = await startService();
});
afterAll(() => service.stop());
afterEach(async () => {
  for (const repoId of await listIds()) await drop(repoId).expect(200);
});

interface RepoReport {
  repo_id: string;
  created_at: string;
  bytes: number;
  memories: { total: number; archived: number; by_kind: Record<string, number> };
}
const list = async (query: object = {}): Promise<{ repos: RepoReport[]; next_cursor: string | null }> =>
  (await service.http.get('/repos').query(query).expect(200)).body;
const listIds = async (): Promise<string[]> => (await list()).repos.map((repo) => repo.repo_id);
const drop = (repoId: string, query: object = { confirm: repoId }) =>
  service.http.delete(`/repos/${encodeURIComponent(repoId)}`).query(query);

test('a store without repos lists none', async () => {
  expect(await list()).toEqual({ repos: [], next_cursor: null });
});

test('every repo is listed with when it began, its size on disk and its memories by kind', async () => {
  const begun = service.clock.iso();
  const problemId = await remember(service, { text: 'It fails', kind: 'problem' }, 'acme/shop');
  service.clock.advance(60_000);
  await remember(service, { text: 'Fix it', kind: 'solution', links: { problem_id: problemId } }, 'acme/shop');
  const factId = await remember(service, { text: 'It is so' }, 'acme/shop');
  await change(service, factId, { type: 'archive_state', archived: true }, 'acme/shop');
  await remember(service, { text: 'Be kind', kind: 'preference' }, 'acme/bakery');

  const { repos } = await list();
  expect(repos.map((repo) => repo.repo_id)).toEqual(['acme/bakery', 'acme/shop']);
  const none = { problem: 0, solution: 0, failed_tactic: 0, fact: 0, preference: 0, change: 0 };
  expect(repos[0]?.memories).toEqual({ total: 1, archived: 0, by_kind: { ...none, preference: 1 } });
  expect(repos[1]?.memories).toEqual({
    total: 3,
    archived: 1,
    by_kind: { ...none, problem: 1, solution: 1, fact: 1 },
  });
  expect(repos[1]?.created_at).toBe(begun);
  for (const { repo_id, bytes } of repos) expect(bytes).toBeGreaterThanOrEqual(statSync(fileOf(service, repo_id)).size);
});

test('global memories belong to no repo: they are counted in none and make none, references to them neither', async () => {
  const globalId = await remember(service, { text: 'For all', scope: 'global' }, 'acme/writer');
  expect(await listIds()).toEqual([]);
  await remember(service, { text: 'For us', links: { related_memory_ids: [globalId] } }, 'acme/shop');
  expect((await list()).repos.map((repo) => [repo.repo_id, repo.memories.total])).toEqual([['acme/shop', 1]]);
});

test('a refused write makes no repo', async () => {
  const body = {
    op: 'write',
    repo_id: 'acme/refused',
    memory: { text: ' ', scope: 'repo', kind: 'fact', confidence: 1 },
  };
  await service.http.post('/memory/write').send(body).expect(422);
  expect(await listIds()).toEqual([]);
});

test('the pages of any size show every repo once, in the order of their ids', async () => {
  const repoIds = ['b', 'a', 'Ä', 'c/d', 'c', '日本', '~', 'B', 'a b'];
  for (const repoId of repoIds) await remember(service, {}, repoId);
  const whole = await list();
  expect(whole.next_cursor).toBeNull();
  expect(whole.repos.map((repo) => repo.repo_id)).toEqual(
    [...repoIds].sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b))),
  );
  for (const limit of [1, 2, 4, 8, 9, 10]) {
    const pages: RepoReport[][] = [];
    let cursor: string | null = null;
    do {
      const page = await list({ limit, ...(cursor && { cursor }) });
      pages.push(page.repos);
      cursor = page.next_cursor;
    } while (cursor !== null);
    expect(pages.flat()).toEqual(whole.repos);
    expect(pages).toHaveLength(Math.ceil(repoIds.length / limit));
  }
});

test('a page goes on from its cursor whatever was added or removed meanwhile', async () => {
  for (const repoId of ['b', 'd', 'f']) await remember(service, {}, repoId);
  const { next_cursor } = await list({ limit: 2 });
  for (const repoId of ['a', 'e']) await remember(service, {}, repoId);
  await drop('d').expect(200);
  const page = await list({ limit: 2, cursor: next_cursor });
  expect(page.repos.map((repo) => repo.repo_id)).toEqual(['e', 'f']);
});

test.each([
  ['a cursor that nobody gave out', { cursor: 'not*base64' }, 'invalid_cursor'],
  ['an empty cursor', { cursor: '' }, 'invalid_cursor'],
  ['a cursor for no repo id', { cursor: Buffer.from(' ').toString('base64url') }, 'invalid_cursor'],
  ['a limit of zero', { limit: 0 }, 'schema_error'],
  ['a limit above a hundred', { limit: 101 }, 'schema_error'],
  ['a limit that is no number', { limit: 'many' }, 'schema_error'],
  ['an unknown parameter', { offset: 3 }, 'schema_error'],
])('%s is refused', async (_wrong, query, code) => {
  const { body } = await service.http.get('/repos').query(query).expect(400);
  expect(body.code).toBe(code);
});

test('a dropped repo is gone with its file and everything in it; others and global memories stay', async () => {
  const id = await remember(service, { text: 'Gannet secret' }, 'acme/shop');
  const otherId = await remember(service, { text: 'Gannet neighbour' }, 'acme/other');
  const globalId = await remember(service, { text: 'Gannet for all', scope: 'global' }, 'acme/shop');
  const other = fileOf(service, 'acme/other');
  const gone = fileOf(service, 'acme/shop');
  expect(existsSync(gone)).toBe(true);

  const { body } = await drop('acme/shop').expect(200);
  expect(body).toEqual({ repo_id: 'acme/shop', dropped: true });

  const left = readdirSync(dirname(gone));
  expect(left.filter((name) => name.startsWith(basename(gone)))).toEqual([]);
  expect(left).toContain(basename(other));
  expect(await listIds()).toEqual(['acme/other']);
  const shown = async (repoId: string) =>
    allItems(await recall(service, 'gannet', {}, repoId)).map((item) => item.memory_id);
  expect(await shown('acme/shop')).toEqual([globalId]);
  expect((await shown('acme/other')).sort()).toEqual([otherId, globalId].sort());
  await service.http.get(`/memory/${id}`).query({ repo_id: 'acme/shop' }).expect(404);
  const stats = await service.http.get('/stats').query({ repo_id: 'acme/shop' }).expect(200);
  expect(stats.body.repo.total).toBe(0);
});

test('a dropped repo may be written again and begins empty', async () => {
  await remember(service, { text: 'First life' }, 'acme/shop');
  await drop('acme/shop').expect(200);
  service.clock.advance(60_000);
  const begun = service.clock.iso();
  const id = await remember(service, { text: 'First life' }, 'acme/shop');
  expect((await list()).repos).toMatchObject([{ repo_id: 'acme/shop', created_at: begun, memories: { total: 1 } }]);
  expect(allItems(await recall(service, 'life', {}, 'acme/shop'))).toMatchObject([{ memory_id: id }]);
});

test.each([
  ['nothing', {}, 400, 'schema_error'],
  ['another name', { confirm: 'acme/shop2' }, 422, 'semantic_error'],
  ['the name in other letters', { confirm: 'ACME/SHOP' }, 422, 'semantic_error'],
  ['an empty name', { confirm: '' }, 422, 'semantic_error'],
  ['a plain yes', { confirm: 'true' }, 422, 'semantic_error'],
  ['an unknown parameter', { confirm: 'acme/shop', force: 'true' }, 400, 'schema_error'],
])('a drop that is confirmed by %s removes nothing', async (_wrong, query, status, code) => {
  const id = await remember(service, { text: 'Plover stays' }, 'acme/shop');
  const { body } = await drop('acme/shop', query).expect(status);
  expect(body.code).toBe(code);
  expect(allItems(await recall(service, 'plover', {}, 'acme/shop'))).toMatchObject([{ memory_id: id }]);
});

test('a repo that is not there cannot be dropped, also not a second time', async () => {
  await drop('acme/never').expect(404);
  await remember(service, {}, 'acme/shop');
  await drop('acme/shop').expect(200);
  const { body } = await drop('acme/shop').expect(404);
  expect(body).toMatchObject({ code: 'not_found', errors: [{ field: 'repo_id' }] });
});

test.each([
  ['a long id', 'r'.repeat(200)],
  ['ideographs', '日本'.repeat(100)],
  ['what looks like a way out', '../../etc/passwd'],
  ['characters of URLs', 'a/b?c=d&e#f%2F g'],
])('a repo whose id is %s is listed and dropped like any other', async (_name, repoId) => {
  await remember(service, {}, repoId);
  expect(await listIds()).toEqual([repoId]);
  await drop(repoId).expect(200);
  expect(await listIds()).toEqual([]);
});
