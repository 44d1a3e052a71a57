import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import { ARCHIVE, ChunkImportQuery, ChunkImportReport, presentImport, TAR } from '../contracts/chunk-import.js';
import { ref } from '../contracts/schema.js';
import { InRepo, problems, STORE_PROBLEMS } from '../contracts/shared.js';
import { Problem } from '../errors.js';
import { importChunks, walkChunks } from '../services/chunk-transfer.js';
import type { Context } from '../services/context.js';
import { printTree, readTree } from '../tree/chunk-files.js';
import { packTree, unpackTree } from '../tree/tar.js';

export const chunkTreeRoutes =
  (context: Context): FastifyPluginAsyncTypebox =>
  async (app) => {
    app.removeAllContentTypeParsers();
    // Read as it comes, so that there is no length that would be too much.
    app.addContentTypeParser(TAR, (_request, payload, done) => done(null, payload));

    app.get(
      '/chunks/export',
      {
        schema: {
          operationId: 'exportChunks',
          tags: ['chunks'],
          summary: 'All chunks of a repo as a tar archive of their directory layout',
          description:
            'chunks/YYYY-MM/{id}.json, archive/{id}.json and index/*.json. What is written meanwhile may or may not be in it.',
          querystring: InRepo,
          response: {
            200: { description: 'The archive', ...ARCHIVE },
            ...problems(['semantic_error', ...STORE_PROBLEMS]),
          },
        },
      },
      async ({ query }, reply) => {
        const chunks = walkChunks(context, query.repo_id);
        return reply
          .type(TAR)
          .header('content-disposition', 'attachment; filename="chunks.tar"')
          .send(packTree(printTree(chunks)));
      },
    );

    app.post(
      '/chunks/import',
      {
        schema: {
          operationId: 'importChunks',
          tags: ['chunks'],
          summary: 'Bring a directory of chunks into a repo, as a tar archive',
          description:
            'Read as it is sent, and stored in batches. A file that brings nothing is told and hinders no other; what is there already stays as it is, so that an import can be repeated.',
          querystring: ChunkImportQuery,
          body: ARCHIVE,
          response: {
            200: ref(ChunkImportReport),
            ...problems(['semantic_error', 'conflict', 'storage_full', ...STORE_PROBLEMS], { body: true }),
          },
        },
      },
      async ({ query, body }) => {
        const { repo_id: repoId, dry_run: dryRun } = query;
        if (!body) throw new Problem('malformed_body', 'the body is empty; send a tar archive');
        const findings = readTree(unpackTree(body as unknown as NodeJS.ReadableStream));
        return presentImport(await importChunks(context, repoId, findings, dryRun), dryRun);
      },
    );
  };
