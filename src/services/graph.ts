import { type Direction, leads } from '../domain/edges.js';
import type { Member } from '../domain/links.js';
import { type View, viewOf } from '../domain/spaces.js';
import type { EdgeType } from '../domain/vocabulary.js';
import type { Found, StoredEdge, StoredNode } from '../storage/port.js';
import type { Context } from './context.js';
import { findNode } from './nodes.js';

/** Which edges a walk may take. */
export interface Ways {
  readonly types: readonly EdgeType[] | null;
  readonly label: string | null;
  readonly direction: Direction;
}

/** The nodes around one, and whether these are all within the distance. */
export type Related = Found<Reached>;

/** A node that was reached, how far away it is, and the last step to it. */
interface Reached extends Omit<Visit, 'id'> {
  readonly node: StoredNode;
}

/** A node with more edges than this is a hub; only its strongest lead on, and of the same weight its newest. */
const EDGES_PER_NODE_MAX = 1_000;

export interface Step {
  readonly edge: StoredEdge;
  readonly fromId: string;
  readonly toId: string;
}

/** The steps that lead from some nodes to others, strongest first, or to those alone that are named. */
export async function stepsFrom(
  { store }: Context,
  view: View,
  ids: readonly string[],
  ways: Ways,
  toIds?: readonly string[],
): Promise<Found<Step>> {
  const { types, label } = ways;
  const named = toIds && { withIds: toIds };
  const edges = await store.findEdgesAround(view, ids, { types, label, ...named, perNode: EDGES_PER_NODE_MAX });
  const from = new Set(ids);
  const found = edges.found
    .flatMap((edge) => stepsOver(edge, from, ways))
    .sort((a, b) => b.edge.weight - a.edge.weight || compare(a.toId, b.toId) || compare(a.edge.id, b.edge.id));
  return { found, isComplete: edges.isComplete };
}

/** To each end once, from the first that leads there: of a large edge among its own members all others would be no news. */
function stepsOver(edge: StoredEdge, from: ReadonlySet<string>, ways: Ways): Step[] {
  const starts = edge.members.filter(({ nodeId }) => from.has(nodeId));
  return edge.members.flatMap((end) => {
    const start = starts.find((each) => isStep(each, end, ways));
    return start ? [{ edge, fromId: start.nodeId, toId: end.nodeId }] : [];
  });
}

const isStep = (start: Member, end: Member, { direction }: Ways): boolean =>
  start.nodeId !== end.nodeId && leads(start.role, end.role, direction);

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

/** The nodes around one, nearest first; null when there is no such node. Archived ones are neither shown nor led over. */
export async function readRelated(
  context: Context,
  repoId: string,
  id: string,
  ways: Ways,
  hopsMax: number,
  limit: number,
): Promise<Related | null> {
  const start = await findNode(context, repoId, id);
  if (!start) return null;
  const view = viewOf(repoId);
  const visits = await walk(context, view, id, ways, hopsMax, limit);
  const nodes = await nodesOf(context, view, visits.found);
  const found = visits.found.flatMap(({ id: nodeId, ...way }) => {
    const node = nodes.get(nodeId);
    return node ? [{ node, ...way }] : [];
  });
  return { found, isComplete: visits.isComplete };
}

export async function nodesOf(
  { store }: Context,
  view: View,
  visits: readonly { id: string }[],
): Promise<Map<string, StoredNode>> {
  const nodes = await store.getNodes(
    view,
    visits.map(({ id }) => id),
  );
  return new Map(nodes.map((node) => [node.id, node]));
}

/** A node on a walk, by its id alone: most are only passed through. */
export interface Visit {
  readonly id: string;
  readonly hops: number;
  readonly edge: StoredEdge;
  readonly fromId: string;
}

/** Goes outwards step by step. The view is asked about everybody before the walk goes on from them. */
async function walk(
  context: Context,
  view: View,
  startId: string,
  ways: Ways,
  hopsMax: number,
  nodesMax: number,
): Promise<Found<Visit>> {
  const met = new Set([startId]);
  const visits: Visit[] = [];
  let isComplete = true;
  let frontier = [startId];
  for (let hops = 1; hops <= hopsMax && frontier.length > 0; hops++) {
    const steps = new Map<string, Step>();
    const from = await stepsFrom(context, view, frontier, ways);
    isComplete &&= from.isComplete;
    for (const step of from.found) {
      if (!met.has(step.toId) && !steps.has(step.toId)) steps.set(step.toId, step);
    }
    const visible = await context.store.findVisible(view, [...steps.keys()]);
    frontier = [];
    for (const { toId, edge, fromId } of steps.values()) {
      if (!visible.has(toId)) continue;
      if (visits.length >= nodesMax) return { found: visits, isComplete: false };
      met.add(toId);
      frontier.push(toId);
      visits.push({ id: toId, hops, edge, fromId });
    }
  }
  return { found: visits, isComplete };
}

export interface Picture {
  readonly nodes: readonly StoredNode[];
  readonly edges: readonly StoredEdge[];
  /** Whether everything within the distance is there. */
  readonly isComplete: boolean;
}

/** A node with its surroundings, and the edges between all of them; null when there is no such node. */
export async function readPicture(
  context: Context,
  repoId: string,
  id: string,
  ways: Ways,
  hopsMax: number,
  nodesMax: number,
): Promise<Picture | null> {
  const start = await findNode(context, repoId, id);
  if (!start) return null;
  const view = viewOf(repoId);
  const visits = await walk(context, view, id, ways, hopsMax, nodesMax - 1);
  const nodeOf = await nodesOf(context, view, visits.found);
  const nodes = [start, ...visits.found.flatMap((visit) => nodeOf.get(visit.id) ?? [])];
  const shown = new Set(nodes.map((node) => node.id));
  const { types, label } = ways;
  const around = await context.store.findEdgesAround(view, [...shown], { types, label, perNode: EDGES_PER_NODE_MAX });
  const edges = around.found.filter(({ members }) => members.filter(({ nodeId }) => shown.has(nodeId)).length > 1);
  return {
    nodes,
    edges: [...new Map(edges.map((edge) => [edge.id, edge])).values()],
    isComplete: visits.isComplete && around.isComplete,
  };
}
