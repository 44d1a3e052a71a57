import type { CountAccess, ExpectNodes, InsertNode, PatchNode, PurgeNode } from '../../domain/changes.js';
import { LINKS } from '../../domain/links.js';
import { ApplyConflict } from '../port.js';
import type { Application } from './apply.js';
import { writeDetail } from './apply-details.js';
import { dropEdge, rekeyEdge } from './apply-edges.js';
import type { Connection } from './connection.js';
import { dropUnused, filesOfNode, setFiles } from './files-of.js';
import { searchTermsOf } from './search.js';

/** What a plan may do to the nodes of forms that change. */

export function insertFormed(application: Application, { node, terms }: InsertNode): void {
  const { connection } = application;
  // Ids with a date in them are short: two that are made on a busy day may meet.
  if (connection.get('SELECT 1 FROM nodes WHERE id = ?', node.id)) throw new ApplyConflict('id_taken', node.id);
  const seq = application.insertNode(node, terms);
  connection.run(
    'UPDATE nodes SET session_id = ?, task_id = ?, provenance = ?, metadata = ? WHERE seq = ?',
    node.sessionId,
    node.taskId,
    node.provenance,
    JSON.stringify(node.metadata),
    seq,
  );
  setTags(application, seq, node.tags);
  if (node.detail) writeDetail(connection, seq, node.detail, node.createdAtMs);
  if (node.files) setFiles(connection, seq, node.files);
  const nodes = [{ id: node.id, seq }];
  application.log('create', node.repoId, node.createdAtMs, nodes, node.provenance, null, node.tier);
}

/** What a line of the log names when it was changed; the rest follows from these. `visibility.ts` looks for content at the beginning. */
const NAMED = ['content', 'confidence', 'kind', 'provenance', 'metadata', 'tags'] as const;

export function patchNode(application: Application, change: PatchNode): void {
  const { connection } = application;
  const { nodeId, expectedRevision, fields, atMs } = change;
  const before = connection.get<{ seq: number; confidence: number | null }>(
    'SELECT seq, confidence FROM nodes WHERE id = ? AND revision = ifnull(?, revision)',
    nodeId,
    expectedRevision,
  );
  if (!before) throw new ApplyConflict('revision', nodeId);
  const values: Record<string, unknown> = {
    ...(fields.content !== undefined && { content: fields.content }),
    ...(fields.terms !== undefined && { terms: fields.terms.length, search_terms: searchTermsOf(fields.terms) }),
    ...(fields.confidence !== undefined && { confidence: fields.confidence }),
    ...(fields.kind !== undefined && { kind: fields.kind }),
    ...(fields.type !== undefined && { type: fields.type }),
    ...(fields.provenance !== undefined && { provenance: fields.provenance }),
    ...(fields.metadata !== undefined && { metadata: JSON.stringify(fields.metadata) }),
    ...(fields.sessionId !== undefined && { session_id: fields.sessionId }),
    ...(fields.taskId !== undefined && { task_id: fields.taskId }),
  };
  // The names of the columns are those above; only values come from outside, and they are bound.
  const columns = Object.keys(values).map((column) => `, ${column} = @${column}`);
  connection.run(`UPDATE nodes SET updated_at = @atMs, revision = revision + 1 ${columns.join('')} WHERE seq = @seq`, {
    ...values,
    atMs,
    seq: before.seq,
  });
  if (fields.terms !== undefined) application.unindexed.set(before.seq, 'changed');
  if (fields.tags !== undefined) setTags(application, before.seq, fields.tags);
  if (fields.detail !== undefined) writeDetail(connection, before.seq, fields.detail, atMs);
  if (fields.files !== undefined) setFiles(connection, before.seq, fields.files);
  if (fields.confidence !== undefined && fields.confidence !== before.confidence)
    noteConfidence(application, before, change);
  const changed = `changed ${NAMED.filter((name) => fields[name] !== undefined).join(', ')}`;
  const why = fields.content === undefined ? change.reason : change.reason && `${changed}: ${change.reason}`;
  application.log('update', change.repoId, atMs, [{ id: nodeId, seq: before.seq }], why ?? changed);
}

function noteConfidence(
  { connection }: Application,
  before: { seq: number; confidence: number | null },
  { fields, trigger, atMs }: PatchNode,
): void {
  connection.run(
    'INSERT INTO confidence_updates (node_seq, old_confidence, new_confidence, trigger, at) VALUES (?, ?, ?, ?, ?)',
    before.seq,
    before.confidence ?? 0,
    fields.confidence,
    trigger,
    atMs,
  );
}

