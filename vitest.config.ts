import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    testTimeout: 60_000,
    hookTimeout: 60_000,
    // Left to itself it would keep one core free, and on a machine with two take twice as long.
    maxWorkers: '100%',
  },
});
