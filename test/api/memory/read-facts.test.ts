import { afterAll, beforeAll, expect, test } from 'vitest';
import { allItems, change, idsIn, type Pack, type PackItem, recall, remember } from '../../support/requests.js';
import { type Service, startService } from '../../support/service.js';

let service: Service;
let repos = 0;
beforeAll(async () => {
  service = await startService();
});
afterAll(() => service.stop());

const newRepo = (): string => `facts/${++repos}`;
const fact = (repoId: string, text: string, scope = 'repo'): Promise<string> =>
  remember(service, { text, scope }, repoId);

/** Says that a change replaced one fact by another; answers the change's id. */
async function replace(repoId: string, oldId: string, newId: string, scope = 'repo'): Promise<string> {
  const changeId = await remember(
    service,
    { text: `Revision of ${oldId} into ${newId}`, kind: 'change', scope },
    repoId,
  );
  await change(service, changeId, { type: 'fact_update_link', old_fact_id: oldId, new_fact_id: newId }, repoId);
  return changeId;
}

const itemOf = (pack: Pack, id: string): PackItem | undefined => allItems(pack).find((item) => item.memory_id === id);

test('of two equal matches the replaced fact comes after the one that replaced it, with half its score', async () => {
  const repoId = newRepo();
  const oldId = await fact(repoId, 'Redis port 6379');
  const newId = await fact(repoId, 'Redis port 6380');
  expect(idsIn((await recall(service, 'redis port', {}, repoId)).direct)).toEqual([oldId, newId]);

  await replace(repoId, oldId, newId);
  const { direct } = await recall(service, 'redis port', {}, repoId);
  expect(direct.map((item) => [item.memory_id, item.state, item.superseded_by])).toEqual([
    [newId, 'current', undefined],
    [oldId, 'superseded', newId],
  ]);
  expect(direct[1]?.score).toBeCloseTo((direct[0]?.score as number) / 2, 12);
});

test('a replaced fact brings the fact that holds now, ranked above it, even when only the old words match', async () => {
  const repoId = newRepo();
  const oldId = await fact(repoId, 'Sparrow is the queue');
  const newId = await fact(repoId, 'Messages travel elsewhere');
  await replace(repoId, oldId, newId);
  const pack = await recall(service, 'sparrow queue', { kinds: ['fact'] }, repoId);
  expect(idsIn(pack.direct)).toEqual([oldId]);
  expect(pack.explicit_related).toMatchObject([
    { memory_id: newId, state: 'current', why_included: 'fact_update', anchor_memory_id: oldId },
  ]);
  expect(pack.explicit_related[0]?.score).toBeGreaterThan(pack.direct[0]?.score as number);
});

test('with room for one only, what is true now goes before what was true', async () => {
  const repoId = newRepo();
  const oldId = await fact(repoId, 'Sparrow is the queue');
  const newId = await fact(repoId, 'Messages travel elsewhere');
  await replace(repoId, oldId, newId);
  expect(idsIn(allItems(await recall(service, 'sparrow queue', { limit: 1 }, repoId)))).toEqual([newId]);
  expect(idsIn(allItems(await recall(service, 'sparrow queue', { limit: 2 }, repoId))).sort()).toEqual(
    [oldId, newId].sort(),
  );
});

test('a replaced fact never takes a place without its successor, however many better matches there are', async () => {
  const repoId = newRepo();
  const oldId = await fact(repoId, 'Sparrow queue');
  const newId = await fact(repoId, 'Messages travel elsewhere');
  await replace(repoId, oldId, newId);
  for (let index = 0; index < 6; index++) await fact(repoId, `Sparrow note${index}`);
  for (let limit = 1; limit <= 10; limit++) {
    const ids = idsIn(allItems(await recall(service, 'sparrow', { limit }, repoId)));
    if (ids.includes(oldId)) expect(ids).toContain(newId);
    expect(ids.length).toBeLessThanOrEqual(limit);
  }
});

test('the end of a chain is what holds now, for every fact of the chain', async () => {
  const repoId = newRepo();
  const firstId = await fact(repoId, 'Sparrow is the queue');
  const secondId = await fact(repoId, 'Then it was Falcon');
  const thirdId = await fact(repoId, 'Messages travel elsewhere');
  await replace(repoId, firstId, secondId);
  await replace(repoId, secondId, thirdId);
  const pack = await recall(service, 'sparrow queue', {}, repoId);
  expect(itemOf(pack, firstId)).toMatchObject({ state: 'superseded', superseded_by: thirdId });
  expect(itemOf(pack, secondId)).toMatchObject({ state: 'superseded', superseded_by: thirdId });
  expect(itemOf(pack, thirdId)).toMatchObject({ state: 'current', why_included: 'fact_update' });
});

