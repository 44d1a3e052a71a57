import type { Memory } from './node.js';
import type { Violation, ViolationCode } from './violations.js';
import type { MemoryKind, Scope } from './vocabulary.js';

/** The memory contract's own rules, pure: what a request may say (semantic) and what it may point at (integrity). */

export interface MemoryDraft {
  readonly text: string;
  readonly scope: Scope;
  readonly kind: MemoryKind;
  readonly confidence: number;
  readonly rationale: string | null;
  readonly problemId: string | null;
  readonly relatedIds: readonly string[];
  readonly evidenceRefs: readonly string[];
}

export type UpdateDraft =
  | { readonly type: 'archive_state'; readonly archived: boolean; readonly rationale: string | null }
  | {
      readonly type: 'utility_vote';
      readonly problemId: string;
      readonly vote: number;
      readonly rationale: string | null;
      readonly evidenceRefs: readonly string[];
    }
  | {
      readonly type: 'fact_update_link';
      readonly oldFactId: string;
      readonly newFactId: string;
      readonly rationale: string | null;
      readonly evidenceRefs: readonly string[];
    };

export const TEXT_CHARACTERS_MAX = 100_000;
export const RATIONALE_CHARACTERS_MAX = 10_000;
export const EVIDENCE_CHARACTERS_MAX = 2_000;
/** What is wrong with a text that no store would keep faithfully, or null. */
export function whyUnstorable(text: string): string | null {
  if (text.includes('\0')) return 'contains a NUL character; remove it';
  return text.isWellFormed() ? null : 'contains half of a surrogate pair, which is no character; remove it';
}

export const QUERY_CHARACTERS_MAX = 10_000;
export const REPO_ID_CHARACTERS_MAX = 200;
export const LINKS_MAX = 100;

/** The kinds that record an attempt at a problem. */
const ATTEMPT_KINDS: ReadonlySet<string> = new Set(['solution', 'failed_tactic']);

const CONTROL_CHARACTERS = /\p{Cc}/u;

const isBlank = (text: string): boolean => text.trim() === '';

const semantic = (field: string, message: string): Violation => ({ field, code: 'semantic_error', message });

function checkText(field: string, text: string, charactersMax: number): Violation[] {
  if (isBlank(text)) return [semantic(field, 'must contain something other than white space')];
  if (text.length > charactersMax) {
    return [semantic(field, `has ${text.length} characters, at most ${charactersMax} are kept; split it`)];
  }
  return [];
}

const checkRationale = (field: string, rationale: string | null): Violation[] =>
  rationale === null || rationale === '' ? [] : checkText(field, rationale, RATIONALE_CHARACTERS_MAX);

function checkEvidence(field: string, refs: readonly string[]): Violation[] {
  if (refs.length > LINKS_MAX) {
    return [semantic(field, `holds ${refs.length} references, at most ${LINKS_MAX} are kept`)];
  }
  const seen = new Set<string>();
  return refs.flatMap((ref, index) => {
    const violations = checkText(`${field}.${index}`, ref, EVIDENCE_CHARACTERS_MAX);
    const trimmed = ref.trim();
    if (seen.has(trimmed)) {
      violations.push(semantic(`${field}.${index}`, 'repeats an earlier reference; name each once'));
    }
    seen.add(trimmed);
    return violations;
  });
}

export function checkRepoId(field: string, repoId: string): Violation[] {
  const violations = checkText(field, repoId, REPO_ID_CHARACTERS_MAX);
  if (CONTROL_CHARACTERS.test(repoId)) violations.push(semantic(field, 'must not contain control characters'));
  return violations;
}

export const checkQuery = (query: string, kinds: readonly string[] | null): Violation[] => [
  ...checkText('query', query, QUERY_CHARACTERS_MAX),
  ...(kinds?.length === 0
    ? [semantic('kinds', 'names no kind, so nothing could match; name at least one or leave it out')]
    : []),
];

