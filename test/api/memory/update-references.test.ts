import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { remember, updateBody } from '../../support/requests.js';
import { refused } from '../../support/rows.js';
import { type Service, startService } from '../../support/service.js';

const NOBODY = '00000000-0000-4000-8000-00000000beef';

let service: Service;
/** One memory of each kind that an update can point at, ours and another repo's. */
const ours: Record<string, string> = {};
const theirs: Record<string, string> = {};
beforeAll(async () => {
  service = await startService();
  for (const [ids, repoId] of [
    [ours, 'acme/shop'],
    [theirs, 'acme/other'],
  ] as const) {
    for (const kind of ['problem', 'fact', 'preference', 'change']) {
      ids[kind] = await remember(service, { kind, text: `A ${kind}` }, repoId);
    }
    ids.fresh = await remember(service, { text: 'A newer fact' }, repoId);
  }
});
afterAll(() => service.stop());

const archive = { type: 'archive_state', archived: true };
const vote = (problemId: string | undefined) => ({ type: 'utility_vote', problem_id: problemId, vote: 1 });
const replace = (oldId: string | undefined, newId: string | undefined) => ({
  type: 'fact_update_link',
  old_fact_id: oldId,
  new_fact_id: newId,
});
const of = (memoryId: string | undefined, update: object) => updateBody(memoryId as string, update);

describe.each(['commit', 'dry_run'])('the integrity gate in mode %s refuses', (mode) => {
  test.each<[string, () => object, number, [string, string][]]>([
    ['to archive nobody', () => of(NOBODY, archive), 404, [['memory_id', 'not_found']]],
    ["to archive another repo's memory", () => of(theirs.fact, archive), 404, [['memory_id', 'not_found']]],
    ['to archive what is no id', () => of('the fact', archive), 404, [['memory_id', 'not_found']]],
    ['a vote on nobody', () => of(NOBODY, vote(ours.problem)), 404, [['memory_id', 'not_found']]],
    ["a vote on another repo's memory", () => of(theirs.fact, vote(ours.problem)), 404, [['memory_id', 'not_found']]],
    ['a vote for no problem', () => of(ours.fact, vote(NOBODY)), 404, [['update.problem_id', 'not_found']]],
    [
      "a vote for another repo's problem",
      () => of(ours.fact, vote(theirs.problem)),
      404,
      [['update.problem_id', 'not_found']],
    ],
    ['a vote for a fact', () => of(ours.fact, vote(ours.fresh)), 422, [['update.problem_id', 'integrity_error']]],
    [
      'an old fact that is nobody',
      () => of(ours.change, replace(NOBODY, ours.fresh)),
      404,
      [['update.old_fact_id', 'not_found']],
    ],
    [
      'an old fact of another repo',
      () => of(ours.change, replace(theirs.fact, ours.fresh)),
      404,
      [['update.old_fact_id', 'not_found']],
    ],
    [
      'a new fact of another repo',
      () => of(ours.change, replace(ours.fact, theirs.fresh)),
      404,
      [['update.new_fact_id', 'not_found']],
    ],
    [
      'a change of another repo',
      () => of(theirs.change, replace(ours.fact, ours.fresh)),
      404,
      [['memory_id', 'not_found']],
    ],
    [
      'an old fact that is a preference',
      () => of(ours.change, replace(ours.preference, ours.fresh)),
      422,
      [['update.old_fact_id', 'integrity_error']],
    ],
    [
      'a new fact that is a problem',
      () => of(ours.change, replace(ours.fact, ours.problem)),
      422,
      [['update.new_fact_id', 'integrity_error']],
    ],
    [
      'a change that is a problem',
      () => of(ours.problem, replace(ours.fact, ours.fresh)),
      422,
      [['memory_id', 'integrity_error']],
    ],
    [
      'everything that is wrong at once',
      () => of(ours.problem, replace(ours.preference, NOBODY)),
      404,
      [
        ['memory_id', 'integrity_error'],
        ['update.new_fact_id', 'not_found'],
        ['update.old_fact_id', 'integrity_error'],
      ],
    ],
  ])('%s', async (_name, body, status, errors) => {
    const refusal = await refused(service, '/memory/update', { ...body(), mode });
    expect(refusal).toMatchObject({ status, code: status === 404 ? 'not_found' : 'integrity_error', errors });
  });
});
