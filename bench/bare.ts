import { readFileSync } from 'node:fs';
import Fastify from 'fastify';
import { ReadRequest } from '../src/contracts/pack.js';
import { COMPONENTS, ref } from '../src/contracts/schema.js';
import { WriteRequest } from '../src/contracts/write.js';
import { schemaController } from '../src/plugins/validation.js';

/**
 * What the service is measured against: the same framework checks the same bodies with the same validator, and answers an object
 * that was an answer of the service. No hooks, no logs, no store. The file of answers is the only argument.
 */

const answers = JSON.parse(readFileSync(process.argv[2] as string, 'utf8')) as { write: object; read: object };

const app = Fastify({ schemaController, forceCloseConnections: true });
for (const component of COMPONENTS) app.addSchema(component);
app.post('/memory/write', { schema: { body: ref(WriteRequest) } }, async (_request, reply) =>
  reply.code(201).send(answers.write),
);
app.post('/memory/read', { schema: { body: ref(ReadRequest) } }, async () => answers.read);
process.on('SIGTERM', () => app.close());

const address = await app.listen({ host: '127.0.0.1', port: 0 });
process.stdout.write(`The bare route is ready\n  API   ${address}\n`);
