import fc from 'fast-check';
import { expect, test } from 'vitest';
import { endsOf, type Replacement } from '../../src/domain/chains.js';

/** The replacements as words, newest first: 'a>b' says that b took the place of a. */
const newestFirst = (...steps: string[]): Replacement[] =>
  steps.map((step, index) => {
    const [oldId, newId] = step.split('>') as [string, string];
    return { oldId, newId, atMs: steps.length - index };
  });

test.each<[string, string[], Record<string, string>]>([
  ['nothing was replaced', [], {}],
  ['a chain leads to its end from everywhere', ['b>c', 'a>b'], { a: 'c', b: 'c' }],
  ['of two successors the newer counts', ['a>c', 'a>b'], { a: 'c' }],
  ['two facts may have one successor', ['b>c', 'a>c'], { a: 'c', b: 'c' }],
  ['a circle of two ends where the newer leads', ['b>a', 'a>b'], { b: 'a' }],
  ['a circle of three too', ['c>a', 'b>c', 'a>b'], { b: 'a', c: 'a' }],
  ['a step that a newer one made void leaves room for an older one', ['b>a', 'a>b', 'a>d'], { a: 'd', b: 'd' }],
])('%s', (_, steps, ends) => {
  expect(Object.fromEntries(endsOf(newestFirst(...steps), ['a', 'b', 'c', 'd']))).toEqual(ends);
});

test('whatever is replaced by whatever, an end is never replaced itself, and the newest replacement of all holds', () => {
  const id = fc.constantFrom(...'abcdef');
  const step = fc.tuple(id, id).filter(([one, other]) => one !== other);
  fc.assert(
    fc.property(fc.array(step, { minLength: 1, maxLength: 20 }), (steps) => {
      const ends = endsOf(newestFirst(...steps.map(([one, other]) => `${one}>${other}`)), [...'abcdef']);
      for (const end of ends.values()) expect(ends.has(end)).toBe(false);
      expect(ends.has((steps[0] as [string, string])[0])).toBe(true);
    }),
  );
});
