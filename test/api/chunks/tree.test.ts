import { PassThrough } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { extract, type Headers, pack } from 'tar-stream';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { ChunkClient, type ChunkReport } from '../../support/chunks.js';
import { stored } from '../../support/rows.js';
import { type Service, startService } from '../../support/service.js';

let service: Service;
let repos = 0;
let chunks: ChunkClient;
beforeAll(async () => {
  service = await startService();
});
afterAll(() => service.stop());
beforeEach(() => {
  chunks = new ChunkClient(service, `tree/${++repos}`);
});

type Files = Record<string, string | Buffer>;

async function packed(files: Files, headers: Record<string, Partial<Headers>> = {}): Promise<Buffer> {
  const archive = pack();
  for (const [name, content] of Object.entries(files)) archive.entry({ name, ...headers[name] }, content);
  archive.finalize();
  return buffer(archive);
}

async function unpacked(bytes: Buffer): Promise<Record<string, string>> {
  const files: Record<string, string> = {};
  const archive = extract();
  archive.on('entry', (header, content, next) => {
    buffer(content).then((bytes) => {
      files[header.name] = bytes.toString();
      next();
    }, archive.destroy);
  });
  const done = new Promise((resolve, reject) => archive.on('finish', resolve).on('error', reject));
  const source = new PassThrough();
  source.end(bytes);
  source.pipe(archive);
  await done;
  return files;
}

const exported = async ({ repoId } = chunks): Promise<Buffer> => {
  const answer = await service.http
    .get('/chunks/export')
    .query({ repo_id: repoId })
    .buffer(true)
    .parse((response, done) => {
      buffer(response as unknown as NodeJS.ReadableStream).then(
        (bytes) => done(null, bytes),
        (error: Error) => done(error, null),
      );
    })
    .expect(200);
  expect(answer.headers['content-type']).toBe('application/x-tar');
  return answer.body as Buffer;
};

interface Report {
  imported: number;
  archived: number;
  unchanged: number;
  links_drawn: number;
  links_dropped: number;
  skipped_count: number;
  skipped: { path: string; reason: string }[];
  complete: boolean;
  dry_run: boolean;
}

const imported = async (bytes: Buffer, query: object = {}, { repoId } = chunks): Promise<Report> =>
  (
    await service.http
      .post('/chunks/import')
      .query({ repo_id: repoId, ...query })
      .set('content-type', 'application/x-tar')
      .send(bytes)
      .expect(200)
  ).body;

/** A file as somebody else's program writes it. */
const fileOf = (id: string, fields: object = {}, metadata: object = {}): string =>
  JSON.stringify(
    {
      id,
      content: `What ${id} says`,
      tokens: 12,
      type: 'note',
      metadata: {
        created: '2026-02-10T21:37:00Z',
        conversation_id: 'conv-abc123',
        source: 'interaction',
        confidence: 0.95,
        access_count: 3,
        last_accessed: '2026-02-10T22:15:00Z',
        ...metadata,
      },
      links: { context_of: [], follows: [], related_to: [], supports: [], contradicts: [] },
      tags: ['rlm', 'architecture'],
      ...fields,
    },
    null,
    2,
  );

const ONE = 'chunk-2026-02-10-a1b2c3d4';
const TWO = 'chunk-2026-02-10-x9y8z7w6';
const NOTHING = { imported: 0, archived: 0, unchanged: 0, links_drawn: 0, links_dropped: 0, skipped_count: 0 };
const WELL = { ...NOTHING, skipped: [], complete: true, dry_run: false };

