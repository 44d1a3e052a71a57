import type { ExpectRoom } from '../../domain/changes.js';
import type { EntryDetail } from '../../domain/entries.js';
import { ApplyConflict } from '../port.js';
import type { Connection } from './connection.js';

const WRITE_ENTRY = `
  INSERT INTO entries
    (node_seq, type, archived, importance, category, status, completed_at, blockers, outcome, tags, bytes)
  SELECT seq, @type, tier = 'archive', @importance, @category, @status, @completedAt, @blockers, @outcome, @tags, @bytes
  FROM nodes WHERE seq = @seq
  ON CONFLICT (node_seq) DO UPDATE SET importance = @importance, category = @category, status = @status,
    completed_at = @completedAt, blockers = @blockers, outcome = @outcome, tags = @tags, bytes = @bytes`;

export function writeEntry(connection: Connection, seq: number | bigint, detail: EntryDetail): void {
  const { type, importance, category, task, tags, bytes } = detail;
  connection.run(WRITE_ENTRY, {
    seq,
    type,
    importance,
    category,
    status: task?.status ?? null,
    completedAt: task?.completedAtMs ?? null,
    blockers: task?.blockers ? JSON.stringify(task.blockers) : null,
    outcome: task?.outcome ?? null,
    tags: JSON.stringify(tags),
    bytes,
  });
}

export const LIVE_ENTRIES = `
  SELECT count(*) AS entries, ifnull(sum(bytes), 0) AS bytes FROM entries WHERE archived = 0 AND type = ?`;

/** Two that were written at once may each have found room. */
export function expectRoom(connection: Connection, { type, entriesMax, bytesMax }: ExpectRoom): void {
  const live = connection.get<{ entries: number; bytes: number }>(LIVE_ENTRIES, type);
  if (live && (live.entries > entriesMax || live.bytes > bytesMax)) throw new ApplyConflict('no_room', type);
}
