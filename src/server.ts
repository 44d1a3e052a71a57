import { randomUUID } from 'node:crypto';
import closeWithGrace from 'close-with-grace';
import { buildApp } from './app.js';
import { ConfigError, readConfig } from './config.js';
import { buildLogger } from './logging.js';
import { openSandbox } from './sandbox/open.js';
import { openStore } from './storage/open.js';
import { StoreUnavailable } from './storage/port.js';
import { openSummarizer } from './summarizer/open.js';

/** How long requests in flight may take to finish once the process is told to stop. */
const DRAIN_MS = 10_000;

async function start(): Promise<void> {
  const config = readConfig(process.env);
  const logger = buildLogger(config.logLevel);
  const store = openStore(config, Date.now);
  const sandbox = openSandbox(new URL('./sandbox/worker.js', import.meta.url));
  const summarizer = openSummarizer(config.summarizer, {
    now: Date.now,
    onFailure: (reason) => logger.warn({ reason }, 'the summarizer gave no text'),
  });
  const context = { ...config, store, now: Date.now, newId: randomUUID, sandbox, summarizer };
  const app = await buildApp(context, logger, config);
  closeWithGrace({ delay: DRAIN_MS, logger }, async ({ err }) => {
    if (err) logger.fatal(err, 'stopping after a failure');
    await app.close();
  });
  const address = await app.listen({ host: config.host, port: config.port });
  const { location } = await store.summarize();
  process.stdout.write(`Loci is ready\n  API   ${address}\n  docs  ${address}/docs\n  data  ${location}\n`);
}

try {
  await start();
} catch (error) {
  // What the operator can put right is said in a sentence; anything else deserves its stack.
  const isExpected = error instanceof ConfigError || error instanceof StoreUnavailable || isListenError(error);
  process.stderr.write(`Loci could not start: ${isExpected ? (error as Error).message : (error as Error).stack}\n`);
  process.exit(1);
}

function isListenError(error: unknown): boolean {
  return ['listen', 'getaddrinfo'].includes((error as NodeJS.ErrnoException).syscall ?? '');
}
