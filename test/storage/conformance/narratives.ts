import { describe, expect, test } from 'vitest';
import type { Change, SetMembers } from '../../../src/domain/changes.js';
import { typeOf } from '../../../src/domain/forms.js';
import type { ChapterDetail, WisdomDetail } from '../../../src/domain/narratives.js';
import { type GraphNode, newNode } from '../../../src/domain/node.js';
import { viewOf } from '../../../src/domain/spaces.js';
import { indexTerms } from '../../../src/domain/terms.js';
import type { NarrativeFilter, NarrativeOrder, NarrativePlace, StoredNarrative } from '../../../src/storage/port.js';
import { concept, idOf, move, OTHER_REPO, patch, REPO, START_MS } from '../../support/plans.js';
import { expectConflict, MANY, type Subject } from './subject.js';

const chapterId = (number: number): string => `chapter_${idOf(number)}`;
const wisdomId = (number: number): string => `wisdom_${idOf(number)}`;

const chapterDetail = (fields: Partial<ChapterDetail> = {}): ChapterDetail => ({
  form: 'chapter',
  key: null,
  title: null,
  startMs: START_MS,
  endMs: START_MS + 10,
  text: {
    summary: 'Goals: dig.',
    summaryOrigin: 'extract',
    summaryLines: [{ text: 'Goal: dig', sourceIds: [idOf(1)] }],
    learnings: [{ text: `'quoted' "text" %_ é 数据 🙂`, sourceIds: [idOf(1), idOf(2)] }],
    tags: ['b', 'a'],
    topics: ['t'],
    isTitleGiven: true,
    given: { tags: ['b'], topics: [] },
  },
  ...fields,
});

const wisdomDetail = (fields: Partial<WisdomDetail> = {}): WisdomDetail => ({
  form: 'wisdom',
  key: null,
  startMs: START_MS,
  endMs: START_MS + 10,
  text: {
    summary: 'Synthesis across 2 chapters: dig',
    summaryOrigin: 'model',
    summaryLines: [],
    insights: [{ text: 'Dig', sourceIds: [chapterId(1)] }],
    patterns: [{ text: 'x', sourceIds: [chapterId(1)], count: 1 }],
    bestPractices: [],
    tags: ['x'],
    episodeIds: [],
  },
  ...fields,
});

type Fields = Partial<Omit<GraphNode, 'detail'>>;

const insertNarrative = (id: string, kind: string, detail: ChapterDetail | WisdomDetail, fields: Fields): Change => {
  const { form } = detail;
  const content = fields.content ?? detail.text.summary;
  const type = typeOf(form, kind);
  const node = newNode({ id, form, kind, type, repoId: REPO, createdAtMs: START_MS, ...fields, content, detail });
  return { change: 'insert_node', node, terms: indexTerms(content) };
};
const chapter = (number: number, detail: Partial<ChapterDetail> = {}, fields: Fields = {}): Change =>
  insertNarrative(chapterId(number), fields.kind ?? 'manual', chapterDetail(detail), fields);
const wisdom = (number: number, detail: Partial<WisdomDetail> = {}, fields: Fields = {}): Change =>
  insertNarrative(wisdomId(number), 'synthesis', wisdomDetail(detail), fields);

const setMembers = (ownerId: string, memberIds: readonly string[], fields: Partial<SetMembers> = {}): SetMembers => ({
  change: 'set_members',
  label: 'narrates',
  repoId: REPO,
  ownerId,
  memberIds,
  edgeId: idOf(900),
  origin: 'auto',
  atMs: START_MS,
  ...fields,
});

const CHAPTERS: NarrativeFilter = {
  form: 'chapter',
  key: null,
  kind: null,
  tags: [],
  sinceMs: null,
  beforeMs: null,
  includeArchived: false,
};

