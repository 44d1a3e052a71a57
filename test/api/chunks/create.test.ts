import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { loadTokenCounter } from '../../../src/services/tokens.js';
import { ChunkClient, NO_LINKS, textOf } from '../../support/chunks.js';
import { expectRefused, idsOf, REPO, sendAtOnce } from '../../support/nodes.js';
import { select } from '../../support/rows.js';
import { type Service, startService } from '../../support/service.js';
import { times } from '../../support/together.js';

let service: Service;
let client: ChunkClient;
beforeAll(async () => {
  service = await startService();
  client = new ChunkClient(service);
});
afterAll(() => service.stop());

const post = (fields: object) => client.postChunk({ content: 'Said', conversation_id: 'talk', ...fields });

describe('1e.1 a chunk', () => {
  test('is answered whole, with what was left out filled in', async () => {
    const answer = await client.postChunk({ content: 'The keys hang there', conversation_id: 'alone' }).expect(201);
    expect(answer.body).toEqual({
      id: expect.stringMatching(/^chunk-2026-01-01-[0-9a-f]{8}$/),
      content: 'The keys hang there',
      tokens: 4,
      type: 'note',
      metadata: {
        created: '2026-01-01T00:00:00Z',
        conversation_id: 'alone',
        source: 'interaction',
        confidence: 0.7,
        access_count: 0,
        last_accessed: null,
      },
      links: NO_LINKS,
      tags: [],
    });
    expect(answer.headers.etag).toBe('"1"');
    expect(answer.headers.location).toBe(`/chunks/${answer.body.id}?repo_id=acme%2Fshop`);
    const shown = await service.http.get(answer.headers.location as string).expect(200);
    expect(shown.body.id).toBe(answer.body.id);
  });

  test('is answered whole, with everything that was said of it', async () => {
    const fields = {
      content: 'User prefers Python over JavaScript',
      type: 'pattern',
      tags: ['preferences', 'coding'],
      confidence: 0.95,
      source: 'derived',
    };
    const made = await client.chunk(fields.content, { ...fields, conversation_id: 'apart' });
    expect(made).toEqual({
      id: expect.any(String),
      content: fields.content,
      tokens: 6,
      type: 'pattern',
      metadata: {
        created: '2026-01-01T00:00:00Z',
        conversation_id: 'apart',
        source: 'derived',
        confidence: 0.95,
        access_count: 0,
        last_accessed: null,
      },
      links: NO_LINKS,
      tags: ['preferences', 'coding'],
    });
    expect(await client.read(made.id)).toMatchObject({
      ...made,
      metadata: { ...made.metadata, access_count: 1, last_accessed: '2026-01-01T00:00:00Z' },
    });
  });

  test('has the day of its making in its id, and its moment to the millisecond', async () => {
    service.clock.advance(86_400_000 + 5);
    const { id, metadata } = await client.chunk('Said a day later');
    expect(id).toMatch(/^chunk-2026-01-02-[0-9a-f]{8}$/);
    expect(metadata.created).toBe('2026-01-02T00:00:00.005Z');
  });

  test.each([
    'héllo — 数据 🙂 👩‍👩‍👧 שלום é é',
    '  indented\n\n\n```js\nconst a = `b`;\n```\n\ttab \r\n ',
    `'); DROP TABLE nodes; -- "quoted" \\ %_`,
    '{"json": [1, 2]}',
  ])('keeps %j to the letter', async (content) => {
    const { id } = await client.chunk(content);
    expect((await client.read(id)).content).toBe(content);
  });

  test.each(['interaction', 'import', 'derived'])('may come from %s', async (source) => {
    expect((await client.chunk('Said', { source })).metadata.source).toBe(source);
  });

  test.each([0, 1, 0.123_456_789])('may be sure to the degree %d', async (confidence) => {
    expect((await client.chunk('Said', { confidence })).metadata.confidence).toBe(confidence);
  });

  test('1e.12 said twice is kept twice', async () => {
    const [one, other] = [await client.chunk('Twice said'), await client.chunk('Twice said')];
    expect(one.id).not.toBe(other.id);
    const rows = select(service, REPO, 'SELECT id FROM nodes WHERE content = ?', 'Twice said');
    expect(rows).toHaveLength(2);
  });

  test('1e.16 is kept once each, however many come at the same time', async () => {
    const answers = await sendAtOnce(service, () =>
      times(40, (index) => client.postChunk({ content: `Rushed ${index}`, conversation_id: 'rush' })),
    );
    expect(answers.map(({ status }) => status)).toEqual(times(40, () => 201));
    const listed = await client.listed({ conversation_id: 'rush' });
    expect(new Set(idsOf(listed)).size).toBe(40);
    expect(listed.map(({ content }) => content).sort()).toEqual(times(40, (index) => `Rushed ${index}`).sort());
  });
});

describe('the tokens', () => {
  test('are counted with the tokenizer of the service', async () => {
    const count = await loadTokenCounter();
    for (const content of ['x', 'antidisestablishmentarianism', '数据库', 'const a = [1, 2, 3];']) {
      expect((await client.chunk(content)).tokens).toBe(count(content, 800));
    }
  });

  test('may be 800', async () => {
    expect((await client.chunk(textOf(800))).tokens).toBe(800);
  });

  test.each([
    ['801', textOf(801)],
    ['too many to be counted', 'a'.repeat(100_001)],
  ])('may not be %s, and the way out is told', async (_, content) => {
    expect(await expectRefused(service, post({ content }), 422)).toEqual({
      code: 'semantic_error',
      fields: ['content'],
    });
    const { body } = await post({ content }).expect(422);
    expect(body.errors[0].message).toMatch(/\/chunks\/remember/);
  });
});

