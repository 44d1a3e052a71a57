import { expect, test } from 'vitest';
import { DAY_MS, type DecaySettings, decayOf } from '../../src/domain/decay.js';
import { driftOf } from '../../src/domain/drift.js';
import type { EvolvingNode } from '../../src/domain/evolution.js';
import { TIERS } from '../../src/domain/vocabulary.js';
import { concept } from '../support/evolving.js';
import { START_MS } from '../support/plans.js';

const longterm = (fields: Partial<EvolvingNode> = {}): EvolvingNode =>
  concept('a', { tier: 'longterm', confidence: 1, accessCount: 1, ...fields });

const after = (days: number, settings: Partial<DecaySettings> = {}): DecaySettings => ({
  nowMs: START_MS + days * DAY_MS,
  ...settings,
});

test.each([
  [1, 1, 0.95, 1, 0.95],
  [1, 7, 0.95, 1, 0.698],
  [0.8, 10, 0.9, 1, 0.279],
  [1, 30, 0.95, 1, 0.215],
  [1, 7, 0.95, 20, 0.931],
  [1, 7, 0.95, 0, 0.698],
])('confidence %d after %d days at %d a day with %d accesses is %d', (confidence, days, factor, accessCount, left) => {
  const decay = decayOf(longterm({ confidence, accessCount }), after(days, { factor }));
  expect(decay?.confidence).toBeCloseTo(left, 3);
});

test('a day leaves 95 % unless told otherwise, and what falls below 0.3 goes to the archive', () => {
  expect(decayOf(longterm({ confidence: 0.4 }), after(1))?.confidence).toBeCloseTo(0.38, 12);
  expect(decayOf(longterm({ confidence: 0.31 }), after(1))).toMatchObject({ archives: true });
  expect(decayOf(longterm({ confidence: 0.32 }), after(1))).toMatchObject({ archives: false });
});

test('exactly the least confidence is enough to stay', () => {
  const settings = after(1, { factor: 0.5, minConfidence: 0.25 });
  expect(decayOf(longterm({ confidence: 0.5 }), settings)).toMatchObject({ confidence: 0.25, archives: false });
});

test.each(TIERS.filter((tier) => tier !== 'longterm'))('a node of tier %s does not decay', (tier) => {
  expect(decayOf(longterm({ tier }), after(30))).toBeNull();
});

test.each(['memory', 'reference'])('a node of form %s does not decay', (form) => {
  expect(decayOf(longterm({ form }), after(30))).toBeNull();
});

test.each([
  ['a day that is not over', 0.999, {}],
  ['a clock that went back', -3, {}],
  ['an access later than the last decay', 5, { decayedAtMs: START_MS, lastAccessedAtMs: START_MS + 4.5 * DAY_MS }],
  ['a decay later than the last access', 5, { decayedAtMs: START_MS + 4.5 * DAY_MS }],
])('%s takes nothing off', (_, days, fields) => {
  expect(decayOf(longterm(fields), after(days))).toBeNull();
});

test('what was below the least already goes to the archive after a day, even where a day costs nothing', () => {
  expect(decayOf(longterm({ confidence: 0 }), after(1))).toMatchObject({ confidence: 0, archives: true });
  expect(decayOf(longterm({ confidence: 0.2 }), after(1, { factor: 1 }))).toMatchObject({ archives: true });
});

test('where a day costs nothing, nothing changes', () => {
  expect(decayOf(longterm(), after(30, { factor: 1 }))).toBeNull();
});

test('a factor above 1 does not make a node surer', () => {
  expect(decayOf(longterm({ confidence: 0.5 }), after(30, { factor: 1.1 }))).toBeNull();
});

test('running it late keeps the hours of the day that is not over', () => {
  const node = longterm();
  const first = decayOf(node, after(1.75));
  expect(first).toMatchObject({ confidence: 0.95, decayedAtMs: START_MS + DAY_MS });
  const second = decayOf({ ...node, ...first }, after(2.25));
  expect(second?.confidence).toBeCloseTo(0.9025, 12);
  expect(second?.decayedAtMs).toBe(START_MS + 2 * DAY_MS);
});

test('a history without updates has nothing to report', () => {
  expect(driftOf(null, null, {})).toEqual({
    total: 0,
    initial: null,
    current: null,
    drift: 0,
    byTrigger: { outcome: 0, decay: 0, consolidation: 0, manual: 0 },
  });
});

test('drift is from the first confidence to the last, by so many changes of each sort', () => {
  expect(driftOf(0.5, 0.25, { outcome: 2, decay: 1 })).toEqual({
    total: 3,
    initial: 0.5,
    current: 0.25,
    drift: -0.25,
    byTrigger: { outcome: 2, decay: 1, consolidation: 0, manual: 0 },
  });
});

test('an initial confidence of 0 is not mistaken for none', () => {
  expect(driftOf(0, 0.5, { manual: 1 })).toMatchObject({ initial: 0, current: 0.5, drift: 0.5 });
});
