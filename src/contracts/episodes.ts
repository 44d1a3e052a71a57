import Type, { type Static } from 'typebox';
import { atDepth, DEPTHS, type Depth } from '../domain/depth.js';
import { LINK_WORDS, type LinkPatch, type LinkWord, NO_LINKS, type ShownLinks } from '../domain/episode-links.js';
import { type Action, IMPORTANCE_DEFAULT, type Intent, type Outcome } from '../domain/episodes.js';
import { FORMS } from '../domain/forms.js';
import { FAILURE_CATEGORIES, FILE_OPERATIONS, TASK_TYPES } from '../domain/vocabulary.js';
import { Problem } from '../errors.js';
import type {
  EpisodeDraft,
  EpisodeFilter,
  EpisodeOrder,
  EpisodePage,
  EpisodePatch,
  EpisodePlace,
  StoredEpisode,
} from '../services/episodes.js';
import { AgentId, EXAMPLE_AGENT_ID, Milliseconds, SessionId } from './agents.js';
import { presentCursor, toPlace } from './cursor.js';
import {
  ActionSchema,
  EXAMPLE_LAYERS,
  IntentPatch,
  IntentSchema,
  OutcomePatch,
  OutcomeSchema,
  PerceptionInput,
  PerceptionPatch,
  PerceptionSchema,
  ReasoningInput,
  ReasoningPatch,
  ReasoningSchema,
} from './layers.js';
import { ProjectId } from './projects.js';
import { named, nullable, ref, strict, withDefaults, words } from './schema.js';
import { TagsQuery, toTags } from './tags.js';

/** `/episodes`: what was tried, and what came of it. Times are milliseconds. */

export const EpisodeId = Type.String({ description: 'Id of an episode', examples: [FORMS.episode.idExample] });
const ActionsSchema = Type.Array(ref(ActionSchema), { maxItems: 1_000 });
export const Tags = Type.Array(Type.String({ minLength: 1, maxLength: 200 }), { uniqueItems: true, maxItems: 50 });
const Importance = Type.Number({ minimum: 0, maximum: 1 });
const LinkIds = Type.Array(Type.String(), { uniqueItems: true, maxItems: 100 });
export const DepthWord = words([...DEPTHS], {
  description:
    'summary: goal and outcome in short; outcome: and all of the outcome; reasoning: and how it was decided; full: everything but diffs; complete: everything',
});

const LINKS = {
  caused_by: Type.Optional(LinkIds),
  led_to: Type.Optional(LinkIds),
  related_to: Type.Optional(LinkIds),
};
const LinksInput = strict({
  ...LINKS,
  supersedes: Type.Optional(Type.String({ description: 'What this one replaces' })),
  blocked_by: Type.Optional(Type.String({ description: 'The failure that stood in the way' })),
});

export const EpisodeInput = named(
  'EpisodeInput',
  strict(
    {
      project_id: Type.Optional(ProjectId),
      agent_id: Type.String({ description: 'Who did it; register it with POST /agents', examples: [EXAMPLE_AGENT_ID] }),
      session_id: Type.Optional(Type.String({ description: "One of the agent's sessions; its open one if left out" })),
      intent: ref(IntentSchema),
      perception: Type.Optional(ref(PerceptionInput)),
      reasoning: Type.Optional(ref(ReasoningInput)),
      actions: Type.Optional(nullable(ActionsSchema)),
      outcome: ref(OutcomeSchema),
      links: Type.Optional(LinksInput),
      tags: Type.Optional(Tags),
      importance: Type.Optional(Type.Number({ ...Importance, default: IMPORTANCE_DEFAULT })),
    },
    {
      examples: [
        { project_id: 'acme/shop', agent_id: EXAMPLE_AGENT_ID, ...EXAMPLE_LAYERS, tags: ['payment'], importance: 0.8 },
      ],
    },
  ),
);
type EpisodeInput = Static<typeof EpisodeInput>;

export const toEpisodeDraft = (input: EpisodeInput): EpisodeDraft => ({
  agentId: input.agent_id,
  sessionId: input.session_id ?? null,
  layers: {
    intent: input.intent as unknown as Intent,
    perception: input.perception ?? null,
    reasoning: (input.reasoning ?? null) as EpisodeDraft['layers']['reasoning'],
    actions: (input.actions ?? null) as Action[] | null,
    outcome: input.outcome as unknown as Outcome,
  },
  links: { ...NO_LINKS, ...toLinks(input.links ?? {}) },
  tags: input.tags ?? [],
  importance: input.importance ?? IMPORTANCE_DEFAULT,
});

/** Words that mean one are a list of one, and null is none. */
const toLinks = (links: { [word: string]: string | string[] | null | undefined }): LinkPatch =>
  Object.fromEntries(
    LINK_WORDS.filter((word) => links[word] !== undefined).map((word) => [word, [links[word] ?? []].flat()]),
  );

