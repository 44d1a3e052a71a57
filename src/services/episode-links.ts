import type { Change } from '../domain/changes.js';
import {
  type EpisodeLinks,
  LINK_WORDS,
  type LinkPatch,
  type LinkWord,
  NO_LINKS,
  WORDS,
} from '../domain/episode-links.js';
import { isNodeId } from '../domain/forms.js';
import { LINKS, membersOf } from '../domain/links.js';
import { viewOf } from '../domain/spaces.js';
import { passGate, type Violation } from '../domain/violations.js';
import type { StoredEdge } from '../storage/port.js';
import type { Context } from './context.js';

/** More links of one node than these are not shown. */
const EDGES_MAX = 1_000;

/** The links of each of the nodes, newest first, by their words. */
export async function readLinks(
  { store }: Context,
  repoId: string,
  ids: readonly string[],
): Promise<Map<string, EpisodeLinks>> {
  const labels = [...new Set(Object.values(WORDS).map(({ label }) => label))];
  const edges = await store.findEdges(viewOf(repoId, { includeArchived: true }), ids, labels, EDGES_MAX);
  return new Map(ids.map((id) => [id, linksOf(id, edges)]));
}

export const readLinksOf = async (context: Context, repoId: string, id: string): Promise<EpisodeLinks> =>
  (await readLinks(context, repoId, [id])).get(id) ?? NO_LINKS;

function linksOf(id: string, edges: readonly StoredEdge[]): EpisodeLinks {
  const links: Record<LinkWord, string[]> = {
    caused_by: [],
    led_to: [],
    related_to: [],
    supersedes: [],
    blocked_by: [],
  };
  for (const word of LINK_WORDS) links[word].push(...edges.flatMap((edge) => othersBy(word, id, edge)));
  return links;
}

function othersBy(word: LinkWord, id: string, { label, members }: StoredEdge): string[] {
  const { label: wanted, ownPlace } = WORDS[word];
  const role = LINKS[wanted].roles[ownPlace] ?? LINKS[wanted].roles[0];
  const isOwn = label === wanted && members.some((member) => member.nodeId === id && member.role === role);
  return isOwn ? members.map(({ nodeId }) => nodeId).filter((nodeId) => nodeId !== id) : [];
}

/** Gathers the changes that links of one episode come to. */
export class LinkPlan {
  readonly changes: Change[] = [];

  /** `fieldOf` names the place of the request where a link stands. */
  constructor(
    private readonly context: Context,
    private readonly repoId: string,
    private readonly id: string,
    private readonly fieldOf = (word: LinkWord, place: number): string =>
      WORDS[word].isSingle ? `links.${word}` : `links.${word}.${place}`,
  ) {}

  /** Draws the links that are not there yet; true if there were any to draw. Of what can be one only, another is refused. */
  async add(links: LinkPatch): Promise<boolean> {
    const known = await readLinksOf(this.context, this.repoId, this.id);
    passGate(
      'integrity',
      LINK_WORDS.filter((word) => WORDS[word].isSingle).flatMap((word): Violation[] => {
        const [given] = links[word] ?? [];
        const [standing] = known[word];
        if (given === undefined || standing === undefined || given === standing) return [];
        const message = `is ${standing} already, and there can be one only; a PATCH of the episode replaces it`;
        return [{ field: this.fieldOf(word, 0), code: 'conflict', message }];
      }),
    );
    return this.#draw(links, known);
  }

  /** Makes the links of each named word exactly these. */
  async replace(links: LinkPatch): Promise<void> {
    if (Object.keys(links).length === 0) return;
    for (const edge of await this.#edgesOf(links)) {
      const isWanted = LINK_WORDS.some((word) =>
        othersBy(word, this.id, edge).some((otherId) => links[word]?.includes(otherId)),
      );
      if (!isWanted) this.changes.push({ change: 'remove_edge', edge, atMs: this.context.now() });
    }
    await this.#draw(links, await readLinksOf(this.context, this.repoId, this.id));
  }

  async #edgesOf(links: LinkPatch): Promise<StoredEdge[]> {
    const words = LINK_WORDS.filter((word) => links[word] !== undefined);
    const labels = [...new Set(words.map((word) => WORDS[word].label))];
    const view = viewOf(this.repoId, { includeArchived: true, includeGlobal: false });
    const edges = await this.context.store.findEdges(view, [this.id], labels, EDGES_MAX);
    // One that joins more than two says something of others as well: it is not this episode's to take back.
    return edges.filter((edge) => words.some((word) => othersBy(word, this.id, edge).length === 1));
  }

  async #draw(links: LinkPatch, known: EpisodeLinks): Promise<boolean> {
    await this.#mustExist(links);
    const before = this.changes.length;
    for (const word of LINK_WORDS) {
      for (const otherId of links[word] ?? []) if (!known[word].includes(otherId)) this.#insert(word, otherId);
    }
    return this.changes.length > before;
  }

  #insert(word: LinkWord, otherId: string): void {
    const { label, ownPlace } = WORDS[word];
    const members = membersOf(label, ownPlace === 0 ? [this.id, otherId] : [otherId, this.id]);
    const { type, weight } = LINKS[label];
    const { repoId, context } = this;
    const edge = { id: context.newId(), repoId, type, label, weight, members, rationale: null };
    this.changes.push({ change: 'insert_edge', ...edge, origin: 'manual', atMs: context.now() });
  }

  async #mustExist(links: LinkPatch): Promise<void> {
    const named = LINK_WORDS.flatMap((word) =>
      (links[word] ?? []).map((id, place) => ({ id, field: this.fieldOf(word, place) })),
    );
    const view = viewOf(this.repoId, { includeArchived: true });
    const ids = named.map(({ id }) => id).filter(isNodeId);
    const visible = await this.context.store.findVisible(view, ids);
    const violations = named.flatMap(({ id, field }): Violation[] => {
      if (id === this.id) return [{ field, code: 'integrity_error', message: 'is the episode itself' }];
      const message = `no node ${JSON.stringify(id.slice(0, 80))} is visible from this project`;
      return visible.has(id) ? [] : [{ field, code: 'not_found', message }];
    });
    passGate('integrity', violations);
  }
}
