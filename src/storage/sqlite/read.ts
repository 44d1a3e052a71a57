import type { SpaceName, View } from '../../domain/spaces.js';
import type { MemoryKind, NodeType, Role, Scope, Tier } from '../../domain/vocabulary.js';
import type {
  MemoryBrief,
  Neighbour,
  NodeCount,
  SameText,
  StoredEdge,
  StoredMemory,
  StoredReply,
  StoredVote,
  VoteSum,
} from '../port.js';
import type { Connection } from './connection.js';
import type { Spaces } from './spaces.js';
import { ARCHIVED, VISIBLE, visibility } from './visibility.js';

export const MEMORY_COLUMNS = `n.id, n.kind, n.type, n.repo_id, n.scope, n.content, n.confidence, n.tier, n.archived_from,
  n.archived_at, n.archive_reason, n.revision, n.created_at, n.updated_at, m.rationale, m.text_digest, ${ARCHIVED} AS archived`;

/** More of the same text than this is not a store, it is an accident. */
const SAME_TEXT_MAX = 100;

export const FIND_SAME_TEXT = `
  SELECT n.id, n.tier = 'archive' AS archived, EXISTS (
    SELECT 1 FROM membership s WHERE s.node_seq = n.seq AND s.label = 'fact_update' AND s.role = 'object') AS superseded
  FROM memories m JOIN nodes n ON n.seq = m.node_seq WHERE m.text_digest = ? AND m.kind = ?
  ORDER BY archived, superseded, n.seq LIMIT ${SAME_TEXT_MAX}`;

export const GET_MEMORIES = `
  SELECT ${MEMORY_COLUMNS} FROM json_each(@ids) AS wanted
  CROSS JOIN nodes n ON n.id = wanted.value JOIN memories m ON m.node_seq = n.seq WHERE ${VISIBLE}`;

/** The columns of a brief, in the order of `BriefRow`. */
export const BRIEF_COLUMNS = `n.id, n.kind, n.scope, n.content, n.confidence, n.created_at, ${ARCHIVED}`;

export const GET_BRIEFS = `
  SELECT ${BRIEF_COLUMNS} FROM json_each(@ids) AS wanted CROSS JOIN nodes n ON n.id = wanted.value
  WHERE n.form = 'memory' AND ${VISIBLE}`;

/** Of a hub only the newest edges of each label are looked at, whatever it has gathered. */
const NEWEST_EDGES = `
  FROM json_each(@ids) AS wanted CROSS JOIN nodes n ON n.id = wanted.value CROSS JOIN json_each(@labels) AS sort
  CROSS JOIN membership x ON x.node_seq = n.seq AND x.label = sort.value AND x.edge_seq > ifnull((
    SELECT h.edge_seq FROM membership h WHERE h.node_seq = n.seq AND h.label = sort.value
    AND (@asOf IS NULL OR (SELECT created_at FROM hyperedges WHERE seq = h.edge_seq) <= @asOf)
    ORDER BY h.edge_seq DESC LIMIT 1 OFFSET @perNode), 0)
  CROSS JOIN hyperedges e ON e.seq = x.edge_seq AND (@asOf IS NULL OR e.created_at <= @asOf)`;

export const FIND_NEIGHBOURS = `
  SELECT n.id, other.id, e.label, e.weight ${NEWEST_EDGES}
  CROSS JOIN membership s ON s.edge_seq = e.seq AND s.node_seq <> n.seq CROSS JOIN nodes other ON other.seq = s.node_seq`;

/** One row per member of each edge found. */
export const FIND_EDGES = `
  SELECT e.seq, e.id, e.label, e.weight, e.rationale, e.created_at, member.id AS member_id, s.role AS member_role, s.position
  ${NEWEST_EDGES} CROSS JOIN membership s ON s.edge_seq = e.seq CROSS JOIN nodes member ON member.seq = s.node_seq`;

export const FIND_SUCCESSORS = `
  SELECT n.id AS old_id, f.id AS new_id, e.created_at
  FROM json_each(@ids) AS wanted CROSS JOIN nodes n ON n.id = wanted.value
  CROSS JOIN membership o ON o.node_seq = n.seq AND o.label = 'fact_update' AND o.role = 'object'
  CROSS JOIN hyperedges e ON e.seq = o.edge_seq
  CROSS JOIN membership s ON s.edge_seq = e.seq AND s.role = 'effect' CROSS JOIN nodes f ON f.seq = s.node_seq
  WHERE @asOf IS NULL OR e.created_at <= @asOf ORDER BY e.created_at, e.seq`;

