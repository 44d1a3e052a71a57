import { edgeKey } from '../../domain/links.js';
import type { SpaceName, View } from '../../domain/spaces.js';
import { EDGE_TYPES, type EdgeType, type Role } from '../../domain/vocabulary.js';
import type { EdgeFilter, EdgePlace, EdgeWays, Found, StoredEdge } from '../port.js';
import type { Connection } from './connection.js';
import { listOf, seqsOf } from './seqs.js';
import type { Spaces } from './spaces.js';

/** One row per member of an edge. */
export const EDGE_COLUMNS = `e.seq, e.id, e.repo_id, e.type, e.label, e.weight, e.rationale, e.created_at,
  member.id AS member_id, s.role AS member_role, s.position`;
export const EDGE_MEMBERS = `
  CROSS JOIN membership s ON s.edge_seq = e.seq CROSS JOIN nodes member ON member.seq = s.node_seq`;

export const GET_EDGE = `SELECT ${EDGE_COLUMNS} FROM hyperedges e ${EDGE_MEMBERS} WHERE e.id = ?`;

/** In the order of the index, so that a page is a walk from where the last one ended. */
export const LIST_EDGES = `
  SELECT e.seq FROM hyperedges e WHERE e.type = @type AND (e.label, e.seq) > (@afterLabel, @afterSeq)
  ORDER BY e.label, e.seq LIMIT @limit`;

export const LIST_LABELLED_EDGES = `
  SELECT e.seq FROM hyperedges e WHERE e.type = @type AND e.label = @label AND e.seq > @afterSeq
  ORDER BY e.seq LIMIT @limit`;

export const LIST_EDGES_OF_NODE = `
  SELECT DISTINCT e.seq FROM membership x CROSS JOIN hyperedges e ON e.seq = x.edge_seq
  WHERE x.node_seq = @node AND (@label IS NULL OR x.label = @label) AND (@type IS NULL OR e.type = @type)
  AND (e.type, e.label, e.seq) > (@afterType, @afterLabel, @afterSeq) ORDER BY e.type, e.label, e.seq LIMIT @limit`;

export const EDGES_BY_SEQ = `
  SELECT ${EDGE_COLUMNS} FROM json_each(?) AS wanted CROSS JOIN hyperedges e ON e.seq = wanted.value ${EDGE_MEMBERS}`;

export const EDGES_BY_KEY = `
  SELECT ${EDGE_COLUMNS} FROM json_each(?) AS wanted CROSS JOIN hyperedges e ON e.key = wanted.value ${EDGE_MEMBERS}`;

/** More edges and members than these help nobody with one answer. */
const EDGES_MAX = 20_000;
const MEMBERS_MAX = 20_000;
/** So many edges are read at a time, so that there is a moment to stop at. */
const EDGES_PER_BATCH = 100;

/**
 * For each node the strongest of its edges that are taken, of the same weight the newest, and one more to tell whether that is all.
 * Each edge of a hub is looked at once: a limit that were worked out for every one of them would make its price a square.
 */
export const EDGES_AROUND = `
  SELECT node, edge FROM (
    SELECT x.node_seq AS node, x.edge_seq AS edge,
      row_number() OVER (PARTITION BY x.node_seq ORDER BY e.weight DESC, x.edge_seq DESC) AS place
    FROM json_each(@seqs) AS wanted CROSS JOIN membership x ON x.node_seq = wanted.value
    CROSS JOIN hyperedges e ON e.seq = x.edge_seq
    WHERE (@label IS NULL OR x.label = @label)
    AND (@otherThan IS NULL OR x.label NOT IN (SELECT value FROM json_each(@otherThan)))
    AND (@types IS NULL OR e.type IN (SELECT value FROM json_each(@types)))
    AND (@asOf IS NULL OR e.created_at <= @asOf)
    AND (@with IS NULL OR EXISTS (
      SELECT 1 FROM membership y WHERE y.edge_seq = x.edge_seq AND y.node_seq IN (SELECT value FROM json_each(@with))))
    GROUP BY x.node_seq, x.edge_seq) AS placed
  WHERE place <= @perNode + 1 ORDER BY place, edge DESC`;

/** Edges as such, from one or more spaces. */
export class Edges {
  constructor(private readonly spaces: Spaces) {}

  getEdge(view: View, id: string): StoredEdge | null {
    const rows = this.spaces.inEach(view, (connection) => connection.all<EdgeMemberRow>(GET_EDGE, id));
    return toEdges(rows)[0] ?? null;
  }

  findEdgesByKey(view: View, keys: readonly string[]): Map<string, StoredEdge> {
    const wanted = JSON.stringify(keys);
    const edges = this.spaces.inEach(view, (connection) =>
      toEdges(connection.all<EdgeMemberRow>(EDGES_BY_KEY, wanted)),
    );
    return new Map(edges.map((edge) => [edgeKey(edge.label, edge.members, edge.type), edge]));
  }

  listEdges(space: SpaceName, filter: EdgeFilter, after: EdgePlace | null, limit: number): StoredEdge[] {
    return this.spaces.peek<StoredEdge[]>(
      space,
      (connection) => {
        const seqs = listSeqs(connection, filter, after, limit);
        const edges = toEdges(connection.all<EdgeMemberRow>(EDGES_BY_SEQ, JSON.stringify(seqs)));
        const places = new Map(seqs.map((seq, index) => [seq, index]));
        return edges.sort((a, b) => (places.get(a.seq) as number) - (places.get(b.seq) as number));
      },
      [],
    );
  }

