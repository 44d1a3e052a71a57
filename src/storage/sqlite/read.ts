import type { Form } from '../../domain/forms.js';
import type { SpaceName, View } from '../../domain/spaces.js';
import type { MemoryKind, NodeType, Scope, Tier } from '../../domain/vocabulary.js';
import type { NodeBrief, NodeCount, SameText, StoredMemory, StoredReply, StoredVote } from '../port.js';
import type { Connection } from './connection.js';
import { listOf, seqsOf } from './seqs.js';
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
export const BRIEF_COLUMNS = `n.id, n.form, n.kind, n.scope, n.content, n.confidence, n.created_at, ${ARCHIVED}`;

export const GET_BRIEFS = `
  SELECT ${BRIEF_COLUMNS} FROM json_each(@seqs) AS wanted CROSS JOIN nodes n ON n.seq = wanted.value
  WHERE ${VISIBLE}`;

export const FIND_VOTES = `
  SELECT v.seq, v.id, p.id AS problem_id, v.vote, v.rationale, v.created_at
  FROM nodes n JOIN utility_observations v ON v.memory_seq = n.seq JOIN nodes p ON p.seq = v.problem_seq
  WHERE n.id = @id AND (@asOf IS NULL OR v.created_at <= @asOf) ORDER BY v.created_at DESC, v.seq DESC LIMIT @limit`;

const VOTE_EVIDENCE = `
  SELECT r.ref FROM vote_evidence x JOIN evidence_refs r ON r.seq = x.evidence_seq WHERE x.vote_seq = ? ORDER BY x.position`;

export const NODE_EVIDENCE = `
  SELECT r.ref FROM nodes n JOIN node_evidence x ON x.node_seq = n.seq JOIN evidence_refs r ON r.seq = x.evidence_seq
  WHERE n.id = @id AND (@asOf IS NULL OR x.created_at <= @asOf) ORDER BY x.created_at, x.position LIMIT @limit`;

export const ATTACHED_EVIDENCE = `
  SELECT r.ref FROM nodes n JOIN node_evidence x ON x.node_seq = n.seq JOIN evidence_refs r ON r.seq = x.evidence_seq
  WHERE n.id = @id AND (@asOf IS NULL OR x.created_at <= @asOf) AND r.ref IN (SELECT value FROM json_each(@refs))`;

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

export type BriefRow = readonly [string, Form, string | null, Scope, string, number | null, number, 0 | 1];

export const toBrief = ([id, form, kind, scope, content, confidence, createdAtMs, archived]: BriefRow): NodeBrief => ({
  id,
  form,
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

/** Reads of one or more spaces, put together. */
export class Reader {
  constructor(private readonly spaces: Spaces) {}

  getMemories(view: View, ids: readonly string[]): StoredMemory[] {
    if (ids.length === 0) return [];
    const parameters = { ...visibility(view), ids: JSON.stringify([...new Set(ids)]) };
    return this.spaces.inEach(view, (connection) => connection.all<MemoryRow>(GET_MEMORIES, parameters)).map(toMemory);
  }

  getBriefs(view: View, ids: readonly string[]): NodeBrief[] {
    const shared = visibility(view);
    return this.spaces.inEach(view, (connection) => {
      const seqs = seqsOf(connection, ids);
      if (seqs.size === 0) return [];
      return connection.rows<BriefRow>(GET_BRIEFS, { ...shared, seqs: listOf(seqs) }).map(toBrief);
    });
  }

  findSameText(space: SpaceName, kind: string, textDigest: string): SameText[] {
    return this.spaces.peek<SameText[]>(space, (connection) => findSameText(connection, kind, textDigest), []);
  }

  findVotes(view: View, memoryId: string, limit: number): StoredVote[] {
    const parameters = { id: memoryId, asOf: view.asOfMs, limit };
    return this.spaces
      .inEach(view, (connection) =>
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

  findEvidence(view: View, memoryId: string, limit: number): string[] {
    const parameters = { id: memoryId, asOf: view.asOfMs, limit };
    return this.spaces
      .inEach(view, (connection) => connection.rows<[string]>(NODE_EVIDENCE, parameters))
      .map(([ref]) => ref)
      .slice(0, limit);
  }

  findAttached(view: View, memoryId: string, refs: readonly string[]): Set<string> {
    const parameters = { id: memoryId, asOf: view.asOfMs, refs: JSON.stringify(refs) };
    const rows = this.spaces.inEach(view, (connection) => connection.rows<[string]>(ATTACHED_EVIDENCE, parameters));
    return new Set(rows.map(([ref]) => ref));
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
        connection.all<NodeCount>('SELECT form, kind, tier, nodes FROM node_counts ORDER BY form, kind, tier'),
      [],
    );
  }
}

interface VoteRow {
  seq: number;
  id: string;
  problem_id: string;
  vote: number;
  rationale: string | null;
  created_at: number;
}