export const SUM_VOTES = `
  SELECT n.id, count(*) AS votes, sum(v.vote) AS total
  FROM json_each(@ids) AS wanted CROSS JOIN nodes n ON n.id = wanted.value
  CROSS JOIN utility_observations v ON v.memory_seq = n.seq
  WHERE @asOf IS NULL OR v.created_at <= @asOf GROUP BY n.id`;

export const FIND_VOTES = `
  SELECT v.seq, v.id, p.id AS problem_id, v.vote, v.rationale, v.created_at
  FROM nodes n JOIN utility_observations v ON v.memory_seq = n.seq JOIN nodes p ON p.seq = v.problem_seq
  WHERE n.id = @id AND (@asOf IS NULL OR v.created_at <= @asOf) ORDER BY v.created_at DESC, v.seq DESC LIMIT @limit`;

const VOTE_EVIDENCE = `
  SELECT r.ref FROM vote_evidence x JOIN evidence_refs r ON r.seq = x.evidence_seq WHERE x.vote_seq = ? ORDER BY x.position`;

export const NODE_EVIDENCE = `
  SELECT r.ref FROM nodes n JOIN node_evidence x ON x.node_seq = n.seq JOIN evidence_refs r ON r.seq = x.evidence_seq
  WHERE n.id = @id AND (@asOf IS NULL OR x.created_at <= @asOf) ORDER BY x.created_at, x.position`;

export const FIND_REPLY =
  'SELECT request_digest, reply FROM idempotency_keys WHERE repo_id = ? AND key = ? AND created_at >= ?';

export interface MemoryRow {
  id: string;
  kind: MemoryKind;
  type: NodeType;
  repo_id: string;
  scope: Scope;
  content: string;
  confidence: number | null;
  tier: Tier;
  archived_from: Tier | null;
  archived_at: number | null;
  archive_reason: string | null;
  revision: number;
  created_at: number;
  updated_at: number;
  rationale: string | null;
  text_digest: string;
  archived: 0 | 1;
}

export const toMemory = (row: MemoryRow): StoredMemory => ({
  id: row.id,
  form: 'memory',
  kind: row.kind,
  type: row.type,
  repoId: row.repo_id,
  scope: row.scope,
  content: row.content,
  confidence: row.confidence,
  tier: row.tier,
  archived: row.archived === 1,
  archivedFrom: row.archived_from,
  archivedAtMs: row.archived_at,
  archiveReason: row.archive_reason,
  revision: row.revision,
  createdAtMs: row.created_at,
  updatedAtMs: row.updated_at,
  rationale: row.rationale,
  textDigest: row.text_digest,
});

export type BriefRow = readonly [string, MemoryKind, Scope, string, number | null, number, 0 | 1];

export const toBrief = ([id, kind, scope, content, confidence, createdAtMs, archived]: BriefRow): MemoryBrief => ({
  id,
  form: 'memory',
  kind,
  scope,
  content,
  confidence,
  archived: archived === 1,
  createdAtMs,
});

/** What was true before may be written again once it is true again, so a replaced fact is told from a current one. */
export const findSameText = (connection: Connection, kind: string, textDigest: string): SameText[] =>
  connection
    .rows<[string, 0 | 1, 0 | 1]>(FIND_SAME_TEXT, textDigest, kind)
    .map(([id, archived, superseded]) => ({ id, archived: archived === 1, superseded: superseded === 1 }));

export function findReply(connection: Connection, repoId: string, key: string, sinceMs: number): StoredReply | null {
  const row = connection.get<{ request_digest: string; reply: string }>(FIND_REPLY, repoId, key, sinceMs);
  return row ? { requestDigest: row.request_digest, reply: row.reply } : null;
}

/** Who is asked for twice is answered once. */
const listOf = (ids: readonly string[]): string => JSON.stringify([...new Set(ids)]);

/** Reads of one or more spaces, put together. */
export class Reader {
  constructor(private readonly spaces: Spaces) {}

  getMemories(view: View, ids: readonly string[]): StoredMemory[] {
    if (ids.length === 0) return [];
    const parameters = { ...visibility(view), ids: listOf(ids) };
    return this.#inEach(view, (connection) => connection.all<MemoryRow>(GET_MEMORIES, parameters)).map(toMemory);
  }

  getBriefs(view: View, ids: readonly string[]): MemoryBrief[] {
    if (ids.length === 0) return [];
    const parameters = { ...visibility(view), ids: listOf(ids) };
    return this.#inEach(view, (connection) => connection.rows<BriefRow>(GET_BRIEFS, parameters)).map(toBrief);
  }

  findSameText(space: SpaceName, kind: string, textDigest: string): SameText[] {
    return this.spaces.peek<SameText[]>(space, (connection) => findSameText(connection, kind, textDigest), []);
  }

