import { homedir } from 'node:os';
import { join, resolve } from 'node:path';
import { MEMORY_KINDS } from './domain/vocabulary.js';

/** One setting: its environment variable, what it means, and how its text becomes a value. */
interface Setting<Value> {
  readonly variable: string;
  readonly meaning: string;
  readonly fallback: string;
  /** Throws a message that says what would be right. */
  readonly parse: (text: string) => Value;
}

const setting = <Value>(row: Setting<Value>): Setting<Value> => row;

const LOG_LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'];

/** Every setting there is. The README's table is checked against this one. */
export const SETTINGS = {
  host: setting({
    variable: 'HOST',
    meaning: 'Address to listen on',
    fallback: '127.0.0.1',
    parse: (text) => text,
  }),
  port: setting({
    variable: 'PORT',
    meaning: 'Port to listen on; 0 takes a free one',
    fallback: '8787',
    parse: (text) => wholeNumber(text, 0, 65_535),
  }),
  allowedHosts: setting({
    variable: 'ALLOWED_HOSTS',
    meaning:
      'Host names under which the service may be asked besides localhost, 127.0.0.1 and [::1], separated by commas; ' +
      'when empty, none if `HOST` is one of these and any if it is another address',
    fallback: '',
    parse: (text): ReadonlySet<string> => new Set(text === '' ? [] : text.split(',').map(hostName)),
  }),
  databaseFile: setting({
    variable: 'RLM_MEMORY_DB',
    meaning: 'Main database file; each repo has a file in the directory `<file>.repos` beside it',
    fallback: '~/.claude/rlm-memory.db',
    parse: (text) => resolve(text.startsWith('~/') ? join(homedir(), text.slice(2)) : text),
  }),
  logLevel: setting({
    variable: 'LOG_LEVEL',
    meaning:
      `Least severe log line to write: ${LOG_LEVELS.join(', ')}; ` +
      'a request leaves its line at info if it was refused, failed or took over a second, else at debug',
    fallback: 'info',
    parse: (text) => oneOf(text, LOG_LEVELS),
  }),
  evidenceKinds: setting({
    variable: 'EVIDENCE_REQUIRED_KINDS',
    meaning: 'Kinds of memory that must name at least one piece of evidence, separated by commas; `none` for no kind',
    fallback: 'solution,failed_tactic,fact,change',
    parse: (text): ReadonlySet<string> => new Set(text === 'none' ? [] : text.split(',').map(memoryKind)),
  }),
  openReposMax: setting({
    variable: 'OPEN_REPOS_MAX',
    meaning: 'How many repo files stay open at once; the least recently used is closed first',
    fallback: '200',
    parse: (text) => wholeNumber(text, 1, 10_000),
  }),
} as const;

export type Config = { readonly [Name in keyof typeof SETTINGS]: ReturnType<(typeof SETTINGS)[Name]['parse']> };

export class ConfigError extends Error {}

/** Reads every setting, and complains about all that are wrong at once. An empty variable counts as not set. */
export function readConfig(environment: Readonly<Record<string, string | undefined>>): Config {
  const values: Record<string, unknown> = {};
  const complaints: string[] = [];
  for (const [name, row] of Object.entries(SETTINGS)) {
    const text = environment[row.variable]?.trim() || row.fallback;
    try {
      values[name] = row.parse(text);
    } catch (error) {
      complaints.push(`${row.variable}=${JSON.stringify(text)}: ${(error as Error).message}`);
    }
  }
  if (complaints.length > 0) throw new ConfigError(complaints.join('\n'));
  return values as Config;
}

function wholeNumber(text: string, min: number, max: number): number {
  const value = Number(text);
  if (!/^\d+$/.test(text) || value < min || value > max)
    throw new Error(`must be a whole number from ${min} to ${max}`);
  return value;
}

function oneOf(text: string, words: readonly string[]): string {
  if (!words.includes(text)) throw new Error(`must be one of ${words.join(', ')}`);
  return text;
}

function hostName(text: string): string {
  const name = text.trim().toLowerCase();
  if (!/^([\w-]+(\.[\w-]+)*|\[[\da-f:.]+\])$/.test(name)) throw new Error('must be host names without scheme and port');
  return name;
}

const memoryKind = (text: string): string => oneOf(text.trim(), MEMORY_KINDS);
