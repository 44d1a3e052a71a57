import { Agent } from 'node:http';
import type { Response } from 'supertest';
import type { Service } from './service.js';

interface Post {
  readonly path: string;
  readonly body: object;
  readonly key?: string;
}

/**
 * Posts all at once. Each goes over a connection that is open already: the service takes up one new connection per turn
 * of its loop, so requests that had to connect first would be served one after the other and never meet.
 */
export async function sendTogether(service: Service, posts: readonly Post[]): Promise<Response[]> {
  const { app, http } = service;
  if (!app.server.listening) await app.listen({ host: '127.0.0.1', port: 0 });
  const agent = new Agent({ keepAlive: true });
  try {
    await Promise.all(posts.map(() => http.get('/health/live').agent(agent).expect(200)));
    return await Promise.all(
      posts.map(({ path, body, key }) =>
        http
          .post(path)
          .agent(agent)
          .set(key === undefined ? {} : { 'Idempotency-Key': key })
          .send(body),
      ),
    );
  } finally {
    agent.destroy();
  }
}

/** The same thing over and over, each with its number. */
export const times = <Value>(count: number, build: (index: number) => Value): Value[] =>
  Array.from({ length: count }, (_, index) => build(index));
