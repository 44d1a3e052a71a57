import { setImmediate } from 'node:timers/promises';
import { consolidate } from '../domain/consolidation.js';
import { decayOf } from '../domain/decay.js';
import { type Drift, driftOf } from '../domain/drift.js';
import { type EvolvingEdge, type EvolvingNode, SUMMARIZES, summaryKey } from '../domain/evolution.js';
import { linkOf } from '../domain/links.js';
import { promote, promoteOne } from '../domain/promotion.js';
import { checkRepoId } from '../domain/rules.js';
import { type SpaceName, viewOf } from '../domain/spaces.js';
import { GateFailure } from '../domain/violations.js';
import { NODE_TYPES, type Tier } from '../domain/vocabulary.js';
import type {
  ConfidenceUpdate,
  EvolutionFilter,
  EvolutionPage,
  NodeFilter,
  NodePlace,
  StoredEdge,
  StoredNode,
} from '../storage/port.js';
import type { Context } from './context.js';
import { EvolutionPlan } from './evolution-plan.js';
import { findNode, spaceOf } from './nodes.js';
import { retrying } from './retrying.js';

export type { EvolutionFilter, EvolutionPage } from '../storage/port.js';

/** What became of a task or a session, or would become of it. */
export interface Evolved {
  readonly promotedIds: readonly string[];
  readonly merged: readonly { readonly id: string; readonly keeperId: string }[];
  readonly strengthened: readonly { readonly edgeId: string; readonly weight: number }[];
  readonly summaryIds: readonly string[];
}

/** No task and no session is larger; one that is, is taken in several runs. */
const NODES_MAX = 5_000;
const EDGES_PER_NODE_MAX = 200;
const PAGE_NODES = 500;

