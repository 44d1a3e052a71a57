import { checkNodeFields } from '../domain/concepts.js';
import { effectsOf, type SideEffect } from '../domain/effects.js';
import { checkRepoId } from '../domain/rules.js';
import { GateFailure } from '../domain/violations.js';
import type { Json } from '../sandbox/json.js';
import type { LimitName } from '../sandbox/limits.js';
import type { SandboxCall } from '../sandbox/outcome.js';
import { SandboxBusy, SandboxClosed } from '../sandbox/sandbox.js';
import type { Context } from './context.js';
import { type Place, SnippetDesk } from './snippet-desk.js';

export type { Place } from './snippet-desk.js';

/** The snippet threw, or did more than it may. Nothing of what it wrote is stored. */
export class SnippetFailed extends Error {
  constructor(
    message: string,
    readonly limit: LimitName | null,
    readonly line: number | null,
  ) {
    super(message);
    this.name = 'SnippetFailed';
  }
}

/** So many snippets run and wait that this one is not taken. */
export class SnippetsWait extends Error {}

export interface Run {
  readonly result: Json;
  readonly printed: readonly string[];
  readonly calls: readonly SandboxCall[];
  readonly effects: readonly SideEffect[];
}

/** Runs a snippet in which only the memory functions exist. What it writes is stored together when it has ended well. */
export async function runSnippet(
  context: Context,
  repoId: string,
  code: string,
  place: Place,
  dryRun: boolean,
): Promise<Run> {
  const violations = [...checkRepoId('repo_id', repoId), ...checkNodeFields(place)];
  if (violations.length > 0) throw new GateFailure('semantic', violations);
  const desk = new SnippetDesk(context, repoId, place);
  const outcome = await context.sandbox.run(code, desk.functions()).catch((error: unknown) => {
    if (error instanceof SandboxBusy || error instanceof SandboxClosed) {
      throw new SnippetsWait('too many snippets run already; try again shortly');
    }
    throw error;
  });
  if (outcome.ended === 'threw') throw new SnippetFailed(outcome.message, null, outcome.line);
  if (outcome.ended === 'limit') throw new SnippetFailed(outcome.message, outcome.limit, null);
  if (!dryRun && desk.changes.length > 0) await context.store.apply({ space: repoId, changes: desk.changes });
  return {
    result: outcome.value,
    printed: outcome.printed,
    calls: outcome.calls,
    effects: effectsOf(desk.changes),
  };
}
