import type { MessagePort } from 'node:worker_threads';
import type { SandboxLimits } from './limits.js';
import type { Limited, Threw } from './outcome.js';

/** What a thread is given when it starts. */
export interface ThreadData {
  readonly port: MessagePort;
  /** One cell: 0 while a call waits for its reply, 1 once the reply is in the port's queue. */
  readonly signal: Int32Array;
  readonly limits: SandboxLimits;
}

/** The service asks a thread to run a snippet. */
export interface RunRequest {
  readonly code: string;
  /** The names of the host functions. */
  readonly names: readonly string[];
}

/** The answer to a call, as the bridge inside the sandbox reads it. */
export type CallReply = readonly ['answered', unknown] | readonly ['failed', string];

/** How a run ended as the thread knows it: a value is still text. */
export type Ending = Threw | Limited | { readonly ended: 'returned'; readonly text: string };

/** What a thread tells the service. */
export type ThreadMessage =
  | { readonly kind: 'started' }
  | { readonly kind: 'printed'; readonly line: string }
  | { readonly kind: 'called'; readonly name: string; readonly argumentsText: string }
  | { readonly kind: 'ended'; readonly ending: Ending };
