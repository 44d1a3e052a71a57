import { createHash } from 'node:crypto';
import { bestFirst, twinKey } from '../domain/consolidation.js';
import type { EvolvingNode } from '../domain/evolution.js';
import type { Context } from './context.js';
import { ANY, BATCH_NODES, CHANGES_PER_PLAN_MAX, countEdges, isHub, pagesOf, toEvolving } from './evolving.js';

/** A task in parts, of which each becomes a plan that keeps nobody waiting for long. */
export interface TaskParts {
  /** The ids of the nodes of each part. Of those that say the same, the one to be kept is in the first. */
  readonly parts: readonly (readonly string[])[];
  /** Who is to stand for whom. */
  readonly keeperOf: ReadonlyMap<string, string>;
  /** How often each of the nodes was asked for. */
  readonly accesses: ReadonlyMap<string, number>;
}

/** As little of a node as tells it from others: all of a task are kept in mind at once. */
type Sketch = Pick<EvolvingNode, 'id' | 'confidence' | 'accessCount' | 'createdAtMs'> & { readonly changes: number };

/** Which nodes of the task say the same is known only when all have been read. */
export async function readParts(context: Context, repoId: string, taskId: string): Promise<TaskParts> {
  const groups = new Map<string, Sketch[]>();
  for await (const page of pagesOf(context, repoId, { ...ANY, tiers: ['task'], taskId })) {
    const edges = await countEdges(context, repoId, page);
    for (const node of page.map(toEvolving)) {
      const { id, confidence, accessCount, createdAtMs } = node;
      const count = edges.get(id) ?? 0;
      const key = isHub(count) ? id : digestOf(node);
      const group = groups.get(key) ?? [];
      group.push({ id, confidence, accessCount, createdAtMs, changes: changesOf(count) });
      groups.set(key, group);
    }
  }
  const sorted = [...groups.values()].map((group) => group.sort(bestFirst));
  return {
    parts: cut(sorted.flat()),
    keeperOf: new Map(sorted.flatMap(([keeper, ...twins]) => twins.map(({ id }) => [id, (keeper as Sketch).id]))),
    accesses: new Map(sorted.flat().map(({ id, accessCount }) => [id, accessCount])),
  };
}

/** What is said, in few characters whatever its length. */
export const digestOf = (node: EvolvingNode): string => createHash('sha256').update(twinKey(node)).digest('base64');

/** A node moves, hands its tags and looks on, and has a line in the log of its own. */
const CHANGES_PER_NODE = 4;
/** An edge becomes stronger, and is drawn again. */
const CHANGES_PER_EDGE = 2;

const changesOf = (edges: number): number => CHANGES_PER_NODE + CHANGES_PER_EDGE * edges;

function cut(nodes: readonly Sketch[]): string[][] {
  const parts: string[][] = [];
  let changes = 0;
  for (const node of nodes) {
    const last = parts.at(-1);
    if (last && last.length < BATCH_NODES && changes + node.changes <= CHANGES_PER_PLAN_MAX) {
      last.push(node.id);
      changes += node.changes;
    } else {
      parts.push([node.id]);
      changes = node.changes;
    }
  }
  return parts;
}
