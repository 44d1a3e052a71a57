import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { ChunkClient, paragraphs, textOf } from '../../support/chunks.js';
import { expectRefused, idsOf } from '../../support/nodes.js';
import { allItems, idsIn, recall } from '../../support/requests.js';
import { type Service, startService } from '../../support/service.js';
import { times } from '../../support/together.js';

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

const DAY_MS = 86_400_000;
const own = (index: number) => ({ conversation_id: `talk ${index}` });

test('an answer shows each chunk whole, with why it was found', async () => {
  const made = await client.chunk('The heron fishes at dawn', { tags: ['heron', 'bird'], confidence: 0.8 });
  await client.chunk('Nothing to do with it', { conversation_id: 'other' });
  const answer = await client.recall('heron fishes');
  expect(answer).toEqual({
    results: [
      {
        chunk: made,
        score: expect.any(Number),
        matched: { terms: expect.any(Array), tags: ['heron'], phrase: true },
        before: [],
        after: [],
      },
    ],
    confidence: expect.closeTo(0.8, 10),
    corrected: [],
    total_matches: 1,
    complete: true,
    token_count: made.tokens,
  });
  expect(answer.results[0]?.matched.terms).toHaveLength(2);
  expect(answer.results[0]?.score).toBeGreaterThan(0);
});

test('an answer to what nobody ever said is empty', async () => {
  const empty = { results: [], confidence: 0, corrected: [], total_matches: 0, complete: true, token_count: 0 };
  expect(await client.recall('zyzzyva')).toEqual(empty);
  await client.chunk('Something else');
  expect(await client.recall('zyzzyva')).toEqual(empty);
  expect(await client.recall('?!')).toEqual(empty);
});

describe('1e.13 the better match goes first:', () => {
  test('a tag before the content', async () => {
    const tagged = await client.chunk('The runner of the tests', { tags: ['pytest'], ...own(1) });
    await client.chunk('The tests are run by pytest', own(2));
    await client.chunk('Something else altogether here', own(3));
    const { results } = await client.recall('pytest');
    expect(results.map(({ chunk, matched }) => [chunk.content, matched.tags])).toEqual([
      [tagged.content, ['pytest']],
      ['The tests are run by pytest', []],
    ]);
  });

  test('of the same text the newer', async () => {
    const ids: string[] = [];
    for (let index = 0; index < 3; index++) {
      ids.push((await client.chunk('The same heron', own(index))).id);
      service.clock.advance(1_000);
    }
    expect(idsOf((await client.recall('heron')).results.map(({ chunk }) => chunk))).toEqual(ids.reverse());
  });

  test('what says it more often', async () => {
    await client.chunk('gull one two three four five', own(1));
    await client.chunk('gull gull gull one two three', own(2));
    await client.chunk('gull gull one two three four', own(3));
    await client.chunk('nothing of the kind at all', own(4));
    expect((await client.recalled('gull')).map((text) => text.match(/gull/g)?.length)).toEqual([3, 2, 1]);
  });

  test('of the same text the surer, even if it is older', async () => {
    for (const [index, confidence] of [0.9, 0.6, 1, 0.7].entries()) {
      await client.chunk('The same heron', { confidence, ...own(index) });
      service.clock.advance(1_000);
    }
    const { results } = await client.recall('heron');
    expect(results.map(({ chunk }) => chunk.metadata.confidence)).toEqual([1, 0.9, 0.7, 0.6]);
  });

  test('what holds the question word for word', async () => {
    await client.chunk('green over red on blue ground', own(1));
    await client.chunk('ground of Red   green blue on', own(2));
    await client.chunk('blue green red on over ground', own(3));
    const { results } = await client.recall('red GREEN blue');
    expect(results.map(({ matched }) => matched.phrase)).toEqual([true, false, false]);
    expect(results[0]?.chunk.content).toBe('ground of Red   green blue on');
  });

  test.each([
    [7, 7 * DAY_MS + 1],
    [30, 30 * DAY_MS + 1],
    [180, 180 * DAY_MS + 1],
  ])('what is no older than %d days, by more than what is hardly newer', async (days, ageMs) => {
    await client.chunk('The old heron', own(1));
    service.clock.advance(1);
    await client.chunk('The old heron', own(2));
    service.clock.advance(ageMs - 1);
    const [younger, older] = (await client.recall('heron')).results;
    expect(older?.chunk.metadata.conversation_id).toBe('talk 1');
    const factors = { 7: 1.1 / 1.04, 30: 1.04, 180: 1 / 0.92 }[days] as number;
    expect((younger?.score ?? 0) / (older?.score ?? 1)).toBeCloseTo(factors, 6);
  });
});

