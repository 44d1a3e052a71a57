import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import type { FastifyReply } from 'fastify';
import {
  ChunkRecallAnswer,
  ChunkRecallInput,
  presentReasoning,
  presentRecalled,
  presentRemembered,
  ReasonAnswer,
  ReasonInput,
  RememberAnswer,
  toChunkQuestion,
  toReasonRequest,
} from '../contracts/chunk-recall.js';
import {
  ByChunk,
  ChunkDeleted,
  ChunkDeletion,
  ChunkInput,
  ChunkLinked,
  ChunkLinkInput,
  ChunkLinksAnswer,
  ChunkLinksQuery,
  ChunkPatchInput,
  ChunkQuery,
  ChunkReport,
  ChunkStats,
  ChunksAnswer,
  ChunksQuery,
  presentChunk,
  presentChunks,
  presentCounts,
  presentLinked,
  presentLinks,
  RememberInput,
  toChunkDraft,
  toChunkFilter,
  toChunkPatch,
  toChunkPlace,
  toLinkDraft,
  toLinkPlace,
} from '../contracts/chunks.js';
import { IfMatch, presentETag, toRevision } from '../contracts/nodes.js';
import { ref } from '../contracts/schema.js';
import { InRepo, OnceHeaders, problems, STORE_PROBLEMS } from '../contracts/shared.js';
import { toTags } from '../contracts/tags.js';
import { listChunkLinks } from '../services/chunk-link-pages.js';
import { linkChunk } from '../services/chunk-linking.js';
import { readChunkLinks } from '../services/chunk-links.js';
import { reasonOver } from '../services/chunk-reasoning.js';
import { recallChunks } from '../services/chunk-recall.js';
import {
  countChunks,
  createChunk,
  findChunk,
  listChunks,
  patchChunk,
  readChunk,
  type StoredChunk,
} from '../services/chunks.js';
import type { Context } from '../services/context.js';
import { removeOfForm, restoreOfForm } from '../services/nodes.js';
import { rememberText } from '../services/remembering.js';
import { found } from './found.js';
import { onceOf } from './once.js';

const LOOKUP = ['not_found', 'semantic_error', ...STORE_PROBLEMS] as const;
const CHANGE = [...LOOKUP, 'conflict', 'storage_full'] as const;
const MAKE = ['semantic_error', 'conflict', 'storage_full', 'idempotency_key_reused', ...STORE_PROBLEMS] as const;
/** Room for a megabyte of text in which every character is escaped. */
const TEXT_BODY_BYTES_MAX = 6 * 1024 * 1024;

