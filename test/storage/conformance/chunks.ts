import { describe, expect, test } from 'vitest';
import { chunkTerms } from '../../../src/domain/chunks.js';
import { indexTerms } from '../../../src/domain/terms.js';
import type { ChunkFilter, ChunkPlace, StoredChunk } from '../../../src/storage/port.js';
import { ANY_CHUNK, chunk } from '../../support/chunks.js';
import { concept, idOf, move, OTHER_REPO, patch, REPO, START_MS } from '../../support/plans.js';
import { expectConflict, MANY, type Subject } from './subject.js';

const chunkId = (number: number): string => `chunk-2026-01-01-${String(number).padStart(8, '0')}`;
const said = (number: number, fields: Parameters<typeof chunk>[1] = {}) => chunk(chunkId(number), fields);
const archived = (number: number) => move(chunkId(number));
const purge = (number: number) =>
  ({ change: 'purge_node', nodeId: chunkId(number), repoId: REPO, expectedRevision: null, atMs: START_MS }) as const;

const numbersOf = (found: readonly { id: string }[]): number[] => found.map(({ id }) => Number(id.slice(-8)));

export function chunks(subject: Subject): void {
  const get = async (number: number, includeArchived = true): Promise<StoredChunk> =>
    (await subject.store.chunks.getChunks(REPO, [chunkId(number)], includeArchived))[0] as StoredChunk;
  const listed = async (filter: Partial<ChunkFilter> = {}, after: ChunkPlace | null = null, limit = MANY) =>
    numbersOf(await subject.store.chunks.listChunks(REPO, { ...ANY_CHUNK, ...filter }, after, limit));
  const membersOf = async (): Promise<number[][]> =>
    (await subject.store.listEdges(REPO, { type: 'context', label: 'context_of', nodeId: null }, null, MANY)).map(
      ({ members }) => members.map(({ nodeId }) => Number(nodeId.slice(-8))),
    );

  describe('a chunk', () => {
    test('is given back as it was written, over a restart too', async () => {
      const content = `'quoted' "text" %_ é 数据 🙂\n`;
      await subject.apply(...said(1, { content, tags: ['b', 'a'], tokens: 800, confidence: 0 }));
      expect(await get(1)).toEqual({
        id: chunkId(1),
        seq: expect.any(Number),
        repoId: REPO,
        type: 'note',
        content,
        tokens: 800,
        source: 'interaction',
        conversationId: 'talk',
        tags: ['b', 'a'],
        confidence: 0,
        tier: 'longterm',
        archivedAtMs: null,
        revision: 1,
        createdAtMs: START_MS,
        accessCount: 0,
        lastAccessedAtMs: null,
      });
      const before = await get(1);
      await subject.reopen();
      expect(await get(1)).toEqual(before);
    });

    test('is given once however often it is asked for, and nobody for an unknown id', async () => {
      await subject.apply(...said(1), ...said(2));
      const ids = [chunkId(2), chunkId(9), chunkId(1), chunkId(2), ''];
      expect(numbersOf(await subject.store.chunks.getChunks(REPO, ids, true)).sort()).toEqual([1, 2]);
      expect(await subject.store.chunks.getChunks(REPO, [], true)).toEqual([]);
    });

    test('counts each look at once, and keeps it over a restart', async () => {
      await subject.apply(...said(1));
      subject.store.noteAccess(REPO, [chunkId(1)], START_MS + 5);
      subject.store.noteAccess(REPO, [chunkId(1)], START_MS + 9);
      expect(await get(1)).toMatchObject({ accessCount: 2, lastAccessedAtMs: START_MS + 9 });
      await subject.reopen();
      expect(await get(1)).toMatchObject({ accessCount: 2, lastAccessedAtMs: START_MS + 9 });
    });

    test('is refused under an id that is taken, with all that comes with it', async () => {
      await subject.apply(...said(1, { content: 'First' }));
      await expectConflict(subject.apply(...said(2), ...said(1, { content: 'Second' })), 'id_taken');
      expect((await get(1)).content).toBe('First');
      expect(await listed()).toEqual([1]);
      expect(await membersOf()).toEqual([[1]]);
      expect(await subject.store.chunks.countChunks(REPO)).toMatchObject({ total: 1, tokens: 5 });
    });

    test('is changed with its detail and its terms, and keeps whose it is and when it was', async () => {
      await subject.apply(...said(1, { content: 'old words', tags: ['old'] }));
      const detail = {
        form: 'chunk',
        conversationId: 'elsewhere',
        source: 'derived',
        tokens: 7,
        tags: ['new'],
      } as const;
      const fields = { content: 'gondola', terms: chunkTerms('gondola', ['new']), tags: ['new'], detail };
      await subject.apply(patch(chunkId(1), { ...fields, confidence: 0.1, kind: 'fact' }, { atMs: START_MS + 9 }));
      expect(await get(1)).toMatchObject({
        content: 'gondola',
        tokens: 7,
        tags: ['new'],
        source: 'derived',
        confidence: 0.1,
        type: 'fact',
        conversationId: 'talk',
        createdAtMs: START_MS,
        revision: 2,
      });
      expect(await listed({ tags: ['old'] })).toEqual([]);
      expect(await listed({ tags: ['new'], type: 'fact', conversationId: 'talk' })).toEqual([1]);
    });

    test('in the archive is given to whoever asks for the archive', async () => {
      await subject.apply(...said(1), ...said(2));
      await subject.apply(archived(1));
      expect(await get(1, false)).toBeUndefined();
      expect(await get(1)).toMatchObject({ tier: 'archive', archivedAtMs: START_MS });
      expect(await listed({ includeArchived: false })).toEqual([2]);
    });

    test('is of its space only', async () => {
      await subject.apply(...said(1));
      const { chunks: reads } = subject.store;
      const spot = await get(1);
      expect(await reads.getChunks(OTHER_REPO, [chunkId(1)], true)).toEqual([]);
      expect(await reads.listChunks(OTHER_REPO, ANY_CHUNK, null, MANY)).toEqual([]);
      expect(await reads.walkChunks(OTHER_REPO, null, MANY)).toEqual([]);
      expect(await reads.findAround(OTHER_REPO, spot, MANY)).toEqual({ before: [], after: [] });
      expect(await reads.listConversation(OTHER_REPO, 'talk', null, 0, MANY)).toEqual([]);
      const elsewhere = { ...spot, conversationId: 'x' };
      expect(await reads.listSharing(OTHER_REPO, elsewhere, null, MANY)).toEqual({ holders: [], next: null });
      expect(await reads.searchChunks(OTHER_REPO, { any: ['chunk'], also: [] }, ANY_CHUNK, MANY)).toEqual([]);
      expect(await reads.countChunks(OTHER_REPO)).toMatchObject({ total: 0, tokens: 0, conversations: 0 });
    });
  });

  describe('a conversation', () => {
    test('has one edge, whoever joins it and however many at once', async () => {
      await subject.apply(...said(1), ...said(2), ...said(3, { conversationId: 'other' }));
      await Promise.all([4, 5, 6].map((number) => subject.apply(...said(number))));
      expect((await membersOf()).map((numbers) => numbers.toSorted())).toEqual([[1, 2, 4, 5, 6], [3]]);
      expect((await subject.store.chunks.countChunks(REPO)).conversations).toBe(2);
    });

    test('loses who is removed, and goes with the last', async () => {
      await subject.apply(...said(1), ...said(2), ...said(3));
      for (const [number, left] of [
        [2, [[1, 3]]],
        [3, [[1]]],
        [1, []],
      ] as const) {
        await subject.apply(purge(number));
        expect(await membersOf()).toEqual(left);
      }
      await subject.apply(...said(4));
      expect(await membersOf()).toEqual([[4]]);
    });

    test('is told in the order of the moments, and of one moment in that of the ids', async () => {
      await subject.apply(
        ...said(5, { createdAtMs: START_MS }),
        ...said(3, { createdAtMs: START_MS + 1 }),
        ...said(4, { createdAtMs: START_MS + 1 }),
        ...said(1, { createdAtMs: START_MS + 2 }),
        ...said(2, { createdAtMs: START_MS + 2, conversationId: 'other' }),
      );
      const spot = await get(4);
      const around = async (each: number) => {
        const { before, after } = await subject.store.chunks.findAround(REPO, spot, each);
        return [numbersOf(before), numbersOf(after)];
      };
      expect(await around(1)).toEqual([[3], [1]]);
      expect(await around(MANY)).toEqual([[3, 5], [1]]);
      const inTalk = async (before: ChunkPlace | null, sinceMs: number, limit = MANY) =>
        numbersOf(await subject.store.chunks.listConversation(REPO, 'talk', before, sinceMs, limit));
      expect(await inTalk(null, 0)).toEqual([1, 4, 3, 5]);
      expect(await inTalk(null, START_MS + 1)).toEqual([1, 4, 3]);
      expect(await inTalk(null, START_MS + 2)).toEqual([1]);
      expect(await inTalk(spot, 0)).toEqual([3, 5]);
      expect(await inTalk(spot, 0, 1)).toEqual([3]);
      await subject.apply(archived(3));
      expect(await around(MANY)).toEqual([[5], [1]]);
      expect(await inTalk(null, 0)).toEqual([1, 4, 5]);
    });
  });

  describe('what shares a tag', () => {
    test('is of other conversations, with how many it shares, the latest written first', async () => {
      const tags = ['x', 'y', 'z'];
      await subject.apply(
        ...said(9, { conversationId: 'a', tags: ['x', 'z'] }),
        ...said(8, { conversationId: 'b', tags: ['y'] }),
        ...said(1, { tags }),
        ...said(2, { tags }),
        ...said(7, { conversationId: 'c', tags }),
        ...said(6, { conversationId: 'd', tags: ['w'] }),
        ...said(5, { conversationId: 'e', tags }),
      );
      await subject.apply(archived(5));
      const sharing = async (beforeSeq: number | null, limit = MANY) =>
        (await subject.store.chunks.listSharing(REPO, await get(1), beforeSeq, limit)).holders.map((holder) => [
          Number(holder.id.slice(-8)),
          holder.tags.filter((tag) => tags.includes(tag)).length,
        ]);
      const all = [
        [7, 3],
        [8, 1],
        [9, 2],
      ];
      expect(await sharing(null)).toEqual(all);
      expect(await sharing(null, 1)).toEqual(all.slice(0, 1));
      expect(await sharing((await get(7)).seq)).toEqual(all.slice(1));
      expect(await sharing((await get(9)).seq)).toEqual([]);
    });

    test('is nothing for a chunk without tags', async () => {
      await subject.apply(...said(1, { tags: [] }), ...said(2, { tags: [], conversationId: 'other' }));
      expect(await subject.store.chunks.listSharing(REPO, await get(1), null, MANY)).toEqual({
        holders: [],
        next: null,
      });
    });
  });

  describe('a list of chunks', () => {
    const furnish = async () => {
      await subject.apply(
        ...said(1, { conversationId: 'a', tags: ['x'], confidence: 0.5, createdAtMs: START_MS }),
        ...said(2, { conversationId: 'a', tags: ['x', 'y'], confidence: 0.6, createdAtMs: START_MS + 1 }),
        ...said(4, { conversationId: 'b', tags: ['y'], confidence: 1, createdAtMs: START_MS + 1, kind: 'fact' }),
        ...said(3, { conversationId: 'b', tags: [], confidence: 0, createdAtMs: START_MS + 2 }),
        ...said(5, { conversationId: 'b', tags: ['x'], createdAtMs: START_MS + 2 }),
        concept(idOf(1), { tags: ['x'] }),
      );
      await subject.apply(archived(5));
    };

    test('is what every part of the filter fits, newest first', async () => {
      await furnish();
      const cases: [Partial<ChunkFilter>, number[]][] = [
        [{}, [5, 3, 4, 2, 1]],
        [{ includeArchived: false }, [3, 4, 2, 1]],
        [{ conversationId: 'a' }, [2, 1]],
        [{ conversationId: 'b' }, [5, 3, 4]],
        [{ conversationId: '' }, []],
        [{ tags: ['x'] }, [5, 2, 1]],
        [{ tags: ['x', 'y'] }, [2]],
        [{ tags: ['y', 'x'] }, [2]],
        [{ tags: ['nobody', 'x'] }, []],
        [{ type: 'fact' }, [4]],
        [{ type: 'decision' }, []],
        [{ sinceMs: START_MS + 1 }, [5, 3, 4, 2]],
        [{ untilMs: START_MS + 1 }, [4, 2, 1]],
        [{ sinceMs: START_MS + 1, untilMs: START_MS + 1 }, [4, 2]],
        [{ minConfidence: 0.6 }, [5, 4, 2]],
        [{ minConfidence: 0.6, includeArchived: false }, [4, 2]],
        [{ conversationId: 'b', tags: ['x'], includeArchived: false }, []],
        [{ conversationId: 'a', tags: ['x'], minConfidence: 0.6 }, [2]],
      ];
      for (const [filter, expected] of cases) expect([filter, await listed(filter)]).toEqual([filter, expected]);
    });

    test.each([{}, { conversationId: 'b' }, { tags: ['x'] }])(
      'of what fits %j goes on where it stopped, one by one',
      async (filter) => {
        await furnish();
        const walked: number[] = [];
        let after: ChunkPlace | null = null;
        for (;;) {
          const [next] = await subject.store.chunks.listChunks(REPO, { ...ANY_CHUNK, ...filter }, after, 1);
          if (!next) break;
          walked.push(...numbersOf([next]));
          after = next;
        }
        expect(walked).toEqual(await listed(filter));
      },
    );

    test('by words has those that hold one of them, and that the filter fits', async () => {
      await subject.apply(
        ...said(1, { content: 'Polish the zeppelin', conversationId: 'a' }),
        ...said(2, { content: 'Sell it', tags: ['zeppelin'], conversationId: 'b', kind: 'fact' }),
        ...said(3, { content: 'Nothing' }),
        concept(idOf(1), { content: 'A zeppelin too' }),
      );
      const [term] = indexTerms('zeppelin') as [string];
      const search = async (filter: Partial<ChunkFilter>, pool = MANY) =>
        numbersOf(
          await subject.store.chunks.searchChunks(REPO, { any: [term], also: [] }, { ...ANY_CHUNK, ...filter }, pool),
        ).sort();
      expect(await search({})).toEqual([1, 2]);
      expect(await search({ type: 'fact' }, 1)).toEqual([2]);
      expect(await search({ conversationId: 'a' }, 1)).toEqual([1]);
      expect(await search({ conversationId: 'c' })).toEqual([]);
      await subject.apply(archived(1));
      expect(await search({ includeArchived: false })).toEqual([2]);
      expect(await search({})).toEqual([1, 2]);
      const none = { any: [], also: [] };
      expect(await subject.store.chunks.searchChunks(REPO, none, ANY_CHUNK, MANY)).toEqual([]);
    });

    test('in the order of the ids is walked through to its end, with the archive and nothing else', async () => {
      await furnish();
      const walk = async (afterId: string | null, limit = MANY) =>
        numbersOf(await subject.store.chunks.walkChunks(REPO, afterId, limit));
      expect(await walk(null)).toEqual([1, 2, 3, 4, 5]);
      expect(await walk(null, 2)).toEqual([1, 2]);
      expect(await walk(chunkId(2), 2)).toEqual([3, 4]);
      expect(await walk(chunkId(5))).toEqual([]);
    });
  });

  test('the counts follow what comes, changes, is put away and goes', async () => {
    const none = { fact: 0, preference: 0, pattern: 0, note: 0, decision: 0 };
    const counts = () => subject.store.chunks.countChunks(REPO);
    expect(await counts()).toEqual({ byType: none, total: 0, archived: 0, tokens: 0, conversations: 0 });
    await subject.apply(...said(1, { tokens: 10 }), ...said(2, { tokens: 20, kind: 'fact' }), concept(idOf(1)));
    const all = { byType: { ...none, note: 1, fact: 1 }, total: 2, archived: 0, tokens: 30, conversations: 1 };
    expect(await counts()).toEqual(all);
    await subject.apply(patch(chunkId(1), { kind: 'decision' }));
    expect(await counts()).toEqual({ ...all, byType: { ...none, decision: 1, fact: 1 } });
    await subject.apply(archived(1));
    expect(await counts()).toEqual({ ...all, byType: { ...none, fact: 1 }, total: 1, archived: 1 });
    await subject.apply(purge(1));
    expect(await counts()).toEqual({ ...all, byType: { ...none, fact: 1 }, total: 1, archived: 0, tokens: 20 });
    await subject.reopen();
    expect(await counts()).toMatchObject({ total: 1, tokens: 20, conversations: 1 });
  });
}
