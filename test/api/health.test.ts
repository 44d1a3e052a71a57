import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { Agent, type IncomingMessage, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { writeBody } from '../support/requests.js';
import { type Service, startService } from '../support/service.js';

/** Whether the service runs, whether it can work, and how it goes. */

describe('health', () => {
  let service: Service;
  beforeEach(async () => {
    service = await startService();
  });
  afterEach(() => service.stop());

  test('a running service is live and ready', async () => {
    for (const path of ['/health/live', '/health/ready']) {
      const answer = await service.http.get(path);
      expect([answer.status, answer.body]).toEqual([200, { status: 'ok' }]);
    }
  });

  test('without its store the service is live but not ready, and says so as a problem', async () => {
    await service.store.close();
    await service.http.get('/health/live').expect(200);
    const answer = await service.http.get('/health/ready');
    expect(answer.status).toBe(503);
    expect(answer.headers['content-type']).toBe('application/problem+json; charset=utf-8');
    expect(answer.body).toMatchObject({ code: 'unavailable', status: 503, errors: [] });
    expect(answer.body.hint).toMatch(/try again/i);
  });

  test('without its store every other route answers unavailable, never a failure nobody expected', async () => {
    await service.store.close();
    const requests = [
      service.http.post('/memory/write').send(writeBody()),
      service.http.post('/memory/read').send({ op: 'read', repo_id: 'r', mode: 'targeted', query: 'Redis' }),
      service.http.get('/memory/00000000-0000-4000-8000-000000000001'),
      service.http.get('/repos'),
      service.http.get('/stats'),
      service.http.delete('/repos/r').query({ confirm: 'r' }),
    ];
    for (const answer of await Promise.all(requests)) {
      expect([answer.status, answer.body.code]).toEqual([503, 'unavailable']);
    }
  });

  test('asking for health changes nothing and creates no repo', async () => {
    await service.http.get('/health/ready').expect(200);
    const { body } = await service.http.get('/repos').expect(200);
    expect(body.repos).toEqual([]);
  });
});

describe('closing', () => {
  let directory: string;
  let file: string;
  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), 'loci-test-'));
    file = join(directory, 'memory.db');
  });
  afterEach(() => rmSync(directory, { recursive: true, force: true }));

  /** Stops the service in the middle of a write that a client with a kept-alive connection sends; gives the client's answer. */
  async function stopDuringWrite(text: string): Promise<IncomingMessage> {
    const service = await startService({ RLM_MEMORY_DB: file });
    await service.app.listen({ host: '127.0.0.1', port: 0 });
    const { port } = service.app.server.address() as AddressInfo;
    const body = JSON.stringify(writeBody({ text }));
    const headers = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) };
    const agent = new Agent({ keepAlive: true });
    const outgoing = request({ host: '127.0.0.1', port, agent, method: 'POST', path: '/memory/write', headers });

    const seen = once(service.app.server, 'request');
    outgoing.write(body.slice(0, 10));
    await seen;
    const stopped = service.stop();
    const answered = once(outgoing, 'response') as Promise<[IncomingMessage]>;
    outgoing.end(body.slice(10));
    const [response] = await answered;
    response.resume();
    agent.destroy();
    await stopped;
    return response;
  }

  test('a request in flight is finished, and what it wrote is there afterwards', async () => {
    const response = await stopDuringWrite('Written while the service went down');
    expect(response.statusCode).toBe(201);
    const again = await startService({ RLM_MEMORY_DB: file });
    try {
      const read = await again.http.get(response.headers.location as string).expect(200);
      expect(read.body.text).toBe('Written while the service went down');
    } finally {
      await again.stop();
    }
  });

  test('an answer given while closing ends its connection, so that no client holds the service up', async () => {
    const response = await stopDuringWrite('The last on its connection');
    expect(response.headers.connection).toBe('close');
  });

  test('writes that were accepted together are all there after closing', async () => {
    const service = await startService({ RLM_MEMORY_DB: file });
    await service.app.listen({ host: '127.0.0.1', port: 0 });
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, index) =>
        service.http.post('/memory/write').send(writeBody({ text: `Fact ${index}` })),
      ),
    );
    await service.stop();
    const again = await startService({ RLM_MEMORY_DB: file });
    try {
      for (const answer of answers) {
        expect(answer.status).toBe(201);
        await again.http.get(answer.headers.location as string).expect(200);
      }
    } finally {
      await again.stop();
    }
  });

  test('a closed service gives its store free for the next one, and may be closed twice', async () => {
    const first = await startService({ RLM_MEMORY_DB: file });
    await first.stop();
    await first.stop();
    const second = await startService({ RLM_MEMORY_DB: file });
    await second.http.get('/health/ready').expect(200);
    await second.stop();
  });
});
