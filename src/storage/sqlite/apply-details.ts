import type { EpisodeDetail } from '../../domain/episodes.js';
import type { ChapterDetail, WisdomDetail } from '../../domain/narratives.js';
import type { Detail } from '../../domain/node.js';
import { ApplyConflict } from '../port.js';
import { agentSeq, noteActive } from './apply-agents.js';
import { writeChunk } from './apply-chunks.js';
import { writeEntry } from './apply-entries.js';
import type { Connection } from './connection.js';

/** Writes what a form keeps beside its node: the first time, and again whenever it changes. */
export function writeDetail(connection: Connection, seq: number | bigint, detail: Detail, atMs: number): void {
  switch (detail.form) {
    case 'chunk':
      writeChunk(connection, seq, detail);
      break;
    case 'entry':
      writeEntry(connection, seq, detail);
      break;
    case 'episode':
      writeEpisode(connection, seq, detail, atMs);
      break;
    case 'chapter':
      writeChapter(connection, seq, detail, atMs);
      break;
    case 'wisdom':
      writeWisdom(connection, seq, detail, atMs);
      break;
  }
}

/** Who did it and when stays; a row that is there is changed in the rest. */
const CHANGE_EPISODE = `
  UPDATE episodes SET task_type = @taskType, success = @success, failure_category = @failureCategory,
    importance = @importance, goal = @goal, summary = @summary, layers = @layers WHERE node_seq = @seq`;

const INSERT_EPISODE = `
  INSERT INTO episodes
    (node_seq, agent_seq, task_type, success, failure_category, importance, created_at, goal, summary, layers)
  VALUES (@seq, @agent, @taskType, @success, @failureCategory, @importance, @atMs, @goal, @summary, @layers)`;

function writeEpisode(connection: Connection, seq: number | bigint, detail: EpisodeDetail, atMs: number): void {
  const { intent, outcome } = detail.layers;
  const agent = agentSeq(connection, detail.agentId);
  const row = {
    seq,
    taskType: intent.task_type,
    success: outcome.success ? 1 : 0,
    failureCategory: outcome.failure_category ?? null,
    importance: detail.importance,
    goal: intent.goal,
    summary: outcome.summary,
    layers: JSON.stringify(detail.layers),
  };
  const { changes } = connection.run(CHANGE_EPISODE, row);
  if (changes === 0) connection.run(INSERT_EPISODE, { ...row, agent, atMs });
  noteActive(connection, agent, atMs);
}

/** What two runs side by side found out to be about the same thing is made once. */
function refuseTwice(
  connection: Connection,
  table: 'chapters' | 'wisdom',
  seq: number | bigint,
  key: string | null,
): void {
  const taken = `SELECT 1 FROM ${table} WHERE key = ? AND node_seq <> ?`;
  if (key !== null && connection.get(taken, key, seq)) throw new ApplyConflict('duplicate', key);
}

const WRITE_CHAPTER = `
  INSERT INTO chapters (node_seq, key, title, start_at, end_at, updated_at, text)
  VALUES (@seq, @key, @title, @startMs, @endMs, @atMs, @text)
  ON CONFLICT (node_seq) DO UPDATE SET key = @key, title = @title, start_at = @startMs, end_at = @endMs,
    updated_at = @atMs, text = @text`;

function writeChapter(connection: Connection, seq: number | bigint, detail: ChapterDetail, atMs: number): void {
  const { key, title, startMs, endMs, text } = detail;
  refuseTwice(connection, 'chapters', seq, key);
  connection.run(WRITE_CHAPTER, { seq, key, title, startMs, endMs, atMs, text: JSON.stringify(text) });
}

const WRITE_WISDOM = `
  INSERT INTO wisdom (node_seq, key, start_at, end_at, updated_at, text)
  VALUES (@seq, @key, @startMs, @endMs, @atMs, @text)
  ON CONFLICT (node_seq) DO UPDATE SET key = @key, start_at = @startMs, end_at = @endMs, updated_at = @atMs, text = @text`;

function writeWisdom(connection: Connection, seq: number | bigint, detail: WisdomDetail, atMs: number): void {
  const { key, startMs, endMs, text } = detail;
  refuseTwice(connection, 'wisdom', seq, key);
  connection.run(WRITE_WISDOM, { seq, key, startMs, endMs, atMs, text: JSON.stringify(text) });
}
