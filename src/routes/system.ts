import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import { ref } from '../contracts/schema.js';
import { problems } from '../contracts/shared.js';
import { ByCode, Health, ProblemDescription } from '../contracts/system.js';
import { PROBLEMS, type ProblemCode } from '../errors.js';
import type { Context } from '../services/context.js';
import { checkReadiness } from '../services/health.js';

export const systemRoutes =
  (context: Context): FastifyPluginAsyncTypebox =>
  async (app) => {
    app.get(
      '/health/live',
      {
        schema: {
          operationId: 'getLiveness',
          tags: ['system'],
          summary: 'Whether the process runs',
          response: { 200: ref(Health), ...problems([]) },
        },
      },
      async () => ({ status: 'ok' as const }),
    );

    app.get(
      '/health/ready',
      {
        schema: {
          operationId: 'getReadiness',
          tags: ['system'],
          summary: 'Whether the store can be read and written',
          response: { 200: ref(Health), ...problems(['unavailable']) },
        },
      },
      async () => {
        await checkReadiness(context);
        return { status: 'ok' as const };
      },
    );

    app.get(
      '/problems/:code',
      {
        schema: {
          operationId: 'getProblem',
          tags: ['system'],
          summary: 'What a problem code means and what to do about it',
          params: ByCode,
          response: { 200: ref(ProblemDescription), ...problems([]) },
        },
      },
      async ({ params }) => ({ code: params.code, ...PROBLEMS[params.code as ProblemCode] }),
    );

    app.get('/', { schema: { hide: true } }, async (_request, reply) => reply.redirect('/docs'));
  };
