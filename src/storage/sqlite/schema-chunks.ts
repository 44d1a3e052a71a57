import { sql } from 'drizzle-orm';
import { check, index, integer, sqliteTable, text } from 'drizzle-orm/sqlite-core';
import { CHUNK_SOURCES } from '../../domain/chunks.js';
import { nodes } from './schema-graph.js';
import { oneOf } from './schema-words.js';

/** Pieces of text. Who belongs to a conversation, and in which order it was said, is one range of an index. */
export const chunks = sqliteTable(
  'chunks',
  {
    nodeSeq: integer('node_seq')
      .primaryKey()
      .references(() => nodes.seq, { onDelete: 'cascade' }),
    /** The node's own: of what was said at the same moment it decides the order, here and wherever it is taken. */
    id: text().notNull(),
    conversationId: text('conversation_id').notNull(),
    /** The node's own: lists are walks along it. */
    createdAt: integer('created_at').notNull(),
    source: text().notNull(),
    tokens: integer().notNull(),
    /** The node's own, in the order in which they were given. */
    tags: text({ mode: 'json' }).$type<string[]>().notNull(),
  },
  (table) => [
    index('chunks_conversation').on(table.conversationId, table.createdAt, table.id),
    index('chunks_recent').on(table.createdAt, table.id),
    check('chunks_source', oneOf('source', CHUNK_SOURCES)),
    check('chunks_tokens', sql`${table.tokens} between 1 and 800`),
  ],
);
