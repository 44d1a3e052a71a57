import Type, { type Static } from 'typebox';
import { clip } from '../errors.js';
import type { Place, Run } from '../services/repl.js';
import { presentEffects, SideEffectReport } from './effects.js';
import { named, ref, strict } from './schema.js';

/** `/repl`: a snippet of JavaScript in which only the memory functions exist. */

const CODE_CHARACTERS_MAX = 100_000;

/** Enough to recognise an argument by; whoever wrote the snippet has the whole of it. */
const ARGUMENT_CHARACTERS_MAX = 500;

export const ReplRequest = named(
  'ReplRequest',
  strict(
    {
      code: Type.String({
        minLength: 1,
        maxLength: CODE_CHARACTERS_MAX,
        description: 'JavaScript; its last value is the result',
      }),
      session_id: Type.Optional(
        Type.String({
          minLength: 1,
          description:
            'The session that what it adds belongs to. With it, memory_query, memory_get_context and memory_read show of the task and session tiers only what belongs to this session; the other tiers are shared',
        }),
      ),
      task_id: Type.Optional(
        Type.String({
          minLength: 1,
          description: 'The task that what it adds belongs to, until /evolution/consolidate ends it',
        }),
      ),
      dry_run: Type.Optional(
        Type.Boolean({ default: false, description: 'Run it, and store nothing of what it writes' }),
      ),
    },
    {
      examples: [
        { code: 'const id = memory_add_fact("Redis needs port 6380", 0.9); print(id); memory_query("redis", 5)' },
      ],
    },
  ),
);

export const ReplAnswer = named(
  'ReplAnswer',
  Type.Object({
    result: Type.Unsafe<unknown>({ description: 'The last value, as JSON; null when there is none' }),
    printed: Type.Array(Type.String(), { description: 'What print was given, a line for each call' }),
    calls: Type.Array(Type.Object({ function: Type.String(), arguments: Type.Array(Type.Unsafe<unknown>({})) }), {
      description: `The memory functions that it called, in order. An argument of more than ${ARGUMENT_CHARACTERS_MAX} characters is cut off, and ends in …`,
    }),
    applied: Type.Boolean({ description: 'False for a dry run: nothing was stored' }),
    side_effects: Type.Array(ref(SideEffectReport), { description: 'What it wrote, stored together' }),
  }),
);

export const toPlace = (request: Static<typeof ReplRequest>): Place => ({
  sessionId: request.session_id ?? null,
  taskId: request.task_id ?? null,
});

/** What is no text and too long is shown as the beginning of its JSON. */
function presentArgument(argument: unknown): unknown {
  const text = typeof argument === 'string' ? argument : JSON.stringify(argument);
  return text.length > ARGUMENT_CHARACTERS_MAX ? clip(text, ARGUMENT_CHARACTERS_MAX) : argument;
}

export const presentRun = (run: Run, dryRun: boolean): Static<typeof ReplAnswer> => ({
  result: run.result,
  printed: [...run.printed],
  calls: run.calls.map((call) => ({ function: call.name, arguments: call.arguments.map(presentArgument) })),
  applied: !dryRun,
  side_effects: presentEffects(run.effects),
});
