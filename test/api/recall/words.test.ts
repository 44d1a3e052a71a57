import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { EpisodeClient } from '../../support/episodes.js';
import { told } from '../../support/narratives.js';
import { refused } from '../../support/rows.js';
import { type Service, startService } from '../../support/service.js';

let service: Service;
let episodes: EpisodeClient;
let agentId: string;
beforeAll(async () => {
  service = await startService();
  episodes = new EpisodeClient(service);
  agentId = (await episodes.register()).agent.id;
  await episodes.store(agentId, told({ goal: 'Count the sheep at 100% load', tags: ['a"b', "it's", '100%'] }));
});
afterAll(() => service.stop());

const FIELDS = ['query', 'intent'] as const;

describe.each(FIELDS)('%s', (field) => {
  test.each([
    '%',
    '*',
    '"',
    "'",
    '🙂',
    '()',
    '--',
    'NEAR(',
    '"sheep',
    'AND OR NOT',
    '^',
    ':',
    '\\',
    'sheep*',
    '{sheep} : x',
  ])('%j is plain words: no mistake, and no syntax', async (words) => {
    const answer = await episodes.recall({ [field]: words });
    expect(answer.memories.length).toBeLessThanOrEqual(1);
    if (!words.includes('sheep')) expect(answer).toMatchObject({ memories: [], total_matches: 0, confidence: 0 });
    else expect(answer.total_matches).toBe(1);
  });

  test('of 10,000 characters is answered', async () => {
    expect((await episodes.recall({ [field]: 'sheep '.repeat(2_000).slice(0, 10_000) })).total_matches).toBe(1);
  });

  test('of 10,001 characters is refused by its name', async () => {
    const refusal = await refused(service, '/episodes/recall', {
      project_id: 'acme/shop',
      [field]: 'x'.repeat(10_001),
    });
    expect(refusal).toMatchObject({ status: 422, errors: [[field, 'semantic_error']] });
    expect(refusal.messages[0]).toContain('10000');
  });

  test.each([' ', '\n\t '])('of nothing but white space (%j) is refused by its name', async (words) => {
    const refusal = await refused(service, '/episodes/recall', { project_id: 'acme/shop', [field]: words });
    expect(refusal).toMatchObject({ status: 422, errors: [[field, 'semantic_error']] });
  });

  test.each(['', 7, null, ['sheep'], 'half \ud800', 'nul \0'])('%j is refused', async (words) => {
    const refusal = await refused(service, '/episodes/recall', { project_id: 'acme/shop', [field]: words });
    expect(refusal.status).toBeOneOf([400, 422]);
    expect(refusal.errors[0]?.[0]).toContain(field);
  });
});

test('both that are wrong are both named', async () => {
  const refusal = await refused(service, '/episodes/recall', { project_id: 'acme/shop', query: ' ', intent: ' ' });
  expect(refusal.errors.map(([field]) => field)).toEqual(['intent', 'query']);
});

test('tags are compared as they are, whatever characters they have', async () => {
  for (const tag of ['a"b', "it's", '100%']) expect((await episodes.recall({ tags: [tag] })).total_matches).toBe(1);
  for (const tag of ['a', '%', '100_', 'A"B']) expect((await episodes.recall({ tags: [tag] })).total_matches).toBe(0);
});

test.each([
  { task_type: 'cooking' },
  { failure_category: 'bad_luck' },
  { depth: 'deep' },
  { since: -1 },
  { since: '2026-01-01' },
  { before: 1.5 },
  { tags: 'payment' },
  { tags: ['x', 'x'] },
  { file: '' },
  { success_only: 'yes' },
  { unknown_field: 1 },
  { strategy: 'semantic' },
])('%j is refused, not ignored', async (fields) => {
  const refusal = await refused(service, '/episodes/recall', { project_id: 'acme/shop', ...fields });
  expect(refusal.status).toBe(400);
});

test('a file of nothing but slashes names none', async () => {
  expect(await episodes.recalledIds({ file: '///' })).toEqual([]);
  expect(await episodes.recalledIds({ file: './.' })).toEqual([]);
});

test('two projects in one question are refused', async () => {
  await episodes.postRecall({ project_id: 'acme/till' }).expect(400);
});
