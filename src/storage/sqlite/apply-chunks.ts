import type { JoinConversation } from '../../domain/changes.js';
import type { ChunkDetail } from '../../domain/chunks.js';
import { conversationKey, LINKS } from '../../domain/links.js';
import type { Application } from './apply.js';
import type { Connection } from './connection.js';

const WRITE_CHUNK = `
  INSERT INTO chunks (node_seq, id, conversation_id, created_at, source, tokens, tags)
  SELECT seq, id, @conversationId, created_at, @source, @tokens, @tags FROM nodes WHERE seq = @seq
  ON CONFLICT (node_seq) DO UPDATE SET source = @source, tokens = @tokens, tags = @tags`;

export function writeChunk(connection: Connection, seq: number | bigint, detail: ChunkDetail): void {
  const { conversationId, source, tokens, tags } = detail;
  connection.run(WRITE_CHUNK, { seq, conversationId, source, tokens, tags: JSON.stringify(tags) });
}

const EDGE_OF_KEY = 'SELECT seq FROM hyperedges WHERE key = ?';

const DRAW_EDGE = `
  INSERT INTO hyperedges (id, repo_id, type, label, weight, origin, key, created_at)
  VALUES (?, ?, ?, 'context_of', ?, 'auto', ?, ?)`;

const TAKE_PART = `
  INSERT INTO membership (edge_seq, node_seq, role, position, label) VALUES (?, ?, 'participant', ?, 'context_of')`;

/** The place in the conversation is the moment of the saying: to count those before would be to look at all of them. */
export function joinConversation(application: Application, change: JoinConversation): void {
  const { connection } = application;
  const { conversationId, edgeId, members, repoId, atMs } = change;
  const key = conversationKey(conversationId);
  const { type, weight } = LINKS.context_of;
  const standing = connection.get<{ seq: number }>(EDGE_OF_KEY, key)?.seq;
  const edge = standing ?? connection.run(DRAW_EDGE, edgeId, repoId, type, weight, key, atMs).lastInsertRowid;
  const nodes = members.map(({ nodeId, saidAtMs }) => ({ id: nodeId, seq: application.nodeSeq(nodeId), saidAtMs }));
  for (const { seq, saidAtMs } of nodes) connection.run(TAKE_PART, edge, seq, saidAtMs);
  application.log('link:context_of', repoId, atMs, nodes, null);
}
