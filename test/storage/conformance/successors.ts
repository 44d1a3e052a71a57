import { expect, test } from 'vitest';
import { GLOBAL_SPACE, type View, viewOf } from '../../../src/domain/spaces.js';
import { idOf, insert, insertGlobal, link, OTHER_REPO, REPO, START_MS } from '../../support/plans.js';
import { ALL_IDS, type Subject } from './subject.js';

const OLD = idOf(1);
const CHANGE = idOf(9);

export function successors(subject: Subject): void {
  const facts = (...numbers: number[]) => [
    ...numbers.map((number) => insert(idOf(number))),
    insert(CHANGE, { kind: 'change' }),
  ];
  const replaced = (oldId: string, newId: string, minute = 0, changeId = CHANGE) =>
    link('fact_update', [changeId, oldId, newId], { atMs: START_MS + minute * 60_000 });
  const found = async (view: View = viewOf(REPO), ids = ALL_IDS) =>
    Object.fromEntries(await subject.store.findSuccessors(view, ids));

  test('a fact that was not replaced has none', async () => {
    await subject.apply(...facts(1, 2));
    expect(await found()).toEqual({});
    expect(await found(viewOf(REPO), [])).toEqual({});
  });

  test('a replaced fact has the one that replaced it, step by step', async () => {
    await subject.apply(...facts(1, 2, 3), replaced(OLD, idOf(2)), replaced(idOf(2), idOf(3)));
    expect(await found()).toEqual({ [OLD]: idOf(2), [idOf(2)]: idOf(3) });
    expect(await found(viewOf(REPO), [idOf(2)])).toEqual({ [idOf(2)]: idOf(3) });
  });

  test('a fact that was replaced twice has the one that last replaced it', async () => {
    await subject.apply(...facts(1, 2, 3), replaced(OLD, idOf(2), 1), replaced(OLD, idOf(3), 2));
    expect(await found()).toEqual({ [OLD]: idOf(3) });
  });

  test('whatever order the replacements were written in', async () => {
    await subject.apply(...facts(1, 2, 3), replaced(OLD, idOf(3), 2), replaced(OLD, idOf(2), 1));
    expect(await found()).toEqual({ [OLD]: idOf(3) });
  });

  test('of replacements at the same moment the one written last counts', async () => {
    await subject.apply(...facts(1, 2, 3), replaced(OLD, idOf(3)), replaced(OLD, idOf(2)));
    expect(await found()).toEqual({ [OLD]: idOf(2) });
  });

  test('a past moment shows the one of that moment', async () => {
    await subject.apply(...facts(1, 2, 3), replaced(OLD, idOf(2), 1), replaced(OLD, idOf(3), 2));
    const at = (minute: number) => found(viewOf(REPO, { asOfMs: START_MS + minute * 60_000 }));
    expect(await at(0)).toEqual({});
    expect(await at(1)).toEqual({ [OLD]: idOf(2) });
    expect(await at(2)).toEqual({ [OLD]: idOf(3) });
  });

  test('neither an attempt nor an association replaces anything', async () => {
    await subject.apply(
      ...facts(1, 2),
      insert(idOf(3), { kind: 'problem' }),
      link('attempts', [idOf(2), idOf(3)]),
      link('related_to', [OLD, idOf(2)]),
    );
    expect(await found()).toEqual({});
  });

  test('a repo may replace a global fact for itself; others and the global space do not see it', async () => {
    await subject.applyGlobal(insertGlobal(OLD));
    await subject.apply(...facts(2), replaced(OLD, idOf(2)));
    expect(await found()).toEqual({ [OLD]: idOf(2) });
    expect(await found(viewOf(OTHER_REPO))).toEqual({});
    expect(await found({ ...viewOf(REPO), spaces: [GLOBAL_SPACE] })).toEqual({});
  });

  test.each([
    ['the repo', 2, 1, idOf(2)],
    ['the global space', 1, 2, idOf(3)],
  ])(
    'of replacements in two spaces the last one counts, here that of %s',
    async (_, repoMinute, globalMinute, newId) => {
      const globalChange = idOf(8);
      await subject.applyGlobal(
        insertGlobal(OLD),
        insertGlobal(idOf(3)),
        insertGlobal(globalChange, { kind: 'change' }),
      );
      await subject.apply(...facts(2), replaced(OLD, idOf(2), repoMinute));
      await subject.applyGlobal(replaced(OLD, idOf(3), globalMinute, globalChange));
      expect(await found()).toEqual({ [OLD]: newId });
    },
  );
}
