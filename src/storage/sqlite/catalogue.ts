import { asc, count, eq, gt } from 'drizzle-orm';
import { drizzle } from 'drizzle-orm/better-sqlite3';
import type { Connection } from './connection.js';
import { repos } from './schema.js';

/** The list of repos, in the main file. */

const orm = (main: Connection) => drizzle(main.db);

/** Lists the repo unless it is. One that is listed costs a read only: every opening of a repo asks for this. */
export function addRepo(main: Connection, repoId: string, nowMs: number): void {
  if (orm(main).select().from(repos).where(eq(repos.repoId, repoId)).get()) return;
  orm(main).insert(repos).values({ repoId, createdAt: nowMs }).onConflictDoNothing().run();
}

export function removeRepo(main: Connection, repoId: string): boolean {
  return orm(main).delete(repos).where(eq(repos.repoId, repoId)).run().changes > 0;
}

export function listRepos(
  main: Connection,
  after: string | null,
  limit: number,
): { repoId: string; createdAt: number }[] {
  return orm(main)
    .select()
    .from(repos)
    .where(after === null ? undefined : gt(repos.repoId, after))
    .orderBy(asc(repos.repoId))
    .limit(limit)
    .all();
}

export const countRepos = (main: Connection): number =>
  orm(main).select({ repos: count() }).from(repos).get()?.repos ?? 0;
