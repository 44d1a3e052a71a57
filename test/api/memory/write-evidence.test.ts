import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { remember, writeBody } from '../../support/requests.js';
import { refused, select, tables } from '../../support/rows.js';
import { type Service, startService } from '../../support/service.js';
import { sendTogether, times } from '../../support/together.js';

/** Which node cites which reference, one row per citation. */
const citations = (service: Service, repoId: string | null) =>
  select(
    service,
    repoId,
    `SELECT n.id, r.ref FROM node_evidence x JOIN nodes n ON n.seq = x.node_seq
     JOIN evidence_refs r ON r.seq = x.evidence_seq ORDER BY n.seq, r.seq`,
  );

describe('evidence', () => {
  let service: Service;
  beforeAll(async () => {
    service = await startService();
  });
  afterAll(() => service.stop());

  test('is stored and linked exactly once per reference', async () => {
    const refs = ['commit:1', 'file:src/app.ts#L10', 'session://1'];
    const id = await remember(service, { evidence_refs: refs }, 'evidence/once');
    expect(citations(service, 'evidence/once')).toEqual(refs.map((ref) => ({ id, ref })));
  });

  test('that several memories share is one row with one link each', async () => {
    const repoId = 'evidence/shared';
    const first = await remember(service, { text: 'First', evidence_refs: ['commit:1', 'commit:2'] }, repoId);
    const second = await remember(service, { text: 'Second', evidence_refs: ['commit:2'] }, repoId);
    expect(tables(service, repoId).evidence_refs).toHaveLength(2);
    expect(citations(service, repoId)).toEqual([
      { id: first, ref: 'commit:1' },
      { id: first, ref: 'commit:2' },
      { id: second, ref: 'commit:2' },
    ]);
  });

  test('that parallel writes share is still one row', async () => {
    const repoId = 'evidence/parallel';
    const answers = await sendTogether(
      service,
      times(25, (index) => ({
        path: '/memory/write',
        body: writeBody({ text: `Parallel ${index}`, evidence_refs: ['commit:same', `commit:${index}`] }, repoId),
      })),
    );
    const ids = answers.map(({ body }) => body.memory_id);
    const rows = citations(service, repoId);
    expect(
      rows
        .filter(({ ref }) => ref === 'commit:same')
        .map(({ id }) => id)
        .sort(),
    ).toEqual(ids.sort());
    expect(rows).toHaveLength(50);
    expect(tables(service, repoId).evidence_refs).toHaveLength(26);
  });

  test('of two repos stays apart, even where the reference is the same', async () => {
    await remember(service, { evidence_refs: ['commit:1'] }, 'evidence/left');
    await remember(service, { evidence_refs: ['commit:1'] }, 'evidence/right');
    for (const repoId of ['evidence/left', 'evidence/right']) {
      expect(tables(service, repoId).evidence_refs).toMatchObject([{ repo_id: repoId, ref: 'commit:1' }]);
    }
  });

  test('is kept without the blanks around it, so that it is found as the same', async () => {
    const { body } = await service.http
      .post('/memory/write')
      .send(writeBody({ evidence_refs: ['  commit:1 ', 'a note with blanks inside'] }, 'evidence/blanks'))
      .expect(201);
    expect(body.memory.evidence_refs).toEqual(['commit:1', 'a note with blanks inside']);
    await remember(service, { text: 'Another', evidence_refs: ['commit:1'] }, 'evidence/blanks');
    expect(tables(service, 'evidence/blanks').evidence_refs).toHaveLength(2);
  });

  test.each(['problem', 'preference'])('is optional for a %s', async (kind) => {
    const { memory, ...request } = writeBody({ kind, text: `A ${kind} that nobody can prove` }, 'evidence/optional');
    const { evidence_refs: _, ...unproven } = memory;
    const answer = await service.http
      .post('/memory/write')
      .send({ ...request, memory: unproven })
      .expect(201);
    expect(answer.body.memory.evidence_refs).toEqual([]);
    expect(answer.body.side_effects.map(({ effect }: { effect: string }) => effect)).toEqual(['memory_inserted']);
  });
});

describe('the setting EVIDENCE_REQUIRED_KINDS', () => {
  const KINDS = ['problem', 'solution', 'failed_tactic', 'fact', 'preference', 'change'];

  test.each([
    ['solution,failed_tactic,fact,change', ['solution', 'failed_tactic', 'fact', 'change']],
    ['problem, solution, failed_tactic, fact, preference, change', KINDS],
    ['preference', ['preference']],
    ['none', []],
  ])('%j makes evidence a must for exactly those kinds', async (setting, required) => {
    const service = await startService({ EVIDENCE_REQUIRED_KINDS: setting });
    try {
      const problem = await remember(service, { kind: 'problem', text: 'A proven problem' });
      for (const kind of KINDS) {
        const links = kind === 'solution' || kind === 'failed_tactic' ? { problem_id: problem } : {};
        const body = writeBody({ kind, text: `Unproven ${kind}`, links, evidence_refs: [] });
        if (required.includes(kind)) {
          const { status, errors } = await refused(service, '/memory/write', body);
          expect([status, errors]).toEqual([422, [['memory.evidence_refs', 'semantic_error']]]);
        } else {
          await service.http.post('/memory/write').send(body).expect(201);
        }
      }
    } finally {
      await service.stop();
    }
  });
});
