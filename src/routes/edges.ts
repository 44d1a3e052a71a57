import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import {
  ByEdge,
  EdgeInput,
  EdgePatchInput,
  EdgeRemoved,
  EdgeReport,
  EdgesAnswer,
  EdgesQuery,
  presentEdge,
  presentEdges,
  toEdgeDraft,
  toEdgeFilter,
  toEdgePatch,
  toEdgePlace,
} from '../contracts/edges.js';
import { ref } from '../contracts/schema.js';
import { InRepo, problems, STORE_PROBLEMS } from '../contracts/shared.js';
import type { Context } from '../services/context.js';
import { createEdge, findEdge, listEdges, patchEdge, removeEdge } from '../services/edges.js';
import { found } from './found.js';

const LOOKUP = ['not_found', 'semantic_error', ...STORE_PROBLEMS] as const;
const CHANGE = [...LOOKUP, 'conflict', 'storage_full'] as const;

export const edgeRoutes =
  (context: Context): FastifyPluginAsyncTypebox =>
  async (app) => {
    const foundEdge = <Value>(value: Value | null, id: string, repoId: string): Value =>
      found(value, 'edge', 'edge_id', id, repoId);

    app.post(
      '/edges',
      {
        schema: {
          operationId: 'createEdge',
          tags: ['graph'],
          summary: 'Relate nodes to each other',
          description:
            'An edge that says the same of the same nodes is answered with 200 instead of being drawn twice.',
          querystring: InRepo,
          body: ref(EdgeInput),
          response: {
            200: { description: 'It was there already', ...ref(EdgeReport) },
            201: { description: 'Drawn', ...ref(EdgeReport) },
            ...problems(CHANGE, { body: true }),
          },
        },
      },
      async ({ query, body }, reply) => {
        const { edge, isNew } = await createEdge(context, query.repo_id, toEdgeDraft(body));
        return reply
          .code(isNew ? 201 : 200)
          .header('location', `/edges/${edge.id}?repo_id=${encodeURIComponent(query.repo_id)}`)
          .send(presentEdge(edge));
      },
    );

    app.get(
      '/edges',
      {
        schema: {
          operationId: 'listEdges',
          tags: ['graph'],
          summary: 'The edges by type, label and node',
          querystring: EdgesQuery,
          response: { 200: ref(EdgesAnswer), ...problems(['invalid_cursor', 'semantic_error', ...STORE_PROBLEMS]) },
        },
      },
      async ({ query }) => {
        const after = toEdgePlace(query.cursor);
        return presentEdges(
          await listEdges(context, query.repo_id, query.scope, toEdgeFilter(query), after, query.limit),
        );
      },
    );

    app.get(
      '/edges/:edge_id',
      {
        schema: {
          operationId: 'getEdge',
          tags: ['graph'],
          summary: 'One edge with its members',
          params: ByEdge,
          querystring: InRepo,
          response: { 200: ref(EdgeReport), ...problems(LOOKUP) },
        },
      },
      async ({ params, query }) =>
        presentEdge(foundEdge(await findEdge(context, query.repo_id, params.edge_id), params.edge_id, query.repo_id)),
    );

    app.patch(
      '/edges/:edge_id',
      {
        schema: {
          operationId: 'patchEdge',
          tags: ['graph'],
          summary: 'Change the weight or the label of an edge',
          params: ByEdge,
          querystring: InRepo,
          body: ref(EdgePatchInput),
          response: { 200: ref(EdgeReport), ...problems(CHANGE, { body: true }) },
        },
      },
      async ({ params, query, body }) => {
        const edge = await patchEdge(context, query.repo_id, params.edge_id, toEdgePatch(body));
        return presentEdge(foundEdge(edge, params.edge_id, query.repo_id));
      },
    );

    app.delete(
      '/edges/:edge_id',
      {
        schema: {
          operationId: 'deleteEdge',
          tags: ['graph'],
          summary: 'Remove an edge',
          params: ByEdge,
          querystring: InRepo,
          response: { 200: ref(EdgeRemoved), ...problems(CHANGE, { body: true }) },
        },
      },
      async ({ params, query }) => {
        foundEdge((await removeEdge(context, query.repo_id, params.edge_id)) || null, params.edge_id, query.repo_id);
        return { id: params.edge_id, removed: true as const };
      },
    );
  };
