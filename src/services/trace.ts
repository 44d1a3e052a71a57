import { viewOf } from '../domain/spaces.js';
import type { StoredEdge, StoredEpisode } from '../storage/port.js';
import type { Context } from './context.js';
import { findEpisode } from './episodes.js';

export type TraceDirection = 'causes' | 'effects' | 'both';

/** An episode on the way back to what caused something, or on to what came of it. */
interface Traced {
  readonly episode: StoredEpisode;
  readonly relationship: 'caused_by' | 'led_to';
  readonly distance: number;
  /** The episode that it was reached from. */
  readonly fromId: string;
}

export interface Trace {
  readonly origin: StoredEpisode;
  readonly chain: readonly Traced[];
  /** Whether there is nothing more within reach. */
  readonly isComplete: boolean;
}

const EDGES_PER_NODE_MAX = 2_000;
const EPISODES_MAX = 1_000;

/** Follows what led to what, step by step; nobody comes twice, so circles end. Null when there is no such episode. */
export async function traceEpisode(
  context: Context,
  repoId: string,
  id: string,
  direction: TraceDirection,
  depthMax: number,
): Promise<Trace | null> {
  const origin = await findEpisode(context, repoId, id);
  if (!origin) return null;
  const met = new Set([id]);
  const follow = (relationship: Traced['relationship']): Promise<Way> =>
    followAll(context, repoId, id, relationship, depthMax, met);
  const causes = direction === 'effects' ? NO_WAY : await follow('caused_by');
  const effects = direction === 'causes' ? NO_WAY : await follow('led_to');
  const chain = [...causes.chain, ...effects.chain];
  return { origin, chain, isComplete: causes.isComplete && effects.isComplete };
}

type Way = Omit<Trace, 'origin'>;

const NO_WAY: Way = { chain: [], isComplete: true };

async function followAll(
  context: Context,
  repoId: string,
  startId: string,
  relationship: Traced['relationship'],
  depthMax: number,
  met: Set<string>,
): Promise<Way> {
  const chain: Traced[] = [];
  let isComplete = true;
  let frontier = new Set([startId]);
  for (let distance = 1; distance <= depthMax && frontier.size > 0; distance++) {
    const view = viewOf(repoId, { includeGlobal: false });
    const edges = await context.store.findEdges(view, [...frontier], ['causes'], EDGES_PER_NODE_MAX + 1);
    isComplete &&= !hasHub(edges, frontier);
    const steps = new Map<string, string>();
    for (const [fromId, toId] of edges.flatMap((edge) => stepOf(edge, relationship))) {
      if (frontier.has(fromId) && !met.has(toId) && !steps.has(toId)) steps.set(toId, fromId);
    }
    const room = EPISODES_MAX - met.size;
    isComplete &&= steps.size <= room;
    const episodes = await context.store.getEpisodes(repoId, [...steps.keys()].slice(0, room), false);
    episodes.sort((a, b) => a.createdAtMs - b.createdAtMs || a.seq - b.seq);
    for (const episode of episodes) {
      met.add(episode.id);
      chain.push({ episode, relationship, distance, fromId: steps.get(episode.id) as string });
    }
    frontier = new Set(episodes.map((episode) => episode.id));
  }
  return { chain, isComplete };
}

/** Whether one of the nodes has more edges than are followed. */
function hasHub(edges: readonly StoredEdge[], ids: ReadonlySet<string>): boolean {
  const counts = new Map<string, number>();
  for (const { nodeId } of edges.flatMap(({ members }) => members)) {
    if (ids.has(nodeId)) counts.set(nodeId, (counts.get(nodeId) ?? 0) + 1);
  }
  return [...counts.values()].some((count) => count > EDGES_PER_NODE_MAX);
}

/** One edge read from either end. */
function stepOf({ members }: StoredEdge, relationship: Traced['relationship']): [string, string][] {
  const idOf = (role: string): string => members.find((member) => member.role === role)?.nodeId ?? '';
  const [cause, effect] = [idOf('cause'), idOf('effect')];
  return relationship === 'caused_by' ? [[effect, cause]] : [[cause, effect]];
}
