import type { ChosenTerms, Corpus } from '../../domain/ranking.js';
import type { View } from '../../domain/spaces.js';
import type { NodeMatch, SearchFilter, TermCandidate, TermMatch } from '../port.js';
import type { Connection } from './connection.js';
import { BRIEF_COLUMNS, type BriefRow, toBrief } from './read.js';
import { noteSeq } from './seqs.js';
import type { Spaces } from './spaces.js';
import { VISIBLE, visibility } from './visibility.js';

export const CORPUS = `
  SELECT ifnull(sum(nodes), 0) AS documents, ifnull(sum(terms), 0) AS terms,
    ifnull(sum(nodes) FILTER (WHERE tier = 'archive'), 0) AS archived
  FROM node_counts`;

export const TERM_FREQUENCY = 'SELECT doc FROM node_search_terms WHERE term = ?';

/** Whether anybody is visible among the newest who hold a term. */
export const VISIBLE_HOLDER = `
  SELECT 1 FROM (SELECT rowid AS seq FROM node_search WHERE node_search MATCH @match ORDER BY rowid DESC LIMIT @looked) AS s
  CROSS JOIN nodes n ON n.seq = s.seq WHERE ${VISIBLE} LIMIT 1`;

/** Ordered by the function and not by the hidden `rank` column, which is slower. */
export const BEST_MATCHES = `
  SELECT rowid FROM node_search WHERE node_search MATCH ? ORDER BY bm25(node_search), rowid LIMIT ?`;

/** Unweighed: to weigh a term costs a walk over its whole list. */
export const NEWEST_MATCHES = `
  SELECT rowid FROM node_search WHERE node_search MATCH ? ORDER BY rowid DESC LIMIT ?`;

/** The matches that the view shows. Joined after the best are known: most matches are never looked at. */
export const CANDIDATES = `
  SELECT ${BRIEF_COLUMNS}, n.search_terms, n.terms, n.seq
  FROM json_each(@seqs) AS matched CROSS JOIN nodes n ON n.seq = matched.value WHERE ${VISIBLE}`;

export function countTerms(spaces: Spaces, view: View, terms: readonly string[]): Corpus {
  const corpus = { documents: 0, terms: 0, frequencies: new Map<string, number>() };
  for (const space of view.spaces) {
    spaces.peek(
      space,
      (connection) => {
        if (connection.isEmpty()) return;
        const sums = connection.get<CorpusRow>(CORPUS) as CorpusRow;
        corpus.documents += sums.documents;
        corpus.terms += sums.terms;
        for (const term of terms) {
          const frequency = frequencyOf(connection, view, term, sums.archived > 0);
          corpus.frequencies.set(term, (corpus.frequencies.get(term) ?? 0) + frequency);
        }
      },
      undefined,
    );
  }
  return corpus;
}

interface CorpusRow {
  documents: number;
  terms: number;
  archived: number;
}

/** As many as a space keeps in mind; a burst of odd questions must not grow the process. */
const FREQUENCIES_KEPT_MAX = 2_000;

/** How many holders of a term are looked at to find a visible one; among more than that there is likely one. */
const HOLDERS_LOOKED_AT = 500;

/** A term that only hidden memories hold is unknown to the view: it must not bar those that are visible. */
function frequencyOf(connection: Connection, view: View, term: string, hasArchived: boolean): number {
  const isWhole = view.kinds === null && view.asOfMs === null && view.sessionId === null;
  const isUsual = isWhole && !view.includeArchived;
  const { termFrequencies: kept } = connection;
  const known = isUsual ? kept.get(term) : undefined;
  if (known !== undefined) return known;
  let frequency = connection.rows<[number]>(TERM_FREQUENCY, term)[0]?.[0] ?? 0;
  const mayHide = isUsual ? hasArchived : !isWhole;
  if (frequency > 0 && mayHide) {
    const parameters = { ...visibility(view), match: matchAny([term]), looked: HOLDERS_LOOKED_AT };
    const isHidden = connection.get(VISIBLE_HOLDER, parameters) === undefined;
    if (isHidden && frequency <= HOLDERS_LOOKED_AT) frequency = 0;
  }
  if (isUsual) {
    if (kept.size >= FREQUENCIES_KEPT_MAX) kept.clear();
    kept.set(term, frequency);
  }
  return frequency;
}

/** How much further to look when the view hides too many of the best matches. */
const POOL_GROWTH = 8;

export function searchTerms(spaces: Spaces, view: View, terms: ChosenTerms, poolSize: number): TermCandidate[] {
  if (terms.any.length === 0) return [];
  return spaces.inEach(view, (connection) => bestVisible(connection, view, terms, poolSize));
}

function bestVisible(connection: Connection, view: View, terms: ChosenTerms, poolSize: number): TermCandidate[] {
  for (let looked = poolSize; ; looked *= POOL_GROWTH) {
    const { seqs, isAll } = bestMatches(connection, terms, looked);
    const parameters = { ...visibility(view), seqs: JSON.stringify(seqs) };
    const rows = connection.rows<CandidateRow>(CANDIDATES, parameters);
    if (rows.length >= poolSize || isAll) return rows.map((row) => toCandidate(connection, row));
  }
}