/** Two conversations, links of every sort, looks, and one that was put away. */
async function furnish(): Promise<ChunkReport[]> {
  const { chunk_ids: ids } = await chunks.remember(
    Array.from({ length: 30 }, (_, number) => `# Part ${number}\n\n${`word${number} `.repeat(700)}`).join('\n\n'),
    { tags: ['long'] },
  );
  const one = await chunks.chunk('We decided on Redis', {
    tags: ['b', 'a'],
    conversation_id: 'other',
    confidence: 0.9,
  });
  service.clock.advance(61_001);
  const two = await chunks.chunk('Redis is fast — ünïcödé 🙂', { tags: ['a'], source: 'derived' });
  const gone = await chunks.chunk('Put away', { tags: ['a'] });
  await chunks.postLink(two.id, { target_id: one.id, type: 'supports', strength: 0.8 }).expect(201);
  await chunks.postLink(one.id, { target_id: ids[0], type: 'contradicts' }).expect(201);
  await chunks.postLink(one.id, { target_id: ids[1], type: 'related_to', strength: 0.9 }).expect(201);
  await chunks.read(one.id);
  await chunks.deleteChunk(gone.id).expect(200);
  return [one, two, gone];
}

describe('an export', () => {
  test('lies as the layout says: chunks by month, archived ones apart, and the indexes', async () => {
    const [one, two, gone] = (await furnish()) as [ChunkReport, ChunkReport, ChunkReport];
    const files = await unpacked(await exported());
    expect(Object.keys(files).filter((path) => path.startsWith('index/'))).toEqual([
      'index/metadata_index.json',
      'index/tag_index.json',
      'index/link_graph.json',
    ]);
    const live = await chunks.listed();
    const paths = live.map(({ id }) => `chunks/2026-01/${id}.json`);
    expect(Object.keys(files).filter((path) => path.startsWith('chunks/'))).toEqual(paths.sort());
    expect(Object.keys(files).filter((path) => path.startsWith('archive/'))).toEqual([`archive/${gone.id}.json`]);
    const text = files[`chunks/2026-01/${one.id}.json`] as string;
    expect(text).toBe(
      `${JSON.stringify(
        live.find(({ id }) => id === one.id),
        null,
        2,
      )}\n`,
    );
    expect(JSON.parse(files['index/tag_index.json'] as string)).toMatchObject({ a: [one.id, two.id], b: [one.id] });
    expect(JSON.parse(files['index/metadata_index.json'] as string)[two.id]).toEqual({
      type: 'note',
      conversation_id: 'talk',
      created: '2026-01-01T00:01:01.001Z',
    });
    expect(JSON.parse(files['index/link_graph.json'] as string)[two.id]).toEqual({
      supports: [{ target: one.id, strength: 0.8 }],
    });
  });

  test('of nothing is an empty tree, and counts no look', async () => {
    expect(Object.keys(await unpacked(await exported()))).toHaveLength(3);
    await chunks.chunk('One');
    const before = stored(service, chunks.repoId);
    await exported();
    expect(stored(service, chunks.repoId)).toEqual(before);
  });
});

describe('a round trip', () => {
  test('into another repo is the same archive, byte by byte, and the same answers', async () => {
    await furnish();
    const bytes = await exported();
    const there = new ChunkClient(service, `${chunks.repoId}/copy`);
    const report = await imported(bytes, {}, there);
    expect(report).toEqual({ ...WELL, imported: report.imported, archived: 1, links_drawn: 3 });
    expect((await exported(there)).equals(bytes)).toBe(true);
    expect(await there.listed()).toEqual(await chunks.listed());
    expect(await there.recalled('redis')).toEqual(await chunks.recalled('redis'));
    expect((await there.getStats()).body).toEqual((await chunks.getStats()).body);
  });

  test('over a directory, where files come in the order of their names, is the same archive too', async () => {
    await furnish();
    const bytes = await exported();
    const files = await unpacked(bytes);
    const there = new ChunkClient(service, `${chunks.repoId}/copy`);
    const sorted = Object.fromEntries(Object.entries(files).sort(([a], [b]) => (a < b ? 1 : -1)));
    await imported(await packed(sorted), {}, there);
    expect((await exported(there)).equals(bytes)).toBe(true);
  });

  test('into the same repo changes nothing', async () => {
    await furnish();
    const bytes = await exported();
    const before = stored(service, chunks.repoId);
    const report = await imported(bytes);
    expect(report).toEqual({ ...WELL, unchanged: report.unchanged });
    expect(report.unchanged).toBeGreaterThan(20);
    expect(stored(service, chunks.repoId)).toEqual(before);
  });
});

