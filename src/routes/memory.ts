import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import { BatchAnswer, BatchRequest, presentBatch, toBatchOperations } from '../contracts/batch.js';
import { ChainAnswer, DetailAnswer, presentChain, presentDetail } from '../contracts/detail.js';
import { presentPack, ReadAnswer, ReadRequest, toPackRequest } from '../contracts/pack.js';
import { ref } from '../contracts/schema.js';
import { ById, InRepo, OnceHeaders, problems, STORE_PROBLEMS, WRITE_PROBLEMS } from '../contracts/shared.js';
import { presentUpdate, toUpdateOperation, UpdateAnswer, UpdateRequest } from '../contracts/update.js';
import { presentWrite, toWriteOperation, WriteAnswer, WriteRequest } from '../contracts/write.js';
import { readChain } from '../services/chain.js';
import type { Context } from '../services/context.js';
import { changeMemories, readMemory } from '../services/memory.js';
import { readPack } from '../services/retrieval.js';
import { found } from './found.js';
import { firstOutcome, onceOf } from './once.js';

export const memoryRoutes =
  (context: Context): FastifyPluginAsyncTypebox =>
  async (app) => {
    app.post(
      '/memory/write',
      {
        schema: {
          operationId: 'writeMemory',
          tags: ['memory'],
          summary: 'Remember something',
          description:
            'Stores one immutable memory with its links and evidence, or names the one that already says the same.',
          headers: OnceHeaders,
          body: ref(WriteRequest),
          response: {
            200: { description: 'It was there already', ...ref(WriteAnswer) },
            201: { description: 'Stored', ...ref(WriteAnswer) },
            ...problems(WRITE_PROBLEMS, { body: true }),
          },
        },
      },
      async (request, reply) => {
        const { body } = request;
        const outcomes = await changeMemories(
          context,
          body.repo_id,
          [toWriteOperation(body)],
          'commit',
          onceOf(request),
        );
        const outcome = firstOutcome(outcomes);
        if (outcome.duplicateOf === null) reply.code(201);
        return reply
          .header('location', `/memory/${outcome.memoryId}?repo_id=${encodeURIComponent(body.repo_id)}`)
          .send(presentWrite(outcome));
      },
    );

    app.post(
      '/memory/update',
      {
        schema: {
          operationId: 'updateMemory',
          tags: ['memory'],
          summary: 'Archive, vote, or link a fact to the one that replaces it',
          headers: OnceHeaders,
          body: ref(UpdateRequest),
          response: { 200: ref(UpdateAnswer), ...problems(WRITE_PROBLEMS, { body: true }) },
        },
      },
      async (request) => {
        const { body } = request;
        const outcomes = await changeMemories(
          context,
          body.repo_id,
          [toUpdateOperation(body)],
          body.mode,
          onceOf(request),
        );
        return presentUpdate(firstOutcome(outcomes), body.mode);
      },
    );

    app.post(
      '/memory/batch',
      {
        schema: {
          operationId: 'batchMemories',
          tags: ['memory'],
          summary: 'Up to 100 writes and updates, all or none',
          headers: OnceHeaders,
          body: ref(BatchRequest),
          response: { 200: ref(BatchAnswer), ...problems(WRITE_PROBLEMS, { body: true }) },
        },
      },
      async (request) => {
        const { body } = request;
        const mode = body.mode ?? 'commit';
        const outcomes = await changeMemories(context, body.repo_id, toBatchOperations(body), mode, onceOf(request));
        return presentBatch(outcomes, mode);
      },
    );

    app.post(
      '/memory/read',
      {
        schema: {
          operationId: 'readMemories',
          tags: ['memory'],
          summary: 'Find what bears on a question',
          description: 'Ranked memories with those linked to them, each with the reason it is there. Changes nothing.',
          body: ref(ReadRequest),
          response: { 200: ref(ReadAnswer), ...problems(['semantic_error', ...STORE_PROBLEMS], { body: true }) },
        },
      },
      async ({ body }) => presentPack(await readPack(context, toPackRequest(body)), body),
    );

    app.get(
      '/memory/:memory_id',
      {
        schema: {
          operationId: 'getMemory',
          tags: ['memory'],
          summary: 'One memory with its links, evidence, votes and state',
          params: ById,
          querystring: InRepo,
          response: { 200: ref(DetailAnswer), ...problems(['not_found', 'semantic_error', ...STORE_PROBLEMS]) },
        },
      },
      async ({ params, query }) =>
        presentDetail(
          found(
            await readMemory(context, query.repo_id, params.memory_id),
            'memory',
            'memory_id',
            params.memory_id,
            query.repo_id,
          ),
        ),
    );

    app.get(
      '/memory/:memory_id/chain',
      {
        schema: {
          operationId: 'getFactChain',
          tags: ['memory'],
          summary: 'The history of a fact, oldest to newest',
          params: ById,
          querystring: InRepo,
          response: {
            200: ref(ChainAnswer),
            ...problems(['not_found', 'semantic_error', 'integrity_error', ...STORE_PROBLEMS]),
          },
        },
      },
      async ({ params, query }) =>
        presentChain(
          params.memory_id,
          found(
            await readChain(context, query.repo_id, params.memory_id),
            'memory',
            'memory_id',
            params.memory_id,
            query.repo_id,
          ),
        ),
    );
  };
