import type { Form } from '../../domain/forms.js';
import { GLOBAL_SPACE, type SpaceName, type View } from '../../domain/spaces.js';
import type { NodeType, Scope, Tier } from '../../domain/vocabulary.js';
import type { NodeFilter, NodePlace, NodeWear, StoredNode } from '../port.js';
import type { AccessCounts } from './access.js';
import type { Connection } from './connection.js';
import type { Spaces } from './spaces.js';
import { VISIBLE, visibility } from './visibility.js';

export const NODE_COLUMNS = `n.seq, n.id, n.form, n.kind, n.type, n.repo_id, n.scope, n.content, n.confidence, n.tier,
  n.archived_from, n.archived_at, n.archive_reason, n.session_id, n.task_id, n.provenance, n.metadata, n.revision, n.created_at,
  n.updated_at, a.access_count, a.last_accessed_at, a.decayed_at,
  (SELECT json_group_array(t.tag) FROM node_tags t WHERE t.node_seq = n.seq) AS tags`;

export const GET_NODES = `
  SELECT ${NODE_COLUMNS} FROM json_each(@ids) AS wanted CROSS JOIN nodes n ON n.id = wanted.value
  LEFT JOIN node_access a ON a.node_seq = n.seq WHERE ${VISIBLE}`;

/** What is left to check once the list's own index has chosen. References stand for nodes of another list. */
const OF_KIND = '(@kind IS NULL OR n.kind = @kind)';
const FITS = `n.form <> 'reference' AND (@form IS NULL OR n.form = @form) AND ${OF_KIND}`;
const IN_PLACE = 'n.confidence >= @min AND (n.confidence, n.seq) < (@confidence, @seq)';
const IN_ORDER = 'ORDER BY n.confidence DESC, n.seq DESC LIMIT @limit';

/** Who is on a page is found out first, and read then: long contents of others would be read and sorted for nothing. */
const PLACE_COLUMNS = 'n.seq, n.confidence';

/** Of one tier and type at a time: only then is the index in the order of the list. */
export const LIST_NODES = `
  SELECT ${PLACE_COLUMNS} FROM nodes n
  WHERE n.tier = @tier AND n.type = @type AND ${IN_PLACE} AND ${FITS} ${IN_ORDER}`;

export const LIST_NODES_OF_FORM = `
  SELECT ${PLACE_COLUMNS} FROM nodes n
  WHERE n.form = @form AND n.tier = @tier AND n.type = @type AND ${IN_PLACE} AND ${OF_KIND} ${IN_ORDER}`;

const IN_LISTS = `n.tier IN (SELECT value FROM json_each(@tiers)) AND n.type IN (SELECT value FROM json_each(@types))
  AND ${IN_PLACE} AND ${FITS}`;

export const LIST_BY_TAG = `
  SELECT ${PLACE_COLUMNS} FROM node_tags g CROSS JOIN nodes n ON n.seq = g.node_seq
  WHERE g.tag = @tag AND (@session IS NULL OR n.session_id = @session) AND (@task IS NULL OR n.task_id = @task)
  AND ${IN_LISTS} ${IN_ORDER}`;

export const LIST_BY_SESSION = `
  SELECT ${PLACE_COLUMNS} FROM nodes n
  WHERE n.session_id = @session AND (@task IS NULL OR n.task_id = @task) AND ${IN_LISTS} ${IN_ORDER}`;

export const LIST_BY_TASK = `
  SELECT ${PLACE_COLUMNS} FROM nodes n WHERE n.task_id = @task AND ${IN_LISTS} ${IN_ORDER}`;

const OF_SEQS = `FROM json_each(?) AS listed CROSS JOIN nodes n ON n.seq = listed.value
  LEFT JOIN node_access a ON a.node_seq = n.seq`;

export const NODES_BY_SEQ = `SELECT ${NODE_COLUMNS} ${OF_SEQS}`;

/** What wears off, without what it says. */
export const WEAR_BY_SEQ = `
  SELECT n.seq, n.id, n.form, n.repo_id, n.scope, n.confidence, n.tier, n.revision, n.created_at, a.access_count,
  a.last_accessed_at, a.decayed_at ${OF_SEQS}`;

const BEFORE_ALL: NodePlace = { confidence: 2, seq: 0 };

/** Nodes of every form. */
export class Nodes {
  constructor(
    private readonly spaces: Spaces,
    private readonly access: AccessCounts,
  ) {}

