import { checkLogFilter } from '../domain/evolution.js';
import { GLOBAL_SPACE, type SpaceName } from '../domain/spaces.js';
import { passGate } from '../domain/violations.js';
import type { EvolutionEntry, EvolutionFilter, EvolutionPage } from '../storage/port.js';
import type { Context } from './context.js';
import { refuseRepo } from './evolving.js';
import { findNode } from './nodes.js';

export type { EvolutionFilter } from '../storage/port.js';

/** The lines before which to go on, in the repo's log and in that of all; 0 where nothing is left. */
export interface LogPlace {
  readonly repo: number;
  readonly global: number;
}

export interface LogPage {
  readonly entries: readonly EvolutionEntry[];
  /** Null when both logs have been told. */
  readonly next: LogPlace | null;
}

const END: LogPlace = { repo: Number.MAX_SAFE_INTEGER, global: Number.MAX_SAFE_INTEGER };
const NOTHING: EvolutionPage = { entries: [], next: null };

/** What happened, newest first. What concerned a global node is in the log of all and, as far as this repo did it, in its own. */
export async function listEvolution(
  context: Context,
  repoId: string,
  filter: EvolutionFilter,
  before: LogPlace | null,
  limit: number,
): Promise<LogPage> {
  refuseRepo(repoId);
  passGate('semantic', checkLogFilter(filter));
  const node = filter.nodeId === null ? null : await findNode(context, repoId, filter.nodeId);
  const from = { ...(before ?? END), ...(node?.scope !== 'global' && { global: 0 }) };
  const read = (space: SpaceName, beforeSeq: number): Promise<EvolutionPage> | EvolutionPage =>
    beforeSeq === 0 ? NOTHING : context.store.listEvolution(space, filter, beforeSeq, limit);
  const repo = await read(repoId, from.repo);
  const global = await read(GLOBAL_SPACE, from.global);
  const { entries, fromRepo } = merge(repo, global, limit);
  const next = {
    repo: placeAfter(repo, fromRepo, from.repo),
    global: placeAfter(global, entries.length - fromRepo, from.global),
  };
  return { entries, next: next.repo === 0 && next.global === 0 ? null : next };
}

/** The newest of both. Each log keeps its own order; between them only the clock can tell. */
function merge(
  repo: EvolutionPage,
  global: EvolutionPage,
  limit: number,
): { entries: EvolutionEntry[]; fromRepo: number } {
  const entries: EvolutionEntry[] = [];
  let fromRepo = 0;
  while (entries.length < limit) {
    const own = repo.entries[fromRepo];
    const common = global.entries[entries.length - fromRepo];
    // What one log still has may be older than what the other was not looked through for yet.
    if ((!own && repo.next !== null) || (!common && global.next !== null)) break;
    const entry = own && (!common || own.atMs >= common.atMs) ? own : common;
    if (!entry) break;
    if (entry === own) fromRepo++;
    entries.push(entry);
  }
  return { entries, fromRepo };
}

function placeAfter({ entries, next }: EvolutionPage, told: number, before: number): number {
  if (told === entries.length) return next ?? 0;
  return entries[told - 1]?.seq ?? before;
}
