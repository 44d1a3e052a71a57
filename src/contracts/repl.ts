import Type, { type Static } from 'typebox';
import type { Run } from '../services/repl.js';
import { presentEffects, SideEffectReport } from './effects.js';
import { named, ref, strict } from './schema.js';

/** `/repl`: a snippet of JavaScript in which only the memory functions exist. */

const CODE_CHARACTERS_MAX = 100_000;

export const ReplRequest = named(
  'ReplRequest',
  strict(
    {
      code: Type.String({
        minLength: 1,
        maxLength: CODE_CHARACTERS_MAX,
        description: 'JavaScript; its last value is the result',
      }),
      session_id: Type.Optional(Type.String({ minLength: 1, description: 'The session that what it adds belongs to' })),
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
      description: 'The memory functions that it called, in order',
    }),
    applied: Type.Boolean({ description: 'False for a dry run: nothing was stored' }),
    side_effects: Type.Array(ref(SideEffectReport), { description: 'What it wrote, stored together' }),
  }),
);

export const presentRun = (run: Run, dryRun: boolean): Static<typeof ReplAnswer> => ({
  result: run.result,
  printed: [...run.printed],
  calls: run.calls.map((call) => ({ function: call.name, arguments: [...call.arguments] })),
  applied: !dryRun,
  side_effects: presentEffects(run.effects),
});
