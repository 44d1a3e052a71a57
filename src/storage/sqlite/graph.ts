import type { View } from '../../domain/spaces.js';
import type { Role } from '../../domain/vocabulary.js';
import type { Neighbour, StoredEdge, VoteSum } from '../port.js';
import { listOf, noteSeq, seqsOf } from './seqs.js';
import type { Spaces } from './spaces.js';

/** Of a hub only the newest edges of each label are looked at, whatever it has gathered. */
const NEWEST_EDGES = `
  FROM json_each(@seqs) AS wanted CROSS JOIN json_each(@labels) AS sort
  CROSS JOIN membership x ON x.node_seq = wanted.value AND x.label = sort.value AND x.edge_seq > ifnull((
    SELECT h.edge_seq FROM membership h WHERE h.node_seq = wanted.value AND h.label = sort.value
    AND (@asOf IS NULL OR (SELECT created_at FROM hyperedges WHERE seq = h.edge_seq) <= @asOf)
    ORDER BY h.edge_seq DESC LIMIT 1 OFFSET @perNode), 0)
  CROSS JOIN hyperedges e ON e.seq = x.edge_seq AND (@asOf IS NULL OR e.created_at <= @asOf)`;

export const FIND_NEIGHBOURS = `
  SELECT x.node_seq, other.seq, other.id, x.label, e.weight ${NEWEST_EDGES}
  CROSS JOIN membership s ON s.edge_seq = e.seq AND s.node_seq <> x.node_seq
  CROSS JOIN nodes other ON other.seq = s.node_seq`;

/** One row per member of each edge found. */
export const FIND_EDGES = `
  SELECT e.seq, e.id, e.label, e.weight, e.rationale, e.created_at, member.id AS member_id, s.role AS member_role, s.position
  ${NEWEST_EDGES} CROSS JOIN membership s ON s.edge_seq = e.seq CROSS JOIN nodes member ON member.seq = s.node_seq`;

export const FIND_SUCCESSORS = `
  SELECT o.node_seq, f.seq, f.id, e.created_at FROM json_each(@seqs) AS wanted
  CROSS JOIN membership o ON o.node_seq = wanted.value AND o.label = 'fact_update' AND o.role = 'object'
  CROSS JOIN hyperedges e ON e.seq = o.edge_seq
  CROSS JOIN membership s ON s.edge_seq = e.seq AND s.role = 'effect' CROSS JOIN nodes f ON f.seq = s.node_seq
  WHERE @asOf IS NULL OR e.created_at <= @asOf ORDER BY e.created_at, e.seq`;

export const SUM_VOTES = `
  SELECT v.memory_seq, count(*), sum(v.vote)
  FROM json_each(@seqs) AS wanted CROSS JOIN utility_observations v ON v.memory_seq = wanted.value
  WHERE @asOf IS NULL OR v.created_at <= @asOf GROUP BY v.memory_seq`;

/** What nodes have to do with each other, from one or more spaces. */
export class Graph {
  constructor(private readonly spaces: Spaces) {}

  findEdges(view: View, nodeIds: readonly string[], labels: readonly string[], perNode: number): StoredEdge[] {
    if (labels.length === 0) return [];
    const shared = { labels: JSON.stringify(labels), asOf: view.asOfMs, perNode };
    const edges = this.spaces.inEach(view, (connection) => {
      const seqs = seqsOf(connection, nodeIds);
      if (seqs.size === 0) return [];
      return toEdges(connection.all<EdgeMemberRow>(FIND_EDGES, { ...shared, seqs: listOf(seqs) }));
    });
    // Each space answers its newest first; the sort is stable and puts the spaces in one order.
    return edges.sort((a, b) => b.createdAtMs - a.createdAtMs);
  }

  findNeighbours(view: View, nodeIds: readonly string[], labels: readonly string[], perNode: number): Neighbour[] {
    if (labels.length === 0) return [];
    const shared = { labels: JSON.stringify(labels), asOf: view.asOfMs, perNode };
    return this.spaces.inEach(view, (connection) => {
      const seqs = seqsOf(connection, nodeIds);
      if (seqs.size === 0) return [];
      const parameters = { ...shared, seqs: listOf(seqs) };
      return connection
        .rows<[number, number, string, string, number]>(FIND_NEIGHBOURS, parameters)
        .map(([from, to, toId, label, weight]) => {
          noteSeq(connection, toId, to);
          return { fromId: seqs.get(from) as string, toId, label, weight };
        });
    });
  }

  findSuccessors(view: View, factIds: readonly string[]): Map<string, string> {
    const rows = this.spaces.inEach(view, (connection) => {
      const seqs = seqsOf(connection, factIds);
      if (seqs.size === 0) return [];
      const parameters = { asOf: view.asOfMs, seqs: listOf(seqs) };
      return connection
        .rows<[number, number, string, number]>(FIND_SUCCESSORS, parameters)
        .map(([oldSeq, newSeq, newId, atMs]) => {
          noteSeq(connection, newId, newSeq);
          return { oldId: seqs.get(oldSeq) as string, newId, atMs };
        });
    });
    // Each space answers in the order of time; between spaces only the time can tell which replacement came last.
    rows.sort((a, b) => a.atMs - b.atMs);
    return new Map(rows.map(({ oldId, newId }) => [oldId, newId]));
  }

  sumVotes(view: View, memoryIds: readonly string[]): Map<string, VoteSum> {
    const rows = this.spaces.inEach(view, (connection) => {
      const seqs = seqsOf(connection, memoryIds);
      if (seqs.size === 0) return [];
      const parameters = { asOf: view.asOfMs, seqs: listOf(seqs) };
      return connection
        .rows<[number, number, number]>(SUM_VOTES, parameters)
        .map(([seq, votes, total]) => ({ id: seqs.get(seq) as string, votes, total }));
    });
    const sums = new Map<string, { votes: number; total: number }>();
    for (const { id, votes, total } of rows) {
      const known = sums.get(id) ?? { votes: 0, total: 0 };
      sums.set(id, { votes: known.votes + votes, total: known.total + total });
    }
    return new Map([...sums].map(([id, { votes, total }]) => [id, { count: votes, mean: total / votes }]));
  }
}

interface EdgeMemberRow {
  seq: number;
  id: string;
  label: string;
  weight: number;
  rationale: string | null;
  created_at: number;
  member_id: string;
  member_role: Role;
  position: number;
}

/** Newest first, members in their order. An edge that two of the wanted nodes share comes twice, the same each time. */
function toEdges(rows: readonly EdgeMemberRow[]): StoredEdge[] {
  const bySeq = new Map<number, EdgeMemberRow[]>();
  for (const row of rows) {
    const members = bySeq.get(row.seq);
    if (!members) bySeq.set(row.seq, [row]);
    else if (!members.some((known) => known.position === row.position)) members.push(row);
  }
  return [...bySeq.values()]
    .sort(([a], [b]) => (b as EdgeMemberRow).seq - (a as EdgeMemberRow).seq)
    .map((members) => toEdge(members.sort((a, b) => a.position - b.position)));
}

function toEdge(rows: readonly EdgeMemberRow[]): StoredEdge {
  const { id, label, weight, rationale, created_at } = rows[0] as EdgeMemberRow;
  return {
    id,
    label,
    weight,
    rationale,
    createdAtMs: created_at,
    members: rows.map((row) => ({ nodeId: row.member_id, role: row.member_role })),
  };
}
