import type { Connection } from './connection.js';

/** The row number of each node is the same for good, and finding it by its id costs as much as reading the row. */

export const FIND_SEQS = 'SELECT n.id, n.seq FROM json_each(?) AS wanted CROSS JOIN nodes n ON n.id = wanted.value';

/** As many as a space keeps in mind: more than one read meets. */
const SEQS_KEPT_MAX = 2_000;

export function noteSeq(connection: Connection, id: string, seq: number): void {
  const { nodeSeqs } = connection;
  if (nodeSeqs.size >= SEQS_KEPT_MAX) nodeSeqs.clear();
  nodeSeqs.set(id, seq);
}

/** The ids of the nodes that the space has, by their row numbers; who is asked for twice is answered once. */
export function seqsOf(connection: Connection, ids: readonly string[]): Map<number, string> {
  const found = new Map<number, string>();
  const missing: string[] = [];
  for (const id of new Set(ids)) {
    const seq = connection.nodeSeqs.get(id);
    if (seq === undefined) missing.push(id);
    else found.set(seq, id);
  }
  if (missing.length > 0) {
    for (const [id, seq] of connection.rows<[string, number]>(FIND_SEQS, JSON.stringify(missing))) {
      noteSeq(connection, id, seq);
      found.set(seq, id);
    }
  }
  return found;
}

export const listOf = (seqs: ReadonlyMap<number, string>): string => `[${[...seqs.keys()].join()}]`;
