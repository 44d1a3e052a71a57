import { describe, expect, test } from 'vitest';
import { ANALYSES, type Evidence, reason } from '../../src/domain/reasoning.js';

const evidence = (id: string, content: string, fields: Partial<Evidence> = {}): Evidence => ({
  id,
  content,
  confidence: 0.8,
  createdAtMs: 1_000,
  tags: [],
  type: 'note',
  isLinked: true,
  ...fields,
});

const TABS = evidence('tabs', 'User prefers tabs', { tags: ['style'], type: 'preference' });
const SPACES = evidence('spaces', 'User prefers spaces', { tags: ['style'], type: 'preference', confidence: 0.6 });
const CACHE = evidence('cache', 'The cache is Redis on port 6380', { tags: ['cache'], type: 'fact', confidence: 0.9 });

const numbered = (count: number, fields: (index: number) => Partial<Evidence> = () => ({})): Evidence[] =>
  Array.from({ length: count }, (_, index) => evidence(`n${index}`, `Statement ${index}`, fields(index)));

const reversed = <Item>(items: readonly Item[]): Item[] => items.toReversed();

describe.each(ANALYSES)('a %s', (analysis) => {
  test('of nothing has no confidence and nothing to say', () => {
    expect(reason(analysis, [], [['a', 'b']])).toEqual({
      synthesis: 'No evidence.',
      insights: [],
      contradictions: [],
      confidence: 0,
    });
  });

  test('does not depend on the order of the evidence', () => {
    const sources = [
      TABS,
      SPACES,
      CACHE,
      ...numbered(9, (index) => ({ tags: [`t${index % 3}`], createdAtMs: index % 2 })),
    ];
    const pairs = [['n1', 'n2'] as const, ['tabs', 'cache'] as const];
    const swapped = pairs.map(([a, b]) => [b, a] as const);
    expect(reason(analysis, reversed(sources), reversed(swapped))).toEqual(reason(analysis, sources, pairs));
  });

  test('is never surer than its evidence is on the whole', () => {
    for (const sources of [[TABS], [TABS, SPACES], [TABS, SPACES, CACHE], numbered(20)]) {
      const mean = sources.reduce((sum, { confidence }) => sum + confidence, 0) / sources.length;
      const { confidence } = reason(analysis, sources, []);
      expect(confidence).toBeGreaterThanOrEqual(0);
      expect(confidence).toBeLessThanOrEqual(mean + 1e-12);
    }
  });

  test('has at most five insights, each with sources that are in the evidence, none twice', () => {
    const sources = [
      TABS,
      SPACES,
      ...numbered(30, (index) => ({ tags: ['a', 'b', `t${index % 7}`], confidence: 0.5 })),
    ];
    const { insights } = reason(analysis, sources, []);
    expect(insights.length).toBeGreaterThan(0);
    expect(insights.length).toBeLessThanOrEqual(5);
    for (const { sourceIds } of insights) {
      expect(sourceIds.length).toBeGreaterThan(0);
      expect(new Set(sourceIds).size).toBe(sourceIds.length);
      for (const id of sourceIds) expect(sources.map((source) => source.id)).toContain(id);
    }
  });

  test('is half as sure where every source is contradicted', () => {
    const free = [evidence('a', 'Use the cache', { tags: ['x'] }), evidence('b', 'Use the disk', { tags: ['x'] })];
    const { confidence } = reason(analysis, free, []);
    expect(reason(analysis, free, [['a', 'b']]).confidence).toBeCloseTo(confidence / 2, 10);
    expect(confidence).toBeCloseTo(0.8, 10);
  });
});

describe('a synthesis', () => {
  test('tells the surest first, of equally sure ones the newest', () => {
    const sources = [
      evidence('a', 'Old', { createdAtMs: 1 }),
      evidence('b', 'New', { createdAtMs: 2 }),
      evidence('c', 'Sure', { confidence: 1, createdAtMs: 0 }),
    ];
    expect(reason('synthesis', sources, []).synthesis).toBe('- Sure\n- New\n- Old');
  });

  test('tells once what differs in white space and case only, and cites all who say it', () => {
    const sources = [CACHE, evidence('again', ' the CACHE  is redis\non port 6380'), TABS];
    const { synthesis, insights } = reason('synthesis', sources, []);
    expect(synthesis).toBe('- The cache is Redis on port 6380\n- User prefers tabs');
    expect(insights[0]).toEqual({ text: 'The cache is Redis on port 6380', sourceIds: ['cache', 'again'] });
  });

  test('lists seven statements and says how many others there are', () => {
    const lines = reason('synthesis', numbered(9), []).synthesis.split('\n');
    expect(lines).toHaveLength(8);
    expect(lines.at(-1)).toBe('… 2 other');
    expect(reason('synthesis', numbered(7), []).synthesis).not.toContain('…');
  });

  test('puts what several say before what one says', () => {
    const sources = [CACHE, TABS, evidence('tabs2', 'user prefers tabs')];
    expect(reason('synthesis', sources, []).insights.map(({ sourceIds }) => sourceIds)).toEqual([
      ['tabs', 'tabs2'],
      ['cache'],
    ]);
  });

  test('is the less sure the more it leaves out', () => {
    expect(reason('synthesis', numbered(7), []).confidence).toBeCloseTo(0.8, 10);
    expect(reason('synthesis', numbered(14), []).confidence).toBeCloseTo(0.4, 10);
  });

  test('cuts a long content at a blank, and one without blanks anyway', () => {
    const words = reason('synthesis', [evidence('a', 'word '.repeat(200))], []).synthesis;
    expect(words).toMatch(/^- (word )+word…$/);
    expect(words.length).toBeLessThanOrEqual(403);
    expect(reason('synthesis', [evidence('a', 'x'.repeat(5_000))], []).synthesis).toBe(`- ${'x'.repeat(400)}…`);
  });
});

