import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import {
  ByChapter,
  ChapterInput,
  ChapterPatch,
  ChapterReport,
  ChaptersAnswer,
  ChaptersQuery,
  DetectAnswer,
  DetectInput,
  NarrativeDeleted,
  NarrativeDeletion,
  presentChapter,
  presentChapters,
  presentDetected,
  toChapterDraft,
  toDetection,
  toNarrativeFilter,
  toNarrativePlace,
} from '../contracts/chapters.js';
import { InProject, toRepoId } from '../contracts/projects.js';
import { ref } from '../contracts/schema.js';
import { InRepo, OnceHeaders, problems, STORE_PROBLEMS } from '../contracts/shared.js';
import { createChapter, listNarratives, readChapter, renameChapter } from '../services/chapters.js';
import type { Context } from '../services/context.js';
import { detectChapters } from '../services/detection.js';
import { removeOfForm } from '../services/nodes.js';
import { found } from './found.js';
import { onceOf } from './once.js';

const LOOKUP = ['not_found', 'semantic_error', ...STORE_PROBLEMS] as const;
const CHANGE = [...LOOKUP, 'conflict', 'storage_full'] as const;

export const chapterRoutes =
  (context: Context): FastifyPluginAsyncTypebox =>
  async (app) => {
    const foundChapter = <Value>(value: Value | null, id: string, repoId: string): Value =>
      found(value, 'chapter', 'chapter_id', id, repoId);

    app.post(
      '/chapters',
      {
        schema: {
          operationId: 'createChapter',
          tags: ['chapters'],
          summary: 'Tell some episodes together',
          querystring: InProject,
          headers: OnceHeaders,
          body: ref(ChapterInput),
          response: { 201: ref(ChapterReport), ...problems([...CHANGE, 'idempotency_key_reused'], { body: true }) },
        },
      },
      async (request, reply) => {
        const { query, body } = request;
        const repoId = toRepoId(query, body);
        const chapter = await createChapter(context, repoId, toChapterDraft(body), onceOf(request));
        const { id } = chapter.narrative;
        reply.code(201).header('location', `/chapters/${id}?repo_id=${encodeURIComponent(repoId)}`);
        return presentChapter(chapter);
      },
    );

    app.post(
      '/chapters/detect',
      {
        schema: {
          operationId: 'detectChapters',
          tags: ['chapters'],
          summary: 'Find episodes that belong together, and make or update their chapters',
          description:
            'By tag, by task type where there are no tags, and by stretches of work over the same files and tags. Running it twice changes nothing more.',
          querystring: InProject,
          body: ref(DetectInput),
          response: {
            200: ref(DetectAnswer),
            ...problems(['semantic_error', 'conflict', 'storage_full', ...STORE_PROBLEMS], { body: true }),
          },
        },
      },
      async ({ query, body }) => {
        const dryRun = body.dry_run ?? false;
        return presentDetected(await detectChapters(context, toRepoId(query, body), toDetection(body), dryRun), dryRun);
      },
    );

    app.get(
      '/chapters',
      {
        schema: {
          operationId: 'listChapters',
          tags: ['chapters'],
          summary: 'Chapters, newest first',
          querystring: ChaptersQuery,
          response: { 200: ref(ChaptersAnswer), ...problems(['invalid_cursor', 'semantic_error', ...STORE_PROBLEMS]) },
        },
      },
      async ({ query }) => {
        const { repo_id: repoId, sort, limit, cursor } = query;
        const filter = toNarrativeFilter('chapter', query);
        return presentChapters(
          await listNarratives(context, repoId, filter, sort, toNarrativePlace(cursor, sort), limit),
          sort,
        );
      },
    );

    app.get(
      '/chapters/:chapter_id',
      {
        schema: {
          operationId: 'getChapter',
          tags: ['chapters'],
          summary: 'A chapter with its episodes in order; the look is counted',
          params: ByChapter,
          querystring: InRepo,
          response: { 200: ref(ChapterReport), ...problems(LOOKUP) },
        },
      },
      async ({ params, query }) => {
        const { repo_id: repoId } = query;
        const chapter = foundChapter(await readChapter(context, repoId, params.chapter_id), params.chapter_id, repoId);
        return presentChapter(chapter, chapter.episodes);
      },
    );

    app.patch(
      '/chapters/:chapter_id',
      {
        schema: {
          operationId: 'renameChapter',
          tags: ['chapters'],
          summary: 'Give a chapter another title',
          params: ByChapter,
          querystring: InProject,
          body: ref(ChapterPatch),
          response: { 200: ref(ChapterReport), ...problems(CHANGE, { body: true }) },
        },
      },
      async ({ params, query, body }) => {
        const repoId = toRepoId(query, body);
        const chapter = await renameChapter(context, repoId, params.chapter_id, body.title);
        return presentChapter(foundChapter(chapter, params.chapter_id, repoId));
      },
    );

    app.delete(
      '/chapters/:chapter_id',
      {
        schema: {
          operationId: 'deleteChapter',
          tags: ['chapters'],
          summary: 'Archive a chapter, or remove it for good; its episodes stay',
          description: 'An archived chapter is not made again by /chapters/detect.',
          params: ByChapter,
          querystring: NarrativeDeletion,
          response: { 200: ref(NarrativeDeleted), ...problems(CHANGE) },
        },
      },
      async ({ params, query }) =>
        foundChapter(
          await removeOfForm(context, 'chapter', query.repo_id, params.chapter_id, query.permanent),
          params.chapter_id,
          query.repo_id,
        ),
    );
  };
