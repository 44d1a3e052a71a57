import { checkRepoId } from '../domain/rules.js';
import { GLOBAL_SPACE } from '../domain/spaces.js';
import { GateFailure } from '../domain/violations.js';
import type { NodeCount, RepoSummary, StoreSummary } from '../storage/port.js';
import type { Context } from './context.js';

export type { RepoSummary } from '../storage/port.js';

/** One page of repos, and whether there is another. */
export async function listRepos(
  { store }: Context,
  after: string | null,
  limit: number,
): Promise<{ repos: RepoSummary[]; hasMore: boolean }> {
  const found = await store.listRepos(after, limit + 1);
  return { repos: found.slice(0, limit), hasMore: found.length > limit };
}

/** Removes a repo for good; false when there is none. The caller says its name twice, because nothing brings it back. */
export async function dropRepo({ store }: Context, repoId: string, confirm: string): Promise<boolean> {
  const violations = checkRepoId('repo_id', repoId);
  if (confirm !== repoId)
    violations.push({ field: 'confirm', code: 'semantic_error', message: 'must repeat the repo id exactly' });
  if (violations.length > 0) throw new GateFailure('semantic', violations);
  return store.dropRepo(repoId);
}

export interface Stats {
  readonly repo: readonly NodeCount[];
  readonly global: readonly NodeCount[];
  readonly store: StoreSummary;
}

export async function readStats({ store }: Context, repoId: string): Promise<Stats> {
  const violations = checkRepoId('repo_id', repoId);
  if (violations.length > 0) throw new GateFailure('semantic', violations);
  return {
    repo: await store.countNodes(repoId),
    global: await store.countNodes(GLOBAL_SPACE),
    store: await store.summarize(),
  };
}
