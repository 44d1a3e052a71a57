import { afterAll, beforeAll, expect, test } from 'vitest';
import { concept, idOf, link } from '../../support/plans.js';
import { change, memoryBody, remember } from '../../support/requests.js';
import { type Service, startService } from '../../support/service.js';

const REPO = 'acme/shop';
const UNKNOWN_ID = 'ffffffff-ffff-4fff-8fff-ffffffffffff';

let service: Service;
beforeAll(async () => {
  service = await startService();
});
afterAll(() => service.stop());

const get = (id: string, repoId: string = REPO, status = 200) =>
  service.http
    .get(`/memory/${encodeURIComponent(id)}`)
    .query({ repo_id: repoId })
    .expect(status);
const detail = async (id: string, repoId?: string) => (await get(id, repoId)).body;

interface LinkReport {
  label: string;
  members: { memory_id: string; role: string }[];
}
const membersOf = (link: LinkReport) =>
  Object.fromEntries(link.members.map(({ memory_id, role }) => [role, memory_id]));

test('a memory is shown exactly as it was written, with its evidence', async () => {
  const fields = {
    text: '  Tern writes\n\tverbatim: "quotes", <tags> and 🚀  ',
    scope: 'repo',
    kind: 'fact',
    confidence: 0.4,
    rationale: 'Seen twice',
    evidence_refs: ['commit:1', 'session://2#3'],
  };
  const id = await remember(service, fields);
  expect(await detail(id)).toEqual({
    ...fields,
    memory_id: id,
    form: 'memory',
    type: 'fact',
    repo_id: REPO,
    state: 'current',
    superseded_by: null,
    archived_at: null,
    archive_reason: null,
    created_at: service.clock.iso(),
    evidence_complete: true,
    links: [],
    links_complete: true,
    votes: { count: 0, mean: 0, items: [] },
  });
});

test('links are shown from every end, each with its members and their parts, newest first', async () => {
  const problemId = await remember(service, { text: 'Tern is slow', kind: 'problem' });
  service.clock.advance(1000);
  const links = { problem_id: problemId };
  const solutionId = await remember(service, { text: 'Cache more', kind: 'solution', links });
  service.clock.advance(1000);
  const asideId = await remember(service, { text: 'See also', links: { related_memory_ids: [problemId, solutionId] } });

  const { links: ofProblem } = await detail(problemId);
  expect(ofProblem.map((link: LinkReport) => link.label)).toEqual(['related_to', 'attempts']);
  expect(ofProblem[0]).toMatchObject({ weight: 0.5, rationale: null, created_at: service.clock.iso() });
  expect(ofProblem[0].members.map((member: { memory_id: string }) => member.memory_id).sort()).toEqual(
    [problemId, asideId].sort(),
  );
  expect(membersOf(ofProblem[1])).toEqual({ subject: solutionId, object: problemId });
  expect((await detail(solutionId)).links).toContainEqual(ofProblem[1]);
  expect((await detail(asideId)).links).toHaveLength(2);
});

test('a replaced fact says what replaced it, at the end of the chain, and shows the three-fold link', async () => {
  const ids: string[] = [];
  for (const text of ['Tern has 1 node', 'Tern has 2 nodes', 'Tern has 3 nodes'])
    ids.push(await remember(service, { text }));
  const [first, second, third] = ids as [string, string, string];
  const changeId = await remember(service, { text: 'Grew', kind: 'change' });
  const rationale = 'load doubled';
  for (const [old_fact_id, new_fact_id] of [
    [first, second],
    [second, third],
  ]) {
    await change(service, changeId, { type: 'fact_update_link', old_fact_id, new_fact_id, rationale });
  }
  const shown = await detail(first);
  expect(shown).toMatchObject({ state: 'superseded', superseded_by: third });
  expect(shown.links).toMatchObject([{ label: 'fact_update', weight: 1, rationale }]);
  expect(membersOf(shown.links[0])).toEqual({ cause: changeId, object: first, effect: second });
  expect(await detail(third)).toMatchObject({ state: 'current', superseded_by: null });
  expect((await detail(changeId)).links).toHaveLength(2);
});

