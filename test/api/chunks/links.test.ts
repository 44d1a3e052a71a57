import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { presentCursor } from '../../../src/contracts/cursor.js';
import {
  ChunkClient,
  type ChunkReport,
  type LinkReport,
  NO_LINKS,
  paragraphs,
  UNKNOWN_CHUNK_ID,
} from '../../support/chunks.js';
import { expectRefused, GraphClient, idsOf, members, sendAtOnce } from '../../support/nodes.js';
import { remember } from '../../support/requests.js';
import { linksOf, select } from '../../support/rows.js';
import { type Service, startService } from '../../support/service.js';
import { times } from '../../support/together.js';

let service: Service;
let client: ChunkClient;
let graph: GraphClient;
let repos = 0;
let repoId: string;
beforeAll(async () => {
  service = await startService();
});
afterAll(() => service.stop());
beforeEach(() => {
  repoId = `acme/${++repos}`;
  client = new ChunkClient(service, repoId);
  graph = new GraphClient(service, repoId);
});

const MINUTE_MS = 60_000;
const linksTo = (links: readonly LinkReport[]): string[] => links.map(({ chunk_id }) => chunk_id);
const strengths = (links: readonly LinkReport[]): number[] => links.map(({ strength }) => strength);
/** Chunks of one conversation, with so much time before each. */
async function talk(...waitsMs: number[]): Promise<ChunkReport[]> {
  const made: ChunkReport[] = [];
  for (const [index, waitMs] of waitsMs.entries()) {
    service.clock.advance(waitMs);
    made.push(await client.chunk(`Said ${index}`));
  }
  return made;
}

describe('1e.11 links come about by themselves:', () => {
  test('the first of a conversation has none, the second goes with it and follows on it', async () => {
    const [first, second] = (await talk(0, MINUTE_MS)) as [ChunkReport, ChunkReport];
    expect(first.links).toEqual(NO_LINKS);
    expect(second.links).toEqual({ ...NO_LINKS, context_of: [first.id], follows: [first.id] });
    expect((await client.read(first.id)).links).toEqual({ ...NO_LINKS, context_of: [second.id] });
  });

  test('a shared tag relates chunks of two conversations both ways', async () => {
    const one = await client.chunk('One', { tags: ['shared', 'own'] });
    const other = await client.chunk('Other', { tags: ['shared'], conversation_id: 'elsewhere' });
    expect(other.links).toEqual({ ...NO_LINKS, related_to: [one.id] });
    expect((await client.read(one.id)).links).toEqual({ ...NO_LINKS, related_to: [other.id] });
  });

  test('a shared tag in one conversation relates nothing', async () => {
    await client.chunk('One', { tags: ['shared'] });
    expect((await client.chunk('Other', { tags: ['shared'] })).links.related_to).toEqual([]);
  });

  test('a tag is another one in another case, and a part of it is none', async () => {
    await client.chunk('One', { tags: ['Shared', 'share'] });
    const other = await client.chunk('Other', { tags: ['shared'], conversation_id: 'elsewhere' });
    expect(other.links).toEqual(NO_LINKS);
  });

  test('a conversation of another repo is another one', async () => {
    await new ChunkClient(service, `${repoId}/other`).chunk('Elsewhere', { tags: ['shared'] });
    expect((await client.chunk('Here', { tags: ['shared'] })).links).toEqual(NO_LINKS);
  });

  test('what was said exactly five minutes ago is followed, a millisecond before that not', async () => {
    const [early, late, last] = (await talk(0, 1, 5 * MINUTE_MS)) as [ChunkReport, ChunkReport, ChunkReport];
    expect(last.links.follows).toEqual([late.id]);
    expect(last.links.context_of).toEqual([late.id, early.id]);
    expect(linksTo(await client.allLinks(last.id, 'follows'))).toEqual([late.id]);
  });

  test('all of the five minutes are followed, the nearest first, and of the same moment the one before', async () => {
    const [a, b, c, d] = (await talk(0, MINUTE_MS, 0, MINUTE_MS)) as ChunkReport[];
    expect(d?.links.follows).toEqual([c?.id, b?.id, a?.id]);
    expect(c?.links.follows).toEqual([b?.id, a?.id]);
    expect((await client.read(b?.id as string)).links.follows).toEqual([a?.id]);
  });

  test('the nearest go before the others, before and after', async () => {
    const made = await talk(0, MINUTE_MS, 3 * MINUTE_MS, 2 * MINUTE_MS, 10 * MINUTE_MS);
    const [a, b, c, d, e] = idsOf(made);
    expect((await client.read(c as string)).links.context_of).toEqual([d, b, a, e]);
  });

  test('a chunk shows the nearest 20 of 25, and all on pages', async () => {
    const ids = idsOf(await talk(...times(25, () => 1_000)));
    const shown = await client.read(ids[24] as string);
    expect(shown.links.context_of).toEqual(ids.slice(4, 24).reverse());
    expect(shown.links.follows).toEqual(ids.slice(4, 24).reverse());
    const middle = await client.read(ids[12] as string);
    expect(middle.links.context_of).toHaveLength(20);
    expect([...middle.links.context_of].sort()).toEqual([...ids.slice(2, 12), ...ids.slice(13, 23)].sort());
    for (const limit of [1, 5, 23, 24, 25, 100]) {
      expect(linksTo(await client.allLinks(ids[12] as string, 'context_of', { limit }))).toEqual(
        ids.filter((id) => id !== ids[12]).reverse(),
      );
      expect(linksTo(await client.allLinks(ids[24] as string, 'follows', { limit }))).toEqual(
        ids.slice(0, 24).reverse(),
      );
    }
  });

  test('a chunk shows 20 of the 25 that share the most tags, and all on pages', async () => {
    const others: string[] = [];
    for (let index = 0; index < 25; index++) {
      const tags = index === 0 ? ['t', 'u'] : ['t'];
      others.push((await client.chunk(`Other ${index}`, { tags, conversation_id: `talk ${index}` })).id);
      service.clock.advance(1);
    }
    const one = await client.chunk('One', { tags: ['t', 'u'], conversation_id: 'own' });
    expect(one.links.related_to).toEqual([others[0], ...others.slice(6).reverse()]);
    for (const limit of [1, 7, 24, 25]) {
      expect(linksTo(await client.allLinks(one.id, 'related_to', { limit }))).toEqual(others.toReversed());
    }
  });

  test('pages repeat nothing and miss nothing while chunks are added', async () => {
    const ids = idsOf(await talk(...times(9, () => 1_000)));
    const seen: string[] = [];
    let cursor: string | null = null;
    do {
      const query = { type: 'context_of', limit: 2, ...(cursor === null ? {} : { cursor }) };
      const body: { links: LinkReport[]; next_cursor: string | null } = (
        await client.getLinks(ids[0] as string, query).expect(200)
      ).body;
      seen.push(...linksTo(body.links));
      cursor = body.next_cursor;
      await client.chunk('Added');
    } while (cursor !== null);
    expect(seen).toEqual(ids.slice(1).reverse());
  });
});