describe('a comparison', () => {
  test('puts sources side by side with what they share and what differs', () => {
    const sources = [
      evidence('a', 'The cache runs on Redis', { tags: ['cache', 'prod'], confidence: 0.9 }),
      evidence('b', 'The cache runs on Valkey', { tags: ['cache', 'test'] }),
    ];
    const { synthesis, insights, confidence } = reason('comparison', sources, []);
    expect(synthesis.split('\n')).toEqual([
      '[a] The cache runs on Redis',
      '[b] The cache runs on Valkey',
      'In all: tags cache; words cache, runs',
      'Only in [a]: tags prod; words redis',
      'Only in [b]: tags test; words valkey',
    ]);
    expect(insights).toEqual([
      { text: 'In all: tags cache; words cache, runs', sourceIds: ['a', 'b'] },
      { text: 'Only in [a]: tags prod; words redis', sourceIds: ['a'] },
      { text: 'Only in [b]: tags test; words valkey', sourceIds: ['b'] },
    ]);
    expect(confidence).toBeCloseTo(0.85, 10);
  });

  test.each([
    ['one source', [TABS]],
    ['two sources that say the same', [TABS, evidence('again', 'USER prefers tabs', { confidence: 0.1 })]],
  ])('of %s cannot be made', (_, sources) => {
    const { synthesis, insights, confidence } = reason('comparison', sources, []);
    expect(synthesis).toBe('A comparison needs two sources that differ.\n[tabs] User prefers tabs');
    expect({ insights, confidence }).toEqual({ insights: [], confidence: 0 });
  });

  test('says so where nothing is shared, and counts that as no insight', () => {
    const { synthesis, insights } = reason('comparison', [TABS, CACHE], []);
    expect(synthesis).toContain('In all: nothing');
    expect(insights.map(({ text }) => text).join()).not.toContain('nothing');
  });

  test('compares no more than seven', () => {
    const { synthesis, confidence } = reason('comparison', numbered(10), []);
    expect(synthesis).toContain('… 3 other');
    expect(confidence).toBeCloseTo(0.56, 10);
  });
});

describe('a pattern', () => {
  test('counts the tags and types that recur, the most frequent first', () => {
    const sources = [
      TABS,
      SPACES,
      CACHE,
      evidence('c2', 'The cache is small', { tags: ['cache', 'style'], type: 'fact' }),
    ];
    const { synthesis, insights, confidence } = reason('pattern', sources, []);
    expect(synthesis.split('\n')).toEqual([
      '- tag style: 3 of 4 sources',
      '- tag cache: 2 of 4 sources',
      '- type fact: 2 of 4 sources',
      '- type preference: 2 of 4 sources',
    ]);
    expect(insights[0]).toEqual({ text: 'tag style: 3 of 4 sources', sourceIds: ['c2', 'tabs', 'spaces'] });
    expect(confidence).toBeCloseTo(0.775 * 0.75, 10);
  });

  test('is none where one text was remembered twice', () => {
    const { synthesis, confidence } = reason('pattern', [TABS, { ...TABS, id: 'again' }], []);
    expect({ synthesis, confidence }).toEqual({ synthesis: 'Nothing recurs.', confidence: 0 });
  });

  test('takes the tags of all who say the same', () => {
    const sources = [CACHE, { ...CACHE, id: 'again', tags: ['style'], confidence: 0.1 }, TABS];
    expect(reason('pattern', sources, []).insights).toEqual([
      { text: 'tag style: 3 of 3 sources', sourceIds: ['cache', 'again', 'tabs'] },
    ]);
  });

  test('is the surer the more of the evidence it covers', () => {
    const sources = numbered(4, (index) => ({ tags: index < 2 ? ['shared'] : [], type: index < 3 ? 'note' : 'fact' }));
    expect(reason('pattern', sources, []).confidence).toBeCloseTo(0.8 * 0.75, 10);
  });
});