describe('1e.13 a filter:', () => {
  test('by the limit, which is 5 unless it is told otherwise', async () => {
    for (let index = 0; index < 7; index++) await client.chunk(`The heron ${index}`, own(index));
    for (const [fields, count] of [
      [{}, 5],
      [{ max_results: 1 }, 1],
      [{ max_results: 7 }, 7],
      [{ max_results: 100 }, 7],
    ] as const) {
      const answer = await client.recall('heron', fields);
      expect([answer.results.length, answer.total_matches]).toEqual([count, 7]);
    }
    const all = await client.recalled('heron', { max_results: 7 });
    expect(await client.recalled('heron', { max_results: 3 })).toEqual(all.slice(0, 3));
  });

  test('by the confidence, of which ½ is enough unless it is told otherwise', async () => {
    for (const [index, confidence] of [0, 0.4999, 0.5, 0.9].entries()) {
      await client.chunk(`heron ${confidence}`, { confidence, ...own(index) });
    }
    const sure = async (fields: object) => (await client.recalled('heron', fields)).sort();
    expect(await sure({})).toEqual(['heron 0.5', 'heron 0.9']);
    expect(await sure({ min_confidence: 0 })).toEqual(['heron 0', 'heron 0.4999', 'heron 0.5', 'heron 0.9']);
    expect(await sure({ min_confidence: 0.9 })).toEqual(['heron 0.9']);
    expect(await sure({ min_confidence: 1 })).toEqual([]);
  });

  test('by everything else that there is', async () => {
    await client.chunk('heron one', { tags: ['x'], type: 'note', conversation_id: 'a' });
    service.clock.advance(1_000);
    const from = service.clock.iso();
    await client.chunk('heron two', { tags: ['x', 'y'], type: 'fact', conversation_id: 'a' });
    await client.chunk('heron three', { tags: ['y'], type: 'fact', conversation_id: 'b' });
    const gone = await client.chunk('heron gone', { tags: ['y'], type: 'fact', conversation_id: 'b' });
    await client.remove(gone.id);
    const past = new Date(Date.parse(from) + 1).toISOString();
    const before = new Date(Date.parse(from) - 1).toISOString();
    for (const [fields, expected] of [
      [{}, ['one', 'three', 'two']],
      [{ conversation_id: 'a' }, ['one', 'two']],
      [{ conversation_id: 'c' }, []],
      [{ tags: ['x'] }, ['one', 'two']],
      [{ tags: ['x', 'y'] }, ['two']],
      [{ tags: [] }, ['one', 'three', 'two']],
      [{ type: 'fact' }, ['three', 'two']],
      [{ type: 'pattern' }, []],
      [{ created_after: from }, ['three', 'two']],
      [{ created_after: past }, []],
      [{ created_before: from }, ['one', 'three', 'two']],
      [{ created_before: before }, ['one']],
      [{ include_archived: true }, ['gone', 'one', 'three', 'two']],
      [
        { include_archived: true, conversation_id: 'b', tags: ['y'], type: 'fact', created_after: from },
        ['gone', 'three'],
      ],
    ] as const) {
      const found = (await client.recalled('heron', fields)).map((text) => text.replace('heron ', ''));
      expect([fields, found.sort()]).toEqual([fields, [...expected]]);
    }
  });

  test('finds the one that fits among many that do not', async () => {
    await client.remember(
      paragraphs(20)
        .map((text) => `heron ${text}`)
        .join('\n\n'),
    );
    const one = await client.chunk('Once more the heron', { conversation_id: 'rare', tags: ['rare'] });
    expect(await client.recalled('heron', { conversation_id: 'rare' })).toEqual([one.content]);
    expect(await client.recalled('heron', { tags: ['rare'] })).toEqual([one.content]);
  });
});

describe('1e.13 a word that nobody ever wrote', () => {
  test('is read as the likeliest one, and that is said', async () => {
    await client.chunk('User preference: run pytest in parallel', own(1));
    await client.chunk('Nothing of the kind', own(2));
    const answer = await client.recall('pytesst prefernce');
    expect(answer.results.map(({ chunk }) => chunk.content)).toEqual(['User preference: run pytest in parallel']);
    expect(answer.corrected.map(({ to }) => to).sort()).toEqual(['pytest', expect.stringMatching(/^prefer/)].sort());
    expect(answer.corrected.map(({ term }) => term)).toContain('pytesst');
  });

  test('is not read as one that only another repo wrote, nor as one that is gone', async () => {
    await new ChunkClient(service, 'acme/elsewhere').chunk('The kingfisher dives');
    const { id } = await client.chunk('The cormorant dives');
    await client.remove(id, { permanent: true });
    for (const query of ['kingfischer', 'cormorrant']) {
      expect(await client.recall(query)).toMatchObject({ results: [], corrected: [] });
    }
  });

  test('is not read as one that was put away, unless the archive is asked for', async () => {
    const { id } = await client.chunk('The kingfisher dives');
    await client.remove(id);
    expect(await client.recall('kingfischer')).toMatchObject({ results: [], corrected: [] });
    const { results, corrected } = await client.recall('kingfischer', { include_archived: true });
    expect([results.length, corrected.length]).toEqual([1, 1]);
  });

  test('is left alone where it is a number or short', async () => {
    await client.chunk('Error E12345 on port 63790 of the cat');
    for (const query of ['E12346', '63791', 'cot']) {
      expect(await client.recall(query)).toMatchObject({ results: [], corrected: [] });
    }
  });

  test('is only looked for in place of a word that is unknown', async () => {
    await client.chunk('The steamer sails', own(1));
    await client.chunk('The streamer sends', own(2));
    expect(await client.recall('steamer')).toMatchObject({ corrected: [], total_matches: 1 });
  });
});

