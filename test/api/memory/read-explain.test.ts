import { afterAll, beforeAll, expect, test } from 'vitest';
import { allItems, change, type Pack, type PackItem, readBody, recall, remember } from '../../support/requests.js';
import { type Service, startService } from '../../support/service.js';

const REPO = 'explain/shop';
let service: Service;

/** A store in which every part of a score occurs: votes, a replaced fact, attempts, and associations three steps deep. */
beforeAll(async () => {
  service = await startService();
  const write = (text: string, kind = 'fact', links = {}) => remember(service, { text, kind, links }, REPO);
  const problemId = await write('Petrel uploads stall', 'problem');
  const solutionId = await write('Petrel uploads resume after raising the timeout', 'solution', {
    problem_id: problemId,
  });
  await write('Turning it off and on', 'failed_tactic', { problem_id: problemId });
  const oldId = await write('Petrel timeout is 30 seconds');
  const newId = await write('It is 90 seconds now');
  const changeId = await write('Raised in the spring', 'change');
  await change(service, changeId, { type: 'fact_update_link', old_fact_id: oldId, new_fact_id: newId }, REPO);
  const nearId = await write('Near', 'fact', { related_memory_ids: [problemId] });
  const fartherId = await write('Farther', 'fact', { related_memory_ids: [nearId] });
  await write('Farthest', 'fact', { related_memory_ids: [fartherId] });
  for (const vote of [1, 1, -0.5]) {
    await change(service, solutionId, { type: 'utility_vote', problem_id: problemId, vote }, REPO);
  }
  await remember(service, { text: 'Petrel uploads need consent', kind: 'preference', scope: 'global' }, REPO);
});
afterAll(() => service.stop());

interface Parts {
  lexical?: { score: number; coverage: number; evidence: number; matched_terms: string[] };
  utility_factor?: number;
  anchor_score?: number;
  link_weight?: number;
  link_depth?: number;
  superseded_factor?: number;
}
const partsOf = (item: PackItem): Parts => item.explain as Parts;

const explained = (query: string, more: object = {}): Promise<Pack> =>
  recall(service, query, { explain: true, expand: { semantic_hops: 3 }, ...more }, REPO);

/** The documented meaning of the parts: all multiply, only the depth of a link divides. */
const product = (parts: Parts): number =>
  ((parts.lexical?.score ?? 1) *
    (parts.utility_factor ?? 1) *
    (parts.anchor_score ?? 1) *
    (parts.link_weight ?? 1) *
    (parts.superseded_factor ?? 1)) /
  (parts.link_depth ?? 1);

test.each(['petrel uploads', 'petrel timeout seconds', 'stall', 'resume', 'near', 'spring raised', 'consent'])(
  'the parts of every score multiply to the score, for the query %j in both modes',
  async (query) => {
    for (const mode of ['targeted', 'ambient']) {
      const pack = await explained(query, { mode });
      expect(pack.direct.length).toBeGreaterThan(0);
      for (const item of allItems(pack)) expect(product(partsOf(item))).toBeCloseTo(item.score, 12);
    }
  },
);

test('a direct match is explained by its words and votes, what was reached by the way there', async () => {
  const pack = await explained('petrel uploads');
  for (const item of pack.direct) {
    expect(Object.keys(partsOf(item)).sort()).toEqual(['lexical', 'utility_factor']);
  }
  for (const item of [...pack.explicit_related, ...pack.implicit_related]) {
    expect(Object.keys(partsOf(item)).sort()).toEqual(['anchor_score', 'link_depth', 'link_weight', 'utility_factor']);
    const anchor = allItems(pack).find((other) => other.memory_id === item.anchor_memory_id);
    expect(partsOf(item).anchor_score).toBe(anchor?.score);
  }
  expect(pack.implicit_related.map((item) => partsOf(item).link_depth)).toEqual([2, 3]);
});

test('a replaced fact shows what it lost; its successor inherits from before the loss', async () => {
  const pack = await explained('petrel timeout 30');
  const old = pack.direct.find((item) => item.state === 'superseded') as PackItem;
  const successor = pack.explicit_related.find((item) => item.memory_id === old.superseded_by) as PackItem;
  expect(partsOf(old).superseded_factor).toBe(0.5);
  expect(successor).toMatchObject({ why_included: 'fact_update', anchor_memory_id: old.memory_id });
  expect(partsOf(successor).anchor_score).toBeCloseTo(old.score * 2, 12);
});

test('coverage, evidence and score of the words are within their bounds, and the matched words are named', async () => {
  const pack = await explained('Petrel uploads stalling xylophone');
  const { lexical } = partsOf(pack.direct[0] as PackItem);
  expect(lexical?.matched_terms).toEqual(['petrel', 'upload', 'stall']);
  for (const item of pack.direct) {
    const { score, coverage, evidence } = partsOf(item).lexical as NonNullable<Parts['lexical']>;
    expect(score).toBeGreaterThan(0);
    expect(score).toBeLessThanOrEqual(1);
    expect(coverage).toBeGreaterThan(0);
    expect(coverage).toBeLessThanOrEqual(1 + 1e-12);
    expect(evidence).toBeGreaterThan(0);
  }
});

test('without explain no item is explained, and everything else is the same', async () => {
  const withParts = await explained('petrel uploads');
  const plain = await explained('petrel uploads', { explain: false });
  expect(await explained('petrel uploads', { explain: undefined })).toEqual(plain);
  for (const item of allItems(plain)) expect(item).not.toHaveProperty('explain');
  for (const item of allItems(withParts)) delete item.explain;
  expect(withParts).toEqual(plain);
});

test('an explain that is not a truth value is refused', async () => {
  const answer = await service.http
    .post('/memory/read')
    .send(readBody('anything', { explain: 1 }))
    .expect(400);
  expect(answer.body.errors.map((error: { field: string }) => error.field)).toEqual(['explain']);
});
