import { describe, expect, test } from 'vitest';
import type { InsertEdge } from '../../../src/domain/changes.js';
import { edgeKey, type Member } from '../../../src/domain/links.js';
import { GLOBAL_SPACE, viewOf } from '../../../src/domain/spaces.js';
import { EDGE_TYPES, ROLES, type Role } from '../../../src/domain/vocabulary.js';
import type { EdgeFilter, EdgePlace, EdgeWays, StoredEdge } from '../../../src/storage/port.js';
import { concept, idOf, insertGlobal, OTHER_REPO, REPO, START_MS } from '../../support/plans.js';
import { expectConflict, imageOf, MANY, type Subject } from './subject.js';

const VIEW = viewOf(REPO);
const ALL: EdgeFilter = { type: null, label: null, nodeId: null };
const ANY_WAY: EdgeWays = { types: null, label: null, perNode: MANY };

const parts = (...members: [Role, number][]): Member[] =>
  members.map(([role, number], position) => ({ nodeId: idOf(number), role, position }));
const draw = (number: number, members: readonly Member[], fields: Partial<InsertEdge> = {}): InsertEdge => ({
  change: 'insert_edge',
  id: idOf(number),
  repoId: REPO,
  type: 'relation',
  label: 'own words',
  weight: 1,
  origin: 'manual',
  rationale: null,
  members,
  atMs: START_MS,
  ...fields,
});
const idsIn = (edges: readonly { id: string }[]): string[] => edges.map(({ id }) => id);

