import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { ChunkClient, type ChunkReport, UNKNOWN_CHUNK_ID } from '../../support/chunks.js';
import { expectRefused, idsOf } from '../../support/nodes.js';
import { remember } from '../../support/requests.js';
import { type Service, startService } from '../../support/service.js';

let service: Service;
let client: ChunkClient;
let repos = 0;
beforeAll(async () => {
  service = await startService();
});
afterAll(() => service.stop());
beforeEach(() => {
  client = new ChunkClient(service, `acme/${++repos}`);
});

interface ReasonReport {
  analysis_type: string;
  synthesis: string;
  insights: { text: string; source_chunks: string[] }[];
  evidence: { chunk_id: string; content: string; confidence: number }[];
  contradictions: { kind: string; chunk_ids: string[]; tag: string | null }[];
  confidence: number;
}

const ANALYSES = ['synthesis', 'comparison', 'pattern', 'gap'];
const reason = async (fields: object): Promise<ReasonReport> => (await client.postReason(fields).expect(200)).body;
const over = (chunks: readonly ChunkReport[], fields: object = {}) => reason({ chunk_ids: idsOf(chunks), ...fields });

let talks = 0;
const say = (content: string, tags: string[] = [], confidence = 0.7): Promise<ChunkReport> =>
  client.chunk(content, { tags, confidence, conversation_id: `talk ${++talks}` });

test('1e.14 what is said in the same words is one statement, whatever its case and white space', async () => {
  const chunks = [await say('The heron  fishes'), await say('the HERON\nfishes '), await say('The gull steals')];
  const { synthesis, insights, evidence } = await over(chunks);
  expect(synthesis.toLowerCase().match(/heron/g)).toHaveLength(1);
  expect(synthesis.split('\n')).toHaveLength(2);
  expect(insights[0]?.source_chunks.toSorted()).toEqual(idsOf(chunks.slice(0, 2)).sort());
  expect(evidence).toHaveLength(3);
});

test('1e.14 the surest goes first', async () => {
  const chunks = [await say('The gull', [], 0.2), await say('The heron', [], 0.9), await say('The tern', [], 0.5)];
  const { synthesis, evidence } = await over(chunks);
  expect(evidence).toEqual(
    [chunks[1], chunks[2], chunks[0]].map((chunk) => ({
      chunk_id: chunk?.id,
      content: chunk?.content,
      confidence: chunk?.metadata.confidence,
    })),
  );
  expect(synthesis.match(/heron|tern|gull/g)).toEqual(['heron', 'tern', 'gull']);
});

test('1e.14 a synthesis lists seven, and says how many others there are', async () => {
  const chunks: ChunkReport[] = [];
  for (const word of ['one', 'two', 'three', 'four', 'five', 'six', 'seven', 'eight', 'nine']) {
    chunks.push(await say(`Statement ${word}`));
  }
  const { synthesis, insights } = await over(chunks);
  expect(synthesis.split('\n')).toHaveLength(8);
  expect(synthesis.split('\n').at(-1)).toMatch(/\b2 other/);
  expect(insights).toHaveLength(5);
});

describe('1e.14 a contradiction', () => {
  const found = async (chunks: readonly ChunkReport[], fields: object = {}) =>
    (await over(chunks, fields)).contradictions;

  test('of two preferences under one tag', async () => {
    const chunks = [await say('User prefers tabs', ['style'], 0.9), await say('User prefers spaces', ['style'], 0.8)];
    expect(await found(chunks)).toEqual([
      { kind: 'potential_preference_conflict', chunk_ids: idsOf(chunks), tag: 'style' },
    ]);
  });

  test.each(['not', "don't", 'dislike', 'hate', 'avoid', 'stop'])('by the word %s under one tag', async (word) => {
    const chunks = [await say('We use Redis', ['redis'], 0.9), await say(`We ${word} use Redis`, ['redis'], 0.8)];
    expect(await found(chunks)).toEqual([{ kind: 'negation_conflict', chunk_ids: idsOf(chunks), tag: 'redis' }]);
  });

  test('is none without a shared tag, nor where both deny, nor where both say nearly the same', async () => {
    expect(await found([await say('We use Redis', ['a']), await say('We do not use Redis', ['b'])])).toEqual([]);
    expect(await found([await say('Not Redis', ['a']), await say('Avoid Redis', ['a'])])).toEqual([]);
    expect(await found([await say('I prefer tabs', ['s']), await say('I prefer tabs always', ['s'])])).toEqual([]);
  });

  test('that somebody linked is explicit, and told once', async () => {
    const [one, other] = [await say('We use Redis', ['redis'], 0.5), await say('We do not use Redis', ['redis'], 0.9)];
    await client.postLink(one.id, { target_id: other.id, type: 'contradicts' }).expect(201);
    await client.postLink(other.id, { target_id: one.id, type: 'contradicts' }).expect(201);
    expect(await found([one, other])).toEqual([{ kind: 'explicit', chunk_ids: [other.id, one.id], tag: null }]);
  });

  test('that somebody linked counts in every analysis', async () => {
    const [one, other] = [await say('Alpha', [], 0.9), await say('Omega', [], 0.8)];
    await client.postLink(other.id, { target_id: one.id, type: 'contradicts' }).expect(201);
    for (const analysis_type of ANALYSES) {
      expect(await found([one, other], { analysis_type })).toEqual([
        { kind: 'explicit', chunk_ids: [one.id, other.id], tag: null },
      ]);
    }
  });

  test('with something else than the evidence is not told', async () => {
    const [one, other] = [await say('Alpha'), await say('Omega')];
    await client.postLink(one.id, { target_id: other.id, type: 'contradicts' }).expect(201);
    expect(await found([one])).toEqual([]);
  });

  test('that somebody linked is told, however many others the chunk contradicts more', async () => {
    const [one, other] = [await say('Alpha', [], 0.9), await say('Omega', [], 0.8)];
    await client.postLink(one.id, { target_id: other.id, type: 'contradicts', strength: 0.1 }).expect(201);
    for (let index = 0; index < 21; index++) {
      const { id } = await say(`Other ${index}`);
      await client.postLink(one.id, { target_id: id, type: 'contradicts', strength: 0.9 }).expect(201);
    }
    expect(await found([one, other])).toEqual([{ kind: 'explicit', chunk_ids: [one.id, other.id], tag: null }]);
  });

  test('lowers the confidence', async () => {
    const [one, other] = [await say('Alpha'), await say('Omega')];
    const before = (await over([one, other])).confidence;
    await client.postLink(one.id, { target_id: other.id, type: 'contradicts' }).expect(201);
    expect((await over([one, other])).confidence).toBeLessThan(before);
  });
});

