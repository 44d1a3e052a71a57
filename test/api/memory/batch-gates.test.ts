import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type MemoryFields, memoryBody, remember } from '../../support/requests.js';
import { refused, tables } from '../../support/rows.js';
import { type Service, startService } from '../../support/service.js';

const NOBODY = '00000000-0000-4000-8000-00000000beef';

let service: Service;
let globalId: string;
beforeAll(async () => {
  service = await startService();
  await remember(service, { text: 'Something that is there' });
  globalId = await remember(service, { scope: 'global', text: 'Something for all' });
});
afterAll(() => service.stop());

const write = (fields: MemoryFields, more: object = {}) => ({ op: 'write', memory: memoryBody(fields), ...more });
const archive = (memoryId: string) => ({
  op: 'update',
  memory_id: memoryId,
  update: { type: 'archive_state', archived: true },
});
const refuse = (items: unknown[], more: object = {}) =>
  refused(service, '/memory/batch', { repo_id: 'acme/shop', items, ...more });
const good = write({ text: 'Nothing is wrong with this one' });

describe('the schema gate names the item', () => {
  test.each<[string, object, string]>([
    ['an unknown field of a write', { ...good, mood: 1 }, 'items.1.mood'],
    ['an unknown field of a memory', { ...good, memory: { ...memoryBody(), mood: 1 } }, 'items.1.memory.mood'],
    ['an unknown field of an update', { ...archive(NOBODY), mood: 1 }, 'items.1.mood'],
    ['a repo of its own', { ...good, repo_id: 'acme/other' }, 'items.1.repo_id'],
    ['a mode of its own', { ...archive(NOBODY), mode: 'dry_run' }, 'items.1.mode'],
    ['a name for an update', { ...archive(NOBODY), ref: 'name' }, 'items.1.ref'],
    ['an unknown op', { op: 'read', query: 'x' }, 'items.1.op'],
    ['no op', { memory: memoryBody() }, 'items.1.op'],
    ['no memory', { op: 'write' }, 'items.1.memory'],
    ['an unknown kind', write({ kind: 'idea' }), 'items.1.memory.kind'],
    ['an unknown type of update', { ...archive(NOBODY), update: { type: 'rename' } }, 'items.1.update.type'],
    ['repeated evidence', write({ evidence_refs: ['a', 'a'] }), 'items.1.memory.evidence_refs'],
  ])('with %s', async (_name, item, field) => {
    const { status, errors } = await refuse([good, item]);
    expect(status).toBe(400);
    expect(new Set(errors.map(([name]) => name))).toEqual(new Set([field]));
  });

  test.each<[string, object, string]>([
    ['an unknown field', { mood: 1 }, 'mood'],
    ['an op', { op: 'batch' }, 'op'],
    ['an unknown mode', { mode: 'maybe' }, 'mode'],
    ['an empty repo_id', { repo_id: '' }, 'repo_id'],
    ['items that are no list', { items: good }, 'items'],
  ])('or the batch, with %s', async (_name, more, field) => {
    expect(await refuse([good], more)).toMatchObject({ status: 400, errors: [[field, 'schema_error']] });
  });

  test('for all items at once', async () => {
    const { errors } = await refuse([write({ kind: 'idea' }), good, write({ confidence: 2, scope: 'team' })]);
    expect(errors.map(([field]) => field)).toEqual([
      'items.0.memory.kind',
      'items.2.memory.confidence',
      'items.2.memory.scope',
    ]);
  });
});

test('the semantic gate reports what is wrong in all items', async () => {
  const refusal = await refuse([
    write({ text: ' ' }),
    good,
    write({ kind: 'solution' }),
    { op: 'update', memory_id: NOBODY, update: { type: 'utility_vote', problem_id: NOBODY, vote: 1 } },
  ]);
  expect(refusal).toMatchObject({
    status: 422,
    code: 'semantic_error',
    errors: [
      ['items.0.memory.text', 'semantic_error'],
      ['items.2.memory.links.problem_id', 'semantic_error'],
      ['items.3.update.problem_id', 'semantic_error'],
    ],
  });
});

test('the integrity gate reports what is wrong in all items', async () => {
  const refusal = await refuse([
    write({ text: 'A fact' }, { ref: 'fact' }),
    write({ kind: 'solution', text: 'Wrong sort', links: { problem_id: '@fact', related_memory_ids: [NOBODY] } }),
    archive(NOBODY),
    good,
  ]);
  expect(refusal).toMatchObject({
    status: 404,
    code: 'not_found',
    errors: [
      ['items.1.memory.links.problem_id', 'integrity_error'],
      ['items.1.memory.links.related_memory_ids.0', 'not_found'],
      ['items.2.memory_id', 'not_found'],
    ],
  });
});

describe('the gates are ordered across items', () => {
  test('the shape of a later item hides the sense of an earlier one', async () => {
    const { status, errors } = await refuse([write({ text: ' ' }), archive(NOBODY), write({ kind: 'idea' })]);
    expect([status, errors]).toEqual([400, [['items.2.memory.kind', 'schema_error']]]);
  });

  test('the sense of a later item hides the references of an earlier one', async () => {
    const { status, errors } = await refuse([archive(NOBODY), write({ text: ' ' })]);
    expect([status, errors]).toEqual([422, [['items.1.memory.text', 'semantic_error']]]);
  });
});

test.each<[string, () => object[]]>([
  ['writes', () => [write({ text: 'Of the repo' }), write({ scope: 'global', text: 'Of all' })]],
  ['a write and an update', () => [write({ text: 'Of the repo' }), archive(globalId)]],
])('a batch does not change the repo and global scope at once, by %s', async (_name, items) => {
  expect(await refuse(items())).toMatchObject({
    status: 422,
    code: 'integrity_error',
    errors: [['items', 'integrity_error']],
  });
});

test('a batch is all or nothing, wherever among its items the bad one is', async () => {
  const bad = fc.constantFrom<object>(
    write({ kind: 'idea' }),
    write({ kind: 'solution', text: 'For what?' }),
    write({ text: 'Related to nobody', links: { related_memory_ids: [NOBODY] } }),
    archive(NOBODY),
    archive('@nobody'),
  );
  await fc.assert(
    fc.asyncProperty(fc.nat({ max: 10 }), fc.nat({ max: 10 }), bad, async (before, after, item) => {
      const goods = (count: number, name: string) =>
        Array.from({ length: count }, (_, index) =>
          write({ text: `${name} ${index}`, evidence_refs: [`${name}:${index}`] }),
        );
      await refuse([...goods(before, 'before'), item, ...goods(after, 'after')]);
    }),
    { numRuns: 20 },
  );
  expect(tables(service).memories).toHaveLength(1);
});
