import { describe, expect, test } from 'vitest';
import { GLOBAL_SPACE, type View, viewOf } from '../../../src/domain/spaces.js';
import { idOf, insert, insertGlobal, link, OTHER_REPO, REPO, START_MS } from '../../support/plans.js';
import { ALL_IDS, MANY, type Subject } from './subject.js';

const OLD = idOf(1);
const CHANGE = idOf(9);

export function replacements(subject: Subject): void {
  const facts = (...numbers: number[]) => [
    ...numbers.map((number) => insert(idOf(number))),
    insert(CHANGE, { kind: 'change' }),
  ];
  const replaced = (oldId: string, newId: string, minute = 0, changeId = CHANGE) =>
    link('fact_update', [changeId, oldId, newId], { atMs: START_MS + minute * 60_000, rationale: `minute ${minute}` });
  const step = (oldId: string, newId: string, minute = 0) => ({ oldId, newId, atMs: START_MS + minute * 60_000 });
  const explained = (oldId: string, newId: string, minute = 0, changeId = CHANGE) => ({
    ...step(oldId, newId, minute),
    changeId,
    rationale: `minute ${minute}`,
  });
  const onwards = async (view: View = viewOf(REPO), ids = ALL_IDS) =>
    (await subject.store.findReplacements(view, ids, MANY)).found;
  const history = async (id: string, view: View = viewOf(REPO)) =>
    (await subject.store.findHistory(view, [id], MANY)).found;

  test('a fact that was not replaced has none', async () => {
    await subject.apply(...facts(1, 2));
    expect(await onwards()).toEqual([]);
    expect(await onwards(viewOf(REPO), [])).toEqual([]);
  });

  test('onwards they are followed to the end, newest first, and not back', async () => {
    await subject.apply(...facts(1, 2, 3, 4), replaced(OLD, idOf(2), 1), replaced(idOf(2), idOf(3), 2));
    await subject.apply(replaced(idOf(4), idOf(3), 3));
    expect(await onwards(viewOf(REPO), [OLD])).toEqual([step(idOf(2), idOf(3), 2), step(OLD, idOf(2), 1)]);
    expect(await onwards(viewOf(REPO), [idOf(2)])).toEqual([step(idOf(2), idOf(3), 2)]);
  });

  test('the whole history is found from any of its facts and from its changes', async () => {
    const other = idOf(8);
    await subject.apply(...facts(1, 2, 3, 4, 5), insert(other, { kind: 'change' }));
    await subject.apply(replaced(OLD, idOf(2), 1), replaced(idOf(2), idOf(3), 2, other), replaced(idOf(4), idOf(3), 3));
    const all = [explained(idOf(4), idOf(3), 3), explained(idOf(2), idOf(3), 2, other), explained(OLD, idOf(2), 1)];
    for (const id of [OLD, idOf(2), idOf(3), idOf(4), CHANGE, other]) expect(await history(id)).toEqual(all);
    expect(await history(idOf(5))).toEqual([]);
  });

  test.each([
    ['the clock', 1, 2],
    ['the order of writing, where the clock stood still', 1, 1],
  ])('of two replacements of one fact the newer comes first, by %s', async (_, first, second) => {
    await subject.apply(...facts(1, 2, 3), replaced(OLD, idOf(3), first), replaced(OLD, idOf(2), second));
    expect(await onwards()).toEqual([step(OLD, idOf(2), second), step(OLD, idOf(3), first)]);
  });

  test('whatever order the replacements were written in', async () => {
    await subject.apply(...facts(1, 2, 3), replaced(OLD, idOf(3), 2), replaced(OLD, idOf(2), 1));
    expect((await onwards()).map(({ newId }) => newId)).toEqual([idOf(3), idOf(2)]);
  });

  test('a past moment shows those of until then', async () => {
    await subject.apply(...facts(1, 2, 3), replaced(OLD, idOf(2), 1), replaced(idOf(2), idOf(3), 2));
    const at = (minute: number) => viewOf(REPO, { asOfMs: START_MS + minute * 60_000 });
    expect(await onwards(at(0))).toEqual([]);
    expect(await onwards(at(1))).toEqual([step(OLD, idOf(2), 1)]);
    expect(await history(idOf(3), at(1))).toEqual([]);
    expect(await onwards(at(2))).toHaveLength(2);
  });

  test('neither an attempt nor an association replaces anything', async () => {
    await subject.apply(
      ...facts(1, 2),
      insert(idOf(3), { kind: 'problem' }),
      link('attempts', [idOf(2), idOf(3)]),
      link('related_to', [OLD, idOf(2)]),
    );
    expect(await onwards()).toEqual([]);
    expect(await history(OLD)).toEqual([]);
  });

  test('of a history that is too long the nearest are told, and that there are more', async () => {
    const numbers = [1, 2, 3, 4, 5];
    await subject.apply(...facts(...numbers, 6), ...numbers.map((at) => replaced(idOf(at), idOf(at + 1), at)));
    const around = (max: number) => subject.store.findHistory(viewOf(REPO), [idOf(3)], max);
    expect((await around(5)).isComplete).toBe(true);
    expect(await around(2)).toMatchObject({ found: [{ oldId: idOf(3) }, { oldId: idOf(2) }], isComplete: false });
    const after = (max: number) => subject.store.findReplacements(viewOf(REPO), [OLD], max);
    expect((await after(5)).isComplete).toBe(true);
    for (const max of [1, 2, 3, 4]) {
      const { found, isComplete } = await after(max);
      expect(found.map(({ oldId }) => oldId)).toEqual(numbers.slice(0, max).map(idOf).reverse());
      expect(isComplete).toBe(false);
    }
  });

  describe('of global facts', () => {
    test('made by a repo are seen in that repo only', async () => {
      await subject.applyGlobal(insertGlobal(OLD));
      await subject.apply(...facts(2), replaced(OLD, idOf(2)));
      expect(await onwards()).toEqual([step(OLD, idOf(2))]);
      expect(await onwards(viewOf(OTHER_REPO))).toEqual([]);
      expect(await onwards({ ...viewOf(REPO), spaces: [GLOBAL_SPACE] })).toEqual([]);
    });

    test('are followed from space to space and back', async () => {
      const change = idOf(8);
      await subject.applyGlobal(...[1, 2, 3, 4].map((number) => insertGlobal(idOf(number))));
      await subject.applyGlobal(insertGlobal(change, { kind: 'change' }), replaced(OLD, idOf(2), 1, change));
      await subject.applyGlobal(replaced(idOf(3), idOf(4), 3, change));
      await subject.apply(...facts(5), replaced(idOf(2), idOf(3), 2), replaced(idOf(4), idOf(5), 4));
      expect(await history(idOf(5))).toEqual([
        explained(idOf(4), idOf(5), 4),
        explained(idOf(3), idOf(4), 3, change),
        explained(idOf(2), idOf(3), 2),
        explained(OLD, idOf(2), 1, change),
      ]);
      const steps = [1, 2, 3, 4].map((at) => step(idOf(at), idOf(at + 1), at)).reverse();
      expect(await onwards(viewOf(REPO), [OLD])).toEqual(steps);
      expect(await onwards(viewOf(OTHER_REPO), [OLD])).toEqual([step(OLD, idOf(2), 1)]);
    });

    test('may close a circle that neither space could see; following it ends', async () => {
      const change = idOf(8);
      await subject.applyGlobal(insertGlobal(OLD), insertGlobal(idOf(2)), insertGlobal(change, { kind: 'change' }));
      await subject.apply(...facts(), replaced(OLD, idOf(2), 1));
      await subject.applyGlobal(replaced(idOf(2), OLD, 2, change));
      expect(await onwards(viewOf(REPO), [OLD])).toEqual([step(idOf(2), OLD, 2), step(OLD, idOf(2), 1)]);
    });
  });
}
