import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import fastifyPlugin from 'fastify-plugin';

/** An answer that takes longer is worth knowing about. */
const SLOW_MS = 1_000;

/**
 * Every answer names its request, and every request leaves one line in the log: what was asked, never what was said. The line
 * of a request that was refused, failed or slow is of level info; that of any other is of level debug, because at the usual
 * level nobody would read it and every answer would pay for it.
 */
export const requestTrace = fastifyPlugin(async (app: FastifyInstance) => {
  app.addHook('onRequest', (request, reply, done) => {
    reply.header('x-request-id', request.id);
    done();
  });
  app.addHook('onResponse', (request, reply, done) => {
    traceAnswer(request, reply);
    done();
  });
});

export function traceAnswer(request: FastifyRequest, reply: FastifyReply): void {
  request.log[levelOf(reply.statusCode, reply.elapsedTime)](
    {
      method: request.method,
      route: request.routeOptions.url,
      status: reply.statusCode,
      duration_ms: Math.round(reply.elapsedTime * 10) / 10,
    },
    'request answered',
  );
}

export const levelOf = (status: number, durationMs: number): 'info' | 'debug' =>
  status >= 400 || durationMs > SLOW_MS ? 'info' : 'debug';
