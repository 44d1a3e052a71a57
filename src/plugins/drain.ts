import type { FastifyInstance } from 'fastify';
import fastifyPlugin from 'fastify-plugin';

/** On the way down every answer closes its connection; a client that keeps one open would otherwise hold the process. */
export const connectionDrain = fastifyPlugin(async (app: FastifyInstance) => {
  let isClosing = false;
  app.addHook('preClose', async () => {
    isClosing = true;
  });
  app.addHook('onSend', (_request, reply, _payload, done) => {
    if (isClosing) reply.header('connection', 'close');
    done();
  });
});
