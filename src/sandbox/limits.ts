import { NESTING_MAX } from './json.js';

/** What one run may use. */
export interface SandboxLimits {
  /** The time the snippet itself runs, by the clock; waiting for a host function does not count. */
  readonly cpuMs: number;
  /** The time from the snippet's start to its end, waiting included. */
  readonly wallMs: number;
  /** The engine's heap. */
  readonly memoryBytes: number;
  /** The engine's stack, of 4 MiB at most; the call of a plain function takes about 190 bytes. */
  readonly stackBytes: number;
  /** Everything printed, each line one character longer than its text. */
  readonly outputCharacters: number;
  /** Calls of host functions. */
  readonly calls: number;
  /** The result as JSON text, and so the arguments of each call. */
  readonly resultCharacters: number;
  /** The arguments of all calls together, as JSON text: what is called for is kept until the run has ended. */
  readonly argumentCharacters: number;
  /** What all calls give back together, as JSON text. */
  readonly answerCharacters: number;
  /** The time that the host functions take together; others have to wait meanwhile. */
  readonly hostMs: number;
}

export type LimitName =
  | 'cpu_time'
  | 'wall_time'
  | 'host_time'
  | 'memory'
  | 'stack'
  | 'output'
  | 'calls'
  | 'result'
  | 'arguments'
  | 'answers';

/** Says which limit a run met, and what to do about it. */
export function explainLimit(name: LimitName, limits: SandboxLimits): string {
  switch (name) {
    case 'cpu_time':
      return `The snippet computed for more than ${limits.cpuMs} ms. Look for an endless loop, or do less in one run.`;
    case 'wall_time':
      return `The snippet took more than ${limits.wallMs} ms. Do less in one run, or make fewer and smaller calls.`;
    case 'host_time':
      return `The snippet's calls took more than ${limits.hostMs} ms together. Make fewer calls, or ask for less.`;
    case 'memory':
      return `The snippet needed more than ${limits.memoryBytes} bytes of memory. Keep less data at a time.`;
    case 'stack':
      return `The snippet needed more than ${limits.stackBytes} bytes of stack. Use a loop in place of deep recursion.`;
    case 'output':
      return `The snippet printed more than ${limits.outputCharacters} characters. Print less.`;
    case 'calls':
      return `The snippet made more than ${limits.calls} calls. Ask for more with each call, or split the work.`;
    case 'result':
      return (
        `A result or a call's arguments are longer than ${limits.resultCharacters} characters of JSON or nested ` +
        `deeper than ${NESTING_MAX} levels. Select what is needed.`
      );
    case 'arguments':
      return (
        `The arguments of all calls together are longer than ${limits.argumentCharacters} characters of JSON. ` +
        'Split the work over several runs.'
      );
    case 'answers':
      return (
        `What all calls gave back together is longer than ${limits.answerCharacters} characters of JSON. ` +
        'Ask for less, or split the work over several runs.'
      );
  }
}
