import { describe, expect, test } from 'vitest';
import { type EvolvingNode, SUMMARIZES, summaryKey } from '../../src/domain/evolution.js';
import { promote, promoteOne } from '../../src/domain/promotion.js';
import { TIERS, type Tier } from '../../src/domain/vocabulary.js';
import { concept, edgeOf } from '../support/evolving.js';
import { START_MS } from '../support/plans.js';

const inSession = (id: string, fields: Partial<EvolvingNode> = {}): EvolvingNode =>
  concept(id, { tier: 'session', confidence: 0.9, ...fields });

describe('a session', () => {
  test.each([
    [0.8, ['a']],
    [0.79, []],
  ])('at confidence %d promotes %j', (confidence, promotedIds) => {
    expect(promote([inSession('a', { confidence })], []).promotedIds).toEqual(promotedIds);
  });

  test('promotes above the threshold it is given', () => {
    const nodes = [inSession('a', { confidence: 0.5 }), inSession('b', { confidence: 0.49 })];
    expect(promote(nodes, [], { threshold: 0.5 }).promotedIds).toEqual(['a']);
  });

  test.each([
    [[1, 5, 9], 5, ['n1', 'n2']],
    [[9, 5, 1], 5, ['n0', 'n1']],
    [[1, 2, 3, 4], 3, ['n2', 'n3']],
    [[2, 10], 10, ['n1']],
    [[0, 0, 0], 0, ['n0', 'n1', 'n2']],
  ])('with accesses %j asks for %d and promotes %j', (accesses, accessMedian, promotedIds) => {
    const nodes = accesses.map((accessCount, index) => inSession(`n${index}`, { accessCount }));
    expect(promote(nodes, [])).toMatchObject({ accessMedian, promotedIds });
  });

  test('counts the unsure ones in the median too', () => {
    const nodes = [1, 7, 8].map((accessCount, index) =>
      inSession(`n${index}`, { accessCount, confidence: index ? 0.1 : 1 }),
    );
    expect(promote(nodes, [])).toMatchObject({ accessMedian: 7, promotedIds: [] });
  });

  test('promotes nobody more when it is run again', () => {
    const nodes = [1, 5, 9].map((accessCount, index) => inSession(`n${index}`, { accessCount }));
    const { promotedIds } = promote(nodes, []);
    const promoted = nodes.map((node) =>
      promotedIds.includes(node.id) ? { ...node, tier: 'longterm' as const } : node,
    );
    expect(promote(promoted, [])).toMatchObject({ accessMedian: 5, promotedIds: [] });
  });

  test('does not ask for less because a summary was never asked for', () => {
    const nodes = [
      inSession('a', { accessCount: 4 }),
      inSession('b', { accessCount: 5 }),
      inSession('s'),
      inSession('t'),
    ];
    const edges = [edgeOf('e', ['s', 'a'], { label: SUMMARIZES }), edgeOf('f', ['t', 'a'], { label: SUMMARIZES })];
    expect(promote(nodes, edges)).toMatchObject({ accessMedian: 5, promotedIds: ['b'] });
  });

  test('promotes a summary that is asked for as often as the rest', () => {
    const nodes = [inSession('a', { accessCount: 4 }), inSession('s', { accessCount: 4 })];
    expect(promote(nodes, [edgeOf('e', ['s', 'a'], { label: SUMMARIZES })]).promotedIds).toEqual(['a', 's']);
  });

  test.each(TIERS.filter((tier) => tier !== 'session'))('leaves a node of tier %s where it is', (tier) => {
    expect(promote([inSession('a', { tier })], []).promotedIds).toEqual([]);
  });

  test('is not measured by its archived nodes, nor by those of tasks that go on', () => {
    const others = (['task', 'archive'] as const).map((tier) => inSession(tier, { tier, accessCount: 100 }));
    expect(promote([inSession('a', { accessCount: 1 }), ...others], [])).toMatchObject({ accessMedian: 1 });
  });

  test.each(['memory', 'reference'])('leaves a node of form %s alone', (form) => {
    const nodes = ['a', 'b', 'c'].map((id) => inSession(id, { form, accessCount: 3 }));
    expect(promote(nodes, [edgeOf('e', ['a', 'b', 'c'])])).toEqual({
      accessMedian: 0,
      promotedIds: [],
      crystallized: [],
    });
  });
});

