import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { GraphClient, type NodeReport, REPO } from '../../support/nodes.js';
import { remember } from '../../support/requests.js';
import { type Service, startService } from '../../support/service.js';

/** `POST /nodes/search`. */

let service: Service;
let graph: GraphClient;
beforeAll(async () => {
  service = await startService();
  graph = new GraphClient(service);
});
afterAll(() => service.stop());

interface Result {
  node: NodeReport;
  score: number;
  snippet: string;
}
const search = async (query: string, more: object = {}, repoId = REPO): Promise<Result[]> => {
  const request = service.http.post('/nodes/search').query({ repo_id: repoId });
  return (await request.send({ query, ...more }).expect(200)).body.results;
};
const contents = (results: readonly Result[]): string[] => results.map(({ node }) => node.content);

describe('SPEC-02.34 a search', () => {
  test('ranks a global memory by its words, before a node of the repo that fits less', async () => {
    for (let number = 0; number < 30; number++) await graph.node({ content: `note number ${number} about trains` });
    await graph.node({ content: 'kubernetes is mentioned once in a long and rambling text about trains and boats' });
    await remember(service, { text: 'kubernetes cluster upgrade runbook', scope: 'global' });
    const results = await search('kubernetes cluster upgrade runbook');
    expect(contents(results).map((content) => content.slice(0, 18))).toEqual([
      'kubernetes cluster',
      'kubernetes is ment',
    ]);
    expect(results.every(({ score }) => score > 0 && score <= 1)).toBe(true);
  });

  test('gives the same text the same score wherever it lies', async () => {
    const local = new GraphClient(service, 'match/same');
    await local.node({ content: 'quetzal feathers' });
    for (let number = 0; number < 5; number++) await local.node({ content: `filler ${number}` });
    await remember(service, { text: 'quetzal feathers', scope: 'global' });
    const [first, second] = (await search('quetzal', {}, 'match/same')) as [Result, Result];
    expect(new Set([first.node.scope, second.node.scope])).toEqual(new Set(['repo', 'global']));
    expect(first.score).toBe(second.score);
  });

  test('of a word that is still being typed finds all that it may become, and marks it', async () => {
    await graph.node({ content: 'The hornbill nests' });
    await graph.node({ content: 'A hornet stings' });
    const results = await search('horn', { match: 'prefix' });
    expect(results.map(({ snippet }) => snippet).sort()).toEqual(['A **hornet** stings', 'The **hornbill** nests']);
    expect(contents(await search('nests hornb', { match: 'prefix' }))).toEqual(['The hornbill nests']);
    expect(await search('hornx', { match: 'prefix' })).toEqual([]);
  });

  test('of one letter takes the first three hundred words that begin with it', async () => {
    const typed = new GraphClient(service, 'match/letter');
    const words = Array.from({ length: 320 }, (_, index) => `z${String(index).padStart(3, '0')}`);
    await typed.node({ content: words.slice(0, 310).join(' ') });
    await typed.node({ content: 'z319' });
    expect(await search('z', { match: 'prefix' }, 'match/letter')).toHaveLength(1);
    expect(contents(await search('z3', { match: 'prefix' }, 'match/letter'))).toContain('z319');
  });

  test('of all words, or of a phrase, ranks by the joint numbers too', async () => {
    await graph.node({ content: 'lungfish breathe air and more of the air that everybody else breathes as well' });
    await remember(service, { text: 'lungfish breathe air', scope: 'global' });
    for (const match of ['all', 'phrase']) {
      const [first, second] = await search('lungfish breathe', { match });
      expect([first?.node.scope, second?.node.scope], match).toEqual(['global', 'repo']);
    }
  });
});
