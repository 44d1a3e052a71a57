import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { GraphClient } from '../../support/nodes.js';
import {
  allItems,
  change,
  idsIn,
  type Pack,
  type PackItem,
  readBody,
  recall,
  remember,
} from '../../support/requests.js';
import { type Service, startService } from '../../support/service.js';

const HOUR_MS = 3_600_000;

let service: Service;
let repos = 0;
let repoId: string;
beforeAll(async () => {
  service = await startService();
});
afterAll(() => service.stop());
beforeEach(() => {
  repoId = `as-of/${++repos}`;
  service.clock.advance(HOUR_MS);
});

/** Lets an hour pass and answers the moment before it did. */
const tick = (): string => {
  const moment = service.clock.iso();
  service.clock.advance(HOUR_MS);
  return moment;
};
const write = (text: string, kind = 'fact', links = {}): Promise<string> =>
  remember(service, { text, kind, links }, repoId);
const ask = (query: string, asOf?: string, more: object = {}): Promise<Pack> =>
  recall(service, query, { ...(asOf && { as_of: asOf }), ...more }, repoId);
const found = async (query: string, asOf?: string, more: object = {}): Promise<string[]> =>
  idsIn(allItems(await ask(query, asOf, more))).sort();
const itemOf = (pack: Pack, id: string): PackItem | undefined => allItems(pack).find((item) => item.memory_id === id);

test('a memory is known from the moment it was written, not before', async () => {
  const before = tick();
  const id = await write('Avocet runs on port 80');
  const written = tick();
  expect(await found('avocet', before)).toEqual([]);
  expect(await found('avocet', written)).toEqual([id]);
  expect(await found('avocet', new Date(Date.parse(written) - 1).toISOString())).toEqual([]);
  expect(await found('avocet')).toEqual([id]);
});

test('a fact is what was true then: before its replacement it is current and comes alone', async () => {
  const oldId = await write('Avocet runs on port 80');
  const before = tick();
  const newId = await write('Now it is 8080');
  const changeId = await write('Ports moved', 'change');
  await change(service, changeId, { type: 'fact_update_link', old_fact_id: oldId, new_fact_id: newId }, repoId);
  const after = tick();

  const then = await ask('avocet port', before);
  expect(allItems(then)).toMatchObject([{ memory_id: oldId, state: 'current' }]);
  expect(allItems(then)[0]).not.toHaveProperty('superseded_by');
  const later = await ask('avocet port', after);
  expect(itemOf(later, oldId)).toMatchObject({ state: 'superseded', superseded_by: newId });
  expect(itemOf(later, newId)?.state).toBe('current');
});

test('memories that were there already are linked from the moment of the link', async () => {
  const [oldId, newId] = [await write('Avocet runs on port 80'), await write('Now it is 8080')];
  const changeId = await write('Ports moved', 'change');
  const before = tick();
  await change(service, changeId, { type: 'fact_update_link', old_fact_id: oldId, new_fact_id: newId }, repoId);
  const after = tick();
  expect(await found('avocet', before)).toEqual([oldId]);
  expect(await found('avocet', after)).toEqual([oldId, newId, changeId].sort());
});

test('a chain ends where it ended then', async () => {
  const [first, second, third] = [await write('Avocet one'), await write('Then two'), await write('Now three')];
  const changeId = await write('Counting', 'change');
  const link = (old_fact_id: string, new_fact_id: string) =>
    change(service, changeId, { type: 'fact_update_link', old_fact_id, new_fact_id }, repoId);
  await link(first, second);
  const between = tick();
  await link(second, third);
  tick();
  expect(itemOf(await ask('avocet', between), first)?.superseded_by).toBe(second);
  expect(itemOf(await ask('avocet'), first)?.superseded_by).toBe(third);
});

test('a memory is seen while it was not archived, through archiving, restoring and archiving again', async () => {
  const id = await write('Avocet runs on port 80');
  const moments = [tick()];
  for (const archived of [true, false, true]) {
    await change(service, id, { type: 'archive_state', archived }, repoId);
    moments.push(tick());
  }
  const seen = [];
  for (const moment of moments) seen.push((await found('avocet', moment)).length);
  expect(seen).toEqual([1, 0, 1, 0]);
  expect(await found('avocet')).toEqual([]);

  const states = [];
  for (const moment of moments) {
    states.push(itemOf(await ask('avocet', moment, { include_archived: true }), id)?.state);
  }
  expect(states).toEqual(['current', 'archived', 'current', 'archived']);
});

