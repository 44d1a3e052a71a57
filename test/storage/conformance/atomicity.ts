import { describe, expect, test } from 'vitest';
import type { Change } from '../../../src/domain/changes.js';
import { viewOf } from '../../../src/domain/spaces.js';
import { attach, digestOf, idOf, insert, keep, link, move, OTHER_REPO, REPO, vote } from '../../support/plans.js';
import { expectConflict, imageOf, type Subject } from './subject.js';

/** A problem, a solution, two facts and a change, with one of everything that can hang on them. */
export const FURNITURE: readonly Change[] = [
  insert(idOf(1), { kind: 'problem', content: 'Redis port is taken' }),
  insert(idOf(2), { kind: 'solution', content: 'Use another Redis port' }),
  insert(idOf(3), { content: 'Redis port is 6379' }),
  insert(idOf(4), { content: 'Redis port is 6380' }),
  insert(idOf(5), { kind: 'change', content: 'Moved the cart' }),
  attach({ of: 'node', id: idOf(3) }, ['commit:1', 'commit:2']),
  link('attempts', [idOf(2), idOf(1)], { id: idOf(30) }),
  link('fact_update', [idOf(5), idOf(3), idOf(4)], { id: idOf(31), rationale: 'port moved' }),
  attach({ of: 'edge', id: idOf(31) }, ['commit:2']),
  vote(idOf(2), idOf(1), { id: idOf(32), rationale: 'it helped' }),
  attach({ of: 'vote', id: idOf(32) }, ['commit:3']),
  move(idOf(5), { reason: 'old news' }),
  keep('key-1'),
];

/** One change of each sort, all right. */
const GOOD: readonly Change[] = [
  insert(idOf(11), { kind: 'problem', content: 'Cart number one' }),
  insert(idOf(12), { kind: 'solution', content: 'Cart number two' }),
  attach({ of: 'node', id: idOf(11) }, ['commit:9']),
  link('attempts', [idOf(12), idOf(11)]),
  vote(idOf(12), idOf(11)),
  move(idOf(12)),
  keep('key-2'),
];

const UNKNOWN = idOf(39);

/** Changes that contradict the furniture, with the reason and the id that the conflict gives. */
const CONFLICTS: [name: string, change: Change, reason: Parameters<typeof expectConflict>[1], id: string | null][] = [
  ['the same kind and text again', insert(idOf(13), { content: 'redis  PORT is 6380' }, true), 'duplicate', idOf(4)],
  ['the same edge again', link('fact_update', [idOf(5), idOf(3), idOf(4)]), 'edge_exists', null],
  ['a fact replaced by the one it replaced', link('fact_update', [idOf(5), idOf(4), idOf(3)]), 'circle', idOf(3)],
  ['a move from a tier where the node is not', move(idOf(4), { from: 'session' }), 'tier_moved', idOf(4)],
  ['a second archiving', move(idOf(5)), 'tier_moved', idOf(5)],
  ['an edge to nothing', link('related_to', [idOf(4), UNKNOWN]), 'node_missing', UNKNOWN],
  ['a vote on nothing', vote(UNKNOWN, idOf(1)), 'node_missing', UNKNOWN],
  ['a vote for no problem', vote(idOf(2), UNKNOWN), 'node_missing', UNKNOWN],
  ['evidence of nothing', attach({ of: 'node', id: UNKNOWN }, ['commit:9']), 'node_missing', UNKNOWN],
  ['evidence of no edge', attach({ of: 'edge', id: UNKNOWN }, ['commit:9']), 'node_missing', UNKNOWN],
  ['evidence of no vote', attach({ of: 'vote', id: UNKNOWN }, ['commit:9']), 'node_missing', UNKNOWN],
  ['a key that is taken', keep('key-1', { reply: 'another' }), 'key_taken', 'key-1'],
];

/** Changes that no store can hold, whatever was there before. */
const IMPOSSIBLE: [name: string, change: Change][] = [
  ['an id that is taken', insert(idOf(4), { content: 'something else' })],
  ['a vote beyond its range', vote(idOf(2), idOf(1), { vote: 1.5 })],
  ['a vote of a memory on itself', vote(idOf(1), idOf(1))],
  ['a problem as its own attempt', link('attempts', [idOf(1), idOf(1)])],
  ['a fact as its own successor', link('fact_update', [idOf(5), idOf(4), idOf(4)])],
  ['a confidence beyond its range', insert(idOf(14), { confidence: 1.5 })],
  ['an unknown kind', { ...insert(idOf(14)), memory: { ...insert(idOf(14)).memory, kind: 'rumour' } }],
  ['blank evidence', attach({ of: 'node', id: idOf(4) }, ['  '])],
];

