import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import type { FastifyReply, FastifyRequest } from 'fastify';
import {
  AgentInput,
  AgentReport,
  AtWorkAnswer,
  ByAgent,
  BySession,
  presentAgent,
  presentAtWork,
  presentSession,
  SessionEnd,
  SessionInput,
  SessionReport,
  toAgentDraft,
} from '../contracts/agents.js';
import { InProject, toRepoId } from '../contracts/projects.js';
import { ref } from '../contracts/schema.js';
import { InRepo, OnceHeaders, problems, STORE_PROBLEMS } from '../contracts/shared.js';
import { endSession, findAgent, findSession, registerAgent, resumeAgent } from '../services/agents.js';
import type { Context } from '../services/context.js';
import { found } from './found.js';
import { onceOf } from './once.js';

const WRITE = ['not_found', 'semantic_error', 'conflict', 'storage_full', ...STORE_PROBLEMS] as const;

/** Who has nothing to say need not say it. */
const bodyIsOptional = (request: FastifyRequest, _reply: FastifyReply, done: () => void): void => {
  if (request.body === undefined) request.body = {};
  done();
};

export const agentRoutes =
  (context: Context): FastifyPluginAsyncTypebox =>
  async (app) => {
    app.post(
      '/agents',
      {
        schema: {
          operationId: 'registerAgent',
          tags: ['episodes'],
          summary: 'Make an agent known, and begin its first session',
          querystring: InProject,
          headers: OnceHeaders,
          body: ref(AgentInput),
          response: { 201: ref(AtWorkAnswer), ...problems([...WRITE, 'idempotency_key_reused'], { body: true }) },
        },
      },
      async (request, reply) => {
        const { query, body } = request;
        const repoId = toRepoId(query, body);
        const atWork = await registerAgent(context, repoId, toAgentDraft(body), onceOf(request));
        reply.code(201).header('location', `/agents/${atWork.agent.id}?repo_id=${encodeURIComponent(repoId)}`);
        return presentAtWork(atWork);
      },
    );

    app.get(
      '/agents/:agent_id',
      {
        schema: {
          operationId: 'getAgent',
          tags: ['episodes'],
          summary: 'An agent, what it remembered and how well that went',
          params: ByAgent,
          querystring: InRepo,
          response: { 200: ref(AgentReport), ...problems(['not_found', 'semantic_error', ...STORE_PROBLEMS]) },
        },
      },
      async ({ params, query }) => {
        const agent = await findAgent(context, query.repo_id, params.agent_id);
        return presentAgent(found(agent, 'agent', 'agent_id', params.agent_id, query.repo_id));
      },
    );

    app.post(
      '/agents/:agent_id/sessions',
      {
        preValidation: bodyIsOptional,
        schema: {
          operationId: 'resumeAgent',
          tags: ['episodes'],
          summary: 'Begin another session of an agent',
          params: ByAgent,
          querystring: InProject,
          headers: OnceHeaders,
          body: ref(SessionInput),
          response: { 201: ref(AtWorkAnswer), ...problems([...WRITE, 'idempotency_key_reused'], { body: true }) },
        },
      },
      async (request, reply) => {
        const { params, query, body } = request;
        const repoId = toRepoId(query, body);
        const intent = body.initial_intent ?? null;
        const atWork = await resumeAgent(context, repoId, params.agent_id, intent, onceOf(request));
        const { agent, session } = found(atWork, 'agent', 'agent_id', params.agent_id, repoId);
        reply.code(201).header('location', `/sessions/${session.id}?repo_id=${encodeURIComponent(repoId)}`);
        return presentAtWork({ agent, session });
      },
    );

    app.get(
      '/sessions/:session_id',
      {
        schema: {
          operationId: 'getSession',
          tags: ['episodes'],
          summary: 'A session, with what was remembered and asked in it',
          params: BySession,
          querystring: InRepo,
          response: { 200: ref(SessionReport), ...problems(['not_found', 'semantic_error', ...STORE_PROBLEMS]) },
        },
      },
      async ({ params, query }) => {
        const session = await findSession(context, query.repo_id, params.session_id);
        return presentSession(found(session, 'session', 'session_id', params.session_id, query.repo_id));
      },
    );

    app.post(
      '/sessions/:session_id/end',
      {
        preValidation: bodyIsOptional,
        schema: {
          operationId: 'endSession',
          tags: ['episodes'],
          summary: 'End a session; one that is over stays as it ended',
          params: BySession,
          querystring: InProject,
          body: ref(SessionEnd),
          response: { 200: ref(SessionReport), ...problems(WRITE, { body: true }) },
        },
      },
      async ({ params, query, body }) => {
        const repoId = toRepoId(query, body);
        const session = await endSession(context, repoId, params.session_id, body.final_outcome ?? null);
        return presentSession(found(session, 'session', 'session_id', params.session_id, repoId));
      },
    );
  };
