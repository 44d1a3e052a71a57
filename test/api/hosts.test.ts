import { mkdtempSync, rmSync } from 'node:fs';
import { type AddressInfo, connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { FastifyInstance } from 'fastify';
import supertest from 'supertest';
import { afterEach, describe, expect, test } from 'vitest';
import { buildApp } from '../../src/app.js';
import { readConfig } from '../../src/config.js';
import { buildLogger } from '../../src/logging.js';
import { openSandbox } from '../../src/sandbox/open.js';
import { openStore } from '../../src/storage/open.js';
import { NO_SUMMARIZER } from '../../src/summarizer/port.js';
import { writeBody } from '../support/requests.js';
import { Clock, countingIds } from '../support/service.js';
import { WORKER_FILE } from '../support/worker.js';
import { expectRefusal } from './bad-input-replies.js';

/** Under which names the service may be asked: a web page that lets its own name lead here gets nothing. */

const stops: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const stop of stops.splice(0)) await stop();
});

/** The app with these settings, as the server builds it. */
async function serve(settings: Record<string, string>): Promise<FastifyInstance> {
  const directory = mkdtempSync(join(tmpdir(), 'loci-test-'));
  const config = readConfig({ RLM_MEMORY_DB: join(directory, 'memory.db'), LOG_LEVEL: 'silent', ...settings });
  const { now } = new Clock();
  const context = {
    ...config,
    store: openStore(config, now),
    now,
    newId: countingIds(),
    sandbox: openSandbox(WORKER_FILE),
    summarizer: NO_SUMMARIZER,
  };
  const app = await buildApp(context, buildLogger(config.logLevel), config);
  await app.ready();
  stops.push(async () => {
    await app.close();
    rmSync(directory, { recursive: true, force: true });
  });
  return app;
}

const ask = (app: FastifyInstance, host: string, path = '/stats') => supertest(app.server).get(path).set('host', host);

/** What is answered for each of these names. */
async function statuses(app: FastifyInstance, hosts: readonly string[]): Promise<Record<string, number>> {
  const answers: Record<string, number> = {};
  for (const host of hosts) answers[host] = (await ask(app, host)).status;
  return answers;
}

const each = (hosts: readonly string[], status: number) => Object.fromEntries(hosts.map((host) => [host, status]));

const OWN = [
  'localhost',
  'LocalHost:8787',
  'localhost.',
  'loci.localhost:80',
  '127.0.0.1',
  '127.0.0.1:8787',
  '127.1.2.3:1',
  '[::1]',
  '[::1]:8787',
];
const FOREIGN = [
  'rebound.example',
  'rebound.example:8787',
  'localhost.rebound.example',
  'notlocalhost',
  '127.0.0.1.rebound.example',
  '127.rebound.example',
  '0.0.0.0:8787',
  '192.168.1.7:8787',
  '[::2]:8787',
  '[fd00::1]',
  ':8787',
];

describe.each(['127.0.0.1', '127.0.0.2', 'localhost', 'LocalHost', '::1'])('a service that listens on %s', (host) => {
  test('answers under the names of this machine only', async () => {
    const app = await serve({ HOST: host });
    expect(await statuses(app, [...OWN, ...FOREIGN])).toEqual({ ...each(OWN, 200), ...each(FOREIGN, 421) });
  });
});

describe('a name that is not allowed', () => {
  test.each(['/stats', '/repos', '/health/live', '/health/ready', '/openapi.json', '/docs', '/', '/nowhere'])(
    'is refused at %s',
    async (path) => {
      const app = await serve({});
      const { detail } = expectRefusal(await ask(app, 'rebound.example:8787', path), 'host_not_allowed');
      expect(detail).toContain('"rebound.example:8787"');
    },
  );

  test('writes nothing', async () => {
    const app = await serve({});
    const write = supertest(app.server).post('/memory/write').set('host', 'rebound.example').send(writeBody());
    expectRefusal(await write, 'host_not_allowed');
    expect((await ask(app, 'localhost', '/repos').expect(200)).body.repos).toEqual([]);
  });

  test('is repeated in the answer only in part if it is long', async () => {
    const answer = await ask(await serve({}), 'x'.repeat(10_000));
    expect(expectRefusal(answer, 'host_not_allowed').detail.length).toBeLessThan(300);
  });
});

describe('ALLOWED_HOSTS', () => {
  const ALLOWED_HOSTS = 'Loci.Example, 192.168.1.7,[fd00::1]';
  const named = ['loci.example', 'LOCI.example:8787', '192.168.1.7:8787', '[fd00::1]:8787'];
  const other = ['rebound.example', 'sub.loci.example', 'loci.example.rebound.example', '192.168.1.8'];

  test.each(['127.0.0.1', '0.0.0.0'])('adds names to those of this machine, and to no others, at %s', async (host) => {
    const app = await serve({ HOST: host, ALLOWED_HOSTS });
    expect(await statuses(app, [...OWN, ...named, ...other])).toEqual({
      ...each([...OWN, ...named], 200),
      ...each(other, 421),
    });
  });
});

test.each(['0.0.0.0', '::', '192.168.1.7'])(
  'a service that listens on %s, as one in a container does, answers under any name unless it is told some',
  async (host) => {
    const app = await serve({ HOST: host });
    expect(await statuses(app, [...OWN, ...FOREIGN])).toEqual(each([...OWN, ...FOREIGN], 200));
  },
);

test('a client of HTTP/1.0, which need not say whom it asks, is answered', async () => {
  const app = await serve({});
  await app.listen({ host: '127.0.0.1', port: 0 });
  const socket = connect((app.server.address() as AddressInfo).port, '127.0.0.1');
  socket.end('GET /health/live HTTP/1.0\r\n\r\n');
  const chunks = await socket.setEncoding('utf8').toArray();
  expect(chunks.join('')).toMatch(/^HTTP\/1\.1 200 /);
});
