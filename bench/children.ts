import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const READY_MS_MAX = 60_000;
const STOP_MS_MAX = 15_000;

const SERVICE = fileURLToPath(new URL('../dist/server.js', import.meta.url));
const BARE = fileURLToPath(new URL('./bare.ts', import.meta.url));

export interface Child {
  readonly address: string;
  /** From the start of the process until it was ready to answer. */
  readonly readyMs: number;
  /** Resident memory now, in MiB; null where the system does not tell. */
  residentMib(): number | null;
  /** Processor time used so far, in seconds; null where the system does not tell. */
  cpuSeconds(): number | null;
  stop(): Promise<void>;
}

const running = new Set<ChildProcess>();
// Whatever ends this process, its children do not outlive it.
process.on('exit', () => {
  for (const child of running) child.kill('SIGKILL');
});

export const startService = (databaseFile: string): Promise<Child> =>
  start([SERVICE], { RLM_MEMORY_DB: databaseFile, LOG_LEVEL: 'warn', PORT: '0', HOST: '127.0.0.1' }, '/health/ready');

export const startBare = (answersFile: string): Promise<Child> =>
  start(['--import', 'tsx', BARE, answersFile], {}, null);

async function start(
  args: readonly string[],
  environment: Record<string, string>,
  readyPath: string | null,
): Promise<Child> {
  const startedAt = performance.now();
  const child = spawn(process.execPath, args, {
    env: { ...process.env, ...environment },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  running.add(child);
  child.once('exit', () => running.delete(child));
  try {
    const address = await addressOf(child);
    if (readyPath !== null && !(await fetch(address + readyPath)).ok) throw new Error('listens, but is not ready');
    return {
      address,
      readyMs: performance.now() - startedAt,
      residentMib: () => residentMib(child.pid as number),
      cpuSeconds: () => cpuSeconds(child.pid as number),
      stop: () => stop(child),
    };
  } catch (error) {
    await stop(child);
    throw error;
  }
}

/** Both children print their address once they listen. */
function addressOf(child: ChildProcess): Promise<string> {
  return new Promise((resolve, reject) => {
    let output = '';
    const timer = setTimeout(() => reject(new Error(`not ready within ${READY_MS_MAX} ms`)), READY_MS_MAX);
    child.once('exit', (code) => {
      clearTimeout(timer);
      reject(new Error(`ended with code ${code} before it was ready`));
    });
    child.stdout?.on('data', (chunk) => {
      output += chunk;
      const address = /http:\/\/\S+/.exec(output)?.[0];
      if (!address) return;
      clearTimeout(timer);
      resolve(address);
    });
  });
}

function residentMib(pid: number): number | null {
  try {
    const line = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'));
    return line ? Number(line[1]) / 1024 : null;
  } catch {
    return null;
  }
}

/** Linux counts processor time in hundredths of a second, whatever the kernel was built with. */
const TICKS_PER_SECOND = 100;

function cpuSeconds(pid: number): number | null {
  try {
    const [user, system] = readFileSync(`/proc/${pid}/stat`, 'utf8')
      .replace(/^.*\) /s, '')
      .split(' ')
      .slice(11, 13);
    return (Number(user) + Number(system)) / TICKS_PER_SECOND;
  } catch {
    return null;
  }
}

async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, 'exit');
  const timer = setTimeout(() => child.kill('SIGKILL'), STOP_MS_MAX);
  child.kill('SIGTERM');
  await ended;
  clearTimeout(timer);
}
