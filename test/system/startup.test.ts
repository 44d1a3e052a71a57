import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { dataDirectory, PROJECT, runToExit, type ServiceProcess, startProcess } from '../support/process.js';
import { writeBody } from '../support/requests.js';

/** How the service begins, and what it says when it cannot. */

describe('a service that starts', () => {
  const directory = dataDirectory();
  /** A home directory that nobody has made yet. */
  const home = join(directory.path, 'fresh', 'home');
  const file = join(home, '.claude', 'rlm-memory.db');
  let service: ServiceProcess;
  beforeAll(async () => {
    service = await startProcess(home, {}, { cwd: directory.path });
    await service.http.post('/memory/write').send(writeBody()).expect(201);
  });
  afterAll(async () => {
    await service.kill();
    directory.remove();
  });

  test('keeps its data in ~/.claude/rlm-memory.db unless told otherwise, and makes the directories on the way', () => {
    expect(service.data).toBe(file);
    expect(existsSync(file)).toBe(true);
  });

  test('lets nobody but its owner into its directories and files', () => {
    const below = readdirSync(home, { recursive: true, encoding: 'utf8' }).map((path) => join(home, path));
    const modes = new Map(below.map((path) => [path, statSync(path)]));
    expect([...modes.keys()].filter((path) => path.endsWith('.db'))).toHaveLength(2);
    for (const [path, status] of modes) {
      expect(`${path} ${(status.mode & 0o777).toString(8)}`).toBe(`${path} ${status.isDirectory() ? '700' : '600'}`);
    }
  });

  test('prints where its API and its docs are, and both answer there', async () => {
    expect(service.address).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
    expect(service.docs).toBe(`${service.address}/docs`);
    expect((await fetch(`${service.address}/health/ready`)).status).toBe(200);
    const docs = await fetch(service.docs);
    expect(docs.status).toBe(200);
    expect(docs.headers.get('content-type')).toContain('text/html');
  });

  test('refuses its data to a second process in one sentence, and goes on serving', async () => {
    const second = await runToExit(directory.path, { RLM_MEMORY_DB: file });
    expect(second).toMatchObject({ code: 1, stdout: '' });
    expect(second.stderr).toBe(
      `Loci could not start: another process already serves ${file}; stop it, or set RLM_MEMORY_DB to another file\n`,
    );
    await service.http.get('/health/ready').expect(200);
  });
});

describe('a service that cannot start', () => {
  const directory = dataDirectory();
  const occupant = createServer();
  afterEach(() => occupant.close());
  afterAll(directory.remove);

  test('names every setting that is wrong, what it was and what it may be, and makes no files', async () => {
    const exit = await runToExit(directory.path, {
      PORT: 'abc',
      LOG_LEVEL: 'loud',
      EVIDENCE_REQUIRED_KINDS: 'foo',
    });
    expect(exit).toMatchObject({ code: 1, stdout: '' });
    const lines = exit.stderr.trimEnd().split('\n');
    expect(lines).toEqual([
      expect.stringMatching(/PORT="abc".*0 to 65535$/),
      expect.stringMatching(/^LOG_LEVEL="loud".*trace, debug, info/),
      expect.stringMatching(/^EVIDENCE_REQUIRED_KINDS="foo".*problem, solution/),
    ]);
    expect(readdirSync(directory.path)).toEqual([]);
  });

  test('says in one sentence that its port is taken, and which', async () => {
    occupant.listen(0, '127.0.0.1');
    await once(occupant, 'listening');
    const { port } = occupant.address() as AddressInfo;
    const exit = await runToExit(directory.path, { PORT: String(port) });
    expect(exit).toMatchObject({ code: 1, stdout: '' });
    expect(exit.stderr).toMatch(
      new RegExp(`^Loci could not start: .*address already in use 127\\.0\\.0\\.1:${port}\n$`),
    );
  });
});

test('npm start builds the service and becomes what it built, so that a signal reaches it', () => {
  const { scripts } = JSON.parse(readFileSync(join(PROJECT, 'package.json'), 'utf8')) as {
    scripts: Record<string, string>;
  };
  expect(scripts.start).toMatch(/^npm run (--silent )?build && exec node dist\/server\.js$/);
  expect(scripts.build).toContain('tsc');
});
