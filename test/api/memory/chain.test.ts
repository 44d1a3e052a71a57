import { afterAll, beforeAll, expect, test } from 'vitest';
import { change, memoryBody, remember } from '../../support/requests.js';
import { type Service, startService } from '../../support/service.js';
import { times } from '../../support/together.js';

const REPO = 'acme/shop';

let service: Service;
beforeAll(async () => {
  service = await startService();
});
afterAll(() => service.stop());

interface ChainLink {
  memory_id: string;
  state: string;
  change_id: string | null;
  replaced_memory_ids: string[];
  rationale: string | null;
}

const getChain = async (id: string, repoId = REPO): Promise<ChainLink[]> => {
  const { body } = await service.http.get(`/memory/${id}/chain`).query({ repo_id: repoId }).expect(200);
  expect(body.memory_id).toBe(id);
  return body.chain;
};
const idsOf = (chain: readonly ChainLink[]): string[] => chain.map((link) => link.memory_id);

const fact = (text: string, scope = 'repo'): Promise<string> => remember(service, { text, scope }, REPO);
let changes = 0;
async function replace(oldId: string, newId: string, rationale?: string, scope = 'repo'): Promise<string> {
  const changeId = await remember(service, { text: `Change ${++changes}`, kind: 'change', scope }, REPO);
  const update = { type: 'fact_update_link', old_fact_id: oldId, new_fact_id: newId, ...(rationale && { rationale }) };
  await change(service, changeId, update, REPO);
  return changeId;
}

test('the history of a fact runs from oldest to newest, each with the change and the reason that brought it', async () => {
  const [first, second, third] = [await fact('Skua v1'), await fact('Skua v2'), await fact('Skua v3')];
  const firstChange = await replace(first, second, 'security fix');
  const secondChange = await replace(second, third);
  const expected = [
    {
      memory_id: first,
      text: 'Skua v1',
      state: 'superseded',
      change_id: null,
      replaced_memory_ids: [],
      rationale: null,
    },
    {
      memory_id: second,
      state: 'superseded',
      change_id: firstChange,
      replaced_memory_ids: [first],
      rationale: 'security fix',
    },
    { memory_id: third, state: 'current', change_id: secondChange, replaced_memory_ids: [second], rationale: null },
  ];
  for (const id of [first, second, third, firstChange, secondChange]) {
    expect(await getChain(id)).toMatchObject(expected);
  }
});

test('the order is that of the replacements, whatever was written first', async () => {
  const newest = await fact('Skua written first, true last');
  service.clock.advance(1000);
  const middle = await fact('Skua written second, true second');
  service.clock.advance(1000);
  const oldest = await fact('Skua written last, true first');
  await replace(middle, newest);
  await replace(oldest, middle);
  expect(idsOf(await getChain(middle))).toEqual([oldest, middle, newest]);
});

test('a fact that replaced two names both, and a fact that was replaced by two comes before both', async () => {
  const right = await fact('Right, known first');
  service.clock.advance(1000);
  const [left, merged] = [await fact('Left'), await fact('Merged')];
  const [one, other] = [await fact('One half'), await fact('Other half')];
  await replace(left, merged);
  await replace(right, merged);
  await replace(merged, one);
  await replace(merged, other);
  const chain = await getChain(other);
  expect(idsOf(chain)).toEqual([right, left, merged, one, other]);
  expect([...(chain[2]?.replaced_memory_ids ?? [])].sort()).toEqual([left, right].sort());
});

test('a fact that was never replaced is its own history; a change that replaced nothing has none', async () => {
  const id = await fact('Skua alone');
  expect(await getChain(id)).toMatchObject([{ memory_id: id, state: 'current', change_id: null }]);
  const changeId = await remember(service, { text: 'Changed nothing', kind: 'change' }, REPO);
  expect(await getChain(changeId)).toEqual([]);
});

test('an archived fact keeps its place in the history and says that it is archived', async () => {
  const [first, second] = [await fact('Skua before'), await fact('Skua after')];
  await replace(first, second);
  await change(service, first, { type: 'archive_state', archived: true }, REPO);
  expect((await getChain(second)).map((link) => link.state)).toEqual(['archived', 'current']);
});

