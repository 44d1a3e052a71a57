import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { FastifyInstance } from 'fastify';
import supertest from 'supertest';
import { buildApp } from '../../src/app.js';
import { readConfig } from '../../src/config.js';
import { buildLogger } from '../../src/logging.js';
import { openSandbox } from '../../src/sandbox/open.js';
import { openStore } from '../../src/storage/open.js';
import type { Store } from '../../src/storage/port.js';
import { NO_SUMMARIZER } from '../../src/summarizer/port.js';
import { WORKER_FILE } from './worker.js';

/** A clock that stands still until it is moved, and ids that count up: what a test did is what the service saw. */
export class Clock {
  #nowMs = Date.parse('2026-01-01T00:00:00.000Z');

  now = (): number => this.#nowMs;

  advance(ms: number): number {
    this.#nowMs += ms;
    return this.#nowMs;
  }

  /** The present moment as the contracts print it. */
  iso = (): string => new Date(this.#nowMs).toISOString();
}

export function countingIds(): () => string {
  let count = 0;
  return () => `00000000-0000-4000-8000-${String(++count).padStart(12, '0')}`;
}

export interface Service {
  readonly app: FastifyInstance;
  readonly http: ReturnType<typeof supertest>;
  readonly store: Store;
  readonly clock: Clock;
  /** Path of the main database file. */
  readonly file: string;
  stop(): Promise<void>;
}

/** The shipped app on a real database file in a directory of its own. `environment` overrides settings. */
export async function startService(environment: Record<string, string> = {}): Promise<Service> {
  const directory = mkdtempSync(join(tmpdir(), 'loci-test-'));
  const file = environment.RLM_MEMORY_DB ?? join(directory, 'memory.db');
  const config = readConfig({ RLM_MEMORY_DB: file, LOG_LEVEL: 'silent', ...environment });
  const clock = new Clock();
  const store = openStore(config, clock.now);
  const context = {
    ...config,
    store,
    now: clock.now,
    newId: countingIds(),
    sandbox: openSandbox(WORKER_FILE),
    summarizer: NO_SUMMARIZER,
  };
  const app = await buildApp(context, buildLogger(config.logLevel), config);
  await app.ready();
  return {
    app,
    http: supertest(app.server),
    store,
    clock,
    file,
    stop: async () => {
      await app.close();
      rmSync(directory, { recursive: true, force: true });
    },
  };
}