describe('crystallising', () => {
  const ids = ['a', 'b', 'c', 'd', 'e', 'f'];
  const nodes = ids.map((id, index) =>
    inSession(id, { content: `fact ${id}`, createdAtMs: START_MS + index, confidence: id === 'c' ? 0.95 : 0.85 }),
  );
  const chain = (...members: string[]) =>
    members.slice(1).map((id, index) => edgeOf(`${members[index]}-${id}`, [members[index] as string, id]));

  test('makes one fact of three that are joined, as sure as the surest', () => {
    expect(promote(nodes, chain('c', 'a', 'b')).crystallized).toEqual([
      { content: 'Summary: fact a; fact b; fact c', confidence: 0.95, sessionId: null, sourceIds: ['a', 'b', 'c'] },
    ]);
  });

  test('makes a fact of each cluster, the one with the oldest node first', () => {
    const { crystallized } = promote(nodes, [...chain('f', 'd', 'b'), edgeOf('e', ['c', 'a', 'e'])]);
    expect(crystallized.map(({ sourceIds }) => sourceIds)).toEqual([
      ['a', 'c', 'e'],
      ['b', 'd', 'f'],
    ]);
  });

  test('takes clusters together that a later edge joins', () => {
    const edges = [...chain('a', 'b'), ...chain('c', 'd'), ...chain('e', 'f'), edgeOf('x', ['b', 'd', 'e'])];
    expect(promote(nodes, edges).crystallized.map(({ sourceIds }) => sourceIds)).toEqual([ids]);
  });

  test('tells five of them, each in 100 characters, and has all of them as sources', () => {
    const long = nodes.map((node, index) => ({ ...node, content: `${index}${'🧠'.repeat(90)}` }));
    const [fact] = promote(long, chain(...ids)).crystallized;
    const excerpts = ['0', '1', '2', '3', '4'].map((digit) => `${digit}${'🧠'.repeat(49)}`);
    expect(fact?.content).toBe(`Summary: ${excerpts.join('; ')}`);
    expect(fact?.sourceIds).toEqual(ids);
  });

  test.each([
    ['two joined nodes', nodes, chain('a', 'b')],
    ['nodes that nothing joins', nodes, []],
    [
      'nodes joined only over one that was not promoted',
      nodes.with(1, inSession('b', { confidence: 0.1 })),
      chain('a', 'b', 'c'),
    ],
    ['nodes joined only by their summary', nodes, [edgeOf('x', ['a', 'b', 'c', 'd'], { label: SUMMARIZES })]],
    ['nodes that say nothing', nodes.map((node) => ({ ...node, content: ' ' })), chain('a', 'b', 'c')],
  ])('makes nothing of %s', (_, given, edges) => {
    expect(promote(given, edges).crystallized).toEqual([]);
  });

  test('makes no second fact of the same sources', () => {
    const existingSummaries = new Set([summaryKey(['c', 'b', 'a'])]);
    expect(promote(nodes, chain('a', 'b', 'c'), { existingSummaries }).crystallized).toEqual([]);
    expect(promote(nodes, chain('a', 'b', 'c', 'd'), { existingSummaries }).crystallized).toHaveLength(1);
  });
});

describe('one node by hand', () => {
  const moves: Partial<Record<string, Tier>> = {
    'task>undefined': 'session',
    'task>session': 'session',
    'task>longterm': 'longterm',
    'session>undefined': 'longterm',
    'session>longterm': 'longterm',
  };
  const cases = TIERS.flatMap((tier) => [undefined, ...TIERS].map((target) => [tier, target] as const));

  test.each(cases)('from %s to %s goes up or not at all', (tier, target) => {
    const to = moves[`${tier}>${target}`];
    expect(promoteOne(tier, target)).toEqual(to ? { move: { from: tier, to } } : { refusal: expect.any(String) });
  });

  test('a refusal says what could be done instead', () => {
    expect(promoteOne('session', 'task')).toEqual({
      refusal: 'a node of tier session can be promoted to longterm, not to task',
    });
    expect(promoteOne('longterm')).toEqual({
      refusal: 'a node of tier longterm cannot be promoted; no tier is above it',
    });
    expect(promoteOne('archive', 'longterm')).toEqual({ refusal: 'an archived node cannot be promoted; restore it' });
  });
});
