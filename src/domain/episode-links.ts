/** The five words for how one episode bears on another. Each is an edge, read from one of its ends. */
export const LINK_WORDS = ['caused_by', 'led_to', 'related_to', 'supersedes', 'blocked_by'] as const;
export type LinkWord = (typeof LINK_WORDS)[number];

interface WordRow {
  readonly label: 'causes' | 'related_to' | 'supersedes' | 'blocks';
  /** Where the episode itself stands among the edge's members. */
  readonly ownPlace: 0 | 1;
  /** Whether there can be only one. */
  readonly isSingle: boolean;
}

export const WORDS: Readonly<Record<LinkWord, WordRow>> = {
  caused_by: { label: 'causes', ownPlace: 1, isSingle: false },
  led_to: { label: 'causes', ownPlace: 0, isSingle: false },
  related_to: { label: 'related_to', ownPlace: 0, isSingle: false },
  supersedes: { label: 'supersedes', ownPlace: 0, isSingle: true },
  blocked_by: { label: 'blocks', ownPlace: 1, isSingle: true },
};

export type EpisodeLinks = Readonly<Record<LinkWord, readonly string[]>>;
/** As they are shown: of very many the newest, and all of what there can be one only. */
export interface ShownLinks {
  readonly byWord: EpisodeLinks;
  readonly isComplete: boolean;
}

/** The words that are named are replaced; the others stay. */
export type LinkPatch = Partial<EpisodeLinks>;

export const NO_LINKS: EpisodeLinks = { caused_by: [], led_to: [], related_to: [], supersedes: [], blocked_by: [] };
