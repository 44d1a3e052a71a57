import { expect, test } from 'vitest';
import { levelOf } from '../../src/plugins/trace.js';

test.each([
  [200, 3, 'debug'],
  [201, 999.9, 'debug'],
  [302, 1_000, 'debug'],
  [200, 1_000.1, 'info'],
  [400, 3, 'info'],
  [404, 3, 'info'],
  [503, 60_000, 'info'],
] as const)('an answer of status %i after %d ms is told at level %s', (status, durationMs, level) => {
  expect(levelOf(status, durationMs)).toBe(level);
});
