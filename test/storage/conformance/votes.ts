import { expect, test } from 'vitest';
import { GLOBAL_SPACE, viewOf } from '../../../src/domain/spaces.js';
import { attach, idOf, insert, insertGlobal, OTHER_REPO, REPO, START_MS, vote } from '../../support/plans.js';
import { ALL_IDS, type Subject } from './subject.js';

const PROBLEM = idOf(1);
const SOLUTION = idOf(2);
const MANY = 100;

export function votes(subject: Subject): void {
  const furnish = () => subject.apply(insert(PROBLEM, { kind: 'problem' }), insert(SOLUTION, { kind: 'solution' }));
  const sums = async (view = viewOf(REPO), ids = ALL_IDS) =>
    Object.fromEntries(await subject.store.sumVotes(view, ids));
  const idsFor = async (view = viewOf(REPO), limit = MANY) =>
    (await subject.store.findVotes(view, SOLUTION, limit)).map(({ id }) => id);

  test('a memory that nobody voted on has no sum and no votes', async () => {
    await furnish();
    expect(await sums()).toEqual({});
    expect(await sums(viewOf(REPO), [])).toEqual({});
    expect(await idsFor()).toEqual([]);
  });

  test('a vote comes back as it was given, with its evidence', async () => {
    await furnish();
    await subject.apply(
      vote(SOLUTION, PROBLEM, { id: idOf(30), vote: -0.5, rationale: 'misled', atMs: START_MS + 3 }),
      attach({ of: 'vote', id: idOf(30) }, ['test:a', 'test:b']),
    );
    expect(await subject.store.findVotes(viewOf(REPO), SOLUTION, MANY)).toEqual([
      {
        id: idOf(30),
        problemId: PROBLEM,
        vote: -0.5,
        rationale: 'misled',
        evidenceRefs: ['test:a', 'test:b'],
        createdAtMs: START_MS + 3,
      },
    ]);
  });

  test('votes append: the same pair may be voted on again and again', async () => {
    await furnish();
    await subject.apply(vote(SOLUTION, PROBLEM), vote(SOLUTION, PROBLEM), vote(SOLUTION, PROBLEM, { vote: -0.5 }));
    expect(await sums()).toEqual({ [SOLUTION]: { count: 3, mean: 0.5 } });
    expect(await idsFor()).toHaveLength(3);
  });

  test('asking for a memory twice does not count its votes twice', async () => {
    await furnish();
    await subject.apply(vote(SOLUTION, PROBLEM));
    expect(await sums(viewOf(REPO), [SOLUTION, SOLUTION])).toEqual({ [SOLUTION]: { count: 1, mean: 1 } });
  });

  test('a vote counts for the memory, not for the problem', async () => {
    await furnish();
    await subject.apply(vote(SOLUTION, PROBLEM));
    expect(await subject.store.findVotes(viewOf(REPO), PROBLEM, MANY)).toEqual([]);
    expect(await sums(viewOf(REPO), [PROBLEM])).toEqual({});
  });

  test('the newest votes come first, and no more than asked for', async () => {
    await furnish();
    await subject.apply(
      vote(SOLUTION, PROBLEM, { id: idOf(30), atMs: START_MS + 2 }),
      vote(SOLUTION, PROBLEM, { id: idOf(31), atMs: START_MS + 3 }),
      vote(SOLUTION, PROBLEM, { id: idOf(32), atMs: START_MS + 1 }),
      vote(SOLUTION, PROBLEM, { id: idOf(33), atMs: START_MS + 3 }),
    );
    expect(await idsFor()).toEqual([33, 31, 30, 32].map(idOf));
    expect(await idsFor(viewOf(REPO), 2)).toEqual([33, 31].map(idOf));
  });

  test('a past moment shows the votes of until then', async () => {
    await furnish();
    await subject.apply(
      vote(SOLUTION, PROBLEM, { id: idOf(30), atMs: START_MS + 1 }),
      vote(SOLUTION, PROBLEM, { id: idOf(31), vote: -1, atMs: START_MS + 2 }),
    );
    const view = viewOf(REPO, { asOfMs: START_MS + 1 });
    expect(await idsFor(view)).toEqual([idOf(30)]);
    expect(await sums(view)).toEqual({ [SOLUTION]: { count: 1, mean: 1 } });
    expect(await sums(viewOf(REPO, { asOfMs: START_MS }))).toEqual({});
  });

  test('votes on a global memory are those of the spaces in the view, together', async () => {
    await subject.applyGlobal(insertGlobal(SOLUTION, { kind: 'solution' }), insertGlobal(idOf(3), { kind: 'problem' }));
    await subject.apply(insert(PROBLEM, { kind: 'problem' }));
    await subject.applyIn(OTHER_REPO, insert(idOf(4), { repoId: OTHER_REPO, kind: 'problem' }));
    await subject.apply(vote(SOLUTION, PROBLEM, { id: idOf(30), vote: 1, atMs: START_MS + 1 }));
    await subject.applyGlobal(vote(SOLUTION, idOf(3), { id: idOf(31), vote: 0, atMs: START_MS + 2 }));
    await subject.applyIn(OTHER_REPO, vote(SOLUTION, idOf(4), { id: idOf(32), vote: -1, repoId: OTHER_REPO }));

    expect(await idsFor()).toEqual([31, 30].map(idOf));
    expect(await idsFor(viewOf(REPO), 1)).toEqual([idOf(31)]);
    expect(await sums()).toEqual({ [SOLUTION]: { count: 2, mean: 0.5 } });
    expect(await sums(viewOf(OTHER_REPO))).toEqual({ [SOLUTION]: { count: 2, mean: -0.5 } });
    expect(await sums({ ...viewOf(REPO), spaces: [GLOBAL_SPACE] })).toEqual({ [SOLUTION]: { count: 1, mean: 0 } });
  });
}