describe('the strength', () => {
  test('of what goes together is 1', async () => {
    const [first, second] = (await talk(0, 60 * MINUTE_MS)) as [ChunkReport, ChunkReport];
    expect((await client.getLinks(second.id, { type: 'context_of' }).expect(200)).body).toEqual({
      links: [{ chunk_id: first.id, type: 'context_of', strength: 1, edge_id: null }],
      next_cursor: null,
    });
  });

  test.each([
    [0, 1],
    [MINUTE_MS, 0.8],
    [3 * MINUTE_MS, 0.4],
    [3.5 * MINUTE_MS, 0.3],
    [5 * MINUTE_MS, 0.3],
  ])('of what follows after %d ms is %d', async (waitMs, strength) => {
    const [, second] = (await talk(0, waitMs)) as [ChunkReport, ChunkReport];
    const [link] = await client.allLinks(second.id, 'follows');
    expect(link?.strength).toBeCloseTo(strength, 10);
  });

  test.each([
    [1, 0.5],
    [2, 0.7],
    [3, 0.9],
    [10, 0.9],
  ])('of what shares %d tags is %d, from either end', async (shared, strength) => {
    const tags = times(shared, (index) => `tag ${index}`);
    const one = await client.chunk('One', { tags: [...tags, 'own'] });
    const other = await client.chunk('Other', { tags: [...tags, 'other'], conversation_id: 'elsewhere' });
    for (const [from, to] of [
      [one, other],
      [other, one],
    ] as const) {
      const links = await client.allLinks(from.id, 'related_to');
      expect(links).toEqual([
        { chunk_id: to.id, type: 'related_to', strength: expect.closeTo(strength, 10), edge_id: null },
      ]);
    }
  });
});

