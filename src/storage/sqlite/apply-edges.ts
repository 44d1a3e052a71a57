import type { PatchEdge, RemoveEdge, StandingEdge } from '../../domain/changes.js';
import { edgeKey } from '../../domain/links.js';
import { ApplyConflict } from '../port.js';
import type { Application } from './apply.js';
import { EDGES_BY_SEQ, type EdgeMemberRow, toEdges } from './edges.js';

/** What a plan may do to edges that stand. */

export function patchEdge(application: Application, { edge, expectedWeight, weight, label, atMs }: PatchEdge): void {
  const { connection } = application;
  const seq = edgeSeq(application, edge, expectedWeight);
  if (weight !== undefined) connection.run('UPDATE hyperedges SET weight = ? WHERE seq = ?', weight, seq);
  if (label !== undefined && label !== edge.label) {
    const key = edgeKey(label, edge.members, edge.type);
    if (connection.get('SELECT 1 FROM hyperedges WHERE key = ?', key)) throw new ApplyConflict('edge_exists', key);
    connection.run('UPDATE hyperedges SET label = ?, key = ? WHERE seq = ?', label, key, seq);
    connection.run('UPDATE membership SET label = ? WHERE edge_seq = ?', label, seq);
  }
  log(application, 'relink', edge, atMs);
}

export function removeEdge(application: Application, { edge, atMs }: RemoveEdge): void {
  const seq = edgeSeq(application, edge);
  log(application, 'unlink', edge, atMs);
  application.connection.run('DELETE FROM hyperedges WHERE seq = ?', seq);
}

/** An edge that lost a member says something else; where another says that already, it goes. */
export function rekeyEdge({ connection }: Application, seq: number): void {
  const [edge] = toEdges(connection.all<EdgeMemberRow>(EDGES_BY_SEQ, JSON.stringify([seq])));
  if (!edge) return;
  const key = edgeKey(edge.label, edge.members, edge.type);
  const { changes } = connection.run('UPDATE OR IGNORE hyperedges SET key = ? WHERE seq = ?', key, seq);
  if (changes === 0) connection.run('DELETE FROM hyperedges WHERE seq = ?', seq);
}

/** The label is asked for again: an edge that says something else by now is another one. */
function edgeSeq({ connection }: Application, { id, label }: StandingEdge, weight: number | null = null): number {
  const row = connection.get<{ seq: number }>(
    'SELECT seq FROM hyperedges WHERE id = ? AND label = ? AND weight = ifnull(?, weight)',
    id,
    label,
    weight,
  );
  if (!row) throw new ApplyConflict('edge_missing', id);
  return row.seq;
}

function log(application: Application, operation: string, edge: StandingEdge, atMs: number): void {
  const ids = [...new Set(edge.members.map((member) => member.nodeId))];
  const nodes = ids.map((id) => ({ id, seq: application.nodeSeq(id) }));
  application.log(`${operation}:${edge.label}`, edge.repoId, atMs, nodes, null);
}
