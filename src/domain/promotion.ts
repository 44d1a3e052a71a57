import {
  byAge,
  type EvolvingEdge,
  type EvolvingNode,
  excerptsOf,
  mayEvolve,
  SUMMARIZES,
  type Summary,
  unsaid,
} from './evolution.js';
import type { TierMove } from './tiers.js';
import type { Tier } from './vocabulary.js';

/** What of a session is worth keeping; nothing is done yet. */
export interface Promotion {
  /** How often a node had to be asked for. */
  readonly accessMedian: number;
  /** The nodes that move to tier longterm. */
  readonly promotedIds: readonly string[];
  /** To be facts of tier longterm. */
  readonly crystallized: readonly Summary[];
}

export interface PromotionSettings {
  readonly threshold?: number;
  /**
   * The keys (`summaryKey`) of the longterm summaries; a session's own summary does not make the longterm one
   * superfluous.
   */
  readonly existingSummaries?: ReadonlySet<string>;
  /** The median of the whole session, where the nodes are only a part of it. */
  readonly accessMedian?: number;
  /** What was promoted of the parts before this one, for the summaries. */
  readonly earlier?: readonly EvolvingNode[];
}

/**
 * Session to longterm: what is sure and asked for at least as often as half of the session's nodes. Those that went up
 * already still count in the median, and summaries, which nobody wrote, never do; otherwise each run would lower the
 * bar for the next until everything had passed it.
 */
export function promote(
  nodes: readonly EvolvingNode[],
  edges: readonly EvolvingEdge[],
  { threshold = 0.8, existingSummaries = new Set(), earlier = [], ...settings }: PromotionSettings = {},
): Promotion {
  const evolving = nodes.filter(({ form }) => mayEvolve(form)).sort(byAge);
  const accessMedian = settings.accessMedian ?? medianOf(evolving, edges);
  const promoted = evolving.filter(
    ({ tier, confidence, accessCount }) => tier === 'session' && confidence >= threshold && accessCount >= accessMedian,
  );
  return {
    accessMedian,
    promotedIds: promoted.map(({ id }) => id),
    crystallized: unsaid(crystallize([...earlier, ...promoted].sort(byAge), edges), existingSummaries),
  };
}

function medianOf(nodes: readonly EvolvingNode[], edges: readonly EvolvingEdge[]): number {
  const summaryIds = new Set(edges.flatMap(({ label, memberIds }) => (label === SUMMARIZES ? memberIds[0] : [])));
  return upperMedian(
    nodes
      .filter(({ id, tier }) => (tier === 'session' || tier === 'longterm') && !summaryIds.has(id))
      .map(({ accessCount }) => accessCount),
  );
}

const upperMedian = (values: readonly number[]): number =>
  [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;

const CRYSTAL_SOURCES_MIN = 3;
const CRYSTAL_ITEMS_MAX = 5;
const CRYSTAL_ITEM_CHARACTERS_MAX = 100;

/** One fact for each cluster of promoted nodes, in the order of their oldest members. */
function crystallize(promoted: readonly EvolvingNode[], edges: readonly EvolvingEdge[]): Summary[] {
  return clustersOf(promoted, edges).flatMap((cluster) => {
    const excerpts = excerptsOf(cluster, CRYSTAL_ITEM_CHARACTERS_MAX).slice(0, CRYSTAL_ITEMS_MAX);
    if (cluster.length < CRYSTAL_SOURCES_MIN || excerpts.length === 0) return [];
    return {
      content: `Summary: ${excerpts.join('; ')}`,
      confidence: cluster.reduce((max, { confidence }) => Math.max(max, confidence), 0),
      sessionId: cluster[0]?.sessionId ?? null,
      sourceIds: cluster.map(({ id }) => id),
    };
  });
}

/**
 * The nodes by what edges join them, directly or over others of them. An edge to a summary joins nobody: a summary and
 * its sources would only be told a second time.
 */
function clustersOf(nodes: readonly EvolvingNode[], edges: readonly EvolvingEdge[]): EvolvingNode[][] {
  const clusterOf = new Map(nodes.map((node) => [node.id, [node]]));
  for (const { memberIds } of edges.filter(({ label }) => label !== SUMMARIZES)) {
    const joined = new Set(memberIds.map((id) => clusterOf.get(id)).filter((cluster) => cluster !== undefined));
    const [largest = [], ...others] = [...joined].sort((a, b) => b.length - a.length);
    for (const node of others.flat()) {
      largest.push(node);
      clusterOf.set(node.id, largest);
    }
  }
  return [...new Set(nodes.map(({ id }) => clusterOf.get(id) as EvolvingNode[]))].map((cluster) => cluster.sort(byAge));
}

/**
 * The tiers from which a node can be promoted by hand, and where to; the first is where it goes unless told otherwise.
 */
const ABOVE: Readonly<Record<Tier, readonly Tier[]>> = {
  task: ['session', 'longterm'],
  session: ['longterm'],
  longterm: [],
  archive: [],
};

/** The move that was asked for, or why there is none. */
export function promoteOne(
  tier: Tier,
  target: Tier | undefined = ABOVE[tier][0],
): { readonly move: TierMove } | { readonly refusal: string } {
  if (tier === 'archive') return { refusal: 'an archived node cannot be promoted; restore it' };
  if (target === undefined || ABOVE[tier].length === 0) {
    return { refusal: `a node of tier ${tier} cannot be promoted; no tier is above it` };
  }
  if (!ABOVE[tier].includes(target)) {
    return { refusal: `a node of tier ${tier} can be promoted to ${ABOVE[tier].join(' or ')}, not to ${target}` };
  }
  return { move: { from: tier, to: target } };
}