describe('an import', () => {
  test('takes over all that a file says, and works out the links', async () => {
    const files = {
      [`brain/memory/chunks/2026-02/${ONE}.json`]: fileOf(ONE, { type: 'decision', links: { supports: [TWO] } }),
      [`brain/memory/chunks/2026-02/${TWO}.json`]: fileOf(TWO, {}, { created: '2026-02-10T21:38:00+00:00' }),
    };
    expect(await imported(await packed(files))).toEqual({ ...WELL, imported: 2, links_drawn: 1 });
    const [two, one] = await chunks.listed();
    expect(one).toEqual({
      ...JSON.parse(fileOf(ONE, { type: 'decision' })),
      links: { context_of: [TWO], follows: [], related_to: [], supports: [TWO], contradicts: [] },
    });
    expect(two).toMatchObject({ id: TWO, links: { follows: [ONE], supports: [] } });
  });

  test('puts into the archive what lies in the archive', async () => {
    expect(await imported(await packed({ [`archive/${ONE}.json`]: fileOf(ONE) }))).toMatchObject({ archived: 1 });
    expect(await chunks.listed()).toEqual([]);
    expect((await chunks.postRestore(ONE).expect(200)).body.content).toBe(`What ${ONE} says`);
  });

  test('draws links that do not come about by themselves, and drops those that lead nowhere', async () => {
    const links = { related_to: [TWO], contradicts: ['chunk-2026-02-09-p4q5r6s7'], context_of: ['conv-abc123'] };
    const other = { conversation_id: 'another', created: '2026-02-12T00:00:00Z' };
    const files = {
      [`chunks/2026-02/${ONE}.json`]: fileOf(ONE, { links, tags: [] }),
      [`chunks/2026-02/${TWO}.json`]: fileOf(TWO, {}, other),
    };
    expect(await imported(await packed(files))).toMatchObject({ imported: 2, links_drawn: 1, links_dropped: 2 });
    expect((await chunks.read(ONE)).links).toMatchObject({ related_to: [TWO], contradicts: [], context_of: [] });
    expect((await chunks.read(TWO)).links).toMatchObject({ related_to: [ONE] });
  });

  test('tried first says what it would do, and does nothing', async () => {
    const archive = await packed({ [`chunks/2026-02/${ONE}.json`]: fileOf(ONE), 'chunks/2026-02/bad.json': '{' });
    const before = stored(service, chunks.repoId);
    expect(await imported(archive, { dry_run: true })).toMatchObject({ dry_run: true, imported: 1, skipped_count: 1 });
    expect(stored(service, chunks.repoId)).toEqual(before);
  });

  test('keeps what is there when a file says something else, and tells', async () => {
    const path = `chunks/2026-02/${ONE}.json`;
    await imported(await packed({ [path]: fileOf(ONE) }));
    const report = await imported(await packed({ [path]: fileOf(ONE, { content: 'Changed' }) }));
    expect(report.skipped).toEqual([{ path, reason: 'is there already, and says something else there' }]);
    expect((await chunks.read(ONE)).content).toBe(`What ${ONE} says`);
  });
});