describe('neighbours of a hit', () => {
  let ids: string[];
  beforeEach(async () => {
    ids = [];
    for (const text of ['a', 'b', 'c', 'the heron', 'd', 'e', 'f']) {
      ids.push((await client.chunk(text, { confidence: text === 'the heron' ? 0.9 : 0.1 })).id);
      service.clock.advance(text < 'd' ? 0 : 1_000);
      await client.chunk(`beside ${text}`, { conversation_id: 'beside' });
    }
  });
  const around = async (neighbours: number) => {
    const { results } = await client.recall('heron', { neighbours, conversation_id: 'talk' });
    return results.map(({ before, after }) => [before, after].map((shown) => shown.map(({ content }) => content)));
  };

  test('are shown as many as are asked for, in the order in which they were said', async () => {
    expect(await around(0)).toEqual([[[], []]]);
    expect(await around(1)).toEqual([[['c'], ['d']]]);
    expect(await around(2)).toEqual([
      [
        ['b', 'c'],
        ['d', 'e'],
      ],
    ]);
    expect(await around(5)).toEqual([
      [
        ['a', 'b', 'c'],
        ['d', 'e', 'f'],
      ],
    ]);
  });

  test('are not looked at; the hit is', async () => {
    const { results, token_count } = await client.recall('heron', { neighbours: 5, conversation_id: 'talk' });
    const counts = (await client.listed({ conversation_id: 'talk' })).map(({ content, metadata }) => [
      content,
      metadata.access_count,
    ]);
    expect(counts.filter(([, count]) => count !== 0)).toEqual([['the heron', 1]]);
    const shown = results.flatMap(({ chunk, before, after }) => [chunk, ...before, ...after]);
    expect(token_count).toBe(shown.reduce((sum, { tokens }) => sum + tokens, 0));
    expect(shown[1]?.links.context_of.length).toBeGreaterThan(0);
  });

  test('that were put away are passed over', async () => {
    await client.remove(ids[2] as string);
    expect(await around(1)).toEqual([[['b'], ['d']]]);
  });
});

describe('a look at what is recalled', () => {
  test('is counted once for each that is shown, and not for the others', async () => {
    for (let index = 0; index < 4; index++) {
      await client.chunk(`heron ${index}`, { confidence: (9 - index) / 10, ...own(index) });
    }
    await client.recall('heron', { max_results: 2 });
    service.clock.advance(1_000);
    await client.recall('heron', { max_results: 1 });
    const counts = (await client.listed()).map(({ content, metadata }) => [content, metadata.access_count]).sort();
    expect(counts).toEqual([
      ['heron 0', 2],
      ['heron 1', 1],
      ['heron 2', 0],
      ['heron 3', 0],
    ]);
    const [best] = (await client.listed()).filter(({ content }) => content === 'heron 0');
    expect(best?.metadata.last_accessed).toBe(service.clock.iso().replace('.000Z', 'Z'));
  });
});

describe('the tokens', () => {
  test('of an answer stay within what is allowed, and what does not fit makes room for what is shorter', async () => {
    await client.chunk(`heron ${textOf(99)}`, { tags: ['heron'], ...own(1) });
    await client.chunk(`heron ${textOf(9)}`, own(2));
    const whole = await client.recall('heron');
    expect(whole.results.map(({ chunk }) => chunk.tokens)).toEqual([expect.any(Number), expect.any(Number)]);
    const [large, small] = whole.results.map(({ chunk }) => chunk.tokens) as [number, number];
    expect(whole.token_count).toBe(large + small);
    for (const [max, expected] of [
      [large + small, [large, small]],
      [large + small - 1, [large]],
      [large, [large]],
      [large - 1, [small]],
      [small, [small]],
      [small - 1, []],
    ] as const) {
      const answer = await client.recall('heron', { max_tokens: max });
      expect([max, answer.results.map(({ chunk }) => chunk.tokens)]).toEqual([max, expected]);
      expect(answer.token_count).toBe(expected.reduce((sum: number, tokens) => sum + tokens, 0));
    }
  });
});

