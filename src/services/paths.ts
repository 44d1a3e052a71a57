import type { Direction } from '../domain/edges.js';
import { type View, viewOf } from '../domain/spaces.js';
import type { StoredEdge, StoredNode } from '../storage/port.js';
import type { Context } from './context.js';
import { nodesOf, type Step, stepsFrom, type Visit, type Ways } from './graph.js';
import { findNode } from './nodes.js';

export interface Path {
  /** From the first node to the last; one less edge than nodes. None when no path was found. */
  readonly nodes: readonly StoredNode[];
  readonly edges: readonly StoredEdge[];
  /** Whether enough was looked at to say that there is none, or no shorter one. */
  readonly isComplete: boolean;
}

/** How many nodes a search looks at, from both ends together, before it gives up. */
const NODES_MAX = 10_000;

/** A shortest way between two nodes; null when one of them is missing. */
export async function readPath(
  context: Context,
  repoId: string,
  ends: { fromId: string; toId: string },
  ways: Ways,
  hopsMax: number,
): Promise<Path | null> {
  const from = await findNode(context, repoId, ends.fromId);
  const to = await findNode(context, repoId, ends.toId);
  if (!from || !to) return null;
  if (from.id === to.id) return { nodes: [from], edges: [], isComplete: true };
  // Nothing leads to a node in the archive.
  if (to.tier === 'archive') return { nodes: [], edges: [], isComplete: true };
  const view = viewOf(repoId);
  const { way, isComplete } = await search(context, view, from.id, to.id, ways, hopsMax);
  if (!way) return { nodes: [], edges: [], isComplete };
  const nodes = await nodesOf(context, view, way);
  return {
    nodes: [from, ...way.flatMap(({ id }) => nodes.get(id) ?? [])],
    edges: way.map(({ edge }) => edge),
    isComplete,
  };
}

type Way = Pick<Visit, 'id' | 'edge'>[];

/**
 * Searches from both ends, a whole step from the end that knows fewer: a graph grows so fast with the distance that two short walks
 * meet where one long walk gives up. The first meeting is a shortest path, because all shorter ones would have met before.
 */
async function search(
  context: Context,
  view: View,
  fromId: string,
  toId: string,
  ways: Ways,
  hopsMax: number,
): Promise<{ way: Way | null; isComplete: boolean }> {
  const there = new Side(fromId, ways);
  const back = new Side(toId, { ...ways, direction: REVERSED[ways.direction] });
  const isComplete = (): boolean => there.isComplete && back.isComplete;
  while (there.hops + back.hops < hopsMax && there.frontier.length > 0 && back.frontier.length > 0) {
    const [side, other] = there.frontier.length <= back.frontier.length ? [there, back] : [back, there];
    const meetingId = await side.advance(context, view, other);
    if (meetingId === null) continue;
    const way = [...there.wayTo(meetingId), ...back.wayFrom(meetingId)];
    return { way, isComplete: way.length === 1 || isComplete() };
  }
  // One end that was looked around completely settles it, whatever the other end has.
  return { way: null, isComplete: isComplete() || there.isExhausted || back.isExhausted };
}

const REVERSED: Readonly<Record<Direction, Direction>> = { outgoing: 'incoming', incoming: 'outgoing', both: 'both' };

/** What is known from one end. */
class Side {
  readonly #met: Map<string, Visit | null>;
  frontier: readonly string[];
  hops = 0;
  /** Whether nothing within its steps was left out. */
  isComplete = true;

  constructor(
    startId: string,
    private readonly ways: Ways,
  ) {
    this.#met = new Map([[startId, null]]);
    this.frontier = [startId];
  }

  get isExhausted(): boolean {
    return this.isComplete && this.frontier.length === 0;
  }

  /** Takes one step outwards, and answers where it met the other side. */
  async advance(context: Context, view: View, other: Side): Promise<string | null> {
    const steps = await this.#stepsOn(context, view, other);
    this.hops++;
    const [meeting] = [...steps.keys()]
      .filter((id) => other.#met.has(id))
      .sort((a, b) => other.#far(a) - other.#far(b));
    const visible = await context.store.findVisible(view, [...steps.keys()]);
    const room = NODES_MAX - this.#met.size - other.#met.size;
    const shown = [...steps.values()].filter(({ toId }) => visible.has(toId) || toId === meeting);
    if (shown.length > room) this.isComplete = false;
    const kept = meeting === undefined ? shown.slice(0, Math.max(0, room)) : shown;
    for (const { toId, fromId, edge } of kept) this.#met.set(toId, { id: toId, fromId, edge, hops: this.hops });
    this.frontier = kept.map(({ toId }) => toId);
    return meeting ?? null;
  }

  /** The first step to each that was not met yet. Where a hub has more edges, those to the other side are asked for by name. */
  async #stepsOn(context: Context, view: View, other: Side): Promise<Map<string, Step>> {
    const { found, isComplete } = await stepsFrom(context, view, this.frontier, this.ways);
    const joining = isComplete
      ? []
      : (await stepsFrom(context, view, this.frontier, this.ways, [...other.#met.keys()])).found;
    this.isComplete &&= isComplete;
    const steps = new Map<string, Step>();
    for (const step of [...joining, ...found]) {
      if (!this.#met.has(step.toId) && !steps.has(step.toId)) steps.set(step.toId, step);
    }
    return steps;
  }

  #far(id: string): number {
    return this.#met.get(id)?.hops ?? 0;
  }

  /** From the start to a node that was met. */
  wayTo(id: string): Way {
    const way: Way = [];
    for (let visit = this.#met.get(id); visit; visit = this.#met.get(visit.fromId)) way.unshift(visit);
    return way;
  }

  /** From a node that was met back to the start. */
  wayFrom(id: string): Way {
    const way: Way = [];
    for (let visit = this.#met.get(id); visit; visit = this.#met.get(visit.fromId)) {
      way.push({ id: visit.fromId, edge: visit.edge });
    }
    return way;
  }
}
