import type { ChunkDetail } from './chunks.js';
import type { EntryDetail } from './entries.js';
import type { EpisodeDetail, FileUse } from './episodes.js';
import type { Form } from './forms.js';
import type { ChapterDetail, WisdomDetail } from './narratives.js';
import type { NodeType, Scope, Tier } from './vocabulary.js';

/** Anything remembered, as the layers above storage see it. Times are integer UTC milliseconds. */
interface Node {
  readonly id: string;
  readonly form: Form;
  readonly kind: string;
  readonly type: NodeType;
  readonly repoId: string;
  readonly scope: Scope;
  readonly content: string;
  readonly confidence: number | null;
  readonly tier: Tier;
  readonly archivedAtMs: number | null;
  readonly archiveReason: string | null;
  readonly revision: number;
  readonly createdAtMs: number;
  readonly updatedAtMs: number;
}

/** What the detail table of a form holds. */
export type Detail = EpisodeDetail | ChapterDetail | WisdomDetail | ChunkDetail | EntryDetail;

/** A node of a form that may change. */
export interface GraphNode extends Omit<Node, 'kind'> {
  readonly form: Exclude<Form, 'memory'>;
  /** Of a concept its subtype. */
  readonly kind: string | null;
  readonly provenance: string | null;
  readonly metadata: Readonly<Record<string, unknown>>;
  readonly tags: readonly string[];
  readonly sessionId: string | null;
  readonly taskId: string | null;
  /** A bare node has none. */
  readonly detail?: Detail;
  readonly files?: readonly FileUse[];
}

/** Of a node whose confidence nobody said. */
export const CONFIDENCE_DEFAULT = 0.5;

/** A new node of a repo, with what every node begins with. */
export const newNode = (
  fields: Pick<GraphNode, 'id' | 'form' | 'kind' | 'type' | 'repoId' | 'content' | 'createdAtMs'> & Partial<GraphNode>,
): GraphNode => ({
  scope: 'repo',
  confidence: CONFIDENCE_DEFAULT,
  tier: 'longterm',
  archivedAtMs: null,
  archiveReason: null,
  revision: 1,
  updatedAtMs: fields.createdAtMs,
  provenance: null,
  metadata: {},
  tags: [],
  sessionId: null,
  taskId: null,
  ...fields,
});

/** A bare node of the graph. */
export interface Concept extends GraphNode {
  readonly form: 'concept';
  readonly confidence: number;
}

/** What a patch may set. The terms go with the content. */
export interface NodeFields {
  readonly content?: string;
  readonly terms?: readonly string[];
  readonly confidence?: number;
  readonly kind?: string | null;
  /** Goes with the kind where that decides it. */
  readonly type?: NodeType;
  readonly provenance?: string | null;
  readonly metadata?: Readonly<Record<string, unknown>>;
  readonly tags?: readonly string[];
  readonly sessionId?: string;
  readonly taskId?: string;
  readonly detail?: Detail;
  readonly files?: readonly FileUse[];
}

/** A memory is a node with the reason it was written; the digest of its normalised text finds exact duplicates. */
export interface Memory extends Node {
  readonly form: 'memory';
  readonly rationale: string | null;
  readonly textDigest: string;
}

/** No script stacks more marks on a letter; putting a longer run in order takes time quadratic in its length. */
const MARKS_ABSURD = /\p{M}{31}/u;

/** Text as it counts for "the same text": letter case, Unicode composition and white space do not make a new memory. */
export function normalizeText(text: string): string {
  const composed = MARKS_ABSURD.test(text) ? text : text.normalize('NFC');
  return composed.toLowerCase().replace(/\s+/gu, ' ').trim();
}