test('what the tokens leave no room for is not looked at', async () => {
  await client.chunk(`heron ${textOf(99)}`, { tags: ['heron'], ...own(1) });
  await client.chunk('heron', own(2));
  await client.recall('heron', { max_tokens: 50 });
  expect((await client.listed()).map(({ tokens, metadata }) => [tokens > 50, metadata.access_count])).toEqual(
    expect.arrayContaining([
      [true, 0],
      [false, 1],
    ]),
  );
});

test('the confidence of an answer is that of its chunks, the better match counting for more', async () => {
  for (const [index, confidence] of [0.5, 0.7, 1].entries()) {
    await client.chunk(`${'heron '.repeat(index + 1)}flies`, { confidence, ...own(index) });
  }
  const { results, confidence } = await client.recall('heron');
  const total = results.reduce((sum, { score }) => sum + score, 0);
  const weighed = results.reduce((sum, { score, chunk }) => sum + score * chunk.metadata.confidence, 0);
  expect(confidence).toBeCloseTo(weighed / total, 10);
  expect(confidence).toBeGreaterThan((0.5 + 0.7 + 1) / 3);
});

test('the same question gets the same answer', async () => {
  for (let index = 0; index < 6; index++) await client.chunk('The same heron', own(index));
  expect(await client.recalled('heron')).toEqual(await client.recalled('heron'));
  const ids = async () => idsOf((await client.recall('heron')).results.map(({ chunk }) => chunk));
  expect(await ids()).toEqual(await ids());
});

test('more than are weighed are said to be more', async () => {
  await client.remember(
    paragraphs(501)
      .map((text) => `heron ${text}`)
      .join('\n\n'),
  );
  expect(await client.recall('heron')).toMatchObject({ complete: false, total_matches: 500 });
});

describe('a chunk is found', () => {
  test('by /memory/read and /nodes/search, as what it is', async () => {
    const { id } = await client.chunk('The lyrebird repeats the build', { tags: ['mimic'], type: 'pattern' });
    const pack = await recall(service, 'lyrebird', {}, client.repoId);
    expect(allItems(pack).map(({ memory_id, form, kind }) => [memory_id, form, kind])).toEqual([
      [id, 'chunk', 'pattern'],
    ]);
    expect(idsIn(allItems(await recall(service, 'mimic', {}, client.repoId)))).toEqual([id]);
    const search = (fields: object) =>
      service.http.post('/nodes/search').query({ repo_id: client.repoId }).send(fields);
    const { body } = await search({ query: 'lyrebird', form: 'chunk' });
    expect(JSON.stringify(body)).toContain(id);
  });
});

describe('a question is refused', () => {
  test.each([
    ['query', undefined],
    ['query', ''],
    ['query', 7],
    ['query', null],
    ['query', 'a\0'],
    ['query', '\ud83d'],
    ['conversation_id', ''],
    ['conversation_id', 7],
    ['tags', 'x'],
    ['tags', ['x', 'x']],
    ['type', 'opinion'],
    ['created_after', 'yesterday'],
    ['created_before', '2026-01-01'],
    ['min_confidence', 1.1],
    ['min_confidence', '0.5'],
    ['include_archived', 'true'],
    ['max_results', 0],
    ['max_results', 101],
    ['max_results', 1.5],
    ['neighbours', -1],
    ['neighbours', 6],
    ['max_tokens', 0],
    ['limit', 5],
  ])('for the shape of %s: %j', async (field, value) => {
    const request = client.postRecall({ query: 'heron', [field]: value });
    expect(await expectRefused(service, request, 400, client.repoId)).toEqual({
      code: 'schema_error',
      fields: [field],
    });
  });

  test.each([
    ['query', ' \n '],
    ['query', 'q'.repeat(10_001)],
    ['conversation_id', '  '],
  ])('for what %s says', async (field, value) => {
    const request = client.postRecall({ query: 'heron', [field]: value });
    const refusal = await expectRefused(service, request, 422, client.repoId);
    expect(refusal).toEqual({ code: 'semantic_error', fields: [field] });
  });

  test('in a blank repo', async () => {
    const request = new ChunkClient(service, ' ').postRecall({ query: 'heron' });
    expect((await expectRefused(service, request, 422, client.repoId)).fields).toEqual(['repo_id']);
  });

  test.each([
    ...times(3, (index) => '"('.repeat(index + 1)),
    'NEAR(a b)',
    'a* OR b',
    `'; DROP TABLE nodes --`,
    '%',
    '🙂',
  ])('for nothing that it may hold: %s', async (query) => {
    await client.chunk('Something else');
    await client.postRecall({ query }).expect(200);
  });
});