describe('the four analyses', () => {
  test('differ, are the same every time, and are never surer than the evidence is on average', async () => {
    const chunks = [
      await say('User prefers tabs', ['style', 'editor'], 0.9),
      await say('User prefers spaces', ['style'], 0.5),
      await say('The build usually takes a minute', ['build'], 0.3),
      await say('We decided on Redis', [], 1),
    ];
    const mean = (0.9 + 0.5 + 0.3 + 1) / 4;
    const syntheses = new Set<string>();
    for (const analysis_type of ANALYSES) {
      const answer = await over(chunks, { analysis_type });
      expect(Object.keys(answer).sort()).toEqual([
        'analysis_type',
        'confidence',
        'contradictions',
        'evidence',
        'insights',
        'synthesis',
      ]);
      expect(answer.analysis_type).toBe(analysis_type);
      expect(answer.confidence).toBeLessThanOrEqual(mean + 1e-12);
      expect(answer.confidence).toBeGreaterThanOrEqual(0);
      expect(answer.evidence).toHaveLength(4);
      for (const { source_chunks } of answer.insights)
        expect(idsOf(chunks)).toEqual(expect.arrayContaining(source_chunks));
      expect(await over(chunks.toReversed(), { analysis_type })).toEqual(answer);
      syntheses.add(answer.synthesis);
    }
    expect(syntheses.size).toBe(4);
  });

  test('a synthesis without contradictions is as sure as the evidence', async () => {
    const { analysis_type, confidence } = await over([await say('One', [], 0.4), await say('Two', [], 0.8)]);
    expect(analysis_type).toBe('synthesis');
    expect(confidence).toBeCloseTo(0.6, 10);
  });

  test('a comparison says what all share and what one alone has', async () => {
    const chunks = [await say('heron gray', ['bird', 'x'], 0.9), await say('heron white', ['bird', 'y'], 0.8)];
    const { synthesis, insights } = await over(chunks, { analysis_type: 'comparison' });
    expect(synthesis).toMatch(/bird/);
    const [common, one, other] = insights.map(({ text }) => text);
    expect(common).toMatch(/bird.*heron/);
    expect(one).toMatch(/x.*gray/);
    expect(other).toMatch(/y.*white/);
    expect(insights[0]?.source_chunks).toEqual(idsOf(chunks));
  });

  test('a comparison of one says that there is nothing to compare', async () => {
    const answer = await over([await say('Alone')], { analysis_type: 'comparison' });
    expect([answer.insights, answer.confidence]).toEqual([[], 0]);
  });

  test('a pattern is a tag or a type that recurs in several', async () => {
    const chunks = [await say('One', ['build']), await say('Two', ['build']), await say('We decided', ['other'])];
    const { insights } = await over(chunks, { analysis_type: 'pattern' });
    const tag = insights.find(({ text }) => text.includes('build'));
    expect(tag?.source_chunks.toSorted()).toEqual(idsOf(chunks.slice(0, 2)).sort());
    expect(insights.some(({ text }) => text.includes('other'))).toBe(false);
    const alone = await over([chunks[0] as ChunkReport], { analysis_type: 'pattern' });
    expect([alone.insights, alone.confidence]).toEqual([[], 0]);
  });

  test('a gap is what is unsure, stands alone, or is contradicted', async () => {
    const unsure = await say('Unsure', ['t'], 0.59);
    const sure = await say('Sure', ['t'], 0.6);
    const alone = await say('Alone', [], 0.9);
    const { insights } = await over([unsure, sure, alone], { analysis_type: 'gap' });
    const sources = insights.map(({ source_chunks }) => source_chunks);
    expect(insights.find(({ text }) => /confidence/.test(text))?.source_chunks).toEqual([unsure.id]);
    expect(insights.find(({ text }) => /link/.test(text))?.source_chunks).toEqual([alone.id]);
    expect(sources.flat()).not.toContain(sure.id);
  });
});

