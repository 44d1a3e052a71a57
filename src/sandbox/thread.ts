import { setImmediate } from 'node:timers/promises';
import { MessageChannel, type MessagePort, receiveMessageOnPort, Worker } from 'node:worker_threads';
import type { Json } from './json.js';
import { explainLimit, type LimitName, type SandboxLimits } from './limits.js';
import type { CallReply, Ending, RunRequest, ThreadData, ThreadMessage } from './messages.js';
import type { Limited, Outcome, SandboxCall } from './outcome.js';

/** The functions that a snippet may call, by name. */
export type HostFunctions = Readonly<Record<string, (...args: Json[]) => Promise<Json>>>;

interface Run {
  readonly functions: HostFunctions;
  readonly printed: string[];
  readonly calls: SandboxCall[];
  readonly resolve: (outcome: Outcome) => void;
  readonly reject: (error: Error) => void;
  timer: NodeJS.Timeout | undefined;
  /** What the calls took so far. */
  hostMs: number;
}

/** The engine's frames take up to this many times as much of the thread's stack as of the engine's own. */
const STACK_RATIO = 32;

/** One worker thread as the service sees it: it runs one snippet at a time and holds the process only meanwhile. */
export class Thread {
  readonly #limits: SandboxLimits;
  readonly #worker: Worker;
  readonly #port: MessagePort;
  readonly #signal = new Int32Array(new SharedArrayBuffer(4));
  #run: Run | null = null;
  #isSpent = false;

  constructor(workerFile: URL, limits: SandboxLimits) {
    const { port1, port2 } = new MessageChannel();
    const workerData: ThreadData = { port: port2, signal: this.#signal, limits };
    this.#limits = limits;
    this.#port = port1;
    this.#worker = new Worker(workerFile, {
      name: 'sandbox',
      workerData,
      transferList: [port2],
      // Nothing of the service's surroundings is to be found where snippets run.
      env: {},
      execArgv: [],
      resourceLimits: { stackSizeMb: 4 + Math.ceil((limits.stackBytes * STACK_RATIO) / 2 ** 20) },
    });
    this.#worker.on('error', (error) => this.#fail(error));
    this.#worker.on('exit', () => this.#fail(new Error('A thread of the sandbox ended by itself.')));
    this.#port.on('message', (message: ThreadMessage) => this.#receive(message));
    this.#holdProcess(false);
  }

  /** Whether the thread must not be used again. */
  get isSpent(): boolean {
    return this.#isSpent;
  }

  run(code: string, functions: HostFunctions): Promise<Outcome> {
    return new Promise((resolve, reject) => {
      this.#run = { functions, printed: [], calls: [], resolve, reject, timer: undefined, hostMs: 0 };
      this.#holdProcess(true);
      const request: RunRequest = { code, names: Object.keys(functions) };
      this.#port.postMessage(request);
    });
  }

  /** Ends the thread; a snippet that runs in it fails with the reason. */
  async close(reason: Error): Promise<void> {
    this.#fail(reason);
    await this.#worker.terminate();
    this.#port.close();
  }

  #receive(message: ThreadMessage): void {
    const run = this.#run;
    if (!run) return;
    switch (message.kind) {
      case 'started':
        run.timer = setTimeout(() => this.#outOfTime(run), this.#limits.wallMs);
        return;
      case 'printed':
        run.printed.push(message.line);
        return;
      case 'called':
        void this.#answer(run, { name: message.name, arguments: JSON.parse(message.argumentsText) as Json[] });
        return;
      case 'ended':
        this.#finish(run, message.ending);
    }
  }

  async #answer(run: Run, call: SandboxCall): Promise<void> {
    run.calls.push(call);
    // Others get their turn between any two calls, however fast the snippet makes them.
    await setImmediate();
    const since = performance.now();
    const reply = await replyOf(run.functions, call);
    run.hostMs += performance.now() - since;
    // The run may have been ended meanwhile, and the thread with it.
    if (this.#run !== run) return;
    if (run.hostMs > this.#limits.hostMs) {
      this.#finish(run, this.#limited('host_time'));
      return;
    }
    this.#port.postMessage(reply);
    Atomics.store(this.#signal, 0, 1);
    Atomics.notify(this.#signal, 0);
  }

  #outOfTime(run: Run): void {
    // What was printed, or the end itself, may wait unread behind the timer. A call is too late.
    for (let unread = receiveMessageOnPort(this.#port); unread; unread = receiveMessageOnPort(this.#port)) {
      const message = unread.message as ThreadMessage;
      if (message.kind !== 'called') this.#receive(message);
    }
    if (this.#run === run) this.#finish(run, this.#limited('wall_time'));
  }

  #finish(run: Run, ending: Ending): void {
    // A snippet that met a limit may have left anything behind.
    if (ending.ended === 'limit') this.#isSpent = true;
    const { printed, calls } = run;
    const end = ending.ended === 'returned' ? { ended: ending.ended, value: JSON.parse(ending.text) as Json } : ending;
    this.#release(run).resolve({ printed, calls, ...end });
  }

  #fail(error: Error): void {
    this.#isSpent = true;
    if (!this.#run) return;
    if ((error as NodeJS.ErrnoException).code === 'ERR_WORKER_OUT_OF_MEMORY')
      this.#finish(this.#run, this.#limited('memory'));
    else this.#release(this.#run).reject(error);
  }

  #limited(limit: LimitName): Limited {
    return { ended: 'limit', limit, message: explainLimit(limit, this.#limits) };
  }

  #release(run: Run): Run {
    clearTimeout(run.timer);
    this.#run = null;
    this.#holdProcess(false);
    return run;
  }

  #holdProcess(isHeld: boolean): void {
    for (const one of [this.#worker, this.#port]) isHeld ? one.ref() : one.unref();
  }
}

/** The answer as text: nothing else crosses the border. */
async function replyOf(functions: HostFunctions, call: SandboxCall): Promise<string> {
  const replied = (reply: CallReply): string => JSON.stringify(reply);
  try {
    const callee = Object.hasOwn(functions, call.name) ? functions[call.name] : undefined;
    return replied(['answered', (await callee?.(...call.arguments)) ?? null]);
  } catch (error) {
    return replied(['failed', error instanceof Error ? error.message : String(error)]);
  }
}
