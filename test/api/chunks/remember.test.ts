import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { StoreUnavailable } from '../../../src/storage/port.js';
import { ChunkClient, chunk, paragraphs, textOf } from '../../support/chunks.js';
import { expectRefused, idsOf, sendAtOnce } from '../../support/nodes.js';
import { countRows, linksOf, tables } from '../../support/rows.js';
import { type Service, startService } from '../../support/service.js';
import { times } from '../../support/together.js';

let service: Service;
let client: ChunkClient;
let repos = 0;
let repoId: string;
beforeAll(async () => {
  service = await startService();
});
afterAll(() => service.stop());
beforeEach(() => {
  repoId = `acme/${++repos}`;
  client = new ChunkClient(service, repoId);
});
afterEach(() => vi.restoreAllMocks());

/** The texts of a conversation, in the order in which they were said. */
const said = async (query: Record<string, string> = {}): Promise<string[]> =>
  (await client.allChunks({ limit: 100, ...query })).map(({ content }) => content).reverse();
const textsOf = async (ids: readonly string[]): Promise<string[]> => {
  const texts: string[] = [];
  for (const id of ids) texts.push((await client.read(id)).content);
  return texts;
};
const remember = (content: string, fields: object = {}) =>
  client.postText({ content, conversation_id: 'talk', ...fields });

