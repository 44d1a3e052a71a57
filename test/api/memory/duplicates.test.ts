import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { change, type MemoryFields, memoryBody, remember, writeBody } from '../../support/requests.js';
import { changedTables, linksOf, select, stored, tables } from '../../support/rows.js';
import { type Service, startService } from '../../support/service.js';
import { sendTogether, times } from '../../support/together.js';

let service: Service;
beforeAll(async () => {
  service = await startService();
});
afterAll(() => service.stop());

const write = (fields: MemoryFields, repoId?: string, more: object = {}) =>
  service.http.post('/memory/write').send({ ...writeBody(fields, repoId), ...more });

const writeTogether = (count: number, build: (index: number) => object) =>
  sendTogether(
    service,
    times(count, (index) => ({ path: '/memory/write', body: build(index) })),
  );

describe('an exact duplicate', () => {
  test('is answered with 200 and the memory that is there, and stores nothing', async () => {
    const first = await write({ text: 'Said twice' }).expect(201);
    service.clock.advance(1_000);
    const before = stored(service);
    const second = await write({ text: 'Said twice', confidence: 0.1, rationale: 'another reason' }).expect(200);
    expect(second.body).toEqual({ ...first.body, duplicate_of: first.body.memory_id, side_effects: [] });
    expect(second.headers.location).toBe(first.headers.location);
    expect(stored(service)).toEqual(before);
  });

  test.each([
    ['letter case', 'redis LISTENS on port 6380'],
    ['white space', '  Redis\tlistens\n on  port 6380 '],
    ['Unicode composition', 'Redis listens on the cafe\u0301 port'],
  ])('is found whatever its %s', async (name, text) => {
    const repoId = `duplicates/${name}`;
    const known = text.includes('caf') ? 'Redis listens on the café port' : 'Redis listens on port 6380';
    const first = await remember(service, { text: known }, repoId);
    const { body } = await write({ text }, repoId).expect(200);
    expect(body.duplicate_of).toBe(first);
    expect(body.memory.text).toBe(known);
  });

  test('is found for any text, however it is cased and spaced', async () => {
    const word = fc.string({ unit: fc.constantFrom(...'abcxyzäéß0189_./-'), minLength: 1, maxLength: 8 });
    const gap = fc.constantFrom(' ', '  ', '\t', '\n', ' \r\n ');
    const variant = fc.array(fc.tuple(word, fc.boolean(), gap), { minLength: 1, maxLength: 6 });
    let repos = 0;
    await fc.assert(
      fc.asyncProperty(variant, async (parts) => {
        const repoId = `duplicates/any-${++repos}`;
        const plain = parts.map(([text]) => text).join(' ');
        // An upper-case ß is two letters that do not come back as one.
        const raise = (text: string) => (text.includes('ß') ? text : text.toUpperCase());
        const dressed = parts.map(([text, raised, space]) => `${space}${raised ? raise(text) : text}${space}`).join('');
        const first = await write({ text: plain }, repoId).expect(201);
        const second = await write({ text: dressed }, repoId).expect(200);
        expect(second.body.duplicate_of).toBe(first.body.memory_id);
      }),
      { numRuns: 15 },
    );
  });

  test('brings its new evidence along, and only that', async () => {
    const repoId = 'duplicates/evidence';
    const id = await remember(service, { text: 'Seen again', evidence_refs: ['commit:1', 'commit:2'] }, repoId);
    const before = tables(service, repoId);
    const { body } = await write({ text: 'Seen again', evidence_refs: ['commit:2', 'commit:3'] }, repoId).expect(200);
    expect(body.memory.evidence_refs).toEqual(['commit:1', 'commit:2', 'commit:3']);
    expect(body.side_effects).toEqual([{ effect: 'evidence_attached', to: 'node', id, evidence_refs: ['commit:3'] }]);
    expect(changedTables(before, tables(service, repoId))).toEqual([
      'evidence_refs',
      'evolution_log',
      'evolution_nodes',
      'node_evidence',
    ]);
    const { body: detail } = await service.http.get(`/memory/${id}`).query({ repo_id: repoId }).expect(200);
    expect(detail.evidence_refs).toEqual(['commit:1', 'commit:2', 'commit:3']);
  });

  test('brings its new links along, and never makes a link twice or to itself', async () => {
    const repoId = 'duplicates/links';
    const known = await remember(service, { text: 'Known neighbour' }, repoId);
    const fresh = await remember(service, { text: 'New neighbour' }, repoId);
    const id = await remember(service, { text: 'Hub', links: { related_memory_ids: [known] } }, repoId);
    const links = { related_memory_ids: [known, fresh, id] };
    const { body } = await write({ text: 'Hub', links }, repoId).expect(200);
    expect([...body.memory.links.related_memory_ids].sort()).toEqual([known, fresh].sort());
    expect(body.side_effects).toHaveLength(1);
    expect(linksOf(service, repoId, 'related_to')).toHaveLength(2);
  });

  test('of a solution may be tried on another problem, and is then an attempt on both', async () => {
    const repoId = 'duplicates/attempts';
    const tryOn = (problemId: string) => ({ kind: 'solution', text: 'Restart', links: { problem_id: problemId } });
    const first = await remember(service, { kind: 'problem', text: 'It hangs' }, repoId);
    const second = await remember(service, { kind: 'problem', text: 'It leaks' }, repoId);
    const solution = await remember(service, tryOn(first), repoId);
    const { body } = await write(tryOn(second), repoId).expect(200);
    expect(body.memory).toMatchObject({ memory_id: solution, links: { problem_id: second } });
    const attempts = linksOf(service, repoId, 'attempts').map(({ members }) => members.map(({ id }) => id));
    expect(attempts).toEqual([
      [solution, first],
      [solution, second],
    ]);
  });

  test('of a problem names no attempt as its problem', async () => {
    const repoId = 'duplicates/problem';
    const problem = await remember(service, { kind: 'problem', text: 'It hangs' }, repoId);
    await remember(service, { kind: 'solution', text: 'Restart', links: { problem_id: problem } }, repoId);
    const { body } = await write({ kind: 'problem', text: 'It hangs' }, repoId).expect(200);
    expect(body.memory).toMatchObject({ memory_id: problem, links: { problem_id: null } });
  });

  test('leaves the reason for what it adds with what it adds', async () => {
    const repoId = 'duplicates/rationale';
    const other = await remember(service, { text: 'Neighbour' }, repoId);
    await remember(service, { text: 'Seen again' }, repoId);
    const again = { text: 'Seen again', rationale: 'it came up', evidence_refs: ['commit:9'] };
    await write({ ...again, links: { related_memory_ids: [other] } }, repoId).expect(200);
    expect(tables(service, repoId).hyperedges).toMatchObject([{ rationale: 'it came up' }]);
    const logged = select(service, repoId, 'SELECT operation, reasoning FROM evolution_log ORDER BY seq DESC LIMIT 2');
    expect(logged).toEqual([
      { operation: 'link:related_to', reasoning: 'it came up' },
      { operation: 'attach_evidence', reasoning: 'it came up\ncommit:9' },
    ]);
  });

  test('is answered with the first 200 of its evidence and links, and says that there are more', async () => {
    const repoId = 'duplicates/many';
    const refs = (from: number) => times(100, (index) => `commit:${from + index}`);
    const id = await remember(service, { text: 'Seen often', evidence_refs: refs(0) }, repoId);
    for (const from of [100, 200]) await write({ text: 'Seen often', evidence_refs: refs(from) }, repoId).expect(200);
    const neighbours = times(201, (index) => ({
      op: 'write',
      memory: memoryBody({ text: `Neighbour ${index}`, links: { related_memory_ids: [id] } }),
    }));
    for (const items of [neighbours.slice(0, 100), neighbours.slice(100, 200), neighbours.slice(200)])
      await service.http.post('/memory/batch').send({ repo_id: repoId, items }).expect(200);

    const { body } = await write({ text: 'Seen often' }, repoId).expect(200);
    expect(body.memory).toMatchObject({ evidence_complete: false, links_complete: false });
    expect(body.memory.evidence_refs).toEqual([...refs(0), ...refs(100)]);
    expect(body.memory.links.related_memory_ids).toHaveLength(200);
    const { body: detail } = await service.http.get(`/memory/${id}`).query({ repo_id: repoId }).expect(200);
    expect(detail).toMatchObject({ evidence_complete: false, links_complete: false });
    expect(detail.evidence_refs).toEqual([...refs(0), ...refs(100)]);
  });

  test('passes the gates like any other write', async () => {
    await remember(service, { text: 'Checked all the same' });
    await write({ text: 'Checked all the same', evidence_refs: [] }).expect(422);
    await write({ text: 'Checked all the same', links: { related_memory_ids: ['nobody'] } }).expect(404);
  });

  test('is stored when the caller says so, and the eldest answers for the text', async () => {
    const repoId = 'duplicates/allowed';
    const first = await remember(service, { text: 'Twice on purpose' }, repoId);
    const { body } = await write({ text: 'Twice on purpose' }, repoId, { allow_duplicate: true }).expect(201);
    expect(body.duplicate_of).toBeNull();
    expect(body.memory_id).not.toBe(first);
    expect(tables(service, repoId).memories).toHaveLength(2);
    const third = await write({ text: 'Twice on purpose' }, repoId, { allow_duplicate: false }).expect(200);
    expect(third.body.duplicate_of).toBe(first);
  });
});

