import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Logger, levels, symbols } from 'pino';
import supertest from 'supertest';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { buildApp } from '../../src/app.js';
import { readConfig } from '../../src/config.js';
import { buildLogger } from '../../src/logging.js';
import { openSandbox } from '../../src/sandbox/open.js';
import { openStore } from '../../src/storage/open.js';
import type { Store } from '../../src/storage/port.js';
import { NO_SUMMARIZER } from '../../src/summarizer/port.js';
import { readBody, updateBody, writeBody } from '../support/requests.js';
import { Clock, countingIds } from '../support/service.js';
import { WORKER_FILE } from '../support/worker.js';

/** What the log tells, and what it keeps to itself. The most talkative level is used, because it says everything there is. */

/** The shipped logger, with its lines kept here instead of printed. */
function listenTo(logger: Logger): string[] {
  const lines: string[] = [];
  Object.assign(logger, { [symbols.streamSym]: { write: (line: string) => lines.push(line) } });
  return lines;
}

const SECRETS: Readonly<Record<string, string>> = {
  authorization: 'Bearer secret-of-authorization',
  cookie: 'session=secret-of-cookie',
  'x-api-key': 'secret-of-api-key',
  'proxy-authorization': 'Basic secret-of-proxy',
};
const TEXT = 'The vault opens with heliotrope';
const { info: INFO, debug: DEBUG } = levels.values;

let directory: string;
let store: Store;
let app: Awaited<ReturnType<typeof buildApp>>;
let http: ReturnType<typeof supertest>;
let lines: string[];
beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), 'loci-test-'));
  const config = readConfig({ RLM_MEMORY_DB: join(directory, 'memory.db'), LOG_LEVEL: 'trace' });
  const clock = new Clock();
  store = openStore(config, clock.now);
  const logger = buildLogger(config.logLevel);
  lines = listenTo(logger);
  const context = {
    ...config,
    store,
    now: clock.now,
    newId: countingIds(),
    sandbox: openSandbox(WORKER_FILE),
    summarizer: NO_SUMMARIZER,
  };
  app = await buildApp(context, logger);
  await app.ready();
  http = supertest(app.server);
});
afterEach(() => {
  lines.length = 0;
});
afterAll(async () => {
  await app.close();
  rmSync(directory, { recursive: true, force: true });
});

const post = (path: string, body: object, id: string) =>
  http.post(path).set(SECRETS).set('x-request-id', id).send(body);

/** Requests that succeed, are refused at each gate, and are not understood at all; every one says something private. */
const REQUESTS: readonly [name: string, status: number, send: (id: string) => supertest.Test][] = [
  ['a write', 201, (id) => post('/memory/write', writeBody({ text: TEXT, rationale: TEXT }), id)],
  ['a read', 200, (id) => post('/memory/read', readBody(TEXT), id)],
  ['a refused shape', 400, (id) => post('/memory/write', { ...writeBody({ text: TEXT }), [TEXT]: TEXT }, id)],
  ['a refused sense', 422, (id) => post('/memory/write', writeBody({ text: TEXT, kind: 'solution' }), id)],
  [
    'a refused reference',
    404,
    (id) =>
      post('/memory/update', updateBody('nobody', { type: 'archive_state', archived: true, rationale: TEXT }), id),
  ],
  ['a body that is not JSON', 400, (id) => post('/memory/write', `{${TEXT}` as never, id).type('json')],
  ['an unknown route', 404, (id) => http.get('/nowhere').query({ text: TEXT }).set(SECRETS).set('x-request-id', id)],
  ['a URL that is not valid', 400, (id) => http.get('/memory/%zz').set(SECRETS).set('x-request-id', id)],
];

describe.each(REQUESTS)('%s', (_name, status, send) => {
  test('is logged with its id, without secrets and without what was said', async () => {
    await send('traced-1').expect(status);
    const all = lines.join('');
    const traced = lines.map((line) => JSON.parse(line)).filter((line) => line.request_id === 'traced-1');
    expect(traced.length).toBeGreaterThan(0);
    expect(all).not.toMatch(/secret-of/);
    expect(all).not.toMatch(/heliotrope/);
  });
});

test('an answered request leaves one line: what was asked, how it went, how long it took', async () => {
  await http.post('/memory/read').set('x-request-id', 'traced-2').send(readBody('vault')).expect(200);
  const answered = lines.map((line) => JSON.parse(line)).filter((line) => line.msg === 'request answered');
  expect(answered).toEqual([
    expect.objectContaining({
      request_id: 'traced-2',
      method: 'POST',
      route: '/memory/read',
      status: 200,
      duration_ms: expect.any(Number),
    }),
  ]);
});

test.each(REQUESTS)('%s leaves one line, at level info if it was refused and at level debug if not', async (...row) => {
  const { status } = await row[2]('traced-4');
  const answered = lines.map((line) => JSON.parse(line)).filter((line) => line.msg === 'request answered');
  const level = status >= 400 ? INFO : DEBUG;
  expect(answered).toEqual([expect.objectContaining({ request_id: 'traced-4', status, level })]);
});

test('whoever logs a request or its headers does not log its secrets', () => {
  const logger = buildLogger('info');
  const own = listenTo(logger);
  const headers = { ...SECRETS, 'set-cookie': 'session=secret-of-set-cookie', accept: 'application/json' };
  logger.info({ headers }, 'headers');
  logger.info({ req: { headers } }, 'request');
  logger.child({ request_id: 'one' }).warn({ request: { headers } }, 'request of a child');
  expect(own).toHaveLength(3);
  for (const line of own) {
    expect(line).not.toMatch(/secret-of/);
    expect(line).toContain('[redacted]');
    expect(line).toContain('application/json');
  }
});

// The last test, because the store does not come back.
test('a failure of the service is logged as an error with its id and cause, and still without what was said', async () => {
  await store.close();
  await post('/memory/write', writeBody({ text: TEXT }), 'traced-3').expect(503);
  const errors = lines.map((line) => JSON.parse(line)).filter((line) => line.level === 50);
  expect(errors).toEqual([
    expect.objectContaining({
      request_id: 'traced-3',
      code: 'unavailable',
      err: expect.objectContaining({ stack: expect.any(String) }),
    }),
  ]);
  expect(lines.join('')).not.toMatch(/heliotrope|secret-of/);
});
