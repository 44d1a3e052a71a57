import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, renameSync, statSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join, relative } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { dataDirectory, PROJECT, type ServiceProcess, startProcess } from '../support/process.js';
import { writeBody } from '../support/requests.js';

/**
 * There is no container engine where the tests run. What the Dockerfile says is checked as text, and then done: its steps are
 * carried out in a directory, except those that need the network, and the service is run from what they leave in the image.
 */

const read = (file: string): string => readFileSync(join(PROJECT, file), 'utf8');
const project = JSON.parse(read('package.json'));

interface Instruction {
  readonly word: string;
  /** The stage that a COPY takes from; null is the project. */
  readonly from: string | null;
  readonly text: string;
}

interface Stage {
  readonly base: string;
  readonly name: string | null;
  readonly instructions: readonly Instruction[];
}

function readStages(): Stage[] {
  const lines = read('Dockerfile')
    .replace(/^\s*#.*\n/gm, '')
    .replace(/\\\n\s*/g, '')
    .split('\n')
    .filter((line) => line.trim() !== '');
  const stages: (Stage & { instructions: Instruction[] })[] = [];
  for (const line of lines) {
    const [, word, flags, text] = /^([A-Z]+) ((?:--\S+ +)*)(.*)$/.exec(line) as unknown as [
      string,
      string,
      string,
      string,
    ];
    if (word === 'FROM') {
      const [base, name] = text.split(/ AS /i) as [string, string?];
      stages.push({ base, name: name ?? null, instructions: [] });
    } else {
      stages.at(-1)?.instructions.push({ word, from: /--from=(\S+)/.exec(flags)?.[1] ?? null, text });
    }
  }
  return stages;
}

const stages = readStages();
const [build, final] = stages as [Stage, Stage];
const textsOf = (stage: Stage, word: string): string[] =>
  stage.instructions.filter((instruction) => instruction.word === word).map(({ text }) => text);
const environment = Object.fromEntries(
  textsOf(final, 'ENV').flatMap((text) => text.split(/\s+/).map((pair) => pair.split('='))),
);
const copiesOf = (stage: Stage) =>
  stage.instructions
    .filter(({ word }) => word === 'COPY')
    .map(({ from, text }) => ({
      from,
      sources: text.split(/\s+/).slice(0, -1),
      target: text.split(/\s+/).at(-1) as string,
    }));
const healthCommand = JSON.parse(textsOf(final, 'HEALTHCHECK')[0]?.replace(/^CMD /, '') ?? '[]') as string[];
const command = JSON.parse(textsOf(final, 'CMD')[0] ?? '[]') as string[];

const ignoreRules = read('.dockerignore')
  .split('\n')
  .filter((line) => line.trim() !== '' && !line.startsWith('#'))
  .map((line) => {
    const pattern = line.replace(/^!/, '').replace(/[.+^$()|[\]\\]/g, '\\$&');
    const expression = pattern.replace(/\*\*\/|\*/g, (wildcard) => (wildcard === '*' ? '[^/]*' : '(?:.*/)?'));
    return { isException: line.startsWith('!'), matches: new RegExp(`^${expression}(?:/|$)`) };
  });
/** The last rule that matches a path, or a directory above it, decides. */
const isIgnored = (path: string): boolean =>
  ignoreRules.reduce((ignored, rule) => (rule.matches.test(path) ? !rule.isException : ignored), false);

describe('what goes to the builder', () => {
  test.each([
    'node_modules/fastify/package.json',
    'src/node_modules/stray.js',
    '.git/config',
    'test/system/container.test.ts',
    'dist/server.js',
    'rlm-memory.db',
    'src/stray.db',
    'drizzle/sqlite/stray.db-wal',
    '.env',
    'src/.env.local',
  ])('%s stays out', (path) => {
    expect(isIgnored(path)).toBe(true);
  });

  test('everything that the Dockerfile copies from the project is there and gets in', () => {
    const sources = stages.flatMap(copiesOf).flatMap((copy) => (copy.from === null ? copy.sources : []));
    expect(sources.length).toBeGreaterThan(0);
    expect(sources.filter((source) => !existsSync(join(PROJECT, source)) || isIgnored(source))).toEqual([]);
    expect(['src/server.ts', 'drizzle/sqlite/meta/_journal.json'].filter(isIgnored)).toEqual([]);
  });
});

describe('what the Dockerfile says', () => {
  test('two stages on the same base, of the Node version that the project asks for', () => {
    expect(stages).toHaveLength(2);
    expect(build.base).toBe('node:20-bookworm-slim');
    expect(final.base).toBe(build.base);
    expect(project.engines.node).toMatch(/^>=20\b/);
  });

  test('it installs by the lock file, may run the install script of better-sqlite3, and can compile it', () => {
    expect(textsOf(build, 'RUN')).toContain('npm ci');
    expect(project.allowScripts).toMatchObject({ 'better-sqlite3': true });
    expect(textsOf(build, 'RUN')[0]).toMatch(/apt-get install .*g\+\+ make python3/);
  });

  test('every script that it runs exists', () => {
    const scripts = textsOf(build, 'RUN').flatMap((text) =>
      [...text.matchAll(/npm run (\S+)/g)].map((match) => match[1]),
    );
    expect(scripts).toEqual(['build']);
    expect(Object.keys(project.scripts)).toEqual(expect.arrayContaining(scripts));
  });

  test('the image gets four things from the build and nothing else', () => {
    expect(copiesOf(final)).toEqual(
      ['package.json', 'node_modules', 'drizzle', 'dist'].map((name) => ({
        from: build.name,
        sources: [`/app/${name}`],
        target: `./${name}`,
      })),
    );
  });

  test('it runs as a user without privileges', () => {
    expect(textsOf(final, 'USER')).toEqual(['node']);
  });

  test('the database lies on a volume that its user owns and nobody else may enter', () => {
    expect(environment).toEqual({
      NODE_ENV: 'production',
      HOST: '0.0.0.0',
      PORT: '8787',
      RLM_MEMORY_DB: '/data/rlm-memory.db',
    });
    expect(textsOf(final, 'VOLUME')).toEqual(['/data']);
    const words = final.instructions.map(({ word, text }) => `${word} ${text}`);
    const made = words.indexOf('RUN install -d -o node -g node -m 0700 /data');
    expect(made).toBeGreaterThanOrEqual(0);
    expect(made).toBeLessThan(words.indexOf('VOLUME /data'));
  });

  test('it shows its port, and node itself receives the signal to stop', () => {
    expect(textsOf(final, 'EXPOSE')).toEqual([environment.PORT]);
    expect(textsOf(final, 'STOPSIGNAL')).toEqual(['SIGTERM']);
    expect(command).toEqual(['node', 'dist/server.js']);
  });
});

/** Copying what is installed and compiling may take long on a busy machine. */
const BUILD_MS_MAX = 180_000;

describe('what the image does', () => {
  const directory = dataDirectory();
  const stage = join(directory.path, 'build');
  const image = join(directory.path, 'image');
  let service: ServiceProcess;

  const shell = promisify(execFile);
  const run = (text: string) => {
    const npm = { npm_config_offline: 'true', npm_config_update_notifier: 'false' };
    return shell('sh', ['-c', text], { cwd: stage, env: { PATH: process.env.PATH, HOME: directory.path, ...npm } });
  };

  const checkHealth = async (port: string | number): Promise<number | null> => {
    const [program, ...parameters] = healthCommand;
    expect(program).toBe('node');
    const child = execFile(process.execPath, parameters, { env: { PORT: String(port) } });
    return (await once(child, 'close'))[0];
  };

  beforeAll(async () => {
    for (const { word, text } of build.instructions) {
      if (word === 'COPY') await copyFromProject(text.split(/\s+/));
      else if (text === 'npm ci') await copyInstalled();
      else if (word === 'RUN' && !text.startsWith('apt-get')) await run(text);
    }
    mkdirSync(image);
    for (const { sources, target } of copiesOf(final)) {
      renameSync(join(stage, relative('/app', sources[0] as string)), join(image, target));
    }
    const settings = {
      ...environment,
      HOST: '127.0.0.1',
      PORT: '0',
      RLM_MEMORY_DB: join(directory.path, 'data/rlm-memory.db'),
    };
    service = await startProcess(directory.path, settings, { server: join(image, command[1] as string), cwd: image });
  }, BUILD_MS_MAX);
  afterAll(async () => {
    await service?.kill();
    directory.remove();
  });

  /** As from the checkout of somebody who keeps everything to himself: only the owner may read what arrives. */
  async function copyFromProject(parts: string[]): Promise<void> {
    const target = parts.pop() as string;
    for (const source of parts) {
      const copy = join(stage, target, target.endsWith('/') ? source : '');
      cpSync(join(PROJECT, source), copy, {
        recursive: true,
        filter: (path) => !isIgnored(relative(PROJECT, path)),
      });
      await shell('chmod', ['-R', 'go=', copy]);
    }
  }

  /** What would come over the network is what is installed here; the caches that tools keep beside it are left. */
  async function copyInstalled(): Promise<void> {
    const installed = join(PROJECT, 'node_modules');
    const names = readdirSync(installed).filter((name) => !name.startsWith('.') || name === '.bin');
    mkdirSync(join(stage, 'node_modules'));
    await shell('cp', ['-a', ...names.map((name) => join(installed, name)), join(stage, 'node_modules')]);
  }

  test('the steps of the build leave what the service needs to run, and no tools', () => {
    const isInstalled = (name: string) => existsSync(join(image, 'node_modules', name, 'package.json'));
    expect(Object.keys(project.dependencies).filter((name) => !isInstalled(name))).toEqual([]);
    expect(['typescript', 'vitest', '@biomejs/biome', 'drizzle-kit'].filter(isInstalled)).toEqual([]);
    expect(readdirSync(image).sort()).toEqual(['dist', 'drizzle', 'node_modules', 'package.json']);
  });

  test('its user may read all of it, however private the checkout was', () => {
    const unreadable = readdirSync(image, { recursive: true, encoding: 'utf8' }).filter((path) => {
      const status = statSync(join(image, path));
      const needed = status.isDirectory() ? 0o005 : 0o004;
      return (status.mode & needed) !== needed;
    });
    expect(unreadable).toEqual([]);
  });

  test('the service runs from what they leave: it remembers, and shows its docs', async () => {
    await service.http.post('/memory/write').send(writeBody()).expect(201);
    await service.http.get('/docs').expect(200);
    await service.http.get('/openapi.json').expect(200);
  });

  test('the health check says 0 when the service is ready', async () => {
    expect(await checkHealth(new URL(service.address).port)).toBe(0);
  });

  test('the health check says 1 when the service answers that it is not ready', async () => {
    const unready = createServer((_request, response) => response.writeHead(503).end());
    unready.listen(0, '127.0.0.1');
    await once(unready, 'listening');
    expect(await checkHealth((unready.address() as AddressInfo).port)).toBe(1);
    unready.close();
  });

  test('the health check says 1 when nothing listens', async () => {
    const { port } = new URL(service.address);
    await service.stop();
    expect(await checkHealth(port)).toBe(1);
  });
});
