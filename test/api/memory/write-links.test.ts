import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { remember, writeBody } from '../../support/requests.js';
import { linksOf, tables } from '../../support/rows.js';
import { type Service, startService } from '../../support/service.js';

let service: Service;
beforeAll(async () => {
  service = await startService();
});
afterAll(() => service.stop());

describe('problem_id', () => {
  test.each(['solution', 'failed_tactic'])(
    'of a %s becomes one attempt: subject it, object the problem',
    async (kind) => {
      const repoId = `attempts/${kind}`;
      const problem = await remember(service, { kind: 'problem', text: 'The build is slow' }, repoId);
      const attempt = await remember(
        service,
        { kind, text: 'Cache the dependencies', links: { problem_id: problem } },
        repoId,
      );
      expect(linksOf(service, repoId, 'attempts')).toEqual([
        {
          weight: 1,
          members: [
            { id: attempt, role: 'subject' },
            { id: problem, role: 'object' },
          ],
        },
      ]);
    },
  );

  test.each(['problem', 'fact', 'preference', 'change'])(
    'is no part of a %s, which makes no link at all',
    async (kind) => {
      const repoId = `no-attempts/${kind}`;
      await remember(service, { kind, text: 'Nothing but a sentence' }, repoId);
      expect(tables(service, repoId).hyperedges).toEqual([]);
      expect(tables(service, repoId).membership).toEqual([]);
    },
  );

  test('gathers every attempt on a problem', async () => {
    const repoId = 'attempts/many';
    const problem = await remember(service, { kind: 'problem', text: 'The build is slow' }, repoId);
    const links = { problem_id: problem };
    const attempts = [
      await remember(service, { kind: 'failed_tactic', text: 'More memory', links }, repoId),
      await remember(service, { kind: 'failed_tactic', text: 'Fewer tests', links }, repoId),
      await remember(service, { kind: 'solution', text: 'A build cache', links }, repoId),
    ];
    const { body } = await service.http.get(`/memory/${problem}`).query({ repo_id: repoId }).expect(200);
    const subjects = body.links.map((link: { label: string; members: { memory_id: string }[] }) => [
      link.label,
      link.members[0]?.memory_id,
    ]);
    expect(subjects).toEqual(attempts.reverse().map((id) => ['attempts', id]));
  });
});

describe('related_memory_ids', () => {
  test('become one symmetric link each, of half strength', async () => {
    const repoId = 'related/two';
    const first = await remember(service, { text: 'First' }, repoId);
    const second = await remember(service, { kind: 'preference', text: 'Second' }, repoId);
    const third = await remember(service, { text: 'Third', links: { related_memory_ids: [first, second] } }, repoId);
    const link = (other: string) => ({
      weight: 0.5,
      members: [
        { id: third, role: 'participant' },
        { id: other, role: 'participant' },
      ],
    });
    expect(linksOf(service, repoId, 'related_to')).toEqual([link(first), link(second)]);
  });

  test('may be empty, which links nothing', async () => {
    const { body } = await service.http
      .post('/memory/write')
      .send(writeBody({ text: 'Alone', links: { related_memory_ids: [] } }, 'related/none'))
      .expect(201);
    expect(body.memory.links).toEqual({ problem_id: null, related_memory_ids: [] });
    expect(tables(service, 'related/none').hyperedges).toEqual([]);
  });

  test('may name the problem too: it is then attempted and related', async () => {
    const repoId = 'related/problem';
    const problem = await remember(service, { kind: 'problem', text: 'Both ways' }, repoId);
    const links = { problem_id: problem, related_memory_ids: [problem] };
    const { body } = await service.http
      .post('/memory/write')
      .send(writeBody({ kind: 'solution', text: 'Do both', links }, repoId))
      .expect(201);
    expect(body.memory.links).toEqual(links);
    expect(linksOf(service, repoId, 'attempts')).toHaveLength(1);
    expect(linksOf(service, repoId, 'related_to')).toHaveLength(1);
  });

  test('may name an archived memory: what was true once is still worth pointing at', async () => {
    const repoId = 'related/archived';
    const old = await remember(service, { text: 'Out of use' }, repoId);
    const update = { type: 'archive_state', archived: true };
    await service.http
      .post('/memory/update')
      .send({ op: 'update', repo_id: repoId, memory_id: old, mode: 'commit', update })
      .expect(200);
    await remember(service, { text: 'In use', links: { related_memory_ids: [old] } }, repoId);
    expect(linksOf(service, repoId, 'related_to')).toHaveLength(1);
  });
});

test('a hundred related memories are the most that one write may name', async () => {
  const repoId = 'related/hundred';
  const ids: string[] = [];
  for (let count = 0; count < 100; count++) ids.push(await remember(service, { text: `Neighbour ${count}` }, repoId));
  await remember(service, { text: 'The hub', links: { related_memory_ids: ids } }, repoId);
  expect(linksOf(service, repoId, 'related_to')).toHaveLength(100);
});
