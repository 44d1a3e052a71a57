import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type View, viewOf } from '../../../src/domain/spaces.js';
import { indexTerms } from '../../../src/domain/terms.js';
import { ApplyConflict, type Store } from '../../../src/storage/port.js';
import { digestOf, idOf, OTHER_REPO, REPO, START_MS } from '../../support/plans.js';
import { PlainStore } from './plain-store.js';
import { anySteps, KEYS, KINDS, planOf, SPACES, TEXTS } from './random-plans.js';
import { LABELS, MANY, type Subject, sortedRows } from './subject.js';

const RUN = { seed: 20_260_101, numRuns: 60 };

const TERMS = [...new Set(TEXTS.flatMap(indexTerms))];
const STEP_MS = 10;

const outcomeOf = async (act: () => void | Promise<void>): Promise<string> => {
  try {
    await act();
    return 'applied';
  } catch (error) {
    if (!(error instanceof ApplyConflict)) throw error;
    return error.reason;
  }
};

const sortedIds = (items: readonly { id: string }[]): string[] => items.map(({ id }) => id).sort();

async function expectSame(store: Store, model: PlainStore, view: View, ids: readonly string[]): Promise<void> {
  const byId = (a: { id: string }, b: { id: string }): number => (a.id < b.id ? -1 : 1);
  expect((await store.getMemories(view, ids)).sort(byId)).toEqual(model.getMemories(view).sort(byId));
  expect(sortedIds(await store.getBriefs(view, ids))).toEqual(sortedIds(model.getMemories(view)));
  expect(sortedIds(await store.findEdges(view, ids, LABELS, MANY))).toEqual(sortedIds(model.findEdges(view)));
  expect(sortedRows(await store.findNeighbours(view, ids, LABELS, MANY))).toEqual(
    sortedRows(model.findNeighbours(view)),
  );
  const keys = model.findEdgeKeys({ ...view, spaces: SPACES });
  const stored = await store.findEdgesByKey(view, [...keys]);
  expect(new Set(stored.keys())).toEqual(model.findEdgeKeys(view));
  expect(sortedIds([...stored.values()])).toEqual(sortedIds(model.findEdges({ ...view, asOfMs: null })));
  for (const id of ids) {
    const after = await store.findReplacements(view, [id], MANY);
    expect({ ...after, found: sortedRows(after.found) }).toEqual({
      found: sortedRows(model.findReplacements(view, id)),
      isComplete: true,
    });
    const around = await store.findHistory(view, [id], MANY);
    expect({ ...around, found: sortedRows(around.found) }).toEqual({
      found: sortedRows(model.findHistory(view, id)),
      isComplete: true,
    });
  }
  const corpus = await store.countTerms(view, TERMS);
  const expected = model.searchTerms(view, TERMS);
  expect({
    documents: corpus.documents,
    terms: corpus.terms,
    frequencies: TERMS.map((term) => corpus.frequencies.get(term) ?? 0),
    candidateIds: sortedIds(
      (await store.searchTerms(view, { any: TERMS, also: [] }, MANY)).map(({ memory }) => memory),
    ),
  }).toEqual({ ...expected, candidateIds: [...expected.candidateIds].sort() });
  const sums = await store.sumVotes(view, ids);
  for (const id of ids) {
    const votes = model.findVotes(view, id);
    expect(sortedIds(await store.findVotes(view, id, MANY))).toEqual(sortedIds(votes));
    expect(sums.get(id)?.count ?? 0).toBe(votes.length);
    if (votes.length > 0)
      expect(sums.get(id)?.mean).toBeCloseTo(votes.reduce((sum, row) => sum + row.vote, 0) / votes.length, 10);
    expect((await store.findEvidence(view, id, MANY)).sort()).toEqual(model.findEvidence(view, id).sort());
  }
}

async function expectSameInSpace(store: Store, model: PlainStore, space: string): Promise<void> {
  expect(sortedRows(await store.countNodes(space))).toEqual(sortedRows(model.countNodes(space)));
  for (const kind of KINDS) {
    for (const text of TEXTS) {
      const found = await store.findSameText(space, kind, digestOf(text));
      expect(found).toEqual(model.findSameText(space, kind, digestOf(text)));
    }
  }
}

export function model(subject: Subject): void {
  test('random plans leave the store as plain lists would have it', async () => {
    const property = fc.asyncProperty(anySteps, async (steps) => {
      const plain = new PlainStore();
      const ids: string[] = [];
      const nextId = (): string => {
        ids.push(idOf(ids.length));
        return ids.at(-1) as string;
      };
      for (const [index, { space, intents }] of steps.entries()) {
        const plan = planOf(plain, space, intents, START_MS + index * STEP_MS, nextId);
        const expected = await outcomeOf(() => plain.apply(plan));
        expect(await outcomeOf(() => subject.store.apply(plan))).toBe(expected);
      }
      const asOfMs = START_MS + Math.floor(steps.length / 2) * STEP_MS;
      for (const repoId of [REPO, OTHER_REPO]) {
        for (const options of [{ includeArchived: true }, { includeGlobal: false }, { kinds: ['fact'] }, { asOfMs }])
          await expectSame(subject.store, plain, viewOf(repoId, options), ids);
        for (const key of KEYS)
          expect((await subject.store.findReply(repoId, key, 0))?.reply).toBe(plain.findReply(repoId, key, 0)?.reply);
      }
      for (const space of SPACES) await expectSameInSpace(subject.store, plain, space);
    });
    const withStoreOfItsOwn = property.beforeEach(async () => {
      await subject.tearDown();
      await subject.setUp();
    });
    await fc.assert(withStoreOfItsOwn, RUN);
  });
}
