import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import { afterEach } from 'vitest';
import type { SandboxLimits } from '../../src/sandbox/limits.js';
import type { Outcome } from '../../src/sandbox/outcome.js';
import { Sandbox, type SandboxOptions } from '../../src/sandbox/sandbox.js';
import type { HostFunctions } from '../../src/sandbox/thread.js';
import { temporaryDirectory } from './directories.js';

/** Threads run compiled code; the test command builds it first. */
export const WORKER_FILE = new URL('../../dist/sandbox/worker.js', import.meta.url);

/** Wide enough that a test meets only the limit it narrows. */
export const LIMITS: SandboxLimits = {
  cpuMs: 20_000,
  wallMs: 40_000,
  memoryBytes: 8_000_000,
  stackBytes: 262_144,
  outputCharacters: 10_000,
  calls: 100,
  resultCharacters: 10_000,
  argumentCharacters: 100_000,
  answerCharacters: 50_000_000,
  hostMs: 20_000,
};

const made: Sandbox[] = [];
afterEach(async () => {
  await Promise.all(made.splice(0).map((sandbox) => sandbox.close()));
});

type Narrowed = Partial<SandboxLimits> & Partial<Omit<SandboxOptions, 'limits'>>;

/** A sandbox that is closed when the test ends. */
export function makeSandbox(narrowed: Narrowed = {}): Sandbox {
  const { workerFile = WORKER_FILE, workersMax = 1, waitingMax = 10, ...limits } = narrowed;
  const sandbox = new Sandbox({ workerFile, workersMax, waitingMax, limits: { ...LIMITS, ...limits } });
  made.push(sandbox);
  return sandbox;
}

/** Runs one snippet in a sandbox of its own. */
export const runOnce = (code: string, functions: HostFunctions = {}, narrowed: Narrowed = {}): Promise<Outcome> =>
  makeSandbox(narrowed).run(code, functions);

/** What a run gave back, or how else it ended. */
export const given = (outcome: Outcome): unknown => (outcome.ended === 'returned' ? outcome.value : outcome);

/** A worker file that notes each thread that starts from it. */
export function countedWorker(): {
  readonly workerFile: URL;
  readonly started: () => number;
  readonly remove: () => void;
} {
  const directory = temporaryDirectory();
  const notes = directory.path('started');
  const file = directory.path('worker.mjs');
  const lines = [
    `import { appendFileSync } from 'node:fs';`,
    `appendFileSync(${JSON.stringify(notes)}, '.');`,
    `await import(${JSON.stringify(WORKER_FILE.href)});`,
  ];
  writeFileSync(file, lines.join('\n'));
  return {
    workerFile: pathToFileURL(file),
    started: () => (existsSync(notes) ? readFileSync(notes, 'utf8').length : 0),
    remove: () => directory.remove(),
  };
}
