import type { View } from '../domain/spaces.js';
import type { Neighbour, Store } from '../storage/port.js';

/** A memory from which others are reached; what it scored is what they inherit from. */
export interface Anchor {
  readonly id: string;
  readonly score: number;
}

export type RelatedReason = 'problem_attempt' | 'fact_update' | 'association_link' | 'semantic_neighbor';

/** A memory reached over edges, with the way it was reached. */
export interface Related {
  readonly id: string;
  readonly kind: string | null;
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
const FRONTIER_MAX = 24;

const REASONS: Readonly<Record<string, RelatedReason>> = {
  attempts: 'problem_attempt',
  fact_update: 'fact_update',
  related_to: 'association_link',
};

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
  const related = neighbours.map((neighbour) => firstStep(anchorOf.get(neighbour.fromId) as Anchor, neighbour));

  /** Per anchor, what its walk has met: a walk never comes back. */
  const met = new Map(anchors.map((anchor) => [anchor.id, new Set([anchor.id])]));
  let frontier = related.filter((item) => item.reason === 'association_link');
  for (let hop = 2; hop <= options.associationHops && frontier.length > 0; hop++) {
    for (const item of frontier) met.get(item.anchorId)?.add(item.id);
    const onward = frontier.sort(nearestFirst).slice(0, FRONTIER_MAX);
    const waysTo = new Map<string, Related[]>();
    for (const item of onward) waysTo.set(item.id, [...(waysTo.get(item.id) ?? []), item]);
    const found = await store.findNeighbours(view, [...waysTo.keys()], ['related_to'], EDGES_PER_NODE_MAX);
    frontier = found.flatMap((neighbour) =>
      (waysTo.get(neighbour.fromId) as Related[])
        .filter((item) => !met.get(item.anchorId)?.has(neighbour.toId))
        .map((item) => nextStep(item, neighbour, hop)),
    );
    related.push(...frontier);
  }
  return related.sort(nearestFirst);
}

/** What an item inherits: its anchor's score, less for weak and for long ways. */
export const scoreOf = (item: Pick<Related, 'anchorScore' | 'weight' | 'depth'>): number =>
  (item.anchorScore * item.weight) / item.depth;

/** One order for all of them, so that who is cut off or counted twice does not depend on the order of rows. */
const nearestFirst = (a: Related, b: Related): number =>
  scoreOf(b) - scoreOf(a) || a.depth - b.depth || compare(a.id, b.id) || compare(a.anchorId, b.anchorId);

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

const firstStep = (anchor: Anchor, { toId, toKind, label, weight }: Neighbour): Related => ({
  id: toId,
  kind: toKind,
  reason: REASONS[label] as RelatedReason,
  anchorId: anchor.id,
  anchorScore: anchor.score,
  relationType: label === 'related_to' ? label : null,
  weight: label === 'related_to' ? weight : 1,
  depth: 1,
});

const nextStep = (from: Related, { toId, toKind, weight }: Neighbour, depth: number): Related => ({
  id: toId,
  kind: toKind,
  reason: 'semantic_neighbor',
  anchorId: from.anchorId,
  anchorScore: from.anchorScore,
  relationType: null,
  weight: from.weight * weight,
  depth,
});