test('a fact that was replaced a hundred times over still leads to the last', async () => {
  const repoId = newRepo();
  const items: object[] = [];
  const memory = (text: string, kind: string) => ({ text, kind, scope: 'repo', confidence: 1, evidence_refs: ['log'] });
  const send = async () => {
    const { body } = await service.http.post('/memory/batch').send({ repo_id: repoId, items }).expect(200);
    items.length = 0;
    return body.results.map((result: { memory_id: string }) => result.memory_id) as string[];
  };
  for (let index = 0; index < 100; index++) items.push({ op: 'write', memory: memory(`version${index} runs`, 'fact') });
  const factIds = await send();
  const changeId = await remember(service, { text: 'Every release', kind: 'change' }, repoId);
  for (let index = 1; index < 100; index++) {
    const update = { type: 'fact_update_link', old_fact_id: factIds[index - 1], new_fact_id: factIds[index] };
    items.push({ op: 'update', memory_id: changeId, update });
  }
  await send();

  const pack = await recall(service, 'version0', {}, repoId);
  expect(itemOf(pack, factIds[0] as string)?.superseded_by).toBe(factIds[99]);
  expect(itemOf(pack, factIds[99] as string)?.state).toBe('current');
  const shownAsCurrent = allItems(pack).filter((item) => item.kind === 'fact' && item.state === 'current');
  expect(idsIn(shownAsCurrent)).toEqual([factIds[99]]);
});

test('a fact that was replaced twice is superseded by the later of the two', async () => {
  const repoId = newRepo();
  const oldId = await fact(repoId, 'Sparrow is the queue');
  const earlierId = await fact(repoId, 'First attempt at the truth');
  const laterId = await fact(repoId, 'Second attempt at the truth');
  await replace(repoId, oldId, earlierId);
  service.clock.advance(1000);
  await replace(repoId, oldId, laterId);
  const pack = await recall(service, 'sparrow queue', {}, repoId);
  expect(itemOf(pack, oldId)?.superseded_by).toBe(laterId);
});

test('include_fact_update_links false brings no successor and still says that the fact was replaced', async () => {
  const repoId = newRepo();
  const oldId = await fact(repoId, 'Sparrow is the queue');
  const newId = await fact(repoId, 'Messages travel elsewhere');
  await replace(repoId, oldId, newId);
  const pack = await recall(service, 'sparrow', { expand: { include_fact_update_links: false } }, repoId);
  expect(allItems(pack)).toMatchObject([{ memory_id: oldId, state: 'superseded', superseded_by: newId }]);
});

test('a replaced fact stays replaced when its successor is archived, and the successor is not shown', async () => {
  const repoId = newRepo();
  const oldId = await fact(repoId, 'Sparrow is the queue');
  const newId = await fact(repoId, 'Messages travel elsewhere');
  await replace(repoId, oldId, newId);
  await change(service, newId, { type: 'archive_state', archived: true }, repoId);
  const pack = await recall(service, 'sparrow', {}, repoId);
  expect(itemOf(pack, oldId)?.state).toBe('superseded');
  expect(itemOf(pack, newId)).toBeUndefined();
});

test('a repo may replace a global fact for itself; elsewhere the global fact still holds', async () => {
  const repoId = newRepo();
  const globalId = await fact(repoId, 'Bittern certificates last a year', 'global');
  const localId = await fact(repoId, 'Here they last a month');
  await replace(repoId, globalId, localId);
  const here = await recall(service, 'bittern certificates', {}, repoId);
  expect(itemOf(here, globalId)).toMatchObject({ state: 'superseded', superseded_by: localId });
  const elsewhere = await recall(service, 'bittern certificates', {}, newRepo());
  expect(allItems(elsewhere)).toMatchObject([{ memory_id: globalId, state: 'current' }]);
});

test('of a global and a later local replacement of a global fact, the later one counts in the repo', async () => {
  const repoId = newRepo();
  const globalId = await fact(repoId, 'Whimbrel keys rotate weekly', 'global');
  const newGlobalId = await fact(repoId, 'Keys rotate daily', 'global');
  const localId = await fact(repoId, 'Keys rotate hourly in this repo');
  await replace(repoId, globalId, newGlobalId, 'global');
  service.clock.advance(1000);
  await replace(repoId, globalId, localId);
  const pack = await recall(service, 'whimbrel keys', {}, repoId);
  expect(itemOf(pack, globalId)?.superseded_by).toBe(localId);
  const elsewhere = await recall(service, 'whimbrel keys', {}, newRepo());
  expect(itemOf(elsewhere, globalId)?.superseded_by).toBe(newGlobalId);
});

test('a replaced fact sinks before the best are chosen, so that it takes no place from what holds', async () => {
  const repoId = newRepo();
  const oldId = await fact(repoId, 'Sparrow port');
  await replace(repoId, oldId, await fact(repoId, 'It is elsewhere now'));
  const heldId = await fact(repoId, 'Sparrow port seen from the outside');
  const { direct } = await recall(service, 'sparrow port', { limit: 1 }, repoId);
  expect(idsIn(direct)).toEqual([heldId]);
});
