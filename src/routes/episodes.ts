import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import {
  ByEpisode,
  EpisodeDeleted,
  EpisodeDeletion,
  EpisodeInput,
  EpisodePatchInput,
  EpisodeQuery,
  EpisodeReport,
  EpisodeStored,
  EpisodesAnswer,
  EpisodesQuery,
  LinkAnswer,
  LinkInput,
  presentEpisode,
  presentEpisodes,
  presentLinked,
  presentStored,
  toEpisodeDraft,
  toEpisodeFilter,
  toEpisodePatch,
  toEpisodePlace,
  toLinkPatch,
} from '../contracts/episodes.js';
import { IfMatch, presentETag, toRevision } from '../contracts/nodes.js';
import { InProject, toRepoId } from '../contracts/projects.js';
import {
  presentRecollection,
  presentTrace,
  RecallAnswer,
  RecallInput,
  showRecalled,
  TraceAnswer,
  TraceQuery,
  toDirection,
  toRecallRequest,
} from '../contracts/recall.js';
import { ref } from '../contracts/schema.js';
import { OnceHeaders, problems, STORE_PROBLEMS } from '../contracts/shared.js';
import type { Context } from '../services/context.js';
import { readLinksOf } from '../services/episode-links.js';
import { createEpisode, linkEpisode, listEpisodes, patchEpisode, readEpisode } from '../services/episodes.js';
import { removeOfForm } from '../services/nodes.js';
import { recallEpisodes } from '../services/recall.js';
import { traceEpisode } from '../services/trace.js';
import { found } from './found.js';
import { onceOf } from './once.js';

const LOOKUP = ['not_found', 'semantic_error', ...STORE_PROBLEMS] as const;
const CHANGE = [...LOOKUP, 'integrity_error', 'conflict', 'precondition_failed', 'storage_full'] as const;

