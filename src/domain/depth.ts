import type { Action, Intent, Layers, Outcome } from './episodes.js';

/** How much of an episode is shown; each level holds what the one before it holds. */
export const DEPTHS = ['summary', 'outcome', 'reasoning', 'full', 'complete'] as const;
export type Depth = (typeof DEPTHS)[number];

/** What is shown of an episode at some depth. */
export interface Shown {
  readonly intent: Pick<Intent, 'goal' | 'task_type'> | Intent;
  readonly outcome: Pick<Outcome, 'success' | 'summary'> | Outcome;
  readonly reasoning?: Layers['reasoning'];
  readonly perception?: Layers['perception'];
  readonly actions?: Layers['actions'];
}

export function atDepth(layers: Layers, depth: Depth): Shown {
  const { intent, outcome, reasoning, perception, actions } = layers;
  const brief = { goal: intent.goal, task_type: intent.task_type };
  switch (depth) {
    case 'summary':
      return { intent: brief, outcome: { success: outcome.success, summary: outcome.summary } };
    case 'outcome':
      return { intent: brief, outcome };
    case 'reasoning':
      return { intent: brief, outcome, reasoning };
    case 'full':
      return { intent, outcome, reasoning, perception, actions: actions?.map(withoutDiff) ?? null };
    case 'complete':
      return layers;
  }
}

/** Everything that was done, but not what exactly changed in the files. */
function withoutDiff(action: Action): Action {
  const { diff_hash: _hash, diff_summary: _summary, ...details } = action.details;
  return { ...action, details };
}

const lowered = (depth: Depth): Depth | null => DEPTHS[DEPTHS.indexOf(depth) - 1] ?? null;

export interface Deep<Item> {
  readonly item: Item;
  readonly depth: Depth;
  readonly tokens: number;
}

/**
 * Fits a list, best first, into a budget: from the end of the list items are shown less deeply, one after the other, and only when
 * all are summaries is the last one left out. One item is always shown less deeply rather than not at all, if it fits.
 */
export function fitDepths<Item>(
  items: readonly Item[],
  depth: Depth,
  tokensMax: number | null,
  tokensOf: (item: Item, depth: Depth) => number,
): Deep<Item>[] {
  const deep = items.map((item) => ({ item, depth, tokens: tokensOf(item, depth) }));
  if (tokensMax === null) return deep;
  let total = deep.reduce((sum, { tokens }) => sum + tokens, 0);
  for (let at = deep.length - 1; at >= 0 && total > tokensMax; at--) {
    let entry = deep[at] as Deep<Item>;
    for (let lower = lowered(entry.depth); lower && total > tokensMax; lower = lowered(lower)) {
      const tokens = tokensOf(entry.item, lower);
      total += tokens - entry.tokens;
      entry = { item: entry.item, depth: lower, tokens };
      deep[at] = entry;
    }
  }
  while (total > tokensMax && deep.length > 0) total -= (deep.pop() as Deep<Item>).tokens;
  return deep;
}
