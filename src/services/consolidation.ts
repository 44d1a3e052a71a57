import { type Consolidation, consolidate } from '../domain/consolidation.js';
import { briefOf, type EvolvingEdge, type EvolvingNode, SUMMARIZES } from '../domain/evolution.js';
import { edgeKey, linkOf, type Member } from '../domain/links.js';
import { viewOf } from '../domain/spaces.js';
import type { Tier } from '../domain/vocabulary.js';
import type { StoredEdge, StoredNode } from '../storage/port.js';
import type { Context } from './context.js';
import { EvolutionPlan } from './evolution-plan.js';
import { type Evolved, edgesOf, refuseRepo, summariesIn, toEvolving, toEvolvingEdge } from './evolving.js';
import { retrying } from './retrying.js';
import { digestOf, readParts, type TaskParts } from './task-parts.js';

/** The end of a task: what it found out goes to its session, said once, and what was used together comes closer. */
export async function consolidateTask(
  context: Context,
  repoId: string,
  taskId: string,
  dryRun: boolean,
): Promise<Evolved> {
  refuseRepo(repoId);
  const task = await readParts(context, repoId, taskId);
  const run = new TaskRun(context, repoId, taskId, task, dryRun);
  for (const [index, ids] of task.parts.entries()) {
    await retrying(() => run.take(ids, index === task.parts.length - 1));
  }
  return run.evolved;
}

/** One run over a task, part by part. What a part came to is noted only once it is stored. */
class TaskRun {
  readonly #promotedIds: string[] = [];
  readonly #merged: Evolved['merged'][number][] = [];
  readonly #strengthened: Evolved['strengthened'][number][] = [];
  readonly #relinked: Evolved['relinked'][number][] = [];
  readonly #summaries: Evolved['summaries'][number][] = [];
  readonly #keepers: EvolvingNode[] = [];
  /** The ids of the keepers by what they say; hubs, which stand for themselves, are not among them. */
  readonly #keeperIds = new Map<string, string>();
  readonly #keeperOf: Map<string, string>;
  readonly #strengthenedIds = new Set<string>();
  readonly #drawnKeys = new Set<string>();
  readonly #drawnIds = new Set<string>();
  readonly #summaryEdges = new Map<string, EvolvingEdge>();

  constructor(
    private readonly context: Context,
    private readonly repoId: string,
    private readonly taskId: string,
    private readonly task: TaskParts,
    private readonly dryRun: boolean,
  ) {
    this.#keeperOf = new Map(task.keeperOf);
  }

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
    const { context, repoId } = this;
    const nodes = await this.#nodesIn('task', ids);
    const standing = await this.#standingFor(nodes);
    const { edges, hubIds } = await this.#edgesOf(nodes);
    const evolving = edges.map(toEvolvingEdge);
    for (const edge of evolving) if (edge.label === SUMMARIZES) this.#summaryEdges.set(edge.id, edge);
    const decided = consolidate(nodes.map(toEvolving), evolving, {
      hubIds,
      standing: standing.map(toEvolving),
      keeperOf: this.#keeperOf,
      accesses: this.task.accesses,
      strengthenedIds: this.#strengthenedIds,
      ...(isLast && {
        existingSummaries: await summariesIn(context, repoId, this.#summaryEdges.values(), 'session'),
        earlier: this.#keepers,
      }),
    });
    const evolution = new EvolutionPlan(context, repoId, [...nodes, ...standing]);
    evolution.expect(standing);
    const drawn = await this.#plan(evolution, decided, edges);
    const summaries = isLast
      ? decided.summaries.map((summary) => ({
          id: evolution.summarize(summary, 'session'),
          sourceIds: summary.sourceIds,
        }))
      : [];
    if (!this.dryRun) await evolution.apply();
    this.#note(nodes, decided, hubIds);
    for (const { key, id, edgeId, members } of drawn) {
      this.#drawnKeys.add(key);
      this.#drawnIds.add(id);
      this.#relinked.push({ edgeId, nodeIds: members.map(({ nodeId }) => nodeId) });
    }
    this.#summaries.push(...summaries);
  }

  async #nodesIn(tier: Tier, ids: readonly string[]): Promise<StoredNode[]> {
    const found = await this.context.store.getNodes(viewOf(this.repoId), ids);
    return found.filter((node) => node.tier === tier && node.taskId === this.taskId);
  }

  /** Who of the parts before says the same as one of these; in a dry run they have not moved. */
  #standingFor(nodes: readonly StoredNode[]): Promise<StoredNode[]> {
    const ids = nodes.flatMap((node) => this.#keeperIds.get(digestOf(toEvolving(node))) ?? []);
    return this.#nodesIn(this.dryRun ? 'task' : 'session', [...new Set(ids)]);
  }

  /** What a contract keeps is not for others to weigh, and what this run has drawn is done. */
  async #edgesOf(nodes: readonly StoredNode[]): Promise<{ edges: StoredEdge[]; hubIds: Set<string> }> {
    const { edges, hubIds } = await edgesOf(this.context, this.repoId, nodes);
    return { edges: edges.filter(({ id, label }) => !linkOf(label)?.keeper && !this.#drawnIds.has(id)), hubIds };
  }

  async #plan(
    evolution: EvolutionPlan,
    { promoted, reinforced, merged, strengthened, relinked }: Consolidation,
    edges: readonly StoredEdge[],
  ): Promise<DrawnAgain[]> {
    for (const { id, tags } of [...promoted, ...reinforced]) if (tags) evolution.tag(id, tags);
    for (const { id } of promoted) {
      evolution.move(id, 'task', 'session', 'consolidate', `task ${this.taskId} is done`);
    }
    for (const { id, accessCount, lastAccessedAtMs } of [...promoted, ...reinforced]) {
      evolution.takeOver(id, accessCount, lastAccessedAtMs);
    }
    for (const { id, reason } of merged) evolution.move(id, 'task', 'archive', 'consolidate', reason);
    const edgeOf = new Map(edges.map((edge) => [edge.id, edge]));
    for (const { edgeId, weight } of strengthened) evolution.strengthen(edgeOf.get(edgeId) as StoredEdge, weight);
    const again = relinked.map(({ edgeId, weight, members }) => {
      const { type, label, members: before } = edgeOf.get(edgeId) as StoredEdge;
      const standIns = members.map(({ place, nodeId }, position) => {
        const { role } = before[place] as StoredEdge['members'][number];
        return { nodeId, role, position };
      });
      return { edgeId, key: edgeKey(label, standIns, type), type, label, weight, members: standIns };
    });
    return evolution.relink(again.filter(({ key }) => !this.#drawnKeys.has(key)));
  }

  #note(
    nodes: readonly StoredNode[],
    { promoted, merged, strengthened }: Consolidation,
    hubIds: ReadonlySet<string>,
  ): void {
    const byId = new Map(nodes.map((node) => [node.id, toEvolving(node)]));
    for (const { id } of promoted) {
      const node = byId.get(id) as EvolvingNode;
      this.#promotedIds.push(id);
      this.#keepers.push(briefOf(node));
      if (!hubIds.has(id)) this.#keeperIds.set(digestOf(node), id);
    }
    for (const { id, keeperId } of merged) {
      this.#merged.push({ id, keeperId });
      this.#keeperOf.set(id, keeperId);
    }
    this.#strengthened.push(...strengthened);
    for (const { edgeId } of strengthened) this.#strengthenedIds.add(edgeId);
  }
}

interface DrawnAgain {
  readonly id: string;
  readonly key: string;
  readonly edgeId: string;
  readonly members: readonly Member[];
}
