import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type Packable, type PackLimits, pack, SECTIONS } from '../../src/domain/packing.js';

const RUN = { seed: 20_260_101, numRuns: 1_000 };

interface Item extends Packable {
  readonly tokens: number;
}

/**
 * Current items by their numbers, and superseded ones that name a current one as companion, as the service hands them over: the
 * companion is the end of the chain, so it has none of its own. An item may be reached in more ways than one.
 */
const anyItems = fc
  .array(
    fc.record({
      number: fc.nat(15),
      section: fc.constantFrom(...SECTIONS),
      score: fc.integer({ min: 0, max: 8 }).map((eighths) => eighths / 8),
      companionNumber: fc.option(fc.nat(7), { nil: null }),
      tokens: fc.nat(40),
    }),
    { maxLength: 30 },
  )
  .map((rows) => {
    const first = new Map(rows.map((row) => [row.number, row]));
    return rows.map(({ number, section, score }): Item => {
      // What is true of an item is true of it however it was reached.
      const { companionNumber, tokens } = first.get(number) as (typeof rows)[number];
      const companionId = number < 8 || companionNumber === null ? null : `item-${companionNumber}`;
      return { id: `item-${number}`, section, score, companionId, opens: number % 7 === 0, tokens };
    });
  });

const anyLimits: fc.Arbitrary<PackLimits> = fc.record({
  mode: fc.constantFrom('targeted', 'ambient'),
  items: fc.integer({ min: 1, max: 20 }),
  tokens: fc.option(fc.nat(300), { nil: null }),
});

const packed = (items: readonly Item[], limits: PackLimits) => pack(items, limits, ({ tokens }) => tokens);
const allOf = ({ sections }: ReturnType<typeof packed>): Item[] => SECTIONS.flatMap((section) => sections[section]);

test('a pack never holds more items than the limit, nor one item twice, nor anything that was not a candidate', () => {
  fc.assert(
    fc.property(anyItems, anyLimits, (items, limits) => {
      const all = allOf(packed(items, limits));
      expect(all.length).toBeLessThanOrEqual(limits.items);
      expect(new Set(all.map(({ id }) => id)).size).toBe(all.length);
      for (const item of all) expect(items).toContain(item);
    }),
    RUN,
  );
});

test('a pack never costs more than the budget, and says what it costs', () => {
  fc.assert(
    fc.property(anyItems, anyLimits, (items, limits) => {
      const result = packed(items, limits);
      const cost = allOf(result).reduce((sum, { tokens }) => sum + tokens, 0);
      if (limits.tokens === null) {
        expect(result).toMatchObject({ tokensUsed: 0, leftOut: [] });
      } else {
        expect(cost).toBeLessThanOrEqual(limits.tokens);
        expect(result.tokensUsed).toBe(cost);
      }
    }),
    RUN,
  );
});

test('a superseded item never comes without its companion when that is a candidate', () => {
  fc.assert(
    fc.property(anyItems, anyLimits, (items, limits) => {
      const ids = new Set(allOf(packed(items, limits)).map(({ id }) => id));
      for (const { id, companionId } of items) {
        if (!ids.has(id) || companionId === null || !items.some((item) => item.id === companionId)) continue;
        expect(ids).toContain(companionId);
      }
    }),
    RUN,
  );
});

test('the order in which candidates are found does not matter', () => {
  fc.assert(
    fc.property(anyItems, anyLimits, fc.infiniteStream(fc.nat()), (items, limits, order) => {
      const shuffled = items
        .map((item) => ({ item, at: order.next().value as number }))
        .sort((a, b) => a.at - b.at)
        .map(({ item }) => item);
      expect(packed(shuffled, limits)).toEqual(packed(items, limits));
    }),
    RUN,
  );
});

test('each item stands in the earliest section it was reached in, first those that open it, best first', () => {
  fc.assert(
    fc.property(anyItems, anyLimits, (items, limits) => {
      const { sections } = packed(items, limits);
      for (const section of SECTIONS) {
        for (const { id } of sections[section]) {
          const reached = items.filter((item) => item.id === id).map((item) => SECTIONS.indexOf(item.section));
          expect(Math.min(...reached)).toBe(SECTIONS.indexOf(section));
        }
        for (const opens of [true, false]) {
          const scores = sections[section].filter((item) => item.opens === opens).map(({ score }) => score);
          expect(scores).toEqual([...scores].sort((a, b) => b - a));
        }
        const opening = sections[section].map((item) => item.opens);
        expect(opening).toEqual([...opening].sort((a, b) => Number(b) - Number(a)));
      }
    }),
    RUN,
  );
});

test('while there are places left, every candidate is in the pack or named as left out for its tokens', () => {
  fc.assert(
    fc.property(anyItems, anyLimits, (items, limits) => {
      const result = packed(items, limits);
      const all = allOf(result);
      const leftOutIds = result.leftOut.map(({ id }) => id);
      for (const { id } of all) expect(leftOutIds).not.toContain(id);
      if (all.length === limits.items) return;
      const accounted = new Set([...all.map(({ id }) => id), ...leftOutIds]);
      expect([...accounted].sort()).toEqual([...new Set(items.map(({ id }) => id))].sort());
    }),
    RUN,
  );
});
