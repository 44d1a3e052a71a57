import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { atDepth, DEPTHS, fitDepths } from '../../src/domain/depth.js';
import { filesOf, type Layers, type Patch, patchLayers } from '../../src/domain/episodes.js';
import { globMatcher, normalizePath } from '../../src/domain/paths.js';
import {
  ACTION_TYPES,
  FAILURE_CATEGORIES,
  FILE_OPERATIONS,
  TASK_TYPES,
  VERIFICATION_TYPES,
} from '../../src/domain/vocabulary.js';

const RUN = { seed: 20_260_101, numRuns: 500 };

const text = fc.string({ maxLength: 8 });
const lines = fc.array(text, { maxLength: 3 });
const path = fc.string({ unit: fc.constantFrom('a', 'b', '.', '/', '\\', ' ', '*'), maxLength: 8 });

const INTENT = { goal: text, task_type: fc.constantFrom(...TASK_TYPES), context: text, constraints: lines };
const PERCEPTION = {
  observations: fc.array(fc.record({ what: text, where: text, significance: text }), { maxLength: 2 }),
  relevant_files: fc.array(fc.record({ path, relevance: text, state_summary: text }), { maxLength: 3 }),
  patterns_noticed: lines,
  anomalies: lines,
};
const REASONING = {
  approach_chosen: text,
  why_chosen: text,
  alternatives_considered: fc.array(fc.record({ approach: text, why_rejected: text }), { maxLength: 2 }),
  assumptions: lines,
  risks_identified: lines,
};
const VERIFIED_BY = { type: fc.constantFrom(...VERIFICATION_TYPES), command: text, result: text };
const OUTCOME = {
  success: fc.boolean(),
  summary: text,
  learnings: lines,
  failure_reason: text,
  failure_category: fc.constantFrom(...FAILURE_CATEGORIES),
  follow_up_needed: lines,
};
const action = fc.record({
  type: fc.constantFrom(...ACTION_TYPES),
  timestamp: fc.nat(),
  details: fc.record(
    { file_path: path, lines_affected: text, diff_hash: text, diff_summary: text, command: text, query: text },
    { requiredKeys: [] },
  ),
  result: fc.record({ success: fc.boolean(), error: text }, { requiredKeys: ['success'] }),
});
const actions = fc.array(action, { maxLength: 3 });
const orNull = <Value>(value: fc.Arbitrary<Value>) => fc.option(value, { nil: null });

const anyLayers = fc.record({
  intent: fc.record(INTENT, { requiredKeys: ['goal', 'task_type'] }),
  perception: orNull(fc.record(PERCEPTION, { requiredKeys: [] })),
  reasoning: orNull(fc.record(REASONING, { requiredKeys: ['approach_chosen', 'why_chosen'] })),
  actions: orNull(actions),
  outcome: fc.record(
    { ...OUTCOME, verified_by: fc.record(VERIFIED_BY, { requiredKeys: ['type', 'result'] }) },
    { requiredKeys: ['success', 'summary'] },
  ),
}) as unknown as fc.Arbitrary<Layers>;

const partOf = (fields: Record<string, fc.Arbitrary<unknown>>) =>
  fc.record(Object.fromEntries(Object.entries(fields).map(([key, value]) => [key, orNull(value)])), {
    requiredKeys: [],
  });
const anyPatch = fc.record(
  {
    intent: partOf(INTENT),
    perception: orNull(partOf(PERCEPTION)),
    reasoning: orNull(partOf(REASONING)),
    actions: orNull(actions),
    outcome: partOf({ ...OUTCOME, verified_by: partOf(VERIFIED_BY) }),
  },
  { requiredKeys: [] },
) as unknown as fc.Arbitrary<Patch<Layers>>;

const patched = (layers: Layers, patch: Patch<Layers>): Layers => patchLayers(layers, patch).layers;
type Document = Record<string, unknown>;
const isObject = (value: unknown): value is Document =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

