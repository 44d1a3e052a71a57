import type { Json } from './json.js';
import type { LimitName } from './limits.js';

/** A call that the snippet made, whether it was answered or failed. */
export interface SandboxCall {
  readonly name: string;
  readonly arguments: readonly Json[];
}

/** What is known of a run however it ended. */
interface Ended {
  readonly printed: readonly string[];
  readonly calls: readonly SandboxCall[];
}

export interface Threw {
  readonly ended: 'threw';
  readonly message: string;
  /** The line of the snippet that threw, when the engine knows it. */
  readonly line: number | null;
}

export interface Limited {
  readonly ended: 'limit';
  readonly limit: LimitName;
  readonly message: string;
}

interface Returned {
  readonly ended: 'returned';
  readonly value: Json;
}

export type Outcome = Ended & (Returned | Threw | Limited);
