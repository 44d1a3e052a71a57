import { setImmediate } from 'node:timers/promises';
import type { Change } from '../domain/changes.js';
import { type EpisodeLinks, LINK_WORDS, type LinkPatch, type LinkWord, WORDS } from '../domain/episode-links.js';
import { isNodeId } from '../domain/forms.js';
import { type Label, LINKS } from '../domain/links.js';
import { viewOf } from '../domain/spaces.js';
import { GateFailure, passGate, type Violation } from '../domain/violations.js';
import type { EdgePlace, StoredEdge } from '../storage/port.js';
import type { Context } from './context.js';
import { keyOf, membersBy, othersBy, readLinksOf } from './episode-links.js';

const PAGE_EDGES = 500;
/** More are not removed in one transaction, during which nobody else writes. */
const REMOVED_MAX = 5_000;

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
    const known = await this.#knownOf(links);
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
    for (const word of LINK_WORDS) if (links[word] !== undefined) await this.#removeOthers(word, links[word]);
    await this.#draw(links, await this.#knownOf(links));
  }

  /** Those that are there already, by edges of two as well as by larger ones. */
  async #knownOf(links: LinkPatch): Promise<EpisodeLinks> {
    const { byWord } = await readLinksOf(this.context, this.repoId, this.id);
    const view = viewOf(this.repoId, { includeArchived: true });
    const keys = LINK_WORDS.flatMap((word) => (links[word] ?? []).map((otherId) => keyOf(word, this.id, otherId)));
    const edges = [...(await this.context.store.findEdgesByKey(view, keys)).values()];
    const known = LINK_WORDS.map((word) => [
      word,
      [...byWord[word], ...edges.flatMap((edge) => othersBy(word, this.id, edge))],
    ]);
    return Object.fromEntries(known) as EpisodeLinks;
  }

  async #removeOthers(word: LinkWord, wantedIds: readonly string[]): Promise<void> {
    const wanted = new Set(wantedIds);
    let count = 0;
    for await (const edge of this.#edgesWith(WORDS[word].label)) {
      const others = othersBy(word, this.id, edge);
      // One that joins more than two says something of others as well: it is not this episode's to take back.
      if (others.length !== 1 || wanted.has(others[0] as string)) continue;
      if (++count > REMOVED_MAX) {
        const message = `replaces more than ${REMOVED_MAX} links at once; remove some of them with DELETE /edges/{edge_id} first`;
        throw new GateFailure('integrity', [{ field: `links.${word}`, code: 'conflict', message }]);
      }
      this.changes.push({ change: 'remove_edge', edge, atMs: this.context.now() });
    }
  }

  /** All edges of the label that the episode is in, a page at a time. */
  async *#edgesWith(label: Label): AsyncGenerator<StoredEdge> {
    const filter = { type: null, label, nodeId: this.id };
    let after: EdgePlace | null = null;
    do {
      const page: StoredEdge[] = await this.context.store.listEdges(this.repoId, filter, after, PAGE_EDGES);
      yield* page;
      after = page.length < PAGE_EDGES ? null : (page.at(-1) ?? null);
      await setImmediate();
    } while (after !== null);
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
    const { label } = WORDS[word];
    const { type, weight } = LINKS[label];
    const { repoId, context } = this;
    const members = membersBy(word, this.id, otherId);
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
