import { setImmediate } from 'node:timers/promises';
import { type EvolvingEdge, type EvolvingNode, SUMMARIZES, summaryKey } from '../domain/evolution.js';
import { checkRepoId } from '../domain/rules.js';
import { viewOf } from '../domain/spaces.js';
import { GateFailure } from '../domain/violations.js';
import { NODE_TYPES, type Tier } from '../domain/vocabulary.js';
import type { EdgePlace, NodeFilter, NodePlace, StoredEdge, StoredNode } from '../storage/port.js';
import type { Context } from './context.js';

/** What the runs of evolution read: all nodes of a task, a session or a tier, part by part, with all of their edges. */

/** What became of a task or a session, or would become of it. */
export interface Evolved {
  readonly promotedIds: readonly string[];
  readonly merged: readonly { readonly id: string; readonly keeperId: string }[];
  readonly strengthened: readonly { readonly edgeId: string; readonly weight: number }[];
  /** Edges that were drawn again, and the nodes that they join now. */
  readonly relinked: readonly { readonly edgeId: string; readonly nodeIds: readonly string[] }[];
  readonly summaries: readonly { readonly id: string; readonly sourceIds: readonly string[] }[];
}

/** So many nodes are read and changed at a time; others have their turn in between. */
export const BATCH_NODES = 500;

/** And so many changes are stored at a time, unless a single node comes to more. */
export const CHANGES_PER_PLAN_MAX = 2_000;

export const ANY: NodeFilter = {
  types: NODE_TYPES,
  tiers: [],
  form: 'concept',
  kind: null,
  minConfidence: 0,
  tag: null,
  sessionId: null,
  withShared: false,
  taskId: null,
};

export const toEvolving = (node: StoredNode): EvolvingNode => ({ ...node, confidence: node.confidence ?? 0 });

export const toEvolvingEdge = ({ id, label, weight, members }: StoredEdge): EvolvingEdge => ({
  id,
  label,
  weight,
  memberIds: members.map(({ nodeId }) => nodeId),
  roles: members.map(({ role }) => role),
});

export function refuseRepo(repoId: string): void {
  const violations = checkRepoId('repo_id', repoId);
  if (violations.length > 0) throw new GateFailure('semantic', violations);
}

/** The nodes that fit, each once. A node that changes meanwhile may move along the list and come along again. */
export async function* pagesOf({ store }: Context, repoId: string, filter: NodeFilter): AsyncGenerator<StoredNode[]> {
  const seen = new Set<string>();
  let after: NodePlace | null = null;
  for (;;) {
    const page: StoredNode[] = await store.listNodes(repoId, filter, after, BATCH_NODES);
    const last = page.at(-1);
    if (!last) return;
    const fresh = page.filter(({ id }) => !seen.has(id));
    for (const { id } of fresh) seen.add(id);
    yield fresh;
    after = { confidence: last.confidence ?? 0, seq: last.seq };
    await setImmediate();
  }
}

const EDGES_PER_PAGE = 500;
/** A node with as many edges is a hub: to draw all of them again would keep everybody waiting. */
const EDGES_PER_NODE_MAX = 2_000;
const NODES_PER_TURN = 100;

export const isHub = (edges: number): boolean => edges >= EDGES_PER_NODE_MAX;

/** The edges of the nodes, each once and all of them, but for those of hubs, which are named. */
export async function edgesOf(
  context: Context,
  repoId: string,
  nodes: readonly { readonly id: string }[],
): Promise<{ edges: StoredEdge[]; hubIds: Set<string> }> {
  const edges = new Map<string, StoredEdge>();
  const hubIds = new Set<string>();
  for await (const { id, found } of eachWithEdges(context, repoId, nodes)) {
    for (const edge of found) edges.set(edge.id, edge);
    if (isHub(found.length)) hubIds.add(id);
  }
  return { edges: [...edges.values()], hubIds };
}

/** How many edges each of the nodes has; of a hub, at least so many that it is one. */
export async function countEdges(
  context: Context,
  repoId: string,
  nodes: readonly { readonly id: string }[],
): Promise<Map<string, number>> {
  const counts = new Map<string, number>();
  for await (const { id, found } of eachWithEdges(context, repoId, nodes)) counts.set(id, found.length);
  return counts;
}

async function* eachWithEdges(
  context: Context,
  repoId: string,
  nodes: readonly { readonly id: string }[],
): AsyncGenerator<{ id: string; found: StoredEdge[] }> {
  for (const [index, { id }] of nodes.entries()) {
    yield { id, found: await edgesOfNode(context, repoId, id) };
    if (index % NODES_PER_TURN === NODES_PER_TURN - 1) await setImmediate();
  }
}

async function edgesOfNode({ store }: Context, repoId: string, nodeId: string): Promise<StoredEdge[]> {
  const edges: StoredEdge[] = [];
  let after: EdgePlace | null = null;
  do {
    const page: StoredEdge[] = await store.listEdges(
      repoId,
      { type: null, label: null, nodeId },
      after,
      EDGES_PER_PAGE,
    );
    edges.push(...page);
    after = page.length < EDGES_PER_PAGE ? null : (page.at(-1) ?? null);
  } while (after !== null && edges.length < EDGES_PER_NODE_MAX);
  return edges;
}

/** The summaries that there are in a tier, by the set of their sources. */
export async function summariesIn(
  { store }: Context,
  repoId: string,
  edges: Iterable<EvolvingEdge>,
  tier: Tier,
): Promise<Set<string>> {
  const sources = new Map<string, string[]>();
  for (const { label, memberIds } of edges) {
    const [summary, source] = memberIds;
    if (label !== SUMMARIZES || !summary || !source) continue;
    sources.set(summary, [...(sources.get(summary) ?? []), source]);
  }
  const nodes = await store.getNodes(viewOf(repoId, { includeArchived: true }), [...sources.keys()]);
  const inTier = nodes.filter((node) => node.tier === tier);
  return new Set(inTier.map(({ id }) => summaryKey(sources.get(id) as string[])));
}
