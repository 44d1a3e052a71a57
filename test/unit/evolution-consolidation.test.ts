import { describe, expect, test } from 'vitest';
import { consolidate } from '../../src/domain/consolidation.js';
import { type EvolvingNode, mayEvolve, summaryKey } from '../../src/domain/evolution.js';
import { FORM_NAMES } from '../../src/domain/forms.js';
import { TIERS } from '../../src/domain/vocabulary.js';
import { concept, edgeOf } from '../support/evolving.js';
import { START_MS } from '../support/plans.js';

const NOTHING = { promoted: [], reinforced: [], merged: [], strengthened: [], relinked: [], summaries: [] };

const idsOf = (rows: readonly { readonly id: string }[]): string[] => rows.map(({ id }) => id);

test('a form evolves only if it is not a memory', () => {
  expect(mayEvolve('concept')).toBe(true);
  expect([...FORM_NAMES, 'reference'].filter((form) => form !== 'concept' && mayEvolve(form))).toEqual([]);
});

describe('twins', () => {
  test('the surest is kept and promoted, the others are archived and name it', () => {
    const nodes = [
      concept('a', { content: 'Use tabs', confidence: 0.6 }),
      concept('b', { content: '  use TABS\n', confidence: 0.9 }),
      concept('c', { content: 'use tabs', confidence: 0.3 }),
    ];
    const { promoted, merged } = consolidate(nodes, []);
    expect(idsOf(promoted)).toEqual(['b']);
    expect(merged).toEqual([
      { id: 'a', keeperId: 'b', reason: 'merged into b' },
      { id: 'c', keeperId: 'b', reason: 'merged into b' },
    ]);
  });

  test('the keeper takes over the accesses of all and the latest of their times', () => {
    const { promoted } = consolidate(
      [
        concept('a', { content: 'x', confidence: 0.9, accessCount: 2 }),
        concept('b', { content: 'x', accessCount: 5, lastAccessedAtMs: START_MS + 7 }),
        concept('c', { content: 'x', accessCount: 0, lastAccessedAtMs: START_MS + 3 }),
      ],
      [],
    );
    expect(promoted).toEqual([{ id: 'a', accessCount: 7, lastAccessedAtMs: START_MS + 7, tags: null }]);
  });

  test.each<[string, Partial<EvolvingNode>, Partial<EvolvingNode>]>([
    ['accesses', { accessCount: 1 }, { accessCount: 2 }],
    ['age', { accessCount: 2 }, { accessCount: 2, createdAtMs: START_MS - 1 }],
  ])('between equally sure ones %s decide', (_, loser, keeper) => {
    const { promoted } = consolidate(
      [concept('a', { content: 'x', ...loser }), concept('b', { content: 'x', ...keeper })],
      [],
    );
    expect(idsOf(promoted)).toEqual(['b']);
  });

  test('between equals in everything the id decides', () => {
    const { promoted } = consolidate([concept('b', { content: 'x' }), concept('a', { content: 'x' })], []);
    expect(idsOf(promoted)).toEqual(['a']);
  });

  test('keepers come oldest first, whatever the age of their twins', () => {
    const nodes = [
      concept('a', { content: 'x' }),
      concept('b', { content: 'y', createdAtMs: START_MS + 1 }),
      concept('c', { content: 'x', confidence: 1, createdAtMs: START_MS + 2 }),
    ];
    expect(idsOf(consolidate(nodes, []).promoted)).toEqual(['b', 'c']);
  });

  test('who was kept before stands for those who say the same, even for one that is surer', () => {
    const standing = concept('kept', { tier: 'session', content: 'X', accessCount: 2, tags: ['a'] });
    const nodes = [concept('b', { content: 'x', confidence: 1, accessCount: 3, tags: ['b'] })];
    expect(
      consolidate(nodes, [edgeOf('e', ['b', 'far'])], { standing: [standing], keeperOf: new Map([['far', 'near']]) }),
    ).toMatchObject({
      promoted: [],
      reinforced: [{ id: 'kept', accessCount: 5, tags: ['a', 'b'] }],
      merged: [{ id: 'b', keeperId: 'kept' }],
      relinked: [{ edgeId: 'e', members: [{ nodeId: 'kept' }, { nodeId: 'near' }] }],
    });
  });

  test('what is said once is promoted as it is', () => {
    expect(consolidate([concept('a', { accessCount: 3 })], [])).toEqual({
      ...NOTHING,
      promoted: [{ id: 'a', accessCount: 3, lastAccessedAtMs: START_MS, tags: null }],
    });
  });

  test.each<[string, Partial<EvolvingNode>]>([
    ['another type', { type: 'snippet' }],
    ['other white space inside', { content: 'if  x' }],
  ])('%s makes no twin', (_, fields) => {
    const { promoted } = consolidate(
      [concept('a', { content: 'if x' }), concept('b', { content: 'if x', ...fields })],
      [],
    );
    expect(idsOf(promoted)).toEqual(['a', 'b']);
  });

  test.each(TIERS.filter((tier) => tier !== 'task'))(
    'a node of tier %s is left alone, and so are its edges',
    (tier) => {
      const nodes = ['a', 'b'].map((id) => concept(id, { tier, content: 'x', accessCount: 5 }));
      expect(consolidate(nodes, [edgeOf('e', ['a', 'b'])])).toEqual(NOTHING);
    },
  );

  test.each(['memory', 'reference'])('a node of form %s is left alone, and so are its edges', (form) => {
    const nodes = ['a', 'b'].map((id) => concept(id, { form, content: 'x', accessCount: 5 }));
    expect(consolidate(nodes, [edgeOf('e', ['a', 'b'])])).toEqual(NOTHING);
  });
});

