import type { View } from '../../domain/spaces.js';
import type { TermCandidate, TermSearch } from '../port.js';
import type { Connection } from './connection.js';
import { MEMORY_COLUMNS, type MemoryRow, toMemory } from './read.js';
import type { Spaces } from './spaces.js';
import { VISIBLE, visibility } from './visibility.js';

export const TERM_FREQUENCY = 'SELECT doc FROM node_search_terms WHERE term = ?';

/** Ordered by the function and not by the hidden `rank` column: with a join that is three times as fast. */
export const SEARCH_TERMS = `
  SELECT ${MEMORY_COLUMNS}, n.terms AS length, node_search.terms AS terms
  FROM node_search CROSS JOIN nodes n ON n.seq = node_search.rowid CROSS JOIN memories m ON m.node_seq = n.seq
  WHERE node_search MATCH @match AND ${VISIBLE}
  ORDER BY bm25(node_search), n.seq LIMIT @pool`;

const CORPUS = 'SELECT ifnull(sum(nodes), 0) AS documents, ifnull(sum(terms), 0) AS terms FROM node_counts';

/**
 * How many posting-list entries a query may walk before its commoner terms stop choosing candidates. They still count in the
 * score of every candidate; a memory that holds none of the rarer terms could hardly have won.
 */
const POSTINGS_MAX = 4_000;

/** The terms that choose candidates: from the rarest on, as long as their lists stay short; always at least one. */
export function selectiveTerms(frequencies: ReadonlyMap<string, number>): string[] {
  const known = [...frequencies]
    .filter(([, frequency]) => frequency > 0)
    .sort((a, b) => a[1] - b[1] || (a[0] < b[0] ? -1 : 1));
  const chosen: string[] = [];
  let postings = 0;
  for (const [term, frequency] of known) {
    postings += frequency;
    if (chosen.length > 0 && postings > POSTINGS_MAX) break;
    chosen.push(term);
  }
  return chosen;
}

/** Terms hold letters, digits and `_` only; quoted all the same, so that none can ever be read as an operator. */
const matchAny = (terms: readonly string[]): string =>
  terms.map((term) => `"${term.replaceAll('"', '')}"`).join(' OR ');

export function searchTerms(spaces: Spaces, view: View, terms: readonly string[], poolSize: number): TermSearch {
  let documents = 0;
  let length = 0;
  const frequencies = new Map<string, number>();
  const candidates: TermCandidate[] = [];
  for (const space of view.spaces) {
    spaces.peek(
      space,
      (connection) => {
        const corpus = connection.get<{ documents: number; terms: number }>(CORPUS);
        if (!corpus || corpus.documents === 0) return;
        documents += corpus.documents;
        length += corpus.terms;
        const here = frequenciesIn(connection, terms);
        for (const [term, frequency] of here) frequencies.set(term, (frequencies.get(term) ?? 0) + frequency);
        const selective = selectiveTerms(here);
        if (selective.length === 0) return;
        const parameters = { ...visibility(view), match: matchAny(selective), pool: poolSize };
        for (const row of connection.all<MemoryRow & { length: number; terms: string }>(SEARCH_TERMS, parameters)) {
          candidates.push({ memory: toMemory(row), terms: row.terms, length: row.length });
        }
      },
      undefined,
    );
  }
  return { documents, terms: length, frequencies, candidates };
}

function frequenciesIn(connection: Connection, terms: readonly string[]): Map<string, number> {
  return new Map(terms.map((term) => [term, connection.get<{ doc: number }>(TERM_FREQUENCY, term)?.doc ?? 0]));
}
