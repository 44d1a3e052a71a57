import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type MemoryFields, memoryBody, remember } from '../../support/requests.js';
import { linksOf, refused } from '../../support/rows.js';
import { type Service, startService } from '../../support/service.js';

let service: Service;
beforeAll(async () => {
  service = await startService();
});
afterAll(() => service.stop());

const write = (fields: MemoryFields, more: object = {}) => ({ op: 'write', memory: memoryBody(fields), ...more });
const update = (memoryId: string, change: object) => ({ op: 'update', memory_id: memoryId, update: change });
const replace = (oldId: string, newId: string) => ({
  type: 'fact_update_link',
  old_fact_id: oldId,
  new_fact_id: newId,
});
const send = (repoId: string, items: object[]) => service.http.post('/memory/batch').send({ repo_id: repoId, items });
const refuse = (repoId: string, items: object[]) =>
  refused(service, '/memory/batch', { repo_id: repoId, items }, repoId);

describe('an item', () => {
  test('may refer by name to earlier items wherever an id is expected', async () => {
    const repoId = 'refs/everywhere';
    const { body } = await send(repoId, [
      write({ kind: 'problem', text: 'Slow' }, { ref: 'slow' }),
      write({ text: 'Old' }, { ref: 'old' }),
      write({ text: 'New', links: { related_memory_ids: ['@old', '@slow'] } }, { ref: 'new-1_X' }),
      write({ kind: 'change', text: 'Moved' }, { ref: 'moved' }),
      write({ kind: 'failed_tactic', text: 'Wait', links: { problem_id: '@slow' } }),
      update('@moved', replace('@old', '@new-1_X')),
      update('@old', { type: 'utility_vote', problem_id: '@slow', vote: 0 }),
    ]).expect(200);
    const [slow, old, fresh, moved, tactic] = body.results.map((result: { memory_id: string }) => result.memory_id);
    const members = (label: string) => linksOf(service, repoId, label).map((link) => link.members.map(({ id }) => id));
    expect(members('attempts')).toEqual([[tactic, slow]]);
    expect(members('related_to')).toEqual([
      [fresh, old],
      [fresh, slow],
    ]);
    expect(members('fact_update')).toEqual([[moved, old, fresh]]);
    expect(body.results[2].memory.links.related_memory_ids).toEqual([old, slow]);
    expect(body.results[4].memory.links.problem_id).toBe(slow);
  });

  test.each([
    ['a later item', '@later'],
    ['itself', '@self'],
    ['a name that nobody has', '@nobody'],
    ['no name', '@'],
    ['the name without its mark', 'earlier'],
  ])('may not refer to %s', async (_name, id) => {
    const refusal = await refuse('refs/order', [
      write({ text: 'Earlier' }, { ref: 'earlier' }),
      write({ text: 'This one', links: { related_memory_ids: [id] } }, { ref: 'self' }),
      write({ text: 'Later' }, { ref: 'later' }),
    ]);
    expect(refusal).toMatchObject({
      status: 404,
      errors: [['items.1.memory.links.related_memory_ids.0', 'not_found']],
    });
  });

  test('may refer to a memory that was there already by the name of the item that repeats it', async () => {
    const repoId = 'refs/duplicate';
    const known = await remember(service, { kind: 'problem', text: 'Known' }, repoId);
    await send(repoId, [
      write({ kind: 'problem', text: 'Known' }, { ref: 'again' }),
      write({ kind: 'solution', text: 'Do it', links: { problem_id: '@again' } }),
    ]).expect(200);
    expect(linksOf(service, repoId, 'attempts')[0]?.members[1]).toEqual({ id: known, role: 'object' });
  });

  test.each(['', 'two words', '@slow', 'ä', 'x'.repeat(65)])('may not be called %j', async (ref) => {
    const refusal = await refuse('refs/names', [write({}, { ref })]);
    expect(refusal.status).toBe(400);
    expect(new Set(refusal.errors.map(([field]) => field))).toEqual(new Set(['items.0.ref']));
  });

  test('may not take the name of another', async () => {
    const items = ['First', 'Second', 'Third'].map((text) => write({ text }, { ref: 'same' }));
    expect(await refuse('refs/names', items)).toMatchObject({
      status: 422,
      errors: [
        ['items.1.ref', 'semantic_error'],
        ['items.2.ref', 'semantic_error'],
      ],
    });
  });
});

describe('what a single request may not link, names may not link either', () => {
  test('a fact to itself', async () => {
    const repoId = 'refs/self-fact';
    const known = await remember(service, { text: 'Only one fact' }, repoId);
    const refusal = await refuse(repoId, [
      write({ text: 'Only one fact' }, { ref: 'again' }),
      write({ kind: 'change', text: 'Nothing moved' }, { ref: 'move' }),
      update('@move', replace(known, '@again')),
    ]);
    expect(refusal.status).toBe(422);
    expect(refusal.errors.map(([field]) => field)).toEqual(['items.2.update.new_fact_id']);
  });

  test('a problem to a vote on itself', async () => {
    const repoId = 'refs/self-vote';
    const known = await remember(service, { kind: 'problem', text: 'Only one problem' }, repoId);
    const refusal = await refuse(repoId, [
      write({ kind: 'problem', text: 'Only one problem' }, { ref: 'again' }),
      update('@again', { type: 'utility_vote', problem_id: known, vote: 1 }),
    ]);
    expect(refusal.status).toBe(422);
    expect(refusal.errors.map(([field]) => field)).toEqual(['items.1.update.problem_id']);
  });

  test('a chain of facts to a circle', async () => {
    const refusal = await refuse('refs/circle', [
      write({ text: 'A' }, { ref: 'A' }),
      write({ text: 'B' }, { ref: 'B' }),
      write({ text: 'C' }, { ref: 'C' }),
      write({ kind: 'change', text: 'Round' }, { ref: 'move' }),
      update('@move', replace('@A', '@B')),
      update('@move', replace('@B', '@C')),
      update('@move', replace('@C', '@A')),
    ]);
    expect(refusal).toMatchObject({ status: 422, errors: [['items.6.update.new_fact_id', 'integrity_error']] });
  });

  test('the same two facts twice', async () => {
    const refusal = await refuse('refs/twice', [
      write({ text: 'A' }, { ref: 'A' }),
      write({ text: 'B' }, { ref: 'B' }),
      write({ kind: 'change', text: 'Moved' }, { ref: 'move' }),
      update('@move', replace('@A', '@B')),
      update('@move', replace('@A', '@B')),
    ]);
    expect(refusal).toMatchObject({ status: 409, errors: [['items.4.update', 'conflict']] });
  });
});