test('a chain of a hundred facts is shown whole, and only its last is current', async () => {
  const items: object[] = [];
  const send = async () => {
    const { body } = await service.http.post('/memory/batch').send({ repo_id: REPO, items }).expect(200);
    items.length = 0;
    return body.results.map((result: { memory_id: string }) => result.memory_id) as string[];
  };
  for (let index = 0; index < 100; index++) {
    const memory = {
      text: `Skua revision ${index}`,
      kind: 'fact',
      scope: 'repo',
      confidence: 1,
      evidence_refs: ['log'],
    };
    items.push({ op: 'write', memory });
  }
  const ids = await send();
  const changeId = await remember(service, { text: 'Steady progress', kind: 'change' }, REPO);
  for (let index = 1; index < 100; index++) {
    const update = { type: 'fact_update_link', old_fact_id: ids[index - 1], new_fact_id: ids[index] };
    items.push({ op: 'update', memory_id: changeId, update });
  }
  await send();
  const chain = await getChain(ids[50] as string);
  expect(idsOf(chain)).toEqual(ids);
  expect(chain.filter((link) => link.state === 'current').map((link) => link.memory_id)).toEqual([ids[99]]);
});

test('what a repo made of a global fact is part of its history there and nowhere else', async () => {
  const [oldGlobal, newGlobal, local] = [await fact('G1', 'global'), await fact('G2', 'global'), await fact('L3')];
  const globalChange = await replace(oldGlobal, newGlobal, undefined, 'global');
  await replace(newGlobal, local);
  expect(idsOf(await getChain(oldGlobal))).toEqual([oldGlobal, newGlobal, local]);
  const elsewhere = await getChain(oldGlobal, 'acme/other');
  expect(elsewhere).toMatchObject([
    { memory_id: oldGlobal, state: 'superseded' },
    { memory_id: newGlobal, state: 'current', change_id: globalChange },
  ]);
});

test('only facts and changes have a history', async () => {
  const id = await remember(service, { text: 'No history', kind: 'problem' }, REPO);
  const { body } = await service.http.get(`/memory/${id}/chain`).query({ repo_id: REPO }).expect(422);
  expect(body).toMatchObject({ code: 'integrity_error', errors: [{ field: 'memory_id' }] });
});

test("another repo's fact, an unknown id and an id of the wrong form are not found", async () => {
  const id = await fact('Skua at home');
  for (const [memoryId, repoId] of [
    [id, 'acme/other'],
    ['ffffffff-ffff-4fff-8fff-ffffffffffff', REPO],
    ['nonsense', REPO],
  ]) {
    const { body } = await service.http.get(`/memory/${memoryId}/chain`).query({ repo_id: repoId }).expect(404);
    expect(body.code).toBe('not_found');
  }
});

test('of a long history the nearest 1,000 replacements are shown, and what is true now is known all the same', async () => {
  const repoId = 'acme/long';
  const send = async (items: object[]): Promise<string[]> => {
    const { body } = await service.http.post('/memory/batch').send({ repo_id: repoId, items }).expect(200);
    return body.results.map((result: { memory_id: string }) => result.memory_id);
  };
  const write = (text: string, kind = 'fact') => ({ op: 'write', memory: memoryBody({ text, kind }) });
  const [changeId] = (await send([write('It goes on', 'change')])) as [string];
  const facts: string[] = [];
  for (let round = 0; round < 11; round++) {
    const from = facts.length;
    facts.push(...(await send(times(100, (index) => write(`Version ${from + index}`)))));
  }
  const links = facts.slice(1).map((newId, index) => ({
    op: 'update',
    memory_id: changeId,
    update: { type: 'fact_update_link', old_fact_id: facts[index], new_fact_id: newId },
  }));
  for (let from = 0; from < links.length; from += 100) await send(links.slice(from, from + 100));

  const ask = (id: string) => service.http.get(`/memory/${id}/chain`).query({ repo_id: repoId }).expect(200);
  const { body } = await ask(facts[0] as string);
  expect(body.chain_complete).toBe(false);
  expect(idsOf(body.chain)).toEqual(facts.slice(0, 1_001));
  const { body: detail } = await service.http.get(`/memory/${facts[0]}`).query({ repo_id: repoId }).expect(200);
  expect(detail.superseded_by).toBe(facts.at(-1));
  expect((await ask(changeId)).body.chain_complete).toBe(false);
});

test('where a repo and the global space replace two facts by each other, the newer replacement holds', async () => {
  const [one, other] = [await fact('Bittern is on', 'global'), await fact('Bittern is off', 'global')];
  await replace(one, other);
  service.clock.advance(1000);
  const changeId = await remember(service, { text: 'Back on', kind: 'change', scope: 'global' }, 'acme/elsewhere');
  const update = { type: 'fact_update_link', old_fact_id: other, new_fact_id: one };
  await change(service, changeId, update, 'acme/elsewhere');
  const states = (await getChain(one)).map((link) => [link.memory_id, link.state]);
  expect(Object.fromEntries(states)).toEqual({ [one]: 'current', [other]: 'superseded' });
});