describe('a patch of an episode', () => {
  test('that says nothing keeps everything', () => {
    fc.assert(
      fc.property(anyLayers, (layers) => {
        expect(patched(layers, {})).toEqual(layers);
        const empty = Object.fromEntries(
          Object.entries(layers).flatMap(([key, part]) => (isObject(part) ? [[key, {}]] : [])),
        );
        expect(patched(layers, empty)).toEqual(layers);
        expect(patchLayers(layers, empty).violations).toEqual([]);
      }),
      RUN,
    );
  });

  test('that is applied twice does what it does once', () => {
    fc.assert(
      fc.property(anyLayers, anyPatch, (layers, patch) => {
        const once = patchLayers(layers, patch);
        expect(patchLayers(once.layers, patch)).toEqual(once);
      }),
      RUN,
    );
  });

  test('puts in every place what it says there, nothing where it says null, and what was there where it is silent', () => {
    const check = (before: unknown, patch: Document, after: Document): void => {
      const old = isObject(before) ? before : {};
      for (const key of new Set([...Object.keys(old), ...Object.keys(patch), ...Object.keys(after)])) {
        const said = patch[key];
        if (said === undefined) expect(after[key] ?? null).toEqual(old[key] ?? null);
        else if (said === null) expect(after[key] ?? null).toBeNull();
        else if (isObject(said)) check(old[key], said, after[key] as Document);
        else expect(after[key]).toEqual(said);
      }
    };
    fc.assert(
      fc.property(anyLayers, anyPatch, (layers, patch) => {
        check(layers, patch as Document, patched(layers, patch) as unknown as Document);
      }),
      RUN,
    );
  });

  test('leaves the layers that it was applied to as they were', () => {
    fc.assert(
      fc.property(anyLayers, anyPatch, (layers, patch) => {
        const before = structuredClone(layers);
        patched(layers, patch);
        expect(layers).toEqual(before);
      }),
      RUN,
    );
  });
});

test('an episode has each file once, with the strongest operation of its actions', () => {
  const OPERATIONS: Record<string, string> = {
    file_read: 'read',
    file_edit: 'edit',
    file_create: 'create',
    file_delete: 'delete',
  };
  const order: readonly string[] = FILE_OPERATIONS;
  fc.assert(
    fc.property(anyLayers, (layers) => {
      const uses = [
        ...(layers.actions ?? []).map(({ type, details }) => [details.file_path ?? '', OPERATIONS[type] ?? 'relevant']),
        ...(layers.perception?.relevant_files ?? []).map((file) => [file.path, 'relevant']),
      ].map(([given, operation]) => [normalizePath(given as string), operation as string] as const);
      const expected = [...new Set(uses.map(([name]) => name))]
        .filter((name) => name !== '')
        .map((name) => {
          const ranks = uses.filter(([other]) => other === name).map(([, operation]) => order.indexOf(operation));
          return { path: name, operation: order[Math.max(...ranks)] };
        });
      const byPath = (a: { path: string }, b: { path: string }) => (a.path < b.path ? -1 : 1);
      expect(filesOf(layers).sort(byPath)).toEqual(expected.sort(byPath));
    }),
    RUN,
  );
});

/** Whether everything in one document stands in the other, in the same place. */
function holds(deep: unknown, shallow: unknown): boolean {
  if (Array.isArray(shallow)) {
    return Array.isArray(deep) && deep.length === shallow.length && shallow.every((part, at) => holds(deep[at], part));
  }
  if (!isObject(shallow)) return Object.is(deep, shallow);
  return isObject(deep) && Object.entries(shallow).every(([key, part]) => holds(deep[key], part));
}

test('each depth holds all that the one before it holds, and the last one everything', () => {
  fc.assert(
    fc.property(anyLayers, (layers) => {
      const shown = DEPTHS.map((depth) => atDepth(layers, depth));
      for (let at = 1; at < shown.length; at++)
        expect(holds(shown[at], shown[at - 1]), DEPTHS[at] as string).toBe(true);
      expect(shown.at(-1)).toEqual(layers);
      expect(JSON.stringify(shown.slice(0, 4))).not.toContain('"diff_');
    }),
    RUN,
  );
});

/** The tokens of an item at each depth: the deeper, the more. */
const anyCosts = fc.array(
  fc.array(fc.nat(20), { minLength: DEPTHS.length, maxLength: DEPTHS.length }).map((steps) => {
    let sum = 0;
    return steps.map((step) => {
      sum += step;
      return sum;
    });
  }),
  { maxLength: 8 },
);