export function checkWrite(at: string, draft: MemoryDraft, evidenceKinds: ReadonlySet<string>): Violation[] {
  const violations = [
    ...checkText(`${at}.text`, draft.text, TEXT_CHARACTERS_MAX),
    ...checkRationale(`${at}.rationale`, draft.rationale),
    ...checkEvidence(`${at}.evidence_refs`, draft.evidenceRefs),
  ];
  if (ATTEMPT_KINDS.has(draft.kind) && draft.problemId === null) {
    violations.push(
      semantic(`${at}.links.problem_id`, `is required for kind ${draft.kind}: name the problem it was tried on`),
    );
  }
  if (!ATTEMPT_KINDS.has(draft.kind) && draft.problemId !== null) {
    violations.push(
      semantic(`${at}.links.problem_id`, `is only for kinds solution and failed_tactic, not for ${draft.kind}`),
    );
  }
  if (evidenceKinds.has(draft.kind) && draft.evidenceRefs.length === 0) {
    violations.push(
      semantic(
        `${at}.evidence_refs`,
        `needs at least one reference for kind ${draft.kind}, such as a commit, file or session`,
      ),
    );
  }
  if (draft.relatedIds.length > LINKS_MAX) {
    violations.push(
      semantic(`${at}.links.related_memory_ids`, `holds ${draft.relatedIds.length} ids, at most ${LINKS_MAX} are kept`),
    );
  }
  return violations;
}

/** `at` is the path of the whole update request; its fields are `memory_id` and `update.…`. */
export function checkUpdate(at: string, memoryId: string, update: UpdateDraft): Violation[] {
  const path = (field: string): string => (at === '' ? field : `${at}.${field}`);
  const violations = checkRationale(path('update.rationale'), update.rationale);
  if (update.type !== 'archive_state')
    violations.push(...checkEvidence(path('update.evidence_refs'), update.evidenceRefs));
  if (update.type === 'utility_vote' && update.problemId === memoryId) {
    violations.push(semantic(path('update.problem_id'), 'is the voted memory itself; name the problem it helped with'));
  }
  if (update.type === 'fact_update_link') {
    if (update.oldFactId === update.newFactId) {
      violations.push(semantic(path('update.new_fact_id'), 'equals old_fact_id; a fact cannot replace itself'));
    }
    if (memoryId === update.oldFactId || memoryId === update.newFactId) {
      violations.push(
        semantic(path('memory_id'), 'must be the change that explains the replacement, not one of the two facts'),
      );
    }
  }
  return violations;
}

/** Marks the name of an earlier operation where an id is expected. No id can begin with it. */
export const NAME_MARK = '@';

/** One thing a request points at, and what it has to be. */
export interface Reference {
  readonly field: string;
  readonly id: string;
  readonly kind: MemoryKind | null;
  /** The reference is made by a global memory, which may know only global ones. */
  readonly fromGlobal: boolean;
}

export function checkReference(reference: Reference, target: Pick<Memory, 'kind' | 'scope'> | undefined): Violation[] {
  const refuse = (code: ViolationCode, message: string): Violation[] => [{ field: reference.field, code, message }];
  if (!target && reference.id.startsWith(NAME_MARK)) {
    return refuse('not_found', `no earlier item of this batch is named ${JSON.stringify(reference.id.slice(1, 80))}`);
  }
  if (!target)
    return refuse('not_found', `no memory ${JSON.stringify(reference.id.slice(0, 80))} is visible from this repo`);
  if (reference.kind !== null && target.kind !== reference.kind) {
    return refuse('integrity_error', `is a memory of kind ${target.kind}; a ${reference.kind} is needed here`);
  }
  if (reference.fromGlobal && target.scope !== 'global') {
    return refuse('integrity_error', 'belongs to one repo; a global memory may refer only to global memories');
  }
  return [];
}

/** In a batch two references may be given as a name and as an id and mean one memory; each must be a memory of its own. */
export const checkDistinct = (references: readonly Reference[], ids: readonly string[]): Violation[] =>
  references.flatMap(({ field }, index): Violation[] =>
    ids.indexOf(ids[index] as string) < index
      ? [{ field, code: 'integrity_error', message: 'is a memory that this update names already; it needs another' }]
      : [],
  );
