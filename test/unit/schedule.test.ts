import { setImmediate } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { schedule, type Timers } from '../../src/services/schedule.js';

const fail = (error: unknown): never => {
  throw error;
};

/** Timers that a test rings. */
function bells() {
  const rings: (() => void)[] = [];
  const asked: number[] = [];
  let isStopped = false;
  const timers: Timers = {
    every: (ms, run) => {
      asked.push(ms);
      rings.push(run);
      return {
        stop: () => {
          isStopped = true;
        },
      };
    },
  };
  return { timers, asked, ring: () => rings.forEach((run) => void run()), isStopped: () => isStopped };
}

test('a task runs each time it is time, and not before', () => {
  const { timers, asked, ring } = bells();
  let runs = 0;
  schedule(async () => ++runs, 1_000, fail, timers);
  expect([runs, asked]).toEqual([0, [1_000]]);
  ring();
  ring();
  expect(runs).toBe(2);
});

test('what fails is told, and tried again', async () => {
  const { timers, ring } = bells();
  const told: unknown[] = [];
  const task = async () => Promise.reject(new Error('no'));
  schedule(task, 1, (error) => told.push((error as Error).message), timers);
  ring();
  ring();
  await setImmediate();
  expect(told).toEqual(['no', 'no']);
});

test('stopped, it asks no more', () => {
  const { timers, isStopped } = bells();
  schedule(async () => {}, 1, fail, timers).stop();
  expect(isStopped()).toBe(true);
});

test('every 0 is never', () => {
  const { timers, asked } = bells();
  schedule(async () => {}, 0, fail, timers).stop();
  expect(asked).toEqual([]);
});
