import type { Replacement } from '../../domain/chains.js';
import { REFERENCE_FORM } from '../../domain/forms.js';
import type { SpaceName, View } from '../../domain/spaces.js';
import type { ExplainedReplacement, Found, Neighbour, StoredEdge, VoteSum } from '../port.js';
import type { Connection } from './connection.js';
import { EDGE_COLUMNS, EDGE_MEMBERS, type EdgeMemberRow, toEdges } from './edges.js';
import { listOf, noteSeq, seqsOf } from './seqs.js';
import type { Spaces } from './spaces.js';
import { VISIBLE, visibility } from './visibility.js';

/** Of a hub only the newest edges of each label are looked at, whatever it has gathered. */
const NEWEST_EDGES = `
  FROM json_each(@seqs) AS wanted CROSS JOIN json_each(@labels) AS sort
  CROSS JOIN membership x ON x.node_seq = wanted.value AND x.label = sort.value AND x.edge_seq > ifnull((
    SELECT h.edge_seq FROM membership h WHERE h.node_seq = wanted.value AND h.label = sort.value
    AND (@asOf IS NULL OR (SELECT created_at FROM hyperedges WHERE seq = h.edge_seq) <= @asOf)
    ORDER BY h.edge_seq DESC LIMIT 1 OFFSET @perNode), 0)
  CROSS JOIN hyperedges e ON e.seq = x.edge_seq AND (@asOf IS NULL OR e.created_at <= @asOf)`;

/** A reference may stand for somebody visible; its own space has to be asked. */
export const FIND_NEIGHBOURS = `
  SELECT x.node_seq, n.seq, n.id, n.kind, x.label, e.weight, n.form = '${REFERENCE_FORM}' ${NEWEST_EDGES}
  CROSS JOIN membership s ON s.edge_seq = e.seq AND s.node_seq <> x.node_seq
  CROSS JOIN nodes n ON n.seq = s.node_seq WHERE n.form = '${REFERENCE_FORM}' OR (${VISIBLE})`;

export const VISIBLE_IDS = `
  SELECT n.id FROM json_each(@ids) AS wanted CROSS JOIN nodes n ON n.id = wanted.value WHERE ${VISIBLE}`;

/** One row per member of each edge found. */
export const FIND_EDGES = `
  SELECT ${EDGE_COLUMNS} ${NEWEST_EDGES} ${EDGE_MEMBERS}`;

/** Who replaced each of some facts, and whether that goes on. Most were never replaced, or once: this must cost next to nothing. */
export const FIND_REPLACEMENTS = `
  SELECT o.node_seq, f.seq, f.id, e.created_at, e.seq, EXISTS (
    SELECT 1 FROM membership more WHERE more.node_seq = f.seq AND more.label = 'fact_update' AND more.role = 'object')
  FROM json_each(@seqs) AS wanted
  CROSS JOIN membership o ON o.node_seq = wanted.value AND o.label = 'fact_update' AND o.role = 'object'
  CROSS JOIN hyperedges e ON e.seq = o.edge_seq AND (@asOf IS NULL OR e.created_at <= @asOf)
  CROSS JOIN membership s ON s.edge_seq = e.seq AND s.role = 'effect' CROSS JOIN nodes f ON f.seq = s.node_seq
  LIMIT @limit`;

/** The facts that are reached over replacements, nearest first, because the queue of a recursion is. */
const reachedOver = (way: string): string => `WITH RECURSIVE reached(seq) AS (
    SELECT value FROM json_each(@seqs) UNION
    SELECT other.node_seq FROM reached CROSS JOIN membership m ON m.node_seq = reached.seq AND m.label = 'fact_update'
    CROSS JOIN hyperedges e ON e.seq = m.edge_seq AND (@asOf IS NULL OR e.created_at <= @asOf)
    CROSS JOIN membership other ON other.edge_seq = m.edge_seq AND ${way})`;

/** The replacements of those reached, unordered, so that a limit ends the walk. */
const REPLACEMENTS_OF_REACHED = `
  FROM reached CROSS JOIN membership o ON o.node_seq = reached.seq AND o.label = 'fact_update' AND o.role = 'object'
  CROSS JOIN hyperedges e ON e.seq = o.edge_seq AND (@asOf IS NULL OR e.created_at <= @asOf)
  CROSS JOIN nodes old ON old.seq = o.node_seq
  CROSS JOIN membership s ON s.edge_seq = e.seq AND s.role = 'effect' CROSS JOIN nodes f ON f.seq = s.node_seq`;

export const FOLLOW_REPLACEMENTS = `${reachedOver("m.role = 'object' AND other.role = 'effect'")}
  SELECT old.id, f.id, e.created_at, e.seq ${REPLACEMENTS_OF_REACHED} LIMIT @limit`;

