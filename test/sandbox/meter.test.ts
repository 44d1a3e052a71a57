import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { LimitReached, Meter } from '../../src/sandbox/meter.js';
import { LIMITS } from '../support/sandbox.js';

beforeEach(() => void vi.useFakeTimers({ toFake: ['performance'] }));
afterEach(() => void vi.useRealTimers());

test('time counts while the snippet runs, and not while it waits', () => {
  const meter = new Meter({ ...LIMITS, cpuMs: 50 });
  vi.advanceTimersByTime(50);
  expect(meter.isOver()).toBe(false);
  meter.wait(() => vi.advanceTimersByTime(1000));
  expect(meter.isOver()).toBe(false);
  vi.advanceTimersByTime(1);
  expect(meter.isOver()).toBe(true);
  expect(meter.exceeded).toBe('cpu_time');
});

test('the first limit met is the one that is told, and it stays met', () => {
  const meter = new Meter({ ...LIMITS, calls: 0 });
  expect(() => meter.check()).not.toThrow();
  meter.countCall('[]');
  meter.exceed('memory');
  expect(meter.exceeded).toBe('calls');
  expect(() => meter.check()).toThrow(LimitReached);
});
