import { afterAll, beforeAll, expect, test } from 'vitest';
import { change, remember, updateBody } from '../../support/requests.js';
import { select, tables } from '../../support/rows.js';
import { type Service, startService } from '../../support/service.js';
import { sendTogether, times } from '../../support/together.js';

let service: Service;
let problemId: string;
beforeAll(async () => {
  service = await startService();
  problemId = await remember(service, { kind: 'problem', text: 'Checkout tests time out' });
});
afterAll(() => service.stop());

const ballot = (vote: number, more: object = {}) => ({
  type: 'utility_vote',
  problem_id: problemId,
  vote,
  ...more,
});

const VOTES = `SELECT v.id, v.repo_id, m.id AS memory_id, p.id AS problem_id, v.vote, v.rationale, v.created_at
  FROM utility_observations v JOIN nodes m ON m.seq = v.memory_seq JOIN nodes p ON p.seq = v.problem_seq
  WHERE m.id = ? ORDER BY v.seq`;

test('a vote is one row that says exactly what was sent', async () => {
  const memoryId = await remember(service, { text: 'Raise the pool size' });
  service.clock.advance(1_000);
  const { body } = await service.http
    .post('/memory/update')
    .send(updateBody(memoryId, ballot(-0.25, { rationale: 'made it worse' })))
    .expect(200);
  expect(select(service, 'acme/shop', VOTES, memoryId)).toEqual([
    {
      id: body.side_effects[0].observation_id,
      repo_id: 'acme/shop',
      memory_id: memoryId,
      problem_id: problemId,
      vote: -0.25,
      rationale: 'made it worse',
      created_at: service.clock.now(),
    },
  ]);
});

test('votes append: each stays, in its order, and the memory shows them all', async () => {
  const memoryId = await remember(service, { text: 'Lower the timeout' });
  for (const vote of [1, 1, -1, 0]) {
    service.clock.advance(1_000);
    await change(service, memoryId, ballot(vote));
  }
  expect(select(service, 'acme/shop', VOTES, memoryId).map(({ vote }) => vote)).toEqual([1, 1, -1, 0]);
  const { body } = await service.http.get(`/memory/${memoryId}`).query({ repo_id: 'acme/shop' }).expect(200);
  expect(body.votes).toMatchObject({ count: 4, mean: 0.25 });
  expect(body.votes.items.map(({ vote }: { vote: number }) => vote)).toEqual([0, -1, 1, 1]);
});

test.each([-1, -0.5, 0, 0.001, 1])('a vote of %d is within its bounds', async (vote) => {
  const memoryId = await remember(service, { text: `Worth ${vote}` });
  await change(service, memoryId, ballot(vote));
  expect(select(service, 'acme/shop', VOTES, memoryId)).toMatchObject([{ vote }]);
});

test('the evidence of a vote is stored and shown with it, a shared reference once', async () => {
  const repoId = 'votes/evidence';
  const problem = await remember(service, { kind: 'problem', text: 'Slow' }, repoId);
  const memoryId = await remember(service, { text: 'Use an index', evidence_refs: ['commit:1'] }, repoId);
  const update = { type: 'utility_vote', problem_id: problem, vote: 1, evidence_refs: ['commit:1', ' log:9 '] };
  await change(service, memoryId, update, repoId);
  await change(service, memoryId, update, repoId);
  const { body } = await service.http.get(`/memory/${memoryId}`).query({ repo_id: repoId }).expect(200);
  const refs = body.votes.items.map((vote: { evidence_refs: string[] }) => [...vote.evidence_refs].sort());
  expect(refs).toEqual([
    ['commit:1', 'log:9'],
    ['commit:1', 'log:9'],
  ]);
  expect(body.evidence_refs).toEqual(['commit:1']);
  expect(tables(service, repoId).vote_evidence).toHaveLength(4);
});

test('votes cast at once are all counted', async () => {
  const memoryId = await remember(service, { text: 'Much debated' });
  await sendTogether(
    service,
    times(25, (index) => ({
      path: '/memory/update',
      body: updateBody(memoryId, ballot(index % 2 === 0 ? 1 : -1)),
    })),
  );
  const { body } = await service.http.get(`/memory/${memoryId}`).query({ repo_id: 'acme/shop' }).expect(200);
  expect(body.votes).toMatchObject({ count: 25, mean: 1 / 25 });
});

test("a repo's vote on a global memory counts in that repo and shows in no other", async () => {
  const habit = await remember(service, { scope: 'global', kind: 'preference', text: 'Small commits' }, 'acme/other');
  await change(service, habit, ballot(1));
  const countFrom = async (repoId: string) =>
    (await service.http.get(`/memory/${habit}`).query({ repo_id: repoId }).expect(200)).body.votes.count;
  expect([await countFrom('acme/shop'), await countFrom('acme/other')]).toEqual([1, 0]);
});

test('an archived memory may still be voted on: whether it had helped stays worth knowing', async () => {
  const memoryId = await remember(service, { text: 'Helped once' });
  await change(service, memoryId, { type: 'archive_state', archived: true });
  await change(service, memoryId, ballot(1));
  expect(select(service, 'acme/shop', VOTES, memoryId)).toHaveLength(1);
});