describe('a link that somebody draws', () => {
  test.each(['supports', 'contradicts', 'related_to'])('%s is answered, shown, and an edge', async (type) => {
    const [one, other] = (await talk(0, 0)) as [ChunkReport, ChunkReport];
    const { body } = await client.postLink(one.id, { target_id: other.id, type, strength: 0.25 }).expect(201);
    const link = { chunk_id: other.id, type, strength: 0.25, edge_id: expect.any(String) };
    expect(body).toEqual({ created: true, link });
    expect((await client.read(one.id)).links).toMatchObject({ [type]: [other.id] });
    expect((await client.getLinks(one.id, { type }).expect(200)).body).toEqual({
      links: [body.link],
      next_cursor: null,
    });
    const edge = (await graph.getEdge(body.link.edge_id).expect(200)).body;
    expect([edge.label, edge.weight]).toEqual([type, 0.25]);
    const back = type === 'related_to' ? [one.id] : [];
    expect((await client.read(other.id)).links).toMatchObject({ [type]: back });
    await graph.deleteEdge(body.link.edge_id).expect(200);
    expect((await client.read(one.id)).links).toMatchObject({ [type]: [] });
  });

  test('has the strength ½ and the reasoning of the one who drew it', async () => {
    const [one, other] = (await talk(0, 0)) as [ChunkReport, ChunkReport];
    const fields = { target_id: other.id, type: 'supports', reasoning: 'Both say so' };
    const { body } = await client.postLink(one.id, fields).expect(201);
    expect(body.link.strength).toBe(0.5);
    expect((await graph.getEdge(body.link.edge_id).expect(200)).body.rationale).toBe('Both say so');
  });

  test('again is the same one, at its new strength', async () => {
    const [one, other] = (await talk(0, 0)) as [ChunkReport, ChunkReport];
    const draw = (strength: number) => client.postLink(one.id, { target_id: other.id, type: 'supports', strength });
    const first = (await draw(0.3).expect(201)).body;
    for (const strength of [0.9, 0.9, 0, 1]) {
      expect((await draw(strength).expect(200)).body).toEqual({ created: false, link: { ...first.link, strength } });
      expect(linksOf(service, repoId, 'supports').map(({ weight }) => weight)).toEqual([strength]);
    }
    expect(await client.allLinks(one.id, 'supports')).toEqual([{ ...first.link, strength: 1 }]);
  });

  test('is one however many draw it at the same time', async () => {
    const [one, other] = (await talk(0, 0)) as [ChunkReport, ChunkReport];
    const answers = await sendAtOnce(service, () =>
      times(6, () => client.postLink(one.id, { target_id: other.id, type: 'contradicts', strength: 0.5 })),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 200, 200, 200, 200, 201]);
    expect(linksOf(service, repoId, 'contradicts')).toHaveLength(1);
  });

  test('the other way round is another one', async () => {
    const [one, other] = (await talk(0, 0)) as [ChunkReport, ChunkReport];
    await client.postLink(one.id, { target_id: other.id, type: 'supports' }).expect(201);
    await client.postLink(other.id, { target_id: one.id, type: 'supports' }).expect(201);
    expect((await client.read(one.id)).links.supports).toEqual([other.id]);
    expect((await client.read(other.id)).links.supports).toEqual([one.id]);
  });

  test('related_to from either end is one, and beats the strength of shared tags', async () => {
    const one = await client.chunk('One', { tags: ['t'] });
    const other = await client.chunk('Other', { tags: ['t'], conversation_id: 'elsewhere' });
    await client.postLink(one.id, { target_id: other.id, type: 'related_to', strength: 0.1 }).expect(201);
    await client.postLink(other.id, { target_id: one.id, type: 'related_to', strength: 0.2 }).expect(200);
    expect(strengths(await client.allLinks(one.id, 'related_to'))).toEqual([0.2]);
    expect((await client.read(one.id)).links.related_to).toEqual([other.id]);
    expect((await client.read(other.id)).links.related_to).toEqual([one.id]);
  });

  test('stands beside the derived ones on the first page, and is not said twice', async () => {
    const one = await client.chunk('One', { tags: ['t'], conversation_id: 'own' });
    const others: string[] = [];
    for (let index = 0; index < 5; index++) {
      others.push((await client.chunk(`${index}`, { tags: ['t'], conversation_id: `talk ${index}` })).id);
    }
    const plain = await client.chunk('Without a tag', { conversation_id: 'plain' });
    for (const target_id of [others[0], plain.id]) {
      await client.postLink(one.id, { target_id, type: 'related_to', strength: 0.95 }).expect(201);
    }
    for (const limit of [1, 2, 10]) {
      const linked = linksTo(await client.allLinks(one.id, 'related_to', { limit }));
      expect([...linked].sort()).toEqual([...others, plain.id].sort());
      expect(linked.slice(0, 2).sort()).toEqual([others[0], plain.id].sort());
    }
    expect((await client.read(one.id)).links.related_to).toHaveLength(6);
  });

  test('is shown by the chunk that supports, however many support and contradict that one', async () => {
    const [one, first] = (await talk(0, 0)) as [ChunkReport, ChunkReport];
    await client.postLink(one.id, { target_id: first.id, type: 'supports', strength: 0.9 }).expect(201);
    for (let index = 0; index < 45; index++) {
      const { id } = await client.chunk(`Supporter ${index}`, { conversation_id: 'supporters' });
      await client.postLink(id, { target_id: one.id, type: 'supports' }).expect(201);
    }
    expect((await client.read(one.id)).links.supports).toEqual([first.id]);
    expect(linksTo(await client.allLinks(one.id, 'supports'))).toEqual([first.id]);
  });

  test('is one of the 20 strongest that a chunk shows, and all on the first page', async () => {
    const one = await client.chunk('One');
    const ids: string[] = [];
    for (let index = 0; index < 23; index++) {
      const { id } = await client.chunk(`${index}`, { conversation_id: 'others' });
      await client.postLink(one.id, { target_id: id, type: 'supports', strength: index / 100 }).expect(201);
      ids.push(id);
    }
    expect((await client.read(one.id)).links.supports).toEqual(ids.slice(3).reverse());
    expect(linksTo(await client.allLinks(one.id, 'supports'))).toEqual(ids.reverse());
  });

  test('to something that is no chunk is not among the links of a chunk', async () => {
    const one = await client.chunk('One');
    const concept = await graph.node({ content: 'A concept' });
    for (const label of ['supports', 'related_to', 'follows']) {
      const parts =
        label === 'related_to'
          ? members(['participant', one], ['participant', concept])
          : members(['subject', one], ['object', concept]);
      await graph.edge(parts, { label });
    }
    expect((await client.read(one.id)).links).toEqual(NO_LINKS);
    expect(await client.allLinks(one.id, 'supports')).toEqual([]);
  });
});

