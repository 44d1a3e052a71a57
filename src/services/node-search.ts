import { setImmediate } from 'node:timers/promises';
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

export interface RankedNode {
  readonly node: StoredNode;
  readonly score: number;
}

export interface FoundNode extends RankedNode {
  readonly snippet: string;
}

/** How many entries of the index a search may look through to weigh them. */
const POSTINGS_MAX = 20_000;
/** How many words a word may become that is still being typed; of more, the first in the order of the alphabet. */
const LAST_TERMS_MAX = 300;

/** After so many characters that were looked through, others have their turn. */
const CHARACTERS_PER_TURN = 500_000;

/** The nodes whose words fit, best first, each with a passage. It counts as no look at any of them. */
export async function searchNodes(context: Context, repoId: string, search: NodeSearch): Promise<FoundNode[]> {
  const { ranked, sought } = await rank(context, repoId, search);
  const isFound = (term: string): boolean => sought.terms.has(term) || isTyped(sought, term);
  const words = [...sought.terms, ...sought.beginnings];
  return inTurns(
    ranked,
    ({ node }) => node.content.length,
    (found) => ({ ...found, snippet: snippetOf(found.node.content, words, isFound) }),
  );
}

/** The same without the passages. */
export const rankNodes = async (context: Context, repoId: string, search: NodeSearch): Promise<RankedNode[]> =>
  (await rank(context, repoId, search)).ranked;

async function rank(
  { store }: Context,
  repoId: string,
  search: NodeSearch,
): Promise<{ ranked: RankedNode[]; sought: Sought }> {
  // A blank query is no mistake here: it is what is typed before the first word, and nothing fits it.
  const isBlank = search.query.trim() === '';
  const violations = [...checkRepoId('repo_id', repoId), ...(isBlank ? [] : checkQuery(search.query, null))];
  if (violations.length > 0) throw new GateFailure('semantic', violations);
  if (isBlank) return { ranked: [], sought: { terms: new Set(), beginnings: [] } };
  const view = viewOf(repoId, search);
  const { match, corpus, sought } = await matchOf(store, view, search);
  // Each space chooses by its own numbers; twice as many as asked for leave room to differ from them.
  const candidates = await store.searchNodes(view, match, search.filter, 2 * search.limit);
  const scoreOf = scorerOf(corpus, match, sought);
  const scored = await inTurns(
    candidates,
    ({ terms }) => terms.length,
    (candidate) => ({ id: candidate.id, score: scoreOf(candidate) }),
  );
  const best = scored.sort(byScore).slice(0, search.limit);
  const nodes = await store.getNodes(
    view,
    best.map(({ id }) => id),
  );
  const byId = new Map(nodes.map((node) => [node.id, node]));
  const ranked = best.flatMap(({ id, score }) => {
    const node = byId.get(id);
    return node ? [{ node, score }] : [];
  });
  return { ranked, sought };
}

/** Does something with each of them; long texts are not looked through all at once. */
async function inTurns<Item, Result>(
  items: readonly Item[],
  charactersOf: (item: Item) => number,
  run: (item: Item) => Result,
): Promise<Result[]> {
  const results: Result[] = [];
  let characters = 0;
  for (const item of items) {
    if (characters > CHARACTERS_PER_TURN) {
      characters = 0;
      await setImmediate();
    }
    results.push(run(item));
    characters += charactersOf(item);
  }
  return results;
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
