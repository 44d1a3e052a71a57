import { LINK_WORDS, type LinkWord, NO_LINKS, type ShownLinks, WORDS } from '../domain/episode-links.js';
import { edgeKey, LINKS, type Member, membersOf } from '../domain/links.js';
import { viewOf } from '../domain/spaces.js';
import type { StoredEdge } from '../storage/port.js';
import type { Context } from './context.js';

/** More links of one node than these, of each label, are not shown. */
const EDGES_MAX = 1_000;

const NOTHING_SHOWN: ShownLinks = { byWord: NO_LINKS, isComplete: true };

/** The links of each of the nodes, newest first, by their words. */
export async function readLinks(
  { store }: Context,
  repoId: string,
  ids: readonly string[],
): Promise<Map<string, ShownLinks>> {
  const view = viewOf(repoId, { includeArchived: true });
  const edges = await store.findEdges(view, ids, MANIFOLD_LABELS, EDGES_MAX + 1);
  // Of what there can be one only, the one is found by its key, however many others point here with the same label.
  const keys = ids.flatMap((id) => SINGLE_WORDS.map((word) => keyOf(word, id, '')));
  const single = [...(await store.findEdgesByKey(view, keys)).values()];
  const byNode = edgesByNode(edges);
  return new Map(ids.map((id) => [id, shownOf(id, byNode.get(id) ?? [], single)]));
}

export const readLinksOf = async (context: Context, repoId: string, id: string): Promise<ShownLinks> =>
  (await readLinks(context, repoId, [id])).get(id) ?? NOTHING_SHOWN;

const SINGLE_WORDS = LINK_WORDS.filter((word) => WORDS[word].isSingle);
const MANIFOLD_LABELS = [
  ...new Set(LINK_WORDS.filter((word) => !WORDS[word].isSingle).map((word) => WORDS[word].label)),
];

/** Who takes which part when the one episode says the word of the other. */
export const membersBy = (word: LinkWord, id: string, otherId: string): Member[] =>
  membersOf(WORDS[word].label, WORDS[word].ownPlace === 0 ? [id, otherId] : [otherId, id]);

/** Tells the edge of a link. Of what there can be one only, it is the same whoever the other is. */
export const keyOf = (word: LinkWord, id: string, otherId: string): string =>
  edgeKey(WORDS[word].label, membersBy(word, id, otherId));

/** In their order. */
function edgesByNode(edges: readonly StoredEdge[]): Map<string, StoredEdge[]> {
  const byNode = new Map<string, StoredEdge[]>();
  for (const edge of edges) {
    for (const id of new Set(edge.members.map(({ nodeId }) => nodeId))) {
      const held = byNode.get(id);
      if (held) held.push(edge);
      else byNode.set(id, [edge]);
    }
  }
  return byNode;
}

function shownOf(id: string, edges: readonly StoredEdge[], single: readonly StoredEdge[]): ShownLinks {
  const ofLabels = MANIFOLD_LABELS.map((label) => edges.filter((edge) => edge.label === label));
  const shown = [...ofLabels.flatMap((some) => some.slice(0, EDGES_MAX)), ...single];
  const links: Record<LinkWord, string[]> = {
    caused_by: [],
    led_to: [],
    related_to: [],
    supersedes: [],
    blocked_by: [],
  };
  for (const word of LINK_WORDS) links[word].push(...shown.flatMap((edge) => othersBy(word, id, edge)));
  return { byWord: links, isComplete: ofLabels.every((some) => some.length <= EDGES_MAX) };
}

/** Whom an edge joins to the episode by this word. */
export function othersBy(word: LinkWord, id: string, { label, members }: StoredEdge): string[] {
  const { label: wanted, ownPlace } = WORDS[word];
  const role = LINKS[wanted].roles[ownPlace] ?? LINKS[wanted].roles[0];
  const isOwn = label === wanted && members.some((member) => member.nodeId === id && member.role === role);
  return isOwn ? members.map(({ nodeId }) => nodeId).filter((nodeId) => nodeId !== id) : [];
}
