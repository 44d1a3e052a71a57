import { join } from 'node:path';
import type { FastifyInstance } from 'fastify';
import { buildApp } from '../src/app.js';
import { readConfig } from '../src/config.js';
import { buildLogger } from '../src/logging.js';
import { openStore } from '../src/storage/open.js';
import type { Store } from '../src/storage/port.js';
import { NO_SUMMARIZER } from '../src/summarizer/port.js';
import type { Random } from './random.js';

/** The service without a socket and without a sandbox, on a new store in a directory. */
export async function openApp(
  directory: string,
  random: Random,
): Promise<{ readonly app: FastifyInstance; readonly store: Store }> {
  const config = readConfig({
    RLM_MEMORY_DB: join(directory, 'memory.db'),
    LOG_LEVEL: 'silent',
    MAINTENANCE_HOURS: '0',
  });
  const store = openStore(config, Date.now);
  const context = {
    ...config,
    store,
    now: Date.now,
    newId: () => random.id(),
    summarizer: NO_SUMMARIZER,
    sandbox: { run: () => Promise.reject(new Error('there is none')), close: async () => {} },
  };
  const app = await buildApp(context, buildLogger(config.logLevel));
  await app.ready();
  return { app, store };
}
