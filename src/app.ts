import { randomUUID } from 'node:crypto';
import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox';
import Fastify, { type FastifyBaseLogger, type FastifyInstance, LogController } from 'fastify';
import { jsonBodies } from './plugins/body.js';
import { connectionDrain } from './plugins/drain.js';
import { type HostSettings, hostChecks, THIS_MACHINE_ONLY } from './plugins/hosts.js';
import { openapi } from './plugins/openapi.js';
import { problemReplies, sendClientProblem, sendProblem } from './plugins/problems.js';
import { requestChecks } from './plugins/requests.js';
import { requestTrace, traceAnswer } from './plugins/trace.js';
import { schemaController } from './plugins/validation.js';
import { agentRoutes } from './routes/agents.js';
import { chapterRoutes } from './routes/chapters.js';
import { chunkTreeRoutes } from './routes/chunk-tree.js';
import { chunkRoutes } from './routes/chunks.js';
import { edgeRoutes } from './routes/edges.js';
import { episodeRoutes } from './routes/episodes.js';
import { evolutionRoutes } from './routes/evolution.js';
import { fileRoutes } from './routes/files.js';
import { graphRoutes } from './routes/graph.js';
import { journalRoutes } from './routes/journal.js';
import { maintenanceRoutes } from './routes/maintenance.js';
import { memoryRoutes } from './routes/memory.js';
import { nodeRoutes } from './routes/nodes.js';
import { replRoutes } from './routes/repl.js';
import { repoRoutes } from './routes/repos.js';
import { systemRoutes } from './routes/system.js';
import { wisdomRoutes } from './routes/wisdom.js';
import type { Context } from './services/context.js';
import { schedule } from './services/schedule.js';
import { Sweeper } from './services/sweep.js';

const BODY_BYTES_MAX = 1024 * 1024;
/** Room for a repo id of full length in which every character is percent-encoded. */
const PARAMETER_CHARACTERS_MAX = 2_400;
const REQUEST_ID = /^[\w.:-]{1,128}$/;

/** The service without a socket: the map of everything it does. Closing it closes the store and the sandbox. */
export async function buildApp(
  context: Context,
  logger: FastifyBaseLogger,
  hosts: HostSettings = THIS_MACHINE_ONLY,
): Promise<FastifyInstance> {
  const app = Fastify({
    loggerInstance: logger,
    logController: new LogController({ disableRequestLogging: true, requestIdLogLabel: 'request_id' }),
    bodyLimit: BODY_BYTES_MAX,
    routerOptions: { maxParamLength: PARAMETER_CHARACTERS_MAX },
    schemaController,
    genReqId: ({ headers }) => {
      const given = headers['x-request-id'];
      return typeof given === 'string' && REQUEST_ID.test(given) ? given : randomUUID();
    },
    frameworkErrors: (error, request, reply) => {
      sendProblem(error, request, reply);
      // A URL that cannot be read has no route, and what has no route passes no hook.
      traceAnswer(request, reply);
    },
    clientErrorHandler: sendClientProblem,
    http: { requireHostHeader: false },
    // A request that arrives on an open connection while the service goes down is still answered, not turned away.
    return503OnClosing: false,
    forceCloseConnections: 'idle',
  }).withTypeProvider<TypeBoxTypeProvider>();

  const sweeper = new Sweeper(context);
  const sweeping = schedule(
    () => sweeper.sweep(null, false),
    context.sweepEveryMs,
    (err) => logger.warn({ err }, 'the sweep failed; it is tried again the next time'),
  );

  await app.register(requestTrace);
  await app.register(requestChecks);
  await app.register(hostChecks(hosts));
  await app.register(connectionDrain);
  await app.register(problemReplies);
  await app.register(jsonBodies);
  await app.register(openapi);
  await app.register(memoryRoutes(context));
  await app.register(nodeRoutes(context));
  await app.register(edgeRoutes(context));
  await app.register(graphRoutes(context));
  await app.register(evolutionRoutes(context));
  await app.register(replRoutes(context));
  await app.register(chunkRoutes(context));
  await app.register(chunkTreeRoutes(context));
  await app.register(journalRoutes(context));
  await app.register(agentRoutes(context));
  await app.register(episodeRoutes(context));
  await app.register(fileRoutes(context));
  await app.register(chapterRoutes(context));
  await app.register(wisdomRoutes(context));
  await app.register(repoRoutes(context));
  await app.register(maintenanceRoutes(sweeper));
  await app.register(systemRoutes(context));
  app.addHook('onClose', async () => {
    sweeping.stop();
    await context.sandbox.close();
    await context.store.close();
  });
  return app as unknown as FastifyInstance;
}
