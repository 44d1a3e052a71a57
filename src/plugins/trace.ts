import type { FastifyInstance } from 'fastify';
import fastifyPlugin from 'fastify-plugin';

/** Every answer names its request, and every request leaves one line in the log: what was asked, never what was said. */
export const requestTrace = fastifyPlugin(async (app: FastifyInstance) => {
  app.addHook('onRequest', (request, reply, done) => {
    reply.header('x-request-id', request.id);
    done();
  });
  app.addHook('onResponse', (request, reply, done) => {
    request.log.debug(
      {
        method: request.method,
        route: request.routeOptions.url,
        status: reply.statusCode,
        duration_ms: Math.round(reply.elapsedTime * 10) / 10,
      },
      'request answered',
    );
    done();
  });
});
