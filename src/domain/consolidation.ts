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

/** What becomes of a task's nodes once the task is done; nothing is done yet. */
export interface Consolidation {
  readonly promoted: readonly Keeper[];
  readonly merged: readonly Merged[];
  readonly strengthened: readonly Strengthened[];
  readonly relinked: readonly Relinked[];
  /** To be facts of tier session. */
  readonly summaries: readonly Summary[];
}

/**
 * A node that moves to tier session and stands for its twins: their accesses are its own. Its confidence is the highest
 * already.
 */
interface Keeper {
  readonly id: string;
  readonly accessCount: number;
  readonly lastAccessedAtMs: number;
}

/** A node that goes to the archive because its keeper says the same. */
interface Merged {
  readonly id: string;
  readonly keeperId: string;
  readonly reason: string;
}

/** An edge to be drawn again with the keeper in the place of a node that was merged, so that the way is not lost. */
interface Relinked {
  readonly edgeId: string;
  readonly weight: number;
  /** In the places of the edge's own. */
  readonly memberIds: readonly string[];
}

interface Strengthened {
  readonly edgeId: string;
  readonly weight: number;
}

/**
 * Task to session. Only nodes of tier task are looked at, so a second run finds nothing to do. `existingSummaries` are
 * the keys (`summaryKey`) of the session's summaries.
 */
export function consolidate(
  nodes: readonly EvolvingNode[],
  edges: readonly EvolvingEdge[],
  { existingSummaries = new Set() }: { readonly existingSummaries?: ReadonlySet<string> } = {},
): Consolidation {
  const ofTask = nodes.filter(({ form, tier }) => tier === 'task' && mayEvolve(form)).sort(byAge);
  const groups = groupsBy(ofTask, twinKey)
    .map((twins) => ({ twins, keeper: twins.reduce((best, twin) => (bestFirst(twin, best) < 0 ? twin : best)) }))
    .sort((a, b) => byAge(a.keeper, b.keeper));
  const keepers = groups.map(({ keeper }) => keeper);
  const strengthened = strengthen(ofTask, edges);
  return {
    promoted: groups.map(({ twins, keeper }) => standingFor(keeper, twins)),
    merged: groups.flatMap(({ twins, keeper }) =>
      twins
        .filter((twin) => twin !== keeper)
        .map(({ id }) => ({ id, keeperId: keeper.id, reason: `merged into ${keeper.id}` })),
    ),
    strengthened,
    relinked: relink(groups, edges, strengthened),
    summaries: unsaid(summarize(keepers), existingSummaries),
  };
}

/**
 * White space inside a text and composed letters count here, unlike for memories: in a snippet they can be all the
 * difference.
 */
const twinKey = ({ form, type, sessionId, content }: EvolvingNode): string =>
  JSON.stringify([form, type, sessionId, content.trim().toLowerCase()]);

const bestFirst = (a: EvolvingNode, b: EvolvingNode): number =>
  b.confidence - a.confidence || b.accessCount - a.accessCount || byAge(a, b);

const standingFor = ({ id }: EvolvingNode, twins: readonly EvolvingNode[]): Keeper => ({
  id,
  accessCount: twins.reduce((sum, { accessCount }) => sum + accessCount, 0),
  lastAccessedAtMs: twins.reduce((latest, { lastAccessedAtMs }) => Math.max(latest, lastAccessedAtMs), 0),
});

const ACCESSES_COUNTED_MAX = 10;
const STRENGTH_PER_ACCESS = 0.1;
const STRENGTHENED_WEIGHT_MAX = 10;

/**
 * What was used together becomes closer. An edge is strengthened once, by its most used member, and not beyond a bound:
 * multiplied for each member and at the end of each task, weights would grow until they drown every score they scale. A
 * caller may have set a weight above the bound; that one stays.
 */
