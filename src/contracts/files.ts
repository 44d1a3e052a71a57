import Type, { type Static } from 'typebox';
import { ageOf } from '../domain/ages.js';
import { namesSameFile } from '../domain/paths.js';
import { FAILURE_CATEGORIES, FILE_OPERATIONS } from '../domain/vocabulary.js';
import type { FileHistory, FileQuestion, StoredEpisode } from '../services/files.js';
import { AgentId, Milliseconds } from './agents.js';
import { EpisodeId } from './episodes.js';
import { ProjectId } from './projects.js';
import { named, nullable, ref, strict, words } from './schema.js';

/** `/files/check`: what was tried on a file before, asked before it is touched. */

export const FileCheckInput = named(
  'FileCheck',
  strict(
    {
      project_id: Type.Optional(ProjectId),
      file_path: Type.String({ minLength: 1, maxLength: 4_000, description: 'The whole path, or the end of one' }),
      action: Type.Optional(
        Type.String({ minLength: 1, maxLength: 2_000, description: 'What you are about to do to it, in a sentence' }),
      ),
      agent_id: Type.Optional({ ...AgentId, description: 'Who asks; each is told once in a while' }),
      max_age_days: Type.Optional(Type.Integer({ minimum: 1, maximum: 3_650, default: 30 })),
      min_memories: Type.Optional(
        Type.Integer({ minimum: 1, maximum: 20, default: 1, description: 'Fewer are not told' }),
      ),
      include_failures: Type.Optional(Type.Boolean({ default: true })),
      limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 20, default: 3 })),
      cooldown_seconds: Type.Optional(
        Type.Integer({
          minimum: 0,
          maximum: 86_400,
          default: 300,
          description: 'How long the same caller is not told of the same file again; 0 tells always',
        }),
      ),
    },
    {
      examples: [
        { project_id: 'acme/shop', file_path: 'src/payment/charge.ts', action: 'Put a lock around the charge' },
      ],
    },
  ),
);

const ANYBODY = '';

export const toFileQuestion = (repoId: string, input: Static<typeof FileCheckInput>): FileQuestion => ({
  repoId,
  path: input.file_path,
  action: input.action ?? null,
  caller: input.agent_id ?? ANYBODY,
  ageDaysMax: input.max_age_days ?? 30,
  episodesMin: input.min_memories ?? 1,
  withFailures: input.include_failures ?? true,
  limit: input.limit ?? 3,
  cooldownSeconds: input.cooldown_seconds ?? 300,
});

const Attempt = named(
  'FileAttempt',
  Type.Object({
    memory_id: EpisodeId,
    agent_id: AgentId,
    created_at: Milliseconds,
    age: Type.String({ examples: ['3 days ago'] }),
    goal: Type.String(),
    success: Type.Boolean(),
    summary: Type.String(),
    failure_reason: nullable(Type.String()),
    failure_category: nullable(words([...FAILURE_CATEGORIES])),
    operation: nullable(words([...FILE_OPERATIONS]), 'What was done to the file; null where a glob was asked for'),
  }),
);

const presentAttempt = (path: string, episode: StoredEpisode, nowMs: number): Static<typeof Attempt> => {
  const { intent, outcome } = episode.layers;
  return {
    memory_id: episode.id,
    agent_id: episode.agentId,
    created_at: episode.createdAtMs,
    age: ageOf(episode.createdAtMs, nowMs),
    goal: intent.goal,
    success: outcome.success,
    summary: outcome.summary,
    failure_reason: outcome.failure_reason ?? null,
    failure_category: outcome.failure_category ?? null,
    operation: episode.files.find((file) => namesSameFile(file.path, path))?.operation ?? null,
  };
};

export const FileCheckAnswer = named(
  'FileCheckAnswer',
  Type.Object({
    file_path: Type.String(),
    notification: nullable(Type.String(), 'One sentence to show; null when there is nothing to tell now'),
    silent_because: nullable(
      words(['cooldown', 'rate_limit']),
      'Why nothing is told although there is something: the caller was told lately, or often in this minute',
    ),
    total: Type.Integer({
      description: 'Episodes that had to do with it: the 20 newest failures and the 20 newest others',
    }),
    failed: Type.Integer(),
    memories: Type.Array(ref(Attempt), { description: 'Failures first, newest first' }),
    warning: nullable(
      Type.Object({
        message: Type.String(),
        resemblance: Type.Number({ description: 'How much alike the words are, from 0 to 1' }),
        memory: ref(Attempt),
      }),
      'Only when an action was named that is like one that failed, or when one of the two stands in the other; never held back, of whatever age the failure is',
    ),
  }),
);

export function presentFileHistory(
  path: string,
  { episodes, total, failed, silence, warning }: FileHistory,
  nowMs: number,
): Static<typeof FileCheckAnswer> {
  return {
    file_path: path,
    notification: episodes.length === 0 ? null : notificationOf(path, total, failed),
    silent_because: silence,
    total,
    failed,
    memories: episodes.map((episode) => presentAttempt(path, episode, nowMs)),
    warning: warning && {
      message: warningOf(warning.episode, nowMs),
      resemblance: warning.resemblance,
      memory: presentAttempt(path, warning.episode, nowMs),
    },
  };
}

function notificationOf(path: string, total: number, failed: number): string {
  const name = path.split(/[\\/]/).at(-1) || path;
  const memories = `${total} ${total === 1 ? 'memory' : 'memories'}`;
  const failures = failed === 0 ? '' : total === 1 ? ', and it failed' : `, ${failed} of them failed`;
  return `There ${total === 1 ? 'is' : 'are'} ${memories} about ${name}${failures}.`;
}

function warningOf({ layers, createdAtMs }: StoredEpisode, nowMs: number): string {
  const { failure_category: category, failure_reason: reason, summary } = layers.outcome;
  const why = `${reason ?? summary}${category === undefined ? '' : ` (${category})`}`;
  return `Something like this failed ${ageOf(createdAtMs, nowMs)}: ${layers.intent.goal}. ${why}`;
}
