import { homedir } from 'node:os';
import { isAbsolute, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { ConfigError, readConfig, SETTINGS } from '../../src/config.js';

const READABLE_SETTINGS = Object.entries(SETTINGS);

test('without any variable the service listens on this machine only and keeps its file at home', () => {
  expect(readConfig({})).toEqual({
    host: '127.0.0.1',
    port: 8787,
    allowedHosts: new Set(),
    databaseFile: join(homedir(), '.claude/rlm-memory.db'),
    logLevel: 'info',
    evidenceKinds: new Set(['solution', 'failed_tactic', 'fact', 'change']),
    openReposMax: 200,
  });
});

test.each(READABLE_SETTINGS)('%s says what it means and has a variable of its own', (_, row) => {
  expect(row.variable).toMatch(/^[A-Z][A-Z_]+$/);
  expect(row.meaning.length).toBeGreaterThan(10);
  expect(READABLE_SETTINGS.filter(([, other]) => other.variable === row.variable)).toHaveLength(1);
});

test.each(READABLE_SETTINGS)('%s is as if not set when its variable is blank', (name, row) => {
  expect(readConfig({ [row.variable]: '  ' })).toEqual(readConfig({}));
  expect(readConfig({ [row.variable]: '' })).toHaveProperty(name);
});

test.each([
  ['HOST', '0.0.0.0', 'host', '0.0.0.0'],
  ['PORT', '0', 'port', 0],
  ['PORT', ' 65535 ', 'port', 65_535],
  ['ALLOWED_HOSTS', 'Loci.Example', 'allowedHosts', new Set(['loci.example'])],
  ['ALLOWED_HOSTS', 'loci, [fd00::1],10.0.0.7', 'allowedHosts', new Set(['loci', '[fd00::1]', '10.0.0.7'])],
  ['LOG_LEVEL', 'silent', 'logLevel', 'silent'],
  ['EVIDENCE_REQUIRED_KINDS', 'none', 'evidenceKinds', new Set()],
  ['EVIDENCE_REQUIRED_KINDS', 'fact, preference', 'evidenceKinds', new Set(['fact', 'preference'])],
  ['OPEN_REPOS_MAX', '1', 'openReposMax', 1],
  ['RLM_MEMORY_DB', '~/memories.db', 'databaseFile', join(homedir(), 'memories.db')],
  ['RLM_MEMORY_DB', '/data/memories.db', 'databaseFile', '/data/memories.db'],
])('%s=%s is read', (variable, text, name, value) => {
  expect(readConfig({ [variable]: text })).toHaveProperty(name, value);
});

test('a relative database file becomes an absolute one, so that a later change of directory does not move it', () => {
  expect(isAbsolute(readConfig({ RLM_MEMORY_DB: 'memories.db' }).databaseFile)).toBe(true);
});

describe('a setting that cannot be read', () => {
  test.each([
    ['PORT', 'eighty', /from 0 to 65535/],
    ['PORT', '65536', /from 0 to 65535/],
    ['PORT', '-1', /from 0 to 65535/],
    ['PORT', '80.5', /from 0 to 65535/],
    ['PORT', '1e3', /from 0 to 65535/],
    ['PORT', '0x50', /from 0 to 65535/],
    ['ALLOWED_HOSTS', 'http://loci', /without scheme and port/],
    ['ALLOWED_HOSTS', 'loci:8787', /without scheme and port/],
    ['ALLOWED_HOSTS', 'loci,', /without scheme and port/],
    ['ALLOWED_HOSTS', '*', /without scheme and port/],
    ['LOG_LEVEL', 'loud', /must be one of trace, debug/],
    ['EVIDENCE_REQUIRED_KINDS', 'fact,rumour', /must be one of problem, solution/],
    ['EVIDENCE_REQUIRED_KINDS', 'fact,', /must be one of problem, solution/],
    ['OPEN_REPOS_MAX', '0', /from 1 to 10000/],
  ])('%s=%s is refused with what would be right', (variable, text, message) => {
    expect(() => readConfig({ [variable]: text })).toThrow(ConfigError);
    expect(() => readConfig({ [variable]: text })).toThrow(message);
    expect(() => readConfig({ [variable]: text })).toThrow(`${variable}=${JSON.stringify(text)}`);
  });

  test('is told together with all the others', () => {
    const environment = { PORT: 'x', LOG_LEVEL: 'y', OPEN_REPOS_MAX: 'z' };
    expect(() => readConfig(environment)).toThrow(/PORT.*\n.*LOG_LEVEL.*\n.*OPEN_REPOS_MAX/);
  });
});
