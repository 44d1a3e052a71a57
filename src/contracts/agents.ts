import Type, { type Static } from 'typebox';
import { successRate } from '../domain/agents.js';
import { AGENT_TYPES } from '../domain/vocabulary.js';
import type { AgentDraft, AtWork, StoredAgent, StoredSession } from '../services/agents.js';
import { ProjectId } from './projects.js';
import { named, nullable, ref, strict, words } from './schema.js';

/** `/agents` and `/sessions`: who works, and when. Times are milliseconds. */

export const EXAMPLE_AGENT_ID = 'agent_2e7c4f19-8b35-4d06-a1f2-9c6e5b8d7a30';
const EXAMPLE_SESSION_ID = 'session_6b1f9d3a-4c72-4e58-8d90-7a2c5e1b3f64';

export const AgentId = Type.String({ description: 'Id of an agent', examples: [EXAMPLE_AGENT_ID] });
export const SessionId = Type.String({ description: 'Id of a session', examples: [EXAMPLE_SESSION_ID] });
export const Milliseconds = Type.Integer({ description: 'UTC, in milliseconds', examples: [1_767_225_600_000] });
const Line = Type.String({ minLength: 1, maxLength: 2_000 });
const Metadata = Type.Unsafe<Record<string, unknown>>({
  type: 'object',
  additionalProperties: true,
  maxProperties: 100,
});

export const AgentInput = named(
  'AgentInput',
  strict(
    {
      project_id: Type.Optional(ProjectId),
      type: Type.Optional(words([...AGENT_TYPES], { default: 'main' })),
      parent_id: Type.Optional(Type.String({ description: 'The agent that a subagent works for; required for one' })),
      specialization: Type.Optional(Line),
      capabilities: Type.Optional(Type.Array(Line, { uniqueItems: true, maxItems: 100 })),
      metadata: Type.Optional(Metadata),
      initial_intent: Type.Optional(
        Type.String({ minLength: 1, maxLength: 2_000, description: 'Of its first session' }),
      ),
    },
    { examples: [{ project_id: 'acme/shop', specialization: 'backend', initial_intent: 'Fix the logout bug' }] },
  ),
);

export const toAgentDraft = (input: Static<typeof AgentInput>): AgentDraft => ({
  type: input.type ?? 'main',
  parentId: input.parent_id ?? null,
  specialization: input.specialization ?? null,
  capabilities: input.capabilities ?? [],
  metadata: input.metadata ?? {},
  initialIntent: input.initial_intent ?? null,
});

export const AgentReport = named(
  'Agent',
  Type.Object({
    id: AgentId,
    type: words([...AGENT_TYPES]),
    parent_id: nullable(AgentId),
    specialization: nullable(Type.String()),
    capabilities: Type.Array(Type.String()),
    metadata: Metadata,
    created_at: Milliseconds,
    last_active_at: Milliseconds,
    session_count: Type.Integer(),
    memory_count: Type.Integer({ description: 'Its episodes' }),
    success_count: Type.Integer(),
    failure_count: Type.Integer(),
    success_rate: Type.Number({ description: 'Of its episodes, those that succeeded; 0 when there are none' }),
  }),
);

export const presentAgent = (agent: StoredAgent): Static<typeof AgentReport> => ({
  id: agent.id,
  type: agent.type,
  parent_id: agent.parentId,
  specialization: agent.specialization,
  capabilities: [...agent.capabilities],
  metadata: { ...agent.metadata },
  created_at: agent.createdAtMs,
  last_active_at: agent.lastActiveAtMs,
  session_count: agent.sessions,
  memory_count: agent.successes + agent.failures,
  success_count: agent.successes,
  failure_count: agent.failures,
  success_rate: successRate(agent.successes, agent.failures),
});

export const SessionReport = named(
  'Session',
  Type.Object({
    id: SessionId,
    agent_id: AgentId,
    started_at: Milliseconds,
    ended_at: nullable(Milliseconds),
    initial_intent: nullable(Type.String()),
    final_outcome: nullable(Type.String()),
    memories_created: Type.Integer(),
    queries_made: Type.Integer({ description: 'Recalls that named this session' }),
  }),
);

export const presentSession = (session: StoredSession): Static<typeof SessionReport> => ({
  id: session.id,
  agent_id: session.agentId,
  started_at: session.startedAtMs,
  ended_at: session.endedAtMs,
  initial_intent: session.initialIntent,
  final_outcome: session.finalOutcome,
  memories_created: session.episodes,
  queries_made: session.queries,
});

export const AtWorkAnswer = named(
  'AgentAtWork',
  Type.Object(
    { agent: ref(AgentReport), session: ref(SessionReport) },
    { description: 'An agent and its new session' },
  ),
);

export const presentAtWork = ({ agent, session }: AtWork): Static<typeof AtWorkAnswer> => ({
  agent: presentAgent(agent),
  session: presentSession(session),
});

export const ByAgent = Type.Object({
  agent_id: Type.String({ description: 'Id of an agent, or `latest` for the main agent that was active last' }),
});
export const BySession = Type.Object({ session_id: SessionId });

export const SessionInput = named(
  'SessionInput',
  strict(
    { project_id: Type.Optional(ProjectId), initial_intent: Type.Optional(Line) },
    { examples: [{ project_id: 'acme/shop', initial_intent: 'Go on with the logout bug' }] },
  ),
);

export const SessionEnd = named(
  'SessionEnd',
  strict(
    { project_id: Type.Optional(ProjectId), final_outcome: Type.Optional(Line) },
    { examples: [{ project_id: 'acme/shop', final_outcome: 'The logout bug is fixed' }] },
  ),
);