export const chunkRoutes =
  (context: Context): FastifyPluginAsyncTypebox =>
  async (app) => {
    const foundChunk = <Value>(value: Value | null, id: string, repoId: string): Value =>
      found(value, 'chunk', 'chunk_id', id, repoId);
    const linksOf = (repoId: string, chunks: readonly StoredChunk[]) => readChunkLinks(context, repoId, chunks);
    const send = async (reply: FastifyReply, repoId: string, chunk: StoredChunk) =>
      reply
        .header('etag', presentETag(chunk))
        .send(presentChunk(chunk, (await linksOf(repoId, [chunk])).get(chunk.id)));

    app.post(
      '/chunks',
      {
        schema: {
          operationId: 'createChunk',
          tags: ['chunks'],
          summary: 'Remember one piece of text',
          querystring: InRepo,
          headers: OnceHeaders,
          body: ref(ChunkInput),
          response: { 201: ref(ChunkReport), ...problems(MAKE, { body: true }) },
        },
      },
      async (request, reply) => {
        const { repo_id: repoId } = request.query;
        const chunk = await createChunk(context, repoId, toChunkDraft(request.body), onceOf(request));
        reply.code(201).header('location', `/chunks/${chunk.id}?repo_id=${encodeURIComponent(repoId)}`);
        return send(reply, repoId, chunk);
      },
    );

    app.post(
      '/chunks/remember',
      {
        bodyLimit: TEXT_BODY_BYTES_MAX,
        schema: {
          operationId: 'rememberText',
          tags: ['chunks'],
          summary: 'Remember any text, cut into chunks',
          description: 'All chunks are kept or none. Remembering the same text twice keeps it twice.',
          querystring: InRepo,
          headers: OnceHeaders,
          body: ref(RememberInput),
          response: { 201: ref(RememberAnswer), ...problems(MAKE, { body: true }) },
        },
      },
      async (request, reply) => {
        const { query, body } = request;
        reply.code(201);
        return presentRemembered(await rememberText(context, query.repo_id, toChunkDraft(body), onceOf(request)));
      },
    );

    app.post(
      '/chunks/recall',
      {
        schema: {
          operationId: 'recallChunks',
          tags: ['chunks'],
          summary: 'Find chunks by words and tags',
          querystring: InRepo,
          body: ref(ChunkRecallInput),
          response: { 200: ref(ChunkRecallAnswer), ...problems(['semantic_error', ...STORE_PROBLEMS], { body: true }) },
        },
      },
      async ({ query, body }) => {
        const recollection = await recallChunks(context, toChunkQuestion(query.repo_id, body));
        const shown = recollection.recalled.flatMap(({ chunk, before, after }) => [chunk, ...before, ...after]);
        return presentRecalled(recollection, await linksOf(query.repo_id, shown));
      },
    );

    app.post(
      '/chunks/reason',
      {
        schema: {
          operationId: 'reasonOverChunks',
          tags: ['chunks'],
          summary: 'What chunks say together, and where they contradict each other',
          querystring: InRepo,
          body: ref(ReasonInput),
          response: { 200: ref(ReasonAnswer), ...problems(LOOKUP, { body: true }) },
        },
      },
      async ({ query, body }) => presentReasoning(await reasonOver(context, toReasonRequest(query.repo_id, body))),
    );

    app.get(
      '/chunks',
      {
        schema: {
          operationId: 'listChunks',
          tags: ['chunks'],
          summary: 'Chunks, newest first',
          querystring: ChunksQuery,
          response: { 200: ref(ChunksAnswer), ...problems(['invalid_cursor', 'semantic_error', ...STORE_PROBLEMS]) },
        },
      },
      async ({ query }) => {
        const { repo_id: repoId, tags, cursor, limit } = query;
        const filter = toChunkFilter(query, toTags(tags), 0);
        const page = await listChunks(context, repoId, filter, toChunkPlace(cursor), limit);
        return presentChunks(page, await linksOf(repoId, page.chunks));
      },
    );

    app.get(
      '/chunks/stats',
      {
        schema: {
          operationId: 'countChunks',
          tags: ['chunks'],
          summary: 'How many chunks there are, of which types',
          querystring: InRepo,
          response: { 200: ref(ChunkStats), ...problems(['semantic_error', ...STORE_PROBLEMS]) },
        },
      },
      async ({ query }) => presentCounts(await countChunks(context, query.repo_id)),
    );

    app.get(
      '/chunks/:chunk_id',
      {
        schema: {
          operationId: 'getChunk',
          tags: ['chunks'],
          summary: 'One chunk; the look is counted',
          params: ByChunk,
          querystring: ChunkQuery,
          response: { 200: ref(ChunkReport), ...problems(LOOKUP) },
        },
      },
      async ({ params, query }, reply) => {
        const { repo_id: repoId, include_archived: includeArchived } = query;
        const chunk = await readChunk(context, repoId, params.chunk_id, includeArchived);
        return send(reply, repoId, foundChunk(chunk, params.chunk_id, repoId));
      },
    );

    app.patch(
      '/chunks/:chunk_id',
      {
        schema: {
          operationId: 'patchChunk',
          tags: ['chunks'],
          summary: 'Change some fields of a chunk',
          params: ByChunk,
          headers: IfMatch,
          querystring: InRepo,
          body: ref(ChunkPatchInput),
          response: { 200: ref(ChunkReport), ...problems([...CHANGE, 'precondition_failed'], { body: true }) },
        },
      },
      async ({ params, query, body, headers }, reply) => {
        const { repo_id: repoId } = query;
        const revision = toRevision(headers['if-match']);
        const chunk = await patchChunk(context, repoId, params.chunk_id, toChunkPatch(body), revision);
        return send(reply, repoId, foundChunk(chunk, params.chunk_id, repoId));
      },
    );

    app.delete(
      '/chunks/:chunk_id',
      {
        schema: {
          operationId: 'deleteChunk',
          tags: ['chunks'],
          summary: 'Put a chunk away, or remove it for good',
          params: ByChunk,
          querystring: ChunkDeletion,
          response: { 200: ref(ChunkDeleted), ...problems(CHANGE) },
        },
      },
      async ({ params, query }) =>
        foundChunk(
          await removeOfForm(context, 'chunk', query.repo_id, params.chunk_id, query.permanent),
          params.chunk_id,
          query.repo_id,
        ),
    );

    app.post(
      '/chunks/:chunk_id/restore',
      {
        schema: {
          operationId: 'restoreChunk',
          tags: ['chunks'],
          summary: 'Bring a chunk back that was put away',
          params: ByChunk,
          querystring: InRepo,
          response: { 200: ref(ChunkReport), ...problems(CHANGE) },
        },
      },
      async ({ params, query }, reply) => {
        const { repo_id: repoId } = query;
        const isBack = await restoreOfForm(context, 'chunk', repoId, params.chunk_id);
        const chunk = isBack ? await findChunk(context, repoId, params.chunk_id) : null;
        return send(reply, repoId, foundChunk(chunk, params.chunk_id, repoId));
      },
    );

    app.post(
      '/chunks/:chunk_id/links',
      {
        schema: {
          operationId: 'linkChunk',
          tags: ['chunks'],
          summary: 'Say that a chunk supports, contradicts or has to do with another',
          description: 'A link is taken away with DELETE /edges/{edge_id}.',
          params: ByChunk,
          querystring: InRepo,
          body: ref(ChunkLinkInput),
          response: {
            200: ref(ChunkLinked),
            201: ref(ChunkLinked),
            ...problems([...CHANGE, 'integrity_error'], { body: true }),
          },
        },
      },
      async ({ params, query, body }, reply) => {
        const drawn = await linkChunk(context, query.repo_id, params.chunk_id, toLinkDraft(body));
        const { isNew, link } = foundChunk(drawn, params.chunk_id, query.repo_id);
        reply.code(isNew ? 201 : 200);
        return presentLinked({ isNew, link });
      },
    );

    app.get(
      '/chunks/:chunk_id/links',
      {
        schema: {
          operationId: 'listChunkLinks',
          tags: ['chunks'],
          summary: 'The links of a chunk, with their strengths',
          description: 'Those that somebody drew come on the first page, however many; the limit is for the others.',
          params: ByChunk,
          querystring: ChunkLinksQuery,
          response: { 200: ref(ChunkLinksAnswer), ...problems([...LOOKUP, 'invalid_cursor']) },
        },
      },
      async ({ params, query }) => {
        const { repo_id: repoId, type, cursor, limit } = query;
        const page = await listChunkLinks(context, repoId, params.chunk_id, type ?? null, toLinkPlace(cursor), limit);
        return presentLinks(foundChunk(page, params.chunk_id, repoId));
      },
    );
  };