export const EpisodePatchInput = named(
  'EpisodePatch',
  strict(
    {
      project_id: Type.Optional(ProjectId),
      intent: Type.Optional(ref(IntentPatch)),
      perception: Type.Optional(ref(PerceptionPatch)),
      reasoning: Type.Optional(ref(ReasoningPatch)),
      actions: Type.Optional(nullable(ActionsSchema)),
      outcome: Type.Optional(ref(OutcomePatch)),
      links: Type.Optional(
        strict({
          ...LINKS,
          supersedes: Type.Optional(nullable(Type.String())),
          blocked_by: Type.Optional(nullable(Type.String())),
        }),
      ),
      tags: Type.Optional(Tags),
      importance: Type.Optional(Importance),
    },
    {
      minProperties: 1,
      description: 'Objects are merged, lists replace what was there, null takes a part away',
      examples: [{ outcome: { follow_up_needed: ['Watch the refunds for a week'] }, importance: 0.9 }],
    },
  ),
);

export const toEpisodePatch = (input: Static<typeof EpisodePatchInput>): EpisodePatch => {
  const { project_id: _project, ...changes } = input;
  if (Object.keys(changes).length === 0) {
    const message = 'changes nothing; name something of the episode besides project_id';
    throw new Problem('schema_error', `the body ${message}`, [{ field: 'body', code: 'schema_error', message }]);
  }
  const { links, tags, importance, ...layers } = changes;
  return {
    layers: layers as EpisodePatch['layers'],
    links: toLinks(links ?? {}),
    ...(tags !== undefined && { tags }),
    ...(importance !== undefined && { importance }),
  };
};

const LinksReport = Type.Object({
  caused_by: Type.Array(Type.String()),
  led_to: Type.Array(Type.String()),
  related_to: Type.Array(Type.String()),
  supersedes: nullable(Type.String()),
  blocked_by: nullable(Type.String()),
});
const LinksComplete = Type.Boolean({
  description:
    'False when it has more links than are shown: the newest 1,000 causes and effects, and as many relations',
});

const presentLinks = ({ byWord, isComplete }: ShownLinks) => ({
  links: {
    caused_by: [...byWord.caused_by],
    led_to: [...byWord.led_to],
    related_to: [...byWord.related_to],
    supersedes: byWord.supersedes[0] ?? null,
    blocked_by: byWord.blocked_by[0] ?? null,
  },
  links_complete: isComplete,
});

const SHOWN = {
  id: EpisodeId,
  agent_id: AgentId,
  created_at: Milliseconds,
  intent: ref(IntentSchema),
  outcome: ref(OutcomeSchema),
  reasoning: Type.Optional(nullable(ref(ReasoningSchema))),
  perception: Type.Optional(nullable(ref(PerceptionSchema))),
  actions: Type.Optional(nullable(Type.Array(ref(ActionSchema)))),
  project_id: Type.Optional(ProjectId),
  session_id: Type.Optional(SessionId),
  updated_at: Type.Optional(Milliseconds),
  files: Type.Optional(Type.Array(Type.Object({ path: Type.String(), operation: words([...FILE_OPERATIONS]) }))),
  links: Type.Optional(LinksReport),
  links_complete: Type.Optional(LinksComplete),
  tags: Type.Optional(Type.Array(Type.String())),
  importance: Type.Optional(Importance),
  access_count: Type.Optional(Type.Integer()),
  last_accessed: Type.Optional(nullable(Milliseconds)),
  archived_at: Type.Optional(nullable(Milliseconds)),
  revision: Type.Optional(Type.Integer({ description: 'Counts its changes; the ETag of the answer' })),
};

export const EpisodeReport = named(
  'Episode',
  Type.Object(SHOWN, { description: 'An episode, as far as the depth shows it' }),
);
type EpisodeReport = Static<typeof EpisodeReport>;

const isDeep = (depth: Depth): boolean => depth === 'full' || depth === 'complete';

/** From `full` on everything about it is shown; below, what the depth names and whose it is. */
export function presentEpisode(episode: StoredEpisode, links: ShownLinks | null, depth: Depth): EpisodeReport {
  const layers = atDepth(episode.layers, depth) as Pick<EpisodeReport, 'intent' | 'outcome'>;
  const about = { id: episode.id, agent_id: episode.agentId, created_at: episode.createdAtMs };
  if (!isDeep(depth)) return { ...about, ...layers };
  return {
    ...about,
    ...layers,
    project_id: episode.repoId,
    session_id: episode.sessionId,
    updated_at: episode.updatedAtMs,
    files: episode.files.map(({ path, operation }) => ({ path, operation })),
    ...(links && presentLinks(links)),
    tags: [...episode.tags],
    importance: episode.importance,
    access_count: episode.accessCount,
    last_accessed: episode.lastAccessedAtMs,
    archived_at: episode.archivedAtMs,
    revision: episode.revision,
  };
}

