import { afterAll, beforeAll, expect, test } from 'vitest';
import { change, remember, writeBody } from '../../support/requests.js';
import { countRows, linksOf, refused, tables } from '../../support/rows.js';
import { type Service, startService } from '../../support/service.js';

let service: Service;
beforeAll(async () => {
  service = await startService();
});
afterAll(() => service.stop());

const look = (memoryId: string, repoId: string) => service.http.get(`/memory/${memoryId}`).query({ repo_id: repoId });

test('a global memory is seen from every repo, a memory of a repo from no other', async () => {
  const everywhere = await remember(service, { scope: 'global', text: 'Commits are signed' }, 'acme/shop');
  const here = await remember(service, { scope: 'repo', text: 'Ports start at 6380' }, 'acme/shop');
  for (const repoId of ['acme/shop', 'acme/other', 'never/written']) {
    const { body } = await look(everywhere, repoId).expect(200);
    expect(body).toMatchObject({ text: 'Commits are signed', scope: 'global' });
  }
  await look(here, 'acme/shop').expect(200);
  await look(here, 'acme/other').expect(404);
});

test('a global memory and its evidence lie in the global space and not in the repo that wrote it', async () => {
  const before = countRows(tables(service, null));
  await remember(service, { scope: 'global', text: 'Stored once for all' }, 'acme/writer');
  const after = countRows(tables(service, null));
  expect(after.memories).toBe((before.memories ?? 0) + 1);
  expect(after.node_evidence).toBe((before.node_evidence ?? 0) + 1);
  expect(tables(service, 'acme/writer')).toEqual({});
});

test("a repo's memory may refer to global ones; the link is the repo's own and shows nowhere else", async () => {
  const problem = await remember(service, { scope: 'global', kind: 'problem', text: 'Clocks drift' }, 'acme/one');
  const habit = await remember(service, { scope: 'global', kind: 'preference', text: 'Store UTC' }, 'acme/one');
  const links = { problem_id: problem, related_memory_ids: [habit] };
  const solution = await remember(service, { kind: 'solution', text: 'Ask a time server', links }, 'acme/two');
  expect(linksOf(service, 'acme/two', 'attempts')[0]?.members.map(({ id }) => id)).toEqual([solution, problem]);
  expect(linksOf(service, 'acme/two', 'related_to')[0]?.members.map(({ id }) => id)).toEqual([solution, habit]);
  expect((await look(problem, 'acme/two').expect(200)).body.links).toHaveLength(1);
  expect((await look(problem, 'acme/one').expect(200)).body.links).toEqual([]);
});

test('global memories may refer to each other, also when different repos wrote them', async () => {
  const problem = await remember(service, { scope: 'global', kind: 'problem', text: 'Names collide' }, 'acme/one');
  const links = { problem_id: problem };
  const solution = await remember(
    service,
    { scope: 'global', kind: 'solution', text: 'Prefix the names', links },
    'acme/two',
  );
  const { body } = await look(problem, 'acme/three').expect(200);
  expect(body.links).toMatchObject([{ label: 'attempts', members: [{ memory_id: solution }, { memory_id: problem }] }]);
});

test('a global memory may refer only to global ones', async () => {
  const problem = await remember(service, { kind: 'problem', text: 'A problem of this repo' });
  const fact = await remember(service, { text: 'A fact of this repo' });
  const links = { problem_id: problem, related_memory_ids: [fact] };
  const body = writeBody({ scope: 'global', kind: 'solution', text: 'For everybody', links });
  expect(await refused(service, '/memory/write', body)).toMatchObject({
    status: 422,
    code: 'integrity_error',
    errors: [
      ['memory.links.problem_id', 'integrity_error'],
      ['memory.links.related_memory_ids.0', 'integrity_error'],
    ],
  });
});

test('the same global text from another repo is the same memory, and its evidence is added', async () => {
  const text = 'Dates are written year first';
  const id = await remember(service, { scope: 'global', text, evidence_refs: ['commit:1'] }, 'acme/one');
  const { body } = await service.http
    .post('/memory/write')
    .send(writeBody({ scope: 'global', text, evidence_refs: ['commit:2'] }, 'acme/two'))
    .expect(200);
  expect(body).toMatchObject({ memory_id: id, duplicate_of: id });
  expect((await look(id, 'acme/three').expect(200)).body.evidence_refs).toEqual(['commit:1', 'commit:2']);
});

test('any repo may archive a global memory, and all of them see it archived', async () => {
  const id = await remember(service, { scope: 'global', text: 'We deploy on Fridays' }, 'acme/one');
  await change(service, id, { type: 'archive_state', archived: true }, 'acme/two');
  for (const repoId of ['acme/one', 'acme/two', 'acme/three']) {
    expect((await look(id, repoId).expect(200)).body.state).toBe('archived');
  }
});
