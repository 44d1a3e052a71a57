import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { remember, writeBody } from '../../support/requests.js';
import { refused } from '../../support/rows.js';
import { type Service, startService } from '../../support/service.js';

const NOBODY = '00000000-0000-4000-8000-00000000beef';

let service: Service;
let factId: string;
let foreignProblemId: string;
let foreignFactId: string;
beforeAll(async () => {
  service = await startService();
  factId = await remember(service, { text: 'A fact of this repo' });
  foreignProblemId = await remember(service, { kind: 'problem', text: 'Not ours' }, 'acme/other');
  foreignFactId = await remember(service, { text: 'Not ours either' }, 'acme/other');
});
afterAll(() => service.stop());

const solution = (links: { problem_id: string; related_memory_ids?: string[] }, text = 'Try this') =>
  writeBody({ kind: 'solution', text, links });
const related = (...ids: string[]) => writeBody({ text: 'Linked', links: { related_memory_ids: ids } });

describe('the integrity gate refuses as not found', () => {
  test.each<[string, () => object, string]>([
    ['a problem that does not exist', () => solution({ problem_id: NOBODY }), 'memory.links.problem_id'],
    ['a problem of another repo', () => solution({ problem_id: foreignProblemId }), 'memory.links.problem_id'],
    ['a problem_id that is no id', () => solution({ problem_id: 'the slow build' }), 'memory.links.problem_id'],
    ['an empty problem_id', () => solution({ problem_id: '' }), 'memory.links.problem_id'],
    ['a problem_id in capitals', () => solution({ problem_id: NOBODY.toUpperCase() }), 'memory.links.problem_id'],
    ["a batch's name for a problem", () => solution({ problem_id: '@slow' }), 'memory.links.problem_id'],
    ['a related memory that does not exist', () => related(factId, NOBODY), 'memory.links.related_memory_ids.1'],
    ['a related memory of another repo', () => related(foreignFactId), 'memory.links.related_memory_ids.0'],
    ['a related id that is no id', () => related("' OR 1=1 --"), 'memory.links.related_memory_ids.0'],
  ])('%s', async (_name, body, field) => {
    expect(await refused(service, '/memory/write', body())).toMatchObject({
      status: 404,
      code: 'not_found',
      errors: [[field, 'not_found']],
    });
  });

  test('an id of another repo with the very words it has for an id of nobody', async () => {
    const { messages: foreign } = await refused(service, '/memory/write', solution({ problem_id: foreignProblemId }));
    const { messages: nobody } = await refused(service, '/memory/write', solution({ problem_id: NOBODY }));
    expect(foreign[0]?.replace(foreignProblemId, 'ID')).toBe(nobody[0]?.replace(NOBODY, 'ID'));
  });
});

test.each(['solution', 'failed_tactic', 'fact', 'preference', 'change'])(
  'the integrity gate refuses a problem_id that names a %s',
  async (kind) => {
    const problem = await remember(service, { kind: 'problem', text: `Problem beside ${kind}` });
    const links = kind === 'solution' || kind === 'failed_tactic' ? { problem_id: problem } : {};
    const id = await remember(service, { kind, text: `No problem but a ${kind}`, links });
    const refusal = await refused(service, '/memory/write', solution({ problem_id: id }));
    expect(refusal).toMatchObject({
      status: 422,
      code: 'integrity_error',
      errors: [['memory.links.problem_id', 'integrity_error']],
    });
    expect(refusal.messages[0]).toContain(kind);
  },
);

test('the integrity gate reports everything that is wrong at once; what is missing decides the status', async () => {
  const links = { problem_id: factId, related_memory_ids: [NOBODY, factId, foreignFactId] };
  expect(await refused(service, '/memory/write', solution(links))).toMatchObject({
    status: 404,
    code: 'not_found',
    errors: [
      ['memory.links.problem_id', 'integrity_error'],
      ['memory.links.related_memory_ids.0', 'not_found'],
      ['memory.links.related_memory_ids.2', 'not_found'],
    ],
  });
});

test('the same wrong id in two places is reported in both', async () => {
  const links = { problem_id: NOBODY, related_memory_ids: [NOBODY] };
  const { errors } = await refused(service, '/memory/write', solution(links));
  expect(errors.map(([field]) => field)).toEqual(['memory.links.problem_id', 'memory.links.related_memory_ids.0']);
});

describe('the gates are ordered', () => {
  const wrongTwice = { ...solution({ problem_id: NOBODY, related_memory_ids: [NOBODY] }, ' ') };
  const wrongThrice = { ...wrongTwice, mood: 'good' };

  test('what fails the schema hides what fails the other two', async () => {
    expect(await refused(service, '/memory/write', wrongThrice)).toMatchObject({
      status: 400,
      errors: [['mood', 'schema_error']],
    });
  });

  test('what fails the semantic gate hides what fails the integrity gate', async () => {
    expect(await refused(service, '/memory/write', wrongTwice)).toMatchObject({
      status: 422,
      errors: [['memory.text', 'semantic_error']],
    });
  });
});