/** Chapters and wisdom, and who belongs to them. */
export function narratives(subject: Subject): void {
  const get = async (id: string, archived = true): Promise<StoredNarrative | undefined> =>
    (await subject.store.getNarratives(REPO, [id], archived))[0];
  const list = async (
    filter: Partial<NarrativeFilter> = {},
    order: NarrativeOrder = 'recent',
    after: NarrativePlace | null = null,
    limit = MANY,
  ): Promise<string[]> =>
    (await subject.store.listNarratives(REPO, { ...CHAPTERS, ...filter }, order, after, limit)).map(({ id }) => id);
  const members = async (id: string, label: 'narrates' | 'distills' = 'narrates') =>
    (await subject.store.findMembers(REPO, label, [id])).get(id);

  test('a chapter and a wisdom come back as they were written', async () => {
    const detail = chapterDetail({ key: 'tag:x', title: 'Title' });
    const other = wisdomDetail({ key: 'all' });
    const fields = { content: 'What it says', createdAtMs: START_MS + 5 };
    await subject.apply(chapter(1, detail, { ...fields, kind: 'auto' }), wisdom(2, other, fields));
    const common = {
      seq: expect.any(Number),
      repoId: REPO,
      content: 'What it says',
      tier: 'longterm',
      archivedAtMs: null,
      revision: 1,
      createdAtMs: START_MS + 5,
      updatedAtMs: START_MS + 5,
    };
    expect(await get(chapterId(1))).toEqual({ ...common, id: chapterId(1), kind: 'auto', detail });
    expect(await get(wisdomId(2))).toEqual({ ...common, id: wisdomId(2), kind: 'synthesis', detail: other });
    await subject.reopen();
    expect(await get(chapterId(1))).toMatchObject({ detail });
  });

  test('unknown ids, other forms and other spaces have none', async () => {
    await subject.apply(concept(idOf(1)), chapter(2));
    await subject.applyIn(OTHER_REPO, chapter(3, {}, { repoId: OTHER_REPO }));
    const ids = [idOf(1), chapterId(2), chapterId(3), chapterId(9), '', `' OR 1=1`];
    expect((await subject.store.getNarratives(REPO, ids, true)).map(({ id }) => id)).toEqual([chapterId(2)]);
    expect(await subject.store.getNarratives('nobody/nowhere', ids, true)).toEqual([]);
    expect(await subject.store.getNarratives(REPO, [], true)).toEqual([]);
  });

  test('what is in the archive is shown when it is asked for', async () => {
    await subject.apply(chapter(1), chapter(2), move(chapterId(1), { atMs: START_MS + 3 }));
    expect(await get(chapterId(1), false)).toBeUndefined();
    expect(await get(chapterId(1))).toMatchObject({ tier: 'archive', archivedAtMs: START_MS + 3 });
    expect(await list()).toEqual([chapterId(2)]);
    expect(await list({ includeArchived: true })).toEqual([chapterId(2), chapterId(1)]);
  });

  describe('a patch', () => {
    const detail = chapterDetail({ key: 'tag:y', title: 'New', startMs: 1, endMs: 2 });

    test('tells it anew, and says when', async () => {
      await subject.apply(chapter(1, { key: 'tag:x' }), chapter(2));
      const fields = { content: 'tapir', terms: ['tapir'], detail, tags: ['z'] };
      await subject.apply(patch(chapterId(1), fields, { atMs: START_MS + 9 }));
      expect(await get(chapterId(1))).toMatchObject({
        content: 'tapir',
        revision: 2,
        updatedAtMs: START_MS + 9,
        detail,
      });
      expect(await list({ key: 'tag:y' })).toEqual([chapterId(1)]);
      expect(await list({ tags: ['z'] })).toEqual([chapterId(1)]);
      const found = await subject.store.searchTerms(viewOf(REPO), { any: ['tapir'], also: [] }, MANY);
      expect(found.map(({ memory }) => memory.id)).toEqual([chapterId(1)]);
    });

    test('of another revision is refused', async () => {
      await subject.apply(chapter(1));
      const plan = subject.apply(patch(chapterId(1), { detail }, { expectedRevision: 2 }));
      await expectConflict(plan, 'revision');
      expect((await get(chapterId(1)))?.detail).toEqual(chapterDetail());
    });
  });

  describe('a key', () => {
    test('is had by one chapter at a time, and nothing of the second is stored', async () => {
      await subject.apply(chapter(1, { key: 'tag:x' }));
      await expectConflict(subject.apply(concept(idOf(5)), chapter(2, { key: 'tag:x' })), 'duplicate');
      expect(await list()).toEqual([chapterId(1)]);
      expect(await subject.store.getNodes(viewOf(REPO), [idOf(5)])).toEqual([]);
    });

    test('is kept by one in the archive, and free again when that is removed', async () => {
      await subject.apply(chapter(1, { key: 'tag:x' }), move(chapterId(1)));
      await expectConflict(subject.apply(chapter(2, { key: 'tag:x' })), 'duplicate');
      await subject.apply({ change: 'purge_node', nodeId: chapterId(1), repoId: REPO, atMs: START_MS });
      await subject.apply(chapter(2, { key: 'tag:x' }));
      expect(await list()).toEqual([chapterId(2)]);
    });

    test('of a chapter is not that of a wisdom, nor of another repo; and none is nobody', async () => {
      await subject.apply(chapter(1, { key: 'all' }), wisdom(2, { key: 'all' }), chapter(3), chapter(4), wisdom(5));
      await subject.applyIn(OTHER_REPO, chapter(6, { key: 'all' }, { repoId: OTHER_REPO }));
      await expectConflict(subject.apply(wisdom(7, { key: 'all' })), 'duplicate');
      expect(await list({ key: 'all' })).toEqual([chapterId(1)]);
      expect(await list({ form: 'wisdom', key: 'all' })).toEqual([wisdomId(2)]);
    });

    test('cannot be taken from another by a patch', async () => {
      await subject.apply(chapter(1, { key: 'a' }), chapter(2, { key: 'b' }));
      const plan = subject.apply(patch(chapterId(2), { detail: chapterDetail({ key: 'a' }) }));
      await expectConflict(plan, 'duplicate');
      expect(await list({ key: 'b' })).toEqual([chapterId(2)]);
    });
  });

  describe('a list', () => {
    const span = (startMs: number, endMs: number) => ({ startMs, endMs });
    const fill = () =>
      subject.apply(
        chapter(1, span(30, 40), { tags: ['x', 'y'] }),
        chapter(2, span(10, 20), { tags: ['x'], kind: 'auto' }),
        chapter(3, span(20, 90), { tags: [] }),
        wisdom(4, span(10, 20), { tags: ['x'] }),
      );

    test.each<[string, Partial<NarrativeFilter>, number[]]>([
      ['nothing', {}, [3, 2, 1]],
      ['kind', { kind: 'auto' }, [2]],
      ['one tag', { tags: ['x'] }, [2, 1]],
      ['all tags', { tags: ['x', 'y'] }, [1]],
      ['a tag of none', { tags: ['%'] }, []],
      ['since, the moment itself counts', { sinceMs: 20 }, [3, 1]],
      ['since 0', { sinceMs: 0 }, [3, 2, 1]],
      ['before, the moment itself is over', { beforeMs: 40 }, [2]],
      ['before', { beforeMs: 41 }, [2, 1]],
      ['before 0', { beforeMs: 0 }, []],
    ])('by %s', async (_, filter, expected) => {
      await fill();
      expect(await list(filter)).toEqual(expected.map(chapterId));
    });

    test('of wisdom has no chapters in it', async () => {
      await fill();
      expect(await list({ form: 'wisdom', tags: ['x'] })).toEqual([wisdomId(4)]);
    });

    test.each<[NarrativeOrder, number[]]>([
      ['recent', [3, 2, 1]],
      ['start', [1, 3, 2]],
    ])('by %s goes on where it was left', async (order, expected) => {
      await fill();
      const all = await subject.store.listNarratives(REPO, CHAPTERS, order, null, MANY);
      expect(all.map(({ id }) => id)).toEqual(expected.map(chapterId));
      for (const [index, { seq, detail }] of all.entries()) {
        const place = { value: order === 'recent' ? seq : detail.startMs, seq };
        expect(await list({}, order, place, 1)).toEqual(expected.slice(index + 1, index + 2).map(chapterId));
      }
    });
  });

  describe('members', () => {
    const [a, b, c] = [idOf(1), idOf(2), idOf(3)] as const;
    const fill = () => subject.apply(concept(a), concept(b), concept(c), chapter(5), chapter(6));

    test('are those that were set last, in their order', async () => {
      await fill();
      await subject.apply(setMembers(chapterId(5), [b, a]));
      expect(await members(chapterId(5))).toEqual([b, a]);
      await subject.apply(setMembers(chapterId(5), [a, c, b], { edgeId: idOf(901) }));
      expect(await members(chapterId(5))).toEqual([a, c, b]);
      await subject.apply(setMembers(chapterId(5), [c], { edgeId: idOf(902) }));
      expect(await members(chapterId(5))).toEqual([c]);
      await subject.reopen();
      expect(await members(chapterId(5))).toEqual([c]);
    });

    test('are joined to their owner by one edge, whose age and id stay', async () => {
      await fill();
      await subject.apply(setMembers(chapterId(5), [a]));
      await subject.apply(setMembers(chapterId(5), [a, b], { edgeId: idOf(901), atMs: START_MS + 50 }));
      const edges = await subject.store.listEdges(REPO, { type: null, label: 'narrates', nodeId: null }, null, MANY);
      expect(edges).toMatchObject([{ id: idOf(900), createdAtMs: START_MS }]);
      expect(edges[0]?.members.map(({ nodeId, role }) => [nodeId, role])).toEqual([
        [chapterId(5), 'subject'],
        [a, 'participant'],
        [b, 'participant'],
      ]);
    });

    test('belong to each owner and label on their own; who has none has an empty list', async () => {
      await fill();
      await subject.apply(
        wisdom(7),
        setMembers(chapterId(5), [a, b]),
        setMembers(chapterId(6), [b, c], { edgeId: idOf(901) }),
      );
      await subject.apply(setMembers(wisdomId(7), [chapterId(5)], { label: 'distills', edgeId: idOf(902) }));
      const ids = [chapterId(6), chapterId(5), chapterId(9)];
      expect(await subject.store.findMembers(REPO, 'narrates', ids)).toEqual(
        new Map([
          [chapterId(6), [b, c]],
          [chapterId(5), [a, b]],
          [chapterId(9), []],
        ]),
      );
      expect(await members(wisdomId(7), 'distills')).toEqual([chapterId(5)]);
      expect(await members(wisdomId(7))).toEqual([]);
    });

    test('that are unknown are refused, and those that stand stay', async () => {
      await fill();
      await subject.apply(setMembers(chapterId(5), [a]));
      await expectConflict(subject.apply(setMembers(chapterId(5), [b, idOf(9)])), 'node_missing');
      await expectConflict(subject.apply(setMembers(chapterId(9), [b], { edgeId: idOf(901) })), 'node_missing');
      expect(await members(chapterId(5))).toEqual([a]);
    });

    test('are not removed while somebody tells of them', async () => {
      await fill();
      await subject.apply(setMembers(chapterId(5), [c, a, b]));
      const purge = { change: 'purge_node', nodeId: a, repoId: REPO, atMs: START_MS } as const;
      await expectConflict(subject.apply(purge), 'revision');
      await subject.apply(setMembers(chapterId(5), [c, b]), purge);
      expect(await members(chapterId(5))).toEqual([c, b]);
    });

    test('stay when their owner is removed', async () => {
      await fill();
      await subject.apply(setMembers(chapterId(5), [a, b]));
      await subject.apply({ change: 'purge_node', nodeId: chapterId(5), repoId: REPO, atMs: START_MS });
      expect(await get(chapterId(5))).toBeUndefined();
      expect(await members(chapterId(5))).toEqual([]);
      expect(await subject.store.findVisible(viewOf(REPO), [a, b, c])).toEqual(new Set([a, b, c]));
    });
  });
}
