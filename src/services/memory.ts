import { isIdOf } from '../domain/forms.js';
import { LINKS } from '../domain/links.js';
import { checkRepoId } from '../domain/rules.js';
import { type View, viewOf } from '../domain/spaces.js';
import { GateFailure } from '../domain/violations.js';
import type { State } from '../domain/vocabulary.js';
import type { StoredEdge, StoredMemory, StoredVote, VoteSum } from '../storage/port.js';
import type { Context } from './context.js';
import { findReply, type Once, rememberReply } from './once.js';
import type { Operation, Outcome } from './operations.js';
import { planOperations } from './planner.js';
import { retrying } from './retrying.js';
import { lastSuccessors, stateOf } from './successors.js';

export type Mode = 'dry_run' | 'commit';

/** Plans the operations as one change of the store and, in mode commit, carries it out. */
export async function changeMemories(
  context: Context,
  repoId: string,
  operations: readonly Operation[],
  mode: Mode,
  once: Once | null,
): Promise<readonly Outcome[]> {
  return retrying(async () => {
    const kept = mode === 'commit' ? await findReply<Outcome[]>(context, repoId, once) : null;
    if (kept) return kept;
    const planned = await planOperations(context, repoId, operations);
    if (mode === 'dry_run') return planned.outcomes;
    const changes = [...planned.changes, ...rememberReply(context, repoId, once, planned.outcomes)];
    if (changes.length === 0) return planned.outcomes;
    await context.store.apply({ space: planned.space, changes });
    return planned.outcomes;
  });
}

/** A memory with everything that hangs on it. */
export interface MemoryDetail {
  readonly memory: StoredMemory;
  readonly state: State;
  readonly supersededBy: string | null;
  readonly evidenceRefs: readonly string[];
  readonly evidenceComplete: boolean;
  readonly edges: readonly StoredEdge[];
  /** Whether these are all its edges. */
  readonly edgesComplete: boolean;
  readonly voteSum: VoteSum;
  readonly votes: readonly StoredVote[];
}

/** How much of what hangs on a memory one answer shows, of each label; the answer says when there is more. */
const EDGES_SHOWN_MAX = 200;
const EVIDENCE_SHOWN_MAX = 200;
const VOTES_SHOWN_MAX = 100;

/** What is asked for by its id is shown whether or not it is archived. */
export function lookupView(repoId: string): View {
  const violations = checkRepoId('repo_id', repoId);
  if (violations.length > 0) throw new GateFailure('semantic', violations);
  return viewOf(repoId, { includeArchived: true });
}

/** An id of the wrong form is simply nobody's. */
export async function findMemory({ store }: Context, view: View, id: string): Promise<StoredMemory | null> {
  if (!isIdOf('memory', id)) return null;
  const [memory] = await store.getMemories(view, [id]);
  return memory ?? null;
}

export async function readMemory(context: Context, repoId: string, id: string): Promise<MemoryDetail | null> {
  const view = lookupView(repoId);
  const memory = await findMemory(context, view, id);
  if (!memory) return null;
  const successors = await lastSuccessors(context.store, view, [id]);
  const votes = await context.store.sumVotes(view, [id]);
  const { edges, isComplete } = await edgesOf(context, view, id);
  const evidence = await context.store.findEvidence(view, id, EVIDENCE_SHOWN_MAX + 1);
  return {
    memory,
    state: stateOf(memory, successors.get(id)),
    supersededBy: successors.get(id) ?? null,
    evidenceRefs: evidence.slice(0, EVIDENCE_SHOWN_MAX),
    evidenceComplete: evidence.length <= EVIDENCE_SHOWN_MAX,
    edges,
    edgesComplete: isComplete,
    voteSum: votes.get(id) ?? { count: 0, mean: 0 },
    votes: await context.store.findVotes(view, id, VOTES_SHOWN_MAX),
  };
}

/** The newest edges of each known label, and the strongest of all that say something else. */
async function edgesOf(
  { store }: Context,
  view: View,
  id: string,
): Promise<{ edges: StoredEdge[]; isComplete: boolean }> {
  const labels = Object.keys(LINKS);
  const known = await store.findEdges(view, [id], labels, EDGES_SHOWN_MAX + 1);
  // Asked for apart: of a hub, those of the known labels would leave no room for them.
  const ways = { types: null, label: null, otherThan: labels, perNode: EDGES_SHOWN_MAX };
  const others = await store.findEdgesAround(view, [id], ways);
  const sorts = [...labels.map((label) => known.filter((edge) => edge.label === label)), others.found];
  return {
    edges: sorts.flatMap((sort) => sort.slice(0, EDGES_SHOWN_MAX)).sort(newestFirst),
    isComplete: others.isComplete && sorts.every((sort) => sort.length <= EDGES_SHOWN_MAX),
  };
}

const newestFirst = (a: StoredEdge, b: StoredEdge): number => b.createdAtMs - a.createdAtMs || b.seq - a.seq;
