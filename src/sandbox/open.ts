import type { SandboxLimits } from './limits.js';
import { Sandbox } from './sandbox.js';

/** What a snippet of the REPL may use: enough to think with, too little to hurt. */
const LIMITS: SandboxLimits = {
  cpuMs: 1_000,
  wallMs: 10_000,
  memoryBytes: 32 * 1024 * 1024,
  stackBytes: 512 * 1024,
  outputCharacters: 100_000,
  calls: 1_000,
  resultCharacters: 500_000,
  argumentCharacters: 1_000_000,
  answerCharacters: 20_000_000,
  hostMs: 5_000,
};

const WORKERS_MAX = 2;
const WAITING_MAX = 32;

/** The sandbox of the service. It costs nothing until somebody uses it. */
export const openSandbox = (workerFile: URL): Sandbox =>
  new Sandbox({ workerFile, limits: LIMITS, workersMax: WORKERS_MAX, waitingMax: WAITING_MAX });