describe('the same text is no duplicate', () => {
  test.each<[string, MemoryFields, string]>([
    ['in another kind', { kind: 'preference' }, 'acme/shop'],
    ['in global scope', { scope: 'global' }, 'acme/shop'],
    ['in another repo', {}, 'acme/other'],
  ])('%s', async (name, fields, repoId) => {
    const text = `Not the same ${name}`;
    const first = await remember(service, { text });
    const { body } = await write({ text, ...fields }, repoId).expect(201);
    expect(body.duplicate_of).toBeNull();
    expect(body.memory_id).not.toBe(first);
  });

  test('once the other is archived, and is again when it is restored', async () => {
    const repoId = 'duplicates/archived';
    const first = await remember(service, { text: 'Put away' }, repoId);
    await change(service, first, { type: 'archive_state', archived: true }, repoId);
    const second = await remember(service, { text: 'Put away' }, repoId);
    expect(second).not.toBe(first);
    await change(service, second, { type: 'archive_state', archived: true }, repoId);
    await change(service, first, { type: 'archive_state', archived: false }, repoId);
    const { body } = await write({ text: 'Put away' }, repoId).expect(200);
    expect(body.duplicate_of).toBe(first);
  });

  test('once the other is a fact that was replaced: what was true may come true again', async () => {
    const repoId = 'duplicates/superseded';
    const old = await remember(service, { text: 'The port is 1' }, repoId);
    const newer = await remember(service, { text: 'The port is 2' }, repoId);
    const moved = await remember(service, { kind: 'change', text: 'The port moved' }, repoId);
    const link = { type: 'fact_update_link', old_fact_id: old, new_fact_id: newer };
    await change(service, moved, link, repoId);
    expect((await write({ text: 'The port is 1' }, repoId).expect(201)).body.memory_id).not.toBe(old);
    expect((await write({ text: 'The port is 2' }, repoId).expect(200)).body.duplicate_of).toBe(newer);
  });

  test('when a word or a mark of punctuation differs', async () => {
    await remember(service, { text: 'Port 6380, always' });
    await write({ text: 'Port 6380 always' }).expect(201);
    await write({ text: 'Port 6381, always' }).expect(201);
  });
});