describe('the evidence', () => {
  test('is what a question finds: the ten best, unsure ones too', async () => {
    for (let index = 0; index < 12; index++) await say(`The heron number ${index}`, [], index / 100);
    const { evidence } = await reason({ query: 'heron' });
    expect(evidence).toHaveLength(10);
    expect(evidence.map(({ confidence }) => confidence)).toEqual(
      evidence.map(({ confidence }) => confidence).toSorted((a, b) => b - a),
    );
    expect(Math.min(...evidence.map(({ confidence }) => confidence))).toBeLessThan(0.5);
  });

  test('is of one conversation where that is asked for', async () => {
    const one = await say('The heron fishes');
    await say('The heron flies');
    const { evidence } = await reason({ query: 'heron', conversation_id: one.metadata.conversation_id });
    expect(evidence.map(({ chunk_id }) => chunk_id)).toEqual([one.id]);
  });

  test('is what is named, even beside a question', async () => {
    const [one, other] = [await say('The heron'), await say('The gull')];
    const { evidence } = await over([other], { query: 'heron' });
    expect(evidence.map(({ chunk_id }) => chunk_id)).toEqual([other.id]);
    expect(evidence).not.toContain(one.id);
  });

  test('is looked at, once', async () => {
    const one = await say('The heron');
    const count = async () => (await client.listed())[0]?.metadata.access_count;
    await over([one]);
    expect(await count()).toBe(1);
    await reason({ query: 'heron' });
    expect(await count()).toBe(2);
  });

  test.each(ANALYSES)('that is none makes an empty %s', async (analysis_type) => {
    const { synthesis, ...answer } = await reason({ query: 'zyzzyva', analysis_type });
    expect(answer).toMatchObject({ analysis_type, evidence: [], contradictions: [], confidence: 0 });
    expect(answer.insights).toEqual([]);
    expect(synthesis).not.toBe('');
  });
});

describe('a request is refused, and nothing is counted,', () => {
  test('where it names what is no chunk here, by its place', async () => {
    const { id } = await say('Known');
    const gone = await say('Gone');
    await client.remove(gone.id);
    const memoryId = await remember(service, {}, client.repoId);
    const own = new ChunkClient(service, `${client.repoId}/other`);
    const other = await own.chunk('Elsewhere');
    for (const unknown of [UNKNOWN_CHUNK_ID, 'garbage', '../../../etc/passwd', '', memoryId, gone.id, other.id]) {
      const request = client.postReason({ chunk_ids: [id, unknown] });
      expect(await expectRefused(service, request, 404, client.repoId)).toEqual({
        code: 'not_found',
        fields: ['chunk_ids.1'],
      });
    }
    expect((await client.listed()).map(({ metadata }) => metadata.access_count)).toEqual([0]);
  });

  test.each([
    [{}, 'query'],
    [{ analysis_type: 'gap' }, 'query'],
    [{ conversation_id: 'talk' }, 'query'],
    [{ query: ' ' }, 'query'],
    [{ query: 'x', conversation_id: ' ' }, 'conversation_id'],
  ])('for what it says: %j', async (fields, field) => {
    expect(await expectRefused(service, client.postReason(fields), 422, client.repoId)).toEqual({
      code: 'semantic_error',
      fields: [field],
    });
  });

  test.each([
    ['query', { query: '' }],
    ['query', { query: 7 }],
    ['query', { query: 'a\0' }],
    ['chunk_ids', { chunk_ids: [] }],
    ['chunk_ids', { chunk_ids: 'x' }],
    ['chunk_ids', { chunk_ids: ['x', 'x'] }],
    ['chunk_ids.0', { chunk_ids: [7] }],
    ['chunk_ids', { chunk_ids: Array.from({ length: 101 }, (_, index) => `${index}`) }],
    ['analysis_type', { query: 'x', analysis_type: 'guess' }],
    ['analysis_type', { query: 'x', analysis_type: null }],
    ['conversation_id', { query: 'x', conversation_id: '' }],
    ['max_results', { query: 'x', max_results: 3 }],
  ])('for the shape of %s: %j', async (field, fields) => {
    expect(await expectRefused(service, client.postReason(fields), 400, client.repoId)).toEqual({
      code: 'schema_error',
      fields: [field],
    });
  });
});
