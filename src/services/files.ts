import { DAY_MS } from '../domain/decay.js';
import { checkFileName, normalizePath } from '../domain/paths.js';
import { contains, resemblance } from '../domain/resemblance.js';
import { checkRepoId } from '../domain/rules.js';
import { GateFailure } from '../domain/violations.js';
import type { StoredEpisode } from '../storage/port.js';
import type { Context } from './context.js';
import type { Cooldowns, Silence } from './cooldowns.js';

export type { StoredEpisode } from '../storage/port.js';

export interface FileQuestion {
  readonly repoId: string;
  readonly path: string;
  /** What the caller is about to do to the file. */
  readonly action: string | null;
  /** Who asks: each caller is told once in a while, not once in a while together. */
  readonly caller: string;
  readonly ageDaysMax: number;
  readonly episodesMin: number;
  readonly withFailures: boolean;
  readonly limit: number;
  readonly cooldownSeconds: number;
}

export interface FileHistory {
  /** Those worth showing: failures first, and of each the newest first. */
  readonly episodes: readonly StoredEpisode[];
  /** How many had to do with the file, and how many of them failed; of each sort at most the newest are counted. */
  readonly total: number;
  readonly failed: number;
  /** Why nothing is shown although there is something; null when it is shown. */
  readonly silence: Silence | null;
  readonly warning: Warning | null;
}

/** What is about to be done was tried, and failed. */
interface Warning {
  readonly episode: StoredEpisode;
  /** How much alike the words are, from 0 to 1. */
  readonly resemblance: number;
}

const EPISODES_LOOKED_AT = 20;
/** Above it two sentences are taken to be about the same attempt. */
const RESEMBLANCE_MIN = 0.3;

/** What was tried on a file before. A warning is never held back, neither by age nor because the caller was told lately. */
export async function checkFile(context: Context, cooldowns: Cooldowns, question: FileQuestion): Promise<FileHistory> {
  const { repoId, path, withFailures, episodesMin, limit } = question;
  refuse(question);
  const sinceMs = context.now() - question.ageDaysMax * DAY_MS;
  const filter = { ...ANY, file: path, files: await context.store.findFiles(repoId, path) };
  const ask = (success: boolean, since: number | null): Promise<StoredEpisode[]> =>
    context.store.listEpisodes(repoId, { ...filter, success, sinceMs: since }, 'stored', null, EPISODES_LOOKED_AT);
  // A failure is never too old to warn of.
  const failures = await ask(false, null);
  const failed = withFailures ? failures.filter(({ createdAtMs }) => createdAtMs >= sinceMs) : [];
  const episodes = [...failed, ...(await ask(true, sinceMs))];
  const counts = { total: episodes.length, failed: failed.length };
  const warning = warningOf(failures, question.action);
  if (episodes.length < episodesMin) return { ...counts, episodes: [], silence: null, warning };
  const key = JSON.stringify([repoId, question.caller, normalizePath(path)]);
  const silence = cooldowns.take(key, JSON.stringify([repoId, question.caller]), question.cooldownSeconds);
  return { ...counts, episodes: silence === null ? episodes.slice(0, limit) : [], silence, warning };
}

const ANY = {
  agentId: null,
  sessionId: null,
  taskType: null,
  failureCategory: null,
  tags: [],
  beforeMs: null,
  includeArchived: false,
};

function refuse({ repoId, path }: FileQuestion): void {
  const violations = [...checkRepoId('repo_id', repoId), ...checkFileName('file_path', path)];
  if (normalizePath(path) === '') {
    violations.push({ field: 'file_path', code: 'semantic_error', message: 'names no file' });
  }
  if (violations.length > 0) throw new GateFailure('semantic', violations);
}

/** The failure most like the action; of equals the newest. */
function warningOf(failures: readonly StoredEpisode[], action: string | null): Warning | null {
  if (action === null) return null;
  const alike = failures
    .map((episode) => ({ episode, resemblance: likeness(action, episode) }))
    .filter((warning) => warning.resemblance > RESEMBLANCE_MIN || isWithinGoal(action, warning.episode))
    .sort((a, b) => b.resemblance - a.resemblance || b.episode.seq - a.episode.seq);
  return alike[0] ?? null;
}

/** One says all that the other says, however much more that is. */
const isWithinGoal = (action: string, { layers }: StoredEpisode): boolean =>
  contains(action, layers.intent.goal) || contains(layers.intent.goal, action);

const likeness = (action: string, { layers }: StoredEpisode): number =>
  Math.max(
    resemblance(action, layers.intent.goal),
    layers.reasoning === null ? 0 : resemblance(action, layers.reasoning.approach_chosen),
  );
