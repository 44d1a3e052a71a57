import { expect, test } from 'vitest';
import { viewOf } from '../../../src/domain/spaces.js';
import { attach, idOf, insert, insertGlobal, OTHER_REPO, REPO, START_MS } from '../../support/plans.js';
import { MANY, type Subject } from './subject.js';

const node = (number: number) => ({ of: 'node', id: idOf(number) }) as const;

export function evidence(subject: Subject): void {
  const refsOf = (number: number, view = viewOf(REPO)) => subject.store.findEvidence(view, idOf(number), MANY);

  test('a memory without evidence, and an unknown one, have none', async () => {
    await subject.apply(insert(idOf(1)));
    expect(await refsOf(1)).toEqual([]);
    expect(await refsOf(2)).toEqual([]);
  });

  test('evidence comes back as it was given, first attached first', async () => {
    await subject.apply(insert(idOf(1)), attach(node(1), ['z:1', 'a:1', `it's "quoted" 🙂`]));
    await subject.apply(attach(node(1), ['m:1']));
    expect(await refsOf(1)).toEqual(['z:1', 'a:1', `it's "quoted" 🙂`, 'm:1']);
  });

  test('a reference that two memories share stands with both, each in its own order', async () => {
    await subject.apply(insert(idOf(1)), insert(idOf(2)), attach(node(1), ['a', 'b', 'c']));
    await subject.apply(attach(node(2), ['c', 'a']));
    expect(await refsOf(1)).toEqual(['a', 'b', 'c']);
    expect(await refsOf(2)).toEqual(['c', 'a']);
  });

  test('attaching the same reference again changes nothing', async () => {
    await subject.apply(insert(idOf(1)), attach(node(1), ['a', 'b']));
    await subject.apply(attach(node(1), ['b', 'a', 'c', 'c']));
    expect(await refsOf(1)).toEqual(['a', 'b', 'c']);
  });

  test('plans at once may share references', async () => {
    const numbers = Array.from({ length: 30 }, (_, number) => number);
    await Promise.all(numbers.map((number) => subject.apply(insert(idOf(number)), attach(node(number), ['shared']))));
    for (const number of numbers) expect(await refsOf(number)).toEqual(['shared']);
  });

  test("a repo's evidence for a global memory is seen in that repo only", async () => {
    await subject.applyGlobal(insertGlobal(idOf(1)), attach(node(1), ['global:1']));
    await subject.apply(attach(node(1), ['shop:1']));
    await subject.applyIn(OTHER_REPO, attach(node(1), ['till:1'], { repoId: OTHER_REPO }));
    expect((await refsOf(1)).sort()).toEqual(['global:1', 'shop:1']);
    expect((await refsOf(1, viewOf(OTHER_REPO))).sort()).toEqual(['global:1', 'till:1']);
    expect(await refsOf(1, viewOf(REPO, { includeGlobal: false }))).toEqual(['shop:1']);
  });

  test('no more than asked for is told, and that is what was attached first', async () => {
    await subject.apply(insert(idOf(1)), attach(node(1), ['c', 'a', 'b']));
    expect(await subject.store.findEvidence(viewOf(REPO), idOf(1), 2)).toEqual(['c', 'a']);
  });

  test('whether a reference is attached is told of any number of them', async () => {
    const attached = (refs: string[], view = viewOf(REPO)) => subject.store.findAttached(view, idOf(1), refs);
    await subject.applyGlobal(insertGlobal(idOf(1)), attach(node(1), ['global:1', 'both']));
    await subject.apply(insert(idOf(2)), attach(node(2), ['other']), attach(node(1), ['shop:1', 'both']));
    expect(await attached(['global:1', 'shop:1', 'both', 'other', 'none'])).toEqual(
      new Set(['global:1', 'shop:1', 'both']),
    );
    expect(await attached(['shop:1'], viewOf(OTHER_REPO))).toEqual(new Set());
    expect(await attached([])).toEqual(new Set());
  });

  test('a past moment shows the evidence of until then', async () => {
    await subject.apply(insert(idOf(1)), attach(node(1), ['early']));
    await subject.apply(attach(node(1), ['late'], { atMs: START_MS + 10 }));
    expect(await refsOf(1, viewOf(REPO, { asOfMs: START_MS + 9 }))).toEqual(['early']);
    expect(await refsOf(1, viewOf(REPO, { asOfMs: START_MS + 10 }))).toEqual(['early', 'late']);
  });
}
