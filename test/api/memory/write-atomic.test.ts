import { existsSync } from 'node:fs';
import SqliteDatabase from 'better-sqlite3';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { remember, updateBody, writeBody } from '../../support/requests.js';
import { countRows, fileOf, refused, tables } from '../../support/rows.js';
import { type Service, startService } from '../../support/service.js';
import { sendTogether, times } from '../../support/together.js';

let service: Service;
beforeEach(async () => {
  service = await startService();
});
afterEach(() => service.stop());

/** Lets the database itself refuse a row, as a damaged or full file would, in the middle of whatever is being written. */
function sabotage(table: string, condition = 'true'): void {
  const database = new SqliteDatabase(fileOf(service, 'acme/shop'));
  database.exec(
    `CREATE TRIGGER sabotage BEFORE INSERT ON ${table} WHEN ${condition} BEGIN SELECT raise(ABORT, 'sabotage'); END`,
  );
  database.close();
}

function repair(): void {
  const database = new SqliteDatabase(fileOf(service, 'acme/shop'));
  database.exec('DROP TRIGGER sabotage');
  database.close();
}

describe('a write that fails halfway leaves no row behind', () => {
  test.each([
    'memories',
    'evidence_refs',
    'node_evidence',
    'hyperedges',
    'membership',
    'evolution_log',
    'evolution_nodes',
  ])('when it cannot write %s', async (table) => {
    const problem = await remember(service, { kind: 'problem', text: 'It hangs' });
    const links = { problem_id: problem, related_memory_ids: [problem] };
    const body = writeBody({ kind: 'solution', text: 'Restart it', links, evidence_refs: ['log:7'] });
    sabotage(table);
    expect(await refused(service, '/memory/write', body)).toMatchObject({ status: 500, code: 'internal_error' });
    repair();
    await service.http.post('/memory/write').send(body).expect(201);
  });
});

describe('an update that fails halfway leaves no row behind', () => {
  test.each(['vote_evidence', 'evolution_log'])('when it cannot write %s', async (table) => {
    const problem = await remember(service, { kind: 'problem', text: 'It hangs' });
    const fact = await remember(service, { text: 'It waits for a lock' });
    const update = { type: 'utility_vote', problem_id: problem, vote: 1, evidence_refs: ['log:8'] };
    sabotage(table);
    const refusal = await refused(service, '/memory/update', updateBody(fact, update));
    expect(refusal).toMatchObject({ status: 500, code: 'internal_error' });
    repair();
    await service.http.post('/memory/update').send(updateBody(fact, update)).expect(200);
  });
});

test('one write that fails does not take down those that arrived with it', async () => {
  await remember(service, { text: 'The first' });
  sabotage('evidence_refs', "new.ref = 'poison'");
  const before = countRows(tables(service));
  const isPoisoned = (index: number) => index % 4 === 0;
  const answers = await sendTogether(
    service,
    times(20, (index) => ({
      path: '/memory/write',
      body: writeBody({ text: `Number ${index}`, evidence_refs: [isPoisoned(index) ? 'poison' : `commit:${index}`] }),
    })),
  );
  expect(answers.map(({ status }) => status)).toEqual(times(20, (index) => (isPoisoned(index) ? 500 : 201)));
  const after = countRows(tables(service));
  expect(after.memories).toBe((before.memories ?? 0) + 15);
  expect(after.evolution_log).toBe((before.evolution_log ?? 0) + 15);
});

test.each([
  ['the schema gate', { confidence: 2 }],
  ['the semantic gate', { kind: 'solution' }],
  ['the integrity gate', { links: { related_memory_ids: ['nobody'] } }],
])('a first write that %s refuses does not bring its repo into being', async (_gate, fields) => {
  await refused(service, '/memory/write', writeBody(fields, 'acme/new'), 'acme/new');
  expect(existsSync(fileOf(service, 'acme/new'))).toBe(false);
  expect((await service.http.get('/repos').expect(200)).body.repos).toEqual([]);
});
