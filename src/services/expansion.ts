import type { View } from '../domain/spaces.js';
import type { MemoryBrief, Neighbour, Store } from '../storage/port.js';

/** A memory from which others are reached; what it scored is what they inherit from. */
export interface Anchor {
  readonly id: string;
  readonly score: number;
}

export type RelatedReason = 'problem_attempt' | 'fact_update' | 'association_link' | 'semantic_neighbor';

/** A memory reached over edges, with the way it was reached. */
export interface Related {
  readonly memory: MemoryBrief;
  readonly reason: RelatedReason;
  readonly anchorId: string;
  readonly anchorScore: number;
  readonly relationType: string | null;
  readonly weight: number;
  readonly depth: number;
}

export interface ExpansionOptions {
  readonly problemLinks: boolean;
  readonly factLinks: boolean;
  readonly associationHops: number;
}

/** A node with more edges than this is a hub; its oldest ones say little about the question. */
const EDGES_PER_NODE_MAX = 32;
/** How many memories one step may go on from, best first. */
const FRONTIER_MAX = 64;

const REASONS: Readonly<Record<string, RelatedReason>> = {
  attempts: 'problem_attempt',
  fact_update: 'fact_update',
  related_to: 'association_link',
};

/** A member found on an edge, not yet known to be visible. */
type Step = Omit<Related, 'memory'> & { readonly nodeId: string };

/**
 * Walks the edges from the anchors: problems and attempts both ways, the neighbours in a fact's chain, and associations up to
 * `associationHops` away. The view is asked again at every step, so nothing invisible is shown or walked through.
 */
export async function expand(
  store: Store,
  view: View,
  anchors: readonly Anchor[],
  options: ExpansionOptions,
): Promise<Related[]> {
  if (anchors.length === 0) return [];
  const labels = [
    ...(options.problemLinks ? ['attempts'] : []),
    ...(options.factLinks ? ['fact_update'] : []),
    ...(options.associationHops > 0 ? ['related_to'] : []),
  ];
  const anchorOf = new Map(anchors.map((anchor) => [anchor.id, anchor]));
  const neighbours = await store.findNeighbours(view, [...anchorOf.keys()], labels, EDGES_PER_NODE_MAX);
  const first = neighbours.map((neighbour) => firstStep(anchorOf.get(neighbour.fromId) as Anchor, neighbour));
  const related = await keepVisible(store, view, first);

  /** Per anchor, what its walk has met: a walk never comes back. */
  const met = new Map(anchors.map((anchor) => [anchor.id, new Set([anchor.id])]));
  let frontier = related.filter((item) => item.reason === 'association_link');
  for (let hop = 2; hop <= options.associationHops && frontier.length > 0; hop++) {
    for (const item of frontier) met.get(item.anchorId)?.add(item.memory.id);
    const onward = frontier.sort((a, b) => scoreOf(b) - scoreOf(a)).slice(0, FRONTIER_MAX);
    const onwardIds = [...new Set(onward.map((item) => item.memory.id))];
    const found = await store.findNeighbours(view, onwardIds, ['related_to'], EDGES_PER_NODE_MAX);
    const steps = found.flatMap((neighbour) =>
      onward
        .filter((item) => item.memory.id === neighbour.fromId && !met.get(item.anchorId)?.has(neighbour.toId))
        .map((item) => nextStep(item, neighbour, hop)),
    );
    frontier = await keepVisible(store, view, steps);
    related.push(...frontier);
  }
  return related;
}

/** What an item inherits: its anchor's score, less for weak and for long ways. */
export const scoreOf = (item: Pick<Related, 'anchorScore' | 'weight' | 'depth'>): number =>
  (item.anchorScore * item.weight) / item.depth;

const firstStep = (anchor: Anchor, { toId, label, weight }: Neighbour): Step => ({
  nodeId: toId,
  reason: REASONS[label] as RelatedReason,
  anchorId: anchor.id,
  anchorScore: anchor.score,
  relationType: label === 'related_to' ? label : null,
  weight: label === 'related_to' ? weight : 1,
  depth: 1,
});

const nextStep = (from: Related, { toId, weight }: Neighbour, depth: number): Step => ({
  nodeId: toId,
  reason: 'semantic_neighbor',
  anchorId: from.anchorId,
  anchorScore: from.anchorScore,
  relationType: null,
  weight: from.weight * weight,
  depth,
});

async function keepVisible(store: Store, view: View, steps: readonly Step[]): Promise<Related[]> {
  const memories = await store.getBriefs(view, [...new Set(steps.map((step) => step.nodeId))]);
  const visible = new Map(memories.map((memory) => [memory.id, memory]));
  return steps.flatMap(({ nodeId, ...way }) => {
    const memory = visible.get(nodeId);
    return memory ? [{ ...way, memory }] : [];
  });
}
