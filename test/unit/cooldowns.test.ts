import { beforeEach, describe, expect, test } from 'vitest';
import { Cooldowns } from '../../src/services/cooldowns.js';

const MINUTE_MS = 60_000;
/** The beginning of a minute of the clock. */
const START_MS = Date.parse('2026-01-01T00:00:00.000Z');

let nowMs: number;
let cooldowns: Cooldowns;
beforeEach(() => {
  nowMs = START_MS;
  cooldowns = new Cooldowns(() => nowMs);
});

const take = (file: string, caller = 'a', seconds = 300) => cooldowns.take(`${caller} ${file}`, caller, seconds);

test('the same thing is told once until the time is over, to the millisecond', () => {
  expect(take('x')).toBeNull();
  expect(take('x')).toBe('cooldown');
  nowMs += 299_999;
  expect(take('x')).toBe('cooldown');
  nowMs += 1;
  expect(take('x')).toBeNull();
  expect(take('x')).toBe('cooldown');
});

test('asking while it is silent does not prolong the silence', () => {
  take('x');
  nowMs += 200_000;
  expect(take('x')).toBe('cooldown');
  nowMs += 100_000;
  expect(take('x')).toBeNull();
});

test('how long to be silent is said by each question', () => {
  take('x', 'a', 10);
  nowMs += 10_000;
  expect(take('x', 'a', 11)).toBe('cooldown');
  expect(take('x', 'a', 10)).toBeNull();
});

test('other things and other callers are told on their own', () => {
  take('x');
  expect(take('y')).toBeNull();
  expect(take('x', 'b')).toBeNull();
  expect(take('x')).toBe('cooldown');
});

describe('in one minute of the clock', () => {
  const tell = (count: number, caller = 'a'): void => {
    for (let number = 1; number <= count; number++) expect(take(`file ${number}`, caller)).toBeNull();
  };

  test('a caller is told five things, and not a sixth', () => {
    tell(5);
    expect(take('another')).toBe('rate_limit');
  });

  test('one caller does not use up what another may be told', () => {
    tell(5);
    tell(5, 'b');
    expect(take('another', 'b')).toBe('rate_limit');
  });

  test('what was not told is not counted, and is told in the next minute', () => {
    tell(5);
    for (let count = 0; count < 10; count++) expect(take('another')).toBe('rate_limit');
    nowMs += MINUTE_MS - 1;
    expect(take('another')).toBe('rate_limit');
    nowMs += 1;
    expect(take('another')).toBeNull();
  });

  test('what is silent because it was told lately uses nothing up', () => {
    for (let count = 0; count < 20; count++) take('x');
    tell(4);
    expect(take('another')).toBe('rate_limit');
  });
});

test('no wait means always, however often', () => {
  for (let count = 0; count < 50; count++) expect(take('x', 'a', 0)).toBeNull();
});

test('what is kept in mind is bounded: of very many the longest unheard of are told again', () => {
  take('first');
  for (let number = 0; number < 10_000; number++) take(`file ${number}`, `caller ${number}`);
  expect(take('file 9999', 'caller 9999')).toBe('cooldown');
  expect(take('first')).toBeNull();
});