describe('edges', () => {
  test.each([
    [1, [0, 1], 1],
    [1, [0, 2], 1.2],
    [1, [10, 0], 2],
    [1, [500, 0], 2],
    [1, [5, 3], 1.5],
    [9, [10, 0], 10],
    [10, [10, 0], 10],
    [40, [10, 0], 40],
    [0, [10, 0], 0],
  ])('weight %d between nodes asked for %j times becomes %d', (weight, accesses, stronger) => {
    const nodes = accesses.map((accessCount, index) => concept(`n${index}`, { accessCount }));
    const { strengthened } = consolidate(nodes, [edgeOf('e', ['n0', 'n1'], { weight })]);
    expect(strengthened).toEqual(stronger === weight ? [] : [{ edgeId: 'e', weight: stronger }]);
  });

  test('an edge found from both of its ends is strengthened once', () => {
    const nodes = [concept('a', { accessCount: 5 }), concept('b', { accessCount: 5 })];
    const edge = edgeOf('e', ['a', 'b']);
    expect(consolidate(nodes, [edge, edge]).strengthened).toEqual([{ edgeId: 'e', weight: 1.5 }]);
  });

  test('an edge that has no part in the task keeps its weight', () => {
    const nodes = [concept('a', { accessCount: 5 }), concept('b', { tier: 'session', accessCount: 9 })];
    const edges = [edgeOf('e', ['b', 'c']), edgeOf('d', ['a', 'b'])];
    expect(consolidate(nodes, edges).strengthened).toEqual([{ edgeId: 'd', weight: 1.5 }]);
  });
});

describe('an edge of a twin that goes', () => {
  const nodes = [
    concept('kept', { content: 'x', confidence: 0.9 }),
    concept('twin', { content: 'x', accessCount: 5 }),
    concept('other', { content: 'y' }),
  ];

  test('is drawn again from who is kept, as strong as it has become', () => {
    const { relinked } = consolidate(nodes, [edgeOf('e', ['other', 'twin'])]);
    expect(relinked).toEqual([
      {
        edgeId: 'e',
        weight: 1.5,
        members: [
          { place: 0, nodeId: 'other' },
          { place: 1, nodeId: 'kept' },
        ],
      },
    ]);
  });

  test('is drawn again among those who are left, where two of its members become one', () => {
    const twins = [...nodes, concept('third', { content: 'x' })];
    expect(consolidate(twins, [edgeOf('e', ['twin', 'third', 'other'], { weight: 2 })]).relinked).toEqual([
      {
        edgeId: 'e',
        weight: 3,
        members: [
          { place: 0, nodeId: 'kept' },
          { place: 2, nodeId: 'other' },
        ],
      },
    ]);
  });

  test('is drawn again where the keeper has another part in it', () => {
    const roles = ['subject', 'object', 'participant'];
    const { relinked } = consolidate(nodes, [edgeOf('e', ['twin', 'kept', 'other'], { roles })]);
    expect(relinked.map(({ members }) => members.map(({ nodeId }) => nodeId))).toEqual([['kept', 'kept', 'other']]);
  });

  test('of a hub, who cannot be merged, is left alone', () => {
    const { merged, relinked } = consolidate(nodes, [edgeOf('e', ['other', 'twin'])], { hubIds: new Set(['twin']) });
    expect([merged, relinked]).toEqual([[], []]);
  });

  test.each([
    ['does not touch a twin', edgeOf('e', ['other', 'kept'])],
    ['joins twins', edgeOf('e', ['kept', 'twin'])],
    ['has the keeper in the same part already', edgeOf('e', ['kept', 'twin', 'other'])],
    ['is a summary’s', edgeOf('e', ['other', 'twin'], { label: 'summarizes' })],
  ])('is not, where it %s', (_, edge) => {
    expect(consolidate(nodes, [edge]).relinked).toEqual([]);
  });
});