describe('a link is refused, and nothing is stored,', () => {
  test('to the chunk itself', async () => {
    const { id } = await client.chunk('Itself');
    const request = client.postLink(id, { target_id: id, type: 'supports' });
    expect(await expectRefused(service, request, 422, repoId)).toEqual({
      code: 'integrity_error',
      fields: ['target_id'],
    });
  });

  test('to nobody, to a memory, to a concept, and to a chunk of another repo', async () => {
    const { id } = await client.chunk('One');
    const memoryId = await remember(service, {}, repoId);
    const globalId = await remember(service, { scope: 'global', text: 'Seen by all' }, repoId);
    const concept = await graph.node({ content: 'A concept' });
    // The first ids are taken here too.
    const own = new ChunkClient(service, `${repoId}/other`);
    const other = await own.chunk('Elsewhere');
    for (const target_id of [UNKNOWN_CHUNK_ID, 'garbage', '', memoryId, globalId, concept.id, other.id]) {
      const request = client.postLink(id, { target_id, type: 'supports' });
      expect(await expectRefused(service, request, 404, repoId)).toEqual({ code: 'not_found', fields: ['target_id'] });
    }
  });

  test.each([
    ['type', { type: 'context_of' }],
    ['type', { type: 'follows' }],
    ['type', { type: 'likes' }],
    ['type', { type: undefined }],
    ['target_id', { target_id: undefined }],
    ['target_id', { target_id: 7 }],
    ['strength', { strength: 1.01 }],
    ['strength', { strength: -0.01 }],
    ['strength', { strength: '1' }],
    ['reasoning', { reasoning: 7 }],
    ['reasoning', { reasoning: 'r'.repeat(10_001) }],
    ['reasoning', { reasoning: 'a\0' }],
    ['label', { label: 'own' }],
  ])('with a wrong %s: %j', async (field, fields) => {
    const [one, other] = (await talk(0, 0)) as [ChunkReport, ChunkReport];
    const request = client.postLink(one.id, { target_id: other.id, type: 'supports', ...fields });
    expect(await expectRefused(service, request, 400, repoId)).toEqual({ code: 'schema_error', fields: [field] });
  });
});

