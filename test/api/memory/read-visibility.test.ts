import { afterAll, beforeAll, expect, test } from 'vitest';
import { allItems, change, idsIn, type MemoryFields, readBody, recall, remember } from '../../support/requests.js';
import { type Service, startService } from '../../support/service.js';

let service: Service;
beforeAll(async () => {
  service = await startService();
});
afterAll(() => service.stop());

const idsFound = async (query: string, more: object, repoId: string): Promise<string[]> =>
  idsIn(allItems(await recall(service, query, more, repoId))).sort();

test('a repo memory is found in its own repo and in no other', async () => {
  const id = await remember(service, { text: 'Narwhal keeps its secrets in the vault' }, 'visible/own');
  expect(await idsFound('narwhal vault', {}, 'visible/own')).toEqual([id]);
  expect(await idsFound('narwhal vault', {}, 'visible/other')).toEqual([]);
});

test('a global memory is found from every repo, also from one that never wrote anything', async () => {
  const id = await remember(
    service,
    { text: 'Ocelot releases go out on Thursdays', scope: 'global' },
    'visible/writer',
  );
  for (const repoId of ['visible/writer', 'visible/reader', 'visible/never-seen']) {
    expect(await idsFound('ocelot releases', {}, repoId)).toEqual([id]);
  }
});

test('include_global false leaves global memories out, also those that a repo memory is linked to', async () => {
  const globalId = await remember(service, { text: 'Wombat style guide', scope: 'global' }, 'visible/narrow');
  const links = { related_memory_ids: [globalId] };
  const repoMemoryId = await remember(service, { text: 'Pangolin follows the guide', links }, 'visible/narrow');
  expect(await idsFound('pangolin', {}, 'visible/narrow')).toEqual([globalId, repoMemoryId].sort());
  expect(await idsFound('pangolin', { include_global: false }, 'visible/narrow')).toEqual([repoMemoryId]);
  expect(await idsFound('wombat', { include_global: false }, 'visible/narrow')).toEqual([]);
});

test('what a repo linked to a global memory is not shown to another repo that finds the global memory', async () => {
  const globalId = await remember(
    service,
    { text: 'Axolotl outage', kind: 'problem', scope: 'global' },
    'visible/left',
  );
  const attempt: MemoryFields = { text: 'Restart the tank', kind: 'solution', links: { problem_id: globalId } };
  const attemptId = await remember(service, attempt, 'visible/left');
  expect(await idsFound('axolotl', {}, 'visible/left')).toEqual([globalId, attemptId].sort());
  expect(await idsFound('axolotl', {}, 'visible/right')).toEqual([globalId]);
});

test.each([
  ['letter case', 'Visible/Case', 'visible/case'],
  ['a trailing slash', 'visible/slash/', 'visible/slash'],
  ['a character that file names cannot hold', 'visible:name', 'visible-name'],
])('repo ids that differ only in %s are two repos', async (_difference, one, another) => {
  const id = await remember(service, { text: 'Quokka lives here' }, one);
  expect(await idsFound('quokka', {}, one)).toEqual([id]);
  expect(await idsFound('quokka', {}, another)).toEqual([]);
});

test('kinds shows only the named kinds, among direct matches and among what is linked to them', async () => {
  const repoId = 'visible/kinds';
  const problemId = await remember(service, { text: 'Ferret builds fail', kind: 'problem' }, repoId);
  const attempt = (text: string, kind: string): MemoryFields => ({ text, kind, links: { problem_id: problemId } });
  const solutionId = await remember(service, attempt('Clear the cache', 'solution'), repoId);
  await remember(service, attempt('Reinstall everything', 'failed_tactic'), repoId);
  const preferenceId = await remember(service, { text: 'Ferret builds stay quiet', kind: 'preference' }, repoId);

  expect(await idsFound('ferret builds', { kinds: ['problem', 'solution'] }, repoId)).toEqual(
    [problemId, solutionId].sort(),
  );
  expect(await idsFound('ferret builds', { kinds: ['preference'] }, repoId)).toEqual([preferenceId]);
  // The problem that leads to the solution is not shown itself, so nothing leads there.
  expect(await idsFound('ferret builds', { kinds: ['solution'] }, repoId)).toEqual([]);
});

test('an archived memory appears neither as a match nor behind a link, and appears again when restored', async () => {
  const repoId = 'visible/archive';
  const factId = await remember(service, { text: 'Badger listens on port 9000' }, repoId);
  const relatedId = await remember(
    service,
    { text: 'Firewall opened', links: { related_memory_ids: [factId] } },
    repoId,
  );

  await change(service, relatedId, { type: 'archive_state', archived: true }, repoId);
  expect(await idsFound('badger port', {}, repoId)).toEqual([factId]);
  expect(await idsFound('firewall', {}, repoId)).toEqual([]);

  await change(service, relatedId, { type: 'archive_state', archived: false }, repoId);
  expect(await idsFound('badger port', {}, repoId)).toEqual([factId, relatedId].sort());
  expect(await idsFound('firewall', { expand: { semantic_hops: 0 } }, repoId)).toEqual([relatedId]);
});

