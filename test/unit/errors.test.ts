import fc from 'fast-check';
import { expect, test } from 'vitest';
import { clip } from '../../src/errors.js';

const RUN = { seed: 20_260_101, numRuns: 1_000 };
const text = () => fc.string({ unit: 'binary', maxLength: 60 });

test('a text that fits is told as it is', () => {
  fc.assert(
    fc.property(text(), fc.nat(20), (whole, room) => {
      expect(clip(whole, whole.length + room)).toBe(whole);
    }),
    RUN,
  );
});

test('a text that does not fit is told by its beginning and an ellipsis, and no character is cut in half', () => {
  fc.assert(
    fc.property(text(), fc.integer({ min: 1, max: 60 }), (whole, max) => {
      fc.pre(whole.length > max);
      const clipped = clip(whole, max);
      expect(clipped.length).toBeLessThanOrEqual(max);
      expect(clipped.length).toBeGreaterThanOrEqual(max - 1);
      expect(clipped.endsWith('…')).toBe(true);
      expect(whole.startsWith(clipped.slice(0, -1))).toBe(true);
      expect(clipped.isWellFormed()).toBe(true);
    }),
    RUN,
  );
});
