import type { SandboxLimits } from './limits.js';
import type { Outcome } from './outcome.js';
import { type HostFunctions, Thread } from './thread.js';

/** So many runs wait already that no more are taken. */
export class SandboxBusy extends Error {
  constructor(waiting: number) {
    super(`${waiting} snippets wait already.`);
  }
}

/** The sandbox was closed before the snippet ended. */
export class SandboxClosed extends Error {
  constructor() {
    super('The sandbox is closed.');
  }
}

export interface SandboxOptions {
  /** The compiled `worker.ts`. */
  readonly workerFile: URL;
  readonly limits: SandboxLimits;
  readonly workersMax: number;
  /** How many runs may wait for a worker. */
  readonly waitingMax: number;
}

/**
 * Runs snippets of JavaScript on threads of their own, each in a fresh engine. Threads are made when first needed; one
 * is kept ready between runs, and one whose snippet met a limit is replaced.
 */
export class Sandbox {
  readonly #options: SandboxOptions;
  readonly #busy = new Set<Thread>();
  readonly #ending = new Set<Promise<void>>();
  readonly #waiting: { readonly start: () => void; readonly reject: (error: Error) => void }[] = [];
  #running = 0;
  #idle: Thread | null = null;
  #isClosed = false;

  constructor(options: SandboxOptions) {
    this.#options = options;
  }

  /**
   * Runs a snippet. It sees the functions as synchronous ones, whatever they await; what they throw is thrown inside.
   * Rejects with `SandboxBusy` or `SandboxClosed`, never because of what the snippet does.
   */
  async run(code: string, functions: HostFunctions): Promise<Outcome> {
    await this.#turn();
    try {
      if (this.#isClosed) throw new SandboxClosed();
      const thread = this.#takeThread();
      return await thread.run(code, functions).finally(() => this.#giveBack(thread));
    } finally {
      this.#endTurn();
    }
  }

  /** Ends every run and every thread. */
  async close(): Promise<void> {
    this.#isClosed = true;
    for (const { reject } of this.#waiting.splice(0)) reject(new SandboxClosed());
    for (const thread of [...this.#busy, this.#idle]) if (thread) this.#end(thread);
    this.#idle = null;
    await Promise.all(this.#ending);
  }

  async #turn(): Promise<void> {
    const { workersMax, waitingMax } = this.#options;
    if (this.#running < workersMax) {
      this.#running++;
      return;
    }
    if (this.#waiting.length >= waitingMax) throw new SandboxBusy(waitingMax);
    await new Promise<void>((start, reject) => this.#waiting.push({ start, reject }));
  }

  /** Hands the turn on, so that nobody who comes later gets it first. */
  #endTurn(): void {
    const next = this.#waiting.shift();
    if (next) next.start();
    else this.#running--;
  }

  #takeThread(): Thread {
    const { workerFile, limits } = this.#options;
    const thread = this.#idle && !this.#idle.isSpent ? this.#idle : new Thread(workerFile, limits);
    this.#idle = null;
    this.#busy.add(thread);
    return thread;
  }

  #giveBack(thread: Thread): void {
    this.#busy.delete(thread);
    if (thread.isSpent || this.#idle || this.#isClosed) this.#end(thread);
    else this.#idle = thread;
  }

  #end(thread: Thread): void {
    const ending = thread.close(new SandboxClosed()).finally(() => this.#ending.delete(ending));
    this.#ending.add(ending);
  }
}
