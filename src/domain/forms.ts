import type { ChunkType } from './chunk-types.js';
import type { EntryType } from './entries.js';
import { type MEMORY_KINDS, type NodeType, TASK_TYPES, type TaskType, type Tier } from './vocabulary.js';

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
  /** The routes that change it instead, where a contract of its own keeps it. */
  readonly keeper: string | null;
  readonly defaultTier: Tier;
  /** There is room for so many only: one that was put away comes back through its keeper. */
  readonly isLimited?: true;
}

const UUID_V4_DIGITS = '[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}';
const prefixed = (prefix: string): RegExp => new RegExp(`^${prefix}${UUID_V4_DIGITS}$`);
const UUID_V4 = prefixed('');

/** The only kind of wisdom. */
export const SYNTHESIS = 'synthesis';

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
    keeper: null,
    defaultTier: 'longterm',
  },
  concept: {
    kinds: null,
    idPattern: UUID_V4,
    idExample: '9b1d6f0a-2c3e-4f58-8a7b-6c5d4e3f2a1b',
    mutableFields: ['content', 'confidence', 'subtype', 'provenance', 'metadata', 'tags'],
    keeper: null,
    defaultTier: 'task',
  },
  episode: {
    kinds: Object.fromEntries(TASK_TYPES.map((word) => [word, 'experience'])) as Record<TaskType, 'experience'>,
    idPattern: prefixed('mem_'),
    idExample: 'mem_5c0f3a2e-7b41-4d68-9e15-2a6b8c7d0f13',
    mutableFields: [],
    keeper: '/episodes',
    defaultTier: 'longterm',
  },
  chapter: {
    kinds: { manual: 'experience', auto: 'experience' },
    idPattern: prefixed('chapter_'),
    idExample: 'chapter_1d9e4b7c-3f62-4a85-b0c7-8e5f6a2d4c91',
    mutableFields: [],
    keeper: '/chapters',
    defaultTier: 'longterm',
  },
  wisdom: {
    kinds: { [SYNTHESIS]: 'fact' },
    idPattern: prefixed('wisdom_'),
    idExample: 'wisdom_8a3c5e1f-6d24-4b79-a2e8-0c9f7b5d3e46',
    mutableFields: [],
    keeper: '/wisdom',
    defaultTier: 'longterm',
  },
  chunk: {
    kinds: {
      fact: 'fact',
      preference: 'fact',
      pattern: 'experience',
      note: 'snippet',
      decision: 'decision',
    } satisfies Record<ChunkType, NodeType>,
    idPattern: /^chunk-\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01])-[0-9a-z]{4,32}$/,
    idExample: 'chunk-2026-02-10-a1b2c3d4',
    mutableFields: [],
    keeper: '/chunks',
    defaultTier: 'longterm',
  },
  entry: {
    kinds: { core: 'fact', learning: 'experience', task: 'experience' } satisfies Record<EntryType, NodeType>,
    idPattern: UUID_V4,
    idExample: '550e8400-e29b-41d4-a716-446655440000',
    mutableFields: [],
    keeper: '/journal',
    defaultTier: 'longterm',
    isLimited: true,
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

/** Whether any form has such ids. */
export const isNodeId = (id: string): boolean => FORM_NAMES.some((form) => isIdOf(form, id));

/** Ids of agents and sessions, which are nobody's node. */
export const AGENT_ID = prefixed('agent_');
export const SESSION_ID = prefixed('session_');

export const isIdOf = (form: Form, id: string): boolean => formOf(form).idPattern.test(id);