export function edges(subject: Subject): void {
  const concepts = (...numbers: number[]) => numbers.map((number) => concept(idOf(number)));
  const get = (number: number) => subject.store.getEdge(VIEW, idOf(number));
  const standing = async (number: number): Promise<StoredEdge> => (await get(number)) as StoredEdge;
  const around = async (numbers: number[], ways: Partial<EdgeWays> = {}) =>
    (await subject.store.findEdgesAround(VIEW, numbers.map(idOf), { ...ANY_WAY, ...ways })).found;

  test.each(EDGE_TYPES)('an edge of type %s comes back as it was drawn, its members by position', async (type) => {
    const members = [
      { nodeId: idOf(1), role: 'effect' as const, position: 9 },
      { nodeId: idOf(2), role: 'cause' as const, position: 4 },
      { nodeId: idOf(3), role: 'context' as const, position: 7 },
    ];
    await subject.apply(
      ...concepts(1, 2, 3),
      draw(30, members, { type, label: `"|' %_ 数`, weight: 1e9, rationale: 'r' }),
    );
    expect(await get(30)).toEqual({
      id: idOf(30),
      seq: expect.any(Number),
      repoId: REPO,
      type,
      label: `"|' %_ 数`,
      weight: 1e9,
      rationale: 'r',
      createdAtMs: START_MS,
      members: [members[1], members[2], members[0]],
    });
  });

  test('an edge may have one member, no label and no weight', async () => {
    await subject.apply(...concepts(1), draw(30, parts(['subject', 1]), { label: '', weight: 0 }));
    expect(await get(30)).toMatchObject({ label: '', weight: 0, members: [{ nodeId: idOf(1) }] });
  });

  test('a node may play every part in one edge', async () => {
    await subject.apply(...concepts(1), draw(30, parts(...ROLES.map((role): [Role, number] => [role, 1]))));
    expect((await standing(30)).members.map(({ role }) => role)).toEqual([...ROLES]);
    expect(idsIn(await around([1]))).toEqual([idOf(30)]);
    expect(idsIn(await subject.store.listEdges(REPO, { ...ALL, nodeId: idOf(1) }, null, MANY))).toEqual([idOf(30)]);
  });

  describe('no store can hold', () => {
    const ROWS: [string, InsertEdge][] = [
      ['a negative weight', draw(30, parts(['subject', 1]), { weight: -0.1 })],
      ['an unknown type', draw(30, parts(['subject', 1]), { type: 'friendship' as never })],
      ['an unknown role', draw(30, parts(['owner' as never, 1]))],
      ['the same part twice', draw(30, parts(['subject', 1], ['subject', 1]))],
      ['an id that is taken', draw(31, parts(['object', 1]))],
    ];
    test.each(ROWS)('%s', async (_, edge) => {
      await subject.apply(...concepts(1, 2), draw(31, parts(['subject', 2])));
      const before = await imageOf(subject.store);
      await expect(subject.apply(concept(idOf(3)), edge)).rejects.toThrow();
      expect(await imageOf(subject.store)).toEqual(before);
    });
  });

  test('the same edge again is refused, in whatever order its members are', async () => {
    const members = parts(['subject', 1], ['object', 2]);
    await subject.apply(...concepts(1, 2), draw(30, members));
    await expectConflict(subject.apply(draw(31, [...members].reverse())), 'edge_exists');
    await subject.apply(draw(31, members, { type: 'context' }), draw(32, members, { label: 'other words' }));
    expect(await around([1])).toHaveLength(3);
  });

  test('edges are found by their keys, as they stand, in the spaces of the view', async () => {
    const members = parts(['subject', 1], ['object', 2]);
    await subject.applyGlobal(insertGlobal(idOf(5)), draw(35, parts(['subject', 5])));
    await subject.apply(...concepts(1, 2), draw(30, members, { type: 'context', label: '|x' }));
    const keys = [
      edgeKey('|x', members, 'context'),
      edgeKey('own words', parts(['subject', 5])),
      edgeKey('|x', members),
    ];
    const found = await subject.store.findEdgesByKey(VIEW, keys);
    expect([...found]).toEqual([
      [keys[0], await get(30)],
      [keys[1], await get(35)],
    ]);
    expect([...(await subject.store.findEdgesByKey(viewOf(OTHER_REPO), keys)).keys()]).toEqual([keys[1]]);
    expect((await subject.store.findEdgesByKey(VIEW, [])).size).toBe(0);
  });

  describe('a patch', () => {
    const relabel = async (number: number, fields: { weight?: number; label?: string }) =>
      subject.apply({ change: 'patch_edge', edge: await standing(number), ...fields, atMs: START_MS + 1 });

    test.each([
      ['the weight', { weight: 7 }],
      ['the label', { label: 'new words' }],
      ['both', { weight: 0, label: '' }],
    ])('changes %s and nothing else', async (_, fields) => {
      await subject.apply(...concepts(1, 2), draw(30, parts(['subject', 1], ['object', 2])));
      const before = await standing(30);
      await relabel(30, fields);
      expect(await get(30)).toEqual({ ...before, ...fields });
    });

    test('of the label is known wherever edges are looked for by it', async () => {
      await subject.apply(...concepts(1, 2), draw(30, parts(['subject', 1], ['object', 2])));
      await relabel(30, { label: 'new words' });
      expect(idsIn(await around([1], { label: 'new words' }))).toEqual([idOf(30)]);
      expect(await around([1], { label: 'own words' })).toEqual([]);
      for (const nodeId of [null, idOf(1)]) {
        const list = (label: string) => subject.store.listEdges(REPO, { ...ALL, label, nodeId }, null, MANY);
        expect(idsIn(await list('new words'))).toEqual([idOf(30)]);
        expect(await list('own words')).toEqual([]);
      }
      await expectConflict(
        subject.apply(draw(31, parts(['subject', 1], ['object', 2]), { label: 'new words' })),
        'edge_exists',
      );
      await subject.apply(draw(31, parts(['subject', 1], ['object', 2])));
    });

    test('to the label of another edge of the same members is refused as a whole', async () => {
      const members = parts(['subject', 1], ['object', 2]);
      await subject.apply(...concepts(1, 2), draw(30, members), draw(31, members, { label: 'taken' }));
      const before = await imageOf(subject.store);
      await expectConflict(relabel(30, { weight: 5, label: 'taken' }), 'edge_exists');
      expect(await imageOf(subject.store)).toEqual(before);
    });

    test('of an edge that says something else by now, or that is gone, is refused', async () => {
      await subject.apply(...concepts(1, 2), draw(30, parts(['subject', 1], ['object', 2])));
      const before = await standing(30);
      await relabel(30, { label: 'new words' });
      const late = { change: 'patch_edge', edge: before, weight: 9, atMs: START_MS } as const;
      await expectConflict(subject.apply(late), 'edge_missing');
      await subject.apply({ change: 'remove_edge', edge: await standing(30), atMs: START_MS });
      await expectConflict(subject.apply(late), 'edge_missing');
    });
  });

  describe('a removal', () => {
    test('takes the edge and its memberships, and leaves the nodes and their other edges', async () => {
      await subject.apply(...concepts(1, 2), draw(30, parts(['subject', 1])));
      const before = await imageOf(subject.store);
      await subject.apply(draw(31, parts(['subject', 1], ['object', 2])));
      await subject.apply({ change: 'remove_edge', edge: await standing(31), atMs: START_MS });
      expect(await get(31)).toBeNull();
      expect(await imageOf(subject.store)).toEqual(before);
    });

    test('of an edge that is gone is refused', async () => {
      await subject.apply(...concepts(1), draw(30, parts(['subject', 1])));
      const removal = { change: 'remove_edge', edge: await standing(30), atMs: START_MS } as const;
      await subject.apply(removal);
      await expectConflict(subject.apply(removal), 'edge_missing');
    });

    test('of a node takes its place in every edge, and the edges that are left with fewer than two', async () => {
      await subject.apply(
        ...concepts(1, 2, 3),
        draw(30, parts(['subject', 1], ['object', 2])),
        draw(31, parts(['subject', 1])),
        draw(32, parts(['subject', 1], ['object', 2], ['context', 3])),
        draw(33, parts(['subject', 2], ['object', 3])),
      );
      await subject.apply({ change: 'purge_node', nodeId: idOf(1), repoId: REPO, atMs: START_MS });
      const left = await subject.store.listEdges(REPO, ALL, null, MANY);
      expect(idsIn(left)).toEqual([idOf(32), idOf(33)]);
      expect(left[0]?.members.map(({ nodeId, role, position }) => [nodeId, role, position])).toEqual([
        [idOf(2), 'object', 1],
        [idOf(3), 'context', 2],
      ]);
    });
  });

  describe('a list', () => {
    /** Two edges of each type and label: of node 1 and 2, and of node 2 alone. */
    const written = async (): Promise<void> => {
      let number = 20;
      await subject.apply(...concepts(1, 2));
      for (const members of [parts(['subject', 1], ['object', 2]), parts(['subject', 2])]) {
        for (const label of ['b', 'a', '']) {
          for (const type of ['relation', 'causation'] as const)
            await subject.apply(draw(number++, members, { type, label }));
        }
      }
    };
    const numbers = (found: readonly StoredEdge[]): number[] => found.map(({ id }) => Number(id.slice(-12)));
    const ROWS: [string, Partial<EdgeFilter>, number[]][] = [
      ['everything, by type, label and age', {}, [25, 31, 23, 29, 21, 27, 24, 30, 22, 28, 20, 26]],
      ['a type', { type: 'relation' }, [24, 30, 22, 28, 20, 26]],
      ['a label', { label: 'a' }, [23, 29, 22, 28]],
      ['no label', { label: '' }, [25, 31, 24, 30]],
      ['a type and a label', { type: 'causation', label: 'b' }, [21, 27]],
      ['a node', { nodeId: idOf(1) }, [25, 23, 21, 24, 22, 20]],
      ['a node and a type', { nodeId: idOf(1), type: 'relation' }, [24, 22, 20]],
      ['a node and a label', { nodeId: idOf(2), label: 'a' }, [23, 29, 22, 28]],
      ['a node, a type and a label', { nodeId: idOf(2), label: 'a', type: 'relation' }, [22, 28]],
      ['an unknown label', { label: 'c' }, []],
      ['an unknown node', { nodeId: idOf(9) }, []],
    ];
    test.each(ROWS)('of %s', async (_, filter, expected) => {
      await written();
      expect(numbers(await subject.store.listEdges(REPO, { ...ALL, ...filter }, null, MANY))).toEqual(expected);
    });

    test.each(ROWS)('of %s may be walked in steps of one', async (_, filter, expected) => {
      await written();
      const seen: number[] = [];
      for (let after: EdgePlace | null = null; ; ) {
        const page: StoredEdge[] = await subject.store.listEdges(REPO, { ...ALL, ...filter }, after, 1);
        const [edge] = page;
        if (!edge) break;
        seen.push(...numbers(page));
        after = edge;
      }
      expect(seen).toEqual(expected);
    });

    test('holds the edges of its space alone', async () => {
      await subject.applyGlobal(insertGlobal(idOf(5)), draw(35, parts(['subject', 5])));
      await subject.apply(...concepts(1), draw(30, parts(['subject', 1], ['object', 5])));
      const list = async (space: string, nodeId: string | null = null) =>
        idsIn(await subject.store.listEdges(space, { ...ALL, nodeId }, null, MANY));
      expect(await list(REPO)).toEqual([idOf(30)]);
      expect(await list(REPO, idOf(5))).toEqual([idOf(30)]);
      expect(await list(GLOBAL_SPACE, idOf(5))).toEqual([idOf(35)]);
      expect(await list(OTHER_REPO)).toEqual([]);
    });
  });

  describe('the edges around nodes', () => {
    test('are those of all spaces of the view, each once', async () => {
      await subject.applyGlobal(insertGlobal(idOf(5)), draw(35, parts(['subject', 5])));
      await subject.apply(...concepts(1), draw(30, parts(['subject', 1], ['object', 5])));
      expect(idsIn(await around([1, 5])).sort()).toEqual([idOf(30), idOf(35)]);
      expect(idsIn((await subject.store.findEdgesAround(viewOf(OTHER_REPO), [idOf(5)], ANY_WAY)).found)).toEqual([
        idOf(35),
      ]);
      expect(await around([])).toEqual([]);
      expect(await around([9])).toEqual([]);
    });

    test('can be chosen by type and by label', async () => {
      const members = parts(['subject', 1], ['object', 2]);
      await subject.apply(
        ...concepts(1, 2),
        draw(30, members, { type: 'context', label: 'a' }),
        draw(31, members, { type: 'causation', label: 'a' }),
        draw(32, members, { type: 'causation', label: 'b' }),
      );
      const chosen = async (ways: Partial<EdgeWays>) => idsIn(await around([1], ways)).sort();
      expect(await chosen({ types: ['context'] })).toEqual([idOf(30)]);
      expect(await chosen({ types: ['context', 'causation'] })).toEqual([idOf(30), idOf(31), idOf(32)]);
      expect(await chosen({ types: [] })).toEqual([]);
      expect(await chosen({ label: 'a' })).toEqual([idOf(30), idOf(31)]);
      expect(await chosen({ label: 'a', types: ['causation'] })).toEqual([idOf(31)]);
    });

    test('of a hub are the strongest, however old they are, and it is said that there are more', async () => {
      const weights = [9, 1, 5, 1];
      await subject.apply(
        ...concepts(1, 2),
        ...weights.map((weight, index) => draw(20 + index, parts(['subject', 1]), { label: `${index}`, weight })),
        draw(30, parts(['subject', 2])),
      );
      const find = (perNode: number) => subject.store.findEdgesAround(VIEW, [idOf(1)], { ...ANY_WAY, perNode });
      expect(idsIn((await find(2)).found)).toEqual([20, 22].map(idOf));
      expect(idsIn((await find(3)).found)).toEqual([20, 22, 23].map(idOf));
      expect([(await find(3)).isComplete, (await find(4)).isComplete]).toEqual([false, true]);
    });

    test('are not all of them when one node has more, though the next of them is found from another', async () => {
      await subject.apply(
        ...concepts(1, 2),
        draw(20, parts(['subject', 1]), { weight: 9 }),
        draw(21, parts(['subject', 1], ['object', 2]), { weight: 5 }),
        draw(22, parts(['object', 1])),
      );
      const found = await subject.store.findEdgesAround(VIEW, [idOf(1), idOf(2)], { ...ANY_WAY, perNode: 1 });
      expect(found.isComplete).toBe(false);
    });

    test('can be asked for without some labels, and with certain other members alone', async () => {
      await subject.apply(
        ...concepts(1, 2, 3),
        draw(30, parts(['subject', 1], ['object', 2]), { label: 'a' }),
        draw(31, parts(['subject', 1], ['object', 3]), { label: 'b' }),
        draw(32, parts(['subject', 1]), { label: 'c' }),
      );
      const chosen = async (ways: Partial<EdgeWays>) => idsIn(await around([1], ways)).sort();
      expect(await chosen({ otherThan: ['a', 'c'] })).toEqual([idOf(31)]);
      expect(await chosen({ otherThan: [] })).toHaveLength(3);
      expect(await chosen({ withIds: [idOf(2), idOf(9)] })).toEqual([idOf(30)]);
      expect(await chosen({ withIds: [idOf(2), idOf(3)], label: 'b' })).toEqual([idOf(31)]);
      expect(await chosen({ withIds: [] })).toEqual([]);
    });

    test('of a hub, of the same weight, are the newest of those that were asked for', async () => {
      await subject.apply(
        ...concepts(1, 2),
        ...[20, 21, 22].map((number) => draw(number, parts(['subject', 1]), { label: `${number}`, type: 'context' })),
        ...[23, 24, 25].map((number) => draw(number, parts(['subject', 1]), { label: `${number}` })),
      );
      expect(idsIn(await around([1], { perNode: 2 }))).toEqual([idOf(25), idOf(24)]);
      expect(idsIn(await around([1], { perNode: 2, types: ['context'] }))).toEqual([idOf(22), idOf(21)]);
      expect(idsIn(await around([1], { perNode: 2, label: '20' }))).toEqual([idOf(20)]);
    });

    test('come with all their members, however many those are together', async () => {
      const numbers = Array.from({ length: 99 }, (_, index) => 100 + index);
      const members = parts(...numbers.map((number): [Role, number] => ['participant', number]));
      await subject.apply(
        ...concepts(...numbers),
        ...Array.from({ length: 60 }, (_, index) => draw(300 + index, members, { label: `${index}` })),
      );
      const found = await around([100]);
      expect(found.map((edge) => edge.members.length)).toEqual(found.map(() => 99));
    });
  });
}