const SENTENCES: Record<string, string[]> = {
  decision: [
    'Linus decided on a monorepo',
    'We chose the blue theme',
    'They selected Frankfurt as region',
    'We are going with gRPC',
    'The board went with plan B',
    'She opted for early delivery',
    'We settled on tabs',
    'The audit concluded without findings',
  ],
  preference: [
    'I prefer green tea',
    'User prefers dark mode',
    'I like small commits',
    'I want a shorter summary',
    'She would rather walk',
    'I dislike meetings',
    'We hate downtime',
    'I wish for silence',
    'I would like coffee',
    'Blue remains her favourite',
  ],
  pattern: [
    'He usually prefers tea',
    'Tests often time out',
    'Traffic tends to peak at noon',
    'A pattern emerged',
    'She always signs commits',
    'They typically deploy on Monday',
    'Users generally skip the tour',
    'The node frequently swaps',
    'We regularly rotate keys',
    'It breaks every time',
    'It rains most of the time',
    'Whenever it rains, it pours',
  ],
  fact: [
    'Paris is a city',
    'Loci is an index',
    'Bats are a family',
    'These are an exception',
    'It was a mistake',
    'Those were a surprise',
    'Ada works as engineer',
    'Ada works at Acme',
    'Ada works for Acme',
    'The office stands located in Bonn',
    'Ada lives in Rome',
    'Ada came born in Oslo',
    'Ada studied at MIT',
    'Ada graduated from MIT',
    'The disk has 4 platters',
    'There are 7 shards',
    'There is no spare',
  ],
  note: ['Call Bob tomorrow', 'chosen, likely, factual', 'There are some shards', 'ping'],
};

describe('1e.9 the type is told by the words', () => {
  test.each(Object.entries(SENTENCES))('of a %s', async (type, sentences) => {
    const types: [string, string][] = [];
    for (const content of sentences) types.push([content, (await client.chunk(content)).type]);
    expect(types).toEqual(sentences.map((content) => [content, type]));
  });

  test('unless it is said', async () => {
    for (const type of Object.keys(SENTENCES)) {
      expect((await client.chunk('We decided', { type })).type).toBe(type);
    }
  });
});

describe('a chunk is refused, and nothing is stored,', () => {
  test.each([
    ['content', undefined],
    ['content', null],
    ['content', 7],
    ['content', ['text']],
    ['content', 'a\0b'],
    ['content', 'half \ud83d'],
    ['conversation_id', undefined],
    ['conversation_id', null],
    ['conversation_id', 7],
    ['conversation_id', ''],
    ['conversation_id', 'c'.repeat(501)],
    ['conversation_id', '\ude00'],
    ['type', 'opinion'],
    ['type', null],
    ['type', 1],
    ['tags', 'text'],
    ['tags', null],
    ['tags', {}],
    ['tags', ['a', 'a']],
    ['tags.1', ['a', 1]],
    ['tags.0', ['a\0']],
    ['confidence', -0.001],
    ['confidence', 1.001],
    ['confidence', '0.7'],
    ['confidence', null],
    ['source', 'hearsay'],
    ['id', 'chunk-2026-01-01-a1b2c3d4'],
    ['tokens', 5],
    ['links', {}],
    ['created', '2026-01-01T00:00:00Z'],
  ])('for the shape of %s: %j', async (field, value) => {
    const fields = { [field.split('.')[0] as string]: value };
    const { code, fields: named } = await expectRefused(service, post(fields), 400);
    expect([code, named[0]]).toEqual(['schema_error', field]);
  });

  test.each([
    ['content', ''],
    ['content', ' \n\t '],
    ['conversation_id', '  '],
    ['tags', times(51, (index) => `tag ${index}`)],
    ['tags.1', ['a', ' ']],
    ['tags.0', ['']],
    ['tags.1', ['a', 'b'.repeat(201)]],
  ])('for what %s says: %j', async (field, value) => {
    const fields = { [field.split('.')[0] as string]: value };
    expect(await expectRefused(service, post(fields), 422)).toEqual({ code: 'semantic_error', fields: [field] });
  });

  test('with everything that is wrong with it named at once', async () => {
    const wrong = { content: ' ', conversation_id: ' ', tags: ['ok', ' '] };
    const { fields } = await expectRefused(service, post(wrong), 422);
    expect(fields.sort()).toEqual(['content', 'conversation_id', 'tags.1']);
  });

  test.each([' ', 'r'.repeat(201), 'a\u0007b'])('in the repo %j', async (repoId) => {
    const own = new ChunkClient(service, repoId);
    const request = own.postChunk({ content: 'Said', conversation_id: 'talk' });
    expect(await expectRefused(service, request, 422)).toEqual({ code: 'semantic_error', fields: ['repo_id'] });
  });

  test('with a parameter that nobody knows', async () => {
    const { fields } = await expectRefused(service, post({}).query({ upsert: true }), 400);
    expect(fields).toEqual(['upsert']);
  });

  test.each(['', '{', '[]', '"text"', 'null'])('as the body %j', async (body) => {
    const request = service.http.post('/chunks').query({ repo_id: REPO }).set('content-type', 'application/json');
    await expectRefused(service, request.send(body), 400);
  });
});

test('as many and as long tags as there may be are kept in their order', async () => {
  const tags = ['z'.repeat(200), ...times(49, (index) => `tag ${49 - index}`)];
  const { id } = await client.chunk('Tagged', { tags });
  expect((await client.read(id)).tags).toEqual(tags);
});

test('as long a conversation id as there may be is kept', async () => {
  const conversationId = '🙂'.repeat(250);
  const { metadata } = await client.chunk('Said', { conversation_id: conversationId });
  expect(metadata.conversation_id).toBe(conversationId);
  expect(await client.listed({ conversation_id: conversationId })).toHaveLength(1);
});