describe('identical writes at once', () => {
  test('store exactly one memory, and all of them name it', async () => {
    const repoId = 'duplicates/parallel';
    const answers = await writeTogether(25, (index) =>
      writeBody({ text: 'All at once', evidence_refs: [`session:${index}`] }, repoId),
    );
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(1);
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(24);
    const [id] = tables(service, repoId).nodes ?? [];
    expect(new Set(answers.map(({ body }) => body.memory_id))).toEqual(new Set([id?.id]));
    expect(tables(service, repoId).memories).toHaveLength(1);
    expect(tables(service, repoId).node_evidence).toHaveLength(25);
  });

  test('make each of their links once', async () => {
    const repoId = 'duplicates/parallel-links';
    const problem = await remember(service, { kind: 'problem', text: 'Crowded' }, repoId);
    const links = { problem_id: problem, related_memory_ids: [problem] };
    const answers = await writeTogether(25, () => writeBody({ kind: 'solution', text: 'Queue up', links }, repoId));
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(1);
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(24);
    expect(tables(service, repoId).hyperedges).toHaveLength(2);
    expect(tables(service, repoId).membership).toHaveLength(4);
  });

  test('store all of them when the callers say so', async () => {
    const repoId = 'duplicates/parallel-allowed';
    const answers = await writeTogether(10, () => ({
      ...writeBody({ text: 'Many on purpose' }, repoId),
      allow_duplicate: true,
    }));
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 201));
    expect(tables(service, repoId).memories).toHaveLength(10);
  });
});
