import { sql } from 'drizzle-orm';
import { check, index, integer, primaryKey, real, sqliteTable, text, uniqueIndex } from 'drizzle-orm/sqlite-core';
import { CONFIDENCE_TRIGGERS, EDGE_TYPES, NODE_TYPES, ORIGINS, ROLES, SCOPES, TIERS } from '../../domain/vocabulary.js';
import { oneOf } from './schema-words.js';

/**
 * The schema of every space file. What Drizzle cannot express (the search index, tables without a row id, the triggers that keep
 * memories immutable, admit only known forms and keep the counts) stands in hand-written migrations beside the generated ones.
 */

export const nodes = sqliteTable(
  'nodes',
  {
    seq: integer().primaryKey(),
    id: text().notNull(),
    form: text().notNull(),
    kind: text(),
    type: text().notNull(),
    repoId: text('repo_id').notNull(),
    scope: text().notNull(),
    confidence: real(),
    tier: text().notNull(),
    archivedFrom: text('archived_from'),
    archivedAt: integer('archived_at'),
    archiveReason: text('archive_reason'),
    /** Length in search terms, for ranking; the counts keep its sum. */
    terms: integer().notNull(),
    revision: integer().notNull().default(1),
    createdAt: integer('created_at').notNull(),
    updatedAt: integer('updated_at').notNull(),
    // The long ones last: what stands before them is read without them.
    content: text().notNull(),
    /** The terms that the search index holds, separated and surrounded by single blanks. */
    searchTerms: text('search_terms').notNull(),
    sessionId: text('session_id'),
    taskId: text('task_id'),
    provenance: text(),
    metadata: text({ mode: 'json' }).$type<Record<string, unknown>>(),
  },
  (table) => [
    uniqueIndex('nodes_id').on(table.id),
    // Every list of nodes is a walk along this one: surest first, and of the same confidence newest first.
    index('nodes_listing').on(table.tier, table.type, table.confidence),
    // The same for one form: the few of its nodes are not looked for among all.
    index('nodes_form_listing').on(table.form, table.tier, table.type, table.confidence),
    index('nodes_session').on(table.sessionId).where(sql`session_id is not null`),
    index('nodes_task').on(table.taskId).where(sql`task_id is not null`),
    check('nodes_type', oneOf('type', NODE_TYPES)),
    check('nodes_scope', oneOf('scope', SCOPES)),
    check('nodes_tier', oneOf('tier', TIERS)),
    check('nodes_confidence', sql`${table.confidence} between 0 and 1`),
    check('nodes_archived', sql`(${table.tier} = 'archive') = (${table.archivedAt} is not null)`),
  ],
);

export const memories = sqliteTable(
  'memories',
  {
    nodeSeq: integer('node_seq')
      .primaryKey()
      .references(() => nodes.seq, { onDelete: 'cascade' }),
    kind: text().notNull(),
    rationale: text(),
    textDigest: text('text_digest').notNull(),
  },
  (table) => [index('memories_digest').on(table.textDigest, table.kind)],
);

export const hyperedges = sqliteTable(
  'hyperedges',
  {
    seq: integer().primaryKey(),
    id: text().notNull(),
    repoId: text('repo_id').notNull(),
    type: text().notNull(),
    label: text().notNull(),
    weight: real().notNull().default(1),
    origin: text().notNull(),
    key: text().notNull(),
    rationale: text(),
    createdAt: integer('created_at').notNull(),
  },
  (table) => [
    uniqueIndex('hyperedges_id').on(table.id),
    uniqueIndex('hyperedges_key').on(table.key),
    index('hyperedges_listing').on(table.type, table.label),
    check('hyperedges_type', oneOf('type', EDGE_TYPES)),
    check('hyperedges_origin', oneOf('origin', ORIGINS)),
    check('hyperedges_weight', sql`${table.weight} >= 0`),
  ],
);

export const membership = sqliteTable(
  'membership',
  {
    edgeSeq: integer('edge_seq')
      .notNull()
      .references(() => hyperedges.seq, { onDelete: 'cascade' }),
    nodeSeq: integer('node_seq')
      .notNull()
      .references(() => nodes.seq, { onDelete: 'cascade' }),
    role: text().notNull(),
    position: integer().notNull().default(0),
    /** The edge's label again: the edges of one sort that touch a node are one range of an index. */
    label: text().notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.edgeSeq, table.nodeSeq, table.role] }),
    index('membership_node').on(table.nodeSeq, table.label, table.edgeSeq, table.role),
    check('membership_role', oneOf('role', ROLES)),
  ],
);

export const evidenceRefs = sqliteTable(
  'evidence_refs',
  {
    seq: integer().primaryKey(),
    repoId: text('repo_id').notNull(),
    ref: text().notNull(),
    createdAt: integer('created_at').notNull(),
  },
  (table) => [
    uniqueIndex('evidence_refs_ref').on(table.repoId, table.ref),
    check('evidence_refs_ref_filled', sql`length(trim(${table.ref})) > 0`),
  ],
);

/** Which reference, since when and in which place: a repeated write may bring more evidence later. */
const evidenceColumns = () => ({
  evidenceSeq: integer('evidence_seq')
    .notNull()
    .references(() => evidenceRefs.seq, { onDelete: 'cascade' }),
  createdAt: integer('created_at').notNull(),
  position: integer().notNull(),
});

export const nodeEvidence = sqliteTable(
  'node_evidence',
  {
    nodeSeq: integer('node_seq')
      .notNull()
      .references(() => nodes.seq, { onDelete: 'cascade' }),
    ...evidenceColumns(),
  },
  (table) => [primaryKey({ columns: [table.nodeSeq, table.evidenceSeq] })],
);

