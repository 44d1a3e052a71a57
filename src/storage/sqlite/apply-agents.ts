import type { Agent, Session } from '../../domain/agents.js';
import type { EndSession } from '../../domain/changes.js';
import { ApplyConflict } from '../port.js';
import type { Connection } from './connection.js';

/** What a plan may do to agents and their sessions. */

export const agentSeq = (connection: Connection, id: string): number => {
  const row = connection.get<{ seq: number }>('SELECT seq FROM agents WHERE id = ?', id);
  if (!row) throw new ApplyConflict('node_missing', id);
  return row.seq;
};

export function insertAgent(connection: Connection, agent: Agent): void {
  connection.run(
    `INSERT INTO agents (id, type, parent_seq, specialization, capabilities, metadata, created_at, last_active_at)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
    agent.id,
    agent.type,
    agent.parentId === null ? null : agentSeq(connection, agent.parentId),
    agent.specialization,
    JSON.stringify(agent.capabilities),
    JSON.stringify(agent.metadata),
    agent.createdAtMs,
    agent.createdAtMs,
  );
}

export function noteActive(connection: Connection, seq: number, atMs: number): void {
  connection.run('UPDATE agents SET last_active_at = max(last_active_at, ?) WHERE seq = ?', atMs, seq);
}

export function insertSession(connection: Connection, session: Session): void {
  const seq = agentSeq(connection, session.agentId);
  connection.run(
    'INSERT INTO sessions (id, agent_seq, started_at, initial_intent) VALUES (?, ?, ?, ?)',
    session.id,
    seq,
    session.startedAtMs,
    session.initialIntent,
  );
  noteActive(connection, seq, session.startedAtMs);
}

/** A session that is over stays as it ended. */
export function endSession(connection: Connection, { sessionId, finalOutcome, atMs }: EndSession): void {
  connection.run(
    'UPDATE sessions SET ended_at = ?, final_outcome = ? WHERE id = ? AND ended_at IS NULL',
    atMs,
    finalOutcome,
    sessionId,
  );
}
