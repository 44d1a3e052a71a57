import type { CitedLine } from './citations.js';
import type { Pattern } from './synthesis.js';

/** Where the summary was taken from: from the sources, word for word, or from a model that was given them. */
export const SUMMARY_ORIGINS = ['extract', 'model'] as const;
export type SummaryOrigin = (typeof SUMMARY_ORIGINS)[number];

/** What the row of a chapter holds beside its node and the edge to its episodes. */
export interface ChapterDetail {
  readonly form: 'chapter';
  /** What an automatic chapter is about; null for one that was made by hand. */
  readonly key: string | null;
  readonly title: string | null;
  readonly startMs: number;
  readonly endMs: number;
  readonly text: {
    readonly summary: string;
    readonly summaryOrigin: SummaryOrigin;
    readonly summaryLines: readonly CitedLine[];
    readonly learnings: readonly CitedLine[];
    readonly tags: readonly string[];
    readonly topics: readonly string[];
    /** Whether somebody said what it is called, if only that it has no title; otherwise that follows from its episodes. */
    readonly isTitleGiven: boolean;
    /** What the caller gave, so that it stays when the rest is told anew. */
    readonly given: { readonly tags: readonly string[]; readonly topics: readonly string[] };
  };
}

/** What the row of a wisdom holds beside its node and the edge to its chapters. */
export interface WisdomDetail {
  readonly form: 'wisdom';
  readonly key: string | null;
  readonly startMs: number;
  readonly endMs: number;
  readonly text: {
    readonly summary: string;
    readonly summaryOrigin: SummaryOrigin;
    readonly summaryLines: readonly CitedLine[];
    readonly insights: readonly CitedLine[];
    readonly patterns: readonly Pattern[];
    readonly bestPractices: readonly CitedLine[];
    readonly tags: readonly string[];
    /** All episodes behind it: it keeps their words when a chapter goes or is told anew without them. */
    readonly episodeIds: readonly string[];
  };
}
