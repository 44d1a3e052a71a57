import { describe, expect, test } from 'vitest';
import { atDepth, DEPTHS, type Depth, fitDepths } from '../../src/domain/depth.js';
import type { Layers } from '../../src/domain/episodes.js';
import { JWT_LAYERS } from '../support/episodes.js';

const LAYERS = JWT_LAYERS as unknown as Layers;

test('the seed names five depths, from the shallowest on', () => {
  expect(DEPTHS).toEqual(['summary', 'outcome', 'reasoning', 'full', 'complete']);
});

describe('the depth', () => {
  const brief = { goal: LAYERS.intent.goal, task_type: LAYERS.intent.task_type };

  test('summary shows the goal and what came of it', () => {
    const { success, summary } = LAYERS.outcome;
    expect(atDepth(LAYERS, 'summary')).toEqual({ intent: brief, outcome: { success, summary } });
  });

  test('outcome shows all of the outcome', () => {
    expect(atDepth(LAYERS, 'outcome')).toEqual({ intent: brief, outcome: LAYERS.outcome });
  });

  test('reasoning shows the reasoning', () => {
    const { outcome, reasoning } = LAYERS;
    expect(atDepth(LAYERS, 'reasoning')).toEqual({ intent: brief, outcome, reasoning });
  });

  test('full shows everything but diffs, and takes nothing from what was stored', () => {
    const before = structuredClone(LAYERS);
    const [action] = LAYERS.actions ?? [];
    const { diff_summary: _diff, ...details } = action?.details ?? {};
    expect(atDepth(LAYERS, 'full')).toEqual({ ...LAYERS, actions: [{ ...action, details }] });
    expect(LAYERS).toEqual(before);
  });

  test('complete shows everything', () => {
    expect(atDepth(LAYERS, 'complete')).toEqual(LAYERS);
  });
});

describe('a list fits its budget', () => {
  /** At each depth ten tokens more. */
  const tokensOf = (item: number, depth: Depth): number => item + 10 * DEPTHS.indexOf(depth);
  const shown = (tokensMax: number | null, depth: Depth = 'complete') =>
    fitDepths([1, 2, 3], depth, tokensMax, tokensOf).map(({ item, depth: at, tokens }) => [item, at, tokens]);

  test('as it is when there is none, or when there is enough', () => {
    const all = [
      [1, 'complete', 41],
      [2, 'complete', 42],
      [3, 'complete', 43],
    ];
    expect(shown(null)).toEqual(all);
    expect(shown(126)).toEqual(all);
  });

  test('by showing the last less deeply, step by step', () => {
    expect(shown(125)).toEqual([
      [1, 'complete', 41],
      [2, 'complete', 42],
      [3, 'full', 33],
    ]);
    expect(shown(80)).toEqual([
      [1, 'complete', 41],
      [2, 'full', 32],
      [3, 'summary', 3],
    ]);
  });

  test('and only when all are summaries by leaving the last out', () => {
    expect(shown(6)).toEqual([
      [1, 'summary', 1],
      [2, 'summary', 2],
      [3, 'summary', 3],
    ]);
    expect(shown(5)).toEqual([
      [1, 'summary', 1],
      [2, 'summary', 2],
    ]);
    expect(shown(1)).toEqual([[1, 'summary', 1]]);
    expect(shown(0)).toEqual([]);
  });
});
