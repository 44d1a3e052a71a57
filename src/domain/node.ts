import type { Form } from './forms.js';
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

/** A memory is a node with the reason it was written; the digest of its normalised text finds exact duplicates. */
export interface Memory extends Node {
  readonly form: 'memory';
  readonly rationale: string | null;
  readonly textDigest: string;
}

/** Text as it counts for "the same text": letter case, Unicode composition and white space do not make a new memory. */
export const normalizeText = (text: string): string =>
  text.normalize('NFKC').toLowerCase().replace(/\s+/gu, ' ').trim();
