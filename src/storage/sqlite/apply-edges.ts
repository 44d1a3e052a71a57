import type { PatchEdge, RemoveEdge, StandingEdge } from '../../domain/changes.js';
import { edgeKey } from '../../domain/links.js';
import { ApplyConflict } from '../port.js';
import type { Application } from './apply.js';

/** What a plan may do to edges that stand. */

export function patchEdge(application: Application, { edge, weight, label, atMs }: PatchEdge): void {
  const { connection } = application;
  const seq = edgeSeq(application, edge);
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

/** The label is asked for again: an edge that says something else by now is another one. */
function edgeSeq({ connection }: Application, { id, label }: StandingEdge): number {
  const row = connection.get<{ seq: number }>('SELECT seq FROM hyperedges WHERE id = ? AND label = ?', id, label);
  if (!row) throw new ApplyConflict('edge_missing', id);
  return row.seq;
}

function log(application: Application, operation: string, edge: StandingEdge, atMs: number): void {
  const ids = [...new Set(edge.members.map((member) => member.nodeId))];
  const nodes = ids.map((id) => ({ id, seq: application.nodeSeq(id) }));
  application.log(`${operation}:${edge.label}`, edge.repoId, atMs, nodes, null);
}
