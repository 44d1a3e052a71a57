import { describe, expect, test } from 'vitest';
import { GLOBAL_SPACE, type View, viewOf } from '../../../src/domain/spaces.js';
import { MEMORY_KINDS } from '../../../src/domain/vocabulary.js';
import { idOf, insert, insertGlobal, link, memoryOf, move, OTHER_REPO, REPO, START_MS } from '../../support/plans.js';
import { ALL_IDS, type Subject } from './subject.js';

const minutes = (count: number): number => START_MS + count * 60_000;

export function memories(subject: Subject): void {
  test('a memory comes back as it was written', async () => {
    const memory = memoryOf(idOf(1), {
      kind: 'failed_tactic',
      type: 'experience',
      content: ` 'quoted' "text"; -- \\ %_ \n\t é 数据 🙂 `,
      confidence: 0.123456789,
      tier: 'session',
      rationale: 'because\nof this',
      revision: 1,
      createdAtMs: START_MS + 7,
      updatedAtMs: START_MS + 7,
    });
    await subject.apply({ change: 'insert_memory', memory, terms: ['text'], refuseDuplicate: true });
    expect(await subject.store.getMemories(viewOf(REPO), [idOf(1)])).toEqual([
      { ...memory, archived: false, archivedFrom: null },
    ]);
  });

  test.each(MEMORY_KINDS)('a memory of kind %s can be kept, without confidence or rationale too', async (kind) => {
    await subject.apply(insert(idOf(1), { kind, confidence: null }));
    const [memory] = await subject.store.getMemories(viewOf(REPO), [idOf(1)]);
    expect(memory).toMatchObject({ kind, confidence: null, rationale: null });
  });

  test('a brief says the same, as far as it goes', async () => {
    await subject.apply(insert(idOf(1), { kind: 'problem', content: 'Redis' }), insert(idOf(2)), move(idOf(2)));
    const view = viewOf(REPO, { includeArchived: true });
    const memoryOf = new Map((await subject.store.getMemories(view, ALL_IDS)).map((memory) => [memory.id, memory]));
    const briefs = await subject.store.getBriefs(view, ALL_IDS);
    expect(briefs).toHaveLength(2);
    for (const brief of briefs) expect(memoryOf.get(brief.id)).toMatchObject(brief);
    expect(briefs.map(({ archived }) => archived).sort()).toEqual([false, true]);
  });

  test('no ids, unknown ids and odd ids find nothing', async () => {
    await subject.apply(insert(idOf(1)));
    expect(await subject.shownIn(viewOf(REPO), [])).toEqual([]);
    expect(await subject.shownIn(viewOf(REPO), [idOf(2), '', `' OR 1=1`, '["x"]', '🙂'])).toEqual([]);
  });

  test('an id that is asked for twice is answered once', async () => {
    await subject.apply(insert(idOf(1)));
    expect(await subject.shownIn(viewOf(REPO), [idOf(1), idOf(1)])).toEqual([idOf(1)]);
    expect(await subject.store.getBriefs(viewOf(REPO), [idOf(1), idOf(1)])).toHaveLength(1);
  });

  describe('a view shows', () => {
    const written = async (): Promise<void> => {
      await subject.applyGlobal(insertGlobal(idOf(1)));
      await subject.apply(
        insert(idOf(2), { kind: 'problem' }),
        insert(idOf(3), { createdAtMs: minutes(10) }),
        insert(idOf(4)),
        move(idOf(4), { atMs: minutes(20) }),
        // A repo that refers to a global memory still does not hold it.
        link('related_to', [idOf(3), idOf(1)]),
      );
      await subject.applyIn(OTHER_REPO, insert(idOf(5), { repoId: OTHER_REPO }));
    };

    const only = (space: string): View => ({ ...viewOf(space), spaces: [space] });
    const rows: [string, View, number[]][] = [
      ['its repo and the global space, without the archive', viewOf(REPO), [1, 2, 3]],
      ['its repo alone', viewOf(REPO, { includeGlobal: false }), [2, 3]],
      ['the global space alone', only(GLOBAL_SPACE), [1]],
      ['another repo and the global space', viewOf(OTHER_REPO), [1, 5]],
      ['from a repo that nobody wrote to, the global space', viewOf('acme/unknown'), [1]],
      ['no space, no memory', { ...viewOf(REPO), spaces: [] }, []],
      ['the archive too', viewOf(REPO, { includeArchived: true }), [1, 2, 3, 4]],
      ['the kinds it names', viewOf(REPO, { kinds: ['problem'] }), [2]],
      ['all the kinds it names', viewOf(REPO, { kinds: ['problem', 'fact'] }), [1, 2, 3]],
      ['nothing of other kinds', viewOf(REPO, { kinds: ['change'] }), []],
      ['nothing for no kinds', viewOf(REPO, { kinds: [] }), []],
      ['nothing before the first write', viewOf(REPO, { asOfMs: START_MS - 1 }), []],
      ['what was written at that very moment', viewOf(REPO, { asOfMs: START_MS }), [1, 2, 4]],
      ['what was not archived yet', viewOf(REPO, { asOfMs: minutes(20) - 1 }), [1, 2, 3, 4]],
      ['what was archived at that very moment no more', viewOf(REPO, { asOfMs: minutes(20) }), [1, 2, 3]],
      ['what was archived, when asked for', viewOf(REPO, { asOfMs: minutes(20), includeArchived: true }), [1, 2, 3, 4]],
      ['moment, kinds and archive together', viewOf(REPO, { asOfMs: minutes(5), kinds: ['fact'] }), [1, 4]],
    ];
    test.each(rows)('%s', async (_, view, numbers) => {
      await written();
      expect(await subject.shownIn(view)).toEqual(numbers.map(idOf));
      const briefs = await subject.store.getBriefs(view, ALL_IDS);
      expect(briefs.map(({ id }) => id).sort()).toEqual(numbers.map(idOf));
    });
  });

  describe('moving between tiers', () => {
    const archived = (atMs: number) => move(idOf(1), { from: 'session', atMs, reason: 'no longer true' });
    const restored = (atMs: number) => move(idOf(1), { from: 'archive', to: 'session', atMs });

    test('an archived memory says since when, from where and why, and is otherwise untouched', async () => {
      await subject.apply(insert(idOf(1), { tier: 'session' }));
      const [before] = await subject.store.getMemories(viewOf(REPO), [idOf(1)]);
      await subject.apply(archived(minutes(5)));
      const [after] = await subject.store.getMemories(viewOf(REPO, { includeArchived: true }), [idOf(1)]);
      expect(after).toEqual({
        ...before,
        tier: 'archive',
        archived: true,
        archivedFrom: 'session',
        archivedAtMs: minutes(5),
        archiveReason: 'no longer true',
        revision: 2,
        updatedAtMs: minutes(5),
      });
    });

    test('a restored one is back where it was, and nothing of the archive clings to it', async () => {
      await subject.apply(insert(idOf(1), { tier: 'session' }), archived(minutes(5)), restored(minutes(6)));
      expect(await subject.store.getMemories(viewOf(REPO), [idOf(1)])).toMatchObject([
        { tier: 'session', archived: false, archivedFrom: null, archivedAtMs: null, archiveReason: null, revision: 3 },
      ]);
    });

    test('every past moment shows the tier of that moment', async () => {
      await subject.apply(insert(idOf(1), { tier: 'session' }));
      await subject.apply(archived(minutes(10)));
      await subject.apply(restored(minutes(20)));
      await subject.apply(archived(minutes(30)));
      for (const [minute, isArchived] of [
        [0, false],
        [10, true],
        [19, true],
        [20, false],
        [29, false],
        [30, true],
      ] as const) {
        const view = viewOf(REPO, { asOfMs: minutes(minute) });
        expect(await subject.shownIn(view), `minute ${minute}`).toEqual(isArchived ? [] : [idOf(1)]);
        const all = await subject.store.getMemories({ ...view, includeArchived: true }, [idOf(1)]);
        expect(all.map((memory) => memory.archived)).toEqual([isArchived]);
        const briefs = await subject.store.getBriefs({ ...view, includeArchived: true }, [idOf(1)]);
        expect(briefs.map((brief) => brief.archived)).toEqual([isArchived]);
      }
    });

    test('moves within the same moment count in the order they were made', async () => {
      await subject.apply(insert(idOf(1), { tier: 'session' }), archived(minutes(1)), restored(minutes(1)));
      expect(await subject.shownIn(viewOf(REPO, { asOfMs: minutes(1) }))).toEqual([idOf(1)]);
    });

    test('a move between live tiers is none into the archive', async () => {
      await subject.apply(insert(idOf(1), { tier: 'task' }), move(idOf(1), { from: 'task', to: 'longterm' }));
      const [memory] = await subject.store.getMemories(viewOf(REPO), [idOf(1)]);
      expect(memory).toMatchObject({ tier: 'longterm', archived: false, archivedAtMs: null });
    });
  });

  test('reading changes nothing', async () => {
    await subject.apply(...ALL_IDS.map((id) => insert(id)));
    const first = await subject.store.getMemories(viewOf(REPO), ALL_IDS);
    expect(await subject.store.getMemories(viewOf(REPO), ALL_IDS)).toEqual(first);
  });
}