describe('what is wrong in a tree is told and skipped, and the rest is brought in', () => {
  const GOOD = `chunks/2026-02/${TWO}.json`;
  const path = `chunks/2026-02/${ONE}.json`;

  test.each<[string, string | Buffer, RegExp]>([
    ['half a file', fileOf(ONE).slice(0, 90), /not valid JSON/],
    ['an empty file', '', /not valid JSON/],
    ['bytes that are no text', Buffer.from([0x7b, 0xff, 0xfe, 0x7d]), /not valid UTF-8/],
    ['a list', '[]', /must be object/],
    ['no content', fileOf(ONE, { content: undefined }), /content/],
    ['blank content', fileOf(ONE, { content: ' \n' }), /content must contain something/],
    ['no type', fileOf(ONE, { type: undefined }), /type/],
    ['a type that there is not', fileOf(ONE, { type: 'rumour' }), /type/],
    ['too many tokens', fileOf(ONE, { tokens: 801 }), /tokens must be <= 800/],
    ['no conversation', fileOf(ONE, {}, { conversation_id: undefined }), /conversation_id/],
    ['a confidence above 1', fileOf(ONE, {}, { confidence: 1.1 }), /metadata.confidence must be <= 1/],
    ['a moment that is none', fileOf(ONE, {}, { created: 'yesterday' }), /metadata.created is not a moment/],
    ['a NUL', fileOf(ONE, { content: 'a\0b' }), /NUL/],
    ['tags that are no list', fileOf(ONE, { tags: 'a' }), /tags must be array/],
    ['another id', fileOf(TWO), /is not the name of the file/],
  ])('%s', async (_, content, reason) => {
    const report = await imported(await packed({ [path]: content, [GOOD]: fileOf(TWO) }));
    expect(report).toMatchObject({ imported: 1, skipped_count: 1, complete: true });
    expect(report.skipped[0]).toMatchObject({ path, reason: expect.stringMatching(reason) });
    expect((await chunks.listed()).map(({ id }) => id)).toEqual([TWO]);
  });

  test.each([
    '../../../etc/passwd',
    `../chunks/2026-03/${ONE}.json`,
    'chunks/2026-02/..%2f..%2fescape.json',
    `chunks/2026-02/${ONE.toUpperCase()}.json`,
    'chunks/2026-02/chunk-2026-13-40-a1b2c3d4.json',
    'notes.txt',
  ])('a path that is none of a tree: %s', async (wrong) => {
    const report = await imported(await packed({ [wrong]: fileOf(ONE), [GOOD]: fileOf(TWO) }));
    expect(report).toMatchObject({ imported: 1, skipped_count: 1 });
    expect(report.skipped[0]?.reason).toMatch(/is not where a chunk/);
  });

  test('what is no file', async () => {
    const archive = pack();
    archive.entry({ name: path, type: 'symlink', linkname: '/etc/passwd' });
    archive.entry({ name: 'chunks/2026-02', type: 'directory' });
    archive.entry({ name: GOOD }, fileOf(TWO));
    archive.finalize();
    const report = await imported(await buffer(archive));
    expect(report).toMatchObject({ imported: 1, skipped: [{ path, reason: 'is no file but a symlink' }] });
  });

  test('a chunk that is in it twice', async () => {
    const report = await imported(
      await packed({ [path]: fileOf(ONE), [`deeper/${path}`]: fileOf(ONE, { content: 'Again' }) }),
    );
    expect(report).toMatchObject({ imported: 1, skipped: [{ reason: 'is in the tree a second time' }] });
  });

  test('an archive that ends in the middle: what came before is kept, and the answer says so', async () => {
    const whole = await packed({ [GOOD]: fileOf(TWO), [path]: fileOf(ONE) });
    const report = await imported(whole.subarray(0, whole.length - 1_800));
    expect(report).toMatchObject({ imported: 1, complete: false });
    expect((await chunks.listed()).map(({ id }) => id)).toEqual([TWO]);
  });

  test('an archive that is none', async () => {
    const report = await imported(Buffer.from('this is no archive at all '.repeat(100)));
    expect(report).toMatchObject({ imported: 0, complete: false, skipped: [{ path: 'the archive' }] });
  });

  test('an index of somebody else is worked out anew', async () => {
    const files = { 'index/link_graph.json': '{"nodes": [1, 2]}', 'index/tag_index.json': 'x', [GOOD]: fileOf(TWO) };
    expect(await imported(await packed(files))).toEqual({ ...WELL, imported: 1 });
  });
});

test('another content type is refused, with what to send', async () => {
  const { body } = await service.http.post('/chunks/import').set('content-type', 'text/plain').send('x').expect(415);
  expect(body).toMatchObject({ code: 'unsupported_media_type', detail: expect.stringContaining('application/x-tar') });
});

test('without a body there is no archive, and that is told', async () => {
  const report = await imported(Buffer.alloc(0));
  const skipped = [{ path: 'the archive', reason: 'holds no file; send a tar archive as the body' }];
  expect(report).toEqual({ ...WELL, skipped, skipped_count: 1, complete: false });
});
