import type { Replacement } from '../domain/chains.js';
import { GateFailure } from '../domain/violations.js';
import type { State } from '../domain/vocabulary.js';
import type { ExplainedReplacement, StoredMemory } from '../storage/port.js';
import type { Context } from './context.js';
import { findMemory, lookupView } from './memory.js';
import { lastSuccessors, stateOf } from './successors.js';

/** The history of a fact, oldest to newest. */
export interface Chain {
  readonly links: readonly ChainLink[];
  /** False when the history is longer than what one answer shows. */
  readonly isComplete: boolean;
}

/** One fact of a chain, with the change that brought it. */
interface ChainLink {
  readonly memory: StoredMemory;
  readonly state: State;
  readonly changeId: string | null;
  readonly replacedIds: readonly string[];
  readonly rationale: string | null;
}

/** How many replacements of a history one answer shows: those nearest to the fact that was asked for. */
const REPLACEMENTS_SHOWN_MAX = 1_000;

/** The history of a fact, or of the facts that a change touched; null when there is no such memory. */
export async function readChain(context: Context, repoId: string, id: string): Promise<Chain | null> {
  const { store } = context;
  const view = lookupView(repoId);
  const start = await findMemory(context, view, id);
  if (!start) return null;
  if (start.kind !== 'fact' && start.kind !== 'change') {
    const message = `is a memory of kind ${start.kind}; only facts and changes have a chain`;
    throw new GateFailure('integrity', [{ field: 'memory_id', code: 'integrity_error', message }]);
  }
  const { found: replacements, isComplete } = await store.findHistory(view, [id], REPLACEMENTS_SHOWN_MAX);
  const factIds = [
    ...new Set([...(start.kind === 'fact' ? [id] : []), ...replacements.flatMap(({ oldId, newId }) => [oldId, newId])]),
  ];
  const facts = await store.getMemories(view, factIds);
  const successors = await lastSuccessors(store, view, factIds);
  const bringing = new Map<string, ExplainedReplacement[]>();
  for (const replacement of replacements) append(bringing, replacement.newId, replacement);
  const links = oldestFirst(facts, replacements).map((memory): ChainLink => {
    const brought = bringing.get(memory.id) ?? [];
    return {
      memory,
      state: stateOf(memory, successors.get(memory.id)),
      changeId: brought[0]?.changeId ?? null,
      replacedIds: brought.map(({ oldId }) => oldId),
      rationale: brought[0]?.rationale ?? null,
    };
  });
  return { links, isComplete };
}

/** A fact comes after every fact it replaced, whatever the clock said when each was written. */
function oldestFirst(facts: readonly StoredMemory[], replacements: readonly Replacement[]): StoredMemory[] {
  const byId = new Map(facts.map((fact) => [fact.id, fact]));
  const later = new Map<string, string[]>();
  const open = new Map<string, number>();
  for (const { oldId, newId } of replacements) {
    if (!byId.has(oldId) || !byId.has(newId)) continue;
    append(later, oldId, newId);
    open.set(newId, (open.get(newId) ?? 0) + 1);
  }
  const ordered = new Set<StoredMemory>();
  let ready = facts.filter(({ id }) => !open.has(id));
  while (ready.length > 0) {
    const next: StoredMemory[] = [];
    for (const fact of ready.sort(byTime)) {
      ordered.add(fact);
      for (const newId of later.get(fact.id) ?? []) {
        const left = (open.get(newId) as number) - 1;
        open.set(newId, left);
        if (left === 0) next.push(byId.get(newId) as StoredMemory);
      }
    }
    ready = next;
  }
  // Two spaces may close a circle together; those in it have only the clock to go by.
  for (const fact of [...facts].sort(byTime)) ordered.add(fact);
  return [...ordered];
}

const byTime = (a: StoredMemory, b: StoredMemory): number => a.createdAtMs - b.createdAtMs || (a.id < b.id ? -1 : 1);

function append<Value>(lists: Map<string, Value[]>, key: string, value: Value): void {
  const list = lists.get(key);
  if (list) list.push(value);
  else lists.set(key, [value]);
}
