import { briefOf, type EvolvingEdge, type EvolvingNode } from '../domain/evolution.js';
import { type PromotionSettings, promote, promoteOne } from '../domain/promotion.js';
import { viewOf } from '../domain/spaces.js';
import { GateFailure } from '../domain/violations.js';
import type { Tier } from '../domain/vocabulary.js';
import type { StoredNode } from '../storage/port.js';
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
import { findNode, spaceOf } from './nodes.js';
import { retrying } from './retrying.js';

const promotedOnly = (promotedIds: readonly string[], summaries: Evolved['summaries'] = []): Evolved => ({
  promotedIds,
  merged: [],
  strengthened: [],
  relinked: [],
  summaries,
});

/** The end of a session: what is sure and was used stays for good. A plan for every part; the last brings the summaries. */
export async function promoteSession(
  context: Context,
  repoId: string,
  sessionId: string,
  threshold: number,
  dryRun: boolean,
): Promise<Evolved> {
  refuseRepo(repoId);
  const { nodes, edges } = await readSession(context, repoId, sessionId);
  const existingSummaries = await summariesIn(context, repoId, edges, 'longterm');
  const { accessMedian, promotedIds: ids } = promote(nodes, edges, { threshold });
  const promoted: EvolvingNode[] = [];
  const summaries: Evolved['summaries'][number][] = [];
  for (let start = 0; start < ids.length; start += BATCH_NODES) {
    const batch = ids.slice(start, start + BATCH_NODES);
    const isLast = start + BATCH_NODES >= ids.length;
    const settings = { threshold, accessMedian, existingSummaries, earlier: promoted };
    await retrying(async () => {
      const found = await context.store.getNodes(viewOf(repoId), batch);
      const current = found.filter((node) => node.tier === 'session' && node.sessionId === sessionId);
      const evolution = new EvolutionPlan(context, repoId, current);
      const part = planPart(evolution, sessionId, current, edges, settings, isLast);
      if (!dryRun) await evolution.apply();
      promoted.push(...part.promoted);
      summaries.push(...part.summaries);
    });
  }
  return promotedOnly(
    promoted.map(({ id }) => id),
    summaries,
  );
}

/** All of the session, as far as the rules need it, and every edge of it. */
async function readSession(
  context: Context,
  repoId: string,
  sessionId: string,
): Promise<{ nodes: EvolvingNode[]; edges: EvolvingEdge[] }> {
  const nodes: EvolvingNode[] = [];
  const edges = new Map<string, EvolvingEdge>();
  for await (const page of pagesOf(context, repoId, { ...ANY, tiers: ['session', 'longterm'], sessionId })) {
    for (const node of page) nodes.push(briefOf(toEvolving(node)));
    for (const edge of (await edgesOf(context, repoId, page)).edges) edges.set(edge.id, toEvolvingEdge(edge));
  }
  return { nodes, edges: [...edges.values()] };
}

function planPart(
  evolution: EvolutionPlan,
  sessionId: string,
  nodes: readonly StoredNode[],
  edges: readonly EvolvingEdge[],
  settings: PromotionSettings,
  isLast: boolean,
): { promoted: EvolvingNode[]; summaries: Evolved['summaries'] } {
  const { promotedIds, crystallized } = promote(nodes.map(toEvolving), edges, settings);
  for (const id of promotedIds) {
    evolution.move(id, 'session', 'longterm', 'promote', `session ${sessionId} is over`);
  }
  const byId = new Map(nodes.map((node) => [node.id, node]));
  return {
    promoted: promotedIds.map((id) => briefOf(toEvolving(byId.get(id) as StoredNode))),
    summaries: isLast
      ? crystallized.map((summary) => ({
          id: evolution.summarize(summary, 'longterm'),
          sourceIds: summary.sourceIds,
        }))
      : [],
  };
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
    const evolution = new EvolutionPlan(context, repoId, [node], spaceOf(node));
    evolution.move(id, decided.move.from, decided.move.to, 'promote', 'promoted by hand');
    if (!dryRun) await evolution.apply();
    return promotedOnly([id]);
  });
}
