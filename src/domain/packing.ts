import { byScore, type ReadMode } from './ranking.js';

export const SECTIONS = ['direct', 'explicit_related', 'implicit_related'] as const;
export type Section = (typeof SECTIONS)[number];

/** How many places each section is sure of before the rest goes to the best of all. */
const QUOTAS = {
  targeted: { direct: 4, explicit_related: 3, implicit_related: 1 },
  ambient: { direct: 4, explicit_related: 5, implicit_related: 3 },
} as const satisfies Record<ReadMode, Record<Section, number>>;

export interface Packable {
  readonly id: string;
  readonly section: Section;
  readonly score: number;
  /** Who must be in the answer too: a superseded fact never comes without the fact that replaced it. */
  readonly companionId: string | null;
  /** Whether it goes before everything else of its section. */
  readonly opens: boolean;
}

export interface PackLimits {
  readonly mode: ReadMode;
  readonly items: number;
  readonly tokens: number | null;
}

export interface Packed<Item> {
  readonly sections: Record<Section, Item[]>;
  readonly tokensUsed: number;
  /** Candidates that the token budget, not the item limit, kept out. */
  readonly leftOut: Item[];
}

/**
 * Fills the answer: each section's quota in order, then the best of what remains. An item reached twice is kept in the earliest
 * section. Nothing is cut short to fit: an item that is too long for the budget is left out and named.
 */
export function pack<Item extends Packable>(
  candidates: readonly Item[],
  limits: PackLimits,
  tokensOf: (item: Item) => number,
): Packed<Item> {
  const unique = oncePerMemory(candidates);
  const taken = new Map<string, Item>();
  const leftOut = new Map<string, Item>();
  let tokensUsed = 0;

  const fits = (items: readonly Item[]): boolean =>
    taken.size + items.length <= limits.items &&
    (limits.tokens === null || tokensUsed + items.reduce((sum, item) => sum + tokensOf(item), 0) <= limits.tokens);

  const take = (items: readonly Item[]): boolean => {
    if (!fits(items)) return false;
    for (const item of items) {
      taken.set(item.id, item);
      leftOut.delete(item.id);
      if (limits.tokens !== null) tokensUsed += tokensOf(item);
    }
    return true;
  };

  const offer = (item: Item): void => {
    if (taken.has(item.id) || taken.size >= limits.items) return;
    const companion = item.companionId === null ? undefined : unique.get(item.companionId);
    const together = companion && !taken.has(companion.id) ? [item, companion] : [item];
    if (take(together)) return;
    // No room for both: what is true now goes before what was true.
    if (companion && together.length === 2) take([companion]);
    if (limits.tokens === null || taken.size >= limits.items) return;
    for (const missed of together) if (!taken.has(missed.id)) leftOut.set(missed.id, missed);
  };

  const ordered = [...unique.values()].sort(byScore);
  for (const item of ordered) if (item.opens) offer(item);
  for (const section of SECTIONS) {
    for (const item of ordered) {
      if (item.section === section && countOf(taken, section) < QUOTAS[limits.mode][section]) offer(item);
    }
  }
  const rank = (item: Item): number => SECTIONS.indexOf(item.section);
  for (const item of ordered.sort((a, b) => b.score - a.score || rank(a) - rank(b) || byScore(a, b))) offer(item);

  const inSection = (section: Section): Item[] =>
    [...taken.values()]
      .filter((item) => item.section === section)
      .sort((a, b) => Number(b.opens) - Number(a.opens) || byScore(a, b));
  return {
    sections: {
      direct: inSection('direct'),
      explicit_related: inSection('explicit_related'),
      implicit_related: inSection('implicit_related'),
    },
    tokensUsed,
    leftOut: [...leftOut.values()].sort(byScore),
  };
}

/** Each memory once: in the earliest section that has it, there with its best score. */
export function oncePerMemory<Item extends Pick<Packable, 'id' | 'section' | 'score'>>(
  candidates: readonly Item[],
): Map<string, Item> {
  const unique = new Map<string, Item>();
  for (const section of SECTIONS) {
    for (const item of candidates) {
      if (item.section !== section) continue;
      const known = unique.get(item.id);
      if (!known || (known.section === section && known.score < item.score)) unique.set(item.id, item);
    }
  }
  return unique;
}

function countOf<Item extends Packable>(taken: ReadonlyMap<string, Item>, section: Section): number {
  let count = 0;
  for (const item of taken.values()) if (item.section === section) count++;
  return count;
}