test('nothing is reached through an archived memory', async () => {
  const repoId = 'visible/bridge';
  const nearId = await remember(service, { text: 'Heron gateway' }, repoId);
  const bridgeId = await remember(service, { text: 'Middle', links: { related_memory_ids: [nearId] } }, repoId);
  const farId = await remember(service, { text: 'Far end', links: { related_memory_ids: [bridgeId] } }, repoId);
  expect(await idsFound('heron', {}, repoId)).toEqual([nearId, bridgeId, farId].sort());
  await change(service, bridgeId, { type: 'archive_state', archived: true }, repoId);
  expect(await idsFound('heron', {}, repoId)).toEqual([nearId]);
});

test('include_archived shows archived memories and says that they are', async () => {
  const repoId = 'visible/include-archived';
  const id = await remember(service, { text: 'Marmot migration plan' }, repoId);
  await change(service, id, { type: 'archive_state', archived: true, rationale: 'done' }, repoId);
  const pack = await recall(service, 'marmot migration', { include_archived: true }, repoId);
  expect(pack.direct.map((item) => [item.memory_id, item.state])).toEqual([[id, 'archived']]);
});

test('hundreds of better matches that may not be shown do not crowd out the one that may', async () => {
  const repoId = 'visible/crowd';
  const items = Array.from({ length: 100 }, (_, index) => ({
    op: 'write',
    memory: { text: `Shrike ${index}`, scope: 'repo', kind: 'problem', confidence: 1 },
  }));
  for (let round = 0; round < 3; round++) {
    for (const item of items) item.memory.text = `Shrike ${round} ${item.memory.text.split(' ').at(-1)}`;
    await service.http.post('/memory/batch').send({ repo_id: repoId, items }).expect(200);
  }
  const text = 'A preference that mentions the shrike late, after a good many other words about something else';
  const id = await remember(service, { text, kind: 'preference' }, repoId);
  expect(await idsFound('shrike', { kinds: ['preference'], limit: 1 }, repoId)).toEqual([id]);
});

test.each([
  ['is archived', 'fact', {}],
  ['is of a kind that was not asked for', 'preference', { kinds: ['fact'] }],
  ['was written after the moment asked about', 'fact', { as_of: 'before' }],
])('a memory that %s holds no say in what is found: a visible match stays found', async (hidden, kind, more) => {
  const repoId = `visible/silent-${hidden}`;
  const id = await remember(service, { text: 'Dipper port' }, repoId);
  const before = service.clock.iso();
  service.clock.advance(1000);
  expect(await idsFound('dipper zebra', {}, repoId)).toEqual([id]);
  const hiddenId = await remember(service, { text: 'Zebra', kind }, repoId);
  if (hidden === 'is archived') await change(service, hiddenId, { type: 'archive_state', archived: true }, repoId);
  const asked = 'as_of' in more ? { as_of: before } : more;
  expect(await idsFound('dipper zebra', asked, repoId)).toEqual([id]);
});

test('an empty answer is an answer: a repo nobody wrote to gives an empty pack and is not created', async () => {
  const pack = await recall(service, 'anything at all', {}, 'visible/nobody');
  expect(allItems(pack)).toEqual([]);
  expect(pack.meta.counts).toEqual({ direct: 0, explicit_related: 0, implicit_related: 0 });
  const { body } = await service.http.get('/repos?limit=100').expect(200);
  expect(body.repos.map((repo: { repo_id: string }) => repo.repo_id)).not.toContain('visible/nobody');
});

test.each([
  ['an unknown field', { verbose: true }, 'verbose', 400],
  ['another operation', { op: 'write' }, 'op', 400],
  ['no operation', { op: undefined }, 'op', 400],
  ['an empty repo id', { repo_id: '' }, 'repo_id', 400],
  ['a blank repo id', { repo_id: '  ' }, 'repo_id', 422],
  ['no repo id', { repo_id: undefined }, 'repo_id', 400],
  ['an unknown mode', { mode: 'curious' }, 'mode', 400],
  ['no mode', { mode: undefined }, 'mode', 400],
  ['text where a truth value belongs', { include_global: 'yes' }, 'include_global', 400],
  ['an unknown kind', { kinds: ['fact', 'rumour'] }, 'kinds.1', 400],
  ['a kind named twice', { kinds: ['fact', 'fact'] }, 'kinds', 400],
  ['a list of no kinds', { kinds: [] }, 'kinds', 422],
])('a read with %s is refused and the field is named', async (_wrong, more, field, status) => {
  const answer = await service.http.post('/memory/read').send(readBody('anything', more)).expect(status);
  expect(answer.headers['content-type']).toContain('application/problem+json');
  expect(answer.body.errors.map((error: { field: string }) => error.field)).toEqual([field]);
});
