/** That one fact took the place of another. */
export interface Replacement {
  readonly oldId: string;
  readonly newId: string;
  readonly atMs: number;
}

/**
 * Newest first, replacements hold: a fact that was replaced twice went to the newer one, and one that would close a circle (two
 * repos may each replace a global fact by the other) is void, because a newer one brought its fact back.
 */
export function endsOf(replacements: readonly Replacement[], factIds: readonly string[]): Map<string, string> {
  const next = new Map<string, string>();
  for (const { oldId, newId } of replacements) {
    if (!next.has(oldId) && endOf(next, newId) !== oldId) next.set(oldId, newId);
  }
  return new Map(factIds.flatMap((id) => (next.has(id) ? [[id, endOf(next, id)]] : [])));
}

/** Follows the steps to their end, and makes all of them lead straight there for the next who asks. */
function endOf(next: Map<string, string>, id: string): string {
  const passed: string[] = [];
  let end = id;
  for (let step = next.get(end); step !== undefined; step = next.get(end)) {
    passed.push(end);
    end = step;
  }
  for (const each of passed) next.set(each, end);
  return end;
}
