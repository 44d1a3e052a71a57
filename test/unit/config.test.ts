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
    summarizer: null,
    journalLimits: {
      core: { entries: 1_000, bytes: 10 * 1024 * 1024 },
      learning: { entries: 500, bytes: 5 * 1024 * 1024 },
      task: { entries: 200, bytes: 2 * 1024 * 1024 },
    },
    retention: { learningIdleDays: 90, taskDoneDays: 30 },
    sweepEveryMs: 24 * 3_600_000,
  });
});

test('how long entries stay, and how often they are swept, is set; 0 is never', () => {
  const set = { RETENTION_LEARNING_DAYS: '7', RETENTION_TASK_DAYS: '0', MAINTENANCE_HOURS: '1' };
  expect(readConfig(set)).toMatchObject({
    retention: { learningIdleDays: 7, taskDoneDays: null },
    sweepEveryMs: 3_600_000,
  });
  expect(readConfig({ MAINTENANCE_HOURS: '0' }).sweepEveryMs).toBe(0);
  expect(() => readConfig({ MAINTENANCE_HOURS: '501' })).toThrow('MAINTENANCE_HOURS');
});

test('each limit of a journal is set by its own variable, from 1 to 100,000', () => {
  const limits = { JOURNAL_CORE_MAX: '1', JOURNAL_LEARNINGS_MAX: '2', JOURNAL_TASKS_MAX: '100000' };
  const { core, learning, task } = readConfig(limits).journalLimits;
  expect([core.entries, learning.entries, task.entries]).toEqual([1, 2, 100_000]);
  for (const variable of Object.keys(limits)) {
    for (const text of ['0', '100001', '-1', 'many']) expect(() => readConfig({ [variable]: text })).toThrow(variable);
  }
});

test.each(READABLE_SETTINGS)('%s says what it means and has a variable of its own', (_, row) => {
  expect(row.variable).toMatch(/^[A-Z][A-Z_]+$/);
  expect(row.meaning.length).toBeGreaterThan(10);
  expect(READABLE_SETTINGS.filter(([, other]) => other.variable === row.variable)).toHaveLength(1);
});

test.each(READABLE_SETTINGS)('%s is as if not set when its variable is blank', (_, row) => {
  expect(readConfig({ [row.variable]: '  ' })).toEqual(readConfig({}));
  expect(readConfig({ [row.variable]: '' })).toEqual(readConfig({}));
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

describe('the summarizer', () => {
  const URL_SET = { SUMMARIZER_URL: 'http://127.0.0.1:11434/v1' };
  const READY = { ...URL_SET, SUMMARIZER_MODEL: 'small' };

  test('is off unless it is given an address', () => {
    expect(readConfig({}).summarizer).toBeNull();
  });

  test('needs an address and a model, and no key', () => {
    expect(readConfig(READY).summarizer).toEqual({ url: 'http://127.0.0.1:11434/v1', model: 'small', key: null });
    expect(readConfig({ ...READY, SUMMARIZER_KEY: ' sk-secret ' }).summarizer).toMatchObject({ key: 'sk-secret' });
  });

  test.each([
    ['https://models.example/v1/', 'https://models.example/v1'],
    ['http://models.example', 'http://models.example'],
    ['http://[::1]:8080//', 'http://[::1]:8080'],
  ])('has the address %s without a slash at its end', (text, url) => {
    expect(readConfig({ ...READY, SUMMARIZER_URL: text }).summarizer).toMatchObject({ url });
  });

  test.each([
    ['models.example/v1', /http or https address/],
    ['localhost:11434', /http or https address/],
    ['ftp://models.example', /http or https address/],
    ['file:///etc/passwd', /http or https address/],
    ['http://', /http or https address/],
    ['https://me:sk-secret@models.example', /without a name and a password.*SUMMARIZER_KEY/],
    ['https://sk-secret@models.example', /without a name and a password.*SUMMARIZER_KEY/],
    ['https://models.example/v1?key=sk-secret', /without a query/],
    ['https://models.example/v1#top', /without a query/],
  ])('is refused the address %s with what would be right, once', (text, message) => {
    const read = () => readConfig({ ...READY, SUMMARIZER_URL: text });
    expect(read).toThrow(ConfigError);
    expect(read).toThrow(/^SUMMARIZER_URL: [^\n]*$/);
    expect(read).toThrow(message);
  });

  test.each(['sk secret', 'sk-secret\nx: y', 'sk-secret-\u2603'])(
    'is refused the key %j without repeating it',
    (key) => {
      expect(() => readConfig({ ...READY, SUMMARIZER_KEY: key })).toThrow(
        /^SUMMARIZER_KEY: must be a key of printable ASCII characters without spaces$/,
      );
    },
  );

  test('is refused an address with a password in it without repeating it', () => {
    expect(() => readConfig({ ...READY, SUMMARIZER_URL: 'https://me:sk-secret@models.example' })).not.toThrow(
      /sk-secret/,
    );
  });

  test.each([
    ['an address without a model', URL_SET, /^SUMMARIZER_MODEL: must name a model.*set it, or empty SUMMARIZER_URL$/],
    [
      'a model without an address',
      { SUMMARIZER_MODEL: 'small' },
      /^SUMMARIZER_MODEL: .*set SUMMARIZER_URL, or empty this$/,
    ],
    ['a key without an address', { SUMMARIZER_KEY: 'sk' }, /^SUMMARIZER_KEY: .*set SUMMARIZER_URL, or empty this$/],
    [
      'both without an address',
      { SUMMARIZER_MODEL: 'm', SUMMARIZER_KEY: 'k' },
      /^SUMMARIZER_MODEL: .*\nSUMMARIZER_KEY: .*/,
    ],
  ])('is refused %s, with what to do', (_, environment, message) => {
    expect(() => readConfig(environment)).toThrow(ConfigError);
    expect(() => readConfig(environment)).toThrow(message);
  });
});
