import { once } from 'node:events';
import { readdirSync } from 'node:fs';
import { Agent, request } from 'node:http';
import { connect } from 'node:net';
import { afterEach, expect, test } from 'vitest';
import { dataDirectory, type ServiceProcess, startProcess } from '../support/process.js';
import { memoryBody, writeBody } from '../support/requests.js';

/** How the service ends when it is asked to. */

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

function home(): string {
  const directory = dataDirectory();
  cleanups.push(directory.remove);
  return directory.path;
}

async function start(at: string): Promise<ServiceProcess> {
  const service = await startProcess(at);
  cleanups.push(service.kill);
  return service;
}

interface Answer {
  readonly status: number;
  readonly body: { memory_id?: string; results?: { memory_id: string }[] };
}

const memoryIds = ({ body }: Answer): string[] =>
  body.results ? body.results.map((result) => result.memory_id) : [body.memory_id as string];

const REPOS = ['stop/one', 'stop/two', 'stop/three'];
const repoOf = (index: number): string => REPOS[index % REPOS.length] as string;

/** Single writes and batches by turns, in several repos and in global scope. */
function changeOf(index: number): { path: string; body: object } {
  const scope = index % 4 === 3 ? 'global' : 'repo';
  const text = (part: string) => `Written while going down, number ${index}, ${part}`;
  if (index % 2 === 0) return { path: '/memory/write', body: writeBody({ text: text('alone'), scope }, repoOf(index)) };
  const items = [
    { op: 'write', ref: 'problem', memory: memoryBody({ text: text('problem'), kind: 'problem', scope }) },
    {
      op: 'write',
      memory: memoryBody({ text: text('solution'), kind: 'solution', scope, links: { problem_id: '@problem' } }),
    },
  ];
  return { path: '/memory/batch', body: { repo_id: repoOf(index), items } };
}

/** Sends the head of a request and waits until the service has taken it up; `finish` sends the body. */
async function beginRequest(
  service: ServiceProcess,
  agent: Agent,
  path: string,
  body: object,
): Promise<() => Promise<Answer>> {
  const bytes = Buffer.from(JSON.stringify(body));
  const pending = request(`${service.address}${path}`, {
    agent,
    method: 'POST',
    headers: { 'content-type': 'application/json', 'content-length': bytes.length, expect: '100-continue' },
  });
  const answered = once(pending, 'response');
  pending.flushHeaders();
  await once(pending, 'continue');
  return async () => {
    pending.end(bytes);
    const [response] = await answered;
    const chunks: Buffer[] = [];
    for await (const chunk of response) chunks.push(chunk);
    return { status: response.statusCode, body: JSON.parse(Buffer.concat(chunks).toString('utf8')) };
  };
}

/** A connection on which nothing is asked any more: the service closes it as the first thing when it goes down. */
async function idleConnection(service: ServiceProcess): Promise<{ closed: Promise<unknown> }> {
  const { hostname, port } = new URL(service.address);
  const socket = connect(Number(port), hostname);
  const closed = once(socket, 'close');
  socket.write(`GET /health/live HTTP/1.1\r\nHost: ${hostname}\r\n\r\n`);
  await once(socket, 'data');
  return { closed };
}

async function expectRemembered(service: ServiceProcess, answers: Map<number, Answer>): Promise<void> {
  for (const [index, answer] of answers) {
    for (const id of memoryIds(answer)) {
      const { body } = await service.http
        .get(`/memory/${id}`)
        .query({ repo_id: repoOf(index) })
        .expect(200);
      expect(body.text).toContain(`number ${index},`);
      expect(body.links).toHaveLength(index % 2);
    }
  }
}

test.each(['SIGTERM', 'SIGINT'] as const)(
  'told to stop by %s, it answers every request in flight, ends with 0, and has all of it when it starts again',
  async (signal) => {
    const at = home();
    const service = await start(at);
    const idle = await idleConnection(service);
    // A caller who would keep its connections for ever: it is the service that has to end them.
    const agent = new Agent({ keepAlive: true });
    cleanups.push(() => agent.destroy());
    const changes = Array.from({ length: 24 }, (_, index) => changeOf(index));
    const begun = await Promise.all(changes.map(({ path, body }) => beginRequest(service, agent, path, body)));
    process.kill(service.pid, signal);
    await idle.closed;

    const answers = new Map((await Promise.all(begun.map((finish) => finish()))).entries());
    expect([...answers.values()].map(({ status }) => status)).toEqual(
      changes.map((_, index) => (index % 2 ? 200 : 201)),
    );
    expect(await service.exited).toMatchObject({ code: 0, signal: null, stderr: '' });
    await expectRemembered(await start(at), answers);
  },
);

test('told to stop while callers keep asking, it takes no new connection, breaks no promise and ends with 0', async () => {
  const at = home();
  const service = await start(at);
  const answers = new Map<number, Answer>();
  let next = 0;
  const ask = async (): Promise<void> => {
    for (;;) {
      const index = next++;
      const { path, body } = changeOf(index);
      const answer = await fetch(`${service.address}${path}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(body),
      }).then(
        async (response): Promise<Answer> => ({
          status: response.status,
          body: (await response.json()) as Answer['body'],
        }),
        // Not even connected: the caller knows that nothing was promised.
        () => null,
      );
      if (answer === null) return;
      answers.set(index, answer);
      if (answers.size === 40) void service.stop();
    }
  };
  await Promise.all(Array.from({ length: 8 }, ask));
  expect(await service.exited).toMatchObject({ code: 0, signal: null, stderr: '' });
  expect(new Set([...answers.values()].map(({ status }) => status))).toEqual(new Set([200, 201]));
  await expectRemembered(await start(at), answers);
});

test('after an orderly end no side files are left: the database files alone are the whole memory', async () => {
  const at = home();
  const service = await start(at);
  await service.http.post('/memory/write').send(writeBody()).expect(201);
  await service.stop();
  const files = readdirSync(at, { recursive: true, encoding: 'utf8' });
  expect(files.filter((file) => /-(wal|shm|journal)$/.test(file))).toEqual([]);
});
