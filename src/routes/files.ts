import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import { FileCheckAnswer, FileCheckInput, presentFileHistory, toFileQuestion } from '../contracts/files.js';
import { InProject, toRepoId } from '../contracts/projects.js';
import { ref } from '../contracts/schema.js';
import { problems, STORE_PROBLEMS } from '../contracts/shared.js';
import type { Context } from '../services/context.js';
import { Cooldowns } from '../services/cooldowns.js';
import { checkFile } from '../services/files.js';

export const fileRoutes =
  (context: Context): FastifyPluginAsyncTypebox =>
  async (app) => {
    const cooldowns = new Cooldowns(context.now);

    app.post(
      '/files/check',
      {
        schema: {
          operationId: 'checkFile',
          tags: ['episodes'],
          summary: 'What was tried on a file before; ask before you touch it',
          querystring: InProject,
          body: ref(FileCheckInput),
          response: { 200: ref(FileCheckAnswer), ...problems(['semantic_error', ...STORE_PROBLEMS], { body: true }) },
        },
      },
      async ({ query, body }) => {
        const question = toFileQuestion(toRepoId(query, body), body);
        return presentFileHistory(body.file_path, await checkFile(context, cooldowns, question), context.now());
      },
    );
  };