export const edgeEvidence = sqliteTable(
  'edge_evidence',
  {
    edgeSeq: integer('edge_seq')
      .notNull()
      .references(() => hyperedges.seq, { onDelete: 'cascade' }),
    ...evidenceColumns(),
  },
  (table) => [primaryKey({ columns: [table.edgeSeq, table.evidenceSeq] })],
);

export const utilityObservations = sqliteTable(
  'utility_observations',
  {
    seq: integer().primaryKey(),
    id: text().notNull(),
    repoId: text('repo_id').notNull(),
    memorySeq: integer('memory_seq')
      .notNull()
      .references(() => nodes.seq, { onDelete: 'cascade' }),
    problemSeq: integer('problem_seq')
      .notNull()
      .references(() => nodes.seq, { onDelete: 'cascade' }),
    vote: real().notNull(),
    rationale: text(),
    createdAt: integer('created_at').notNull(),
  },
  (table) => [
    uniqueIndex('utility_observations_id').on(table.id),
    index('utility_observations_memory').on(table.memorySeq, table.createdAt, table.vote),
    // So that a node can go without looking through all votes for its own.
    index('utility_observations_problem').on(table.problemSeq),
    check('utility_observations_vote', sql`${table.vote} between -1 and 1`),
    check('utility_observations_distinct', sql`${table.memorySeq} <> ${table.problemSeq}`),
  ],
);

export const voteEvidence = sqliteTable(
  'vote_evidence',
  {
    voteSeq: integer('vote_seq')
      .notNull()
      .references(() => utilityObservations.seq, { onDelete: 'cascade' }),
    ...evidenceColumns(),
  },
  (table) => [primaryKey({ columns: [table.voteSeq, table.evidenceSeq] })],
);

export const evolutionLog = sqliteTable('evolution_log', {
  seq: integer().primaryKey(),
  at: integer().notNull(),
  operation: text().notNull(),
  repoId: text('repo_id').notNull(),
  nodeIds: text('node_ids', { mode: 'json' }).$type<string[]>().notNull(),
  fromTier: text('from_tier'),
  toTier: text('to_tier'),
  reasoning: text(),
});

/** Which log rows concern a node: what was its tier last spring, who linked it. */
export const evolutionNodes = sqliteTable(
  'evolution_nodes',
  {
    nodeSeq: integer('node_seq')
      .notNull()
      .references(() => nodes.seq, { onDelete: 'cascade' }),
    logSeq: integer('log_seq')
      .notNull()
      .references(() => evolutionLog.seq, { onDelete: 'cascade' }),
  },
  (table) => [primaryKey({ columns: [table.nodeSeq, table.logSeq] })],
);

/** The same for nodes that were removed for good: their rows are gone, and what is told of them goes by their ids. */
export const purgedNodes = sqliteTable(
  'purged_nodes',
  {
    nodeId: text('node_id').notNull(),
    logSeq: integer('log_seq')
      .notNull()
      .references(() => evolutionLog.seq, { onDelete: 'cascade' }),
  },
  (table) => [primaryKey({ columns: [table.nodeId, table.logSeq] })],
);

/** How often a node was looked at. Apart from the node, because this changes with every look and the node does not. */
export const nodeAccess = sqliteTable('node_access', {
  nodeSeq: integer('node_seq')
    .primaryKey()
    .references(() => nodes.seq, { onDelete: 'cascade' }),
  accessCount: integer('access_count').notNull(),
  lastAccessedAt: integer('last_accessed_at').notNull(),
  /** Up to when its confidence has been reduced for not being looked at. */
  decayedAt: integer('decayed_at'),
});

export const nodeTags = sqliteTable(
  'node_tags',
  {
    nodeSeq: integer('node_seq')
      .notNull()
      .references(() => nodes.seq, { onDelete: 'cascade' }),
    tag: text().notNull(),
  },
  (table) => [primaryKey({ columns: [table.nodeSeq, table.tag] }), index('node_tags_tag').on(table.tag, table.nodeSeq)],
);

/** Every change of a node's confidence, and what brought it about. */
export const confidenceUpdates = sqliteTable(
  'confidence_updates',
  {
    seq: integer().primaryKey(),
    nodeSeq: integer('node_seq')
      .notNull()
      .references(() => nodes.seq, { onDelete: 'cascade' }),
    oldConfidence: real('old_confidence').notNull(),
    newConfidence: real('new_confidence').notNull(),
    trigger: text().notNull(),
    at: integer().notNull(),
  },
  (table) => [
    index('confidence_updates_node').on(table.nodeSeq, table.seq),
    check('confidence_updates_trigger', oneOf('trigger', CONFIDENCE_TRIGGERS)),
  ],
);

export const idempotencyKeys = sqliteTable(
  'idempotency_keys',
  {
    repoId: text('repo_id').notNull(),
    key: text().notNull(),
    requestDigest: text('request_digest').notNull(),
    reply: text().notNull(),
    createdAt: integer('created_at').notNull(),
  },
  (table) => [primaryKey({ columns: [table.repoId, table.key] }), index('idempotency_keys_age').on(table.createdAt)],
);

/** Kept by triggers, so that counting never scans: how many nodes of each sort there are, and their summed length. Concepts, whose kind is free text, count as one kind. */
export const nodeCounts = sqliteTable(
  'node_counts',
  {
    form: text().notNull(),
    kind: text().notNull(),
    tier: text().notNull(),
    nodes: integer().notNull(),
    terms: integer().notNull(),
  },
  (table) => [primaryKey({ columns: [table.form, table.kind, table.tier] })],
);

/** The catalogue: filled in the main file only. */
export const repos = sqliteTable('repos', {
  repoId: text('repo_id').primaryKey(),
  createdAt: integer('created_at').notNull(),
});
