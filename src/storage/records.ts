import type { Agent, Session } from '../domain/agents.js';
import type { FileUse, Layers } from '../domain/episodes.js';
import type { ChapterDetail, WisdomDetail } from '../domain/narratives.js';
import type { ConfidenceTrigger, FailureCategory, TaskType, Tier } from '../domain/vocabulary.js';

/** What a store holds of agents at work, of how nodes came to be what they are, and of itself, and how it is asked for it. */

export interface StoredAgent extends Agent {
  readonly lastActiveAtMs: number;
  readonly sessions: number;
  readonly successes: number;
  readonly failures: number;
}

export interface StoredSession extends Session {
  readonly endedAtMs: number | null;
  readonly finalOutcome: string | null;
  readonly queries: number;
  readonly episodes: number;
}

export interface StoredEpisode {
  readonly id: string;
  readonly seq: number;
  readonly repoId: string;
  readonly agentId: string;
  readonly sessionId: string;
  readonly tier: Tier;
  readonly archivedAtMs: number | null;
  readonly revision: number;
  readonly createdAtMs: number;
  readonly updatedAtMs: number;
  readonly importance: number;
  readonly layers: Layers;
  readonly tags: readonly string[];
  readonly files: readonly FileUse[];
  readonly accessCount: number;
  readonly lastAccessedAtMs: number | null;
}

/** Null, or no tags, where anything fits. */
export interface EpisodeFilter {
  readonly agentId: string | null;
  readonly sessionId: string | null;
  readonly taskType: TaskType | null;
  readonly success: boolean | null;
  readonly failureCategory: FailureCategory | null;
  /** All of them. */
  readonly tags: readonly string[];
  /** A path, the end of one, or a glob. */
  readonly file: string | null;
  /** The files that it means, where that was found out already (`findFiles`). */
  readonly files?: readonly number[];
  readonly sinceMs: number | null;
  readonly beforeMs: number | null;
  readonly includeArchived: boolean;
}

/** `stored` is the order in which they arrived. */
export type EpisodeOrder = 'recent' | 'importance' | 'access_count' | 'stored';

/** Where in a list of episodes somebody stands: the value that the list is ordered by, and the row. */
export interface EpisodePlace {
  readonly value: number;
  readonly seq: number;
}

export interface EpisodeCandidate {
  readonly id: string;
  /** The indexed terms, separated and surrounded by single blanks. */
  readonly terms: string;
  readonly length: number;
  readonly goal: string;
  readonly importance: number;
}

/** A chapter or a wisdom. */
export interface StoredNarrative {
  readonly id: string;
  readonly seq: number;
  readonly repoId: string;
  readonly kind: string;
  readonly content: string;
  readonly tier: Tier;
  readonly archivedAtMs: number | null;
  readonly revision: number;
  readonly createdAtMs: number;
  /** When what it says was last told anew. */
  readonly updatedAtMs: number;
  readonly detail: ChapterDetail | WisdomDetail;
}

export interface NarrativeFilter {
  readonly form: 'chapter' | 'wisdom';
  readonly key: string | null;
  /** Of chapters: made by hand or by the service; null where both fit. */
  readonly kind: string | null;
  /** All of them. */
  readonly tags: readonly string[];
  /** Begun at this moment or later. */
  readonly sinceMs: number | null;
  /** Over before this moment. */
  readonly beforeMs: number | null;
  readonly includeArchived: boolean;
}

export type NarrativeOrder = 'recent' | 'start';

export type NarrativePlace = EpisodePlace;

export interface NodeCount {
  readonly form: string;
  /** Empty for a form whose kinds are free text: its nodes are counted together. */
  readonly kind: string;
  readonly tier: Tier;
  readonly nodes: number;
}

export interface RepoSummary {
  readonly repoId: string;
  readonly createdAtMs: number;
  readonly bytes: number;
  /** Whether its file cannot be read: it is damaged, out of reach, or of a newer version. The counts are empty then. */
  readonly damaged: boolean;
  readonly counts: readonly NodeCount[];
}

export interface StoreSummary {
  readonly engine: string;
  readonly location: string;
  readonly repos: number;
  readonly openSpaces: number;
}

export interface EvolutionFilter {
  readonly nodeId: string | null;
  readonly operation: string | null;
  readonly sinceMs: number | null;
  readonly beforeMs: number | null;
}

export interface EvolutionEntry {
  readonly seq: number;
  readonly atMs: number;
  readonly operation: string;
  readonly nodeIds: readonly string[];
  readonly fromTier: Tier | null;
  readonly toTier: Tier | null;
  readonly reasoning: string | null;
}

export interface EvolutionPage {
  readonly entries: readonly EvolutionEntry[];
  /** The line before which to go on; null at the beginning of the log. */
  readonly next: number | null;
}

export interface ConfidenceUpdate {
  readonly oldConfidence: number;
  readonly newConfidence: number;
  readonly trigger: ConfidenceTrigger;
  readonly atMs: number;
}

export interface ConfidenceRecord {
  readonly updates: readonly ConfidenceUpdate[];
  /** How sure the node was before the first change; null when there was none. */
  readonly initial: number | null;
  readonly byTrigger: Partial<Readonly<Record<ConfidenceTrigger, number>>>;
}
