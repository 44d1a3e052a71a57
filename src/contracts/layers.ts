import Type, { type TSchema } from 'typebox';
import { ACTION_TYPES, FAILURE_CATEGORIES, TASK_TYPES, VERIFICATION_TYPES } from '../domain/vocabulary.js';
import { named, nullable, strict, words } from './schema.js';

/** The five layers of an episode, as they come and go. A patch may name any part of them; null takes a part away. */

const TEXT_CHARACTERS_MAX = 20_000;
const LINES_MAX = 200;

const Text = Type.String({ maxLength: TEXT_CHARACTERS_MAX });
const Lines = Type.Array(Text, { maxItems: LINES_MAX });
const listOf = <Schema extends TSchema>(item: Schema) => Type.Array(item, { maxItems: LINES_MAX });

const INTENT = {
  goal: Type.String({ minLength: 1, maxLength: TEXT_CHARACTERS_MAX, description: 'What was to be accomplished' }),
  task_type: words([...TASK_TYPES]),
  context: Type.String({ maxLength: TEXT_CHARACTERS_MAX, description: 'Why it was needed' }),
  constraints: Lines,
};

const PERCEPTION = {
  observations: listOf(strict({ what: Text, where: Text, significance: Text })),
  relevant_files: listOf(strict({ path: Text, relevance: Text, state_summary: Text })),
  patterns_noticed: Lines,
  anomalies: Lines,
};

const REASONING = {
  approach_chosen: Text,
  why_chosen: Text,
  alternatives_considered: listOf(strict({ approach: Text, why_rejected: Text })),
  assumptions: Lines,
  risks_identified: Lines,
};

const VERIFIED_BY = { type: words([...VERIFICATION_TYPES]), command: Text, result: Text };

const OUTCOME = {
  success: Type.Boolean(),
  summary: Type.String({ minLength: 1, maxLength: TEXT_CHARACTERS_MAX, description: 'What came of it' }),
  learnings: Lines,
  failure_reason: Text,
  failure_category: words([...FAILURE_CATEGORIES]),
  follow_up_needed: Lines,
};

type Properties = Record<string, TSchema>;

/** All but the named ones may be left out. */
function withRequired<Fields extends Properties, Key extends keyof Fields & string>(
  fields: Fields,
  keys: readonly Key[],
) {
  const optional = Object.fromEntries(
    Object.entries(fields).map(([key, schema]) => [
      key,
      (keys as readonly string[]).includes(key) ? schema : Type.Optional(schema),
    ]),
  );
  return strict(optional);
}

/** Any of them may be named, and null takes one away. */
const partOf = (fields: Properties) =>
  strict(Object.fromEntries(Object.entries(fields).map(([key, schema]) => [key, Type.Optional(nullable(schema))])));

const Optional = Type.Optional;

export const IntentSchema = named('Intent', withRequired(INTENT, ['goal', 'task_type']));
export const PerceptionSchema = named('Perception', withRequired(PERCEPTION, []));
export const ReasoningSchema = named('Reasoning', withRequired(REASONING, ['approach_chosen', 'why_chosen']));
export const ActionSchema = named(
  'Action',
  strict({
    type: words([...ACTION_TYPES]),
    timestamp: Type.Number({ description: 'When; kept as it is given' }),
    details: strict({
      file_path: Optional(Text),
      lines_affected: Optional(Type.String({ maxLength: 200, examples: ['45-67'] })),
      diff_hash: Optional(Text),
      diff_summary: Optional(Text),
      command: Optional(Text),
      working_directory: Optional(Text),
      query: Optional(Text),
      scope: Optional(Text),
    }),
    result: strict({
      success: Type.Boolean(),
      output_summary: Optional(Text),
      error: Optional(Text),
      duration_ms: Optional(Type.Number({ minimum: 0 })),
    }),
  }),
);
export const OutcomeSchema = named(
  'Outcome',
  withRequired({ ...OUTCOME, verified_by: withRequired(VERIFIED_BY, ['type', 'result']) }, ['success', 'summary']),
);

export const PerceptionInput = named('PerceptionInput', nullable(withRequired(PERCEPTION, [])));
export const ReasoningInput = named(
  'ReasoningInput',
  nullable(withRequired(REASONING, ['approach_chosen', 'why_chosen'])),
);

export const IntentPatch = named('IntentPatch', partOf(INTENT));
export const PerceptionPatch = named('PerceptionPatch', nullable(partOf(PERCEPTION)));
export const ReasoningPatch = named('ReasoningPatch', nullable(partOf(REASONING)));
export const OutcomePatch = named('OutcomePatch', partOf({ ...OUTCOME, verified_by: partOf(VERIFIED_BY) }));

export const EXAMPLE_LAYERS = {
  intent: {
    goal: 'Stop the checkout from charging twice',
    task_type: 'bug_fix',
    context: 'Two customers were charged twice last night',
    constraints: ['No change to the payment provider'],
  },
  reasoning: {
    approach_chosen: 'Send an idempotency key with each charge',
    why_chosen: 'The provider drops repeats that carry the same key',
    alternatives_considered: [{ approach: 'A lock around the charge', why_rejected: 'Two servers do not share it' }],
  },
  actions: [
    {
      type: 'file_edit',
      timestamp: 1_767_225_600_000,
      details: { file_path: 'src/payment/charge.ts', lines_affected: '12-40', diff_summary: 'Key per order' },
      result: { success: true },
    },
  ],
  outcome: {
    success: true,
    summary: 'A retried charge no longer books a second time',
    learnings: ['Always send an idempotency key with a payment'],
  },
};
