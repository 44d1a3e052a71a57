/** What runs a task again and again; passed in, so that tests decide when it is time. */
export interface Timers {
  every(ms: number, run: () => void): { stop(): void };
}

const PROCESS_TIMERS: Timers = {
  every: (ms, run) => {
    // A process that has nothing else to do may end.
    const timer = setInterval(run, ms).unref();
    return { stop: () => clearInterval(timer) };
  },
};

/** Runs a task from time to time until it is stopped. What fails is told, and tried again the next time. */
export function schedule(
  task: () => Promise<unknown>,
  everyMs: number,
  onFailure: (error: unknown) => void,
  timers: Timers = PROCESS_TIMERS,
): { stop(): void } {
  if (everyMs <= 0) return { stop: () => {} };
  return timers.every(everyMs, () => {
    task().catch(onFailure);
  });
}
