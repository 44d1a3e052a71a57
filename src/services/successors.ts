import { endsOf } from '../domain/chains.js';
import type { View } from '../domain/spaces.js';
import type { State } from '../domain/vocabulary.js';
import type { NodeBrief, Store } from '../storage/port.js';

/** How many replacements are followed at most to say what is true now. */
const REPLACEMENTS_MAX = 10_000;

/** For each fact that was replaced, the fact at the end of its chain: what is true now. */
export async function lastSuccessors(
  store: Store,
  view: View,
  factIds: readonly string[],
): Promise<Map<string, string>> {
  const { found } = await store.findReplacements(view, factIds, REPLACEMENTS_MAX);
  return endsOf(found, factIds);
}

export function stateOf({ archived }: Pick<NodeBrief, 'archived'>, supersededBy: string | null | undefined): State {
  if (archived) return 'archived';
  return supersededBy ? 'superseded' : 'current';
}
