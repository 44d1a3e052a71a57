import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import type { FastifyReply } from 'fastify';
import { presentRelated, RelatedAnswer, RelatedQuery, toWays } from '../contracts/graph.js';
import {
  ByNode,
  DeletionAnswer,
  IfMatch,
  NodeDeletion,
  NodeInput,
  NodePatchInput,
  NodeReport,
  NodeSearchAnswer,
  NodeSearchRequest,
  NodesAnswer,
  NodesQuery,
  presentDeletion,
  presentETag,
  presentFoundNodes,
  presentNode,
  presentNodes,
  toConceptDraft,
  toNodeFilter,
  toNodePatch,
  toNodePlace,
  toNodeSearch,
  toRevision,
} from '../contracts/nodes.js';
import { ref } from '../contracts/schema.js';
import { InRepo, OnceHeaders, problems, STORE_PROBLEMS } from '../contracts/shared.js';
import type { Context } from '../services/context.js';
import { readRelated } from '../services/graph.js';
import { searchNodes } from '../services/node-search.js';
import {
  archiveNode,
  createNode,
  listNodes,
  patchNode,
  purgeNode,
  readNode,
  restoreNode,
  type StoredNode,
} from '../services/nodes.js';
import { found } from './found.js';
import { onceOf } from './once.js';

const LOOKUP = ['not_found', 'semantic_error', ...STORE_PROBLEMS] as const;
const CHANGE = [...LOOKUP, 'conflict', 'precondition_failed', 'storage_full'] as const;

const send = (reply: FastifyReply, node: StoredNode) => reply.header('etag', presentETag(node)).send(presentNode(node));

export const nodeRoutes =
  (context: Context): FastifyPluginAsyncTypebox =>
  async (app) => {
    const foundNode = <Value>(value: Value | null, id: string, repoId: string): Value =>
      found(value, 'node', 'node_id', id, repoId);

    app.post(
      '/nodes',
      {
        schema: {
          operationId: 'createNode',
          tags: ['graph'],
          summary: 'Add a node to the graph',
          querystring: InRepo,
          headers: OnceHeaders,
          body: ref(NodeInput),
          response: {
            201: ref(NodeReport),
            ...problems(['semantic_error', 'idempotency_key_reused', 'storage_full', ...STORE_PROBLEMS], {
              body: true,
            }),
          },
        },
      },
      async (request, reply) => {
        const { query, body } = request;
        const node = await createNode(context, query.repo_id, toConceptDraft(body), onceOf(request));
        reply.code(201).header('location', `/nodes/${node.id}?repo_id=${encodeURIComponent(query.repo_id)}`);
        return send(reply, node);
      },
    );

    app.get(
      '/nodes',
      {
        schema: {
          operationId: 'listNodes',
          tags: ['graph'],
          summary: 'The nodes of every form, surest first',
          querystring: NodesQuery,
          response: { 200: ref(NodesAnswer), ...problems(['invalid_cursor', 'semantic_error', ...STORE_PROBLEMS]) },
        },
      },
      async ({ query }) =>
        presentNodes(
          await listNodes(
            context,
            query.repo_id,
            query.scope,
            toNodeFilter(query),
            toNodePlace(query.cursor),
            query.limit,
          ),
        ),
    );

    app.post(
      '/nodes/search',
      {
        schema: {
          operationId: 'searchNodes',
          tags: ['graph'],
          summary: 'Find nodes of every form by their words',
          querystring: InRepo,
          body: ref(NodeSearchRequest),
          response: {
            200: ref(NodeSearchAnswer),
            ...problems(['semantic_error', ...STORE_PROBLEMS], { body: true }),
          },
        },
      },
      async ({ query, body }) => presentFoundNodes(await searchNodes(context, query.repo_id, toNodeSearch(body))),
    );

    app.get(
      '/nodes/:node_id',
      {
        schema: {
          operationId: 'getNode',
          tags: ['graph'],
          summary: 'One node of any form; the look is counted',
          params: ByNode,
          querystring: InRepo,
          response: { 200: ref(NodeReport), ...problems(LOOKUP) },
        },
      },
      async ({ params, query }, reply) =>
        send(reply, foundNode(await readNode(context, query.repo_id, params.node_id), params.node_id, query.repo_id)),
    );

    app.patch(
      '/nodes/:node_id',
      {
        schema: {
          operationId: 'patchNode',
          tags: ['graph'],
          summary: 'Change some fields of a node',
          description: 'What the form of the node keeps as it was written is refused with 409.',
          params: ByNode,
          querystring: InRepo,
          headers: IfMatch,
          body: ref(NodePatchInput),
          response: { 200: ref(NodeReport), ...problems(CHANGE, { body: true }) },
        },
      },
      async ({ params, query, headers, body }, reply) => {
        const revision = toRevision(headers['if-match']);
        const node = await patchNode(context, query.repo_id, params.node_id, toNodePatch(body), revision);
        return send(reply, foundNode(node, params.node_id, query.repo_id));
      },
    );

    app.delete(
      '/nodes/:node_id',
      {
        schema: {
          operationId: 'deleteNode',
          tags: ['graph'],
          summary: 'Archive a node, or remove it for good',
          params: ByNode,
          querystring: NodeDeletion,
          headers: IfMatch,
          response: { 200: ref(DeletionAnswer), ...problems(CHANGE, { body: true }) },
        },
      },
      async ({ params, query, headers }) => {
        const { repo_id: repoId, permanent } = query;
        const revision = toRevision(headers['if-match']);
        if (permanent) {
          const isGone = await purgeNode(context, repoId, params.node_id, revision);
          foundNode(isGone || null, params.node_id, repoId);
          return presentDeletion(params.node_id, null);
        }
        const node = await archiveNode(context, repoId, params.node_id, revision);
        return presentDeletion(params.node_id, foundNode(node, params.node_id, repoId));
      },
    );

    app.post(
      '/nodes/:node_id/restore',
      {
        schema: {
          operationId: 'restoreNode',
          tags: ['graph'],
          summary: 'Bring an archived node back to the tier it came from',
          params: ByNode,
          querystring: InRepo,
          response: { 200: ref(NodeReport), ...problems(CHANGE, { body: true }) },
        },
      },
      async ({ params, query }, reply) =>
        send(
          reply,
          foundNode(await restoreNode(context, query.repo_id, params.node_id), params.node_id, query.repo_id),
        ),
    );

    app.get(
      '/nodes/:node_id/related',
      {
        schema: {
          operationId: 'getRelatedNodes',
          tags: ['graph'],
          summary: 'The nodes around a node, nearest first',
          params: ByNode,
          querystring: RelatedQuery,
          response: { 200: ref(RelatedAnswer), ...problems(LOOKUP) },
        },
      },
      async ({ params, query }) => {
        const { repo_id: repoId, hops, limit } = query;
        const related = await readRelated(context, repoId, params.node_id, toWays(query), hops, limit);
        return presentRelated(params.node_id, foundNode(related, params.node_id, repoId));
      },
    );
  };
