import swagger from '@fastify/swagger';
import swaggerUi from '@fastify/swagger-ui';
import type { FastifyInstance } from 'fastify';
import fastifyPlugin from 'fastify-plugin';
import { COMPONENTS } from '../contracts/schema.js';
import { VERSION } from '../version.js';

/** The description of the service, drawn from the contracts, at /openapi.json and browsable at /docs. */
export const openapi = fastifyPlugin(async (app: FastifyInstance) => {
  for (const component of COMPONENTS) app.addSchema(component);
  await app.register(swagger, {
    openapi: {
      openapi: '3.1.0',
      info: {
        title: 'Loci',
        version: VERSION,
        description: 'Memory for coding agents: typed, linked, searchable and auditable.',
        license: { name: 'MIT', identifier: 'MIT' },
      },
      tags: [
        { name: 'memory', description: 'Write, find and update memories' },
        { name: 'graph', description: 'Everything remembered, as nodes and edges' },
        { name: 'evolution', description: 'How nodes move between tiers and gain or lose confidence' },
        { name: 'episodes', description: 'What agents tried, and what came of it' },
        { name: 'chapters', description: 'Episodes told together' },
        { name: 'wisdom', description: 'What many chapters have in common' },
        { name: 'chunks', description: 'Any text, in pieces that are found by words and tags' },
        { name: 'journal', description: 'Core, learning and task entries, within limits' },
        { name: 'repos', description: 'What is stored, and for whom' },
        { name: 'system', description: 'Health, and what problems mean' },
      ],
    },
    convertConstToEnum: false,
    refResolver: { buildLocalReference: (json) => String(json.$id) },
  });
  await app.register(swaggerUi, { routePrefix: '/docs' });
  app.get('/openapi.json', { schema: { hide: true } }, async () => app.swagger());
});
