import type {
  AttachEvidence,
  Change,
  InsertEdge,
  InsertMemory,
  MoveTier,
  RecordEvolution,
  RecordVote,
  RememberReply,
} from '../../domain/changes.js';
import { formOf, REFERENCE_FORM } from '../../domain/forms.js';
import { edgeKey } from '../../domain/links.js';
import type { GraphNode, Memory } from '../../domain/node.js';
import { ApplyConflict } from '../port.js';
import { endSession, insertAgent, insertSession } from './apply-agents.js';
import { joinConversation } from './apply-chunks.js';
import { patchEdge, removeEdge, setMembers } from './apply-edges.js';
import { expectRoom } from './apply-entries.js';
import { countAccess, expectNodes, insertFormed, patchNode, purgeNode } from './apply-nodes.js';
import type { Connection } from './connection.js';
import { findSameText } from './read.js';
import { searchTermsOf } from './search.js';

/** What a repo's space has to know of a global node to refer to it. */
export interface NodeStub {
  readonly id: string;
  readonly kind: string;
  readonly type: string;
  readonly repo_id: string;
  readonly created_at: number;
}

export const NODE_STUB = `SELECT id, kind, type, repo_id, created_at FROM nodes WHERE id = ? AND form <> '${REFERENCE_FORM}'`;

/** Whether following replacements from one fact arrives at another. */
export const LEADS_TO = `
  WITH RECURSIVE later(seq) AS (
    SELECT ? UNION
    SELECT s.node_seq FROM later CROSS JOIN membership o ON o.node_seq = later.seq AND o.role = 'object'
    AND o.label = 'fact_update'
    CROSS JOIN membership s ON s.edge_seq = o.edge_seq AND s.role = 'effect')
  SELECT 1 FROM later WHERE seq = ?`;

/** What a plan for one space has to know of others. */
export interface Elsewhere {
  findGlobal(id: string): NodeStub | undefined;
  /** Whether a plan for another space keeps this idempotency key of the repo already. */
  hasReply(repoId: string, key: string, sinceMs: number): boolean;
}

/**
 * The nodes whose terms are still to be put into the search index, and whether they stand there with others. Every savepoint
 * flushes the index, so it waits for the end of the transaction.
 */
export type Unindexed = Map<number | bigint, 'new' | 'changed'>;

/** Carries one plan's changes out, inside a transaction that the caller holds. Each change writes its own line of the log. */
export function applyChanges(connection: Connection, changes: readonly Change[], elsewhere: Elsewhere): Unindexed {
  const application = new Application(connection, elsewhere);
  application.run(changes);
  return application.unindexed;
}

/** A node that is gone again by the end of the transaction is not found here, and one that changed twice is indexed once. */
export const INDEX_NODE = 'INSERT INTO node_search (rowid, terms) SELECT seq, search_terms FROM nodes WHERE seq = ?';

export function indexNodes(connection: Connection, unindexed: Unindexed): void {
  for (const [seq, standing] of unindexed) {
    if (standing === 'changed') connection.run('DELETE FROM node_search WHERE rowid = ?', seq);
    connection.run(INDEX_NODE, seq);
  }
}

/** One plan on its way into a space. */
export class Application {
  readonly unindexed: Unindexed = new Map();
  readonly #inserted = new Set<string>();

  constructor(
    readonly connection: Connection,
    private readonly elsewhere: Elsewhere,
  ) {}

  run(changes: readonly Change[]): void {
    for (const change of changes) {
      switch (change.change) {
        case 'insert_memory':
          this.#insertMemory(change);
          break;
        case 'attach_evidence':
          this.#attachEvidence(change);
          break;
        case 'insert_edge':
          this.#insertEdge(change);
          break;
        case 'move_tier':
          this.#moveTier(change);
          break;
        case 'record_vote':
          this.#recordVote(change);
          break;
        case 'remember_reply':
          this.#rememberReply(change);
          break;
        case 'count_access':
          countAccess(this, change);
          break;
        case 'record_evolution':
          this.#recordEvolution(change);
          break;
        case 'insert_node':
          insertFormed(this, change);
          break;
        case 'patch_node':
          patchNode(this, change);
          break;
        case 'expect_nodes':
          expectNodes(this.connection, change);
          break;
        case 'purge_node':
          purgeNode(this, change);
          break;
        case 'patch_edge':
          patchEdge(this, change);
          break;
        case 'remove_edge':
          removeEdge(this, change);
          break;
        case 'set_members':
          setMembers(this, change);
          break;
        case 'expect_room':
          expectRoom(this.connection, change);
          break;
        case 'join_conversation':
          joinConversation(this, change);
          break;
        case 'insert_agent':
          insertAgent(this.connection, change.agent);
          break;
        case 'insert_session':
          insertSession(this.connection, change.session);
          break;
        case 'end_session':
          endSession(this.connection, change);
          break;
      }
    }
  }

