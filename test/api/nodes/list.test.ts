import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { NODE_TYPES, TIERS } from '../../../src/domain/vocabulary.js';
import { GraphClient, idsOf, type NodeReport } from '../../support/nodes.js';
import { remember } from '../../support/requests.js';
import { type Service, startService } from '../../support/service.js';

let service: Service;
beforeAll(async () => {
  service = await startService();
});
afterAll(() => service.stop());

const CONFIDENCES = [0, 0.3, 0.7, 1];

describe('SPEC-02.24 of nodes of every type, tier and confidence', () => {
  let graph: GraphClient;
  let all: NodeReport[];
  beforeAll(async () => {
    graph = new GraphClient(service, 'list/mixed');
    all = [];
    for (const [row, type] of NODE_TYPES.entries()) {
      for (const [column, tier] of TIERS.entries()) {
        const confidence = CONFIDENCES[(row + column) % CONFIDENCES.length];
        const tags = column % 2 === 0 ? ['even', type] : [type];
        all.push(
          await graph.node({ type, tier, confidence, tags, subtype: row % 2 === 0 ? 'plain' : 'odd', content: type }),
        );
      }
    }
  });

  /** What a list has to be: the nodes that fit, surest first, and of the same confidence newest first. */
  const expected = (fits: (node: NodeReport) => boolean): string[] => {
    const age = new Map(all.map(({ id }, index) => [id, index]));
    const ageOf = ({ id }: NodeReport): number => age.get(id) as number;
    const sureness = ({ confidence }: NodeReport): number => confidence ?? 0;
    return idsOf(all.filter(fits).sort((a, b) => sureness(b) - sureness(a) || ageOf(b) - ageOf(a)));
  };
  const isLive = ({ tier }: NodeReport): boolean => tier !== 'archive';

  test('all but the archived are listed, surest first, and of the same confidence newest first', async () => {
    expect(idsOf(await graph.listed())).toEqual(expected(isLive));
  });

  test('the archived are listed too when they are asked for', async () => {
    expect(idsOf(await graph.listed({ include_archived: true }))).toEqual(expected(() => true));
  });

  test.each(NODE_TYPES)('those of type %s can be chosen', async (type) => {
    expect(idsOf(await graph.listed({ type }))).toEqual(expected((node) => isLive(node) && node.type === type));
  });

  test.each(TIERS)('those of tier %s can be chosen', async (tier) => {
    expect(idsOf(await graph.listed({ tier }))).toEqual(expected((node) => node.tier === tier));
  });

  test.each([0, 0.3, 0.300001, 0.7, 1])('those of confidence %d and more can be chosen', async (min_confidence) => {
    const fits = (node: NodeReport): boolean => isLive(node) && (node.confidence ?? 0) >= min_confidence;
    expect(idsOf(await graph.listed({ min_confidence }))).toEqual(expected(fits));
  });

  test.each(['plain', 'odd', 'Plain', 'pla%'])(
    'those of subtype %j, and exactly that, can be chosen',
    async (subtype) => {
      const fits = (node: NodeReport): boolean => isLive(node) && node.subtype === subtype;
      expect(idsOf(await graph.listed({ subtype }))).toEqual(expected(fits));
    },
  );

  test.each(['even', 'fact', 'Even', '%', 'ev_n'])(
    'those with tag %j, and exactly that, can be chosen',
    async (tag) => {
      const fits = (node: NodeReport): boolean => isLive(node) && node.tags.includes(tag);
      expect(idsOf(await graph.listed({ tag }))).toEqual(expected(fits));
    },
  );

  test('every choice narrows the others', async () => {
    for (const type of NODE_TYPES) {
      for (const tier of TIERS) {
        for (const extra of [{}, { tag: 'even' }, { subtype: 'odd' }, { tag: 'even', subtype: 'plain' }]) {
          const query = { type, tier, min_confidence: 0.3, ...extra };
          const fits = (node: NodeReport): boolean =>
            node.type === type &&
            node.tier === tier &&
            (node.confidence ?? 0) >= 0.3 &&
            (!('tag' in extra) || node.tags.includes('even')) &&
            (!('subtype' in extra) || node.subtype === extra.subtype);
          expect(idsOf(await graph.listed(query)), JSON.stringify(query)).toEqual(expected(fits));
        }
      }
    }
  });

  test.each([1, 3, 15])('no more than %d are listed when that is the limit', async (limit) => {
    expect(idsOf(await graph.listed({ limit }))).toEqual(expected(isLive).slice(0, limit));
  });

  test('nothing that fits is an empty list', async () => {
    const { body } = await graph.getNodes({ type: 'entity', subtype: 'odd' }).expect(200);
    expect(body).toEqual({ nodes: [], next_cursor: null });
  });
});

