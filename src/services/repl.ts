import type { Change } from '../domain/changes.js';
import { checkNodeFields } from '../domain/concepts.js';
import { effectsOf, type SideEffect } from '../domain/effects.js';
import { edgeKey } from '../domain/links.js';
import { checkRepoId } from '../domain/rules.js';
import { viewOf } from '../domain/spaces.js';
import { GateFailure } from '../domain/violations.js';
import type { Json } from '../sandbox/json.js';
import type { LimitName } from '../sandbox/limits.js';
import type { SandboxCall } from '../sandbox/outcome.js';
import { SandboxBusy, SandboxClosed } from '../sandbox/sandbox.js';
import { ApplyConflict } from '../storage/port.js';
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
  const drawn = dryRun ? { changes: desk.changes, standing: new Map() } : await store(context, repoId, desk.changes);
  const { result, printed } = renamed({ result: outcome.value, printed: outcome.printed }, drawn.standing);
  return { result, printed, calls: outcome.calls, effects: effectsOf(drawn.changes) };
}

/** How often a plan is made again because somebody else drew one of its edges first. */
const ATTEMPTS_MAX = 32;

/** Stores what the snippet wrote. An edge that somebody else drew in the meantime is that one: it is left as it stands. */
async function store(context: Context, repoId: string, written: readonly Change[]): Promise<Stored> {
  const standing = new Map<string, string>();
  let changes = written;
  for (let attempt = 1; changes.length > 0; attempt++) {
    try {
      await context.store.apply({ space: repoId, changes });
      break;
    } catch (error) {
      if (!(error instanceof ApplyConflict) || error.reason !== 'edge_exists' || attempt === ATTEMPTS_MAX) throw error;
      const edges = await findDrawn(context, repoId, changes);
      for (const [ownId, id] of edges) standing.set(ownId, id);
      changes = changes.filter((change) => change.change !== 'insert_edge' || !edges.has(change.id));
    }
  }
  return { changes, standing };
}

interface Stored {
  readonly changes: readonly Change[];
  /** The edges that stand by the ids that the snippet was given for them. */
  readonly standing: ReadonlyMap<string, string>;
}

async function findDrawn(
  context: Context,
  repoId: string,
  changes: readonly Change[],
): Promise<ReadonlyMap<string, string>> {
  const idOf = new Map(
    changes.flatMap((change): [string, string][] =>
      change.change === 'insert_edge' ? [[edgeKey(change.label, change.members, change.type), change.id]] : [],
    ),
  );
  const found = await context.store.findEdgesByKey(viewOf(repoId, { includeArchived: true }), [...idOf.keys()]);
  return new Map([...found].map(([key, { id }]) => [idOf.get(key) as string, id]));
}

/** The snippet knows its edges by the ids that it was given; who reads the answer is told those that are stored. */
function renamed<Value>(value: Value, ids: ReadonlyMap<string, string>): Value {
  if (ids.size === 0) return value;
  let told = JSON.stringify(value);
  for (const [before, after] of ids) told = told.replaceAll(before, after);
  return JSON.parse(told) as Value;
}
