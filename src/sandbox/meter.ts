import type { LimitName, SandboxLimits } from './limits.js';

/** Thrown out of a host function once a limit is met: nothing more is done for the snippet. The bridge knows it by its beginning. */
export class LimitReached extends Error {}

/** What one run has used so far. A limit once met stays met, whatever the snippet catches. */
export class Meter {
  readonly #limits: SandboxLimits;
  readonly #startedAt = performance.now();
  #waitedMs = 0;
  #printed = 0;
  #calls = 0;
  #asked = 0;
  #answered = 0;
  #exceeded: LimitName | null = null;

  constructor(limits: SandboxLimits) {
    this.#limits = limits;
  }

  get exceeded(): LimitName | null {
    return this.#exceeded;
  }

  exceed(limit: LimitName): void {
    this.#exceeded ??= limit;
  }

  /** Whether the snippet must stop. */
  isOver(): boolean {
    if (performance.now() - this.#startedAt - this.#waitedMs > this.#limits.cpuMs) this.exceed('cpu_time');
    return this.#exceeded !== null;
  }

  /** Throws when the snippet must stop. */
  check(): void {
    if (this.isOver()) throw new LimitReached(`limit reached: ${this.#exceeded}`);
  }

  countCall(argumentsText: string): void {
    if (++this.#calls > this.#limits.calls) this.exceed('calls');
    this.#asked += argumentsText.length;
    if (this.#asked > this.#limits.argumentCharacters) this.exceed('arguments');
  }

  countAnswer(answerText: string): void {
    this.#answered += answerText.length;
    if (this.#answered > this.#limits.answerCharacters) this.exceed('answers');
  }

  /** Counts a line and gives back as much of it as there is room for. */
  countLine(line: string): string {
    const room = this.#limits.outputCharacters - this.#printed;
    this.#printed += line.length + 1;
    if (this.#printed > this.#limits.outputCharacters) this.exceed('output');
    return line.slice(0, Math.max(0, room));
  }

  /** The snippet does not pay for the time that others take. */
  wait<Result>(block: () => Result): Result {
    const since = performance.now();
    try {
      return block();
    } finally {
      this.#waitedMs += performance.now() - since;
    }
  }
}
