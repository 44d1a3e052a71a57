import { setImmediate } from 'node:timers/promises';
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

/** More members than these help nobody with one answer. */
const MEMBERS_MAX = 20_000;
/** Others have their turn after so many nodes were looked around, and after so many edges were read. */
const NODES_PER_TURN = 25;
const EDGES_PER_TURN = 25;

/**
 * For each node the strongest of its edges that are taken, of the same weight the newest, and one more to tell whether that is all.
 * Each edge of a hub is looked at once: a limit that were worked out for every one of them would make its price a square.
 */
export const EDGES_AROUND = `
  SELECT node, edge, place FROM (
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
  WHERE place <= @perNode + 1 ORDER BY place, edge DESC LIMIT ${MEMBERS_MAX} + 1`;

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

  async findEdgesAround(view: View, nodeIds: readonly string[], ways: EdgeWays): Promise<Found<StoredEdge>> {
    const found: StoredEdge[] = [];
    let isComplete = true;
    for (const space of view.spaces) {
      const chosen = await this.#chooseEdges(space, view, nodeIds, ways);
      const read = await this.#readEdges(space, chosen.found);
      found.push(...read.found);
      isComplete &&= chosen.isComplete && read.isComplete;
    }
    return { found, isComplete };
  }

  /** The first edges of all nodes before the second of any, so that a few of them do not take all the room. */
  async #chooseEdges(
    space: SpaceName,
    { asOfMs: asOf }: View,
    nodeIds: readonly string[],
    { types, label, otherThan, withIds, perNode }: EdgeWays,
  ): Promise<Found<number>> {
    const placed = new Placed(perNode);
    const shared = {
      types: types && JSON.stringify(types),
      label,
      otherThan: otherThan ? JSON.stringify(otherThan) : null,
      asOf,
      with: withIds ? this.#listSeqs(space, withIds) : null,
    };
    for (let start = 0; start < nodeIds.length; start += NODES_PER_TURN) {
      if (start > 0) await setImmediate();
      const seqs = this.#listSeqs(space, nodeIds.slice(start, start + NODES_PER_TURN));
      const parameters = { ...shared, seqs, perNode: placed.placeMax };
      placed.add(this.spaces.peek<PlacedEdge[]>(space, (connection) => connection.rows(EDGES_AROUND, parameters), []));
    }
    return placed.chosen();
  }

  #listSeqs(space: SpaceName, ids: readonly string[]): string {
    return this.spaces.peek(space, (connection) => listOf(seqsOf(connection, ids)), '[]');
  }

  /** Whole edges in the order of the choice, until there are members enough. */
  async #readEdges(space: SpaceName, seqs: readonly number[]): Promise<Found<StoredEdge>> {
    const found: StoredEdge[] = [];
    let members = 0;
    for (let start = 0; start < seqs.length && members < MEMBERS_MAX; start += EDGES_PER_TURN) {
      if (start > 0) await setImmediate();
      const turn = seqs.slice(start, start + EDGES_PER_TURN);
      const rows = this.spaces.peek<EdgeMemberRow[]>(
        space,
        (connection) => connection.all<EdgeMemberRow>(EDGES_BY_SEQ, JSON.stringify(turn)),
        [],
      );
      members += rows.length;
      const bySeq = new Map(toEdges(rows).map((edge) => [edge.seq, edge]));
      found.push(...turn.flatMap((seq) => bySeq.get(seq) ?? []));
    }
    return { found, isComplete: members < MEMBERS_MAX || found.length === seqs.length };
  }
}

/** An edge of a node, and how many of that node come before it. */
type PlacedEdge = readonly [node: number, edge: number, place: number];

/** Gathers the edges of nodes in the order of their places, as many as can be read: each is one member at least. */
class Placed {
  #rows: PlacedEdge[] = [];
  #isComplete = true;
  /** Edges of later places have no room any more. */
  placeMax: number;

  constructor(private readonly perNode: number) {
    this.placeMax = perNode;
  }

  add(rows: readonly PlacedEdge[]): void {
    const within = rows.filter(([, , place]) => place <= this.perNode);
    this.#rows = [...this.#rows, ...within].sort(([, a, placeA], [, b, placeB]) => placeA - placeB || b - a);
    this.#isComplete &&= within.length === rows.length && this.#rows.length <= MEMBERS_MAX;
    this.#rows.length = Math.min(this.#rows.length, MEMBERS_MAX);
    if (this.#rows.length === MEMBERS_MAX) this.placeMax = this.#rows.at(-1)?.[2] ?? this.perNode;
  }

  chosen(): Found<number> {
    return { found: [...new Set(this.#rows.map(([, edge]) => edge))], isComplete: this.#isComplete };
  }
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
