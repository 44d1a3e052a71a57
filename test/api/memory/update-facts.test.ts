import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { change, remember, updateBody } from '../../support/requests.js';
import { linksOf, refused, select, tables } from '../../support/rows.js';
import { type Service, startService } from '../../support/service.js';
import { sendTogether, times } from '../../support/together.js';

let service: Service;
beforeAll(async () => {
  service = await startService();
});
afterAll(() => service.stop());

/** Facts and changes in a repo of their own, by the names that the test gives them. */
async function chainIn(
  repoId: string,
  facts: Iterable<string>,
  changes: Iterable<string>,
): Promise<Record<string, string>> {
  const ids: Record<string, string> = {};
  for (const name of facts) ids[name] = await remember(service, { text: `Fact ${name}` }, repoId);
  for (const name of changes) ids[name] = await remember(service, { kind: 'change', text: `Change ${name}` }, repoId);
  return ids;
}

const replace = (oldId: string | undefined, newId: string | undefined, more: object = {}) => ({
  type: 'fact_update_link',
  old_fact_id: oldId,
  new_fact_id: newId,
  ...more,
});
const request = (repoId: string, ids: Record<string, string>, by: string, from: string, to: string) =>
  updateBody(ids[by] as string, replace(ids[from], ids[to]), 'commit', repoId);
const send = (body: object) => service.http.post('/memory/update').send(body);

test('a fact link is one edge: the change is its cause, the old fact its object, the new one its effect', async () => {
  const repoId = 'facts/one';
  const ids = await chainIn(repoId, 'AB', '1');
  await change(
    service,
    ids[1] as string,
    replace(ids.A, ids.B, { rationale: 'moved', evidence_refs: ['commit:9'] }),
    repoId,
  );
  expect(linksOf(service, repoId, 'fact_update')).toEqual([
    {
      weight: 1,
      members: [
        { id: ids[1], role: 'cause' },
        { id: ids.A, role: 'object' },
        { id: ids.B, role: 'effect' },
      ],
    },
  ]);
  expect(tables(service, repoId).hyperedges).toMatchObject([
    { type: 'causation', rationale: 'moved', origin: 'manual' },
  ]);
  const cited = 'SELECT r.ref FROM edge_evidence x JOIN evidence_refs r ON r.seq = x.evidence_seq';
  expect(select(service, repoId, cited)).toEqual([{ ref: 'commit:9' }]);
  const { body } = await service.http.get(`/memory/${ids.A}`).query({ repo_id: repoId }).expect(200);
  expect(body).toMatchObject({ state: 'superseded', superseded_by: ids.B });
});

describe('the same fact link twice', () => {
  test('is a conflict that writes nothing, in either mode', async () => {
    const repoId = 'facts/twice';
    const ids = await chainIn(repoId, 'AB', '1');
    const body = request(repoId, ids, '1', 'A', 'B');
    await send(body).expect(200);
    for (const mode of ['commit', 'dry_run']) {
      const again = { ...body, update: { ...body.update, rationale: 'once more', evidence_refs: ['commit:1'] }, mode };
      expect(await refused(service, '/memory/update', again, repoId)).toMatchObject({
        status: 409,
        code: 'conflict',
        errors: [['update', 'conflict']],
      });
    }
  });

  test('at once is stored once', async () => {
    const repoId = 'facts/at-once';
    const ids = await chainIn(repoId, 'AB', '1');
    const answers = await sendTogether(
      service,
      times(15, () => ({ path: '/memory/update', body: request(repoId, ids, '1', 'A', 'B') })),
    );
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
    expect(answers.filter(({ status }) => status === 409)).toHaveLength(14);
    expect(linksOf(service, repoId, 'fact_update')).toHaveLength(1);
  });

  test('is none when another change explains it, or when the change replaces another fact', async () => {
    const repoId = 'facts/alike';
    const ids = await chainIn(repoId, 'ABC', '12');
    await send(request(repoId, ids, '1', 'A', 'B')).expect(200);
    await send(request(repoId, ids, '2', 'A', 'B')).expect(200);
    await send(request(repoId, ids, '1', 'C', 'B')).expect(200);
    expect(linksOf(service, repoId, 'fact_update')).toHaveLength(3);
  });
});

describe('a chain of facts never becomes a circle', () => {
  const circle = { status: 422, code: 'integrity_error', errors: [['update.new_fact_id', 'integrity_error']] };

  test('of two', async () => {
    const repoId = 'facts/circle-2';
    const ids = await chainIn(repoId, 'AB', '12');
    await send(request(repoId, ids, '1', 'A', 'B')).expect(200);
    expect(await refused(service, '/memory/update', request(repoId, ids, '2', 'B', 'A'), repoId)).toMatchObject(circle);
    expect(await refused(service, '/memory/update', request(repoId, ids, '1', 'B', 'A'), repoId)).toMatchObject(circle);
  });

  test('of five, whichever link would close it', async () => {
    const repoId = 'facts/circle-5';
    const ids = await chainIn(repoId, 'ABCDE', '12345');
    for (const [by, from, to] of ['1AB', '2BC', '3CD', '4DE']) {
      await send(request(repoId, ids, by as string, from as string, to as string)).expect(200);
    }
    for (const [from, to] of ['EA', 'EB', 'DA', 'CB']) {
      const body = request(repoId, ids, '5', from as string, to as string);
      expect(await refused(service, '/memory/update', body, repoId)).toMatchObject(circle);
    }
    await send(request(repoId, ids, '5', 'A', 'E')).expect(200);
  });

  test('when both halves of it are sent at once', async () => {
    const repoId = 'facts/circle-at-once';
    const ids = await chainIn(repoId, 'AB', '12');
    const answers = await sendTogether(service, [
      { path: '/memory/update', body: request(repoId, ids, '1', 'A', 'B') },
      { path: '/memory/update', body: request(repoId, ids, '2', 'B', 'A') },
    ]);
    expect(linksOf(service, repoId, 'fact_update')).toHaveLength(1);
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 422]);
  });
});

test('a repo may replace a global fact for itself; everybody else still sees it stand', async () => {
  const old = await remember(service, { scope: 'global', text: 'Releases are monthly' }, 'facts/theirs');
  const ids = await chainIn('facts/ours', 'B', '1');
  await change(service, ids[1] as string, replace(old, ids.B), 'facts/ours');
  const stateFrom = async (repoId: string) =>
    (await service.http.get(`/memory/${old}`).query({ repo_id: repoId }).expect(200)).body.state;
  expect([await stateFrom('facts/ours'), await stateFrom('facts/theirs')]).toEqual(['superseded', 'current']);
});

test('a link between global facts by a global change is everybody’s', async () => {
  const fields = { scope: 'global' };
  const old = await remember(service, { ...fields, text: 'Builds run nightly' }, 'facts/one');
  const newer = await remember(service, { ...fields, text: 'Builds run hourly' }, 'facts/two');
  const cause = await remember(service, { ...fields, kind: 'change', text: 'A faster builder' }, 'facts/three');
  await change(service, cause, replace(old, newer), 'facts/four');
  const { body } = await service.http.get(`/memory/${old}`).query({ repo_id: 'facts/five' }).expect(200);
  expect(body).toMatchObject({ state: 'superseded', superseded_by: newer });
});