  getNodes(view: View, ids: readonly string[]): StoredNode[] {
    if (ids.length === 0) return [];
    const parameters = { ...visibility(view), ids: JSON.stringify([...new Set(ids)]) };
    return this.spaces
      .inEach(view, (connection) => connection.all<NodeRow>(GET_NODES, parameters))
      .map((row) => this.#toNode(row));
  }

  listNodes(space: SpaceName, filter: NodeFilter, after: NodePlace | null, limit: number): StoredNode[] {
    return this.#list<NodeRow>(space, NODES_BY_SEQ, filter, after, limit).map((row) => this.#toNode(row));
  }

  listWear(space: SpaceName, filter: NodeFilter, after: NodePlace | null, limit: number): NodeWear[] {
    return this.#list<WearRow>(space, WEAR_BY_SEQ, filter, after, limit).map((row) => this.#toWear(row));
  }

  #list<Row extends { seq: number }>(
    space: SpaceName,
    statement: string,
    filter: NodeFilter,
    after: NodePlace | null,
    limit: number,
  ): Row[] {
    return this.spaces.peek<Row[]>(
      space,
      (connection) => {
        const seqs = listSeqs(connection, filter, after, limit);
        const rows = connection.all<Row>(statement, JSON.stringify(seqs));
        const bySeq = new Map(rows.map((row) => [row.seq, row]));
        return seqs.flatMap((seq) => bySeq.get(seq) ?? []);
      },
      [],
    );
  }

  #toNode(row: NodeRow): StoredNode {
    return {
      ...this.#toWear(row),
      kind: row.kind,
      type: row.type,
      repoId: row.repo_id,
      scope: row.scope,
      content: row.content,
      archivedFrom: row.archived_from,
      archivedAtMs: row.archived_at,
      archiveReason: row.archive_reason,
      sessionId: row.session_id,
      taskId: row.task_id,
      provenance: row.provenance,
      metadata: row.metadata === null ? {} : (JSON.parse(row.metadata) as Record<string, unknown>),
      tags: (JSON.parse(row.tags) as string[]).sort(),
      createdAtMs: row.created_at,
      updatedAtMs: row.updated_at,
    };
  }

  #toWear(row: WearRow): NodeWear {
    const waiting = this.access.waiting(row.scope === 'global' ? GLOBAL_SPACE : row.repo_id, row.id);
    return {
      id: row.id,
      seq: row.seq,
      form: row.form,
      tier: row.tier,
      confidence: row.confidence,
      revision: row.revision,
      accessCount: (row.access_count ?? 0) + (waiting?.count ?? 0),
      lastAccessedAtMs: Math.max(waiting?.atMs ?? 0, row.last_accessed_at ?? row.created_at),
      decayedAtMs: row.decayed_at,
    };
  }
}

/** Of these tiers everybody sees everything; what belongs to a session is in the others. */
const SHARED_TIERS: readonly Tier[] = ['longterm', 'archive'];

type PlaceRow = readonly [seq: number, confidence: number | null];

function listSeqs(connection: Connection, filter: NodeFilter, after: NodePlace | null, limit: number): number[] {
  const { types, tiers, form, kind, minConfidence, tag, sessionId, withShared, taskId } = filter;
  const shared = { form, kind, min: minConfidence, ...(after ?? BEFORE_ALL), limit };
  const chosen = (statement: string, among: readonly Tier[], session: string | null): PlaceRow[] =>
    connection.rows<PlaceRow>(statement, {
      ...shared,
      tiers: JSON.stringify(among),
      types: JSON.stringify(types),
      tag,
      session,
      task: taskId,
    });
  const walk = form === null ? LIST_NODES : LIST_NODES_OF_FORM;
  const walked = (among: readonly Tier[]): PlaceRow[] =>
    among.flatMap((tier) => types.flatMap((type) => connection.rows<PlaceRow>(walk, { ...shared, tier, type })));
  const sharedTiers = withShared ? tiers.filter((tier) => SHARED_TIERS.includes(tier)) : [];
  const ownTiers = tiers.filter((tier) => !sharedTiers.includes(tier));
  const listed = (among: readonly Tier[], session: string | null): PlaceRow[] => {
    if (tag !== null) return chosen(LIST_BY_TAG, among, session);
    if (session !== null) return chosen(LIST_BY_SESSION, among, session);
    return taskId === null ? walked(among) : chosen(LIST_BY_TASK, among, null);
  };
  const rows =
    sessionId === null ? listed(tiers, null) : [...listed(ownTiers, sessionId), ...listed(sharedTiers, null)];
  return rows
    .sort(([a, sureA], [b, sureB]) => (sureB ?? 0) - (sureA ?? 0) || b - a)
    .slice(0, limit)
    .map(([seq]) => seq);
}

interface WearRow {
  seq: number;
  id: string;
  form: Form;
  repo_id: string;
  scope: Scope;
  confidence: number | null;
  tier: Tier;
  revision: number;
  created_at: number;
  access_count: number | null;
  last_accessed_at: number | null;
  decayed_at: number | null;
}

interface NodeRow extends WearRow {
  kind: string | null;
  type: NodeType;
  content: string;
  archived_from: Tier | null;
  archived_at: number | null;
  archive_reason: string | null;
  session_id: string | null;
  task_id: string | null;
  provenance: string | null;
  metadata: string | null;
  updated_at: number;
  tags: string;
}
