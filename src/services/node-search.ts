import { affordableTerms, byScore, type Corpus, lexicalScorer } from '../domain/ranking.js';
import { checkQuery, checkRepoId } from '../domain/rules.js';
import { snippetOf } from '../domain/snippets.js';
import { type View, viewOf } from '../domain/spaces.js';
import { indexTerms, prefixTerms, queryTerms } from '../domain/terms.js';
import { GateFailure } from '../domain/violations.js';
import type { NodeMatch, SearchFilter, Store, StoredNode, TermMatch } from '../storage/port.js';
import type { Context } from './context.js';

export interface NodeSearch {
  readonly query: string;
  readonly match: TermMatch['match'];
  readonly filter: SearchFilter;
  readonly includeArchived: boolean;
  readonly includeGlobal: boolean;
  readonly limit: number;
}

export interface FoundNode {
  readonly node: StoredNode;
  readonly score: number;
  readonly snippet: string;
}

/** How many entries of the index a search may look through to weigh them. */
const POSTINGS_MAX = 20_000;
/** How many words a word may become that is still being typed; of more, the first in the order of the alphabet. */
const LAST_TERMS_MAX = 300;

/** The nodes whose words fit, best first. It counts as no look at any of them. */
export async function searchNodes({ store }: Context, repoId: string, search: NodeSearch): Promise<FoundNode[]> {
  const violations = [...checkRepoId('repo_id', repoId), ...checkQuery(search.query, null)];
  if (violations.length > 0) throw new GateFailure('semantic', violations);
  const view = viewOf(repoId, search);
  const { match, corpus, sought } = await matchOf(store, view, search);
  // Each space chooses by its own numbers; twice as many as asked for leave room to differ from them.
  const candidates = await store.searchNodes(view, match, search.filter, 2 * search.limit);
  const scoreOf = scorerOf(corpus, match, sought);
  const best = candidates
    .map((candidate) => ({ id: candidate.id, score: scoreOf(candidate) }))
    .sort(byScore)
    .slice(0, search.limit);
  const nodes = await store.getNodes(
    view,
    best.map(({ id }) => id),
  );
  const byId = new Map(nodes.map((node) => [node.id, node]));
  const isFound = (term: string): boolean => sought.terms.has(term) || isTyped(sought, term);
  return best.flatMap(({ id, score }) => {
    const node = byId.get(id);
    return node
      ? [{ node, score, snippet: snippetOf(node.content, [...sought.terms, ...sought.beginnings], isFound) }]
      : [];
  });
}

/** What a node is weighed by: whole words, and how the word begins that is still being typed. */
interface Sought {
  readonly terms: ReadonlySet<string>;
  readonly beginnings: readonly string[];
}

const isTyped = ({ beginnings }: Sought, term: string): boolean =>
  beginnings.some((beginning) => term.startsWith(beginning));

interface Question {
  readonly match: TermMatch;
  /** The numbers of all spaces together: only by them can nodes of different spaces be compared. */
  readonly corpus: Corpus;
  readonly sought: Sought;
}

async function matchOf(store: Store, view: View, { query, match }: NodeSearch): Promise<Question> {
  if (match === 'prefix') {
    const { whole, beginnings } = prefixTerms(query);
    const lastTerms = await store.findTerms(view, beginnings, LAST_TERMS_MAX);
    const corpus = await store.countTerms(view, [...whole, ...lastTerms]);
    return { match: { match, terms: whole, lastTerms }, corpus, sought: { terms: new Set(whole), beginnings } };
  }
  const terms = match === 'phrase' ? indexTerms(query) : queryTerms(query);
  const corpus = await store.countTerms(view, [...new Set(terms)]);
  const chosen = match === 'any' ? affordableTerms(corpus, terms, POSTINGS_MAX) : terms;
  return { match: { match, terms: chosen }, corpus, sought: { terms: new Set(terms), beginnings: [] } };
}

/** Stands for whatever the last word may become; no term looks like this. */
const TYPED = '*';

/** Scores by the numbers of the joint corpus. All that the last word may become counts as one word. */
function scorerOf(corpus: Corpus, match: TermMatch, sought: Sought): (node: NodeMatch) => number {
  const frequency = (term: string): number => corpus.frequencies.get(term) ?? 0;
  const frequencies = new Map([...sought.terms].map((term) => [term, frequency(term)]));
  if (match.match === 'prefix') {
    const postings = match.lastTerms.reduce((sum, term) => sum + frequency(term), 0);
    frequencies.set(TYPED, Math.min(corpus.documents, postings));
  }
  const score = lexicalScorer({ ...corpus, frequencies }, [...frequencies.keys()]);
  return ({ terms, length }) => {
    const counts = new Map<string, number>();
    const count = (key: string): unknown => counts.set(key, (counts.get(key) ?? 0) + 1);
    for (const term of terms.trim().split(' ')) {
      if (sought.terms.has(term)) count(term);
      if (isTyped(sought, term)) count(TYPED);
    }
    return score({ counts, length }).score;
  };
}
