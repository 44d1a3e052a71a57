import { sql } from 'drizzle-orm';
import {
  type AnySQLiteColumn,
  check,
  index,
  integer,
  primaryKey,
  real,
  sqliteTable,
  text,
  uniqueIndex,
} from 'drizzle-orm/sqlite-core';
import type { Layers } from '../../domain/episodes.js';
import type { ChapterDetail, WisdomDetail } from '../../domain/narratives.js';
import { AGENT_TYPES, FAILURE_CATEGORIES, FILE_OPERATIONS, TASK_TYPES } from '../../domain/vocabulary.js';
import { nodes } from './schema-graph.js';
import { oneOf } from './schema-words.js';

/** The tables of agents at work: what they did, with which files, and what was made of it. */

export const agents = sqliteTable(
  'agents',
  {
    seq: integer().primaryKey(),
    id: text().notNull(),
    type: text().notNull(),
    parentSeq: integer('parent_seq').references((): AnySQLiteColumn => agents.seq),
    specialization: text(),
    capabilities: text({ mode: 'json' }).$type<string[]>().notNull(),
    metadata: text({ mode: 'json' }).$type<Record<string, unknown>>().notNull(),
    createdAt: integer('created_at').notNull(),
    lastActiveAt: integer('last_active_at').notNull(),
  },
  (table) => [
    uniqueIndex('agents_id').on(table.id),
    index('agents_active').on(table.type, table.lastActiveAt),
    check('agents_type', oneOf('type', AGENT_TYPES)),
    check('agents_parent', sql`(${table.type} = 'subagent') = (${table.parentSeq} is not null)`),
  ],
);

export const sessions = sqliteTable(
  'sessions',
  {
    seq: integer().primaryKey(),
    id: text().notNull(),
    agentSeq: integer('agent_seq')
      .notNull()
      .references(() => agents.seq),
    startedAt: integer('started_at').notNull(),
    endedAt: integer('ended_at'),
    queriesMade: integer('queries_made').notNull().default(0),
    initialIntent: text('initial_intent'),
    finalOutcome: text('final_outcome'),
  },
  (table) => [uniqueIndex('sessions_id').on(table.id), index('sessions_agent').on(table.agentSeq, table.startedAt)],
);

export const episodes = sqliteTable(
  'episodes',
  {
    nodeSeq: integer('node_seq')
      .primaryKey()
      .references(() => nodes.seq, { onDelete: 'cascade' }),
    agentSeq: integer('agent_seq')
      .notNull()
      .references(() => agents.seq),
    taskType: text('task_type').notNull(),
    success: integer().notNull(),
    failureCategory: text('failure_category'),
    importance: real().notNull(),
    /** The node's own: lists are walks along it. */
    createdAt: integer('created_at').notNull(),
    // Said twice so that a list need not read the layers.
    goal: text().notNull(),
    summary: text().notNull(),
    layers: text({ mode: 'json' }).$type<Layers>().notNull(),
  },
  (table) => [
    index('episodes_recent').on(table.createdAt, table.nodeSeq),
    index('episodes_importance').on(table.importance, table.nodeSeq),
    index('episodes_agent').on(table.agentSeq, table.success),
    check('episodes_success', sql`${table.success} in (0, 1)`),
    check('episodes_importance', sql`${table.importance} between 0 and 1`),
    check('episodes_task_type', oneOf('task_type', TASK_TYPES)),
    check(
      'episodes_failure_category',
      sql`${oneOf('failure_category', FAILURE_CATEGORIES)} or failure_category is null`,
    ),
  ],
);

/** Each path once; from its end too, so that those that end alike stand together. */
export const files = sqliteTable(
  'files',
  {
    seq: integer().primaryKey(),
    path: text().notNull(),
    reversed: text().notNull(),
  },
  (table) => [uniqueIndex('files_path').on(table.path), index('files_reversed').on(table.reversed)],
);

export const nodeFiles = sqliteTable(
  'node_files',
  {
    nodeSeq: integer('node_seq')
      .notNull()
      .references(() => nodes.seq, { onDelete: 'cascade' }),
    fileSeq: integer('file_seq')
      .notNull()
      .references(() => files.seq, { onDelete: 'cascade' }),
    operation: text().notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.nodeSeq, table.fileSeq] }),
    index('node_files_file').on(table.fileSeq, table.nodeSeq),
    check('node_files_operation', oneOf('operation', FILE_OPERATIONS)),
  ],
);

/** What chapters and wisdom are made of besides their edges; the text is as it was synthesised, with what each line cites. */
const narrativeColumns = () => ({
  nodeSeq: integer('node_seq')
    .primaryKey()
    .references(() => nodes.seq, { onDelete: 'cascade' }),
  /** What it is about, where the service decided that: it is found again by it, and not made a second time. */
  key: text(),
  startAt: integer('start_at').notNull(),
  endAt: integer('end_at').notNull(),
  updatedAt: integer('updated_at').notNull(),
});

export const chapters = sqliteTable(
  'chapters',
  {
    ...narrativeColumns(),
    title: text(),
    text: text({ mode: 'json' }).$type<ChapterDetail['text']>().notNull(),
  },
  (table) => [uniqueIndex('chapters_key').on(table.key), index('chapters_start').on(table.startAt, table.nodeSeq)],
);

export const wisdom = sqliteTable(
  'wisdom',
  {
    ...narrativeColumns(),
    text: text({ mode: 'json' }).$type<WisdomDetail['text']>().notNull(),
  },
  (table) => [uniqueIndex('wisdom_key').on(table.key)],
);
