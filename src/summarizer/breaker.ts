/** Failures in a row after which asking again is a waste of everybody's time. */
export const FAILURES_MAX = 3;
export const REST_MS = 60_000;

/** Keeps a dead endpoint from slowing every call: after some failures in a row it is left alone for a while. */
export class Breaker {
  readonly #now: () => number;
  #failures = 0;
  #restingSinceMs = 0;

  constructor(now: () => number) {
    this.#now = now;
  }

  /** Whether the endpoint may be asked now. After a rest one call tries for all: the others wait another rest for its result. */
  admits(): boolean {
    if (this.#failures < FAILURES_MAX) return true;
    const restedMs = this.#now() - this.#restingSinceMs;
    // A clock that was set back must not prolong the rest.
    if (restedMs >= 0 && restedMs < REST_MS) return false;
    this.#restingSinceMs = this.#now();
    return true;
  }

  succeed(): void {
    this.#failures = 0;
  }

  /** Counts a failure and says whether the endpoint rests from now on. */
  fail(): boolean {
    this.#restingSinceMs = this.#now();
    return ++this.#failures >= FAILURES_MAX;
  }
}