function strengthen(nodes: readonly EvolvingNode[], edges: readonly EvolvingEdge[]): Strengthened[] {
  const accesses = new Map(nodes.map(({ id, accessCount }) => [id, accessCount]));
  return uniqueEdges(edges).flatMap(({ id: edgeId, weight: before, memberIds }) => {
    const most = memberIds.reduce((max, memberId) => Math.max(max, accesses.get(memberId) ?? 0), 0);
    if (most <= 1) return [];
    const stronger = before * (1 + STRENGTH_PER_ACCESS * Math.min(most, ACCESSES_COUNTED_MAX));
    const weight = Math.min(stronger, STRENGTHENED_WEIGHT_MAX);
    return weight > before ? [{ edgeId, weight }] : [];
  });
}

/** Each edge once, in an order that does not depend on how they were found. */
const uniqueEdges = (edges: readonly EvolvingEdge[]): EvolvingEdge[] =>
  [...new Map(edges.map((edge) => [edge.id, edge])).values()].sort((a, b) => (a.id < b.id ? -1 : 1));

/** Summaries keep to their own sources, and an edge between twins joins a node to itself: neither is drawn again. */
function relink(
  groups: readonly { twins: readonly EvolvingNode[]; keeper: EvolvingNode }[],
  edges: readonly EvolvingEdge[],
  strengthened: readonly Strengthened[],
): Relinked[] {
  const keeperOf = new Map(
    groups.flatMap(({ twins, keeper }) =>
      twins.filter((twin) => twin !== keeper).map(({ id }): [string, string] => [id, keeper.id]),
    ),
  );
  const weights = new Map(strengthened.map(({ edgeId, weight }) => [edgeId, weight]));
  return uniqueEdges(edges).flatMap(({ id: edgeId, label, weight, memberIds: before }) => {
    const memberIds = before.map((id) => keeperOf.get(id) ?? id);
    const isSame = memberIds.every((id, place) => id === before[place]);
    const joinsTwins = new Set(memberIds).size < new Set(before).size;
    return label === SUMMARIZES || isSame || joinsTwins
      ? []
      : [{ edgeId, weight: weights.get(edgeId) ?? weight, memberIds }];
  });
}

const SUMMARY_NODES_MIN = 3;
const SUMMARY_SOURCES_MIN = 2;
const SUMMARY_ITEMS_MAX = 10;
const ITEM_CHARACTERS_MAX = 200;
const SUMMARY_CHARACTERS_MAX = 1_000;

/** One summary for each subtype that several nodes of a session share. A node without a subtype shares nothing. */
const summarize = (nodes: readonly EvolvingNode[]): Summary[] =>
  groupsBy(nodes, ({ sessionId }) => JSON.stringify(sessionId))
    .filter((ofSession) => ofSession.length >= SUMMARY_NODES_MIN)
    .flatMap((ofSession) =>
      groupsBy(
        ofSession.filter(({ kind }) => kind !== null),
        ({ type, kind }) => JSON.stringify([type, kind]),
      ),
    )
    .filter((group) => group.length >= SUMMARY_SOURCES_MIN)
    .map((group) => ({
      content: bulletsOf(group),
      confidence: group.reduce((sum, { confidence }) => sum + confidence, 0) / group.length,
      sessionId: group[0]?.sessionId ?? null,
      sourceIds: group.map(({ id }) => id),
    }));

/** As many items as fit whole; the edges name every source, also those that have no room here. */
function bulletsOf(nodes: readonly EvolvingNode[]): string {
  let list = '';
  for (const excerpt of excerptsOf(nodes, ITEM_CHARACTERS_MAX).slice(0, SUMMARY_ITEMS_MAX)) {
    const longer = list === '' ? `- ${excerpt}` : `${list}\n- ${excerpt}`;
    if (longer.length > SUMMARY_CHARACTERS_MAX) break;
    list = longer;
  }
  return list;
}

/** Groups in the order of their first members. */
function groupsBy(nodes: readonly EvolvingNode[], keyOf: (node: EvolvingNode) => string): EvolvingNode[][] {
  const groups = new Map<string, EvolvingNode[]>();
  for (const node of nodes) {
    const key = keyOf(node);
    const group = groups.get(key);
    if (group) group.push(node);
    else groups.set(key, [node]);
  }
  return [...groups.values()];
}