test('links and linked memories appear from the moment they were made', async () => {
  const problemId = await write('Avocet fails', 'problem');
  const bare = tick();
  const solutionId = await write('Restart', 'solution', { problem_id: problemId });
  const solved = tick();
  const relatedId = await write('An aside', 'fact', { related_memory_ids: [problemId] });
  const farId = await write('A further aside', 'fact', { related_memory_ids: [relatedId] });
  const linked = tick();
  expect(await found('avocet', bare)).toEqual([problemId]);
  expect(await found('avocet', solved)).toEqual([problemId, solutionId].sort());
  expect(await found('avocet', linked)).toEqual([problemId, solutionId, relatedId, farId].sort());
});

test('an archived memory bridged the way while it was not archived', async () => {
  const startId = await write('Avocet start');
  const bridgeId = await write('Bridge', 'fact', { related_memory_ids: [startId] });
  const endId = await write('End', 'fact', { related_memory_ids: [bridgeId] });
  const before = tick();
  await change(service, bridgeId, { type: 'archive_state', archived: true }, repoId);
  tick();
  expect(await found('avocet', before)).toEqual([startId, bridgeId, endId].sort());
  expect(await found('avocet')).toEqual([startId]);
});

test('votes count from the moment they were cast', async () => {
  const problemId = await write('Something fails', 'problem');
  const id = await write('Avocet advice');
  const before = tick();
  await change(service, id, { type: 'utility_vote', problem_id: problemId, vote: 1 }, repoId);
  tick();
  const factor = async (asOf?: string) =>
    itemOf(await ask('avocet', asOf, { explain: true }), id)?.explain?.utility_factor;
  expect(await factor(before)).toBe(1);
  expect(await factor()).toBeGreaterThan(1);
});

test('global memories are as old as they are, from every repo', async () => {
  const before = tick();
  const id = await remember(service, { text: 'Ruff etiquette', scope: 'global' }, 'as-of/elsewhere');
  const after = tick();
  expect(await found('ruff etiquette', before)).toEqual([]);
  expect(await found('ruff etiquette', after)).toEqual([id]);
});

test('the same moment may be written with any offset, and the answer names it in UTC', async () => {
  const id = await write('Avocet runs on port 80');
  const moment = tick();
  const offset = `${new Date(Date.parse(moment) + 2 * HOUR_MS).toISOString().slice(0, -1)}+02:00`;
  expect(await ask('avocet', offset)).toEqual(await ask('avocet', moment));
  expect((await ask('avocet', offset)).meta).toMatchObject({ as_of: moment });
  expect((await ask('avocet')).meta).not.toHaveProperty('as_of');
  expect(await found('avocet', '2999-01-01T00:00:00Z')).toEqual([id]);
  expect(await found('avocet', '1970-01-01T00:00:00Z')).toEqual([]);
});

test.each([
  ['not a time', 'yesterday', 400],
  ['a date without a time', '2026-01-01', 400],
  ['a day that the calendar does not have', '2026-02-30T00:00:00Z', 400],
  ['a number', 1767225600000, 400],
  ['a leap second, which no clock here can show', '2016-12-31T23:59:60Z', 422],
])('an as_of that is %s is refused', async (_wrong, as_of, status) => {
  const answer = await service.http.post('/memory/read').send(readBody('anything', { as_of })).expect(status);
  expect(answer.body.errors.map((error: { field: string }) => error.field)).toEqual(['as_of']);
});

test('a node shows no text that it did not have then', async () => {
  const graph = new GraphClient(service, repoId);
  const { id } = await graph.node({ content: 'Avocet runs on port 80', tier: 'longterm' });
  const before = tick();
  await graph.patchNode(id, { confidence: 0.9, content: 'Avocet runs on port 8080' }).expect(200);
  const after = tick();
  await graph.patchNode(id, { confidence: 0.7, tags: ['content'], metadata: { content: 'port' } }).expect(200);
  tick();
  expect(await found('avocet', before)).toEqual([]);
  expect(await found('8080', before)).toEqual([]);
  expect(allItems(await ask('avocet', after))).toMatchObject([{ memory_id: id, text: 'Avocet runs on port 8080' }]);
  expect(await found('avocet')).toEqual([id]);
});

test('a node is seen from before its moves, its decay and all changes but those of its text', async () => {
  const graph = new GraphClient(service, repoId);
  const { id } = await graph.node({ content: 'Avocet runs on port 80', tier: 'longterm' });
  const before = tick();
  await graph.patchNode(id, { tier: 'session' }).expect(200);
  await graph.patchNode(id, { subtype: 'content', provenance: 'changed content' }).expect(200);
  await graph.patchNode(id, { tier: 'longterm' }).expect(200);
  service.clock.advance(2 * 24 * HOUR_MS);
  await service.http.post('/evolution/decay').query({ repo_id: repoId }).send({}).expect(200);
  expect(await found('avocet', before)).toEqual([id]);
});
