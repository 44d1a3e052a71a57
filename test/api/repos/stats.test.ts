import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { change, remember } from '../../support/requests.js';
import { type Service, startService } from '../../support/service.js';

let service: Service;
let repos = 0;
let repoId: string;
beforeAll(async () => {
  service = await startService();
});
afterAll(() => service.stop());
beforeEach(() => {
  repoId = `stats/${++repos}`;
});

const stats = async (query: object = {}) => (await service.http.get('/stats').query(query).expect(200)).body;
const none = { problem: 0, solution: 0, failed_tactic: 0, fact: 0, preference: 0, change: 0 };
const empty = { total: 0, archived: 0, by_kind: none };

test('an empty store counts nothing, and asking makes no repo', async () => {
  const answer = await stats({ repo_id: repoId });
  expect(answer).toMatchObject({ repo_id: repoId, repo: empty, global: empty, store: { engine: 'sqlite', repos: 0 } });
  expect((await stats({ repo_id: repoId })).store.repos).toBe(0);
});

test('memories are counted by kind, for the asked repo and for global scope apart', async () => {
  const before = await stats({ repo_id: repoId });
  const problemId = await remember(service, { text: 'It fails', kind: 'problem' }, repoId);
  const links = { problem_id: problemId };
  await remember(service, { text: 'Works', kind: 'solution', links }, repoId);
  await remember(service, { text: 'Does not', kind: 'failed_tactic', links }, repoId);
  await remember(service, { text: 'Is so' }, repoId);
  await remember(service, { text: 'Was so' }, repoId);
  await remember(service, { text: 'Became so', kind: 'change' }, repoId);
  await remember(service, { text: 'Like so', kind: 'preference', scope: 'global' }, repoId);
  await remember(service, { text: 'Elsewhere' }, 'stats/other');

  const answer = await stats({ repo_id: repoId });
  const by_kind = { ...none, problem: 1, solution: 1, failed_tactic: 1, fact: 2, change: 1 };
  expect(answer.repo).toEqual({ total: 6, archived: 0, by_kind });
  expect(answer.global.total).toBe(before.global.total + 1);
  expect(answer.global.by_kind.preference).toBe(before.global.by_kind.preference + 1);
  expect(answer.store.repos).toBe(before.store.repos + 2);
  const other = await stats({ repo_id: 'stats/other' });
  expect(other.repo.total).toBe(1);
  expect(other.global).toEqual(answer.global);
});

test('an archived memory is counted as archived until it is restored', async () => {
  const id = await remember(service, { text: 'Comes and goes' }, repoId);
  for (const archived of [true, false, true]) {
    await change(service, id, { type: 'archive_state', archived }, repoId);
    const { repo } = await stats({ repo_id: repoId });
    expect(repo).toEqual({ total: 1, archived: archived ? 1 : 0, by_kind: { ...none, fact: 1 } });
  }
});

test('duplicates, dry runs and references to global memories are not counted', async () => {
  const globalId = await remember(service, { text: 'For all', scope: 'global' }, repoId);
  const before = await stats({ repo_id: repoId });
  const links = { related_memory_ids: [globalId] };
  const memory = { text: 'For us', scope: 'repo', kind: 'preference', confidence: 1, links };
  const body = { op: 'write', repo_id: repoId, memory };
  await service.http.post('/memory/write').send(body).expect(201);
  await service.http.post('/memory/write').send(body).expect(200);
  const dryRun = { repo_id: repoId, mode: 'dry_run', items: [{ op: 'write', memory: { ...memory, text: 'Never' } }] };
  await service.http.post('/memory/batch').send(dryRun).expect(200);
  const answer = await stats({ repo_id: repoId });
  expect(answer.repo.total).toBe(1);
  expect(answer.global).toEqual(before.global);
});

test('without repo_id the repo called default is meant', async () => {
  await remember(service, {}, 'default');
  expect(await stats()).toMatchObject({ repo_id: 'default', repo: { total: 1 } });
});

test('no more repo files are open than the setting allows, and all are counted right', async () => {
  const narrow = await startService({ OPEN_REPOS_MAX: '2' });
  try {
    const repoIds = ['one', 'two', 'three', 'four'];
    for (const id of repoIds) await remember(narrow, {}, id);
    for (const repo_id of repoIds) {
      const { body } = await narrow.http.get('/stats').query({ repo_id }).expect(200);
      expect(body.repo.total).toBe(1);
      // Two repos and the main file.
      expect(body.store).toEqual({ engine: 'sqlite', repos: 4, open_spaces: 3 });
    }
  } finally {
    await narrow.stop();
  }
});

test.each([
  ['an empty repo id', { repo_id: '' }, 400],
  ['a blank repo id', { repo_id: ' ' }, 422],
  ['an unknown parameter', { verbose: '1' }, 400],
])('%s is refused', async (_wrong, query, status) => {
  const { body } = await service.http.get('/stats').query(query).expect(status);
  expect(body.errors).toHaveLength(1);
});