  findEdgesAround(view: View, nodeIds: readonly string[], ways: EdgeWays): Found<StoredEdge> {
    const { types, label, otherThan, withIds, perNode } = ways;
    const shared = {
      types: types && JSON.stringify(types),
      label,
      otherThan: otherThan ? JSON.stringify(otherThan) : null,
      perNode,
      asOf: view.asOfMs,
    };
    let isComplete = true;
    const found = this.spaces.inEach(view, (connection) => {
      const seqs = seqsOf(connection, nodeIds);
      if (seqs.size === 0) return [];
      const parameters = {
        ...shared,
        seqs: listOf(seqs),
        with: withIds ? listOf(seqsOf(connection, withIds)) : null,
      };
      const chosen = chooseEdges(connection.rows<[number, number]>(EDGES_AROUND, parameters), perNode);
      const edges = readEdges(connection, chosen.found.slice(0, EDGES_MAX));
      isComplete &&= chosen.isComplete && edges.length === chosen.found.length;
      return edges;
    });
    return { found, isComplete };
  }
}

/** The first `perNode` edges of each node. */
function chooseEdges(around: readonly (readonly [number, number])[], perNode: number): Found<number> {
  const counts = new Map<number, number>();
  const chosen = new Set<number>();
  for (const [node, edge] of around) {
    const count = (counts.get(node) ?? 0) + 1;
    counts.set(node, count);
    if (count <= perNode) chosen.add(edge);
  }
  return { found: [...chosen], isComplete: [...counts.values()].every((count) => count <= perNode) };
}

/** Whole edges in the order of the choice, until there are members enough. */
function readEdges(connection: Connection, seqs: readonly number[]): StoredEdge[] {
  const edges: StoredEdge[] = [];
  let members = 0;
  for (let start = 0; start < seqs.length && members < MEMBERS_MAX; start += EDGES_PER_BATCH) {
    const batch = seqs.slice(start, start + EDGES_PER_BATCH);
    const rows = connection.all<EdgeMemberRow>(EDGES_BY_SEQ, JSON.stringify(batch));
    members += rows.length;
    const bySeq = new Map(toEdges(rows).map((edge) => [edge.seq, edge]));
    edges.push(...batch.flatMap((seq) => bySeq.get(seq) ?? []));
  }
  return edges;
}

const BEFORE_ALL = { type: '', label: '', seq: 0 };

function listSeqs(
  connection: Connection,
  { type, label, nodeId }: EdgeFilter,
  after: EdgePlace | null,
  limit: number,
): number[] {
  const place = after ?? BEFORE_ALL;
  if (nodeId !== null) {
    const [node] = seqsOf(connection, [nodeId]).keys();
    if (node === undefined) return [];
    const from = { afterType: place.type, afterLabel: place.label, afterSeq: place.seq };
    return connection.rows<[number]>(LIST_EDGES_OF_NODE, { node, type, label, ...from, limit }).map(([seq]) => seq);
  }
  const seqs: number[] = [];
  for (const each of [...EDGE_TYPES].sort()) {
    if ((type !== null && each !== type) || each < place.type) continue;
    const from = each === place.type ? place : BEFORE_ALL;
    const parameters = { type: each, afterSeq: from.seq, limit: limit - seqs.length };
    const rows =
      label === null
        ? connection.rows<[number]>(LIST_EDGES, { ...parameters, afterLabel: from.label })
        : connection.rows<[number]>(LIST_LABELLED_EDGES, { ...parameters, label });
    seqs.push(...rows.map(([seq]) => seq));
    if (seqs.length >= limit) break;
  }
  return seqs;
}

export interface EdgeMemberRow {
  seq: number;
  id: string;
  repo_id: string;
  type: EdgeType;
  label: string;
  weight: number;
  rationale: string | null;
  created_at: number;
  member_id: string;
  member_role: Role;
  position: number;
}

/** Newest first, members in their order. An edge that two of the wanted nodes share comes twice, the same each time. */
export function toEdges(rows: readonly EdgeMemberRow[]): StoredEdge[] {
  const bySeq = new Map<number, Map<string, EdgeMemberRow>>();
  for (const row of rows) {
    const members = bySeq.get(row.seq) ?? new Map<string, EdgeMemberRow>();
    bySeq.set(row.seq, members.set(`${row.member_id} ${row.member_role}`, row));
  }
  return [...bySeq]
    .sort(([a], [b]) => b - a)
    .map(([, members]) => toEdge([...members.values()].sort((a, b) => a.position - b.position)));
}

function toEdge(rows: readonly EdgeMemberRow[]): StoredEdge {
  const { id, seq, repo_id, type, label, weight, rationale, created_at } = rows[0] as EdgeMemberRow;
  return {
    id,
    seq,
    repoId: repo_id,
    type,
    label,
    weight,
    rationale,
    createdAtMs: created_at,
    members: rows.map((row) => ({ nodeId: row.member_id, role: row.member_role, position: row.position })),
  };
}