test('an archived memory stays addressable and says when and why it was archived, until it is restored', async () => {
  const id = await remember(service, { text: 'Tern used to sleep' });
  service.clock.advance(1000);
  await change(service, id, { type: 'archive_state', archived: true, rationale: 'no longer relevant' });
  expect(await detail(id)).toMatchObject({
    state: 'archived',
    archived_at: service.clock.iso(),
    archive_reason: 'no longer relevant',
    text: 'Tern used to sleep',
  });
  await change(service, id, { type: 'archive_state', archived: false });
  expect(await detail(id)).toMatchObject({ state: 'current', archived_at: null, archive_reason: null });
});

test('votes are all kept and shown newest first, with their number, mean, reasons and evidence', async () => {
  const problem_id = await remember(service, { text: 'Tern leaks', kind: 'problem' });
  const id = await remember(service, { text: 'Tern needs less memory' });
  const cast = async (vote: number, more = {}) => {
    service.clock.advance(1000);
    await change(service, id, { type: 'utility_vote', problem_id, vote, ...more });
    return service.clock.iso();
  };
  const firstAt = await cast(1, { rationale: 'fixed it', evidence_refs: ['test:42', 'log:7'] });
  const secondAt = await cast(-0.5);
  const { votes } = await detail(id);
  expect(votes).toMatchObject({ count: 2, mean: 0.25 });
  expect(votes.items).toMatchObject([
    { vote: -0.5, problem_id, rationale: null, evidence_refs: [], created_at: secondAt },
    { vote: 1, problem_id, rationale: 'fixed it', evidence_refs: ['test:42', 'log:7'], created_at: firstAt },
  ]);
});

test('a hundred votes are shown one by one; the number and mean count all', async () => {
  const problem_id = await remember(service, { text: 'Tern overheats', kind: 'problem' });
  const memory_id = await remember(service, { text: 'Tern needs a fan' });
  const update = { type: 'utility_vote', problem_id, vote: 1 };
  const items = Array.from({ length: 60 }, () => ({ op: 'update', memory_id, update }));
  for (let round = 0; round < 2; round++) {
    await service.http.post('/memory/batch').send({ repo_id: REPO, items }).expect(200);
  }
  const { votes } = await detail(memory_id);
  expect([votes.count, votes.mean, votes.items.length]).toEqual([120, 1, 100]);
});

test('a global memory is shown from every repo, with the links and votes of the asking repo only', async () => {
  const globalId = await remember(service, { text: 'Tern outage', kind: 'problem', scope: 'global' });
  const links = { problem_id: globalId };
  const localId = await remember(service, { text: 'Wait', kind: 'solution', links });
  await change(service, localId, { type: 'utility_vote', problem_id: globalId, vote: 1 });
  expect((await detail(globalId)).links).toHaveLength(1);
  const elsewhere = await detail(globalId, 'acme/other');
  expect(elsewhere).toMatchObject({ memory_id: globalId, scope: 'global', repo_id: REPO, links: [] });
  await get(localId, 'acme/other', 404);
});

test('links made in the repo and links made globally come in one order, newest first', async () => {
  const globalId = await remember(service, { text: 'Tern stalls', kind: 'problem', scope: 'global' });
  const links = { problem_id: globalId };
  const made: string[] = [];
  for (const [text, scope] of [
    ['First try', 'global'],
    ['Second try', 'repo'],
    ['Third try', 'global'],
    ['Fourth try', 'repo'],
  ] as const) {
    service.clock.advance(1000);
    made.push(await remember(service, { text, scope, kind: 'failed_tactic', links }));
  }
  const shown = (await detail(globalId)).links.map((link: LinkReport) => membersOf(link).subject);
  expect(shown).toEqual(made.reverse());
});

