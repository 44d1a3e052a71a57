import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type AgentReport, actionOf, EpisodeClient } from '../../support/episodes.js';
import { idsOf } from '../../support/nodes.js';
import { type Service, startService } from '../../support/service.js';

let service: Service;
let client: EpisodeClient;
let agent: AgentReport;
beforeAll(async () => {
  service = await startService();
  client = new EpisodeClient(service);
  agent = (await client.register()).agent;
});
afterAll(() => service.stop());

const did = (type: string, path?: string) => actionOf({ type, details: path === undefined ? {} : { file_path: path } });
const saw = (...paths: string[]) => ({
  relevant_files: paths.map((path) => ({ path, relevance: 'r', state_summary: 's' })),
});
const storeOn = (...paths: string[]) =>
  client.store(agent.id, { actions: paths.map((path) => did('file_edit', path)) });
const byPath = (files: readonly { path: string; operation: string }[]) =>
  Object.fromEntries(files.map(({ path, operation }) => [path, operation]));

describe('3e.9 an episode is indexed by its files', () => {
  test('from its actions and its perception, each with what was done to it', async () => {
    const { body } = await client
      .postEpisode({
        agent_id: agent.id,
        actions: [
          did('file_read', 'a/read.ts'),
          did('file_edit', 'a/edit.ts'),
          did('file_create', 'a/create.ts'),
          did('file_delete', 'a/delete.ts'),
          did('command_run', 'a/run.ts'),
          did('search'),
        ],
        perception: saw('a/seen.ts'),
      })
      .expect(201);
    expect(byPath(body.memory.files)).toEqual({
      'a/read.ts': 'read',
      'a/edit.ts': 'edit',
      'a/create.ts': 'create',
      'a/delete.ts': 'delete',
      'a/run.ts': 'relevant',
      'a/seen.ts': 'relevant',
    });
    expect([...body.indexed_files].sort()).toEqual(Object.keys(byPath(body.memory.files)).sort());
  });

  test.each([
    [['file_read', 'file_edit'], 'edit'],
    [['file_edit', 'file_read'], 'edit'],
    [['file_delete', 'file_create', 'file_edit', 'file_read'], 'delete'],
    [['file_create', 'file_edit'], 'create'],
    [['command_run'], 'relevant'],
    [['command_run', 'file_read'], 'read'],
  ])('once, with the strongest of %j', async (types, operation) => {
    const { body } = await client
      .postEpisode({
        agent_id: agent.id,
        actions: types.map((type) => did(type, 'b/one.ts')),
        perception: saw('b/one.ts'),
      })
      .expect(201);
    expect(body.indexed_files).toEqual(['b/one.ts']);
    expect(body.memory.files).toEqual([{ path: 'b/one.ts', operation }]);
  });

  test('by one path, however it is written', async () => {
    const { body } = await client
      .postEpisode({
        agent_id: agent.id,
        actions: [did('file_read', './c//one.ts'), did('file_edit', 'c\\one.ts'), did('file_read', ' c/./one.ts ')],
        perception: saw('c/one.ts', '', '  ', './'),
      })
      .expect(201);
    expect(body.memory.files).toEqual([{ path: 'c/one.ts', operation: 'edit' }]);
    expect(body.memory.actions[0].details.file_path).toBe('./c//one.ts');
  });
});

describe('3e.9 a list by file', () => {
  const found = async (file: string) => idsOf(await client.listed({ file, limit: 200 }));

  test('finds a path by itself, by its end, and by more of it than was stored', async () => {
    const short = await storeOn('auth/login.ts');
    const long = await storeOn('/home/ada/app/auth/login.ts');
    const other = await storeOn('auth/xlogin.ts', 'auth/login.tsx', 'login.ts/auth', 'oauth/login.ts');
    for (const file of ['auth/login.ts', './auth/login.ts', 'auth\\login.ts']) {
      expect(await found(file), file).toEqual([long.id, short.id]);
    }
    expect((await found('login.ts')).sort()).toEqual([short.id, long.id, other.id].sort());
    expect(await found('/home/ada/app/auth/login.ts')).toEqual([long.id, short.id]);
    expect(await found('ogin.ts')).toEqual([]);
    expect(await found('auth')).toEqual([other.id]);
    expect(await found('nobody/login.rs')).toEqual([]);
  });

  /** Characters that mean something to SQL, to LIKE, to GLOB or to regular expressions, and mean only themselves here. */
  test.each([
    ['d/100%.ts', 'd/100x.ts'],
    ['d/a_b.ts', 'd/axb.ts'],
    ['d/[id].ts', 'd/i.ts'],
    ["d/it's.ts", 'd/its.ts'],
    ['d/"q".ts', 'd/q.ts'],
    ['d/a.b', 'd/axb'],
    ['d/(a|b)+$.ts', 'd/a.ts'],
    ['d/^x{2}.ts', 'd/xx.ts'],
    ['d/ü 漢 🧠.ts', 'd/u.ts'],
  ])('takes %j as it is written', async (path, alike) => {
    const { id } = await storeOn(path);
    const other = await storeOn(alike);
    for (const file of [path, path.slice(2), path.replace(/\.?[^.]*$/, '*'), `**/${path.slice(2)}`]) {
      const ids = await found(file);
      expect(ids, file).toContain(id);
      if (!file.includes('*')) expect(ids, file).not.toContain(other.id);
    }
  });

  test('understands globs: * within a directory, ** through all of them, ? for one character', async () => {
    const top = await storeOn('e/top.ts');
    const deep = await storeOn('e/x/y/deep.ts');
    const doc = await storeOn('e/x/doc.md');
    const sorted = (...episodes: { id: string }[]) => idsOf(episodes).sort();
    for (const [glob, ids] of [
      ['e/*.ts', sorted(top)],
      ['e/**/*.ts', sorted(top, deep)],
      ['e/**', sorted(top, deep, doc)],
      ['e/*', sorted(top)],
      ['e/x/*', sorted(doc)],
      ['e/*/*/deep.ts', sorted(deep)],
      ['e/t?p.ts', sorted(top)],
      ['e/t?.ts', []],
      ['e?top.ts', []],
      ['**/doc.md', sorted(doc)],
      ['./e/*.ts', sorted(top)],
      ['e/[a-z]*.ts', []],
    ] as const) {
      expect((await found(glob)).sort(), glob).toEqual(ids);
    }
  });

  test('refuses a glob that would take long, wherever one is taken, and says what is allowed', async () => {
    const file = '*a'.repeat(17);
    const refusals = [
      await client.getEpisodes({ file }).expect(422),
      await client.postRecall({ file }).expect(422),
      await service.http.post('/files/check').send({ file_path: file }).expect(422),
    ];
    expect(refusals.map(({ body }) => body.errors)).toEqual(
      ['file', 'file', 'file_path'].map((field) => [
        { field, code: 'semantic_error', message: expect.stringContaining('at most 16') },
      ]),
    );
    await client.getEpisodes({ file: `*${'a'.repeat(500)}` }).expect(422);
    await client.getEpisodes({ file: `**${'*'.repeat(600)}/a.ts` }).expect(200);
  });

  test('names an episode once, of however many files that fit', async () => {
    const { id } = await storeOn('f/one.ts', 'f/two.ts', 'f/three.ts');
    expect(await found('f/*')).toEqual([id]);
  });

  test('of nothing but white space finds nothing', async () => {
    expect(await found(' ')).toEqual([]);
  });
});
