import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import {
  ConfidenceAnswer,
  ConsolidateRequest,
  DecayAnswer,
  DecayRequest,
  EvolutionAnswer,
  EvolutionQuery,
  EvolvedAnswer,
  PromoteRequest,
  presentConfidence,
  presentDecayed,
  presentEvolution,
  presentEvolved,
  THRESHOLD_DEFAULT,
  toDecaySettings,
  toEvolutionFilter,
  toLogPlace,
} from '../contracts/evolution.js';
import { ByNode } from '../contracts/nodes.js';
import { ref } from '../contracts/schema.js';
import { InRepo, problems, STORE_PROBLEMS } from '../contracts/shared.js';
import { consolidateTask } from '../services/consolidation.js';
import type { Context } from '../services/context.js';
import { decayNodes, readConfidence } from '../services/evolution.js';
import { listEvolution } from '../services/evolution-log.js';
import { promoteNode, promoteSession } from '../services/promotion.js';
import { found } from './found.js';

const RUN = ['semantic_error', 'conflict', 'storage_full', ...STORE_PROBLEMS] as const;

export const evolutionRoutes =
  (context: Context): FastifyPluginAsyncTypebox =>
  async (app) => {
    app.get(
      '/evolution',
      {
        schema: {
          operationId: 'listEvolution',
          tags: ['evolution'],
          summary: 'What happened to nodes, newest first',
          querystring: EvolutionQuery,
          response: { 200: ref(EvolutionAnswer), ...problems(['invalid_cursor', 'semantic_error', ...STORE_PROBLEMS]) },
        },
      },
      async ({ query }) => {
        const before = toLogPlace(query.cursor);
        return presentEvolution(
          await listEvolution(context, query.repo_id, toEvolutionFilter(query), before, query.limit),
        );
      },
    );

    app.post(
      '/evolution/consolidate',
      {
        schema: {
          operationId: 'consolidateTask',
          tags: ['evolution'],
          summary: 'A task is done: its nodes go to the session, said once',
          description:
            'Takes all nodes of the task, however many. Nodes of the same type, subtype, session, text and metadata are merged: the surest is kept, with the looks, tags and edges of the others. A dry run answers what a run would.',
          querystring: InRepo,
          body: ref(ConsolidateRequest),
          response: { 200: ref(EvolvedAnswer), ...problems(RUN, { body: true }) },
        },
      },
      async ({ query, body }) => {
        const dryRun = body.dry_run ?? false;
        return presentEvolved(await consolidateTask(context, query.repo_id, body.task_id, dryRun), dryRun);
      },
    );

    app.post(
      '/evolution/promote',
      {
        schema: {
          operationId: 'promote',
          tags: ['evolution'],
          summary: 'A session is over: what is sure and was used stays for good. Or one node, by hand',
          description:
            'Takes all nodes of the session, however many. Used means looked at as often as the median of them. A dry run answers what a run would.',
          querystring: InRepo,
          body: ref(PromoteRequest),
          response: { 200: ref(EvolvedAnswer), ...problems(['not_found', ...RUN], { body: true }) },
        },
      },
      async ({ query, body }) => {
        const { repo_id: repoId } = query;
        const dryRun = body.dry_run ?? false;
        if (body.of === 'session') {
          const threshold = body.threshold ?? THRESHOLD_DEFAULT;
          return presentEvolved(await promoteSession(context, repoId, body.session_id, threshold, dryRun), dryRun);
        }
        const evolved = await promoteNode(context, repoId, body.node_id, body.tier, dryRun);
        return presentEvolved(found(evolved, 'node', 'node_id', body.node_id, repoId), dryRun);
      },
    );

    app.post(
      '/evolution/decay',
      {
        schema: {
          operationId: 'decay',
          tags: ['evolution'],
          summary: 'What nobody looked at loses confidence, once for every day',
          querystring: InRepo,
          body: ref(DecayRequest),
          response: { 200: ref(DecayAnswer), ...problems(RUN, { body: true }) },
        },
      },
      async ({ query, body }) => {
        const dryRun = body.dry_run ?? false;
        return presentDecayed(await decayNodes(context, query.repo_id, toDecaySettings(body), dryRun), dryRun);
      },
    );

    app.get(
      '/nodes/:node_id/confidence',
      {
        schema: {
          operationId: 'getConfidence',
          tags: ['evolution'],
          summary: 'How sure a node was, change by change',
          params: ByNode,
          querystring: InRepo,
          response: { 200: ref(ConfidenceAnswer), ...problems(['not_found', 'semantic_error', ...STORE_PROBLEMS]) },
        },
      },
      async ({ params, query }) => {
        const history = await readConfidence(context, query.repo_id, params.node_id);
        return presentConfidence(params.node_id, found(history, 'node', 'node_id', params.node_id, query.repo_id));
      },
    );
  };
