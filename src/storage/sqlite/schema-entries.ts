import { sql } from 'drizzle-orm';
import { check, index, integer, sqliteTable, text } from 'drizzle-orm/sqlite-core';
import { ENTRY_TYPES, IMPORTANCES, TASK_STATUSES } from '../../domain/entries.js';
import { nodes } from './schema-graph.js';
import { oneOf } from './schema-words.js';

/** Notes of a journal. */
export const entries = sqliteTable(
  'entries',
  {
    nodeSeq: integer('node_seq')
      .primaryKey()
      .references(() => nodes.seq, { onDelete: 'cascade' }),
    /** The node's kind. */
    type: text().notNull(),
    /** Whether the node is in the archive; a trigger keeps it so. Those that are not are few. */
    archived: integer().notNull().default(0),
    importance: text().notNull(),
    category: text(),
    status: text(),
    completedAt: integer('completed_at'),
    blockers: text({ mode: 'json' }).$type<string[]>(),
    outcome: text(),
    /** The node's own, in the order in which they were given. */
    tags: text({ mode: 'json' }).$type<string[]>().notNull(),
    bytes: integer().notNull(),
  },
  (table) => [
    index('entries_listing').on(table.archived, table.type, table.bytes),
    check('entries_type', oneOf('type', ENTRY_TYPES)),
    check('entries_importance', oneOf('importance', IMPORTANCES)),
    check('entries_status', sql`${oneOf('status', TASK_STATUSES)} or status is null`),
    check('entries_task', sql`${table.status} is null or ${table.type} = 'task'`),
    check('entries_completed', sql`${table.completedAt} is null or ${table.status} = 'completed'`),
  ],
);
