import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import { presentRun, ReplAnswer, ReplRequest, toPlace } from '../contracts/repl.js';
import { ref } from '../contracts/schema.js';
import { InRepo, problems, STORE_PROBLEMS } from '../contracts/shared.js';
import type { Context } from '../services/context.js';
import { runSnippet } from '../services/repl.js';

export const replRoutes =
  (context: Context): FastifyPluginAsyncTypebox =>
  async (app) => {
    app.post(
      '/repl',
      {
        schema: {
          operationId: 'runSnippet',
          tags: ['graph'],
          summary: 'Run a snippet of JavaScript over the memory',
          description:
            'In the sandbox exist memory_query(query, limit, tier), memory_add_fact(content, confidence, tier), memory_add_experience(content, outcome, success, tier), memory_get_context(limit, tier), memory_relate(label, subject, object), memory_read(query, limit), print and plain JavaScript. What it writes is stored together, and only if it ends well. One run may make 1,000 calls, whose arguments have at most 1,000,000 characters of JSON together. The texts that one call gives back have at most 200,000 characters together; what goes beyond ends with an ellipsis. docs/errors.md names the other limits.',
          querystring: InRepo,
          body: ref(ReplRequest),
          response: {
            200: ref(ReplAnswer),
            ...problems(
              ['semantic_error', 'snippet_failed', 'snippet_limit', 'conflict', 'storage_full', ...STORE_PROBLEMS],
              {
                body: true,
              },
            ),
          },
        },
      },
      async ({ query, body }) => {
        const dryRun = body.dry_run ?? false;
        return presentRun(await runSnippet(context, query.repo_id, body.code, toPlace(body), dryRun), dryRun);
      },
    );
  };
