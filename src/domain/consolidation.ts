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
  /** Those of the standing keepers that stand for more from now on. */
  readonly reinforced: readonly Keeper[];
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
  /** Its own and those of its twins; null when they have no others. */
  readonly tags: readonly string[] | null;
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
  /** Who stands in which of the edge's own places; a part that is played twice is played once from now on. */
  readonly members: readonly { readonly place: number; readonly nodeId: string }[];
}

interface Strengthened {
  readonly edgeId: string;
  readonly weight: number;
}

/** A large task is taken in several parts; what the parts share is told here. */
export interface ConsolidationSettings {
  /** The keys (`summaryKey`) of the session's summaries. */
  readonly existingSummaries?: ReadonlySet<string>;
  /** Nodes with so many edges that they cannot all be drawn again; they stay themselves. */
  readonly hubIds?: ReadonlySet<string>;
  /** What the parts before this one kept, for the summaries. */
  readonly earlier?: readonly EvolvingNode[];
  /** Those that were kept before; whoever says the same is merged into them. */
  readonly standing?: readonly EvolvingNode[];
  /** Who stands for whom that is in other parts. */
  readonly keeperOf?: ReadonlyMap<string, string>;
  /** How often the nodes of other parts were asked for. */
  readonly accesses?: ReadonlyMap<string, number>;
  /** The edges that were strengthened before. */
  readonly strengthenedIds?: ReadonlySet<string>;
}

/** Task to session. Only nodes of tier task are looked at, so a second run finds nothing to do. */
export function consolidate(
  nodes: readonly EvolvingNode[],
  edges: readonly EvolvingEdge[],
  {
    existingSummaries = new Set(),
    hubIds = new Set(),
    earlier = [],
    standing = [],
    keeperOf = new Map(),
    accesses = new Map(),
    strengthenedIds = new Set(),
  }: ConsolidationSettings = {},
): Consolidation {
  const ofTask = nodes.filter(({ form, tier }) => tier === 'task' && mayEvolve(form)).sort(byAge);
  const standingFor = new Map(standing.map((node) => [twinKey(node), node]));
  const groups = groupsBy(ofTask, (node) => (hubIds.has(node.id) ? node.id : twinKey(node)))
    .map((twins) => groupOf(twins, hubIds, standingFor))
    .sort((a, b) => byAge(a.keeper, b.keeper));
  const promoted = groups.filter(({ isStanding }) => !isStanding);
  const keepers = promoted.map(({ keeper }) => keeper);
  const ownAccesses = new Map(ofTask.map(({ id, accessCount }) => [id, accessCount]));
  const strengthened = strengthen(
    (id) => ownAccesses.get(id) ?? accesses.get(id) ?? 0,
    edges.filter(({ id }) => !strengthenedIds.has(id)),
  );
  return {
    promoted: promoted.map(takingOver),
    reinforced: groups.filter(({ isStanding }) => isStanding).map(takingOver),
    merged: groups.flatMap(({ twins, keeper }) =>
      twins
        .filter((twin) => twin !== keeper)
        .map(({ id }) => ({ id, keeperId: keeper.id, reason: `merged into ${keeper.id}` })),
    ),
    strengthened,
    relinked: relink(groups, keeperOf, edges, strengthened),
    summaries: unsaid(summarize([...earlier, ...keepers].sort(byAge)), existingSummaries),
  };
}

/** Nodes that say the same, and the one of them that is kept. */
interface Group {
  readonly twins: readonly EvolvingNode[];
  readonly keeper: EvolvingNode;
  /** Whether that one was kept before, and is none of the task's nodes any more. */
  readonly isStanding: boolean;
}

function groupOf(
  twins: readonly EvolvingNode[],
  hubIds: ReadonlySet<string>,
  standingFor: ReadonlyMap<string, EvolvingNode>,
): Group {
  const best = twins.reduce((first, twin) => (bestFirst(twin, first) < 0 ? twin : first));
  const standing = hubIds.has(best.id) ? undefined : standingFor.get(twinKey(best));
  return standing
    ? { twins: [standing, ...twins], keeper: standing, isStanding: true }
    : { twins, keeper: best, isStanding: false };
}

/**
 * Who says the same, of the same thing. White space inside a text and composed letters count here, unlike for memories:
 * in a snippet they can be all the difference. A node without a text is told from others by its edges alone.
 */
export function twinKey({ id, form, type, kind, sessionId, content, metadata }: EvolvingNode): string {
  const said = content.trim().toLowerCase();
  if (said === '') return id;
  const { session_id: _session, task_id: _task, ...about } = metadata;
  return JSON.stringify([form, type, kind, sessionId, said, about], inOrder);
}

