import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { remember, updateBody } from '../../support/requests.js';
import { refused } from '../../support/rows.js';
import { type Service, startService } from '../../support/service.js';

const NOBODY = '00000000-0000-4000-8000-00000000beef';

let service: Service;
/** One memory of each kind that an update can point at. */
const ours: Record<string, string> = {};
beforeAll(async () => {
  service = await startService();
  for (const kind of ['problem', 'fact', 'change']) {
    ours[kind] = await remember(service, { kind, text: `A ${kind}` });
  }
  ours.fresh = await remember(service, { text: 'A newer fact' });
});
afterAll(() => service.stop());

const archive = { type: 'archive_state', archived: true };
const vote = (problemId: string | undefined, more: object = {}) => ({
  type: 'utility_vote',
  problem_id: problemId,
  vote: 1,
  ...more,
});
const replace = (oldId: string | undefined, newId: string | undefined, more: object = {}) => ({
  type: 'fact_update_link',
  old_fact_id: oldId,
  new_fact_id: newId,
  ...more,
});
const of = (memoryId: string | undefined, update: object) => updateBody(memoryId as string, update);

describe('the schema gate refuses', () => {
  const body = (update: object) => updateBody(NOBODY, update);

  test.each<[string, object, string]>([
    ['an unknown field beside op', { ...body(archive), priority: 1 }, 'priority'],
    ['an unknown field in archive_state', body({ ...archive, mood: 1 }), 'update.mood'],
    ['an unknown field in utility_vote', body(vote(NOBODY, { mood: 1 })), 'update.mood'],
    ['an unknown field in fact_update_link', body(replace(NOBODY, NOBODY, { mood: 1 })), 'update.mood'],
    ["another type's field", body({ ...archive, vote: 1 }), 'update.vote'],
    ['a new text', body({ ...archive, text: 'Something else' }), 'update.text'],
    ['evidence for archive_state', body({ ...archive, evidence_refs: ['a'] }), 'update.evidence_refs'],
    ['an unknown type', body({ type: 'text_update', text: 'x' }), 'update.type'],
    ['a type that is a number', body({ type: 7 }), 'update.type'],
    ['an update without type', body({ archived: true }), 'update.type'],
    ['an update that is no object', body(['archive_state']), 'update'],
    ['another op', { ...body(archive), op: 'write' }, 'op'],
    ['an unknown mode', { ...body(archive), mode: 'maybe' }, 'mode'],
    ['an empty repo_id', { ...body(archive), repo_id: '' }, 'repo_id'],
    ['archived in words', body({ type: 'archive_state', archived: 'true' }), 'update.archived'],
    ['archive_state without archived', body({ type: 'archive_state' }), 'update.archived'],
    ['a vote above one', body(vote(NOBODY, { vote: 1.01 })), 'update.vote'],
    ['a vote below minus one', body(vote(NOBODY, { vote: -1.01 })), 'update.vote'],
    ['a vote in words', body(vote(NOBODY, { vote: '1' })), 'update.vote'],
    ['a vote without its problem', body({ type: 'utility_vote', vote: 1 }), 'update.problem_id'],
    ['a link without the old fact', body({ type: 'fact_update_link', new_fact_id: NOBODY }), 'update.old_fact_id'],
    ['a link without the new fact', body({ type: 'fact_update_link', old_fact_id: NOBODY }), 'update.new_fact_id'],
    ['repeated evidence of a vote', body(vote(NOBODY, { evidence_refs: ['a', 'a'] })), 'update.evidence_refs'],
    ['repeated evidence of a link', body(replace('a', 'b', { evidence_refs: ['a', 'a'] })), 'update.evidence_refs'],
  ])('%s', async (_name, body, field) => {
    const { status, code, errors } = await refused(service, '/memory/update', body);
    expect([status, code]).toEqual([400, 'schema_error']);
    expect(new Set(errors.map(([name]) => name))).toEqual(new Set([field]));
  });

  test.each(['op', 'repo_id', 'memory_id', 'mode', 'update'])('a request without %s', async (field) => {
    const { [field]: _, ...rest } = body(archive) as Record<string, unknown>;
    const { errors } = await refused(service, '/memory/update', rest);
    expect(errors).toEqual([[field, 'schema_error']]);
  });

  test('everything that is wrong at once, each with its own path', async () => {
    const update = vote(undefined, { vote: 3, mood: 1, evidence_refs: [1] });
    const { errors } = await refused(service, '/memory/update', { op: 'update', repo_id: '', update, extra: 1 });
    expect(errors.map(([field]) => field)).toEqual([
      'extra',
      'memory_id',
      'mode',
      'repo_id',
      'update.evidence_refs.0',
      'update.mood',
      'update.problem_id',
      'update.vote',
    ]);
  });
});

describe('the semantic gate refuses', () => {
  test.each<[string, () => object, string[]]>([
    ['a vote on the problem itself', () => of(ours.problem, vote(ours.problem)), ['update.problem_id']],
    ['a fact that replaces itself', () => of(ours.change, replace(ours.fact, ours.fact)), ['update.new_fact_id']],
    ['the old fact as the change', () => of(ours.fact, replace(ours.fact, ours.fresh)), ['memory_id']],
    ['the new fact as the change', () => of(ours.fresh, replace(ours.fact, ours.fresh)), ['memory_id']],
    ['a blank rationale', () => of(ours.fact, { ...archive, rationale: ' ' }), ['update.rationale']],
    [
      'blank evidence',
      () => of(ours.fact, vote(ours.problem, { evidence_refs: ['a', ' '] })),
      ['update.evidence_refs.1'],
    ],
    [
      'evidence that repeats but for blanks',
      () => of(ours.fact, vote(ours.problem, { evidence_refs: ['a', 'a '] })),
      ['update.evidence_refs.1'],
    ],
    [
      'everything that is wrong at once',
      () => of(ours.fact, replace(ours.fact, ours.fact, { rationale: ' ', evidence_refs: [' '] })),
      ['memory_id', 'update.evidence_refs.0', 'update.new_fact_id', 'update.rationale'],
    ],
  ])('%s', async (_name, body, fields) => {
    expect(await refused(service, '/memory/update', body())).toMatchObject({
      status: 422,
      code: 'semantic_error',
      errors: fields.map((field) => [field, 'semantic_error']),
    });
  });
});

describe('the gates are ordered', () => {
  test('what fails the schema hides what fails the other two', async () => {
    const body = { ...of(NOBODY, replace(NOBODY, NOBODY)), mode: 'maybe' };
    expect(await refused(service, '/memory/update', body)).toMatchObject({
      status: 400,
      errors: [['mode', 'schema_error']],
    });
  });

  test('what fails the semantic gate hides what fails the integrity gate', async () => {
    const body = of(NOBODY, vote('nobody either', { rationale: ' ' }));
    expect(await refused(service, '/memory/update', body)).toMatchObject({
      status: 422,
      errors: [['update.rationale', 'semantic_error']],
    });
  });
});
