import Type, { type Static } from 'typebox';
import { checkRepoId } from '../domain/rules.js';
import { MEMORY_KINDS } from '../domain/vocabulary.js';
import { Problem } from '../errors.js';
import type { RepoSummary, Stats } from '../services/repos.js';
import { named, nullable, ref, strict, withDefaults } from './schema.js';
import { presentTime, RepoId, Time } from './shared.js';

/** `/repos` and `/stats`: what is stored, in numbers. */

export const ReposQuery = withDefaults({
  limit: Type.Integer({ minimum: 1, maximum: 100, default: 50 }),
  cursor: Type.Optional(Type.String({ description: 'next_cursor of the previous page' })),
});

const MemoryCounts = named(
  'MemoryCounts',
  Type.Object({
    total: Type.Integer({ description: 'All memories, the archived ones too' }),
    archived: Type.Integer(),
    by_kind: Type.Object(Object.fromEntries(MEMORY_KINDS.map((kind) => [kind, Type.Integer()]))),
  }),
);

const RepoReport = named(
  'Repo',
  Type.Object({
    repo_id: RepoId,
    created_at: Time,
    bytes: Type.Integer({ description: 'Size of its file on disk, with what is not yet folded into it' }),
    damaged: Type.Boolean({
      description: 'Whether its file cannot be read: its memories count as none here, and asking for them answers 503',
    }),
    memories: ref(MemoryCounts),
  }),
);

export const ReposAnswer = named(
  'RepoPage',
  Type.Object({
    repos: Type.Array(ref(RepoReport), { description: 'In the order of their ids' }),
    next_cursor: nullable(Type.String(), 'Where the next page begins; null on the last'),
  }),
);

export const StatsAnswer = named(
  'Stats',
  Type.Object({
    repo_id: RepoId,
    repo: ref(MemoryCounts),
    global: ref(MemoryCounts),
    store: Type.Object({ engine: Type.String(), repos: Type.Integer(), open_spaces: Type.Integer() }),
  }),
);

export const ByRepo = Type.Object({
  repo_id: Type.String({ ...RepoId, description: 'The repo, percent-encoded: acme%2Fshop' }),
});
export const Confirmation = strict({
  confirm: Type.String({ description: 'The repo id once more, because this cannot be undone' }),
});

export const DropAnswer = named('RepoDropped', Type.Object({ repo_id: RepoId, dropped: Type.Literal(true) }));

const CURSOR_ERROR = { field: 'cursor', code: 'invalid_cursor', message: 'is not a next_cursor of GET /repos' };

/** A cursor is the last repo id of the page before, made safe for a URL. */
export function toAfter(cursor: string | undefined): string | null {
  if (cursor === undefined) return null;
  const repoId = Buffer.from(cursor, 'base64url').toString('utf8');
  const isOurs = Buffer.from(repoId, 'utf8').toString('base64url') === cursor && checkRepoId('', repoId).length === 0;
  if (!isOurs) throw new Problem('invalid_cursor', 'cursor was not given out by GET /repos', [CURSOR_ERROR]);
  return repoId;
}

type Counts = Static<typeof MemoryCounts>;

function presentCounts(counts: RepoSummary['counts']): Counts {
  const memories = counts.filter((count) => count.form === 'memory');
  const sum = (rows: typeof memories): number => rows.reduce((total, row) => total + row.nodes, 0);
  return {
    total: sum(memories),
    archived: sum(memories.filter((row) => row.tier === 'archive')),
    by_kind: Object.fromEntries(MEMORY_KINDS.map((kind) => [kind, sum(memories.filter((row) => row.kind === kind))])),
  };
}

export const presentRepos = (repos: readonly RepoSummary[], hasMore: boolean): Static<typeof ReposAnswer> => ({
  repos: repos.map((repo) => ({
    repo_id: repo.repoId,
    created_at: presentTime(repo.createdAtMs),
    bytes: repo.bytes,
    damaged: repo.damaged,
    memories: presentCounts(repo.counts),
  })),
  next_cursor: hasMore ? Buffer.from(repos.at(-1)?.repoId ?? '', 'utf8').toString('base64url') : null,
});

export const presentStats = (repoId: string, { repo, global, store }: Stats): Static<typeof StatsAnswer> => ({
  repo_id: repoId,
  repo: presentCounts(repo),
  global: presentCounts(global),
  store: { engine: store.engine, repos: store.repos, open_spaces: store.openSpaces },
});
