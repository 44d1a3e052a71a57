import type { Form } from './forms.js';
import { formOf } from './forms.js';
import type { NodeFields } from './node.js';
import { TEXT_CHARACTERS_MAX } from './rules.js';
import type { Violation } from './violations.js';
import type { NodeType, Tier } from './vocabulary.js';

/** The rules of the graph's bare nodes, and of what may be changed in any node. */

export interface ConceptDraft {
  readonly type: NodeType;
  readonly content: string;
  readonly subtype: string | null;
  readonly tier: Tier;
  readonly confidence: number;
  readonly provenance: string | null;
  readonly metadata: Readonly<Record<string, unknown>>;
  readonly tags: readonly string[];
  readonly sessionId: string | null;
  readonly taskId: string | null;
}

/** What a caller asks to change in a node. */
export interface NodePatch
  extends Omit<NodeFields, 'terms' | 'kind' | 'type' | 'sessionId' | 'taskId' | 'detail' | 'files'> {
  readonly subtype?: string | null;
  readonly tier?: Tier;
}

/** The session and the task that metadata names, where it names them as texts that say something. */
export function placesIn(metadata: Readonly<Record<string, unknown>> | undefined): {
  readonly sessionId?: string;
  readonly taskId?: string;
} {
  const { session_id: sessionId, task_id: taskId } = metadata ?? {};
  return { ...(isName(sessionId) && { sessionId }), ...(isName(taskId) && { taskId }) };
}

const isName = (value: unknown): value is string => typeof value === 'string' && value.trim() !== '';

export const NAME_CHARACTERS_MAX = 200;
export const TAGS_MAX = 50;
export const METADATA_CHARACTERS_MAX = 65_536;
export const PROVENANCE_CHARACTERS_MAX = 2_000;

const semantic = (field: string, message: string): Violation => ({ field, code: 'semantic_error', message });

const tooLong = (field: string, text: string | null | undefined, charactersMax: number): Violation[] =>
  text !== null && text !== undefined && text.length > charactersMax
    ? [semantic(field, `has ${text.length} characters, at most ${charactersMax} are kept`)]
    : [];

/** Content may be empty: a node may be there for its edges alone. */
export function checkNodeFields(fields: NodePatch & Pick<Partial<ConceptDraft>, 'sessionId' | 'taskId'>): Violation[] {
  return [
    ...tooLong('content', fields.content, TEXT_CHARACTERS_MAX),
    ...tooLong('subtype', fields.subtype, NAME_CHARACTERS_MAX),
    ...checkPlace('session_id', fields.sessionId),
    ...checkPlace('task_id', fields.taskId),
    ...tooLong('provenance', fields.provenance, PROVENANCE_CHARACTERS_MAX),
    ...tooLong('metadata', fields.metadata && JSON.stringify(fields.metadata), METADATA_CHARACTERS_MAX),
    ...(fields.tags ?? []).flatMap((tag, index) => checkTag(`tags.${index}`, tag)),
  ];
}

/** A blank name could never be asked for again. */
const checkPlace = (field: string, name: string | null | undefined): Violation[] =>
  name?.trim() === ''
    ? [semantic(field, 'must contain something other than white space; leave it out for none')]
    : tooLong(field, name, NAME_CHARACTERS_MAX);

function checkTag(field: string, tag: string): Violation[] {
  if (tag.trim() === '') return [semantic(field, 'must contain something other than white space')];
  return tooLong(field, tag, NAME_CHARACTERS_MAX);
}

/** What a form keeps as it was written cannot be patched, whoever asks. The tier is no field: it moves. */
export function checkMutable(form: Form, patch: NodePatch): Violation[] {
  const { mutableFields, keeper, isLimited } = formOf(form);
  const instead = keeper === null ? 'never changes; write another and link the two' : `is changed under ${keeper}`;
  return Object.keys(patch)
    .filter((field) => (field === 'tier' ? isLimited && patch.tier !== 'archive' : !mutableFields.includes(field)))
    .map((field) => ({
      field,
      code: 'conflict',
      message: `of a ${form} ${instead}`,
    }));
}