export const FIND_HISTORY = `${reachedOver("other.role IN ('object', 'effect')")}
  SELECT old.id, f.id, e.created_at, e.seq, c.id, e.rationale ${REPLACEMENTS_OF_REACHED}
  CROSS JOIN membership why ON why.edge_seq = e.seq AND why.role = 'cause' CROSS JOIN nodes c ON c.seq = why.node_seq
  LIMIT @limit`;

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
    const shared = { ...visibility(view), labels: JSON.stringify(labels), perNode };
    const references = new Set<string>();
    const neighbours = this.spaces.inEach(view, (connection) => {
      const seqs = seqsOf(connection, nodeIds);
      if (seqs.size === 0) return [];
      const parameters = { ...shared, seqs: listOf(seqs) };
      return connection
        .rows<[number, number, string, string | null, string, number, 0 | 1]>(FIND_NEIGHBOURS, parameters)
        .map(([from, to, toId, toKind, label, weight, isReference]): Neighbour => {
          noteSeq(connection, toId, to);
          if (isReference === 1) references.add(toId);
          return { fromId: seqs.get(from) as string, toId, toKind, label, weight };
        });
    });
    if (references.size === 0) return neighbours;
    const shown = this.findVisible(view, [...references]);
    return neighbours.filter(({ toId }) => !references.has(toId) || shown.has(toId));
  }

  findVisible(view: View, ids: readonly string[]): Set<string> {
    const parameters = { ...visibility(view), ids: JSON.stringify(ids) };
    const rows = this.spaces.inEach(view, (connection) => connection.rows<[string]>(VISIBLE_IDS, parameters));
    return new Set(rows.map(([id]) => id));
  }

  findReplacements(view: View, factIds: readonly string[], max: number): Found<Replacement> {
    return this.#follow(view, factIds, max, replacementsAfter);
  }

  findHistory(view: View, fromIds: readonly string[], max: number): Found<ExplainedReplacement> {
    return this.#follow(view, fromIds, max, replacementsAround);
  }

  /** A chain may go back and forth between spaces: whom one space reaches, the others are asked about. */
  #follow<Row extends Replacement>(
    view: View,
    fromIds: readonly string[],
    max: number,
    read: (connection: Connection, ids: readonly string[], options: Follow) => Numbered<Row>[],
  ): Found<Row> {
    const options = { asOf: view.asOfMs, limit: max + 1 };
    const reached = new Set(fromIds);
    const toAsk = new Map(view.spaces.map((space) => [space, [...reached]]));
    const rows = new Map<string, Numbered<Row>>();
    for (let space = nextToAsk(toAsk); space !== null && rows.size <= max; space = nextToAsk(toAsk)) {
      const ids = toAsk.get(space) as string[];
      toAsk.set(space, []);
      const from = this.spaces.inEach({ ...view, spaces: [space] }, (connection) => read(connection, ids, options));
      for (const numbered of from) {
        const { oldId, newId } = numbered.row;
        rows.set(`${space} ${numbered.seq}`, numbered);
        for (const id of [oldId, newId]) {
          if (reached.has(id)) continue;
          reached.add(id);
          for (const [other, waiting] of toAsk) if (other !== space) waiting.push(id);
        }
      }
    }
    // Within a space the order of writing settles what the clock does not; between spaces only the clock can tell.
    const nearest = [...rows.values()].slice(0, max).sort((a, b) => b.row.atMs - a.row.atMs || b.seq - a.seq);
    return { found: nearest.map(({ row }) => row), isComplete: rows.size <= max };
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

const nextToAsk = (toAsk: ReadonlyMap<SpaceName, readonly string[]>): SpaceName | null => {
  for (const [space, ids] of toAsk) if (ids.length > 0) return space;
  return null;
};

interface Follow {
  readonly asOf: number | null;
  readonly limit: number;
}

/** A row with the number of its edge, which tells the order of writing. */
interface Numbered<Row> {
  readonly row: Row;
  readonly seq: number;
}

function replacementsAfter(connection: Connection, ids: readonly string[], options: Follow): Numbered<Replacement>[] {
  const facts = seqsOf(connection, ids);
  if (facts.size === 0) return [];
  const parameters = { seqs: listOf(facts), ...options };
  const goOn = new Map<number, string>();
  const found = connection
    .rows<[number, number, string, number, number, 0 | 1]>(FIND_REPLACEMENTS, parameters)
    .map(([oldSeq, newSeq, newId, atMs, seq, goesOn]) => {
      if (goesOn === 1) goOn.set(newSeq, newId);
      return { row: { oldId: facts.get(oldSeq) as string, newId, atMs }, seq };
    });
  if (goOn.size === 0) return found;
  const rest = connection.rows<[string, string, number, number]>(FOLLOW_REPLACEMENTS, {
    seqs: listOf(goOn),
    ...options,
  });
  return [...found, ...rest.map(([oldId, newId, atMs, seq]) => ({ row: { oldId, newId, atMs }, seq }))];
}

function replacementsAround(
  connection: Connection,
  ids: readonly string[],
  options: Follow,
): Numbered<ExplainedReplacement>[] {
  const seqs = seqsOf(connection, ids);
  if (seqs.size === 0) return [];
  return connection
    .rows<[string, string, number, number, string, string | null]>(FIND_HISTORY, { seqs: listOf(seqs), ...options })
    .map(([oldId, newId, atMs, seq, changeId, rationale]) => ({
      row: { oldId, newId, atMs, changeId, rationale },
      seq,
    }));
}
