import { expect, test } from 'vitest';
import { ageOf } from '../../src/domain/ages.js';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;

test.each([
  [0, 'just now'],
  [HOUR, 'just now'],
  [HOUR + 1, '1 hour ago'],
  [2 * HOUR - 1, '1 hour ago'],
  [2 * HOUR, '2 hours ago'],
  [DAY - 1, '23 hours ago'],
  [DAY, 'yesterday'],
  [2 * DAY - 1, 'yesterday'],
  [2 * DAY, '2 days ago'],
  [7 * DAY - 1, '6 days ago'],
  [7 * DAY, '1 week ago'],
  [14 * DAY - 1, '1 week ago'],
  [14 * DAY, '2 weeks ago'],
  [400 * DAY, '57 weeks ago'],
  [-HOUR, 'just now'],
])('3e.11 what is %d milliseconds old was %s', (pastMs, age) => {
  expect(ageOf(1_767_225_600_000 - pastMs, 1_767_225_600_000)).toBe(age);
});
