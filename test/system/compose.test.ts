import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { SETTINGS } from '../../src/config.js';
import { CACHE_KIB } from '../../src/storage/sqlite/connection.js';
import { PROJECT } from '../support/process.js';

/** There is no container engine where the tests run: this checks what docker-compose.yml says, not what an engine makes of it. */

const read = (file: string): string => readFileSync(join(PROJECT, file), 'utf8');
const compose = parse(read('docker-compose.yml'));
const { loci } = compose.services;

/** Fills in the defaults of `${NAME:-default}`, as the engine does when the environment says nothing. */
const withDefaults = (text: unknown): string => String(text).replace(/\$\{\w+:-([^}]*)\}/g, '$1');

const seconds = (text: string): number => Number(/^(\d+)s$/.exec(text)?.[1]);

test('one service, built from this project, that comes back after a failure or a reboot', () => {
  expect(Object.keys(compose.services)).toEqual(['loci']);
  expect(loci).toMatchObject({ build: '.', restart: 'unless-stopped' });
});

test('memories lie in a named volume, mounted where the image keeps its database', () => {
  const file = /RLM_MEMORY_DB=(\S+)/.exec(read('Dockerfile'))?.[1];
  expect(loci.volumes).toEqual(['memories:/data']);
  expect(Object.keys(compose.volumes)).toEqual(['memories']);
  expect(file).toMatch(/^\/data\//);
});

test('only this machine reaches the port, until somebody puts a proxy with TLS in front of it', () => {
  const port = /PORT=(\d+)/.exec(read('Dockerfile'))?.[1];
  expect(loci.ports.map(withDefaults)).toEqual([`127.0.0.1:8787:${port}`]);
  expect(read('docker-compose.yml')).toMatch(/# .*proxy that ends TLS/);
});

test('it can write to nothing but its volume and a scratch directory, and gains no privileges', () => {
  expect(loci).toMatchObject({
    read_only: true,
    tmpfs: [expect.stringMatching(/^\/tmp:size=\d+m/)],
    cap_drop: ['ALL'],
    security_opt: ['no-new-privileges:true'],
  });
  expect(loci).not.toHaveProperty('privileged');
  expect(loci).not.toHaveProperty('cap_add');
});

test('when stopped it gets its signal, and longer than it gives its requests in flight', () => {
  const drainMs = Number(/DRAIN_MS = ([\d_]+)/.exec(read('src/server.ts'))?.[1]?.replaceAll('_', ''));
  expect(drainMs).toBeGreaterThan(0);
  expect(loci.init).toBe(true);
  expect(seconds(loci.stop_grace_period) * 1000).toBeGreaterThan(drainMs);
});

test('memory is limited, and the repos that stay open fit into the limit', () => {
  const limit = /^(\d+)g$/.exec(withDefaults(loci.mem_limit));
  const openRepos = Number(withDefaults(loci.environment.OPEN_REPOS_MAX));
  // The pages of each, and room for the process itself.
  expect((openRepos * CACHE_KIB) / 1024 + 256).toBeLessThan(Number(limit?.[1]) * 1024);
});

test('every setting it passes on is one that the service knows, with a value that it accepts', () => {
  const settings = new Map<string, (text: string) => unknown>(
    Object.values(SETTINGS).map(({ variable, parse }) => [variable, parse]),
  );
  expect(Object.keys(loci.environment)).toContain('LOG_LEVEL');
  for (const [variable, value] of Object.entries(loci.environment)) {
    expect(() => settings.get(variable)?.(withDefaults(value))).not.toThrow();
    expect([...settings.keys()]).toContain(variable);
  }
});

test('its health check is the one of the image, for engines that do not look there', () => {
  const command = /HEALTHCHECK [^[]*CMD (\[.*\])/.exec(read('Dockerfile'))?.[1] as string;
  expect(loci.healthcheck.test).toEqual(['CMD', ...JSON.parse(command)]);
  // Compose would take a dollar sign for the beginning of a variable.
  expect(command).not.toContain('$');
  expect(seconds(loci.healthcheck.timeout)).toBeLessThan(seconds(loci.healthcheck.interval));
  expect(loci.healthcheck.retries).toBeGreaterThan(1);
});