describe('a gap', () => {
  test('counts what is unsure, unlinked, contradicted and untagged, and names the types that are missing', () => {
    const sources = [
      TABS,
      SPACES,
      evidence('unsure', 'Perhaps the port changed', { confidence: 0.59, isLinked: false }),
      evidence('alone', 'The disk is fast', { isLinked: false, tags: ['disk'] }),
    ];
    const { synthesis, insights } = reason('gap', sources, []);
    expect(synthesis.split('\n')).toEqual([
      '- confidence below 0.6: 1 of 4 sources',
      '- linked to nothing: 2 of 4 sources',
      '- contradicted: 2 of 4 sources',
      '- without a tag: 1 of 4 sources',
      '- types that no source has: fact, pattern, decision',
    ]);
    expect(insights.map(({ sourceIds }) => sourceIds)).toEqual([
      ['unsure'],
      ['alone', 'unsure'],
      ['tabs', 'spaces'],
      ['unsure'],
    ]);
  });

  test('that is not there is no insight', () => {
    expect(reason('gap', [CACHE], []).insights).toEqual([]);
  });
});

describe('contradictions', () => {
  const found = (sources: readonly Evidence[], explicit: readonly (readonly [string, string])[] = []) =>
    reason('synthesis', sources, explicit).contradictions;
  const pair = (one: string, other: string, tags: readonly [string[], string[]] = [['x'], ['x']]): Evidence[] => [
    evidence('a', one, { tags: tags[0] }),
    evidence('b', other, { tags: tags[1] }),
  ];

  test('are preferences under one tag that differ, the surer one first', () => {
    expect(found([SPACES, TABS])).toEqual([
      { kind: 'potential_preference_conflict', ids: ['tabs', 'spaces'], tag: 'style' },
    ]);
  });

  test.each([
    ['User prefers tabs', 'The user prefers tabs'],
    ['I prefer tabs', 'I prefers tabs'],
    ['User prefers tabs', 'Spaces are wide'],
  ])('are not %j and %j', (one, other) => {
    expect(found(pair(one, other))).toEqual([]);
  });

  test.each(['not', 'don’t', "don't", "doesn't", 'dislike', 'dislikes', 'hate', 'hates', 'avoid', 'stop', 'STOP'])(
    'are two of which only one has the word %s',
    (word) => {
      expect(found(pair('Users like tabs', `Users ${word} tabs`))).toEqual([
        { kind: 'negation_conflict', ids: ['a', 'b'], tag: 'x' },
      ]);
      expect(found(pair(`They ${word} tabs`, `Users ${word} tabs`))).toEqual([]);
    },
  );

  test('need a tag that both have', () => {
    expect(found(pair('User prefers tabs', 'User prefers spaces', [['x'], ['y']]))).toEqual([]);
    expect(found(pair('User prefers tabs', 'User prefers spaces', [[], []]))).toEqual([]);
  });

  test('are one for each pair, whatever tags and rules it meets, under the first of its tags', () => {
    const both = ['zeta', 'alpha', 'mid'];
    expect(found(pair('User prefers tabs', 'User prefers not tabs but spaces', [both, both]))).toEqual([
      { kind: 'potential_preference_conflict', ids: ['a', 'b'], tag: 'alpha' },
    ]);
  });

  test('that somebody linked come first and are not told again', () => {
    const sources = [
      TABS,
      SPACES,
      CACHE,
      evidence('no', 'User does not like tabs', { tags: ['style'], confidence: 0.1 }),
    ];
    expect(
      found(sources, [
        ['spaces', 'tabs'],
        ['tabs', 'spaces'],
        ['no', 'cache'],
        ['tabs', 'gone'],
        ['no', 'no'],
      ]),
    ).toEqual([
      { kind: 'explicit', ids: ['cache', 'no'], tag: null },
      { kind: 'explicit', ids: ['tabs', 'spaces'], tag: null },
      { kind: 'negation_conflict', ids: ['tabs', 'no'], tag: 'style' },
      { kind: 'negation_conflict', ids: ['spaces', 'no'], tag: 'style' },
    ]);
  });

  test('are sought in a bounded number of pairs, the surest sources first', () => {
    const sources = numbered(2_000, (index) => ({
      content: `User prefers choice${index} option${index}`,
      tags: ['x', 'y'],
      confidence: 1 - index / 10_000,
    }));
    const contradictions = found(sources);
    expect(contradictions).toHaveLength(3_000);
    const named = contradictions.flatMap(({ ids }) => ids).map((id) => Number(id.slice(1)));
    expect(Math.max(...named)).toBe(77);
    expect(contradictions[0]?.ids).toEqual(['n0', 'n1']);
  });
});

test('a source that is far too long takes no time', () => {
  const before = process.cpuUsage();
  for (const content of ["a'".repeat(500_000), 'x'.repeat(1_000_000), ' '.repeat(1_000_000), 'not '.repeat(250_000)])
    for (const analysis of ANALYSES) reason(analysis, [TABS, evidence('long', content, { tags: ['style'] })], []);
  expect(process.cpuUsage(before).user / 1_000).toBeLessThan(10_000);
});