test('what two sessions noted is neither merged nor summed up together', () => {
  const nodes = ['s', 's', 't'].map((sessionId, index) =>
    concept(`n${index}`, { sessionId, kind: 'goal', content: index === 1 ? 'y' : 'x' }),
  );
  const { promoted, merged, summaries } = consolidate(nodes, []);
  expect([promoted.length, merged, summaries]).toEqual([3, [], []]);
});

describe('summaries', () => {
  const goals = (count: number, fields: Partial<EvolvingNode> = {}): EvolvingNode[] =>
    Array.from({ length: count }, (_, index) =>
      concept(`g${index}`, { kind: 'goal', content: `goal ${index}`, createdAtMs: START_MS + index, ...fields }),
    );

  test('tell what the nodes of one subtype say, with their mean confidence', () => {
    const nodes = [
      concept('a', { kind: 'goal', content: 'Ship it.', confidence: 0.5 }),
      concept('b', { kind: 'goal', content: 'Test\n  it.', confidence: 1 }),
      concept('c', { kind: 'option', content: 'Leave it.' }),
    ];
    expect(consolidate(nodes, []).summaries).toEqual([
      { content: '- Ship it.\n- Test it.', confidence: 0.75, sessionId: null, sourceIds: ['a', 'b'] },
    ]);
  });

  test.each([
    ['fewer than three nodes', goals(2)],
    ['three nodes of which two say the same', [...goals(2), concept('twin', { kind: 'goal', content: 'GOAL 0' })]],
    ['no subtype that two of them share', [concept('a'), concept('b'), concept('c', { kind: 'goal' })]],
    ['no subtype at all', [concept('a'), concept('b'), concept('c')]],
    [
      'a subtype of the same name in two types',
      [...goals(1), concept('a'), concept('b', { kind: 'goal', type: 'decision' })],
    ],
  ])('are not made of %s', (_, nodes) => {
    expect(consolidate(nodes, []).summaries).toEqual([]);
  });

  test('are not made a second time of the same sources', () => {
    const existingSummaries = new Set([summaryKey(['g2', 'g0', 'g1'])]);
    expect(consolidate(goals(3), [], { existingSummaries }).summaries).toEqual([]);
    expect(consolidate(goals(4), [], { existingSummaries }).summaries).toHaveLength(1);
  });

  test('name ten nodes and have all of them as sources', () => {
    const [summary] = consolidate(goals(12), []).summaries;
    expect(summary?.content.split('\n')).toEqual(Array.from({ length: 10 }, (_, index) => `- goal ${index}`));
    expect(summary?.sourceIds).toHaveLength(12);
  });

  test('cut an item at 200 characters and hold as many whole items as fit into 1000', () => {
    const nodes = goals(6).map((node, index) => ({ ...node, content: `${index}`.repeat(300) }));
    const content = consolidate(nodes, []).summaries[0]?.content;
    expect(content?.split('\n')).toEqual(['0', '1', '2', '3'].map((digit) => `- ${digit.repeat(200)}`));
  });

  test('never hold half of a character', () => {
    const nodes = goals(3).map((node, index) => ({ ...node, content: `${index}${'🧠'.repeat(200)}` }));
    const content = consolidate(nodes, []).summaries[0]?.content as string;
    expect(content.isWellFormed()).toBe(true);
    expect(content.split('\n')[0]).toBe(`- 0${'🧠'.repeat(99)}`);
  });

  test('leave out what says nothing', () => {
    const nodes = [...goals(2), concept('blank', { kind: 'goal', content: ' \n' })];
    expect(consolidate(nodes, []).summaries[0]?.content).toBe('- goal 0\n- goal 1');
  });
});

test('the key of a summary is that of the set of its sources', () => {
  expect(summaryKey(['b', 'a', 'b'])).toBe(summaryKey(['a', 'b']));
  expect(summaryKey(['a', 'b'])).not.toBe(summaryKey(['a', 'b', 'c']));
  expect(summaryKey(['a,b'])).not.toBe(summaryKey(['a', 'b']));
});
