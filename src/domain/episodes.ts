import { normalizePath } from './paths.js';
import type { Violation } from './violations.js';
import type { ActionType, FailureCategory, FileOperation, TaskType, VERIFICATION_TYPES } from './vocabulary.js';
import { FILE_OPERATIONS } from './vocabulary.js';

/**
 * An episode of work in its five layers. The layers are documents: they are kept and given back as they were sent, so their fields
 * have the words of the wire.
 */
export interface Layers {
  readonly intent: Intent;
  readonly perception: Perception | null;
  readonly reasoning: Reasoning | null;
  readonly actions: readonly Action[] | null;
  readonly outcome: Outcome;
}

export interface Intent {
  readonly goal: string;
  readonly task_type: TaskType;
  readonly context?: string;
  readonly constraints?: readonly string[];
}

interface Perception {
  readonly observations?: readonly { readonly what: string; readonly where: string; readonly significance: string }[];
  readonly relevant_files?: readonly {
    readonly path: string;
    readonly relevance: string;
    readonly state_summary: string;
  }[];
  readonly patterns_noticed?: readonly string[];
  readonly anomalies?: readonly string[];
}

interface Reasoning {
  readonly approach_chosen: string;
  readonly why_chosen: string;
  readonly alternatives_considered?: readonly { readonly approach: string; readonly why_rejected: string }[];
  readonly assumptions?: readonly string[];
  readonly risks_identified?: readonly string[];
}

export interface Action {
  readonly type: ActionType;
  readonly timestamp: number;
  readonly details: ActionDetails;
  readonly result: {
    readonly success: boolean;
    readonly output_summary?: string;
    readonly error?: string;
    readonly duration_ms?: number;
  };
}

interface ActionDetails {
  readonly file_path?: string;
  readonly lines_affected?: string;
  readonly diff_hash?: string;
  readonly diff_summary?: string;
  readonly command?: string;
  readonly working_directory?: string;
  readonly query?: string;
  readonly scope?: string;
}

export interface Outcome {
  readonly success: boolean;
  readonly summary: string;
  readonly learnings?: readonly string[];
  readonly failure_reason?: string;
  readonly failure_category?: FailureCategory;
  readonly verified_by?: {
    readonly type: (typeof VERIFICATION_TYPES)[number];
    readonly command?: string;
    readonly result: string;
  };
  readonly follow_up_needed?: readonly string[];
}

/** What the row of an episode holds beside its node. */
export interface EpisodeDetail {
  readonly form: 'episode';
  readonly agentId: string;
  readonly importance: number;
  readonly layers: Layers;
}

export const IMPORTANCE_DEFAULT = 0.5;

/** What is shown of it where only text is: what was wanted, what came of it and why, and what was learned. */
export const episodeContent = ({ intent, outcome }: Layers): string =>
  [intent.goal, outcome.summary, outcome.failure_reason ?? '', ...(outcome.learnings ?? [])]
    .filter((line) => line.trim() !== '')
    .join('\n');

/** Everything that it can be found by. */
export function episodeWords(layers: Layers, tags: readonly string[]): string {
  const { intent, perception, reasoning, actions, outcome } = layers;
  return [
    episodeContent(layers),
    intent.context,
    ...(intent.constraints ?? []),
    reasoning?.approach_chosen,
    reasoning?.why_chosen,
    ...(perception?.observations ?? []).map(({ what }) => what),
    ...(perception?.patterns_noticed ?? []),
    ...(perception?.anomalies ?? []),
    ...(actions ?? []).map(({ details }) => details.diff_summary),
    ...(outcome.follow_up_needed ?? []),
    ...filesOf(layers).map(({ path }) => path),
    ...tags,
  ]
    .filter((text) => text !== undefined)
    .join('\n');
}

/** A file that an episode had to do with. */
export interface FileUse {
  readonly path: string;
  readonly operation: FileOperation;
}

const OPERATION_OF: Partial<Readonly<Record<ActionType, FileOperation>>> = {
  file_read: 'read',
  file_edit: 'edit',
  file_create: 'create',
  file_delete: 'delete',
};

/** What is longer is no path, and is not looked for as one. */
const PATH_CHARACTERS_MAX = 4_000;

/** Each file once, with the strongest of what was done to it. */
export function filesOf({ perception, actions }: Layers): FileUse[] {
  const uses = [
    ...(actions ?? []).map(({ type, details }) => ({ path: details.file_path, operation: OPERATION_OF[type] })),
    ...(perception?.relevant_files ?? []).map(({ path }) => ({ path, operation: undefined })),
  ];
  const strongest = new Map<string, FileOperation>();
  for (const { path: given, operation = 'relevant' } of uses) {
    const path = normalizePath(given ?? '');
    const known = strongest.get(path);
    const isStronger = known === undefined || FILE_OPERATIONS.indexOf(operation) > FILE_OPERATIONS.indexOf(known);
    if (path !== '' && path.length <= PATH_CHARACTERS_MAX && isStronger) strongest.set(path, operation);
  }
  return [...strongest].map(([path, operation]) => ({ path, operation }));
}

/** A patch of a document: objects are merged, everything else replaces what was there, and null takes it away. */
export type Patch<Document> = {
  readonly [Key in keyof Document]?: Document[Key] extends readonly unknown[] | string | number | boolean | null
    ? Document[Key] | null
    : Patch<Document[Key]> | null;
};

const isPlainObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

function merged(document: unknown, patch: unknown): unknown {
  if (!isPlainObject(patch)) return patch;
  const result: Record<string, unknown> = isPlainObject(document) ? { ...document } : {};
  for (const [key, value] of Object.entries(patch)) {
    if (value === null) delete result[key];
    else result[key] = merged(result[key], value);
  }
  return result;
}

/** What each part of an episode cannot do without. */
const NEEDED: Readonly<Record<string, readonly string[]>> = {
  intent: ['goal', 'task_type'],
  reasoning: ['approach_chosen', 'why_chosen'],
  outcome: ['success', 'summary'],
  'outcome.verified_by': ['type', 'result'],
};

/** Takes a patch in; what it leaves unsaid stays. The violations name what is missing of what came out. */
export function patchLayers(layers: Layers, patch: Patch<Layers>): { layers: Layers; violations: Violation[] } {
  const patched = { perception: null, reasoning: null, actions: null, ...(merged(layers, patch) as object) };
  const at = (path: string): unknown =>
    path.split('.').reduce((value: unknown, key) => (isPlainObject(value) ? value[key] : undefined), patched);
  const violations = Object.entries(NEEDED).flatMap(([path, fields]) => {
    const part = at(path);
    const isMissing = part === undefined || part === null;
    if (isMissing && path !== 'intent' && path !== 'outcome') return [];
    return fields
      .filter((field) => isMissing || (part as Record<string, unknown>)[field] === undefined)
      .map((field): Violation => ({ field: `${path}.${field}`, code: 'semantic_error', message: 'must be there' }));
  });
  return { layers: patched as unknown as Layers, violations };
}

/** What a goal and a summary say nothing without. */
export function checkLayers({ intent, outcome }: Layers): Violation[] {
  const blank = (field: string, text: string): Violation[] =>
    text.trim() === ''
      ? [{ field, code: 'semantic_error', message: 'must contain something other than white space' }]
      : [];
  return [...blank('intent.goal', intent.goal), ...blank('outcome.summary', outcome.summary)];
}
