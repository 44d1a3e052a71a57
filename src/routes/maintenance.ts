import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import { presentSweep, SweepInput, SweepReport } from '../contracts/maintenance.js';
import { ref } from '../contracts/schema.js';
import { problems, STORE_PROBLEMS } from '../contracts/shared.js';
import type { Sweeper } from '../services/sweep.js';

export const maintenanceRoutes =
  (sweeper: Sweeper): FastifyPluginAsyncTypebox =>
  async (app) => {
    app.post(
      '/maintenance/sweep',
      {
        schema: {
          operationId: 'sweep',
          tags: ['system'],
          summary: 'Put away what is over its time: learnings nobody looked at, tasks done long ago',
          description: 'The service does the same by itself, as MAINTENANCE_HOURS says. Only one run at a time.',
          body: ref(SweepInput),
          response: {
            200: ref(SweepReport),
            ...problems(['semantic_error', 'conflict', 'storage_full', ...STORE_PROBLEMS], { body: true }),
          },
        },
      },
      async ({ body }) => {
        const dryRun = body.dry_run ?? false;
        return presentSweep(await sweeper.sweep(body.repo_id ?? null, dryRun), dryRun);
      },
    );
  };
