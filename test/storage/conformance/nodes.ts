import { describe, expect, test } from 'vitest';
import type { Concept } from '../../../src/domain/node.js';
import { GLOBAL_SPACE, viewOf } from '../../../src/domain/spaces.js';
import { indexTerms } from '../../../src/domain/terms.js';
import { NODE_TYPES, TIERS } from '../../../src/domain/vocabulary.js';
import type { NodeFilter, NodePlace, StoredNode } from '../../../src/storage/port.js';
import {
  concept,
  idOf,
  insert,
  insertGlobal,
  link,
  move,
  OTHER_REPO,
  patch,
  REPO,
  START_MS,
} from '../../support/plans.js';
import { ALL_IDS, EVERYTHING, expectConflict, imageOf, MANY, type Subject } from './subject.js';

const WHOLE = viewOf(REPO, { includeArchived: true });
const purge = (nodeId: string) => ({ change: 'purge_node', nodeId, repoId: REPO, atMs: START_MS + 9 }) as const;
const idsIn = (items: readonly { id: string }[]): string[] => items.map(({ id }) => id);

export function nodes(subject: Subject): void {
  const get = async (id: string): Promise<StoredNode | undefined> => (await subject.store.getNodes(WHOLE, [id]))[0];
  const list = async (filter: Partial<NodeFilter> = {}, after: NodePlace | null = null, limit = MANY) =>
    subject.store.listNodes(REPO, { ...EVERYTHING, ...filter }, after, limit);
  const found = async (text: string): Promise<string[]> =>
    idsIn(
      (await subject.store.searchTerms(WHOLE, { any: indexTerms(text), also: [] }, MANY)).map(({ memory }) => memory),
    ).sort();

  test('a concept comes back as it was written', async () => {
    const { node } = concept(idOf(1), {
      kind: 'a subtype',
      type: 'decision',
      content: ` 'quoted' "text"; -- \\ %_ \n\t é 数据 🙂 `,
      confidence: 0.123456789,
      tier: 'session',
      provenance: 'a\nletter',
      metadata: { nested: { list: [1, null, 'x'] }, '': true },
      tags: ['b', 'a'],
      sessionId: 'session',
      taskId: 'task',
      createdAtMs: START_MS + 7,
      updatedAtMs: START_MS + 8,
    });
    await subject.apply({ change: 'insert_node', node, terms: ['text'] });
    expect(await get(idOf(1))).toEqual({
      ...node,
      tags: ['a', 'b'],
      seq: expect.any(Number),
      archivedFrom: null,
      accessCount: 0,
      lastAccessedAtMs: START_MS + 7,
      decayedAtMs: null,
    });
  });

  test.each(NODE_TYPES.flatMap((type) => TIERS.map((tier) => [type, tier] as const)))(
    'a bare %s of tier %s can be kept',
    async (type, tier) => {
      const archivedAtMs = tier === 'archive' ? START_MS : null;
      await subject.apply(concept(idOf(1), { type, tier, archivedAtMs, content: '' }));
      expect(await get(idOf(1))).toMatchObject({ type, tier, kind: null, content: '', archivedAtMs });
      expect(idsIn(await list())).toEqual([idOf(1)]);
    },
  );

  test('memories are nodes too, of their own form', async () => {
    await subject.applyGlobal(insertGlobal(idOf(2)));
    await subject.apply(insert(idOf(1), { kind: 'change' }), concept(idOf(3)), link('related_to', [idOf(1), idOf(2)]));
    const shown = await subject.store.getNodes(viewOf(REPO), ALL_IDS);
    expect(shown.map(({ id, form, kind }) => [id, form, kind]).sort()).toEqual([
      [idOf(1), 'memory', 'change'],
      [idOf(2), 'memory', 'fact'],
      [idOf(3), 'concept', null],
    ]);
    expect(idsIn(await list()).sort()).toEqual([idOf(1), idOf(3)]);
    expect(idsIn(await subject.store.listNodes(GLOBAL_SPACE, EVERYTHING, null, MANY))).toEqual([idOf(2)]);
  });

  test('a view shows its own spaces and no archived node, unless it says so', async () => {
    await subject.applyIn(OTHER_REPO, concept(idOf(1), { repoId: OTHER_REPO }));
    await subject.apply(concept(idOf(2)), concept(idOf(3)), move(idOf(3), { from: 'task' }));
    expect(idsIn(await subject.store.getNodes(viewOf(REPO), ALL_IDS))).toEqual([idOf(2)]);
    expect(await subject.store.findVisible(viewOf(REPO), ALL_IDS)).toEqual(new Set([idOf(2)]));
    expect(await subject.store.findVisible(WHOLE, ALL_IDS)).toEqual(new Set([idOf(2), idOf(3)]));
    expect(await subject.store.getNodes(WHOLE, [])).toEqual([]);
    expect(await subject.store.getNodes(WHOLE, ['', `' OR 1=1`, idOf(9)])).toEqual([]);
  });

  describe('a patch', () => {
    const FIELDS: [string, Parameters<typeof patch>[1], Partial<StoredNode>][] = [
      ['content', { content: 'new', terms: ['new'] }, { content: 'new' }],
      ['confidence', { confidence: 1 }, { confidence: 1 }],
      ['kind', { kind: 'other' }, { kind: 'other' }],
      ['kind to none', { kind: null }, { kind: null }],
      ['provenance', { provenance: null }, { provenance: null }],
      ['metadata', { metadata: { y: [2] } }, { metadata: { y: [2] } }],
      ['tags', { tags: ['z', 'y'] }, { tags: ['y', 'z'] }],
      ['tags to none', { tags: [] }, { tags: [] }],
    ];
    test.each(FIELDS)('changes %s and nothing else', async (_, fields, expected) => {
      await subject.apply(
        concept(idOf(1), { kind: 'k', provenance: 'p', metadata: { x: 1 }, tags: ['t'] }),
        concept(idOf(2)),
      );
      const before = await get(idOf(1));
      const other = await get(idOf(2));
      await subject.apply(patch(idOf(1), fields, { atMs: START_MS + 5 }));
      expect(await get(idOf(1))).toEqual({ ...before, ...expected, revision: 2, updatedAtMs: START_MS + 5 });
      expect(await get(idOf(2))).toEqual(other);
    });

    test('of content moves what the search finds', async () => {
      await subject.apply(concept(idOf(1), { content: 'walrus' }));
      await subject.apply(patch(idOf(1), { content: 'tapir', terms: indexTerms('tapir') }));
      expect([await found('walrus'), await found('tapir')]).toEqual([[], [idOf(1)]]);
    });

    test('of another revision is refused', async () => {
      await subject.apply(concept(idOf(1)));
      await subject.apply(patch(idOf(1), { confidence: 1 }));
      const before = await imageOf(subject.store);
      await expectConflict(subject.apply(patch(idOf(1), { confidence: 0 })), 'revision');
      await expectConflict(subject.apply(patch(idOf(1), { confidence: 0 }, { expectedRevision: 3 })), 'revision');
      await expectConflict(subject.apply(patch(idOf(9), { confidence: 0 })), 'revision');
      expect(await imageOf(subject.store)).toEqual(before);
    });

    test('of a memory is refused, whatever it says', async () => {
      await subject.apply(insert(idOf(1)));
      const before = await imageOf(subject.store);
      await expect(subject.apply(patch(idOf(1), { content: 'new', terms: ['new'] }))).rejects.toThrow();
      await expect(subject.apply(patch(idOf(1), { confidence: 1 }))).rejects.toThrow();
      expect(await imageOf(subject.store)).toEqual(before);
    });

    test.each([-0.1, 1.1])('to a confidence of %d is refused', async (confidence) => {
      await subject.apply(concept(idOf(1)));
      await expect(subject.apply(patch(idOf(1), { confidence }))).rejects.toThrow();
      expect((await get(idOf(1)))?.confidence).toBe(0.5);
    });

    test('that stands in a plan that fails is not made', async () => {
      await subject.apply(concept(idOf(1)));
      const before = await imageOf(subject.store);
      const plan = subject.apply(patch(idOf(1), { content: 'new', terms: ['new'] }), purge(idOf(1)), move(idOf(9)));
      await expectConflict(plan, 'tier_moved');
      expect(await imageOf(subject.store)).toEqual(before);
      expect(await found('new')).toEqual([]);
    });

    test('of many for the same revision is made once', async () => {
      await subject.apply(concept(idOf(1)));
      const results = await Promise.allSettled(
        Array.from({ length: 10 }, (_, index) => subject.apply(patch(idOf(1), { confidence: index / 10 }))),
      );
      expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
      expect((await get(idOf(1)))?.revision).toBe(2);
    });
  });

  describe('a purge', () => {
    test('removes a node with all that hung on it', async () => {
      await subject.apply(concept(idOf(2)));
      const before = await imageOf(subject.store);
      await subject.apply(concept(idOf(1), { tags: ['t'], content: 'walrus', sessionId: 's' }));
      subject.store.noteAccess(REPO, [idOf(1)], START_MS);
      await subject.apply(patch(idOf(1), { confidence: 1 }), link('related_to', [idOf(1), idOf(2)]));
      await subject.apply(purge(idOf(1)));
      expect(await imageOf(subject.store)).toEqual(before);
      expect(await found('walrus')).toEqual([]);
      expect(await list({ tag: 't' })).toEqual([]);
    });

    test('of nobody is refused', async () => {
      await expectConflict(subject.apply(concept(idOf(1)), purge(idOf(2))), 'node_missing');
      expect(await get(idOf(1))).toBeUndefined();
    });

    test('of a memory is refused', async () => {
      await subject.apply(insert(idOf(1)));
      await expect(subject.apply(purge(idOf(1)))).rejects.toThrow();
      expect((await get(idOf(1)))?.form).toBe('memory');
    });

    test('leaves nothing behind for who is written next', async () => {
      await subject.apply(concept(idOf(1), { content: 'walrus', tags: ['t'] }), concept(idOf(2)));
      await subject.apply(link('related_to', [idOf(1), idOf(2)]));
      await subject.store.findEdgesAround(WHOLE, [idOf(1), idOf(2)], { types: null, label: null, perNode: MANY });
      subject.store.noteAccess(REPO, [idOf(2)], START_MS + 1);
      await subject.apply(purge(idOf(2)));
      await subject.apply(concept(idOf(3), { content: 'tapir' }));
      expect(await get(idOf(3))).toMatchObject({ accessCount: 0, tags: [], revision: 1 });
      const ways = { types: null, label: null, perNode: MANY };
      expect((await subject.store.findEdgesAround(WHOLE, [idOf(2), idOf(3)], ways)).found).toEqual([]);
      expect(await subject.store.listEdges(REPO, { type: null, label: null, nodeId: idOf(2) }, null, MANY)).toEqual([]);
    });

    test('and an insertion at the same time do not meet in the search', async () => {
      await subject.apply(concept(idOf(1), { content: 'walrus' }));
      await Promise.all([
        subject.apply(patch(idOf(1), { content: 'okapi', terms: indexTerms('okapi') })),
        subject.apply(purge(idOf(1))),
        subject.apply(concept(idOf(2), { content: 'tapir' })),
        subject.apply(patch(idOf(2), { content: 'quokka', terms: indexTerms('quokka') })),
      ]);
      expect([await found('walrus okapi tapir'), await found('quokka')]).toEqual([[], [idOf(2)]]);
    });

    test('makes the id free, and the node that takes it is another', async () => {
      await subject.apply(concept(idOf(1), { tags: ['t'] }));
      await subject.apply(purge(idOf(1)));
      await subject.apply(concept(idOf(1), { content: 'anew' }));
      expect(await get(idOf(1))).toMatchObject({ content: 'anew', tags: [], revision: 1 });
    });
  });

  describe('a list', () => {
    const CONCEPTS: Partial<Concept>[] = [
      { type: 'fact', tier: 'task', confidence: 0.5, sessionId: 'a', taskId: 'x', tags: ['t'] },
      { type: 'fact', tier: 'session', confidence: 0.9, sessionId: 'b', taskId: 'x', kind: 'k' },
      { type: 'entity', tier: 'task', confidence: 0.5, sessionId: 'b', tags: ['t', 'u'] },
      { type: 'snippet', tier: 'longterm', confidence: 1, tags: ['t'], taskId: 'y' },
      { type: 'entity', tier: 'archive', confidence: 0, archivedAtMs: START_MS, kind: 'k' },
      { type: 'entity', tier: 'longterm', confidence: 0.5, sessionId: 'a' },
    ];
    const written = () => subject.apply(...CONCEPTS.map((fields, index) => concept(idOf(index), fields)));
    const numbers = async (filter: Partial<NodeFilter> = {}) =>
      (await list(filter)).map(({ id }) => Number(id.slice(-12)));

    const ROWS: [string, Partial<NodeFilter>, number[]][] = [
      ['everything, surest first and newest first', {}, [3, 1, 5, 2, 0, 4]],
      ['some types', { types: ['fact', 'snippet'] }, [3, 1, 0]],
      ['some tiers', { tiers: ['task', 'archive'] }, [2, 0, 4]],
      ['no type', { types: [] }, []],
      ['no tier', { tiers: [] }, []],
      ['the form', { form: 'concept' }, [3, 1, 5, 2, 0, 4]],
      ['another form', { form: 'memory' }, []],
      ['a kind', { kind: 'k' }, [1, 4]],
      ['a least confidence', { minConfidence: 0.5 }, [3, 1, 5, 2, 0]],
      ['a tag', { tag: 't' }, [3, 2, 0]],
      ['a tag and a tier', { tag: 't', tiers: ['task'] }, [2, 0]],
      ['a session, with the shared tiers', { sessionId: 'a' }, [3, 5, 0, 4]],
      ['a session and a tag', { sessionId: 'b', tag: 't' }, [3, 2]],
      ['a session in one tier', { sessionId: 'b', tiers: ['session'] }, [1]],
      ['a session that is not there', { sessionId: 'c', tiers: ['task', 'session'] }, []],
      ['a task', { taskId: 'x' }, [1, 0]],
      ['a task and a tag', { taskId: 'x', tag: 't' }, [0]],
      ['a task in a session, with the shared tiers', { taskId: 'x', sessionId: 'b' }, [1]],
      ['a task in the shared tiers', { taskId: 'y', sessionId: 'a' }, [3]],
    ];
    test.each(ROWS)('of %s', async (_, filter, expected) => {
      await written();
      expect(await numbers(filter)).toEqual(expected);
    });

    test.each(ROWS)('of %s may be walked in steps of one', async (_, filter, expected) => {
      await written();
      const seen: number[] = [];
      for (let after: NodePlace | null = null; ; ) {
        const [node] = await list(filter, after, 1);
        if (!node) break;
        seen.push(Number(node.id.slice(-12)));
        after = { confidence: node.confidence ?? 0, seq: node.seq };
      }
      expect(seen).toEqual(expected);
    });

    test('may be had with nothing but what wears off', async () => {
      await written();
      subject.store.noteAccess(REPO, [idOf(1)], START_MS + 5);
      const filter = { ...EVERYTHING, tiers: ['session', 'longterm'] as const };
      const whole = await list(filter);
      const wear = await subject.store.listWear(REPO, filter, null, MANY);
      expect(wear.map(({ id }) => id)).toEqual(idsIn(whole));
      for (const [index, { id, ...fields }] of wear.entries()) expect(whole[index]).toMatchObject({ id, ...fields });
      expect(wear[0]).not.toHaveProperty('content');
      const [, second] = await subject.store.listWear(REPO, filter, null, 2);
      const rest = await subject.store.listWear(
        REPO,
        filter,
        { confidence: second?.confidence ?? 0, seq: second?.seq ?? 0 },
        1,
      );
      expect(idsIn(rest)).toEqual([whole[2]?.id]);
    });

    test('of a space that nobody wrote to is empty', async () => {
      expect(await subject.store.listNodes('acme/unknown', EVERYTHING, null, MANY)).toEqual([]);
      expect(await subject.store.listRepos(null, MANY)).toEqual([]);
    });
  });

  describe('looks', () => {
    const access = async (id = idOf(1)) => {
      const node = await get(id);
      return [node?.accessCount, node?.lastAccessedAtMs];
    };

    test('are counted at once, and change nothing else', async () => {
      await subject.apply(concept(idOf(1)), concept(idOf(2)));
      const before = await get(idOf(1));
      subject.store.noteAccess(REPO, [idOf(1)], START_MS + 5);
      subject.store.noteAccess(REPO, [idOf(1), idOf(2)], START_MS + 7);
      expect(await get(idOf(1))).toEqual({ ...before, accessCount: 2, lastAccessedAtMs: START_MS + 7 });
      expect(await access(idOf(2))).toEqual([1, START_MS + 7]);
      expect((await list()).map(({ accessCount }) => accessCount).sort()).toEqual([1, 2]);
    });

    test('are there after reopening, and go on from there', async () => {
      await subject.applyGlobal(insertGlobal(idOf(2)));
      await subject.apply(concept(idOf(1)));
      subject.store.noteAccess(REPO, [idOf(1)], START_MS + 5);
      subject.store.noteAccess(GLOBAL_SPACE, [idOf(2)], START_MS + 6);
      await subject.reopen();
      expect([await access(), await access(idOf(2))]).toEqual([
        [1, START_MS + 5],
        [1, START_MS + 6],
      ]);
      subject.store.noteAccess(REPO, [idOf(1)], START_MS + 9);
      expect(await access()).toEqual([2, START_MS + 9]);
      await subject.reopen();
      expect(await access()).toEqual([2, START_MS + 9]);
    });

    test('in another space count for nobody here', async () => {
      await subject.apply(concept(idOf(1)));
      subject.store.noteAccess(OTHER_REPO, [idOf(1)], START_MS + 5);
      expect(await access()).toEqual([0, START_MS]);
    });

    test('at nobody are forgotten', async () => {
      await subject.apply(concept(idOf(1)));
      subject.store.noteAccess(REPO, [idOf(9)], START_MS + 5);
      await subject.reopen();
      await subject.apply(concept(idOf(9)));
      expect(await access(idOf(9))).toEqual([0, START_MS]);
    });

    test('at a repo that is dropped do not come back with it', async () => {
      await subject.apply(concept(idOf(1)));
      subject.store.noteAccess(REPO, [idOf(1)], START_MS + 5);
      await subject.store.dropRepo(REPO);
      await subject.apply(concept(idOf(1)));
      expect(await access()).toEqual([0, START_MS]);
    });
  });
}
