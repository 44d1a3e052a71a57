const TURNS = new WeakMap<object, Map<string, Promise<unknown>>>();

/**
 * Tasks with the same key, one after the other: where all would decide the same and all but one in vain, waiting is cheaper than
 * trying again. Tasks of different owners or keys do not wait for each other.
 */
export async function inTurn<Result>(owner: object, key: string, task: () => Promise<Result>): Promise<Result> {
  const turns = TURNS.get(owner) ?? new Map<string, Promise<unknown>>();
  TURNS.set(owner, turns);
  // What went wrong before is no business of who comes next.
  const mine = (turns.get(key) ?? Promise.resolve()).then(task, task);
  turns.set(key, mine);
  try {
    return await mine;
  } finally {
    if (turns.get(key) === mine) turns.delete(key);
  }
}