test('a list that has to fit never costs more than its budget, and nothing is left out before all are summaries', () => {
  fc.assert(
    fc.property(anyCosts, fc.constantFrom(...DEPTHS), fc.nat(300), (costs, depth, tokensMax) => {
      const items = costs.map((cost, number) => ({ cost, number }));
      const shown = fitDepths(items, depth, tokensMax, ({ cost }, at) => cost[DEPTHS.indexOf(at)] as number);
      const total = shown.reduce((sum, { tokens }) => sum + tokens, 0);
      expect(total).toBeLessThanOrEqual(tokensMax);
      expect(shown.map(({ item }) => item.number)).toEqual(items.slice(0, shown.length).map(({ number }) => number));
      for (const entry of shown) expect(entry.tokens).toBe(entry.item.cost[DEPTHS.indexOf(entry.depth)]);
      const ranks = shown.map((entry) => DEPTHS.indexOf(entry.depth));
      expect(ranks).toEqual([...ranks].sort((a, b) => b - a));
      expect(Math.max(0, ...ranks)).toBeLessThanOrEqual(DEPTHS.indexOf(depth));
      if (shown.length === items.length) return;
      expect(ranks.every((rank) => rank === 0)).toBe(true);
      const next = items[shown.length]?.cost[0] as number;
      expect(total + next).toBeGreaterThan(tokensMax);
    }),
    RUN,
  );
});

test('a list without a budget, or with enough of one, is shown as deeply as was asked', () => {
  fc.assert(
    fc.property(anyCosts, fc.constantFrom(...DEPTHS), (costs, depth) => {
      const tokensOf = (cost: number[], at: (typeof DEPTHS)[number]) => cost[DEPTHS.indexOf(at)] as number;
      const all = costs.map((cost) => ({ item: cost, depth, tokens: tokensOf(cost, depth) }));
      expect(fitDepths(costs, depth, null, tokensOf)).toEqual(all);
      const total = all.reduce((sum, { tokens }) => sum + tokens, 0);
      expect(fitDepths(costs, depth, total, tokensOf)).toEqual(all);
    }),
    RUN,
  );
});

/** What a glob means, by trying everything: slow, and plain. */
function fits(name: string, glob: string): boolean {
  if (glob === '') return name === '';
  const cuts = Array.from({ length: name.length + 1 }, (_, at) => [name.slice(0, at), name.slice(at)] as const);
  if (glob.startsWith('**/')) {
    return cuts.some(([head, rest]) => (head === '' || head.endsWith('/')) && fits(rest, glob.slice(3)));
  }
  if (glob.startsWith('**')) return cuts.some(([, rest]) => fits(rest, glob.slice(2)));
  if (glob.startsWith('*')) return cuts.some(([head, rest]) => !head.includes('/') && fits(rest, glob.slice(1)));
  const isOne = name !== '' && (glob.startsWith('?') ? !name.startsWith('/') : name[0] === glob[0]);
  return isOne && fits(name.slice(1), glob.slice(1));
}

test('a glob fits what its plain meaning fits', () => {
  const names = fc.string({ unit: fc.constantFrom('a', 'b', '/'), maxLength: 6 });
  const globs = fc
    .string({ unit: fc.constantFrom('a', 'b', '/', '*', '**', '**/', '?'), maxLength: 5 })
    .map((glob) => glob.replace(/\*{3,}/g, '**'));
  fc.assert(
    fc.property(names, globs, (name, glob) => {
      expect(globMatcher(glob)(name)).toBe(fits(name, glob));
    }),
    { ...RUN, numRuns: 5_000 },
  );
});

test('a path that was put right is right, and stays so', () => {
  const paths = fc.string({ unit: fc.constantFrom('a', '.', '/', '\\', ' ', '\n', 'é'), maxLength: 10 });
  fc.assert(
    fc.property(paths, (given) => {
      const right = normalizePath(given);
      expect(normalizePath(right)).toBe(right);
      expect(right).not.toMatch(/\\|\/\/|\/$/);
      expect(right.split('/')).not.toContain('.');
    }),
    { ...RUN, numRuns: 5_000 },
  );
});
