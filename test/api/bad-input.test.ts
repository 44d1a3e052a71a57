import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { memoryBody, readBody, updateBody, writeBody } from '../support/requests.js';
import type { Service } from '../support/service.js';
import { digestOf, expectRefusal, send } from './bad-input-replies.js';
import { CHANGE_ID, FACT_ID, NEW_FACT_ID, startSeeded } from './bad-input-requests.js';

/** Text that means something to a database is only text here, and ids that are no ids are nobody's. */

let service: Service;
beforeAll(async () => {
  service = await startSeeded();
});
afterAll(() => service.stop());

/** What a database or its search engine would understand, if it were ever let near. */
const SYNTAX: readonly string[] = [
  "'; DROP TABLE nodes; --",
  '"; DELETE FROM memories; --',
  "1' OR '1'='1",
  "x' UNION SELECT sql FROM sqlite_master --",
  "Robert\"); ATTACH DATABASE 'other.db' AS other; --",
  '?1 :name @name $name',
  '%_\\%',
  'redis AND port',
  'redis OR NOT port',
  'NEAR(redis port, 5)',
  'terms: redis',
  '{terms rowid}: redis',
  '- terms: redis',
  '^redis',
  'redis*',
  '"redis',
  'redis"',
  '""',
  '(redis',
  'redis)',
  '((((((((((',
  'redis + port',
  '* ^ : - + ( ) { } " \' ; , . / \\',
  'AND',
  'NOT NOT NOT',
  '\u2028\u2029\u200b\ufeff',
  '\u0001\u0007\u001b[31m',
  '$$redis$$ /* port */ -- end',
];

describe.each(SYNTAX)('%j', (text) => {
  test('is answered as a query, and changes nothing', async () => {
    const before = digestOf(service);
    for (const mode of ['targeted', 'ambient']) {
      const answer = await service.http.post('/memory/read').send(readBody(text, { mode, explain: true }));
      // A query of nothing but white space is refused as one; everything else is a question.
      if (text.trim() === '') expectRefusal(answer, 'semantic_error');
      else expect(answer.status).toBe(200);
    }
    expect(digestOf(service)).toEqual(before);
  });

  test('is refused as an id, in every place that takes one', async () => {
    const before = digestOf(service);
    for (const body of referring(text)) {
      const answer = await service.http.post(body.op === 'write' ? '/memory/write' : '/memory/update').send(body);
      expectRefusal(answer, 'not_found');
    }
    for (const path of [`/memory/${encodeURIComponent(text)}`, `/memory/${encodeURIComponent(text)}/chain`]) {
      expectRefusal(await send(service, 'GET', `${path}?repo_id=acme%2Fshop`), 'not_found');
    }
    const repo = encodeURIComponent(text);
    const gone = await send(service, 'DELETE', `/repos/${repo}?confirm=${repo}`);
    expectRefusal(gone, 'not_found', 'semantic_error');
    expect(digestOf(service)).toEqual(before);
  });

  test('is stored as a text word for word', async () => {
    const answer = await service.http.post('/memory/write').send(writeBody({ text: `${text} noted` }));
    expect(answer.status).toBe(201);
    const read = await service.http.get(answer.headers.location as string);
    expect(read.body).toMatchObject({ text: `${text} noted` });
  });
});

/** One request for every place in which a body names a memory. */
const referring = (id: string) => [
  updateBody(id, { type: 'archive_state', archived: true }),
  updateBody(FACT_ID, { type: 'utility_vote', problem_id: id, vote: 1 }),
  updateBody(CHANGE_ID, { type: 'fact_update_link', old_fact_id: id, new_fact_id: NEW_FACT_ID }),
  updateBody(CHANGE_ID, { type: 'fact_update_link', old_fact_id: FACT_ID, new_fact_id: id }),
  writeBody({ text: 'refers', kind: 'solution', links: { problem_id: id } }),
  writeBody({ text: 'refers', links: { related_memory_ids: [id] } }),
];

const WRONG_IDS: readonly [name: string, id: string][] = [
  ['empty', ''],
  ['blank', ' '],
  ['not an id at all', 'latest'],
  ['an id in capitals', 'ABCDEF00-0000-4000-8000-000000000002'],
  ['an id with blanks around it', ` ${FACT_ID} `],
  ['an id with a line break after it', `${FACT_ID}\n`],
  ['an id of another version', '00000000-0000-1000-8000-000000000002'],
  ['an id in braces', `{${FACT_ID}}`],
  ['an id without hyphens', FACT_ID.replaceAll('-', '')],
  ['the id of another form', `mem_${FACT_ID}`],
  ['a name that no earlier item has', '@earlier'],
  ['a path', '../../../etc/passwd'],
  ['a number', '2'],
  ['the name of an object’s own part', '__proto__'],
  ['digits of another script', '٠٠٠٠٠٠٠٠-0000-4000-8000-000000000002'],
  ['as long as the body allows', 'a'.repeat(1_000_000)],
];

test.each(WRONG_IDS)('an id that is %s is not found, and nothing is stored', async (_name, id) => {
  const before = digestOf(service);
  for (const body of referring(id)) {
    const answer = await service.http.post(body.op === 'write' ? '/memory/write' : '/memory/update').send(body);
    const { errors } = expectRefusal(answer, 'not_found');
    expect(errors).toHaveLength(1);
    expect(errors[0]?.message.length).toBeLessThan(300);
  }
  expect(digestOf(service)).toEqual(before);
});

test('a batch with one wrong id in it stores none of its items', async () => {
  const before = digestOf(service);
  const items = [
    { op: 'write', memory: memoryBody({ text: 'first of three' }) },
    { op: 'update', memory_id: 'nobody', update: { type: 'archive_state', archived: true } },
    { op: 'write', memory: memoryBody({ text: 'third of three' }) },
  ];
  const answer = await service.http.post('/memory/batch').send({ repo_id: 'acme/shop', items });
  expect(expectRefusal(answer, 'not_found').errors.map(({ field }) => field)).toEqual(['items.1.memory_id']);
  expect(digestOf(service)).toEqual(before);
});
