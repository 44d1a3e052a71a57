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
  const chain: Traced[] = [];
  if (direction !== 'effects') chain.push(...(await follow(context, repoId, id, 'caused_by', depthMax, met)));
  if (direction !== 'causes') chain.push(...(await follow(context, repoId, id, 'led_to', depthMax, met)));
  return { origin, chain };
}

async function follow(
  context: Context,
  repoId: string,
  startId: string,
  relationship: Traced['relationship'],
  depthMax: number,
  met: Set<string>,
): Promise<Traced[]> {
  const chain: Traced[] = [];
  let frontier = [startId];
  for (let distance = 1; distance <= depthMax && frontier.length > 0 && met.size < EPISODES_MAX; distance++) {
    const view = viewOf(repoId, { includeGlobal: false });
    const edges = await context.store.findEdges(view, frontier, ['causes'], EDGES_PER_NODE_MAX);
    const steps = new Map<string, string>();
    for (const [fromId, toId] of edges.flatMap((edge) => stepOf(edge, relationship))) {
      if (frontier.includes(fromId) && !met.has(toId) && !steps.has(toId)) steps.set(toId, fromId);
    }
    const episodes = await context.store.getEpisodes(
      repoId,
      [...steps.keys()].slice(0, EPISODES_MAX - met.size),
      false,
    );
    episodes.sort((a, b) => a.createdAtMs - b.createdAtMs || a.seq - b.seq);
    for (const episode of episodes) {
      met.add(episode.id);
      chain.push({ episode, relationship, distance, fromId: steps.get(episode.id) as string });
    }
    frontier = episodes.map((episode) => episode.id);
  }
  return chain;
}

/** One edge read from either end. */
function stepOf({ members }: StoredEdge, relationship: Traced['relationship']): [string, string][] {
  const idOf = (role: string): string => members.find((member) => member.role === role)?.nodeId ?? '';
  const [cause, effect] = [idOf('cause'), idOf('effect')];
  return relationship === 'caused_by' ? [[effect, cause]] : [[cause, effect]];
}
