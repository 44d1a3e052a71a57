import type { Label } from './links.js';
import type { Violation } from './violations.js';
import type { NodeType, Tier } from './vocabulary.js';

/** A node as the rules of evolution see it: how sure it is, how often it was asked for, and when. */
export interface EvolvingNode {
  readonly id: string;
  readonly form: string;
  readonly type: NodeType;
  /** The subtype. */
  readonly kind: string | null;
  readonly tier: Tier;
  readonly content: string;
  readonly metadata: Readonly<Record<string, unknown>>;
  readonly tags: readonly string[];
  /** Of a task and of a session, what one session noted is not shown to another. */
  readonly sessionId: string | null;
  readonly confidence: number;
  readonly accessCount: number;
  readonly lastAccessedAtMs: number;
  readonly createdAtMs: number;
  /** Up to when its decay has been taken off; null if it never was. */
  readonly decayedAtMs: number | null;
}

export interface EvolvingEdge {
  readonly id: string;
  readonly label: string;
  readonly weight: number;
  /** By position: the first member of an edge labelled `SUMMARIZES` is the summary. */
  readonly memberIds: readonly string[];
  /** The parts that they play, in the same places. */
  readonly roles: readonly string[];
}

/**
 * A new fact that tells in short what its sources say. Each source stays as it is, joined by an edge labelled
 * `SUMMARIZES`.
 */
export interface Summary {
  readonly content: string;
  readonly confidence: number;
  readonly sessionId: string | null;
  readonly sourceIds: readonly string[];
}

export const SUMMARIZES = 'summarizes' satisfies Label;

/**
 * The forms whose confidence and tier the service may change by itself. A memory is immutable, so it is never among
 * them.
 */
export const mayEvolve = (form: string): boolean => form === 'concept';

/** What makes two summaries the same summary: the set of their sources. */
export const summaryKey = (sourceIds: readonly string[]): string => JSON.stringify([...new Set(sourceIds)].sort());

/** Only what no summary says yet. */
export const unsaid = (summaries: readonly Summary[], existing: ReadonlySet<string>): Summary[] =>
  summaries.filter(({ sourceIds }) => !existing.has(summaryKey(sourceIds)));

/** Oldest first; equal ages by id, so that the order in which nodes were found does not matter. */
export const byAge = (a: Pick<EvolvingNode, 'id' | 'createdAtMs'>, b: typeof a): number =>
  a.createdAtMs - b.createdAtMs || (a.id < b.id ? -1 : a.id > b.id ? 1 : 0);

/** More of a text than any summary quotes. */
const BRIEF_CHARACTERS_MAX = 200;

/** As much of a node as a summary needs, so that many can be kept in mind. */
export const briefOf = (node: EvolvingNode): EvolvingNode => ({
  ...node,
  content: excerptsOf([node], BRIEF_CHARACTERS_MAX)[0] ?? '',
  metadata: {},
  tags: [],
});

/** What the log calls what happened to nodes; to edges, `link`, `unlink` or `relink`, a colon and the label. */
const NODE_OPERATIONS = [
  'create',
  'update',
  'tier_transition',
  'archive',
  'restore',
  'purge',
  'attach_evidence',
  'vote',
  'consolidate',
  'promote',
  'decay',
] as const;
const EDGE_OPERATION = /^(?:un|re)?link:/;

/** A question that nothing can ever answer is a mistake of who asks it. */
export function checkLogFilter(filter: {
  readonly operation: string | null;
  readonly sinceMs: number | null;
  readonly beforeMs: number | null;
}): Violation[] {
  const { operation, sinceMs, beforeMs } = filter;
  const violations: Violation[] = [];
  if (sinceMs !== null && beforeMs !== null && sinceMs >= beforeMs) {
    const message = `is ${beforeMs}, and nothing is before that and since ${sinceMs}; make it later than since`;
    violations.push({ field: 'before', code: 'semantic_error', message });
  }
  const isKnown =
    operation === null || EDGE_OPERATION.test(operation) || NODE_OPERATIONS.some((word) => word === operation);
  if (!isKnown) {
    const message = `is none of the log; it knows ${NODE_OPERATIONS.join(', ')}, and link:, unlink: and relink: with a label`;
    violations.push({ field: 'operation', code: 'semantic_error', message });
  }
  return violations;
}

const HALF_CHARACTER_AT_END = /[\uD800-\uDBFF]$/;

/** The contents that say something, each on one line and short; a character is never cut in two. */
export const excerptsOf = (nodes: readonly EvolvingNode[], charactersMax: number): string[] =>
  nodes
    .map(({ content }) => content.replace(/\s+/gu, ' ').trim())
    .filter((line) => line !== '')
    .map((line) =>
      line.length > charactersMax ? line.slice(0, charactersMax).replace(HALF_CHARACTER_AT_END, '') : line,
    );
