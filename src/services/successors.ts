import type { View } from '../domain/spaces.js';
import type { State } from '../domain/vocabulary.js';
import type { MemoryBrief, Store } from '../storage/port.js';

/** No fact changes more often; a store that says so is followed no further. */
const ROUNDS_MAX = 1_000;

/** For each fact that was replaced, the fact at the end of its chain: what is true now. */
export async function lastSuccessors(
  store: Store,
  view: View,
  factIds: readonly string[],
): Promise<Map<string, string>> {
  const next = new Map<string, string>();
  let frontier = [...new Set(factIds)];
  for (let round = 0; frontier.length > 0 && round < ROUNDS_MAX; round++) {
    const found = await store.findSuccessors(view, frontier);
    for (const [oldId, newId] of found) next.set(oldId, newId);
    frontier = [...new Set(found.values())].filter((id) => !next.has(id));
  }
  const last = new Map<string, string>();
  for (const id of factIds) {
    const end = endOf(next, id);
    if (end !== null) last.set(id, end);
  }
  return last;
}

function endOf(next: ReadonlyMap<string, string>, id: string): string | null {
  const seen = new Set<string>([id]);
  let end: string | null = null;
  for (let step = next.get(id); step !== undefined && !seen.has(step); step = next.get(step)) {
    seen.add(step);
    end = step;
  }
  return end;
}

export function stateOf(memory: Pick<MemoryBrief, 'id' | 'archived'>, successors: ReadonlyMap<string, string>): State {
  if (memory.archived) return 'archived';
  return successors.has(memory.id) ? 'superseded' : 'current';
}