describe('1e.12 a text that is remembered', () => {
  test('is answered with its chunks in the order of the text', async () => {
    const parts = paragraphs(12);
    const { body } = await remember(parts.join('\n\n')).expect(201);
    expect(body).toEqual({
      chunk_ids: expect.any(Array),
      chunks_created: 12,
      total_tokens: expect.any(Number),
    });
    expect(await textsOf(body.chunk_ids)).toEqual(parts);
    expect(body.chunk_ids).toEqual([...body.chunk_ids].sort());
    expect(await said()).toEqual(parts);
    const listed = await client.listed();
    expect(listed.reduce((sum, { tokens }) => sum + tokens, 0)).toBe(body.total_tokens);
  });

  test('fills in what was left out, for every chunk', async () => {
    await client.remember(paragraphs(2).join('\n\n'));
    for (const { metadata, tags, type } of await client.listed()) {
      expect([metadata.confidence, metadata.source, tags, type]).toEqual([0.7, 'interaction', [], 'note']);
    }
  });

  test('1e.10 gives what is said of it to every chunk', async () => {
    const fields = { tags: ['b', 'a'], confidence: 0.3, source: 'import', type: 'decision', conversation_id: 'own' };
    await client.remember(paragraphs(3).join('\n\n'), fields);
    const listed = await client.listed();
    expect(listed).toHaveLength(3);
    for (const { metadata, tags, type } of listed) {
      expect({ ...metadata, tags, type }).toMatchObject(fields);
    }
  });

  test.each([0, 1])('may be sure to the degree %d', async (confidence) => {
    await client.remember('Said', { confidence });
    expect((await client.listed())[0]?.metadata.confidence).toBe(confidence);
  });

  test('has the type of each chunk told by its own words', async () => {
    const [one, other] = [`We decided: ${textOf(110)}`, `It usually is: ${textOf(110)}`];
    await client.remember(`${one}\n\n${other}`);
    expect((await client.listed()).map(({ type }) => type).reverse()).toEqual(['decision', 'pattern']);
  });

  test('is linked in its order: each follows on those before', async () => {
    const { chunk_ids } = await client.remember(paragraphs(4).join('\n\n'));
    const [a, b, c, d] = chunk_ids as [string, string, string, string];
    const last = await client.read(d);
    expect(last.links).toMatchObject({ follows: [c, b, a], context_of: [c, b, a] });
    expect((await client.read(a)).links).toMatchObject({ follows: [], context_of: [b, c, d] });
  });

  test('1e.10 has no chunk above 800 tokens, and in three tiny paragraphs no three', async () => {
    const { chunk_ids } = await client.remember('Tiny.\n\nTinier.\n\nTiniest.');
    expect(await textsOf(chunk_ids)).toEqual(['Tiny.\n\nTinier.\n\nTiniest.']);
    await client.remember(times(200, (index) => `Sentence number ${index} has a few words.`).join(' '), {
      conversation_id: 'long',
    });
    await client.remember('x'.repeat(20_000), { conversation_id: 'unbroken' });
    const listed = await client.listed();
    for (const { tokens } of listed) expect(tokens).toBeLessThanOrEqual(800);
    for (const conversation of ['long', 'unbroken']) {
      expect((await client.listed({ conversation_id: conversation })).length).toBeGreaterThan(1);
    }
    expect((await said({ conversation_id: 'unbroken' })).join('')).toBe('x'.repeat(20_000));
  });

  test('1e.10 keeps code and every script to the letter', async () => {
    const code = '```ts\nif (a) {\n\n\treturn `é 数据 🙂`;   // two  blanks\n}\n```';
    const script = 'שלום — 数据库 🙂 👩‍👩‍👧 e\u0301 \u00e9 ﷺ "quoted" \\ %_';
    const { chunk_ids } = await client.remember(`${script}\n\n${code}`);
    expect((await textsOf(chunk_ids)).join('\n\n')).toBe(`${script}\n\n${code}`);
  });

  test('twice is kept twice', async () => {
    const text = paragraphs(2).join('\n\n');
    const [one, other] = [await client.remember(text), await client.remember(text)];
    expect(new Set([...one.chunk_ids, ...other.chunk_ids]).size).toBe(4);
    expect(await said()).toEqual([...paragraphs(2), ...paragraphs(2)]);
  });

  test('in one conversation is not in another', async () => {
    await client.remember(paragraphs(2).join('\n\n'), { conversation_id: 'one' });
    await client.remember(paragraphs(2, 2).join('\n\n'), { conversation_id: 'two' });
    expect(await said({ conversation_id: 'one' })).toEqual(paragraphs(2));
    expect(await client.recalled('part1', { conversation_id: 'two' })).toEqual([]);
    for (const { links } of await client.listed({ conversation_id: 'two' })) expect(links.context_of).toHaveLength(1);
  });

  test('of exactly 1 MiB is kept', async () => {
    const { total_tokens } = await client.remember(`word${' '.repeat(1024 * 1024 - 4)}`);
    expect(total_tokens).toBe(1);
    expect(await said()).toEqual(['word']);
  });

  test('holds up nobody else', async () => {
    if (!service.app.server.listening) await service.app.listen({ host: '127.0.0.1', port: 0 });
    const order: string[] = [];
    const long = remember(paragraphs(600).join('\n\n')).then(({ status }) => order.push(`remembered ${status}`));
    for (let count = 0; count < 20; count++) await service.http.get('/health/live').expect(200);
    order.push('answered');
    await long;
    expect(order).toEqual(['answered', 'remembered 201']);
  });
});

describe('all of a text is kept or nothing', () => {
  test('in one plan', async () => {
    const apply = vi.spyOn(service.store, 'apply');
    await client.remember(paragraphs(5).join('\n\n'));
    expect(apply).toHaveBeenCalledTimes(1);
  });

  test('where the store fails', async () => {
    await client.chunk('There before');
    const before = tables(service, repoId);
    vi.spyOn(service.store, 'apply').mockRejectedValueOnce(new StoreUnavailable('busy', 'somebody else writes'));
    await remember(paragraphs(3).join('\n\n')).expect(503);
    expect(tables(service, repoId)).toEqual(before);
  });

  test('where one of its ids is taken already, and then all of it is kept under others', async () => {
    const apply = service.store.apply.bind(service.store);
    let taken = '';
    vi.spyOn(service.store, 'apply').mockImplementationOnce(async (plan) => {
      // Somebody else was faster with the third id.
      const third = plan.changes.filter(({ change }) => change === 'insert_node')[2] as { node: { id: string } };
      taken = third.node.id;
      const [node, joins] = chunk(taken, { conversationId: 'rival' });
      await apply({ space: repoId, changes: [node, joins].flatMap((change) => change ?? []) });
      return apply(plan);
    });
    const { chunk_ids } = await client.remember(paragraphs(4).join('\n\n'));
    expect(taken).toMatch(/^chunk-/);
    expect(chunk_ids).not.toContain(taken);
    expect(await said({ conversation_id: 'talk' })).toEqual(paragraphs(4));
    expect((await client.getStats().expect(200)).body).toMatchObject({ total_chunks: 5, conversations: 2 });
    expect(
      linksOf(service, repoId, 'context_of')
        .map(({ members }) => members.length)
        .sort(),
    ).toEqual([1, 4]);
  });
});