test('SPEC-02.24 a repo that nobody wrote to has an empty list, and asking does not make it a repo', async () => {
  const { body } = await new GraphClient(service, 'list/unknown').getNodes().expect(200);
  expect(body).toEqual({ nodes: [], next_cursor: null });
  const { text } = await service.http.get('/repos').expect(200);
  expect(text).not.toContain('list/unknown');
});

test('SPEC-02.24 nodes of every form are listed together, and one form can be chosen', async () => {
  const graph = new GraphClient(service, 'list/forms');
  const concept = await graph.node({ confidence: 0.6 });
  const surer = await remember(service, { text: 'Surer', confidence: 0.8 }, graph.repoId);
  const lessSure = await remember(service, { text: 'Less sure', confidence: 0.2, kind: 'change' }, graph.repoId);
  expect(idsOf(await graph.listed())).toEqual([surer, concept.id, lessSure]);
  expect(idsOf(await graph.listed({ form: 'memory' }))).toEqual([surer, lessSure]);
  expect(idsOf(await graph.listed({ form: 'concept' }))).toEqual([concept.id]);
  expect(idsOf(await graph.listed({ subtype: 'change' }))).toEqual([lessSure]);
  expect(idsOf(await graph.listed({ type: 'experience' }))).toEqual([lessSure]);
});

test('SPEC-02.24 a list follows what changes: confidence, tags, subtype and tier', async () => {
  const graph = new GraphClient(service, 'list/changing');
  const [first, second] = await graph.nodes('First', 'Second');
  if (!first || !second) throw new Error('nothing was made');
  expect(idsOf(await graph.listed())).toEqual([second.id, first.id]);
  await graph.patchNode(first.id, { confidence: 0.9, tags: ['new'], subtype: 'sub' }).expect(200);
  expect(idsOf(await graph.listed())).toEqual([first.id, second.id]);
  expect(idsOf(await graph.listed({ tag: 'new', subtype: 'sub', min_confidence: 0.9 }))).toEqual([first.id]);
  await graph.patchNode(first.id, { tags: [], subtype: null, tier: 'session' }).expect(200);
  expect(await graph.listed({ tag: 'new' })).toEqual([]);
  expect(await graph.listed({ subtype: 'sub' })).toEqual([]);
  expect(idsOf(await graph.listed({ tier: 'session' }))).toEqual([first.id]);
});

test.each([
  ['an unknown type', { type: 'rumour' }, 'type'],
  ['an unknown tier', { tier: 'attic' }, 'tier'],
  ['an unknown form', { form: 'reference' }, 'form'],
  ['an unknown scope', { scope: 'all' }, 'scope'],
  ['a confidence below 0', { min_confidence: -0.1 }, 'min_confidence'],
  ['a confidence above 1', { min_confidence: 1.1 }, 'min_confidence'],
  ['a confidence that is no number', { min_confidence: 'high' }, 'min_confidence'],
  ['a limit of nothing', { limit: 0 }, 'limit'],
  ['a limit above the most', { limit: 501 }, 'limit'],
  ['half a limit', { limit: 1.5 }, 'limit'],
  ['an empty tag', { tag: '' }, 'tag'],
  ['an empty session', { session: '' }, 'session'],
  ['an unknown parameter', { order: 'content; DROP TABLE nodes' }, 'order'],
])('SPEC-02.24 SPEC-02.36 %s is refused by its name', async (_, query, field) => {
  const { body } = await new GraphClient(service).getNodes(query as Record<string, string | number>).expect(400);
  expect(body).toMatchObject({ code: 'schema_error', errors: [{ field }] });
});