function setTags({ connection }: Application, seq: number | bigint, tags: readonly string[]): void {
  connection.run('DELETE FROM node_tags WHERE node_seq = ?', seq);
  for (const tag of tags) connection.run('INSERT INTO node_tags (node_seq, tag) VALUES (?, ?)', seq, tag);
}

export function expectNodes(connection: Connection, { nodes }: ExpectNodes): void {
  for (const { nodeId, revision } of nodes) {
    if (!connection.get('SELECT 1 FROM nodes WHERE id = ? AND revision = ?', nodeId, revision)) {
      throw new ApplyConflict('revision', nodeId);
    }
  }
}

/** The parts that an edge of such a label cannot be without: it is theirs. */
const OWNERS = JSON.stringify(
  Object.entries(LINKS).flatMap(([label, row]) => ('oneFor' in row ? [`${label} ${row.oneFor}`] : [])),
);

/** The labels of edges that are what they are whoever is in them: one goes with its last member only. */
const OPEN = JSON.stringify(Object.entries(LINKS).flatMap(([label, row]) => ('oneForEach' in row ? [label] : [])));

/** The edges of a node that would be left with too few members, or with none but itself, and those that are its own. */
export const EDGES_THAT_GO = `
  SELECT m.edge_seq FROM membership m WHERE m.node_seq = @node
  AND ((SELECT count(*) FROM (SELECT 1 FROM membership other
      WHERE other.edge_seq = m.edge_seq AND other.node_seq <> m.node_seq LIMIT 2))
    < CASE WHEN m.label IN (SELECT value FROM json_each(@open)) THEN 1 ELSE 2 END
    OR m.label || ' ' || m.role IN (SELECT value FROM json_each(@owners)))`;

/** Those of a node's edges that say something else without it. */
export const EDGES_TO_REKEY = `
  SELECT DISTINCT edge_seq FROM membership WHERE node_seq = @node
  AND label NOT IN (SELECT value FROM json_each(@open))`;

const KEEP_LOG_OF_NODE = `
  INSERT INTO purged_nodes (node_id, log_seq) SELECT ?, log_seq FROM evolution_nodes WHERE node_seq = ?`;

export const TOLD_OF = `
  SELECT 1 FROM membership WHERE node_seq = ? AND label = 'narrates' AND role = 'participant' LIMIT 1`;

export function purgeNode(application: Application, change: PurgeNode): void {
  const { connection } = application;
  const { nodeId, repoId, expectedRevision, atMs } = change;
  const node = connection.get<{ seq: number; tier: string }>(
    'SELECT seq, tier FROM nodes WHERE id = ? AND revision = ifnull(?, revision)',
    nodeId,
    expectedRevision ?? null,
  );
  if (!node) throw new ApplyConflict('node_missing', nodeId);
  // Whoever tells of it was told anew first; one that came to tell of it since would keep its words.
  if (connection.get(TOLD_OF, node.seq)) throw new ApplyConflict('revision', nodeId);
  const going = new Set(
    connection
      .rows<[number]>(EDGES_THAT_GO, { node: node.seq, owners: OWNERS, open: OPEN })
      .map(([edgeSeq]) => edgeSeq),
  );
  for (const edgeSeq of going) dropEdge(application, edgeSeq, atMs);
  const edges = connection.rows<[number]>(EDGES_TO_REKEY, { node: node.seq, open: OPEN });
  // Logged before it goes: the line keeps the id, and the node that it points at may then vanish.
  application.log('purge', repoId, atMs, [{ id: nodeId, seq: node.seq }], null, node.tier, null);
  connection.run(KEEP_LOG_OF_NODE, nodeId, node.seq);
  const files = filesOfNode(connection, node.seq);
  connection.run('DELETE FROM nodes WHERE seq = ?', node.seq);
  dropUnused(connection, files);
  for (const [edgeSeq] of edges) rekeyEdge(application, edgeSeq, atMs);
}

const TAKE_OVER_ACCESS = `
  INSERT INTO node_access (node_seq, access_count, last_accessed_at, decayed_at) VALUES (@seq, @count, @atMs, @decayedAt)
  ON CONFLICT (node_seq) DO UPDATE SET access_count = access_count + @count,
  last_accessed_at = max(last_accessed_at, @atMs), decayed_at = ifnull(@decayedAt, decayed_at)`;

export function countAccess(application: Application, change: CountAccess): void {
  application.connection.run(TAKE_OVER_ACCESS, {
    seq: application.nodeSeq(change.nodeId),
    count: change.count,
    atMs: change.lastAccessedAtMs,
    decayedAt: change.decayedAtMs,
  });
}
