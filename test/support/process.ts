import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import supertest from 'supertest';

export const PROJECT = fileURLToPath(new URL('../..', import.meta.url));

/** What `npm run build` makes and `npm start` and the container run. */
const SERVER = join(PROJECT, 'dist/server.js');

export interface Exit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface ServiceProcess {
  readonly pid: number;
  /** The three lines that the service prints once it is ready. */
  readonly address: string;
  readonly docs: string;
  readonly data: string;
  readonly http: ReturnType<typeof supertest>;
  /** Settles when the process has ended and all it wrote has been read. */
  readonly exited: Promise<Exit>;
  /** Asks the process to end, and waits for it; one that has ended already is left in peace. */
  stop(): Promise<Exit>;
  /** Ends the process without asking. The signal is on its way when this returns. */
  kill(): Promise<Exit>;
}

export interface Launch {
  /** Where the built service lies, if not in the project itself. */
  readonly server?: string;
  readonly cwd?: string;
}

const running = new Set<ChildProcess>();
// A test run that is broken off must not leave services behind.
process.once('exit', () => {
  for (const child of running) child.kill('SIGKILL');
});

/** A directory for the data of one test, which its caller removes again. */
export function dataDirectory(): { path: string; remove: () => void } {
  const path = mkdtempSync(join(tmpdir(), 'loci-process-'));
  return { path, remove: () => rmSync(path, { recursive: true, force: true }) };
}

/**
 * Starts the built service as a process of its own, on a free port, and waits until it says that it is ready. It gets the
 * given settings and none of the tester's own; `home` is where it finds its home directory.
 */
export async function startProcess(
  home: string,
  settings: Record<string, string> = {},
  launch: Launch = {},
): Promise<ServiceProcess> {
  const { child, exited, output } = launchProcess(home, settings, launch);
  const ready = new Promise<RegExpExecArray>((resolve) => {
    child.stdout?.on('data', () => {
      const lines = /Loci is ready\n {2}API {3}(\S+)\n {2}docs {2}(\S+)\n {2}data {2}(.+)\n/.exec(output().stdout);
      if (lines) resolve(lines);
    });
  });
  const failed = exited.then((exit) => {
    throw new Error(`the service ended with ${exit.code ?? exit.signal} before it was ready:\n${exit.stderr}`);
  });
  const [, address, docs, data] = (await Promise.race([ready, failed])) as unknown as [string, string, string, string];
  const end = (signal: NodeJS.Signals) => {
    child.kill(signal);
    return exited;
  };
  return {
    pid: child.pid as number,
    address,
    docs,
    data,
    http: supertest(address),
    exited,
    stop: () => end('SIGTERM'),
    kill: () => end('SIGKILL'),
  };
}

/** Starts the built service where it is expected to give up by itself. */
export function runToExit(home: string, settings: Record<string, string> = {}): Promise<Exit> {
  return launchProcess(home, settings, {}).exited;
}

function launchProcess(home: string, settings: Record<string, string>, { server = SERVER, cwd = home }: Launch) {
  if (!existsSync(server))
    throw new Error(`${server} is missing: \`npm test\` builds it, \`npm run build\` alone does too`);
  const child = spawn(process.execPath, [server], {
    cwd,
    env: { PATH: process.env.PATH, HOME: home, PORT: '0', LOG_LEVEL: 'warn', ...settings },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  running.add(child);
  let stdout = '';
  let stderr = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    stdout += text;
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text;
  });
  const exited = new Promise<Exit>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code, signal) => {
      running.delete(child);
      resolve({ code, signal, stdout, stderr });
    });
  });
  return { child, exited, output: () => ({ stdout, stderr }) };
}
