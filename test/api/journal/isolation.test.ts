import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type EntryReport, JournalClient } from '../../support/journal.js';
import { expectRefused, GraphClient, idsOf } from '../../support/nodes.js';
import { recall } from '../../support/requests.js';
import { tables } from '../../support/rows.js';
import { type Service, startService } from '../../support/service.js';

/** Two repos with the same words in them; what one of them holds must not show in the other. */

let service: Service;
let mine: JournalClient;
let theirs: JournalClient;
let own: EntryReport;
let foreign: EntryReport[];
const SECRET = 'zyqsecret';
const SHARED = { tags: ['shared'], category: 'shared', importance: 'high' };
beforeAll(async () => {
  service = await startService({ JOURNAL_CORE_MAX: '1' });
  mine = new JournalClient(service, 'acme/mine');
  theirs = new JournalClient(service, 'acme/theirs');
  own = await mine.entry('The heron fishes', { ...SHARED, type: 'core' });
  foreign = [
    await theirs.entry(`The heron fishes for the ${SECRET}`, { ...SHARED, type: 'core' }),
    await theirs.entry(`We do not say ${SECRET}`, { ...SHARED, tags: ['shared', SECRET], category: SECRET }),
    await theirs.entry(`Done with ${SECRET}`, {
      ...SHARED,
      type: 'task',
      task_metadata: { status: 'completed', outcome: SECRET },
    }),
  ];
  const { id } = await theirs.entry(`Put away ${SECRET}`, SHARED);
  await theirs.remove(id);
});
afterAll(() => service.stop());

describe('nothing of another repo is seen', () => {
  const ask: [string, () => Promise<{ body: unknown }>][] = [
    ['list', () => mine.getEntries({ archived: true, limit: 100 }).expect(200)],
    ['list by tag', () => mine.getEntries({ tags: 'shared' }).expect(200)],
    ['list by category', () => mine.getEntries({ category: 'shared' }).expect(200)],
    ['search', () => mine.getEntries({ search: SECRET }).expect(200)],
    ['stats', () => mine.getStats().expect(200)],
    ...['recent', 'core', 'learnings', 'tasks-active', 'tasks-completed'].map(
      (view): [string, () => Promise<{ body: unknown }>] => [`view ${view}`, () => mine.getView(view).expect(200)],
    ),
    ['refusal where it is full', () => mine.postEntry({ type: 'core' }).expect(507)],
    ['read', async () => ({ body: await recall(service, 'heron', {}, mine.repoId) })],
  ];

  test.each(ask)('by %s', async (_, request) => {
    const text = JSON.stringify((await request()).body);
    expect(text).not.toContain(SECRET);
    for (const id of idsOf(foreign)) expect(text).not.toContain(id);
  });

  test('in what is counted', async () => {
    expect((await mine.stats()).statistics).toMatchObject({ total_memories: 1, archived_count: 0 });
    expect((await mine.page({ archived: true })).total).toBe(1);
    expect((await mine.view('recent')).count).toBe(1);
  });
});

describe('an entry of another repo', () => {
  test('is not found, and is neither changed nor looked at', async () => {
    const before = tables(service, theirs.repoId);
    for (const { id } of foreign) {
      const type = 'learning';
      const requests = [
        () => mine.getEntry(id),
        () => mine.patchEntry(id, { content: 'Changed' }),
        () => mine.patchEntry(id, { archived: true }),
        () => mine.deleteEntry(id),
        () => mine.deleteEntry(id, { permanent: true }),
        () => mine.postEntry({ id, type, content: 'Changed' }),
      ];
      for (const request of requests) {
        expect((await expectRefused(service, request(), 404, mine.repoId)).code).toBe('not_found');
      }
    }
    expect(tables(service, theirs.repoId)).toEqual(before);
  });

  test('goes with its repo, and nothing else does', async () => {
    const dropped = new JournalClient(service, 'acme/dropped');
    const { id } = await dropped.entry('Dropped');
    await dropped.read(id);
    const confirm = dropped.repoId;
    await service.http
      .delete(`/repos/${encodeURIComponent(confirm)}`)
      .query({ confirm })
      .expect(200);
    expect(await dropped.page({ archived: true })).toMatchObject({ memories: [], total: 0 });
    await dropped.getEntry(id).expect(404);
    expect((await mine.read(own.id)).content).toBe('The heron fishes');
    await new GraphClient(service, mine.repoId).getNode(own.id).expect(200);
  });
});