/** Objects with their keys in order, so that the same data gives the same JSON. */
const inOrder = (_key: string, value: unknown): unknown =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
    ? Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)))
    : value;

/** Who of several that say the same is kept: the surest, then the most used, then the oldest. */
export const bestFirst = (
  a: Pick<EvolvingNode, 'id' | 'confidence' | 'accessCount' | 'createdAtMs'>,
  b: typeof a,
): number => b.confidence - a.confidence || b.accessCount - a.accessCount || byAge(a, b);

const takingOver = ({ twins, keeper: { id, tags } }: Group): Keeper => ({
  id,
  tags: tagsBesides(tags, twins),
  accessCount: twins.reduce((sum, { accessCount }) => sum + accessCount, 0),
  lastAccessedAtMs: twins.reduce((latest, { lastAccessedAtMs }) => Math.max(latest, lastAccessedAtMs), 0),
});

function tagsBesides(own: readonly string[], twins: readonly EvolvingNode[]): readonly string[] | null {
  const all = new Set([...own, ...twins.flatMap(({ tags }) => tags)]);
  return all.size > new Set(own).size ? [...all] : null;
}

const ACCESSES_COUNTED_MAX = 10;
const STRENGTH_PER_ACCESS = 0.1;
const STRENGTHENED_WEIGHT_MAX = 10;

/**
 * What was used together becomes closer. An edge is strengthened once, by its most used member, and not beyond a bound:
 * multiplied for each member and at the end of each task, weights would grow until they drown every score they scale. A
 * caller may have set a weight above the bound; that one stays.
 */
function strengthen(accessesOf: (nodeId: string) => number, edges: readonly EvolvingEdge[]): Strengthened[] {
  return uniqueEdges(edges).flatMap(({ id: edgeId, weight: before, memberIds }) => {
    const most = memberIds.reduce((max, memberId) => Math.max(max, accessesOf(memberId)), 0);
    if (most <= 1) return [];
    const stronger = before * (1 + STRENGTH_PER_ACCESS * Math.min(most, ACCESSES_COUNTED_MAX));
    const weight = Math.min(stronger, STRENGTHENED_WEIGHT_MAX);
    return weight > before ? [{ edgeId, weight }] : [];
  });
}

/** Each edge once, in an order that does not depend on how they were found. */
const uniqueEdges = (edges: readonly EvolvingEdge[]): EvolvingEdge[] =>
  [...new Map(edges.map((edge) => [edge.id, edge])).values()].sort((a, b) => (a.id < b.id ? -1 : 1));

/**
 * Summaries keep to their own sources. An edge that joins nobody but twins would join a node to itself, and one in which
 * the keeper plays the part already says all of it as it stands: neither is drawn again.
 */
function relink(
  groups: readonly Group[],
  elsewhere: ReadonlyMap<string, string>,
  edges: readonly EvolvingEdge[],
  strengthened: readonly Strengthened[],
): Relinked[] {
  const keeperOf = new Map(
    groups.flatMap(({ twins, keeper }) =>
      twins.filter((twin) => twin !== keeper).map(({ id }): [string, string] => [id, keeper.id]),
    ),
  );
  const weights = new Map(strengthened.map(({ edgeId, weight }) => [edgeId, weight]));
  return uniqueEdges(edges).flatMap(({ id: edgeId, label, weight, memberIds, roles }) => {
    const partOf = (nodeId: string, place: number): string => `${roles[place]} ${nodeId}`;
    const standing = new Set(memberIds.map(partOf));
    const byPart = new Map<string, { place: number; nodeId: string }>();
    for (const [place, id] of memberIds.entries()) {
      const nodeId = keeperOf.get(id) ?? elsewhere.get(id) ?? id;
      const part = partOf(nodeId, place);
      if (!byPart.has(part)) byPart.set(part, { place, nodeId });
    }
    const members = [...byPart.values()];
    const isSaid = [...byPart.keys()].every((part) => standing.has(part));
    const isLoop = new Set(members.map(({ nodeId }) => nodeId)).size === 1 && new Set(memberIds).size > 1;
    return label === SUMMARIZES || isSaid || isLoop ? [] : [{ edgeId, weight: weights.get(edgeId) ?? weight, members }];
  });
}

const SUMMARY_NODES_MIN = 3;
const SUMMARY_SOURCES_MIN = 2;
const SUMMARY_ITEMS_MAX = 10;
const ITEM_CHARACTERS_MAX = 200;
const SUMMARY_CHARACTERS_MAX = 1_000;

/**
 * One summary for each subtype that several nodes of a session share, where they say anything. A node without a subtype
 * shares nothing.
 */
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
    }))
    .filter(({ content }) => content !== '');

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