  findEdges(view: View, nodeIds: readonly string[], labels: readonly string[], perNode: number): StoredEdge[] {
    if (nodeIds.length === 0 || labels.length === 0) return [];
    const parameters = {
      ids: listOf(nodeIds),
      labels: JSON.stringify(labels),
      asOf: view.asOfMs,
      perNode,
    };
    const edges = this.#inEach(view, (connection) => toEdges(connection.all<EdgeMemberRow>(FIND_EDGES, parameters)));
    // Each space answers its newest first; the sort is stable and puts the spaces in one order.
    return edges.sort((a, b) => b.createdAtMs - a.createdAtMs);
  }

  findNeighbours(view: View, nodeIds: readonly string[], labels: readonly string[], perNode: number): Neighbour[] {
    if (nodeIds.length === 0 || labels.length === 0) return [];
    const parameters = {
      ids: listOf(nodeIds),
      labels: JSON.stringify(labels),
      asOf: view.asOfMs,
      perNode,
    };
    return this.#inEach(view, (connection) =>
      connection.rows<[string, string, string, number]>(FIND_NEIGHBOURS, parameters),
    ).map(([fromId, toId, label, weight]) => ({ fromId, toId, label, weight }));
  }

  findSuccessors(view: View, factIds: readonly string[]): Map<string, string> {
    if (factIds.length === 0) return new Map();
    const parameters = { ids: listOf(factIds), asOf: view.asOfMs };
    const rows = this.#inEach(view, (connection) => connection.all<SuccessorRow>(FIND_SUCCESSORS, parameters));
    // Each space answers in the order of time; between spaces only the time can tell which replacement came last.
    rows.sort((a, b) => a.created_at - b.created_at);
    return new Map(rows.map((row) => [row.old_id, row.new_id]));
  }

  sumVotes(view: View, memoryIds: readonly string[]): Map<string, VoteSum> {
    if (memoryIds.length === 0) return new Map();
    const parameters = { ids: listOf(memoryIds), asOf: view.asOfMs };
    const sums = new Map<string, { votes: number; total: number }>();
    for (const row of this.#inEach(view, (connection) => connection.all<VoteSumRow>(SUM_VOTES, parameters))) {
      const known = sums.get(row.id) ?? { votes: 0, total: 0 };
      sums.set(row.id, { votes: known.votes + row.votes, total: known.total + row.total });
    }
    return new Map([...sums].map(([id, { votes, total }]) => [id, { count: votes, mean: total / votes }]));
  }

  findVotes(view: View, memoryId: string, limit: number): StoredVote[] {
    const parameters = { id: memoryId, asOf: view.asOfMs, limit };
    return this.#inEach(view, (connection) =>
      connection.all<VoteRow>(FIND_VOTES, parameters).map((row) => ({
        id: row.id,
        problemId: row.problem_id,
        vote: row.vote,
        rationale: row.rationale,
        evidenceRefs: connection.all<{ ref: string }>(VOTE_EVIDENCE, row.seq).map(({ ref }) => ref),
        createdAtMs: row.created_at,
      })),
    )
      .sort((a, b) => b.createdAtMs - a.createdAtMs)
      .slice(0, limit);
  }

  findEvidence(view: View, memoryId: string): string[] {
    const parameters = { id: memoryId, asOf: view.asOfMs };
    return this.#inEach(view, (connection) => connection.all<{ ref: string }>(NODE_EVIDENCE, parameters)).map(
      ({ ref }) => ref,
    );
  }

  findReply(spaces: readonly SpaceName[], repoId: string, key: string, sinceMs: number): StoredReply | null {
    for (const space of spaces) {
      const reply = this.spaces.peek(space, (connection) => findReply(connection, repoId, key, sinceMs), null);
      if (reply) return reply;
    }
    return null;
  }

  countNodes(space: SpaceName): NodeCount[] {
    return this.spaces.peek(
      space,
      (connection) =>
        connection.all<NodeCount>(
          'SELECT form, kind, tier, nodes FROM node_counts WHERE nodes > 0 ORDER BY form, kind, tier',
        ),
      [],
    );
  }

  /** A space that holds nothing is not asked: many stores have no global memories at all. */
  #inEach<Row>(view: View, read: (connection: Connection) => Row[]): Row[] {
    return view.spaces.flatMap((space) =>
      this.spaces.peek<Row[]>(space, (connection) => (connection.isEmpty() ? [] : read(connection)), []),
    );
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

interface SuccessorRow {
  old_id: string;
  new_id: string;
  created_at: number;
}

interface VoteSumRow {
  id: string;
  votes: number;
  total: number;
}

interface VoteRow {
  seq: number;
  id: string;
  problem_id: string;
  vote: number;
  rationale: string | null;
  created_at: number;
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