export const episodeRoutes =
  (context: Context): FastifyPluginAsyncTypebox =>
  async (app) => {
    const foundEpisode = <Value>(value: Value | null, id: string, repoId: string): Value =>
      found(value, 'episode', 'memory_id', id, repoId);
    const linksOf = (repoId: string, id: string) => readLinksOf(context, repoId, id);

    app.post(
      '/episodes',
      {
        schema: {
          operationId: 'storeEpisode',
          tags: ['episodes'],
          summary: 'Remember what was tried, and what came of it',
          querystring: InProject,
          headers: OnceHeaders,
          body: ref(EpisodeInput),
          response: { 201: ref(EpisodeStored), ...problems([...CHANGE, 'idempotency_key_reused'], { body: true }) },
        },
      },
      async (request, reply) => {
        const { query, body } = request;
        const repoId = toRepoId(query, body);
        const episode = await createEpisode(context, repoId, toEpisodeDraft(body), onceOf(request));
        reply.code(201).header('location', `/episodes/${episode.id}?repo_id=${encodeURIComponent(repoId)}`);
        return presentStored(episode, await linksOf(repoId, episode.id));
      },
    );

    app.get(
      '/episodes',
      {
        schema: {
          operationId: 'listEpisodes',
          tags: ['episodes'],
          summary: 'Episodes by what they have in common',
          querystring: EpisodesQuery,
          response: { 200: ref(EpisodesAnswer), ...problems(['invalid_cursor', 'semantic_error', ...STORE_PROBLEMS]) },
        },
      },
      async ({ query }) => {
        const { repo_id: repoId, sort, depth, limit, cursor } = query;
        const place = toEpisodePlace(cursor, sort);
        return presentEpisodes(
          await listEpisodes(context, repoId, toEpisodeFilter(query), sort, place, limit),
          sort,
          depth,
        );
      },
    );

    app.post(
      '/episodes/recall',
      {
        schema: {
          operationId: 'recallEpisodes',
          tags: ['episodes'],
          summary: 'Find what was tried before, as deeply as it is needed',
          querystring: InProject,
          body: ref(RecallInput),
          response: { 200: ref(RecallAnswer), ...problems(LOOKUP, { body: true }) },
        },
      },
      async ({ query, body }) =>
        presentRecollection(await recallEpisodes(context, toRecallRequest(toRepoId(query, body), body), showRecalled)),
    );

    app.get(
      '/episodes/:memory_id',
      {
        schema: {
          operationId: 'getEpisode',
          tags: ['episodes'],
          summary: 'One episode; the look is counted',
          params: ByEpisode,
          querystring: EpisodeQuery,
          response: { 200: ref(EpisodeReport), ...problems(LOOKUP) },
        },
      },
      async ({ params, query }, reply) => {
        const { repo_id: repoId, depth } = query;
        const episode = foundEpisode(await readEpisode(context, repoId, params.memory_id), params.memory_id, repoId);
        reply.header('etag', presentETag(episode));
        return presentEpisode(episode, await linksOf(repoId, episode.id), depth);
      },
    );

    app.patch(
      '/episodes/:memory_id',
      {
        schema: {
          operationId: 'patchEpisode',
          tags: ['episodes'],
          summary: 'Change parts of an episode',
          description: 'Objects are merged, lists replace what was there, null takes a part away.',
          params: ByEpisode,
          querystring: InProject,
          headers: IfMatch,
          body: ref(EpisodePatchInput),
          response: { 200: ref(EpisodeReport), ...problems(CHANGE, { body: true }) },
        },
      },
      async ({ params, query, headers, body }, reply) => {
        const repoId = toRepoId(query, body);
        const revision = toRevision(headers['if-match']);
        const patched = await patchEpisode(context, repoId, params.memory_id, toEpisodePatch(body), revision);
        const episode = foundEpisode(patched, params.memory_id, repoId);
        reply.header('etag', presentETag(episode));
        return presentEpisode(episode, await linksOf(repoId, episode.id), 'complete');
      },
    );

    app.delete(
      '/episodes/:memory_id',
      {
        schema: {
          operationId: 'deleteEpisode',
          tags: ['episodes'],
          summary: 'Archive an episode, or remove it for good',
          description:
            'Removing it takes its words out of the chapters and the wisdom that were made of it as well. POST /nodes/{id}/restore brings an archived one back.',
          params: ByEpisode,
          querystring: EpisodeDeletion,
          response: { 200: ref(EpisodeDeleted), ...problems(CHANGE) },
        },
      },
      async ({ params, query }) =>
        foundEpisode(
          await removeOfForm(context, 'episode', query.repo_id, params.memory_id, query.permanent),
          params.memory_id,
          query.repo_id,
        ),
    );

    app.post(
      '/episodes/:memory_id/links',
      {
        schema: {
          operationId: 'linkEpisode',
          tags: ['episodes'],
          summary: 'Say how an episode stands to another',
          params: ByEpisode,
          querystring: InProject,
          body: ref(LinkInput),
          response: { 200: ref(LinkAnswer), 201: ref(LinkAnswer), ...problems(CHANGE, { body: true }) },
        },
      },
      async ({ params, query, body }, reply) => {
        const repoId = toRepoId(query, body);
        const linked = await linkEpisode(context, repoId, params.memory_id, toLinkPatch(body));
        const { isNew, links } = foundEpisode(linked, params.memory_id, repoId);
        return reply.code(isNew ? 201 : 200).send(presentLinked(isNew, links));
      },
    );

    app.get(
      '/episodes/:memory_id/trace',
      {
        schema: {
          operationId: 'traceEpisode',
          tags: ['episodes'],
          summary: 'What led to an episode, and what it led to',
          params: ByEpisode,
          querystring: TraceQuery,
          response: { 200: ref(TraceAnswer), ...problems(LOOKUP) },
        },
      },
      async ({ params, query }) => {
        const { repo_id: repoId, direction, max_depth: depthMax, depth } = query;
        const trace = await traceEpisode(context, repoId, params.memory_id, toDirection(direction), depthMax);
        return presentTrace(foundEpisode(trace, params.memory_id, repoId), depth);
      },
    );
  };