export function bestMatches(
  connection: Connection,
  { any, also }: ChosenTerms,
  limit: number,
): { seqs: number[]; isAll: boolean } {
  const seqsOf = (statement: string, match: string): number[] =>
    connection.rows<[number]>(statement, match, limit).map(([seq]) => seq);
  // Weighing is worth its price only when there are more matches than places. One query tells, and mostly it is enough.
  const newest = seqsOf(NEWEST_MATCHES, matchAny(any));
  if (newest.length < limit) return { seqs: newest, isAll: true };
  const best = seqsOf(BEST_MATCHES, matchAny(any));
  const both = also.length === 0 ? [] : seqsOf(NEWEST_MATCHES, `(${matchAny(any)}) AND (${matchAny(also)})`);
  return { seqs: [...new Set([...best, ...both])], isAll: false };
}

/** A piece of the vocabulary, in the order of the alphabet. */
export const TERMS_FROM = 'SELECT term FROM node_search_terms WHERE term >= ? AND term <= ? LIMIT ?';

const LAST_CHARACTER = '\u{10ffff}';

export const findTerms = (spaces: Spaces, view: View, beginnings: readonly string[], max: number): string[] => [
  ...new Set(
    spaces
      .inEach(view, (connection) =>
        beginnings.flatMap((beginning) =>
          connection.rows<[string]>(TERMS_FROM, beginning, `${beginning}${LAST_CHARACTER}`, max),
        ),
      )
      .map(([term]) => term),
  ),
];

/** How many matches of one search are weighed; of more, the newest. */
const MATCHES_WEIGHED = 20_000;

/**
 * The best of those that fit, in one pass: what does not fit is dropped as it comes, so that a filter that nothing fits costs no
 * more than one that everything does.
 */
export const BEST_FITTING = `
  SELECT n.seq FROM (
    SELECT rowid AS seq, bm25(node_search) AS weight FROM node_search WHERE node_search MATCH @match
    ORDER BY rowid DESC LIMIT ${MATCHES_WEIGHED}) AS s
  CROSS JOIN nodes n ON n.seq = s.seq
  WHERE ${VISIBLE} AND (@type IS NULL OR n.type = @type) AND (@tier IS NULL OR n.tier = @tier)
  AND (@form IS NULL OR n.form = @form) AND (@kind IS NULL OR n.kind = @kind) AND ifnull(n.confidence, 0) >= @min
  AND (@sessionId IS NULL OR n.session_id = @sessionId OR n.tier NOT IN ('task', 'session'))
  ORDER BY s.weight, s.seq LIMIT @limit`;

/** Read apart: long texts would have to be sorted along. */
export const TERMS_OF_NODES = `
  SELECT n.id, n.search_terms, n.terms FROM json_each(?) AS matched CROSS JOIN nodes n ON n.seq = matched.value`;

export function searchNodes(
  spaces: Spaces,
  view: View,
  match: TermMatch,
  { minConfidence: min, ...filter }: SearchFilter,
  poolSize: number,
): NodeMatch[] {
  const expression = expressionOf(match);
  if (expression === '') return [];
  const parameters = { ...visibility(view), ...filter, min, match: expression, limit: poolSize };
  return spaces.inEach(view, (connection) => {
    const seqs = connection.rows<[number]>(BEST_FITTING, parameters).map(([seq]) => seq);
    return connection
      .rows<[string, string, number]>(TERMS_OF_NODES, JSON.stringify(seqs))
      .map(([id, terms, length]) => ({ id, terms, length }));
  });
}

function expressionOf(match: TermMatch): string {
  const terms = match.terms.map(quoted);
  switch (match.match) {
    case 'any':
      return terms.join(' OR ');
    case 'all':
      return terms.join(' AND ');
    case 'phrase':
      return match.terms.length === 0 ? '' : quoted(match.terms.join(' '));
    case 'prefix': {
      return match.lastTerms.length === 0 ? '' : [...terms, `(${matchAny(match.lastTerms)})`].join(' AND ');
    }
  }
}

type CandidateRow = readonly [...BriefRow, string, number, number];

function toCandidate(connection: Connection, row: CandidateRow): TermCandidate {
  const [id, form, kind, scope, content, confidence, createdAtMs, archived, terms, length, seq] = row;
  noteSeq(connection, id, seq);
  return { memory: toBrief([id, form, kind, scope, content, confidence, createdAtMs, archived]), terms, length };
}

/** The terms as a node keeps them, and as a candidate is looked through for them. */
export const searchTermsOf = (terms: readonly string[]): string => ` ${terms.join(' ')} `;

/** Terms hold letters, digits and `_` only; quoted all the same, so that none can ever be read as an operator. */
const quoted = (term: string): string => `"${term.replaceAll('"', '')}"`;

const matchAny = (terms: readonly string[]): string => terms.map(quoted).join(' OR ');
