import { isIPv4 } from 'node:net';
import type { FastifyInstance } from 'fastify';
import fastifyPlugin from 'fastify-plugin';
import { clip, Problem } from '../errors.js';

/** Where the service listens, and by which names it may be asked besides those of the machine itself. */
export interface HostSettings {
  readonly host: string;
  readonly allowedHosts: ReadonlySet<string>;
}

export const THIS_MACHINE_ONLY: HostSettings = { host: '127.0.0.1', allowedHosts: new Set() };

/**
 * A web page may let its own name lead to 127.0.0.1, and the browser then takes the service for a part of that page and shows it
 * every memory. What the browser cannot hide is the name it asked for, so only names that are meant for the service are answered.
 * Who listens on another address than this machine's and names no hosts is reached by names that nobody here can know.
 */
export const hostChecks = ({ host, allowedHosts }: HostSettings) =>
  fastifyPlugin(async (app: FastifyInstance) => {
    if (allowedHosts.size === 0 && !isThisMachine(host.toLowerCase())) return;
    const isAllowed = (name: string): boolean => isThisMachine(name) || allowedHosts.has(name);
    app.addHook('onRequest', (request, _reply, done) => {
      const asked = request.headers.host;
      // Whoever sends no Host header at all is no browser.
      if (asked === undefined || isAllowed(nameIn(asked))) done();
      else done(new Problem('host_not_allowed', `the service is not asked as ${JSON.stringify(clip(asked, 200))}`));
    });
  });

/** The name in a Host header: without its port, and without the dot that may end a full name. */
const nameIn = (header: string): string => header.toLowerCase().replace(/:\d*$/, '').replace(/\.$/, '');

const isThisMachine = (name: string): boolean =>
  name === 'localhost' ||
  name.endsWith('.localhost') ||
  name === '::1' ||
  name === '[::1]' ||
  (name.startsWith('127.') && isIPv4(name));