export function atomicity(subject: Subject): void {
  test('a plan is carried out as a whole', async () => {
    await subject.apply(...FURNITURE);
    const before = await imageOf(subject.store);
    await subject.apply(...GOOD);
    expect(await imageOf(subject.store)).not.toEqual(before);
    expect(await subject.shownIn(viewOf(REPO))).toEqual([1, 2, 3, 4, 11].map(idOf));
  });

  test('a plan of no changes is carried out too', async () => {
    await expect(subject.apply()).resolves.toBeUndefined();
  });

  describe('a plan that fails in its last change leaves nothing', () => {
    test.each(CONFLICTS)('%s', async (_, change, reason, id) => {
      await subject.apply(...FURNITURE);
      const before = await imageOf(subject.store);
      const conflict = await expectConflict(subject.apply(...GOOD, change), reason);
      if (id !== null) expect(conflict.id).toBe(id);
      expect(await imageOf(subject.store)).toEqual(before);
    });

    test.each(IMPOSSIBLE)('%s', async (_, change) => {
      await subject.apply(...FURNITURE);
      const before = await imageOf(subject.store);
      await expect(subject.apply(...GOOD, change)).rejects.toThrow();
      expect(await imageOf(subject.store)).toEqual(before);
    });
  });

  test('what failed may be tried again in its right form', async () => {
    await subject.apply(...FURNITURE);
    await expectConflict(subject.apply(...GOOD, keep('key-1')), 'key_taken');
    await subject.apply(...GOOD);
    expect(await subject.shownIn(viewOf(REPO))).toContain(idOf(11));
  });

  describe('a duplicate is a live, current memory of the same kind and text in the same space', () => {
    const original = insert(idOf(3), { content: 'Redis port is 6379' });
    const again = insert(idOf(6), { content: 'redis port IS 6379' }, true);
    const sameText = (space = REPO) => subject.store.findSameText(space, 'fact', digestOf('Redis port is 6379'));
    const replaced = [
      insert(idOf(4)),
      insert(idOf(5), { kind: 'change' }),
      link('fact_update', [idOf(5), idOf(3), idOf(4)]),
    ];

    test('it is found, and refused', async () => {
      await subject.apply(original);
      expect(await sameText()).toEqual([{ id: idOf(3), archived: false, superseded: false }]);
      expect((await expectConflict(subject.apply(again), 'duplicate')).id).toBe(idOf(3));
    });

    test('even when the plan itself wrote it', async () => {
      await expectConflict(subject.apply(original, again), 'duplicate');
    });

    test('unless the plan does not mind', async () => {
      await subject.apply(original, { ...again, refuseDuplicate: false });
      expect(await subject.shownIn(viewOf(REPO))).toEqual([idOf(3), idOf(6)]);
    });

    test('an archived one is none', async () => {
      await subject.apply(original, move(idOf(3)));
      expect(await sameText()).toEqual([{ id: idOf(3), archived: true, superseded: false }]);
      await subject.apply(again);
    });

    test('a fact that was replaced is none', async () => {
      await subject.apply(original, ...replaced);
      expect(await sameText()).toEqual([{ id: idOf(3), archived: false, superseded: true }]);
      await subject.apply(again);
    });

    test('one of another kind is none', async () => {
      await subject.apply(insert(idOf(3), { kind: 'preference', content: 'Redis port is 6379' }));
      expect(await sameText()).toEqual([]);
      await subject.apply(again);
    });

    test('one in another repo or in the global space is none', async () => {
      await subject.applyIn(OTHER_REPO, insert(idOf(3), { repoId: OTHER_REPO, content: 'Redis port is 6379' }));
      await subject.applyGlobal(insert(idOf(7), { scope: 'global', content: 'Redis port is 6379' }));
      expect(await sameText()).toEqual([]);
      await subject.apply(again);
    });

    test('one that came back from the archive is one again', async () => {
      await subject.apply(original, move(idOf(3)), move(idOf(3), { from: 'archive', to: 'longterm' }));
      await expectConflict(subject.apply(again), 'duplicate');
    });

    test('the fact that replaced another is one', async () => {
      await subject.apply(insert(idOf(4)), insert(idOf(5), { kind: 'change' }), original);
      await subject.apply(link('fact_update', [idOf(5), idOf(4), idOf(3)]));
      await expectConflict(subject.apply(again), 'duplicate');
    });

    test('all of the same text are found: those in use before the archived, the current before the replaced', async () => {
      await subject.apply({ ...again, refuseDuplicate: false }, original, ...replaced, move(idOf(6)));
      expect(await sameText()).toEqual([
        { id: idOf(3), archived: false, superseded: true },
        { id: idOf(6), archived: true, superseded: false },
      ]);
    });
  });
}