test('a list of links of no sort in particular has what the chunk shows, of every sort, with its strength', async () => {
  const one = await client.chunk('One', { tags: ['t'] });
  service.clock.advance(MINUTE_MS);
  const two = await client.chunk('Two');
  const other = await client.chunk('Other', { tags: ['t'], conversation_id: 'elsewhere' });
  const last = await client.chunk('Last', { tags: ['t'] });
  await client.postLink(last.id, { target_id: other.id, type: 'contradicts', strength: 0.25 }).expect(201);
  const { body } = await client.getLinks(last.id, {}).expect(200);
  const said = body.links.map(({ chunk_id, type, strength }: LinkReport) => [
    type,
    chunk_id,
    Math.round(strength * 100),
  ]);
  expect(said.toSorted()).toEqual(
    [
      ['context_of', two.id, 100],
      ['context_of', one.id, 100],
      ['follows', two.id, 100],
      ['follows', one.id, 80],
      ['related_to', other.id, 50],
      ['contradicts', other.id, 25],
    ].toSorted(),
  );
  expect(body.next_cursor).toBeNull();
});

describe('a list of links is refused', () => {
  test.each([
    ['type', { type: 'likes' }],
    ['limit', { type: 'follows', limit: 0 }],
    ['limit', { type: 'follows', limit: 1_001 }],
    ['depth', { type: 'follows', depth: 2 }],
  ])('with a wrong %s: %j', async (field, query) => {
    const { id } = await client.chunk('One');
    const request = client.getLinks(id, { ...query } as Record<string, string>);
    expect(await expectRefused(service, request, 400, repoId)).toEqual({ code: 'schema_error', fields: [field] });
  });

  test.each(['garbage', '', presentCursor([1, 'a']), presentCursor([1, 2, 3]), presentCursor(['a', 'b', 1])])(
    'with the cursor %j',
    async (cursor) => {
      const { id } = await client.chunk('One');
      for (const type of ['context_of', 'related_to', 'supports']) {
        const request = client.getLinks(id, { type, cursor });
        expect((await expectRefused(service, request, 400, repoId)).code).toBe('invalid_cursor');
      }
    },
  );
});

describe('the edge of a conversation', () => {
  const rows = () => ({
    edges: select(service, repoId, 'SELECT type, label FROM hyperedges'),
    memberships: select(service, repoId, 'SELECT count(*) AS many FROM membership')[0]?.many,
  });

  test('is one for 300 chunks, each of which costs one membership', async () => {
    const { chunk_ids } = await client.remember(paragraphs(200).join('\n\n'), { tags: ['a', 'b'] });
    expect(chunk_ids).toHaveLength(200);
    for (let start = 0; start < 100; start += 25) {
      await sendAtOnce(service, () =>
        times(25, (index) => client.postChunk({ content: `${start + index}`, conversation_id: 'talk', tags: ['a'] })),
      );
    }
    expect(rows()).toEqual({ edges: [{ type: 'context', label: 'context_of' }], memberships: 300 });
    await client.chunk('Of another', { conversation_id: 'other', tags: ['a'] });
    expect(rows().edges).toHaveLength(2);
    expect(rows().memberships).toBe(301);
  });

  test('is seen as an edge, and nobody but a chunk makes, changes or ends it', async () => {
    const [one, other] = (await talk(0, 1)) as [ChunkReport, ChunkReport];
    const [edge] = await graph.allEdges({ label: 'context_of' });
    expect(edge?.members.map(({ node_id }) => node_id)).toEqual([one.id, other.id]);
    const parts = members(['participant', one], ['participant', other]);
    const made = graph.postEdge({ type: 'context', label: 'context_of', members: parts });
    const { status } = await made;
    expect([409, 422]).toContain(status);
    for (const request of [graph.deleteEdge(edge?.id as string), graph.patchEdge(edge?.id as string, { weight: 2 })]) {
      const answer = await request;
      expect([409, 422]).toContain(answer.status);
    }
    expect(rows()).toEqual({ edges: [{ type: 'context', label: 'context_of' }], memberships: 2 });
    expect((await client.read(one.id)).links.context_of).toEqual([other.id]);
  });

  test('is told apart by the conversation to the letter', async () => {
    for (const conversation_id of ['a', 'A', ' a', 'a ', '\u00e1', 'a\u0301', '"a"', 'a|b']) {
      expect((await client.chunk('Said', { conversation_id })).links).toEqual(NO_LINKS);
    }
    expect(rows().edges).toHaveLength(8);
  });
});
