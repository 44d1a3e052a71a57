import type { FastifyInstance } from 'fastify';
import fastifyPlugin from 'fastify-plugin';
import { Problem } from '../errors.js';

/** What a request may be before anybody looks at its route; Node's own refusals would be no problem reports. */
export const requestChecks = fastifyPlugin(async (app: FastifyInstance) => {
  // Nothing is expected of the service that it does not do anyway.
  app.server.on('checkExpectation', (request, response) => app.server.emit('request', request, response));

  app.addHook('onRequest', (request, _reply, done) => {
    if (request.headers.host === undefined && request.raw.httpVersion === '1.1') {
      done(new Problem('malformed_request', 'HTTP/1.1 needs a Host header'));
    } else if (request.url.includes('%') && !isDecodable(request.url)) {
      done(new Problem('malformed_request', 'the URL is not percent-encoded UTF-8'));
    } else {
      done();
    }
  });
});

function isDecodable(url: string): boolean {
  try {
    decodeURIComponent(url);
    return true;
  } catch {
    return false;
  }
}
