import type { MEMORY_KINDS, NodeType, Tier } from './vocabulary.js';

/**
 * One row per form of node. A new form is a row here, a detail table, the guard migration that admits it, and a contract;
 * everything that must know the forms (id checks, immutability, the database's guard, the documents) reads this table.
 */
export interface FormRow {
  /** The contract's closed words inside the form, each with the ontology type it stands for; null where any text is a kind. */
  readonly kinds: Readonly<Record<string, NodeType>> | null;
  readonly idPattern: RegExp;
  /** What an id looks like, for messages. */
  readonly idExample: string;
  /** Fields of the node that a caller may change after the write; the lifecycle tier is never among them, it moves. */
  readonly mutableFields: readonly string[];
  readonly defaultTier: Tier;
}

const UUID_V4 = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

export const FORMS = {
  memory: {
    kinds: {
      problem: 'experience',
      solution: 'experience',
      failed_tactic: 'experience',
      fact: 'fact',
      preference: 'fact',
      change: 'experience',
    } satisfies Record<(typeof MEMORY_KINDS)[number], NodeType>,
    idPattern: UUID_V4,
    idExample: '3f2b8c1e-5d47-4a6b-9c0d-1e2f3a4b5c6d',
    mutableFields: [],
    defaultTier: 'longterm',
  },
  concept: {
    kinds: null,
    idPattern: UUID_V4,
    idExample: '9b1d6f0a-2c3e-4f58-8a7b-6c5d4e3f2a1b',
    mutableFields: ['content', 'confidence', 'subtype', 'provenance', 'metadata', 'tags'],
    defaultTier: 'task',
  },
} as const satisfies Record<string, FormRow>;

export type Form = keyof typeof FORMS;

/** The stand-in for a node of the global space inside a repo's space: it holds no content and is never found by itself. */
export const REFERENCE_FORM = 'reference';

export const FORM_NAMES = Object.keys(FORMS) as Form[];

export const formOf = (form: Form): FormRow => FORMS[form];

export function typeOf(form: Form, kind: string): NodeType {
  const type = formOf(form).kinds?.[kind];
  if (type === undefined) throw new Error(`form ${form} has no kind ${kind}`);
  return type;
}

export const isIdOf = (form: Form, id: string): boolean => formOf(form).idPattern.test(id);
