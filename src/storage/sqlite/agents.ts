import type { SpaceName } from '../../domain/spaces.js';
import type { AgentType } from '../../domain/vocabulary.js';
import type { StoredAgent, StoredSession } from '../port.js';
import type { AccessCounts } from './access.js';
import type { Spaces } from './spaces.js';

export const GET_AGENT = `
  SELECT g.id, g.type, p.id AS parent_id, g.specialization, g.capabilities, g.metadata, g.created_at, g.last_active_at,
    (SELECT count(*) FROM sessions s WHERE s.agent_seq = g.seq) AS sessions,
    (SELECT count(*) FROM episodes e WHERE e.agent_seq = g.seq AND e.success = 1) AS successes,
    (SELECT count(*) FROM episodes e WHERE e.agent_seq = g.seq AND e.success = 0) AS failures
  FROM agents g LEFT JOIN agents p ON p.seq = g.parent_seq WHERE g.id = ?`;

export const LATEST_MAIN_AGENT = `
  SELECT id FROM agents WHERE type = 'main' ORDER BY last_active_at DESC, seq DESC LIMIT 1`;

const SESSION_COLUMNS = `s.id, g.id AS agent_id, s.started_at, s.ended_at, s.queries_made, s.initial_intent, s.final_outcome,
  (SELECT count(*) FROM nodes n WHERE n.session_id = s.id AND n.form = 'episode') AS episodes`;

export const GET_SESSION = `
  SELECT ${SESSION_COLUMNS} FROM sessions s JOIN agents g ON g.seq = s.agent_seq WHERE s.id = ?`;

/** Among the agent's sessions, of which the newest are looked at first. */
export const OPEN_SESSION = `
  SELECT ${SESSION_COLUMNS} FROM agents g CROSS JOIN sessions s ON s.agent_seq = g.seq
  WHERE g.id = ? AND s.ended_at IS NULL ORDER BY s.started_at DESC, s.seq DESC LIMIT 1`;

/** Who works in a space, and when. */
export class Agents {
  constructor(
    private readonly spaces: Spaces,
    private readonly access: AccessCounts,
  ) {}

  getAgent(space: SpaceName, id: string): StoredAgent | null {
    const row = this.spaces.peek<AgentRow | undefined>(
      space,
      (connection) => connection.get<AgentRow>(GET_AGENT, id),
      undefined,
    );
    return row ? toAgent(row) : null;
  }

  findLatestMain(space: SpaceName): string | null {
    return this.spaces.peek<string | null>(
      space,
      (connection) => connection.get<{ id: string }>(LATEST_MAIN_AGENT)?.id ?? null,
      null,
    );
  }

  getSession(space: SpaceName, id: string): StoredSession | null {
    return this.#session(space, GET_SESSION, id);
  }

  findOpenSession(space: SpaceName, agentId: string): StoredSession | null {
    return this.#session(space, OPEN_SESSION, agentId);
  }

  #session(space: SpaceName, statement: string, id: string): StoredSession | null {
    const row = this.spaces.peek<SessionRow | undefined>(
      space,
      (connection) => connection.get<SessionRow>(statement, id),
      undefined,
    );
    return row ? toSession(row, this.access.queriesWaiting(space, row.id)) : null;
  }
}

interface AgentRow {
  id: string;
  type: AgentType;
  parent_id: string | null;
  specialization: string | null;
  capabilities: string;
  metadata: string;
  created_at: number;
  last_active_at: number;
  sessions: number;
  successes: number;
  failures: number;
}

const toAgent = (row: AgentRow): StoredAgent => ({
  id: row.id,
  type: row.type,
  parentId: row.parent_id,
  specialization: row.specialization,
  capabilities: JSON.parse(row.capabilities) as string[],
  metadata: JSON.parse(row.metadata) as Record<string, unknown>,
  createdAtMs: row.created_at,
  lastActiveAtMs: row.last_active_at,
  sessions: row.sessions,
  successes: row.successes,
  failures: row.failures,
});

interface SessionRow {
  id: string;
  agent_id: string;
  started_at: number;
  ended_at: number | null;
  queries_made: number;
  initial_intent: string | null;
  final_outcome: string | null;
  episodes: number;
}

const toSession = (row: SessionRow, queriesWaiting: number): StoredSession => ({
  id: row.id,
  agentId: row.agent_id,
  startedAtMs: row.started_at,
  endedAtMs: row.ended_at,
  queries: row.queries_made + queriesWaiting,
  initialIntent: row.initial_intent,
  finalOutcome: row.final_outcome,
  episodes: row.episodes,
});
