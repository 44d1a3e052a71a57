import Type, { type Static } from 'typebox';
import type { SweptRepo } from '../services/sweep.js';
import { named, strict } from './schema.js';
import { RepoId } from './shared.js';

/** `/maintenance`: what is done to all repos from time to time. */

export const SweepInput = named(
  'SweepRequest',
  strict(
    {
      repo_id: Type.Optional({ ...RepoId, description: 'Only this repo; all if left out' }),
      dry_run: Type.Optional(Type.Boolean({ default: false, description: 'Only say what would be put away' })),
    },
    { examples: [{ dry_run: true }] },
  ),
);

const Ids = Type.Array(Type.String());

export const SweepReport = named(
  'SweepReport',
  Type.Object({
    dry_run: Type.Boolean(),
    archived: Type.Integer({ description: 'How many in all were put away, or would be' }),
    repos: Type.Array(
      Type.Object({
        repo_id: Type.String(),
        learnings: { ...Ids, description: 'Nobody looked at them for long' },
        tasks: { ...Ids, description: 'They were completed long ago' },
      }),
      { description: 'The repos of which something was put away' },
    ),
  }),
);

export const presentSweep = (swept: readonly SweptRepo[], dryRun: boolean): Static<typeof SweepReport> => ({
  dry_run: dryRun,
  archived: swept.reduce((sum, { archived }) => sum + archived.learning.length + archived.task.length, 0),
  repos: swept.map(({ repoId, archived }) => ({
    repo_id: repoId,
    learnings: [...archived.learning],
    tasks: [...archived.task],
  })),
});
