import { createHash } from 'node:crypto';
import { type Consolidation, consolidate, twinKey } from '../domain/consolidation.js';
import { briefOf, type EvolvingEdge, type EvolvingNode, SUMMARIZES } from '../domain/evolution.js';
import { linkOf } from '../domain/links.js';
import { viewOf } from '../domain/spaces.js';
import type { StoredEdge, StoredNode } from '../storage/port.js';
import type { Context } from './context.js';
import { EvolutionPlan } from './evolution-plan.js';
import {
  ANY,
  BATCH_NODES,
  type Evolved,
  edgesOf,
  pagesOf,
  refuseRepo,
  summariesIn,
  toEvolving,
  toEvolvingEdge,
} from './evolving.js';
import { retrying } from './retrying.js';

/** The end of a task: what it found out goes to its session, said once, and what was used together comes closer. */
export async function consolidateTask(
  context: Context,
  repoId: string,
  taskId: string,
  dryRun: boolean,
): Promise<Evolved> {
  refuseRepo(repoId);
  const run = new TaskRun(context, repoId, taskId, dryRun);
  const batches = await batchesOf(context, repoId, taskId);
  for (const [index, ids] of batches.entries()) {
    await retrying(() => run.take(ids, index === batches.length - 1));
  }
  return run.evolved;
}

/**
 * The nodes of the task in parts of which each becomes a plan. Twins come together, and the most used first: an edge
 * between two parts is strengthened with the first, by the most used of its members.
 */
async function batchesOf(context: Context, repoId: string, taskId: string): Promise<string[][]> {
  const groups = new Map<string, { readonly ids: string[]; most: number }>();
  for await (const page of pagesOf(context, repoId, { ...ANY, tiers: ['task'], taskId })) {
    for (const node of page) {
      const key = createHash('sha256')
        .update(twinKey(toEvolving(node)))
        .digest('base64');
      const group = groups.get(key) ?? { ids: [], most: 0 };
      group.ids.push(node.id);
      group.most = Math.max(group.most, node.accessCount);
      groups.set(key, group);
    }
  }
  const batches: string[][] = [];
  for (const { ids } of [...groups.values()].sort((a, b) => b.most - a.most)) {
    const last = batches.at(-1);
    if (last && last.length + ids.length <= BATCH_NODES) last.push(...ids);
    else batches.push([...ids]);
  }
  return batches;
}

/** One run over a task, part by part. What a part came to is noted only once it is stored. */
class TaskRun {
  readonly #promotedIds: string[] = [];
  readonly #merged: Evolved['merged'][number][] = [];
  readonly #strengthened: Evolved['strengthened'][number][] = [];
  readonly #relinked: Evolved['relinked'][number][] = [];
  readonly #summaries: Evolved['summaries'][number][] = [];
  readonly #keepers: EvolvingNode[] = [];
  readonly #summaryEdges = new Map<string, EvolvingEdge>();

  constructor(
    private readonly context: Context,
    private readonly repoId: string,
    private readonly taskId: string,
    private readonly dryRun: boolean,
  ) {}

  get evolved(): Evolved {
    return {
      promotedIds: this.#promotedIds,
      merged: this.#merged,
      strengthened: this.#strengthened,
      relinked: this.#relinked,
      summaries: this.#summaries,
    };
  }

  /** The last part brings the summaries, which tell of all parts. */
  async take(ids: readonly string[], isLast: boolean): Promise<void> {
    const { context, repoId, taskId } = this;
    const found = await context.store.getNodes(viewOf(repoId), ids);
    const nodes = found.filter((node) => node.tier === 'task' && node.taskId === taskId);
    const { edges: around, hubIds } = await edgesOf(context, repoId, nodes);
    // What a contract keeps is not for others to weigh.
    const edges = around.filter(({ label }) => !linkOf(label)?.keeper);
    const evolving = edges.map(toEvolvingEdge);
    for (const edge of evolving) if (edge.label === SUMMARIZES) this.#summaryEdges.set(edge.id, edge);
    const decided = consolidate(nodes.map(toEvolving), evolving, {
      existingSummaries: await summariesIn(context, repoId, this.#summaryEdges.values(), 'session'),
      hubIds,
      earlier: this.#keepers,
      keeperOf: new Map(this.#merged.map(({ id, keeperId }) => [id, keeperId])),
      strengthenedIds: new Set(this.#strengthened.map(({ edgeId }) => edgeId)),
    });
    const evolution = new EvolutionPlan(context, repoId, nodes);
    const relinked = await this.#plan(evolution, decided, edges);
    const summaries = isLast
      ? decided.summaries.map((summary) => ({
          id: evolution.summarize(summary, 'session'),
          sourceIds: summary.sourceIds,
        }))
      : [];
    if (!this.dryRun) await evolution.apply();
    this.#note(nodes, decided);
    this.#relinked.push(...relinked);
    this.#summaries.push(...summaries);
  }

  async #plan(
    evolution: EvolutionPlan,
    { promoted, merged, strengthened, relinked }: Consolidation,
    edges: readonly StoredEdge[],
  ): Promise<Evolved['relinked']> {
    for (const { id, accessCount, lastAccessedAtMs, tags } of promoted) {
      if (tags) evolution.tag(id, tags);
      evolution.move(id, 'task', 'session', 'consolidate', `task ${this.taskId} is done`);
      evolution.takeOver(id, accessCount, lastAccessedAtMs);
    }
    for (const { id, reason } of merged) evolution.move(id, 'task', 'archive', 'consolidate', reason);
    const edgeOf = new Map(edges.map((edge) => [edge.id, edge]));
    for (const { edgeId, weight } of strengthened) evolution.strengthen(edgeOf.get(edgeId) as StoredEdge, weight);
    const drawn = await evolution.relink(
      relinked.map(({ edgeId, weight, members }) => {
        const { type, label, members: before } = edgeOf.get(edgeId) as StoredEdge;
        const standIns = members.map(({ place, nodeId }, position) => {
          const { role } = before[place] as StoredEdge['members'][number];
          return { nodeId, role, position };
        });
        return { edgeId, type, label, weight, members: standIns };
      }),
    );
    return drawn.map(({ edgeId, members }) => ({ edgeId, nodeIds: members.map(({ nodeId }) => nodeId) }));
  }

  #note(nodes: readonly StoredNode[], { promoted, merged, strengthened }: Consolidation): void {
    const byId = new Map(nodes.map((node) => [node.id, node]));
    for (const { id } of promoted) {
      this.#promotedIds.push(id);
      this.#keepers.push(briefOf(toEvolving(byId.get(id) as StoredNode)));
    }
    for (const { id, keeperId } of merged) this.#merged.push({ id, keeperId });
    this.#strengthened.push(...strengthened);
  }
}
