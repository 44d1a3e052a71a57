import { homedir } from 'node:os';
import { join, resolve } from 'node:path';
import type { EntryLimit, EntryType } from './domain/entries.js';
import type { RetentionSettings } from './domain/retention.js';
import { MEMORY_KINDS } from './domain/vocabulary.js';
import type { SummarizerSettings } from './summarizer/settings.js';

/** One setting: its environment variable, what it means, and how its text becomes a value. */
interface Setting<Value> {
  readonly variable: string;
  readonly meaning: string;
  readonly fallback: string;
  /** Whether its text may hold a password or a key: then a complaint does not repeat it. */
  readonly isSecret?: true;
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
  journalCoreMax: setting({
    variable: 'JOURNAL_CORE_MAX',
    meaning: 'How many core entries a repo may hold; beyond it none is taken until some are archived',
    fallback: '1000',
    parse: (text) => wholeNumber(text, 1, JOURNAL_MAX),
  }),
  journalLearningsMax: setting({
    variable: 'JOURNAL_LEARNINGS_MAX',
    meaning: 'How many learnings a repo may hold; beyond it the ones that were idle longest are archived',
    fallback: '500',
    parse: (text) => wholeNumber(text, 1, JOURNAL_MAX),
  }),
  journalTasksMax: setting({
    variable: 'JOURNAL_TASKS_MAX',
    meaning: 'How many tasks a repo may hold; beyond it completed and then idle ones are archived',
    fallback: '200',
    parse: (text) => wholeNumber(text, 1, JOURNAL_MAX),
  }),
  retentionLearningDays: setting({
    variable: 'RETENTION_LEARNING_DAYS',
    meaning: 'Days without a look after which a learning is archived by a sweep; 0 for never',
    fallback: '90',
    parse: (text) => wholeNumber(text, 0, DAYS_MAX),
  }),
  retentionTaskDays: setting({
    variable: 'RETENTION_TASK_DAYS',
    meaning: 'Days after its completion when a task is archived by a sweep; 0 for never',
    fallback: '30',
    parse: (text) => wholeNumber(text, 0, DAYS_MAX),
  }),
  maintenanceHours: setting({
    variable: 'MAINTENANCE_HOURS',
    meaning: 'Hours between two sweeps that the service does by itself; 0 for none',
    fallback: '24',
    parse: (text) => wholeNumber(text, 0, HOURS_MAX),
  }),
  summarizerUrl: setting({
    variable: 'SUMMARIZER_URL',
    meaning:
      'Base address of an OpenAI-compatible endpoint, such as `http://127.0.0.1:11434/v1`, that words chapters and wisdom; ' +
      'off by default: when empty, the service words them itself and sends nothing anywhere. ' +
      'When set, lines of episodes leave the machine for `<address>/chat/completions`; ' +
      'whenever no good answer comes, or a request has waited for 20 s in all, the service words the text itself',
    fallback: '',
    isSecret: true,
    parse: (text) => (text === '' ? '' : endpointUrl(text)),
  }),
  summarizerModel: setting({
    variable: 'SUMMARIZER_MODEL',
    meaning: 'Name of the model to ask that endpoint for; needed with `SUMMARIZER_URL`, refused without it',
    fallback: '',
    parse: (text) => text,
  }),
  summarizerKey: setting({
    variable: 'SUMMARIZER_KEY',
    meaning: 'Key to send to that endpoint, and only there, as `Authorization: Bearer`; when empty, none is sent',
    fallback: '',
    isSecret: true,
    parse: (text) => (text === '' ? '' : endpointKey(text)),
  }),
} as const;

/** A journal is weighed as a whole whenever it is full. */
const JOURNAL_MAX = 100_000;
const MIB = 1024 * 1024;
const DAYS_MAX = 36_500;
/** No timer of the process waits longer. */
const HOURS_MAX = 500;
const HOUR_MS = 3_600_000;

type Values = { readonly [Name in keyof typeof SETTINGS]: ReturnType<(typeof SETTINGS)[Name]['parse']> };

export interface Config
  extends Omit<Values, `summarizer${string}` | `journal${string}` | `retention${string}` | 'maintenanceHours'> {
  readonly summarizer: SummarizerSettings | null;
  readonly journalLimits: Readonly<Record<EntryType, EntryLimit>>;
  readonly retention: RetentionSettings;
  readonly sweepEveryMs: number;
}

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
      const given = row.isSecret ? '' : `=${JSON.stringify(text)}`;
      complaints.push(`${row.variable}${given}: ${(error as Error).message}`);
    }
  }
  complaints.push(...summarizerComplaints(values));
  if (complaints.length > 0) throw new ConfigError(complaints.join('\n'));
  return toConfig(values as Values);
}

function toConfig({
  summarizerUrl: url,
  summarizerModel: model,
  summarizerKey: key,
  journalCoreMax,
  journalLearningsMax,
  journalTasksMax,
  retentionLearningDays,
  retentionTaskDays,
  maintenanceHours,
  ...rest
}: Values): Config {
  return {
    ...rest,
    summarizer: url === '' ? null : { url, model, key: key || null },
    journalLimits: {
      core: { entries: journalCoreMax, bytes: 10 * MIB },
      learning: { entries: journalLearningsMax, bytes: 5 * MIB },
      task: { entries: journalTasksMax, bytes: 2 * MIB },
    },
    retention: { learningIdleDays: retentionLearningDays || null, taskDoneDays: retentionTaskDays || null },
    sweepEveryMs: maintenanceHours * HOUR_MS,
  };
}

/** What is wrong with the summarizer's settings together. One that could not be read is not there, and told already. */
function summarizerComplaints({ summarizerUrl: url, summarizerModel: model, summarizerKey: key }: Partial<Values>) {
  if (url !== '' && model === '')
    return ['SUMMARIZER_MODEL: must name a model when SUMMARIZER_URL is set; set it, or empty SUMMARIZER_URL'];
  if (url !== '') return [];
  const idle = [...(model ? ['SUMMARIZER_MODEL'] : []), ...(key ? ['SUMMARIZER_KEY'] : [])];
  return idle.map((variable) => `${variable}: does nothing without SUMMARIZER_URL; set SUMMARIZER_URL, or empty this`);
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

/** The address without a slash at its end, so that a path can be put after it. */
function endpointUrl(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url?.protocol !== 'http:' && url?.protocol !== 'https:')
    throw new Error('must be an http or https address, such as http://127.0.0.1:11434/v1');
  if (url.username !== '' || url.password !== '')
    throw new Error('must be an address without a name and a password in it; put a key into SUMMARIZER_KEY');
  if (/[?#]/.test(text)) throw new Error('must be an address without a query (?) and a fragment (#)');
  return url.href.replace(/\/+$/, '');
}

function endpointKey(text: string): string {
  // Anything else cannot stand in a header.
  if (!/^[\x21-\x7e]+$/.test(text)) throw new Error('must be a key of printable ASCII characters without spaces');
  return text;
}

const memoryKind = (text: string): string => oneOf(text.trim(), MEMORY_KINDS);
