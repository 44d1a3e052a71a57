import { affordableTerms } from '../domain/ranking.js';
import { checkQuery, checkRepoId } from '../domain/rules.js';
import { snippetOf } from '../domain/snippets.js';
import { type View, viewOf } from '../domain/spaces.js';
import { indexTerms, prefixTerms, queryTerms } from '../domain/terms.js';
import { GateFailure } from '../domain/violations.js';
import type { SearchFilter, Store, StoredNode, TermMatch } from '../storage/port.js';
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

/** The nodes whose words fit, best first. It counts as no look at any of them. */
export async function searchNodes({ store }: Context, repoId: string, search: NodeSearch): Promise<FoundNode[]> {
  const violations = [...checkRepoId('repo_id', repoId), ...checkQuery(search.query, null)];
  if (violations.length > 0) throw new GateFailure('semantic', violations);
  const view = viewOf(repoId, search);
  const match = await matchOf(store, view, search);
  const matches = await store.searchNodes(view, match, search.filter, search.limit);
  const nodes = await store.getNodes(
    view,
    matches.map(({ id }) => id),
  );
  const byId = new Map(nodes.map((node) => [node.id, node]));
  const isFound = finder(match);
  return matches.flatMap(({ id, score }) => {
    const node = byId.get(id);
    return node ? [{ node, score, snippet: snippetOf(node.content, isFound) }] : [];
  });
}

async function matchOf(store: Store, view: View, { query, match }: NodeSearch): Promise<TermMatch> {
  switch (match) {
    case 'any': {
      const terms = queryTerms(query);
      return { match, terms: affordableTerms(await store.countTerms(view, terms), terms, POSTINGS_MAX) };
    }
    case 'all':
      return { match, terms: queryTerms(query) };
    case 'phrase':
      return { match, terms: indexTerms(query) };
    case 'prefix': {
      const { whole, beginnings } = prefixTerms(query);
      return { match, terms: whole, beginnings };
    }
  }
}

function finder(match: TermMatch): (term: string) => boolean {
  const terms = new Set(match.terms);
  const beginnings = match.match === 'prefix' ? match.beginnings : [];
  return (term) => terms.has(term) || beginnings.some((beginning) => term.startsWith(beginning));
}