const ANY: NodeFilter = {
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

const toEvolving = (node: StoredNode): EvolvingNode => ({ ...node, confidence: node.confidence ?? 0 });

const toEvolvingEdge = ({ id, label, weight, members }: StoredEdge): EvolvingEdge => ({
  id,
  label,
  weight,
  memberIds: members.map(({ nodeId }) => nodeId),
});

function refuseRepo(repoId: string): void {
  const violations = checkRepoId('repo_id', repoId);
  if (violations.length > 0) throw new GateFailure('semantic', violations);
}

/** The end of a task: what it found out goes to its session, said once, and what was used together comes closer. */
export async function consolidateTask(
  context: Context,
  repoId: string,
  taskId: string,
  dryRun: boolean,
): Promise<Evolved> {
  refuseRepo(repoId);
  return retrying(async () => {
    const nodes = await context.store.listNodes(repoId, { ...ANY, tiers: ['task'], taskId }, null, NODES_MAX);
    const around = await edgesAround(context, repoId, nodes);
    // What a contract keeps is not for others to weigh.
    const edges = around.filter(({ label }) => !linkOf(label)?.keeper);
    const existingSummaries = await summariesIn(context, repoId, edges, 'session');
    const decided = consolidate(nodes.map(toEvolving), edges.map(toEvolvingEdge), { existingSummaries });
    const evolution = new EvolutionPlan(context, repoId, nodes);
    for (const { id, accessCount, lastAccessedAtMs } of decided.promoted) {
      evolution.move(id, 'task', 'session', 'consolidate', `task ${taskId} is done`);
      evolution.takeOver(id, accessCount, lastAccessedAtMs);
    }
    for (const { id, reason } of decided.merged) evolution.move(id, 'task', 'archive', 'consolidate', reason);
    const edgeOf = new Map(edges.map((edge) => [edge.id, edge]));
    for (const { edgeId, weight } of decided.strengthened) {
      evolution.strengthen(edgeOf.get(edgeId) as StoredEdge, weight);
    }
    await evolution.relink(
      decided.relinked.map(({ edgeId, weight, memberIds }) => {
        const { type, label, members } = edgeOf.get(edgeId) as StoredEdge;
        const standIns = members.map((member, place) => ({ ...member, nodeId: memberIds[place] as string }));
        return { type, label, weight, members: standIns };
      }),
    );
    const summaryIds = decided.summaries.map((summary) => evolution.summarize(summary, 'session'));
    if (!dryRun) await evolution.apply();
    return {
      promotedIds: decided.promoted.map(({ id }) => id),
      merged: decided.merged.map(({ id, keeperId }) => ({ id, keeperId })),
      strengthened: decided.strengthened,
      summaryIds: dryRun ? [] : summaryIds,
    };
  });
}

/** The end of a session: what is sure and was used stays for good. */
export async function promoteSession(
  context: Context,
  repoId: string,
  sessionId: string,
  threshold: number,
  dryRun: boolean,
): Promise<Evolved> {
  refuseRepo(repoId);
  return retrying(async () => {
    const filter: NodeFilter = { ...ANY, tiers: ['session', 'longterm'], sessionId };
    const nodes = await context.store.listNodes(repoId, filter, null, NODES_MAX);
    const edges = await edgesAround(context, repoId, nodes);
    const existingSummaries = await summariesIn(context, repoId, edges, 'longterm');
    const decided = promote(nodes.map(toEvolving), edges.map(toEvolvingEdge), { threshold, existingSummaries });
    const evolution = new EvolutionPlan(context, repoId, nodes);
    for (const id of decided.promotedIds) {
      evolution.move(id, 'session', 'longterm', 'promote', `session ${sessionId} is over`);
    }
    const summaryIds = decided.crystallized.map((summary) => evolution.summarize(summary, 'longterm'));
    if (!dryRun) await evolution.apply();
    return { promotedIds: decided.promotedIds, merged: [], strengthened: [], summaryIds: dryRun ? [] : summaryIds };
  });
}

/** One node, by hand; null when there is none. */
export async function promoteNode(
  context: Context,
  repoId: string,
  id: string,
  target: Tier | undefined,
  dryRun: boolean,
): Promise<Evolved | null> {
  refuseRepo(repoId);
  return retrying(async () => {
    const node = await findNode(context, repoId, id);
    if (!node) return null;
    const decided = promoteOne(node.tier, target);
    if ('refusal' in decided) {
      throw new GateFailure('integrity', [{ field: 'node_id', code: 'conflict', message: decided.refusal }]);
    }
    const evolution = new EvolutionPlan(context, repoId, [node], spaceOf(node));
    evolution.move(id, decided.move.from, decided.move.to, 'promote', 'promoted by hand');
    if (!dryRun) await evolution.apply();
    return { promotedIds: [id], merged: [], strengthened: [], summaryIds: [] };
  });
}

async function edgesAround({ store }: Context, repoId: string, nodes: readonly StoredNode[]): Promise<StoredEdge[]> {
  const ids = nodes.map(({ id }) => id);
  const view = viewOf(repoId, { includeArchived: true });
  const { found } = await store.findEdgesAround(view, ids, { types: null, label: null, perNode: EDGES_PER_NODE_MAX });
  return found;
}

/** The summaries that there are in a tier, by the set of their sources. */
async function summariesIn(
  { store }: Context,
  repoId: string,
  edges: readonly StoredEdge[],
  tier: Tier,
): Promise<Set<string>> {
  const sources = new Map<string, string[]>();
  for (const { label, members } of edges) {
    const [summary, source] = members;
    if (label !== SUMMARIZES || !summary || !source) continue;
    sources.set(summary.nodeId, [...(sources.get(summary.nodeId) ?? []), source.nodeId]);
  }
  const nodes = await store.getNodes(viewOf(repoId, { includeArchived: true }), [...sources.keys()]);
  const inTier = nodes.filter((node) => node.tier === tier);
  return new Set(inTier.map(({ id }) => summaryKey(sources.get(id) as string[])));
}

export interface DecaySettings {
  readonly factor: number;
  readonly minConfidence: number;
}

export interface Decayed {
  readonly examined: number;
  readonly decayed: number;
  readonly archived: number;
  readonly nodes: readonly {
    readonly id: string;
    readonly from: number;
    readonly to: number;
    readonly archived: boolean;
  }[];
}

/** How many of the nodes that decayed are named. */
const DECAYED_NAMED_MAX = 1_000;

/** What nobody asked for loses confidence with every day, and leaves sight when little is left. A plan for every page. */
export async function decayNodes(
  context: Context,
  repoId: string,
  settings: DecaySettings,
  dryRun: boolean,
): Promise<Decayed> {
  refuseRepo(repoId);
  const total = { examined: 0, decayed: 0, archived: 0, nodes: [] as Decayed['nodes'][number][] };
  const seen = new Set<string>();
  let after: NodePlace | null = null;
  for (;;) {
    const page: StoredNode[] = await context.store.listNodes(
      repoId,
      { ...ANY, tiers: ['longterm'] },
      after,
      PAGE_NODES,
    );
    const last = page.at(-1);
    if (!last) return total;
    // A node that lost confidence moves down the list, and may come along again.
    const fresh = page.filter(({ id }) => !seen.has(id));
    for (const { id } of fresh) seen.add(id);
    total.examined += fresh.length;
    for (const change of await decayPage(context, repoId, fresh, settings, dryRun)) {
      total.decayed += change.archived ? 0 : 1;
      total.archived += change.archived ? 1 : 0;
      if (total.nodes.length < DECAYED_NAMED_MAX) total.nodes.push(change);
    }
    after = { confidence: last.confidence ?? 0, seq: last.seq };
    await setImmediate();
  }
}

async function decayPage(
  context: Context,
  repoId: string,
  nodes: readonly StoredNode[],
  settings: DecaySettings,
  dryRun: boolean,
): Promise<Decayed['nodes'][number][]> {
  const ids = nodes.map(({ id }) => id);
  return retrying(async () => {
    const current = await context.store.getNodes(viewOf(repoId), ids);
    const evolution = new EvolutionPlan(context, repoId, current);
    const changes = current.flatMap((node) => {
      const decay = decayOf(toEvolving(node), { nowMs: context.now(), ...settings });
      if (!decay) return [];
      evolution.decay(node, decay);
      return { id: node.id, from: node.confidence ?? 0, to: decay.confidence, archived: decay.archives };
    });
    if (!dryRun) await evolution.apply();
    return changes;
  });
}

export async function listEvolution(
  context: Context,
  repoId: string,
  filter: EvolutionFilter,
  beforeSeq: number | null,
  limit: number,
): Promise<EvolutionPage> {
  refuseRepo(repoId);
  return context.store.listEvolution(await logOf(context, repoId, filter), filter, beforeSeq, limit);
}

/** What happens to a global node is in the log of all; of a node that is gone, the repo's log knows. */
async function logOf(context: Context, repoId: string, { nodeId }: EvolutionFilter): Promise<SpaceName> {
  const node = nodeId === null ? null : await findNode(context, repoId, nodeId);
  return node ? spaceOf(node) : repoId;
}

export interface ConfidenceHistory {
  readonly updates: readonly ConfidenceUpdate[];
  readonly drift: Drift;
}

const UPDATES_SHOWN_MAX = 500;

/** How sure a node was, change by change; null when there is no such node. */
export async function readConfidence(context: Context, repoId: string, id: string): Promise<ConfidenceHistory | null> {
  const node = await findNode(context, repoId, id);
  if (!node) return null;
  const { updates, initial, byTrigger } = await context.store.readConfidence(viewOf(repoId), id, UPDATES_SHOWN_MAX);
  return { updates, drift: driftOf(initial, updates[0]?.newConfidence ?? null, byTrigger) };
}
