import { receiveMessageOnPort, workerData } from 'node:worker_threads';
import { type Engine, prepareEngine } from './engine.js';
import type { RunRequest, ThreadData, ThreadMessage } from './messages.js';
import { type Host, Snippet } from './snippet.js';

/** The thread that snippets run in, one after the other, each in a fresh engine that was made ready before. */

const { port, signal, limits } = workerData as ThreadData;

const tell = (message: ThreadMessage): void => port.postMessage(message);

const host: Host = {
  print: (line) => tell({ kind: 'printed', line }),
  call: (name, argumentsText) => {
    Atomics.store(signal, 0, 0);
    tell({ kind: 'called', name, argumentsText });
    Atomics.wait(signal, 0, 0);
    return receiveMessageOnPort(port)?.message as string;
  },
};

/** The engine's code is compiled piece by piece as it is first used; the first snippet is not to pay for that. */
async function rehearse(): Promise<Engine> {
  const nobody: Host = { print: () => {}, call: () => '["answered",null]' };
  new Snippet(await prepareEngine(limits.memoryBytes), limits, nobody).run(
    'print({ a: [1, "x"].map((one) => one) }); rehearse({ b: null }); await null; throw new Error("end")',
    ['rehearse'],
  );
  return prepareEngine(limits.memoryBytes);
}

let engine = rehearse();

async function serve({ code, names }: RunRequest): Promise<void> {
  const ready = await engine;
  tell({ kind: 'started' });
  tell({ kind: 'ended', ending: new Snippet(ready, limits, host).run(code, names) });
  engine = prepareEngine(limits.memoryBytes);
}

port.on('message', (request: RunRequest) => void serve(request));