test('1e.16 texts that are remembered at the same time are kept once each, and each in its order', async () => {
  const answers = await sendAtOnce(service, () =>
    times(8, (index) => remember(paragraphs(5, index * 5).join('\n\n'), { tags: [`call ${index}`] })),
  );
  expect(answers.map(({ status }) => status)).toEqual(times(8, () => 201));
  const ids: string[] = answers.flatMap(({ body }) => body.chunk_ids);
  expect(new Set(ids).size).toBe(40);
  expect(idsOf(await client.allChunks({ limit: 7 })).sort()).toEqual([...ids].sort());
  expect((await said()).sort()).toEqual(paragraphs(40).sort());
  for (const [index, { body }] of answers.entries()) {
    expect(await textsOf(body.chunk_ids)).toEqual(paragraphs(5, index * 5));
    expect(await said({ tags: `call ${index}` })).toEqual(paragraphs(5, index * 5));
  }
  const { chunks, membership, hyperedges } = countRows(tables(service, repoId));
  expect([chunks, membership, hyperedges]).toEqual([40, 40, 1]);
});

describe('a text is refused, and nothing is stored,', () => {
  test.each([
    ['content', undefined],
    ['content', null],
    ['content', 7],
    ['content', 'a\0b'],
    ['content', 'half \ud83d'],
    ['conversation_id', undefined],
    ['conversation_id', ''],
    ['conversation_id', 7],
    ['type', 'opinion'],
    ['tags', ['a', 'a']],
    ['tags', null],
    ['confidence', -0.01],
    ['confidence', 1.01],
    ['confidence', null],
    ['source', 'hearsay'],
    ['title', 'unknown'],
  ])('for the shape of %s: %j', async (field, value) => {
    const { code, fields } = await expectRefused(service, remember('Said', { [field]: value }), 400, repoId);
    expect([code, fields]).toEqual(['schema_error', [field]]);
  });

  test.each([
    ['content', ''],
    ['content', ' \n\n\t '],
    ['content', 'x'.repeat(1024 * 1024 + 1)],
    ['content', 'é'.repeat(512 * 1024 + 1)],
    ['conversation_id', ' '],
    ['tags', times(51, (index) => `tag ${index}`)],
    ['tags.0', [' ']],
    ['tags.0', ['b'.repeat(201)]],
  ])('for what %s says', async (field, value) => {
    const request = remember('Said', { [field.split('.')[0] as string]: value });
    expect(await expectRefused(service, request, 422, repoId)).toEqual({ code: 'semantic_error', fields: [field] });
  });

  test('where it is larger than any body may be', async () => {
    const request = remember('\u0001'.repeat(1024 * 1024 + 200_000));
    expect((await expectRefused(service, request, 413, repoId)).code).toBe('payload_too_large');
  });

  test('in a blank repo', async () => {
    const request = new ChunkClient(service, ' ').postText({ content: 'Said', conversation_id: 'talk' });
    expect((await expectRefused(service, request, 422, repoId)).fields).toEqual(['repo_id']);
  });
});
