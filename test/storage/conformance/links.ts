import { describe, expect, test } from 'vitest';
import { GLOBAL_SPACE, viewOf } from '../../../src/domain/spaces.js';
import type { StoredEdge } from '../../../src/storage/port.js';
import { idOf, insert, insertGlobal, link, move, OTHER_REPO, REPO, START_MS } from '../../support/plans.js';
import { expectConflict, LABELS, MANY, type Subject, sortedRows } from './subject.js';

const idsIn = (edges: readonly StoredEdge[]): string[] => edges.map(({ id }) => id).sort();

export function links(subject: Subject): void {
  const edgesOf = (...numbers: number[]) => subject.store.findEdges(viewOf(REPO), numbers.map(idOf), LABELS, MANY);
  const facts = (...numbers: number[]) => numbers.map((number) => insert(idOf(number)));

  test('an edge comes back as it was made, with all its members in their order', async () => {
    await subject.apply(
      ...facts(1, 2),
      insert(idOf(3), { kind: 'change' }),
      link('fact_update', [idOf(3), idOf(1), idOf(2)], { id: idOf(30), rationale: 'moved', weight: 0.25, atMs: 7 }),
    );
    for (const member of [1, 2, 3]) {
      expect(await edgesOf(member)).toEqual([
        {
          id: idOf(30),
          seq: expect.any(Number),
          repoId: REPO,
          type: 'causation',
          label: 'fact_update',
          weight: 0.25,
          rationale: 'moved',
          createdAtMs: 7,
          members: [
            { nodeId: idOf(3), role: 'cause', position: 0 },
            { nodeId: idOf(1), role: 'object', position: 1 },
            { nodeId: idOf(2), role: 'effect', position: 2 },
          ],
        },
      ]);
    }
  });

  test('only edges of the labels asked for are found', async () => {
    await subject.apply(
      ...facts(1, 2),
      insert(idOf(3), { kind: 'problem' }),
      insert(idOf(4), { kind: 'solution' }),
      link('related_to', [idOf(4), idOf(1)], { id: idOf(30) }),
      link('attempts', [idOf(4), idOf(3)], { id: idOf(31) }),
    );
    const find = (labels: string[]) => subject.store.findEdges(viewOf(REPO), [idOf(4)], labels, MANY);
    expect(idsIn(await find(['related_to']))).toEqual([idOf(30)]);
    expect(idsIn(await find(['attempts']))).toEqual([idOf(31)]);
    expect(idsIn(await find(['attempts', 'related_to']))).toEqual([idOf(30), idOf(31)]);
    expect(await find(['fact_update'])).toEqual([]);
    expect(await find([])).toEqual([]);
  });

  test('an edge between two of the nodes asked for comes once', async () => {
    await subject.apply(...facts(1, 2), link('related_to', [idOf(1), idOf(2)], { id: idOf(30) }));
    const edges = await edgesOf(1, 2, 1);
    expect(idsIn(edges)).toEqual([idOf(30)]);
    expect(edges[0]?.members).toHaveLength(2);
  });

  test('no nodes and unknown nodes have no edges', async () => {
    await subject.apply(...facts(1, 2), link('related_to', [idOf(1), idOf(2)]));
    expect(await edgesOf()).toEqual([]);
    expect(await edgesOf(9)).toEqual([]);
  });

  describe('the neighbours of a node', () => {
    const neighboursOf = async (number: number, labels = LABELS, perNode = MANY, view = viewOf(REPO)) =>
      (await subject.store.findNeighbours(view, [idOf(number)], labels, perNode)).map(({ toId }) => toId).sort();

    test('are the other members of its edges, with the label and strength of the way', async () => {
      await subject.apply(
        ...facts(1, 2),
        insert(idOf(3), { kind: 'change' }),
        link('fact_update', [idOf(3), idOf(1), idOf(2)], { weight: 0.25 }),
      );
      const found = await subject.store.findNeighbours(viewOf(REPO), [idOf(1), idOf(2)], LABELS, MANY);
      const way = { label: 'fact_update', weight: 0.25 };
      expect(sortedRows(found)).toEqual(
        sortedRows([
          { fromId: idOf(1), toId: idOf(2), toKind: 'fact', ...way },
          { fromId: idOf(1), toId: idOf(3), toKind: 'change', ...way },
          { fromId: idOf(2), toId: idOf(1), toKind: 'fact', ...way },
          { fromId: idOf(2), toId: idOf(3), toKind: 'change', ...way },
        ]),
      );
    });

    test('are those over the newest edges of each label', async () => {
      await subject.apply(...facts(1, 2, 3, 4), insert(idOf(5), { kind: 'problem' }));
      await subject.apply(link('attempts', [idOf(1), idOf(5)], { atMs: START_MS }));
      for (const number of [2, 3, 4])
        await subject.apply(link('related_to', [idOf(1), idOf(number)], { atMs: START_MS + number }));
      expect(await neighboursOf(1, LABELS, 2)).toEqual([3, 4, 5].map(idOf));
      expect(await neighboursOf(1, ['related_to'], 1)).toEqual([idOf(4)]);
      expect(await neighboursOf(1, ['fact_update'])).toEqual([]);
      expect(await neighboursOf(1, [])).toEqual([]);
    });

    test('are those of the moment and the spaces in the view', async () => {
      await subject.applyGlobal(insertGlobal(idOf(1)), insertGlobal(idOf(2)), link('related_to', [idOf(1), idOf(2)]));
      await subject.apply(...facts(3), link('related_to', [idOf(3), idOf(1)], { atMs: START_MS + 5 }));
      await subject.applyIn(
        OTHER_REPO,
        insert(idOf(4), { repoId: OTHER_REPO }),
        link('related_to', [idOf(4), idOf(1)], { repoId: OTHER_REPO }),
      );
      expect(await neighboursOf(1)).toEqual([2, 3].map(idOf));
      expect(await neighboursOf(1, LABELS, MANY, viewOf(OTHER_REPO))).toEqual([2, 4].map(idOf));
      expect(await neighboursOf(1, LABELS, MANY, viewOf(REPO, { includeGlobal: false }))).toEqual([idOf(3)]);
      expect(await neighboursOf(1, LABELS, MANY, viewOf(REPO, { asOfMs: START_MS + 4 }))).toEqual([idOf(2)]);
    });

    test('are those that the view shows', async () => {
      await subject.applyGlobal(insertGlobal(idOf(2)), insertGlobal(idOf(3)), move(idOf(3), { repoId: REPO }));
      await subject.apply(...facts(1, 4, 5), insert(idOf(6), { kind: 'problem' }), move(idOf(5)));
      for (const number of [2, 3, 4, 5, 6]) await subject.apply(link('related_to', [idOf(1), idOf(number)]));
      const shown = (options: Parameters<typeof viewOf>[1]) => neighboursOf(1, LABELS, MANY, viewOf(REPO, options));
      expect(await shown({})).toEqual([2, 4, 6].map(idOf));
      expect(await shown({ includeArchived: true })).toEqual([2, 3, 4, 5, 6].map(idOf));
      expect(await shown({ includeGlobal: false })).toEqual([4, 6].map(idOf));
      expect(await shown({ kinds: ['problem'] })).toEqual([idOf(6)]);
    });

    test('of a past moment are over the newest edges of that moment', async () => {
      await subject.apply(...facts(1, 2, 3, 4));
      for (const number of [2, 3, 4])
        await subject.apply(link('related_to', [idOf(1), idOf(number)], { atMs: START_MS + number }));
      expect(await neighboursOf(1, LABELS, 1, viewOf(REPO, { asOfMs: START_MS + 3 }))).toEqual([idOf(3)]);
    });
  });

  describe('an edge that is there already', () => {
    const first = link('related_to', [idOf(1), idOf(2)], { id: idOf(30), weight: 0.5, rationale: 'first' });

    test('is a conflict, from either end, and stays as it is', async () => {
      await subject.apply(...facts(1, 2), first);
      const again = link('related_to', [idOf(2), idOf(1)], { weight: 0.9, rationale: 'second' });
      await expectConflict(subject.apply(again), 'edge_exists');
      expect(await edgesOf(1)).toMatchObject([{ id: idOf(30), weight: 0.5, rationale: 'first' }]);
    });
  });

  describe('of a node with many edges', () => {
    const fan = [10, 11, 12, 13, 14];
    const furnish = async () => {
      await subject.apply(...facts(1, 2, ...fan));
      for (const number of fan) {
        const atMs = START_MS + number;
        await subject.apply(link('related_to', [idOf(1), idOf(number)], { id: idOf(number + 20), atMs }));
      }
      await subject.apply(link('related_to', [idOf(2), idOf(10)], { id: idOf(30 + 5), atMs: START_MS }));
    };

    test('the newest are found', async () => {
      await furnish();
      const edges = await subject.store.findEdges(viewOf(REPO), [idOf(1)], LABELS, 2);
      expect(idsIn(edges)).toEqual([idOf(33), idOf(34)]);
    });

    test('it takes no place from another node', async () => {
      await furnish();
      const edges = await subject.store.findEdges(viewOf(REPO), [idOf(1), idOf(2)], LABELS, 2);
      expect(idsIn(edges)).toEqual([idOf(33), idOf(34), idOf(35)]);
    });

    test('those of other labels take no place', async () => {
      await furnish();
      await subject.apply(
        insert(idOf(3), { kind: 'problem' }),
        link('attempts', [idOf(1), idOf(3)], { atMs: START_MS + 99 }),
      );
      const edges = await subject.store.findEdges(viewOf(REPO), [idOf(1)], ['related_to'], 1);
      expect(idsIn(edges)).toEqual([idOf(34)]);
    });

    test('the newest of a past moment are found from there', async () => {
      await furnish();
      const view = viewOf(REPO, { asOfMs: START_MS + 12 });
      expect(idsIn(await subject.store.findEdges(view, [idOf(1)], LABELS, 2))).toEqual([idOf(31), idOf(32)]);
      expect(await subject.store.findEdges(viewOf(REPO, { asOfMs: START_MS - 1 }), [idOf(1)], LABELS, 2)).toEqual([]);
    });

    test('each space gives its own newest, and so does each label', async () => {
      await subject.applyGlobal(insertGlobal(idOf(1)), insertGlobal(idOf(2)), insertGlobal(idOf(3)));
      await subject.apply(...facts(4, 5), insert(idOf(6), { kind: 'problem' }));
      await subject.applyGlobal(link('related_to', [idOf(1), idOf(2)], { id: idOf(31), atMs: START_MS + 1 }));
      await subject.applyGlobal(link('related_to', [idOf(1), idOf(3)], { id: idOf(32), atMs: START_MS + 2 }));
      await subject.apply(link('attempts', [idOf(1), idOf(6)], { id: idOf(33), atMs: START_MS + 3 }));
      await subject.apply(link('related_to', [idOf(4), idOf(1)], { id: idOf(34), atMs: START_MS + 4 }));
      await subject.apply(link('related_to', [idOf(5), idOf(1)], { id: idOf(35), atMs: START_MS + 5 }));
      const edges = await subject.store.findEdges(viewOf(REPO), [idOf(1)], LABELS, 1);
      expect(idsIn(edges)).toEqual([idOf(32), idOf(33), idOf(35)]);
    });
  });

  describe("a repo's edge with a global member", () => {
    const furnish = async () => {
      await subject.applyGlobal(insertGlobal(idOf(1)), insertGlobal(idOf(2)));
      await subject.apply(...facts(3), link('related_to', [idOf(3), idOf(1)], { id: idOf(30) }));
      await subject.applyIn(
        OTHER_REPO,
        insert(idOf(4), { repoId: OTHER_REPO }),
        link('related_to', [idOf(4), idOf(1)], { id: idOf(31), repoId: OTHER_REPO }),
      );
      await subject.applyGlobal(link('related_to', [idOf(1), idOf(2)], { id: idOf(32) }));
    };

    test('is found from both ends, inside that repo only', async () => {
      await furnish();
      expect(idsIn(await edgesOf(3))).toEqual([idOf(30)]);
      expect(idsIn(await edgesOf(1))).toEqual([idOf(30), idOf(32)]);
      const other = await subject.store.findEdges(viewOf(OTHER_REPO), [idOf(1)], LABELS, MANY);
      expect(idsIn(other)).toEqual([idOf(31), idOf(32)]);
    });

    test('is not found in the global space, and global edges are not found without it', async () => {
      await furnish();
      const find = (spaces: string[]) => subject.store.findEdges({ ...viewOf(REPO), spaces }, [idOf(1)], LABELS, MANY);
      expect(idsIn(await find([GLOBAL_SPACE]))).toEqual([idOf(32)]);
      expect(idsIn(await find([REPO]))).toEqual([idOf(30)]);
    });

    test('lends the repo no view of the member itself', async () => {
      await furnish();
      expect(await subject.shownIn(viewOf(REPO, { includeGlobal: false }))).toEqual([idOf(3)]);
    });

    test('may be made many times over, to one member and to several', async () => {
      await furnish();
      await subject.apply(link('related_to', [idOf(3), idOf(2)]));
      await subject.apply(...facts(5), link('related_to', [idOf(5), idOf(1)]), link('related_to', [idOf(5), idOf(2)]));
      expect(await edgesOf(5)).toHaveLength(2);
    });

    test('may join global members only', async () => {
      await furnish();
      await subject.apply(link('related_to', [idOf(1), idOf(2)], { id: idOf(33) }));
      expect(idsIn(await edgesOf(2))).toEqual([idOf(32), idOf(33)]);
    });
  });

  test('no edge reaches into another repo, nor from the global space into a repo', async () => {
    await subject.apply(...facts(1));
    await subject.applyIn(OTHER_REPO, insert(idOf(2), { repoId: OTHER_REPO }));
    await subject.applyGlobal(insertGlobal(idOf(3)));
    await expectConflict(subject.apply(link('related_to', [idOf(1), idOf(2)])), 'node_missing');
    await expectConflict(subject.applyGlobal(link('related_to', [idOf(3), idOf(1)])), 'node_missing');
  });
}
