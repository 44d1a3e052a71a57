import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { GraphClient, idsOf, members, REPO } from '../../support/nodes.js';
import { allItems, idsIn, type Pack, recall, remember } from '../../support/requests.js';
import { select } from '../../support/rows.js';
import { type Service, startService } from '../../support/service.js';

let service: Service;
let graph: GraphClient;
beforeAll(async () => {
  service = await startService();
  graph = new GraphClient(service);
});
afterAll(() => service.stop());

const found = async (query: string, more = {}): Promise<string[]> => idsIn((await recall(service, query, more)).direct);

describe('SPEC-02.33 SPEC-02.34 text that looks like SQL is kept to the letter, found by its words, and does nothing:', () => {
  test.each([
    [`'); DROP TABLE nodes; -- wombat`, 'wombat'],
    [`Robert'); DELETE FROM membership WHERE 1=1; -- bilby`, 'bilby'],
    [`" OR "1"="1" UNION SELECT * FROM memories -- quoll`, 'quoll'],
    [`NEAR(dunnart potoroo) AND NOT terms:* "unclosed`, 'dunnart potoroo'],
    [`{"$gt": ""} \${process.env} bandicoot`, 'bandicoot'],
  ])('%s', async (text, words) => {
    const fields = {
      content: text,
      subtype: text,
      provenance: text,
      tags: [text],
      metadata: { [text]: text },
      session_id: text,
    };
    const node = await graph.node(fields);
    expect((await graph.getNode(node.id).expect(200)).body).toMatchObject(fields);
    expect(await found(words)).toEqual([node.id]);
    expect(await found(text)).toContain(node.id);
    for (const query of [{ tag: text }, { subtype: text }, { session: text, tier: 'task' }]) {
      expect(idsOf(await graph.listed(query))).toEqual([node.id]);
    }
    const label = text.slice(0, 200);
    const edge = await graph.edge(members(['subject', node]), { label });
    expect(idsOf(await graph.allEdges({ label }))).toEqual([edge.id]);
    await graph.patchNode(node.id, { content: `${text}!` }).expect(200);
    expect(select(service, REPO, 'SELECT content FROM nodes WHERE id = ?', node.id)).toEqual([{ content: `${text}!` }]);
    await graph.deleteEdge(edge.id).expect(200);
  });
});

test('SPEC-02.34 a node is found by the words of its content beside memories, and says what it is', async () => {
  const node = await graph.node({ content: 'The lyrebird repeats the build', subtype: 'habit', confidence: 0.6 });
  const memoryId = await remember(service, { text: 'The lyrebird was seen' });
  const pack = await recall(service, 'lyrebird');
  expect(idsIn(pack.direct).sort()).toEqual([node.id, memoryId].sort());
  expect(pack.direct.find((item) => item.memory_id === node.id)).toMatchObject({
    form: 'concept',
    kind: 'habit',
    text: 'The lyrebird repeats the build',
    confidence: 0.6,
    scope: 'repo',
    state: 'current',
    created_at: service.clock.iso(),
  });
});

test('SPEC-02.34 a node without a subtype is found too', async () => {
  const node = await graph.node({ content: 'The kookaburra laughs' });
  const { direct } = await recall(service, 'kookaburra');
  expect(direct).toMatchObject([{ memory_id: node.id, form: 'concept', kind: null }]);
});

test('SPEC-02.22 changed content is found by its new words and no longer by its old', async () => {
  const { id } = await graph.node({ content: 'The echidna digs' });
  await graph.patchNode(id, { content: 'The platypus swims' }).expect(200);
  expect(await found('echidna')).toEqual([]);
  expect(await found('platypus')).toEqual([id]);
  await graph.patchNode(id, { content: '' }).expect(200);
  expect(await found('platypus')).toEqual([]);
  await graph.patchNode(id, { content: 'The echidna digs again' }).expect(200);
  expect(await found('echidna')).toEqual([id]);
});

test('SPEC-02.22 a change of anything but the content leaves the node to be found as before', async () => {
  const { id } = await graph.node({ content: 'The galah shrieks' });
  await graph
    .patchNode(id, { confidence: 0.9, subtype: 's', tags: ['t'], metadata: { m: 1 }, tier: 'session' })
    .expect(200);
  expect(await found('galah')).toEqual([id]);
});

test('SPEC-02.34 content of a hundred thousand characters is found by its first word and by its last', async () => {
  const words = Array.from({ length: 11_000 }, (_, index) => `w${index.toString(36)}`);
  const content = `firstbilly ${words.join(' ')}`.slice(0, 99_980).replace(/ \S*$/, ' lastbilly');
  const { id } = await graph.node({ content: content.padEnd(100_000, '.') });
  expect(await found('firstbilly')).toEqual([id]);
  expect(await found('lastbilly')).toEqual([id]);
});

test('SPEC-02.34 an empty node is in nobody’s way', async () => {
  await graph.node({ content: '' });
  expect(await found('zzyzx')).toEqual([]);
});

test('SPEC-02.34 a question for kinds of memory does not find nodes of other forms', async () => {
  await graph.node({ content: 'The cassowary kicks', subtype: 'fact' });
  const memoryId = await remember(service, { text: 'A cassowary was met' });
  expect(await found('cassowary', { kinds: ['fact'] })).toEqual([memoryId]);
});

test('SPEC-02.26 a question leads over the associations that callers drew, from nodes to memories and back', async () => {
  const node = await graph.node({ content: 'The brolga dances' });
  const memoryId = await remember(service, { text: 'Something else entirely' });
  await graph.edge(members(['participant', node], ['participant', memoryId]), { label: 'related_to' });
  const pack: Pack = await recall(service, 'brolga');
  expect(idsIn(pack.direct)).toEqual([node.id]);
  expect(allItems(pack).find((item) => item.memory_id === memoryId)).toMatchObject({
    why_included: 'association_link',
    anchor_memory_id: node.id,
  });
});

test('SPEC-02.33 the routes of the graph take no statement: every path below /nodes, /edges and /graph is known', async () => {
  const { body } = await service.http.get('/openapi.json').expect(200);
  const paths = Object.keys(body.paths).filter((path) => /^\/(nodes|edges|graph)/.test(path));
  expect(paths.filter((path) => /sql|query|exec|statement/i.test(path))).toEqual([]);
  for (const path of paths) expect(JSON.stringify(body.paths[path])).not.toMatch(/\bSQL\b/i);
});

test.each(['', '   ', '\n'])('SPEC-02 a blank query fits nothing: %j', async (query) => {
  const answer = await service.http.post('/nodes/search').query({ repo_id: 'acme/blank' }).send({ query }).expect(200);
  expect(answer.body).toMatchObject({ results: [] });
});
