import { expect, test } from 'vitest';
import type { Plan } from '../../../src/domain/changes.js';
import { GLOBAL_SPACE, viewOf } from '../../../src/domain/spaces.js';
import { ApplyConflict } from '../../../src/storage/port.js';
import {
  globalPlanOf,
  idOf,
  insert,
  insertGlobal,
  keep,
  link,
  move,
  OTHER_REPO,
  planIn,
  planOf,
  REPO,
} from '../../support/plans.js';
import { ALL_IDS, type Subject } from './subject.js';

const statusesOf = (results: readonly PromiseSettledResult<void>[]): string[] => results.map(({ status }) => status);

export function concurrency(subject: Subject): void {
  const applyAll = (plans: readonly Plan[]): Promise<PromiseSettledResult<void>[]> =>
    Promise.allSettled(plans.map((plan) => subject.store.apply(plan)));

  test('of plans at once each succeeds or fails alone', async () => {
    await subject.apply(keep('taken'));
    // Every third plan inserts a memory and then fails.
    const plans = ALL_IDS.map((id, index) =>
      index % 3 === 0 ? planOf(insert(id), keep('taken')) : planOf(insert(id), keep(`free-${index}`)),
    );
    const results = await applyAll(plans);
    expect(statusesOf(results)).toEqual(ALL_IDS.map((_, index) => (index % 3 === 0 ? 'rejected' : 'fulfilled')));
    expect(await subject.shownIn(viewOf(REPO))).toEqual(ALL_IDS.filter((_, index) => index % 3 !== 0));
  });

  test('one bad plan does not harm the others, whatever its place among them', async () => {
    const bad = planOf(insert(idOf(30)), link('related_to', [idOf(30), idOf(31)]));
    for (const [place, round] of [0, 1, 2].entries()) {
      const plans = [10, 20].map((tens) => planOf(insert(idOf(tens + round))));
      plans.splice(place, 0, bad);
      const results = await applyAll(plans);
      expect(statusesOf(results).map((status) => status === 'rejected')).toEqual(
        [0, 1, 2].map((index) => index === place),
      );
    }
    expect(await subject.shownIn(viewOf(REPO))).toEqual([10, 11, 12, 20, 21, 22].map(idOf));
  });

  test('of many plans with the same text one wins, and the others are told which', async () => {
    const ids = ALL_IDS.slice(0, 20);
    const results = await applyAll(ids.map((id) => planOf(insert(id, { content: 'said by all' }, true))));
    const shown = await subject.shownIn(viewOf(REPO));
    expect(shown).toHaveLength(1);
    const refused = results.flatMap((result) => (result.status === 'rejected' ? [result.reason] : []));
    expect(refused).toHaveLength(19);
    for (const error of refused) {
      expect(error).toBeInstanceOf(ApplyConflict);
      expect(error).toMatchObject({ reason: 'duplicate', id: shown[0] });
    }
  });

  test.each([
    ['archive the same memory', 'tier_moved', () => planOf(move(idOf(1)))],
    ['make the same edge', 'edge_exists', () => planOf(link('related_to', [idOf(1), idOf(2)]))],
    ['keep an answer under the same key', 'key_taken', () => planOf(keep('one-key'))],
  ] as const)('of many plans that %s one wins', async (_, reason, plan) => {
    await subject.apply(insert(idOf(1)), insert(idOf(2)));
    const results = await applyAll(Array.from({ length: 10 }, plan));
    expect(statusesOf(results).filter((status) => status === 'fulfilled')).toHaveLength(1);
    for (const result of results) if (result.status === 'rejected') expect(result.reason).toMatchObject({ reason });
  });

  test('plans for several spaces at once each arrive in their own', async () => {
    const results = await applyAll(
      ALL_IDS.map((id, index) => {
        if (index % 3 === 0) return globalPlanOf(insertGlobal(id));
        const repoId = index % 3 === 1 ? REPO : OTHER_REPO;
        return planIn(repoId, insert(id, { repoId }));
      }),
    );
    expect(new Set(statusesOf(results))).toEqual(new Set(['fulfilled']));
    for (const [rest, space] of [GLOBAL_SPACE, REPO, OTHER_REPO].entries()) {
      const view = { ...viewOf(space), spaces: [space] };
      expect(await subject.shownIn(view)).toEqual(ALL_IDS.filter((_, index) => index % 3 === rest));
    }
  });

  test('what a settled plan wrote is there for the next read, while other plans are still under way', async () => {
    const seen = await Promise.all(
      ALL_IDS.map(async (id) => {
        await subject.apply(insert(id));
        return subject.shownIn(viewOf(REPO), [id]);
      }),
    );
    expect(seen).toEqual(ALL_IDS.map((id) => [id]));
  });

  test('a great many plans at once all arrive', async () => {
    const ids = Array.from({ length: 500 }, (_, number) => idOf(1_000 + number));
    await Promise.all(ids.map((id) => subject.apply(insert(id))));
    expect(await subject.shownIn(viewOf(REPO), ids)).toEqual(ids);
  });
}
