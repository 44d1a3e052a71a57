import { setImmediate } from 'node:timers/promises';
import type { Change } from '../domain/changes.js';
import { RETIRED_TYPES, type RetiredType, whyRetired } from '../domain/retention.js';
import { checkRepoId } from '../domain/rules.js';
import { GateFailure, passGate } from '../domain/violations.js';
import type { Context } from './context.js';
import { archival } from './journal.js';
import { retrying } from './retrying.js';

export interface SweptRepo {
  readonly repoId: string;
  /** By type, those that were put away, or would be. */
  readonly archived: Readonly<Record<RetiredType, readonly string[]>>;
}

/** Puts away what is over its time. One run at a time: a second process cannot have the store open at all. */
export class Sweeper {
  #isRunning = false;

  constructor(private readonly context: Context) {}

  /** One repo, or all of them. Only those of which something is to be put away are told. */
  async sweep(repoId: string | null, dryRun: boolean): Promise<SweptRepo[]> {
    if (repoId !== null) passGate('semantic', checkRepoId('repo_id', repoId));
    if (this.#isRunning) {
      const message = 'is under way already; nothing was done, try again when it is over';
      throw new GateFailure('integrity', [{ field: 'sweep', code: 'conflict', message }]);
    }
    this.#isRunning = true;
    try {
      const swept: SweptRepo[] = [];
      for await (const each of repoId === null ? allRepos(this.context) : [repoId]) {
        const one = await this.#sweepRepo(each, dryRun);
        if (RETIRED_TYPES.some((type) => one.archived[type].length > 0)) swept.push(one);
        await setImmediate();
      }
      return swept;
    } finally {
      this.#isRunning = false;
    }
  }

  async #sweepRepo(repoId: string, dryRun: boolean): Promise<SweptRepo> {
    const archived: Record<RetiredType, readonly string[]> = { learning: [], task: [] };
    for (const type of RETIRED_TYPES) archived[type] = await this.#sweepType(repoId, type, dryRun);
    return { repoId, archived };
  }

  /** There are never more live entries of a type than its limit, so one plan holds them. */
  #sweepType(repoId: string, type: RetiredType, dryRun: boolean): Promise<string[]> {
    const { context } = this;
    return retrying(async () => {
      const idle = await context.store.entries.listIdle(repoId, type);
      const changes: Change[] = idle.flatMap((entry) => {
        const reason = whyRetired(type, entry, context.retention, context.now());
        return reason === null ? [] : [archival(context, repoId, entry.id, reason)];
      });
      if (changes.length > 0 && !dryRun) await context.store.apply({ space: repoId, changes });
      return changes.flatMap((change) => (change.change === 'move_tier' ? [change.nodeId] : []));
    });
  }
}

const PAGE_REPOS = 100;

async function* allRepos({ store }: Context): AsyncGenerator<string> {
  let after: string | null = null;
  for (;;) {
    const page: { readonly repoId: string; readonly damaged: boolean }[] = await store.listRepos(after, PAGE_REPOS);
    // A file that cannot be read is told by /repos; it must not keep the others from being swept.
    for (const { repoId, damaged } of page) if (!damaged) yield repoId;
    after = page.at(-1)?.repoId ?? null;
    if (page.length < PAGE_REPOS || after === null) return;
  }
}