export const EpisodeStored = named(
  'EpisodeStored',
  Type.Object({
    memory_id: EpisodeId,
    stored_at: Milliseconds,
    session_id: SessionId,
    indexed_files: Type.Array(Type.String(), { description: 'The files that it will be found by' }),
    memory: ref(EpisodeReport),
  }),
);

export const presentStored = (episode: StoredEpisode, links: ShownLinks): Static<typeof EpisodeStored> => ({
  memory_id: episode.id,
  stored_at: episode.createdAtMs,
  session_id: episode.sessionId,
  indexed_files: episode.files.map(({ path }) => path),
  memory: presentEpisode(episode, links, 'complete'),
});

export const ByEpisode = Type.Object({ memory_id: EpisodeId });

const IN_REPO = { repo_id: Type.String({ minLength: 1, default: 'default', description: 'The project to look in' }) };

export const EpisodeQuery = withDefaults({
  ...IN_REPO,
  depth: words([...DEPTHS], { ...DepthWord, default: 'complete' }),
});

export const EpisodeDeletion = withDefaults({
  ...IN_REPO,
  permanent: Type.Boolean({ default: false, description: 'Remove it for good, with its links and files' }),
});

const ORDERS = ['recent', 'importance', 'access_count'] as const;

export const EpisodesQuery = withDefaults({
  ...IN_REPO,
  agent: Type.Optional(Type.String({ minLength: 1, description: 'Only of this agent' })),
  session: Type.Optional(Type.String({ minLength: 1, description: 'Only of this session' })),
  task_type: Type.Optional(words([...TASK_TYPES])),
  success: Type.Optional(Type.Boolean()),
  failure_category: Type.Optional(words([...FAILURE_CATEGORIES])),
  tags: TagsQuery,
  file: Type.Optional(
    Type.String({ minLength: 1, maxLength: 4_000, description: 'A path, the end of one, or a glob with * and **' }),
  ),
  since: Type.Optional(Type.Integer({ minimum: 0, description: 'From this moment on, in milliseconds' })),
  before: Type.Optional(Type.Integer({ minimum: 0, description: 'Up to this moment, in milliseconds' })),
  include_archived: Type.Boolean({ default: false }),
  sort: words([...ORDERS], { default: 'recent' }),
  depth: words([...DEPTHS], { ...DepthWord, default: 'summary' }),
  limit: Type.Integer({ minimum: 1, maximum: 200, default: 20 }),
  cursor: Type.Optional(Type.String({ description: 'next_cursor of the previous page' })),
});

export const toEpisodeFilter = (query: Static<typeof EpisodesQuery>): EpisodeFilter => ({
  agentId: query.agent ?? null,
  sessionId: query.session ?? null,
  taskType: query.task_type ?? null,
  success: query.success ?? null,
  failureCategory: query.failure_category ?? null,
  tags: toTags(query.tags),
  file: query.file ?? null,
  sinceMs: query.since ?? null,
  beforeMs: query.before ?? null,
  includeArchived: query.include_archived,
});

/** A place is good for the order in which it was found. */
export function toEpisodePlace(cursor: string | undefined, order: EpisodeOrder): EpisodePlace | null {
  const place = toPlace(
    cursor,
    (value): value is readonly [string, number, number] =>
      value.length === 3 && value[0] === order && value.slice(1).every((part) => Number.isFinite(part)),
  );
  return place && { value: place[1], seq: place[2] };
}

export const EpisodesAnswer = named(
  'EpisodePage',
  Type.Object({
    memories: Type.Array(ref(EpisodeReport)),
    next_cursor: nullable(Type.String(), 'Where the next page begins; null on the last'),
  }),
);

export const presentEpisodes = (
  { episodes, next }: EpisodePage,
  order: EpisodeOrder,
  depth: Depth,
): Static<typeof EpisodesAnswer> => ({
  memories: episodes.map((episode) => presentEpisode(episode, null, depth)),
  next_cursor: next && presentCursor([order, next.value, next.seq]),
});

export const EpisodeDeleted = named(
  'EpisodeDeleted',
  Type.Object({ id: EpisodeId, purged: Type.Boolean({ description: 'Whether it is gone for good' }) }),
);

export const LinkInput = named(
  'EpisodeLink',
  strict(
    {
      project_id: Type.Optional(ProjectId),
      target_id: Type.String({ description: 'The other one' }),
      link_type: words([...LINK_WORDS], { description: 'How this episode stands to the other' }),
    },
    { examples: [{ target_id: FORMS.episode.idExample, link_type: 'caused_by' }] },
  ),
);

export const toLinkPatch = ({ target_id, link_type }: Static<typeof LinkInput>): LinkPatch => ({
  [link_type as LinkWord]: [target_id],
});

export const LinkAnswer = named(
  'EpisodeLinked',
  Type.Object({
    created: Type.Boolean({ description: 'False when it was there already' }),
    links: LinksReport,
    links_complete: LinksComplete,
  }),
);

export const presentLinked = (created: boolean, links: ShownLinks): Static<typeof LinkAnswer> => ({
  created,
  ...presentLinks(links),
});
