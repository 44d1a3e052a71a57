import { afterAll, beforeAll, expect, test } from 'vitest';
import { pack, type Section } from '../../../src/domain/packing.js';
import { allItems, idsIn, type Pack, readBody, recall, remember } from '../../support/requests.js';
import { type Service, startService } from '../../support/service.js';

let service: Service;
let repos = 0;
beforeAll(async () => {
  service = await startService();
});
afterAll(() => service.stop());

type Sizes = readonly [direct: number, explicitRelated: number, implicitRelated: number];

/** So many equal matches for "kestrel", so many memories related to the first of them, and so many one step further. */
async function neighbourhood([direct, explicitRelated, implicitRelated]: Sizes): Promise<string> {
  const repoId = `packing/${++repos}`;
  const write = (text: string, ...relatedIds: string[]) =>
    remember(service, { text, links: { related_memory_ids: relatedIds } }, repoId);
  const matches: string[] = [];
  for (let index = 0; index < direct; index++) matches.push(await write(`Kestrel nest${index}`));
  const neighbours: string[] = [];
  for (let index = 0; index < explicitRelated; index++)
    neighbours.push(await write(`Near ${index}`, matches[0] as string));
  for (let index = 0; index < implicitRelated; index++) await write(`Far ${index}`, neighbours[0] as string);
  return repoId;
}

const sizesOf = (answer: Pack): Sizes => [
  answer.direct.length,
  answer.explicit_related.length,
  answer.implicit_related.length,
];

test.each<[mode: string, limit: number, candidates: Sizes, packed: Sizes, because: string]>([
  ['targeted', 8, [6, 4, 3], [4, 3, 1], 'each section fills its quota'],
  ['ambient', 12, [6, 6, 5], [4, 5, 3], 'ambient answers have room for more context'],
  ['targeted', 5, [6, 4, 3], [4, 1, 0], 'the quotas of later sections are cut to what remains'],
  ['ambient', 7, [6, 6, 5], [4, 3, 0], 'the limit is the limit of the whole answer'],
  ['targeted', 8, [4, 1, 4], [4, 1, 3], 'places that a section leaves go to the best of the others'],
  ['targeted', 9, [6, 4, 3], [5, 3, 1], 'the first free place goes to the best that is left'],
  ['targeted', 12, [6, 4, 3], [6, 4, 2], 'more room takes more'],
  ['targeted', 1, [6, 4, 3], [1, 0, 0], 'one place is for the best match'],
  ['targeted', 100, [6, 4, 3], [6, 4, 3], 'everything fits'],
  ['targeted', 8, [0, 0, 0], [0, 0, 0], 'an empty pack is an answer'],
])('%s, limit %i: of %j candidates %j are packed: %s', async (mode, limit, candidates, packed) => {
  const repoId = await neighbourhood(candidates);
  const answer = await recall(service, 'kestrel', { mode, limit }, repoId);
  expect(sizesOf(answer)).toEqual(packed);
  const [direct, explicit_related, implicit_related] = packed;
  expect(answer.meta).toEqual({ mode, limit, counts: { direct, explicit_related, implicit_related } });
});

test('without a limit at most twenty memories are packed', async () => {
  const repoId = await neighbourhood([22, 2, 2]);
  const answer = await recall(service, 'kestrel', {}, repoId);
  expect(answer.meta.limit).toBe(20);
  expect(allItems(answer)).toHaveLength(20);
  expect(sizesOf(answer)).toEqual([17, 2, 1]);
});

/** The dense lane will find neighbours that no edge leads to; until then only the packing itself can be asked for this. */
test('one match and four implicit neighbours at limit four give the best three neighbours', () => {
  const candidate = (id: string, section: Section, score: number) => ({
    id,
    section,
    score,
    companionId: null,
    opens: false,
  });
  const candidates = [
    candidate('match', 'direct', 0.9),
    candidate('fourth', 'implicit_related', 0.1),
    candidate('first', 'implicit_related', 0.4),
    candidate('third', 'implicit_related', 0.2),
    candidate('second', 'implicit_related', 0.3),
  ];
  const { sections } = pack(candidates, { mode: 'targeted', items: 4, tokens: null }, () => 0);
  expect(sections.direct.map((item) => item.id)).toEqual(['match']);
  expect(sections.explicit_related).toEqual([]);
  expect(sections.implicit_related.map((item) => item.id)).toEqual(['first', 'second', 'third']);
});

test('sections follow one another, priorities count 1..n through them, each section is ordered by score and id', async () => {
  const repoId = await neighbourhood([5, 4, 3]);
  const answer = await recall(service, 'kestrel', {}, repoId);
  expect(Object.keys(answer)).toEqual(['meta', 'direct', 'explicit_related', 'implicit_related']);
  expect(allItems(answer).map((item) => item.priority)).toEqual(Array.from({ length: 12 }, (_, index) => index + 1));
  for (const items of [answer.direct, answer.explicit_related, answer.implicit_related]) {
    expect(idsIn(items)).toEqual(
      idsIn([...items].sort((a, b) => b.score - a.score || (a.memory_id < b.memory_id ? -1 : 1))),
    );
  }
  expect(new Set(idsIn(allItems(answer))).size).toBe(12);
});

test('every item says why it is there; only what was reached has an anchor, only associations a relation type', async () => {
  const repoId = await neighbourhood([2, 2, 2]);
  const answer = await recall(service, 'kestrel', {}, repoId);
  const shown = new Set(idsIn(allItems(answer)));
  for (const item of answer.direct) {
    expect(item.why_included).toBe('direct_match');
    expect(item).not.toHaveProperty('anchor_memory_id');
    expect(item).not.toHaveProperty('relation_type');
  }
  for (const item of answer.explicit_related) {
    expect(item).toMatchObject({ why_included: 'association_link', relation_type: 'related_to' });
    expect(shown).toContain(item.anchor_memory_id);
  }
  for (const item of answer.implicit_related) {
    expect(item.why_included).toBe('semantic_neighbor');
    expect(shown).toContain(item.anchor_memory_id);
    expect(item).not.toHaveProperty('relation_type');
  }
});

test('an item carries the memory as it was written', async () => {
  const fields = { text: 'Kittiwake  writes\ttwice ', kind: 'preference', scope: 'repo', confidence: 0.35 };
  const id = await remember(service, fields, 'packing/item');
  const [item] = (await recall(service, 'kittiwake', {}, 'packing/item')).direct;
  const created = { memory_id: id, form: 'memory', state: 'current', created_at: service.clock.iso(), priority: 1 };
  expect(item).toEqual({ ...fields, ...created, why_included: 'direct_match', score: item?.score });
});

test.each([
  ['zero', 0],
  ['more than a hundred', 101],
  ['a fraction', 2.5],
  ['text', '5'],
])('a limit that is %s is refused', async (_wrong, limit) => {
  const answer = await service.http.post('/memory/read').send(readBody('anything', { limit })).expect(400);
  expect(answer.body.errors.map((error: { field: string }) => error.field)).toEqual(['limit']);
});