  #insertMemory({ memory, terms, refuseDuplicate }: InsertMemory): void {
    if (refuseDuplicate) {
      const same = findSameText(this.connection, memory.kind, memory.textDigest);
      const duplicate = same.find(({ archived, superseded }) => !archived && !superseded);
      if (duplicate) throw new ApplyConflict('duplicate', duplicate.id);
    }
    const seq = this.insertNode(memory, terms);
    this.connection.run(
      'INSERT INTO memories (node_seq, kind, rationale, text_digest) VALUES (?, ?, ?, ?)',
      seq,
      memory.kind,
      memory.rationale,
      memory.textDigest,
    );
    this.log(
      'create',
      memory.repoId,
      memory.createdAtMs,
      [{ id: memory.id, seq }],
      memory.rationale,
      null,
      memory.tier,
    );
  }

  /** The row that every form has. */
  insertNode(node: Memory | GraphNode, terms: readonly string[]): number | bigint {
    const { lastInsertRowid: seq } = this.connection.run(
      `INSERT INTO nodes
         (id, form, kind, type, repo_id, scope, confidence, tier, archived_from, archived_at, terms, revision, created_at,
          updated_at, content, search_terms)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
      node.id,
      node.form,
      node.kind,
      node.type,
      node.repoId,
      node.scope,
      node.confidence,
      node.tier,
      node.tier === 'archive' ? formOf(node.form).defaultTier : null,
      node.archivedAtMs,
      terms.length,
      node.revision,
      node.createdAtMs,
      node.updatedAtMs,
      node.content,
      searchTermsOf(terms),
    );
    this.unindexed.set(seq, 'new');
    this.#inserted.add(node.id);
    return seq;
  }

  #attachEvidence({ owner, repoId, refs, rationale, atMs }: AttachEvidence): void {
    const { table, column, seq } = this.#evidenceOwner(owner);
    const before = this.connection.get<{ refs: number }>(
      `SELECT count(*) AS refs FROM ${table} WHERE ${column} = ?`,
      seq,
    );
    for (const [index, ref] of refs.entries()) {
      this.connection.run(
        `INSERT INTO ${table} (${column}, evidence_seq, created_at, position) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING`,
        seq,
        this.#evidenceSeq(repoId, ref, atMs),
        atMs,
        (before?.refs ?? 0) + index,
      );
    }
    if (owner.of === 'node' && !this.#inserted.has(owner.id)) {
      const reasoning = [...(rationale === null ? [] : [rationale]), ...refs].join('\n');
      this.log('attach_evidence', repoId, atMs, [{ id: owner.id, seq }], reasoning);
    }
  }

  #evidenceSeq(repoId: string, ref: string, atMs: number): number | bigint {
    const known = this.connection.get<{ seq: number }>(
      'SELECT seq FROM evidence_refs WHERE repo_id = ? AND ref = ?',
      repoId,
      ref,
    );
    if (known) return known.seq;
    const insert = 'INSERT INTO evidence_refs (repo_id, ref, created_at) VALUES (?, ?, ?)';
    return this.connection.run(insert, repoId, ref, atMs).lastInsertRowid;
  }

  #evidenceOwner({ of, id }: AttachEvidence['owner']): { table: string; column: string; seq: number | bigint } {
    if (of === 'node') return { table: 'node_evidence', column: 'node_seq', seq: this.nodeSeq(id) };
    const [table, column, source] =
      of === 'edge'
        ? ['edge_evidence', 'edge_seq', 'hyperedges']
        : ['vote_evidence', 'vote_seq', 'utility_observations'];
    const row = this.connection.get<{ seq: number }>(`SELECT seq FROM ${source} WHERE id = ?`, id);
    if (!row) throw new ApplyConflict('node_missing', id);
    return { table, column, seq: row.seq };
  }

  #insertEdge(change: InsertEdge): void {
    const key = edgeKey(change.label, change.members, change.type);
    const { changes, lastInsertRowid: edgeSeq } = this.connection.run(
      `INSERT INTO hyperedges (id, repo_id, type, label, weight, origin, key, rationale, created_at)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (key) DO NOTHING`,
      change.id,
      change.repoId,
      change.type,
      change.label,
      change.weight,
      change.origin,
      key,
      change.rationale,
      change.atMs,
    );
    if (changes === 0) throw new ApplyConflict('edge_exists', key);
    const nodes = change.members.map((member) => ({ ...member, id: member.nodeId, seq: this.nodeSeq(member.nodeId) }));
    if (change.label === 'fact_update') this.#refuseCircle(nodes);
    for (const { seq, role, position } of nodes) {
      this.connection.run(
        'INSERT INTO membership (edge_seq, node_seq, role, position, label) VALUES (?, ?, ?, ?, ?)',
        edgeSeq,
        seq,
        role,
        position,
        change.label,
      );
    }
    this.log(`link:${change.label}`, change.repoId, change.atMs, nodes, change.rationale);
  }

  /** Planned side by side, two links may each be right and turn a chain into a circle together. */
  #refuseCircle(nodes: readonly { id: string; role: string; seq: number | bigint }[]): void {
    const oldFact = nodes.find((node) => node.role === 'object');
    const newFact = nodes.find((node) => node.role === 'effect');
    if (oldFact && newFact && this.connection.get(LEADS_TO, newFact.seq, oldFact.seq)) {
      throw new ApplyConflict('circle', newFact.id);
    }
  }

  #moveTier({ nodeId, repoId, expectedRevision, from, to, reason, atMs }: MoveTier): void {
    const archived = to === 'archive';
    const { changes } = this.connection.run(
      `UPDATE nodes SET tier = ?, archived_from = ?, archived_at = ?, archive_reason = ?, updated_at = ?, revision = revision + 1
       WHERE id = ? AND tier = ? AND revision = ifnull(?, revision) AND form <> '${REFERENCE_FORM}'`,
      to,
      archived ? from : null,
      archived ? atMs : null,
      archived ? reason : null,
      atMs,
      nodeId,
      from,
      expectedRevision ?? null,
    );
    if (changes === 0) throw new ApplyConflict('tier_moved', nodeId);
    const operation = archived ? 'archive' : from === 'archive' ? 'restore' : 'tier_transition';
    this.log(operation, repoId, atMs, [{ id: nodeId, seq: this.nodeSeq(nodeId) }], reason, from, to);
  }

  #recordVote(change: RecordVote): void {
    const memory = { id: change.memoryId, seq: this.nodeSeq(change.memoryId) };
    const problem = { id: change.problemId, seq: this.nodeSeq(change.problemId) };
    this.connection.run(
      `INSERT INTO utility_observations (id, repo_id, memory_seq, problem_seq, vote, rationale, created_at)
       VALUES (?, ?, ?, ?, ?, ?, ?)`,
      change.id,
      change.repoId,
      memory.seq,
      problem.seq,
      change.vote,
      change.rationale,
      change.atMs,
    );
    this.log('vote', change.repoId, change.atMs, [memory, problem], change.rationale);
  }

  #recordEvolution({ operation, repoId, nodeIds, from, to, reasoning, atMs }: RecordEvolution): void {
    const nodes = nodeIds.map((id) => ({ id, seq: this.nodeSeq(id) }));
    this.log(operation, repoId, atMs, nodes, reasoning, from, to);
  }

  #rememberReply(change: RememberReply): void {
    const { repoId, key, forgetBeforeMs } = change;
    if (this.elsewhere.hasReply(repoId, key, forgetBeforeMs)) throw new ApplyConflict('key_taken', key);
    this.connection.run('DELETE FROM idempotency_keys WHERE created_at < ?', forgetBeforeMs);
    const { changes } = this.connection.run(
      'INSERT INTO idempotency_keys (repo_id, key, request_digest, reply, created_at) VALUES (?, ?, ?, ?, ?) ON CONFLICT DO NOTHING',
      change.repoId,
      change.key,
      change.requestDigest,
      change.reply,
      change.atMs,
    );
    if (changes === 0) throw new ApplyConflict('key_taken', change.key);
  }

  nodeSeq(id: string): number | bigint {
    const row = this.connection.get<{ seq: number }>('SELECT seq FROM nodes WHERE id = ?', id);
    return row ? row.seq : this.#insertReference(id);
  }

  /** A global node that this repo's space meets for the first time gets a row to point at. */
  #insertReference(id: string): number | bigint {
    const global = this.elsewhere.findGlobal(id);
    if (!global) throw new ApplyConflict('node_missing', id);
    return this.connection.run(
      `INSERT INTO nodes (id, form, kind, type, repo_id, scope, tier, terms, created_at, updated_at, content, search_terms)
       VALUES (?, '${REFERENCE_FORM}', ?, ?, ?, 'global', 'longterm', 0, ?, ?, '', '')`,
      id,
      global.kind,
      global.type,
      global.repo_id,
      global.created_at,
      global.created_at,
    ).lastInsertRowid;
  }

  log(
    operation: string,
    repoId: string,
    atMs: number,
    nodes: readonly { id: string; seq: number | bigint }[],
    reasoning: string | null,
    fromTier: string | null = null,
    toTier: string | null = null,
  ): void {
    const { lastInsertRowid: logSeq } = this.connection.run(
      'INSERT INTO evolution_log (at, operation, repo_id, node_ids, from_tier, to_tier, reasoning) VALUES (?, ?, ?, ?, ?, ?, ?)',
      atMs,
      operation,
      repoId,
      JSON.stringify([...new Set(nodes.map((node) => node.id))]),
      fromTier,
      toTier,
      reasoning,
    );
    for (const seq of new Set(nodes.map((node) => node.seq))) {
      this.connection.run('INSERT INTO evolution_nodes (node_seq, log_seq) VALUES (?, ?)', seq, logSeq);
    }
  }
}
