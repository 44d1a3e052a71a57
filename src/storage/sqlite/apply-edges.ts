import type { PatchEdge, RemoveEdge, SetMembers, StandingEdge } from '../../domain/changes.js';
import { edgeKey, LINKS, membersOf } from '../../domain/links.js';
import { ApplyConflict, type StoredEdge } from '../port.js';
import type { Application } from './apply.js';
import type { Connection } from './connection.js';
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

/** The edge keeps its place and its age; only those who come and those who go are touched. */
export function setMembers(application: Application, change: SetMembers): void {
  const { connection } = application;
  const { label, repoId, ownerId, memberIds, atMs } = change;
  const members = membersOf(label, [ownerId, ...memberIds]);
  const key = edgeKey(label, members, LINKS[label].type);
  const row = connection.get<{ seq: number }>('SELECT seq FROM hyperedges WHERE key = ?', key);
  const seq = row ? row.seq : insertEdgeRow(connection, change, key);
  const wanted = new Map(members.map((member) => [application.nodeSeq(member.nodeId), member]));
  const standing = new Map(connection.rows<[number, number]>(PLACES_OF_EDGE, seq));
  const changed: { id: string; seq: number | bigint }[] = [];
  for (const [nodeSeq, { nodeId, role, position }] of wanted) {
    if (standing.get(Number(nodeSeq)) === position) continue;
    connection.run(PLACE_MEMBER, seq, nodeSeq, role, position, label);
    if (!standing.has(Number(nodeSeq))) changed.push({ id: nodeId, seq: nodeSeq });
  }
  for (const nodeSeq of standing.keys()) {
    if (!wanted.has(nodeSeq))
      connection.run('DELETE FROM membership WHERE edge_seq = ? AND node_seq = ?', seq, nodeSeq);
  }
  if (changed.length > 0) application.log(`link:${label}`, repoId, atMs, changed, null);
}

const PLACES_OF_EDGE = 'SELECT node_seq, position FROM membership WHERE edge_seq = ?';

const PLACE_MEMBER = `
  INSERT INTO membership (edge_seq, node_seq, role, position, label) VALUES (?, ?, ?, ?, ?)
  ON CONFLICT (edge_seq, node_seq, role) DO UPDATE SET position = excluded.position`;

function insertEdgeRow(connection: Connection, change: SetMembers, key: string): number {
  const { type, weight } = LINKS[change.label];
  const insert = `
    INSERT INTO hyperedges (id, repo_id, type, label, weight, origin, key, created_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?)`;
  const { edgeId, repoId, label, origin, atMs } = change;
  return Number(connection.run(insert, edgeId, repoId, type, label, weight, origin, key, atMs).lastInsertRowid);
}

/** An edge that lost a member says something else; where another says that already, it goes. */
export function rekeyEdge(application: Application, seq: number, atMs: number): void {
  const { connection } = application;
  const edge = standingEdge(application, seq);
  if (!edge) return;
  const key = edgeKey(edge.label, edge.members, edge.type);
  const { changes } = connection.run('UPDATE OR IGNORE hyperedges SET key = ? WHERE seq = ?', key, seq);
  if (changes === 0) dropEdge(application, seq, atMs);
}

/** An edge that goes because a node goes: the others that it joined are told in the log. */
export function dropEdge(application: Application, seq: number, atMs: number): void {
  const edge = standingEdge(application, seq);
  if (edge) log(application, 'unlink', edge, atMs);
  application.connection.run('DELETE FROM hyperedges WHERE seq = ?', seq);
}

const standingEdge = ({ connection }: Application, seq: number): StoredEdge | undefined =>
  toEdges(connection.all<EdgeMemberRow>(EDGES_BY_SEQ, JSON.stringify([seq])))[0];

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
