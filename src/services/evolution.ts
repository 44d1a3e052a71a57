import { setImmediate } from 'node:timers/promises';
import type { Change } from '../domain/changes.js';
import { consolidate } from '../domain/consolidation.js';
import { type Decay, decayOf } from '../domain/decay.js';
import { type Drift, driftOf } from '../domain/drift.js';
import { type EvolvingEdge, type EvolvingNode, SUMMARIZES, type Summary, summaryKey } from '../domain/evolution.js';
import { LINKS, linkOf, membersOf } from '../domain/links.js';
import { promote, promoteOne } from '../domain/promotion.js';
import { checkRepoId } from '../domain/rules.js';
import { viewOf } from '../domain/spaces.js';
import { indexTerms } from '../domain/terms.js';
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
import { findNode } from './nodes.js';
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
    const edges = await edgesAround(context, repoId, nodes);
    const existingSummaries = await summariesIn(context, repoId, edges, 'session');
    const decided = consolidate(nodes.map(toEvolving), edges.map(toEvolvingEdge), { existingSummaries });
    const evolution = new EvolutionPlan(context, repoId, nodes);
    for (const { id, accessCount, lastAccessedAtMs } of decided.promoted) {
      evolution.move(id, 'task', 'session', 'consolidate', `task ${taskId} is done`);
      evolution.takeOver(id, accessCount, lastAccessedAtMs);
    }
    for (const { id, reason } of decided.merged) evolution.move(id, 'task', 'archive', 'consolidate', reason);
    for (const { edgeId, weight } of decided.strengthened) evolution.strengthen(edges, edgeId, weight);
    const sessionId = nodes.find((node) => node.sessionId !== null)?.sessionId ?? null;
    const summaryIds = decided.summaries.map((summary) => evolution.summarize(summary, 'session', sessionId));
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
    const summaryIds = decided.crystallized.map((summary) => evolution.summarize(summary, 'longterm', sessionId));
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
    const evolution = new EvolutionPlan(context, repoId, [node]);
    evolution.move(id, decided.move.from, decided.move.to, 'promote', 'promoted by hand');
    if (!dryRun) await evolution.apply();
    return { promotedIds: [id], merged: [], strengthened: [], summaryIds: [] };
  });
}

async function edgesAround({ store }: Context, repoId: string, nodes: readonly StoredNode[]): Promise<StoredEdge[]> {
  const ids = nodes.map(({ id }) => id);
  const view = viewOf(repoId, { includeArchived: true });
  return store.findEdgesAround(view, ids, { types: null, label: null, perNode: EDGES_PER_NODE_MAX });
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

/** Gathers the changes that a run of evolution comes to. */
class EvolutionPlan {
  readonly #changes: Change[] = [];
  readonly #nodes: ReadonlyMap<string, StoredNode>;
  readonly #atMs: number;

  constructor(
    private readonly context: Context,
    private readonly repoId: string,
    nodes: readonly StoredNode[],
  ) {
    this.#nodes = new Map(nodes.map((node) => [node.id, node]));
    this.#atMs = context.now();
  }

  move(nodeId: string, from: Tier, to: Tier, operation: 'consolidate' | 'promote' | 'decay', reasoning: string): void {
    const { repoId } = this;
    this.#changes.push(
      { change: 'move_tier', nodeId, repoId, from, to, reason: reasoning, atMs: this.#atMs },
      { change: 'record_evolution', operation, repoId, nodeIds: [nodeId], from, to, reasoning, atMs: this.#atMs },
    );
  }

  takeOver(nodeId: string, accessCount: number, lastAccessedAtMs: number): void {
    const count = accessCount - (this.#nodes.get(nodeId)?.accessCount ?? 0);
    if (count > 0) {
      this.#changes.push({ change: 'count_access', nodeId, count, lastAccessedAtMs, decayedAtMs: null });
    }
  }

  /** What a contract keeps is not for others to weigh. */
  strengthen(edges: readonly StoredEdge[], edgeId: string, weight: number): void {
    const edge = edges.find(({ id }) => id === edgeId);
    if (edge && !linkOf(edge.label)?.keeper) {
      this.#changes.push({ change: 'patch_edge', edge, weight, atMs: this.#atMs });
    }
  }

  decay(node: StoredNode, { confidence, archives, decayedAtMs }: Decay): void {
    const { repoId } = this;
    const reason = `unused since ${new Date(node.lastAccessedAtMs).toISOString()}`;
    this.#changes.push(
      {
        change: 'patch_node',
        nodeId: node.id,
        repoId,
        expectedRevision: node.revision,
        fields: { confidence },
        trigger: 'decay',
        reason,
        atMs: this.#atMs,
      },
      {
        change: 'count_access',
        nodeId: node.id,
        count: 0,
        lastAccessedAtMs: node.lastAccessedAtMs,
        decayedAtMs,
      },
    );
    if (archives) this.move(node.id, node.tier, 'archive', 'decay', reason);
  }

  /** A fact that says in short what its sources say, joined to each of them. */
  summarize({ content, confidence, sourceIds }: Summary, tier: Tier, sessionId: string | null): string {
    const id = this.context.newId();
    const { repoId } = this;
    this.#changes.push({
      change: 'insert_concept',
      terms: indexTerms(content),
      concept: {
        id,
        form: 'concept',
        kind: 'summary',
        type: 'fact',
        repoId,
        scope: 'repo',
        content,
        confidence,
        tier,
        archivedAtMs: null,
        archiveReason: null,
        revision: 1,
        createdAtMs: this.#atMs,
        updatedAtMs: this.#atMs,
        provenance: null,
        metadata: { crystallized: tier === 'longterm', source_nodes: sourceIds, session_id: sessionId },
        tags: [],
        sessionId,
        taskId: null,
      },
    });
    for (const sourceId of sourceIds) {
      this.#changes.push({
        change: 'insert_edge',
        id: this.context.newId(),
        repoId,
        type: LINKS[SUMMARIZES].type,
        label: SUMMARIZES,
        weight: LINKS[SUMMARIZES].weight,
        origin: 'auto',
        rationale: null,
        members: membersOf(SUMMARIZES, [id, sourceId]),
        atMs: this.#atMs,
      });
    }
    return id;
  }

  async apply(): Promise<void> {
    if (this.#changes.length > 0) await this.context.store.apply({ space: this.repoId, changes: this.#changes });
  }
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
  { store }: Context,
  repoId: string,
  filter: EvolutionFilter,
  beforeSeq: number | null,
  limit: number,
): Promise<EvolutionPage> {
  refuseRepo(repoId);
  return store.listEvolution(repoId, filter, beforeSeq, limit);
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
  const updates = await context.store.listConfidence(viewOf(repoId), id, UPDATES_SHOWN_MAX);
  return { updates, drift: driftOf([...updates].reverse()) };
}
