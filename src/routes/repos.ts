import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import {
  ByRepo,
  Confirmation,
  DropAnswer,
  presentRepos,
  presentStats,
  ReposAnswer,
  ReposQuery,
  StatsAnswer,
  toAfter,
} from '../contracts/repos.js';
import { ref } from '../contracts/schema.js';
import { InRepo, problems, STORE_PROBLEMS } from '../contracts/shared.js';
import { Problem } from '../errors.js';
import type { Context } from '../services/context.js';
import { dropRepo, listRepos, readStats } from '../services/repos.js';

export const repoRoutes =
  (context: Context): FastifyPluginAsyncTypebox =>
  async (app) => {
    app.get(
      '/repos',
      {
        schema: {
          operationId: 'listRepos',
          tags: ['repos'],
          summary: 'The repos with their counts and sizes',
          querystring: ReposQuery,
          response: { 200: ref(ReposAnswer), ...problems(['invalid_cursor', ...STORE_PROBLEMS]) },
        },
      },
      async ({ query }) => {
        const { repos, hasMore } = await listRepos(context, toAfter(query.cursor), query.limit);
        return presentRepos(repos, hasMore);
      },
    );

    app.delete(
      '/repos/:repo_id',
      {
        schema: {
          operationId: 'dropRepo',
          tags: ['repos'],
          summary: 'Remove a repo with everything in it, for good',
          params: ByRepo,
          querystring: Confirmation,
          response: {
            200: ref(DropAnswer),
            ...problems(['not_found', 'semantic_error', 'storage_full', ...STORE_PROBLEMS], { body: true }),
          },
        },
      },
      async ({ params, query }) => {
        if (await dropRepo(context, params.repo_id, query.confirm))
          return { repo_id: params.repo_id, dropped: true as const };
        const message = 'there is no repo of this name';
        throw new Problem('not_found', message, [{ field: 'repo_id', code: 'not_found', message }]);
      },
    );

    app.get(
      '/stats',
      {
        schema: {
          operationId: 'getStats',
          tags: ['repos'],
          summary: 'How much is remembered in one repo, globally, and in the store',
          querystring: InRepo,
          response: { 200: ref(StatsAnswer), ...problems(['semantic_error', ...STORE_PROBLEMS]) },
        },
      },
      async ({ query }) => presentStats(query.repo_id, await readStats(context, query.repo_id)),
    );
  };
