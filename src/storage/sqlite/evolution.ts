import type { SpaceName, View } from '../../domain/spaces.js';
import type { ConfidenceTrigger, Tier } from '../../domain/vocabulary.js';
import type { ConfidenceRecord, EvolutionEntry, EvolutionFilter, EvolutionPage } from '../port.js';
import type { Connection } from './connection.js';
import { seqsOf } from './seqs.js';
import type { Spaces } from './spaces.js';

const ENTRY_COLUMNS = 'l.seq, l.at, l.operation, l.node_ids, l.from_tier, l.to_tier, l.reasoning';

/** A piece of the log, newest first; what does not fit is left out by the caller, who then knows how far it looked. */
export const LOG_BEFORE = `
  SELECT ${ENTRY_COLUMNS} FROM evolution_log l WHERE l.seq < ? ORDER BY l.seq DESC LIMIT ?`;

export const LOG_OF_NODE = `
  SELECT ${ENTRY_COLUMNS} FROM evolution_nodes h CROSS JOIN evolution_log l ON l.seq = h.log_seq
  WHERE h.node_seq = ? AND h.log_seq < ? ORDER BY h.log_seq DESC LIMIT ?`;

export const LOG_OF_PURGED_NODE = `
  SELECT ${ENTRY_COLUMNS} FROM purged_nodes h CROSS JOIN evolution_log l ON l.seq = h.log_seq
  WHERE h.node_id = ? AND h.log_seq < ? ORDER BY h.log_seq DESC LIMIT ?`;

export const CONFIDENCE_OF_NODE = `
  SELECT c.old_confidence, c.new_confidence, c.trigger, c.at FROM nodes n CROSS JOIN confidence_updates c ON c.node_seq = n.seq
  WHERE n.id = ? ORDER BY c.seq DESC LIMIT ?`;

/** How often each trigger changed it, and how sure it was before the first of them. */
export const CONFIDENCE_SUMMED = `
  SELECT c.trigger, count(*), min(c.seq), c.old_confidence FROM nodes n
  CROSS JOIN confidence_updates c ON c.node_seq = n.seq WHERE n.id = ? GROUP BY c.trigger`;

/** How many lines one question looks through: seldom operations in a long log take more than one. */
const LINES_LOOKED_AT = 5_000;
/** The log is in the order of writing, which is that of time but for a clock that was set back a little. */
const CLOCK_SLACK_MS = 60_000;

/** What became of nodes, and when. */
export class Evolution {
  constructor(private readonly spaces: Spaces) {}

  listEvolution(space: SpaceName, filter: EvolutionFilter, beforeSeq: number | null, limit: number): EvolutionPage {
    return this.spaces.peek<EvolutionPage>(
      space,
      (connection) => pageOf(connection, filter, beforeSeq ?? Number.MAX_SAFE_INTEGER, limit),
      { entries: [], next: null },
    );
  }

  readConfidence(view: View, nodeId: string, limit: number): ConfidenceRecord {
    const updates = this.spaces
      .inEach(view, (connection) =>
        connection.rows<[number, number, ConfidenceTrigger, number]>(CONFIDENCE_OF_NODE, nodeId, limit),
      )
      .map(([oldConfidence, newConfidence, trigger, atMs]) => ({ oldConfidence, newConfidence, trigger, atMs }));
    const sums = this.spaces
      .inEach(view, (connection) =>
        connection.rows<[ConfidenceTrigger, number, number, number]>(CONFIDENCE_SUMMED, nodeId),
      )
      .sort(([, , firstOfA], [, , firstOfB]) => firstOfA - firstOfB);
    return {
      updates,
      initial: sums[0]?.[3] ?? null,
      byTrigger: Object.fromEntries(sums.map(([trigger, count]) => [trigger, count])),
    };
  }
}

function pageOf(connection: Connection, filter: EvolutionFilter, beforeSeq: number, limit: number): EvolutionPage {
  const rows = linesOf(connection, filter, beforeSeq);
  const fitting = rows.filter(
    ({ at, operation }) =>
      (filter.operation === null || operation === filter.operation) &&
      (filter.sinceMs === null || at >= filter.sinceMs) &&
      (filter.beforeMs === null || at < filter.beforeMs),
  );
  const entries = fitting.slice(0, limit).map(toEntry);
  const lookedTo = fitting.length > limit ? entries.at(-1)?.seq : rows.at(-1)?.seq;
  const isPast = filter.sinceMs !== null && (rows.at(-1)?.at ?? 0) < filter.sinceMs - CLOCK_SLACK_MS;
  const hasMore = fitting.length > limit || (rows.length === LINES_LOOKED_AT && !isPast);
  return { entries, next: hasMore ? (lookedTo ?? null) : null };
}

function linesOf(connection: Connection, { nodeId }: EvolutionFilter, beforeSeq: number): LogRow[] {
  if (nodeId === null) return connection.all<LogRow>(LOG_BEFORE, beforeSeq, LINES_LOOKED_AT);
  const [node] = seqsOf(connection, [nodeId]).keys();
  return node === undefined
    ? connection.all<LogRow>(LOG_OF_PURGED_NODE, nodeId, beforeSeq, LINES_LOOKED_AT)
    : connection.all<LogRow>(LOG_OF_NODE, node, beforeSeq, LINES_LOOKED_AT);
}

interface LogRow {
  seq: number;
  at: number;
  operation: string;
  node_ids: string;
  from_tier: Tier | null;
  to_tier: Tier | null;
  reasoning: string | null;
}

const toEntry = (row: LogRow): EvolutionEntry => ({
  seq: row.seq,
  atMs: row.at,
  operation: row.operation,
  nodeIds: JSON.parse(row.node_ids) as string[],
  fromTier: row.from_tier,
  toTier: row.to_tier,
  reasoning: row.reasoning,
});
