import { describe, expect, test } from 'vitest';
import { GLOBAL_SPACE, viewOf } from '../../../src/domain/spaces.js';
import {
  attach,
  concept,
  digestOf,
  idOf,
  insert,
  insertGlobal,
  keep,
  link,
  move,
  OTHER_REPO,
  patch,
  REPO,
} from '../../support/plans.js';
import { imageOf, LABELS, MANY, type Subject, sortedRows } from './subject.js';

export function repos(subject: Subject): void {
  const listed = async (after: string | null = null, limit = MANY) =>
    (await subject.store.listRepos(after, limit)).map(({ repoId }) => repoId);
  const found = (repoId: string) => subject.applyIn(repoId, insert(idOf(1), { repoId }));

  test('an empty store has no repos, and writing to the global space founds none', async () => {
    expect(await listed()).toEqual([]);
    await subject.applyGlobal(insertGlobal(idOf(1)));
    expect(await listed()).toEqual([]);
  });

  test('concepts are counted together, however many words there are for their kinds, and nothing is counted as none', async () => {
    await subject.apply(...[1, 2, 3].map((number) => concept(idOf(number), { kind: `kind ${number}` })));
    const count = { form: 'concept', kind: '', tier: 'task', nodes: 3 };
    expect(await subject.store.countNodes(REPO)).toEqual([count]);
    await subject.apply(patch(idOf(1), { kind: 'new' }), move(idOf(2), { from: 'task', to: 'longterm' }));
    expect(await subject.store.countNodes(REPO)).toEqual([
      { ...count, tier: 'longterm', nodes: 1 },
      { ...count, nodes: 2 },
    ]);
    await subject.apply(
      ...[1, 2, 3].map((number) => ({ change: 'purge_node', nodeId: idOf(number), repoId: REPO, atMs: 0 }) as const),
    );
    expect(await subject.store.countNodes(REPO)).toEqual([]);
    expect(await subject.store.countTerms(viewOf(REPO), [])).toMatchObject({ documents: 0, terms: 0 });
  });

  test('no read founds a repo', async () => {
    const view = viewOf('acme/unknown', { includeArchived: true });
    await subject.store.getMemories(view, [idOf(1)]);
    await subject.store.findSameText('acme/unknown', 'fact', digestOf('x'));
    await subject.store.getBriefs(view, [idOf(1)]);
    await subject.store.countTerms(view, ['x']);
    await subject.store.searchTerms(view, { any: ['x'], also: [] }, MANY);
    await subject.store.findEdges(view, [idOf(1)], LABELS, MANY);
    await subject.store.findNeighbours(view, [idOf(1)], LABELS, MANY);
    await subject.store.findEdgesByKey(view, ['related_to|a|b']);
    await subject.store.findReplacements(view, [idOf(1)], MANY);
    await subject.store.findHistory(view, [idOf(1)], MANY);
    await subject.store.sumVotes(view, [idOf(1)]);
    await subject.store.findVotes(view, idOf(1), MANY);
    await subject.store.findEvidence(view, idOf(1), MANY);
    await subject.store.findAttached(view, idOf(1), ['a']);
    await subject.store.findReply('acme/unknown', 'key-1', 0);
    await subject.store.countNodes('acme/unknown');
    await subject.store.dropRepo('acme/unknown');
    expect(await listed()).toEqual([]);
    expect((await subject.store.summarize()).repos).toBe(0);
  });

  test('repos are listed in the order of their ids, whatever characters they hold', async () => {
    const ids = ['b', 'a', 'B', 'a/b', '../x', 'a b', '10', '9', 'é', '数据', '%', "it's"];
    for (const id of ids) await found(id);
    expect(await listed()).toEqual([...ids].sort());
    expect((await subject.store.summarize()).repos).toBe(ids.length);
  });

  test('ids that differ in case or composition are different repos', async () => {
    const ids = ['Shop', 'shop', 'SHOP', 'caf\u00e9', 'cafe\u0301'];
    for (const [number, repoId] of ids.entries()) await subject.applyIn(repoId, insert(idOf(number), { repoId }));
    for (const [number, repoId] of ids.entries()) expect(await subject.shownIn(viewOf(repoId))).toEqual([idOf(number)]);
  });

  test('pages follow each other without gap or repetition, even after a repo that is gone', async () => {
    for (const id of ['e', 'c', 'a', 'd', 'b']) await found(id);
    expect(await listed(null, 2)).toEqual(['a', 'b']);
    expect(await listed('b', 2)).toEqual(['c', 'd']);
    expect(await listed('d', 2)).toEqual(['e']);
    expect(await listed('e', 2)).toEqual([]);
    await subject.store.dropRepo('b');
    expect(await listed('b', 2)).toEqual(['c', 'd']);
  });

  test('a listed repo says how much it holds, and since when', async () => {
    await found(REPO);
    const [repo] = await subject.store.listRepos(null, MANY);
    expect(repo?.bytes).toBeGreaterThan(0);
    expect(Number.isInteger(repo?.createdAtMs)).toBe(true);
    expect(repo?.counts).toEqual([{ form: 'memory', kind: 'fact', tier: 'longterm', nodes: 1 }]);
    await subject.apply(insert(idOf(2)));
    expect((await subject.store.listRepos(null, MANY))[0]?.createdAtMs).toBe(repo?.createdAtMs);
  });

  test('nodes are counted by form, kind and tier, as they are now', async () => {
    await subject.applyGlobal(insertGlobal(idOf(9)));
    await subject.apply(
      insert(idOf(1)),
      insert(idOf(2)),
      insert(idOf(3), { kind: 'problem', tier: 'session' }),
      move(idOf(2)),
      // A global memory that the repo refers to is not one of the repo's.
      link('related_to', [idOf(1), idOf(9)]),
    );
    const memory = (kind: string, tier: string, nodes: number) => ({ form: 'memory', kind, tier, nodes });
    expect(sortedRows(await subject.store.countNodes(REPO))).toEqual(
      sortedRows([memory('fact', 'longterm', 1), memory('fact', 'archive', 1), memory('problem', 'session', 1)]),
    );
    expect(await subject.store.countNodes(GLOBAL_SPACE)).toEqual([memory('fact', 'longterm', 1)]);
    await subject.apply(move(idOf(2), { from: 'archive', to: 'longterm' }));
    expect(sortedRows(await subject.store.countNodes(REPO))).toEqual(
      sortedRows([memory('fact', 'longterm', 2), memory('problem', 'session', 1)]),
    );
  });

  describe('a dropped repo', () => {
    const furnish = async () => {
      await subject.applyGlobal(insertGlobal(idOf(9), { content: 'redis' }));
      for (const [number, repoId] of [REPO, OTHER_REPO].entries()) {
        await subject.applyIn(
          repoId,
          insert(idOf(number), { repoId, content: 'redis' }),
          attach({ of: 'node', id: idOf(number) }, ['a'], { repoId }),
          link('related_to', [idOf(number), idOf(9)], { repoId }),
          keep('key-1', { repoId }),
        );
      }
    };

    test('is gone with everything in it', async () => {
      await furnish();
      expect(await subject.store.dropRepo(REPO)).toBe(true);
      const view = viewOf(REPO, { includeArchived: true });
      expect(await listed()).toEqual([OTHER_REPO]);
      expect(await subject.shownIn(view)).toEqual([idOf(9)]);
      expect(await subject.store.findEdges(view, [idOf(0), idOf(9)], LABELS, MANY)).toEqual([]);
      expect(await subject.store.findEvidence(view, idOf(0), MANY)).toEqual([]);
      expect(await subject.store.findReply(REPO, 'key-1', 0)).toBeNull();
      expect(await subject.store.countNodes(REPO)).toEqual([]);
      expect((await subject.store.countTerms(view, ['redi'])).documents).toBe(1);
    });

    test('leaves other repos and the global space as they were', async () => {
      await furnish();
      const view = viewOf(OTHER_REPO);
      await subject.store.dropRepo(REPO);
      expect(await subject.shownIn(view)).toEqual([idOf(1), idOf(9)]);
      expect(await subject.store.findEdges(view, [idOf(9)], LABELS, MANY)).toHaveLength(1);
      expect(await subject.store.findEvidence(view, idOf(1), MANY)).toEqual(['a']);
      expect(await subject.store.findReply(OTHER_REPO, 'key-1', 0)).not.toBeNull();
    });

    test('is gone for good, after reopening too', async () => {
      await furnish();
      await subject.store.dropRepo(REPO);
      const before = await imageOf(subject.store);
      expect(await imageOf(await subject.reopen())).toEqual(before);
    });

    test('cannot be dropped again', async () => {
      await furnish();
      expect(await subject.store.dropRepo(REPO)).toBe(true);
      expect(await subject.store.dropRepo(REPO)).toBe(false);
      expect(await subject.store.dropRepo('acme/unknown')).toBe(false);
    });

    test('begins empty when it is written to again', async () => {
      await furnish();
      await subject.store.dropRepo(REPO);
      await subject.apply(insert(idOf(0)));
      expect(await subject.shownIn(viewOf(REPO))).toEqual([idOf(0), idOf(9)]);
      expect(await subject.store.findEvidence(viewOf(REPO), idOf(0), MANY)).toEqual([]);
    });

    test('takes along what was being written to it before', async () => {
      await furnish();
      const applied = subject.apply(insert(idOf(5)));
      const dropped = subject.store.dropRepo(REPO);
      await Promise.allSettled([applied]);
      expect(await dropped).toBe(true);
      expect(await subject.shownIn(viewOf(REPO))).toEqual([idOf(9)]);
      expect(await listed()).toEqual([OTHER_REPO]);
    });

    test('is never the global space: that is no repo', async () => {
      await furnish();
      const before = await imageOf(subject.store);
      expect(await subject.store.dropRepo(GLOBAL_SPACE).catch(() => false)).toBe(false);
      expect(await imageOf(subject.store)).toEqual(before);
      expect(await imageOf(await subject.reopen())).toEqual(before);
    });
  });
}