test('without repo_id the repo called default is meant', async () => {
  const id = await remember(service, { text: 'Tern by default' }, 'default');
  const { body } = await service.http.get(`/memory/${id}`).expect(200);
  expect(body.memory_id).toBe(id);
});

test('the Location of a write leads to the memory, whatever characters its repo id has', async () => {
  const memory = { text: 'Tern & co', scope: 'repo', kind: 'preference', confidence: 1 };
  const body = { op: 'write', repo_id: 'acme/shop & söhne?#', memory };
  const written = await service.http.post('/memory/write').send(body).expect(201);
  const answer = await service.http.get(written.headers.location as string).expect(200);
  expect(answer.body.text).toBe('Tern & co');
});

test.each([
  ['an id that nothing has', UNKNOWN_ID],
  ['an id of the wrong form', 'not-an-id'],
  ['an id in capitals', UNKNOWN_ID.toUpperCase()],
  ['SQL for an id', "' OR 1=1 --"],
])('%s is not found', async (_id, id) => {
  const { body } = await get(id, REPO, 404);
  expect(body).toMatchObject({ code: 'not_found', errors: [{ field: 'memory_id', code: 'not_found' }] });
});

test.each([
  ['an unknown parameter', { repo_id: REPO, verbose: 'yes' }, 400],
  ['an empty repo id', { repo_id: '' }, 400],
  ['a blank repo id', { repo_id: ' ' }, 422],
])('%s is refused', async (_wrong, query, status) => {
  const { body } = await service.http.get(`/memory/${UNKNOWN_ID}`).query(query).expect(status);
  expect(body.errors).toHaveLength(1);
});

test('a memory with more links than are shown says so', async () => {
  const hubId = await remember(service, { text: 'Everything breaks', kind: 'problem' }, 'detail/hub');
  const attempts = Array.from({ length: 100 }, (_, index) => ({
    op: 'write',
    memory: memoryBody({ text: `Attempt ${index}`, kind: 'solution', links: { problem_id: hubId } }),
  }));
  const showLinks = async (): Promise<{ links: unknown[]; links_complete: boolean }> =>
    (await service.http.get(`/memory/${hubId}`).query({ repo_id: 'detail/hub' }).expect(200)).body;
  const send = (items: object[]) =>
    service.http.post('/memory/batch').send({ repo_id: 'detail/hub', items }).expect(200);
  await send(attempts);
  expect(await showLinks()).toMatchObject({ links_complete: true });
  await send(attempts.map((item) => ({ ...item, allow_duplicate: true })));
  expect(await showLinks()).toMatchObject({ links_complete: true });
  await send([{ ...attempts[0], allow_duplicate: true }]);
  const { links, links_complete } = await showLinks();
  expect(links).toHaveLength(200);
  expect(links_complete).toBe(false);
});

test('an edge of the callers’ own words is shown beside hundreds of newer known ones, and whether that is all is said', async () => {
  const repoId = 'detail/words';
  const hubId = await remember(service, { text: 'Everything leans on this' }, repoId);
  let number = 6_000_000;
  const draw = async (count: number, fields: object): Promise<void> => {
    const ids = Array.from({ length: count }, () => idOf(++number));
    const edges = ids.map((id) => link('supports', [id, hubId], { repoId, ...fields }));
    await service.store.apply({ space: repoId, changes: [...ids.map((id) => concept(id, { repoId })), ...edges] });
  };
  const shown = async () => {
    const { links, links_complete } = await detail(hubId, repoId);
    return [links.filter(({ label }: LinkReport) => label === 'owns').length, links.length, links_complete];
  };
  await draw(1, { label: 'owns' });
  for (const label of ['supports', 'contradicts']) await draw(120, { label });
  expect(await shown()).toEqual([1, 241, true]);
  await draw(200, { label: 'owns' });
  expect(await shown()).toEqual([200, 440, false]);
});
