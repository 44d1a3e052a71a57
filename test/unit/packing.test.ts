import { describe, expect, test } from 'vitest';
import { type Packable, type PackLimits, pack, SECTIONS, type Section } from '../../src/domain/packing.js';

interface Item extends Packable {
  readonly tokens: number;
}

const item = (id: string, section: Section, score: number, fields: Partial<Item> = {}): Item => ({
  id,
  section,
  score,
  companionId: null,
  opens: false,
  tokens: 10,
  ...fields,
});

/** So many candidates of each section; the first of a section is its best. */
const candidates = (direct: number, explicit: number, implicit: number): Item[] =>
  [direct, explicit, implicit].flatMap((count, section) =>
    Array.from({ length: count }, (_, index) =>
      item(`${section}-${index}`, SECTIONS[section] as Section, 0.9 - 0.3 * section - 0.01 * index),
    ),
  );

const packed = (items: readonly Item[], limits: Partial<PackLimits> = {}) =>
  pack(items, { mode: 'targeted', items: 8, tokens: null, ...limits }, ({ tokens }) => tokens);

const idsOf = (items: readonly Item[]): string[] => items.map(({ id }) => id);
const sizesOf = ({ sections }: ReturnType<typeof packed>): number[] =>
  SECTIONS.map((section) => sections[section].length);

test.each([
  ['targeted', 8, [6, 4, 3], [4, 3, 1]],
  ['ambient', 12, [6, 6, 5], [4, 5, 3]],
  ['targeted', 5, [6, 4, 3], [4, 1, 0]],
  ['targeted', 8, [4, 1, 4], [4, 1, 3]],
  ['targeted', 4, [1, 0, 4], [1, 0, 3]],
  ['targeted', 8, [0, 0, 0], [0, 0, 0]],
  ['targeted', 1, [6, 4, 3], [1, 0, 0]],
  ['targeted', 100, [6, 4, 3], [6, 4, 3]],
] as const)('%s, %i places: candidates %j fill %j', (mode, items, [direct, explicit, implicit], sizes) => {
  expect(sizesOf(packed(candidates(direct, explicit, implicit), { mode, items }))).toEqual(sizes);
});

test('ambient, 7 places: 7 are filled in all', () => {
  const sizes = sizesOf(packed(candidates(6, 6, 5), { mode: 'ambient', items: 7 }));
  expect(sizes.reduce((sum, size) => sum + size)).toBe(7);
});

test('the places that one section leaves free go to the best of the others', () => {
  const { sections } = packed(candidates(1, 0, 4), { items: 4 });
  expect(idsOf(sections.implicit_related)).toEqual(['2-0', '2-1', '2-2']);
});

test('within a section the best comes first, and equal scores by id', () => {
  const { sections } = packed([item('c', 'direct', 0.5), item('b', 'direct', 0.7), item('a', 'direct', 0.5)]);
  expect(idsOf(sections.direct)).toEqual(['b', 'a', 'c']);
});

test('between equal scores the earlier section gets the spare place', () => {
  const full = candidates(4, 3, 1);
  const { sections } = packed([...full, item('x', 'implicit_related', 0.1), item('y', 'explicit_related', 0.1)], {
    items: 9,
  });
  expect(idsOf(sections.explicit_related)).toContain('y');
  expect(idsOf(sections.implicit_related)).not.toContain('x');
});

test('an item reached in two ways is kept once, in the earliest section and with its best score there', () => {
  const { sections } = packed([
    item('a', 'implicit_related', 0.9),
    item('a', 'direct', 0.2),
    item('a', 'direct', 0.4),
    item('a', 'explicit_related', 0.8),
  ]);
  expect(sections.direct.map(({ id, score }) => [id, score])).toEqual([['a', 0.4]]);
  expect([...sections.explicit_related, ...sections.implicit_related]).toEqual([]);
});

describe('under a token budget', () => {
  test('an item that is too long is left out and named, and shorter ones still come', () => {
    const long = item('long', 'direct', 0.9, { tokens: 100 });
    const result = packed([long, item('short', 'direct', 0.5)], { tokens: 50 });
    expect(idsOf(result.sections.direct)).toEqual(['short']);
    expect(idsOf(result.leftOut)).toEqual(['long']);
    expect(result.tokensUsed).toBe(10);
  });

  test('what just fits is taken', () => {
    expect(packed([item('a', 'direct', 0.9)], { tokens: 10 }).tokensUsed).toBe(10);
    expect(packed([item('a', 'direct', 0.9)], { tokens: 9 }).leftOut).toHaveLength(1);
  });

  test('what the number of places kept out is not named: more tokens would not have brought it', () => {
    expect(packed(candidates(6, 0, 0), { items: 3, tokens: 1_000 }).leftOut).toEqual([]);
  });

  test('a superseded fact that gives way to its successor is named too', () => {
    const full = candidates(4, 0, 0);
    const old = item('old', 'direct', 0.5, { companionId: 'new' });
    const result = packed([...full, old, item('new', 'direct', 0.4)], { tokens: 50 });
    expect(idsOf(result.sections.direct)).toEqual(['0-0', '0-1', '0-2', '0-3', 'new']);
    expect(idsOf(result.leftOut)).toEqual(['old']);
  });

  test('without a budget nothing is counted or named', () => {
    const result = packed(candidates(6, 4, 3));
    expect(result.tokensUsed).toBe(0);
    expect(result.leftOut).toEqual([]);
  });
});

describe('a superseded fact', () => {
  const old = item('old', 'direct', 0.9, { companionId: 'new' });
  const successor = item('new', 'explicit_related', 0.1);

  test('comes with its successor, however low that scored', () => {
    const others = Array.from({ length: 6 }, (_, index) => item(`x-${index}`, 'explicit_related', 0.5));
    const { sections } = packed([old, successor, ...others], { items: 4 });
    expect(idsOf(sections.direct)).toEqual(['old']);
    expect(idsOf(sections.explicit_related)).toContain('new');
  });

  test('gives way to it when there is one place', () => {
    const { sections } = packed([old, successor], { items: 1 });
    expect(sizesOf(packed([old, successor], { items: 1 }))).toEqual([0, 1, 0]);
    expect(idsOf(sections.explicit_related)).toEqual(['new']);
  });

  test('gives way to it when the budget holds only one', () => {
    const result = packed([old, successor], { tokens: 15 });
    expect(idsOf(result.sections.explicit_related)).toEqual(['new']);
    expect(idsOf(result.leftOut)).toEqual(['old']);
  });

  test('stays out when its successor does not fit the budget', () => {
    const result = packed([old, { ...successor, tokens: 100 }], { tokens: 50 });
    expect(sizesOf(result)).toEqual([0, 0, 0]);
    expect(idsOf(result.leftOut).sort()).toEqual(['new', 'old']);
  });

  test('comes alone when its successor is nowhere among the candidates', () => {
    expect(sizesOf(packed([old]))).toEqual([1, 0, 0]);
  });
});
