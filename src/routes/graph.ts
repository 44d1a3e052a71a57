import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import {
  PathAnswer,
  PathQuery,
  PictureAnswer,
  PictureQuery,
  presentPath,
  presentPicture,
  toWays,
} from '../contracts/graph.js';
import { ref } from '../contracts/schema.js';
import { problems, STORE_PROBLEMS } from '../contracts/shared.js';
import type { Context } from '../services/context.js';
import { readPicture } from '../services/graph.js';
import { readPath } from '../services/paths.js';
import { found } from './found.js';

const LOOKUP = ['not_found', 'semantic_error', ...STORE_PROBLEMS] as const;

export const graphRoutes =
  (context: Context): FastifyPluginAsyncTypebox =>
  async (app) => {
    app.get(
      '/graph',
      {
        schema: {
          operationId: 'getGraph',
          tags: ['graph'],
          summary: 'A node with its surroundings, for a picture',
          querystring: PictureQuery,
          response: { 200: ref(PictureAnswer), ...problems(LOOKUP) },
        },
      },
      async ({ query }) => {
        const { repo_id: repoId, node, hops, limit } = query;
        const picture = await readPicture(context, repoId, node, toWays(query), hops, limit);
        return presentPicture(found(picture, 'node', 'node', node, repoId));
      },
    );

    app.get(
      '/graph/path',
      {
        schema: {
          operationId: 'getPath',
          tags: ['graph'],
          summary: 'A shortest path between two nodes',
          querystring: PathQuery,
          response: { 200: ref(PathAnswer), ...problems(LOOKUP) },
        },
      },
      async ({ query }) => {
        const { repo_id: repoId, from, to, max_hops: hopsMax } = query;
        const path = await readPath(context, repoId, { fromId: from, toId: to }, toWays(query), hopsMax);
        return presentPath(found(path, 'such pair of nodes', 'from', `${from}, ${to}`, repoId));
      },
    );
  };
