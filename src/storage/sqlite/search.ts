import type { ChosenTerms, Corpus } from '../../domain/ranking.js';
import type { View } from '../../domain/spaces.js';
import type { TermCandidate } from '../port.js';
import type { Connection } from './connection.js';
import { BRIEF_COLUMNS, type BriefRow, toBrief } from './read.js';
import type { Spaces } from './spaces.js';
import { VISIBLE, visibility } from './visibility.js';

export const CORPUS = 'SELECT sum(nodes) AS documents, sum(terms) AS terms FROM node_counts';

export const TERM_FREQUENCY = 'SELECT doc FROM node_search_terms WHERE term = ?';

/** Ordered by the function and not by the hidden `rank` column, which is slower. */
export const BEST_MATCHES = `
  SELECT rowid FROM node_search WHERE node_search MATCH ? ORDER BY bm25(node_search), rowid LIMIT ?`;

/** Unranked: weighing a common term costs a walk over its whole list. */
export const NEWEST_MATCHES = `
  SELECT rowid FROM node_search WHERE node_search MATCH ? ORDER BY rowid DESC LIMIT ?`;

/** The matches that the view shows. Joined after the best are known: most matches are never looked at. */
export const CANDIDATES = `
  SELECT ${BRIEF_COLUMNS}, s.terms, n.terms
  FROM json_each(@seqs) AS matched CROSS JOIN nodes n ON n.seq = matched.value
  CROSS JOIN node_search s ON s.rowid = n.seq WHERE n.form = 'memory' AND ${VISIBLE}`;

export function countTerms(spaces: Spaces, view: View, terms: readonly string[]): Corpus {
  const corpus = { documents: 0, terms: 0, frequencies: new Map<string, number>() };
  for (const space of view.spaces) {
    spaces.peek(
      space,
      (connection) => {
        if (connection.isEmpty()) return;
        const sums = connection.get<{ documents: number; terms: number }>(CORPUS);
        corpus.documents += sums?.documents ?? 0;
        corpus.terms += sums?.terms ?? 0;
        for (const term of terms) {
          const frequency = frequencyOf(connection, term);
          corpus.frequencies.set(term, (corpus.frequencies.get(term) ?? 0) + frequency);
        }
      },
      undefined,
    );
  }
  return corpus;
}

/** As many as a space keeps in mind; a burst of odd questions must not grow the process. */
const FREQUENCIES_KEPT_MAX = 2_000;

function frequencyOf(connection: Connection, term: string): number {
  const { termFrequencies: kept } = connection;
  let frequency = kept.get(term);
  if (frequency === undefined) {
    frequency = connection.rows<[number]>(TERM_FREQUENCY, term)[0]?.[0] ?? 0;
    if (kept.size >= FREQUENCIES_KEPT_MAX) kept.clear();
    kept.set(term, frequency);
  }
  return frequency;
}

/** How much further to look when the view hides too many of the best matches. */
const POOL_GROWTH = 8;

export function searchTerms(spaces: Spaces, view: View, terms: ChosenTerms, poolSize: number): TermCandidate[] {
  if (terms.any.length === 0) return [];
  return view.spaces.flatMap((space) =>
    spaces.peek<TermCandidate[]>(
      space,
      (connection) => (connection.isEmpty() ? [] : bestVisible(connection, view, terms, poolSize)),
      [],
    ),
  );
}

function bestVisible(connection: Connection, view: View, terms: ChosenTerms, poolSize: number): TermCandidate[] {
  for (let looked = poolSize; ; looked *= POOL_GROWTH) {
    const { seqs, isAll } = bestMatches(connection, terms, looked);
    const parameters = { ...visibility(view), seqs: JSON.stringify(seqs) };
    const rows = connection.rows<CandidateRow>(CANDIDATES, parameters);
    if (rows.length >= poolSize || isAll) return rows.map(toCandidate);
  }
}

function bestMatches(
  connection: Connection,
  { any, also }: ChosenTerms,
  limit: number,
): { seqs: number[]; isAll: boolean } {
  const seqsOf = (statement: string, match: string): number[] =>
    connection.rows<[number]>(statement, match, limit).map(([seq]) => seq);
  const best = seqsOf(BEST_MATCHES, matchAny(any));
  if (best.length < limit) return { seqs: best, isAll: true };
  const both = also.length === 0 ? [] : seqsOf(NEWEST_MATCHES, `(${matchAny(any)}) AND (${matchAny(also)})`);
  return { seqs: [...new Set([...best, ...both])], isAll: false };
}

type CandidateRow = readonly [...BriefRow, string, number];

const toCandidate = ([id, kind, scope, content, confidence, createdAtMs, archived, terms, length]: CandidateRow) => ({
  memory: toBrief([id, kind, scope, content, confidence, createdAtMs, archived]),
  terms,
  length,
});

/** Terms hold letters, digits and `_` only; quoted all the same, so that none can ever be read as an operator. */
const matchAny = (terms: readonly string[]): string =>
  terms.map((term) => `"${term.replaceAll('"', '')}"`).join(' OR ');
