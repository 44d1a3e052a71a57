import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { stored } from '../../support/rows.js';
import { type Service, startService } from '../../support/service.js';

const DAY_MS = 86_400_000;
const REPO = 'acme/shop';

let service: Service;
beforeEach(async () => {
  service = await startService();
});
afterEach(() => service.stop());

const write = async (fields: object, repoId = REPO): Promise<string> =>
  (
    await service.http
      .post('/journal')
      .query({ repo_id: repoId })
      .send({ content: 'Note', ...fields })
      .expect(201)
  ).body.id;
const learning = (repoId = REPO): Promise<string> => write({ type: 'learning' }, repoId);
const task = (metadata?: object): Promise<string> =>
  write({ type: 'task', ...(metadata && { task_metadata: metadata }) });
const look = (id: string) => service.http.get(`/journal/${id}`).query({ repo_id: REPO }).expect(200);
const postSweep = (fields: object = {}) => service.http.post('/maintenance/sweep').send(fields);
const sweep = async (fields: object = {}) => (await postSweep(fields).expect(200)).body;
const isArchived = async (id: string): Promise<boolean> => {
  const { body } = await service.http.get('/journal').query({ repo_id: REPO, archived: true, limit: 100 }).expect(200);
  return body.memories.find((entry: { id: string }) => entry.id === id).archived;
};
const NOTHING = { dry_run: false, archived: 0, repos: [] };

describe('a sweep puts away', () => {
  test('learnings that nobody looked at for more than ninety days, and no day sooner', async () => {
    const [idle, seen] = [await learning(), await learning()];
    service.clock.advance(90 * DAY_MS);
    expect(await sweep()).toEqual(NOTHING);
    await look(seen);
    service.clock.advance(1);
    expect(await sweep()).toEqual({
      dry_run: false,
      archived: 1,
      repos: [{ repo_id: REPO, learnings: [idle], tasks: [] }],
    });
    expect([await isArchived(idle), await isArchived(seen)]).toEqual([true, false]);
  });

  test('tasks that were completed more than thirty days ago, whoever looked at them, and no others', async () => {
    const [done, open, blocked] = [
      await task({ status: 'completed' }),
      await task(),
      await task({ status: 'blocked', blockers: ['x'] }),
    ];
    service.clock.advance(30 * DAY_MS);
    await look(done);
    expect(await sweep()).toEqual(NOTHING);
    service.clock.advance(1);
    expect(await sweep()).toMatchObject({ archived: 1, repos: [{ learnings: [], tasks: [done] }] });
    service.clock.advance(1_000 * DAY_MS);
    expect(await sweep()).toEqual(NOTHING);
    expect([await isArchived(done), await isArchived(open), await isArchived(blocked)]).toEqual([true, false, false]);
  });

  test('no core entry, however old', async () => {
    await write({ type: 'core' });
    service.clock.advance(1_000 * DAY_MS);
    expect(await sweep()).toEqual(NOTHING);
  });

  test('nothing a second time, and says in the log why it did', async () => {
    const id = await learning();
    service.clock.advance(91 * DAY_MS);
    await sweep();
    expect(await sweep()).toEqual(NOTHING);
    const { body } = await service.http.get('/evolution').query({ repo_id: REPO, node: id }).expect(200);
    expect(body.entries[0]).toMatchObject({
      operation: 'archive',
      reasoning: 'not looked at for more than 90 days',
    });
  });
});

test('tried first, a sweep says what it would do, and does nothing', async () => {
  const id = await learning();
  service.clock.advance(91 * DAY_MS);
  const before = stored(service, REPO);
  expect(await sweep({ dry_run: true })).toMatchObject({ dry_run: true, archived: 1, repos: [{ learnings: [id] }] });
  expect(stored(service, REPO)).toEqual(before);
});

test('a sweep goes through all repos, or through the one that is named', async () => {
  const [one, other] = [await learning('acme/one'), await learning('acme/other')];
  service.clock.advance(91 * DAY_MS);
  expect(await sweep({ repo_id: 'acme/one', dry_run: true })).toMatchObject({
    archived: 1,
    repos: [{ repo_id: 'acme/one', learnings: [one] }],
  });
  expect((await sweep()).repos).toEqual([
    { repo_id: 'acme/one', learnings: [one], tasks: [] },
    { repo_id: 'acme/other', learnings: [other], tasks: [] },
  ]);
});

test('two sweeps at once do not run: one is done, the other told to come again', async () => {
  for (let count = 0; count < 20; count++) await learning(`acme/${count}`);
  service.clock.advance(91 * DAY_MS);
  const answers = await Promise.all([postSweep(), postSweep()]);
  expect(answers.map(({ status }) => status).sort()).toEqual([200, 409]);
  expect(answers.find(({ status }) => status === 409)?.body).toMatchObject({
    code: 'conflict',
    errors: [{ field: 'sweep', message: expect.stringContaining('under way') }],
  });
  expect(await sweep()).toEqual(NOTHING);
});

test.each([{ dry_run: 1 }, { repo_id: '' }, { repo_id: 7 }, { days: 3 }])('%j is refused', async (fields) => {
  await postSweep(fields).expect(400);
});

test.each([
  [{ RETENTION_LEARNING_DAYS: '7' }, 7],
  [{ RETENTION_LEARNING_DAYS: '0' }, null],
])('the days are set: %j', async (settings, days) => {
  const other = await startService(settings);
  try {
    const body = { type: 'learning', content: 'Note' };
    await other.http.post('/journal').send(body).expect(201);
    other.clock.advance((days ?? 5_000) * DAY_MS + 1);
    const answer = await other.http.post('/maintenance/sweep').send({}).expect(200);
    expect(answer.body.archived).toBe(days === null ? 0 : 1);
  } finally {
    await other.stop();
  }
});
