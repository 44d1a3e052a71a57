import { describe, expect, test } from 'vitest';
import type { Change } from '../../../src/domain/changes.js';
import type { EntryType } from '../../../src/domain/entries.js';
import type { NodeFields } from '../../../src/domain/node.js';
import type { EntryFilter, EntrySort, StoredEntry } from '../../../src/storage/port.js';
import { ANY_ENTRY, entry, entryDetail } from '../../support/journal.js';
import { concept, idOf, move, OTHER_REPO, patch, REPO, START_MS } from '../../support/plans.js';
import { expectConflict, type Subject } from './subject.js';

const numbersOf = (ids: readonly string[]): number[] => ids.map((id) => Number(id.slice(-12)));
const purge = (number: number): Change => ({
  change: 'purge_node',
  nodeId: idOf(number),
  repoId: REPO,
  expectedRevision: null,
  atMs: START_MS,
});
const room = (type: EntryType, entriesMax: number, bytesMax = 1_000): Change => ({
  change: 'expect_room',
  type,
  entriesMax,
  bytesMax,
});
const done = (completedAtMs: number) =>
  ({ status: 'completed', completedAtMs, blockers: null, outcome: null }) as const;

export function entries(subject: Subject): void {
  const get = async (number: number): Promise<StoredEntry> =>
    (await subject.store.entries.getEntries(REPO, [idOf(number)]))[0] as StoredEntry;
  const found = async (filter: Partial<EntryFilter> = {}, sort: EntrySort = { by: 'created_at', order: 'asc' }) =>
    numbersOf(await subject.store.entries.findEntries(REPO, { ...ANY_ENTRY, ...filter }, sort));

  describe('an entry', () => {
    test('is given back as it was written, over a restart too', async () => {
      const task = {
        status: 'blocked',
        completedAtMs: null,
        blockers: ['a "quoted" one', '数据'],
        outcome: null,
      } as const;
      const content = `'quoted' "text" %_ é 数据 🙂\n`;
      const fields = {
        type: 'task',
        content,
        category: 'c',
        importance: 'high',
        tags: ['b', 'a'],
        bytes: 7,
        task,
      } as const;
      await subject.apply(entry(idOf(1), fields));
      const expected = {
        id: idOf(1),
        seq: expect.any(Number),
        repoId: REPO,
        type: 'task',
        content,
        category: 'c',
        importance: 'high',
        task,
        tags: ['b', 'a'],
        archived: false,
        revision: 1,
        createdAtMs: START_MS,
        updatedAtMs: START_MS,
        accessedAtMs: START_MS,
        accessCount: 0,
      };
      expect(await get(1)).toEqual(expected);
      await subject.reopen();
      expect(await get(1)).toEqual(expected);
    });

    test('is given once however often it is asked for, archived or not, and nobody for an unknown id', async () => {
      await subject.apply(entry(idOf(1)), entry(idOf(2)), entry(idOf(3)), concept(idOf(4)));
      await subject.apply(move(idOf(2)));
      const ids = [2, 9, 1, 2, 4].map(idOf);
      const given = await subject.store.entries.getEntries(REPO, [...ids, '']);
      expect(numbersOf(given.map(({ id }) => id)).sort()).toEqual([1, 2]);
      expect(await subject.store.entries.getEntries(REPO, [])).toEqual([]);
      expect(await subject.store.entries.getEntries(OTHER_REPO, ids)).toEqual([]);
    });

    test('counts each look at once, and keeps it over a restart', async () => {
      await subject.apply(entry(idOf(1)), entry(idOf(2)));
      subject.store.noteAccess(REPO, [idOf(1)], START_MS + 5);
      subject.store.noteAccess(REPO, [idOf(1)], START_MS + 9);
      const looked = { accessCount: 2, accessedAtMs: START_MS + 9, updatedAtMs: START_MS };
      expect(await get(1)).toMatchObject(looked);
      expect(await get(2)).toMatchObject({ accessCount: 0, accessedAtMs: START_MS });
      await subject.reopen();
      expect(await get(1)).toMatchObject(looked);
    });

    test('is changed with its detail, and keeps whose it is and when it was', async () => {
      await subject.apply(entry(idOf(1), { tags: ['old'], category: 'old', importance: 'low' }));
      const detail = entryDetail({ tags: ['new'], importance: 'high', bytes: 50 });
      const fields: NodeFields = { content: 'new', terms: ['new'], tags: ['new'], detail };
      await subject.apply(patch(idOf(1), fields, { atMs: START_MS + 9 }));
      expect(await get(1)).toMatchObject({
        content: 'new',
        category: null,
        tags: ['new'],
        importance: 'high',
        archived: false,
        revision: 2,
        createdAtMs: START_MS,
        updatedAtMs: START_MS + 9,
      });
      expect(await found({ tags: ['old'] })).toEqual([]);
      expect(await found({ tags: ['new'], importance: 'high' })).toEqual([1]);
      expect(await found({ category: 'old' })).toEqual([]);
    });

    test('is refused under an id that is taken, with all that comes with it', async () => {
      await subject.apply(entry(idOf(1), { content: 'First' }));
      await expectConflict(subject.apply(entry(idOf(2)), entry(idOf(1), { content: 'Second' })), 'id_taken');
      expect((await get(1)).content).toBe('First');
      expect(await found()).toEqual([1]);
    });

    test('knows whether it is in the archive, whoever put it there', async () => {
      await subject.apply(entry(idOf(1)));
      await subject.apply(move(idOf(1), { atMs: START_MS + 1 }));
      expect(await get(1)).toMatchObject({ archived: true, updatedAtMs: START_MS + 1 });
      await subject.apply(move(idOf(1), { from: 'archive', to: 'longterm', atMs: START_MS + 2 }));
      expect(await get(1)).toMatchObject({ archived: false, updatedAtMs: START_MS + 2 });
    });

    test('that is removed is gone from everything', async () => {
      await subject.apply(entry(idOf(1), { tags: ['a'] }), entry(idOf(2)));
      await subject.apply(purge(1));
      expect(await get(1)).toBeUndefined();
      expect(await found({ includeArchived: true })).toEqual([2]);
      expect(await subject.store.entries.countEntries(REPO)).toMatchObject({ bytes: 100, topTags: [], archived: 0 });
    });
  });

  describe('a list of entries', () => {
    const furnish = async () => {
      const at = (ms: number) => ({ createdAtMs: START_MS + ms });
      await subject.apply(
        entry(idOf(1), { type: 'core', category: 'a', tags: ['x'], importance: 'high', content: 'Café one', ...at(0) }),
        entry(idOf(2), { type: 'core', tags: ['x', 'y'], importance: 'low', content: 'cafe\u0301 two', ...at(1) }),
        entry(idOf(3), { type: 'task', category: 'a', task: done(START_MS - 5), content: 'three', ...at(2) }),
        entry(idOf(4), { type: 'task', task: done(START_MS - 9), importance: 'high', content: 'four', ...at(3) }),
        entry(idOf(5), { type: 'task', content: 'five', ...at(4) }),
        entry(idOf(6), { tags: ['y', 'x'], content: 'six', ...at(5) }),
        concept(idOf(7), { content: 'one', tags: ['x'] }),
      );
      await subject.apply(move(idOf(6)));
      subject.store.noteAccess(REPO, [idOf(2)], START_MS + 100);
      subject.store.noteAccess(REPO, [idOf(1)], START_MS + 50);
      subject.store.noteAccess(REPO, [idOf(1)], START_MS + 60);
    };

    test('has those that fit, and no other node', async () => {
      await furnish();
      const cases: [Partial<EntryFilter>, number[]][] = [
        [{}, [1, 2, 3, 4, 5]],
        [{ includeArchived: true }, [1, 2, 3, 4, 5, 6]],
        [{ type: 'core' }, [1, 2]],
        [{ type: 'learning' }, []],
        [{ type: 'learning', includeArchived: true }, [6]],
        [{ tags: ['x'] }, [1, 2]],
        [{ tags: ['x', 'y'] }, [2]],
        [{ tags: ['y', 'x'], includeArchived: true }, [2, 6]],
        [{ tags: ['nobody', 'x'] }, []],
        [{ category: 'a' }, [1, 3]],
        [{ category: '' }, []],
        [{ importance: 'high' }, [1, 4]],
        [{ importance: 'medium', type: 'task' }, [3, 5]],
        [{ search: 'CAFÉ' }, [1, 2]],
        [{ search: 'cafe\u0301 O' }, [1]],
        [{ search: 'cafe' }, []],
        [{ search: '%' }, []],
        [{ status: 'completed' }, [3, 4]],
        [{ status: 'in-progress', type: 'task' }, [5]],
        [{ status: 'blocked' }, []],
        [{ completedSinceMs: START_MS - 9 }, [3, 4]],
        [{ completedSinceMs: START_MS - 8 }, [3]],
        [{ activeSinceMs: START_MS + 4 }, [1, 2, 5]],
        [{ activeSinceMs: START_MS + 61 }, [2]],
        [{ activeSinceMs: START_MS + 101 }, []],
      ];
      for (const [filter, expected] of cases) expect([filter, await found(filter)]).toEqual([filter, expected]);
      expect(
        await subject.store.entries.findEntries(OTHER_REPO, ANY_ENTRY, { by: 'created_at', order: 'asc' }),
      ).toEqual([]);
    });

    test('is in the order asked for, in both directions', async () => {
      await furnish();
      await subject.apply(
        patch(idOf(3), { detail: entryDetail({ type: 'task', task: done(START_MS - 5) }) }, { atMs: START_MS + 70 }),
      );
      const cases: [EntrySort['by'], Partial<EntryFilter>, number[]][] = [
        ['created_at', {}, [5, 4, 3, 2, 1]],
        ['updated_at', {}, [3, 5, 4, 2, 1]],
        ['accessed_at', {}, [2, 1, 5, 4, 3]],
        ['access_count', { type: 'core' }, [1, 2]],
        ['importance', { type: 'core' }, [1, 2]],
        ['completed_at', { status: 'completed' }, [3, 4]],
      ];
      for (const [by, filter, expected] of cases) {
        expect([by, await found(filter, { by, order: 'desc' })]).toEqual([by, expected]);
        expect([by, await found(filter, { by, order: 'asc' })]).toEqual([by, expected.toReversed()]);
      }
    });
  });

  describe('where room is expected', () => {
    test('nothing is done if there are more than may be, of that type, live ones only', async () => {
      await subject.apply(entry(idOf(1)), entry(idOf(2)), room('learning', 2));
      await expectConflict(subject.apply(entry(idOf(3)), room('learning', 2)), 'no_room');
      expect(await found()).toEqual([1, 2]);
      await subject.apply(entry(idOf(4), { type: 'task' }), room('task', 1));
      await subject.apply(entry(idOf(3)), move(idOf(1)), room('learning', 2));
      expect(await found()).toEqual([2, 4, 3]);
    });

    test('the bytes count as well, to the last', async () => {
      await subject.apply(entry(idOf(1), { bytes: 60 }), room('learning', 9, 60));
      await expectConflict(subject.apply(entry(idOf(2), { bytes: 41 }), room('learning', 9, 100)), 'no_room');
      await subject.apply(entry(idOf(2), { bytes: 40 }), room('learning', 9, 100));
      const detail = entryDetail({ bytes: 41 });
      await expectConflict(subject.apply(patch(idOf(2), { detail }), room('learning', 9, 100)), 'no_room');
      expect(await subject.store.entries.countEntries(REPO)).toMatchObject({ bytes: 100 });
    });

    test('the live ones of a type are told as they are weighed', async () => {
      await subject.apply(
        entry(idOf(1), { type: 'task', bytes: 60, task: done(START_MS - 5) }),
        entry(idOf(2), { type: 'task' }),
        entry(idOf(3), { type: 'task' }),
        entry(idOf(4)),
      );
      await subject.apply(move(idOf(3)));
      subject.store.noteAccess(REPO, [idOf(2)], START_MS + 9);
      const told = await subject.store.entries.listIdle(REPO, 'task');
      expect(told.toSorted((a, b) => (a.id < b.id ? -1 : 1))).toEqual([
        {
          id: idOf(1),
          bytes: 60,
          status: 'completed',
          completedAtMs: START_MS - 5,
          accessedAtMs: START_MS,
          accessCount: 0,
        },
        { id: idOf(2), bytes: 100, status: null, completedAtMs: null, accessedAtMs: START_MS + 9, accessCount: 1 },
      ]);
      expect(await subject.store.entries.listIdle(OTHER_REPO, 'task')).toEqual([]);
    });
  });

  test('the counts of a repo in which there is nothing are noughts', async () => {
    expect(await subject.store.entries.countEntries(OTHER_REPO)).toEqual({
      byType: { core: 0, learning: 0, task: 0 },
      byImportance: { high: 0, medium: 0, low: 0 },
      archived: 0,
      bytes: 0,
      oldestAtMs: null,
      newestAtMs: null,
      mostAccessedId: null,
      topTags: [],
      lastUpdatedAtMs: null,
      live: [],
    });
  });

  test('the counts follow what comes, changes, is put away and goes', async () => {
    const counts = () => subject.store.entries.countEntries(REPO);
    await subject.apply(
      entry(idOf(1), { type: 'core', tags: ['b', 'a'], category: 'c', importance: 'high', bytes: 10 }),
      entry(idOf(2), { tags: ['b'], bytes: 20, createdAtMs: START_MS + 5 }),
      concept(idOf(3), { tags: ['b'] }),
    );
    subject.store.noteAccess(REPO, [idOf(2)], START_MS + 9);
    const first = { id: idOf(1), tags: ['b', 'a'], category: 'c', importance: 'high' };
    const second = { id: idOf(2), tags: ['b'], category: null, importance: 'medium' };
    expect(await counts()).toEqual({
      byType: { core: 1, learning: 1, task: 0 },
      byImportance: { high: 1, medium: 1, low: 0 },
      archived: 0,
      bytes: 30,
      oldestAtMs: START_MS,
      newestAtMs: START_MS + 5,
      mostAccessedId: idOf(2),
      topTags: [
        { tag: 'b', count: 2 },
        { tag: 'a', count: 1 },
      ],
      lastUpdatedAtMs: START_MS + 5,
      live: [first, second],
    });
    await subject.apply(move(idOf(2), { atMs: START_MS + 20 }));
    const archived = {
      byType: { core: 1, learning: 0, task: 0 },
      byImportance: { high: 1, medium: 0, low: 0 },
      archived: 1,
      bytes: 30,
      newestAtMs: START_MS,
      mostAccessedId: null,
      lastUpdatedAtMs: START_MS + 20,
      live: [first],
    };
    expect(await counts()).toMatchObject(archived);
    await subject.reopen();
    expect(await counts()).toMatchObject(archived);
    await subject.apply(purge(2), purge(1));
    expect(await counts()).toMatchObject({ archived: 0, bytes: 0, live: [], lastUpdatedAtMs: null, oldestAtMs: null });
  });
}
