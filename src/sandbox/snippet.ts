import type { QuickJSContext, QuickJSHandle } from 'quickjs-emscripten-core';
import { BRIDGE } from './bridge.js';
import type { Engine } from './engine.js';
import { NESTING_MAX, nestingOf } from './json.js';
import { explainLimit, type LimitName, type SandboxLimits } from './limits.js';
import type { Ending } from './messages.js';
import { Meter } from './meter.js';

/** The service as the snippet reaches it. */
export interface Host {
  print(line: string): void;
  /** Gives the text of a `CallReply`, however long that takes. */
  call(name: string, argumentsText: string): string;
}

const FILE = 'snippet.js';
const LINE = new RegExp(`\\b${FILE}:(\\d{1,7})`);
/** Compiles a script in which `await` may stand anywhere; it gives a promise of an object that holds the value. */
const EVALUATE_ASYNC = 1 << 7;
const MESSAGE_CHARACTERS_MAX = 2000;

const UNSETTLED: Ending = {
  ended: 'threw',
  message: 'The snippet waits for a promise that nothing will ever settle.',
  line: null,
};
const UNSPEAKABLE: Ending = { ended: 'threw', message: 'The snippet threw a value that has no text.', line: null };

/** One run of one snippet. Nothing is disposed of afterwards: the whole memory of the engine goes with it. */
export class Snippet {
  readonly #context: QuickJSContext;
  readonly #limits: SandboxLimits;
  readonly #host: Host;
  readonly #meter: Meter;

  constructor(engine: Engine, limits: SandboxLimits, host: Host) {
    const runtime = engine.quickjs.newRuntime();
    runtime.setMaxStackSize(limits.stackBytes);
    this.#context = runtime.newContext();
    this.#limits = limits;
    this.#host = host;
    const meter = new Meter(limits);
    this.#meter = meter;
    runtime.setInterruptHandler(() => meter.isOver());
    engine.onFull(() => meter.exceed('memory'));
  }

  run(code: string, names: readonly string[]): Ending {
    try {
      const ending = this.#evaluate(code, this.#install(names));
      if (this.#meter.exceeded === null) return ending;
    } catch (error) {
      if (this.#meter.exceeded === null) this.#meter.exceed(limitBehind(error));
    }
    const limit = this.#meter.exceeded as LimitName;
    return { ended: 'limit', limit, message: explainLimit(limit, this.#limits) };
  }

  #install(names: readonly string[]): Bridge {
    const context = this.#context;
    const { outputCharacters, resultCharacters } = this.#limits;
    const maker = context.evalCode(BRIDGE, 'bridge.js', { type: 'global' }).unwrap();
    const made = context
      .callFunction(maker, context.undefined, [
        context.newFunction('call', (name, list) => this.#call(name, list)),
        context.newFunction('print', (line) => this.#print(line)),
        context.newString(JSON.stringify(names)),
        // One more than may be is enough to see that it is too much.
        context.newNumber(outputCharacters + 1),
        context.newNumber(resultCharacters + 1),
        context.newNumber(MESSAGE_CHARACTERS_MAX),
      ])
      .unwrap();
    return {
      completionOf: context.getProp(made, 'completionOf'),
      toText: context.getProp(made, 'toText'),
      explain: context.getProp(made, 'explain'),
    };
  }

  #evaluate(code: string, bridge: Bridge): Ending {
    const context = this.#context;
    const evaluated = context.evalCode(code, FILE, EVALUATE_ASYNC);
    const failed = evaluated.error ?? this.#runJobs();
    if (failed) return this.#threw(failed, bridge);
    return this.#settled(evaluated.unwrap(), bridge, (script) => {
      const completion = context.callFunction(bridge.completionOf, context.undefined, script);
      if (completion.error) return this.#threw(completion.error, bridge);
      return this.#settled(completion.value, bridge, (value) => this.#returned(value, bridge));
    });
  }

  /** One at a time: an interrupt takes down the job it meets, and an async function among the others would go on. */
  #runJobs(): QuickJSHandle | undefined {
    const { runtime } = this.#context;
    while (runtime.hasPendingJob()) {
      this.#meter.check();
      const { error } = runtime.executePendingJobs(1);
      if (error) return error;
    }
    this.#meter.check();
    return undefined;
  }

  /** Goes on with the value of a promise, or with what is none. */
  #settled(handle: QuickJSHandle, bridge: Bridge, next: (value: QuickJSHandle) => Ending): Ending {
    const state = this.#context.getPromiseState(handle);
    if (state.type === 'pending') return UNSETTLED;
    return state.type === 'rejected' ? this.#threw(state.error, bridge) : next(state.value);
  }

  #returned(value: QuickJSHandle, bridge: Bridge): Ending {
    const context = this.#context;
    const converted = context.callFunction(bridge.toText, context.undefined, value);
    if (converted.error) {
      const failed = this.#threw(converted.error, bridge);
      return failed.ended === 'threw'
        ? { ...failed, message: `The result cannot be given as JSON: ${failed.message}` }
        : failed;
    }
    const text = context.getString(converted.value);
    this.#checkSize(text);
    return { ended: 'returned', text };
  }

  #threw(error: QuickJSHandle, { explain }: Bridge): Ending {
    const context = this.#context;
    this.#meter.check();
    const explained = context.callFunction(explain, context.undefined, error);
    if (explained.error) return UNSPEAKABLE;
    const [message, stack] = JSON.parse(context.getString(explained.value)) as [string, string];
    const limit = LIMIT_MESSAGES.get(message);
    if (limit) this.#meter.exceed(limit);
    const line = LINE.exec(stack)?.[1];
    return { ended: 'threw', message, line: line === undefined ? null : Number(line) };
  }

  #call(nameHandle: QuickJSHandle, listHandle: QuickJSHandle): QuickJSHandle {
    const context = this.#context;
    const argumentsText = context.getString(listHandle);
    this.#checkSize(argumentsText);
    this.#meter.countCall(argumentsText);
    this.#meter.check();
    const name = context.getString(nameHandle);
    const answerText = this.#meter.wait(() => this.#host.call(name, argumentsText));
    this.#meter.countAnswer(answerText);
    this.#meter.check();
    return context.newString(answerText);
  }

  #print(lineHandle: QuickJSHandle): void {
    this.#meter.check();
    this.#host.print(this.#meter.countLine(JSON.parse(this.#context.getString(lineHandle)) as string));
    this.#meter.check();
  }

  #checkSize(text: string): void {
    if (text.length > this.#limits.resultCharacters || nestingOf(text) > NESTING_MAX) this.#meter.exceed('result');
    this.#meter.check();
  }
}

interface Bridge {
  readonly completionOf: QuickJSHandle;
  readonly toText: QuickJSHandle;
  readonly explain: QuickJSHandle;
}

/** How the engine says that there was no room; a snippet that says so itself fools nobody else. */
const LIMIT_MESSAGES: ReadonlyMap<string, LimitName> = new Map([
  ['InternalError: stack overflow', 'stack'],
  ['SyntaxError: stack overflow', 'stack'],
  ['InternalError: out of memory', 'memory'],
]);

/** What comes out of the engine as an exception has broken it: the thread's stack ran out, or it aborted. */
function limitBehind(error: unknown): LimitName {
  if (error instanceof RangeError) return 'stack';
  // The engine asserts what it cannot keep up when memory runs short.
  if (error instanceof Error && error.name === 'RuntimeError') return 'memory';
  throw error;
}
