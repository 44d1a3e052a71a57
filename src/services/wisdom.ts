import type { Change } from '../domain/changes.js';
import { isIdOf, SYNTHESIS, typeOf } from '../domain/forms.js';
import { newNode } from '../domain/node.js';
import { checkQuery, checkRepoId } from '../domain/rules.js';
import { passGate, type Violation } from '../domain/violations.js';
import type { NarrativeFilter, StoredNarrative } from '../storage/port.js';
import type { Context } from './context.js';
import {
  episodesBehind,
  membership,
  type Narration,
  narrateWisdom,
  patchOf,
  saysTheSame,
  toChapterSketches,
} from './narration.js';
import { rankNodes } from './node-search.js';
import { retrying } from './retrying.js';
import { withPatience } from './wording.js';

/** A wisdom and the ids of the chapters that it was taken from. */
export interface Wisdom {
  readonly narrative: StoredNarrative;
  readonly memberIds: readonly string[];
}

export interface Synthesis {
  /** Null for all chapters that fit the filter. */
  readonly chapterIds: readonly string[] | null;
  readonly filter: NarrativeFilter;
  readonly chaptersMin: number;
}

export interface Synthesized {
  readonly action: 'created' | 'updated' | 'unchanged';
  /** Null after a dry run that would make a new one. */
  readonly wisdom: Wisdom | null;
  readonly narration: Narration;
  /** Whether all chapters that fit were taken. */
  readonly isComplete: boolean;
}

/** Makes one wisdom of many chapters, or brings the one that was made of them before up to date. */
export async function synthesize(
  context: Context,
  repoId: string,
  synthesis: Synthesis,
  dryRun: boolean,
): Promise<Synthesized> {
  passGate('semantic', checkRepoId('repo_id', repoId));
  const patient = withPatience(context);
  return retrying(async () => {
    const { chapters, isComplete } = await chaptersOf(context, repoId, synthesis);
    const key = keyOf(synthesis);
    const standing = await standingOf(context, repoId, key, chapters);
    const narration = await narrateWisdom(patient, toChapterSketches(chapters), {
      key,
      dryRun,
      episodeIds: await episodesBehind(context, repoId, chapters),
      ...(standing && { standing: standing.narrative }),
    });
    const isThere = standing !== null && standing.narrative.tier !== 'archive';
    if (isThere && saysTheSame(standing.narrative, standing.memberIds, narration)) {
      return { action: 'unchanged', wisdom: standing, narration, isComplete };
    }
    const action = standing ? 'updated' : 'created';
    if (dryRun) return { action, wisdom: standing, narration, isComplete };
    const id = standing?.narrative.id ?? `wisdom_${context.newId()}`;
    const changes = standing
      ? update(context, standing.narrative, narration)
      : insertion(context, repoId, id, narration);
    const members = membership(context, 'distills', repoId, id, narration.memberIds);
    // What the chapters say may have been taken back while this was worded.
    const nodes = chapters.map(({ id: nodeId, revision }) => ({ nodeId, revision }));
    await context.store.apply({ space: repoId, changes: [{ change: 'expect_nodes', nodes }, ...changes, members] });
    return { action, wisdom: await findWisdom(context, repoId, id), narration, isComplete };
  });
}

const CHAPTERS_MAX = 500;
const WISDOM_MAX = 1_000;

async function chaptersOf(
  context: Context,
  repoId: string,
  { chapterIds, filter, chaptersMin }: Synthesis,
): Promise<{ chapters: StoredNarrative[]; isComplete: boolean }> {
  const found =
    chapterIds === null
      ? await context.store.listNarratives(repoId, filter, 'recent', null, CHAPTERS_MAX + 1)
      : await givenChapters(context, repoId, chapterIds);
  const chapters = found.slice(0, CHAPTERS_MAX);
  if (chapters.length < chaptersMin) {
    const field = chapterIds === null ? 'min_chapters' : 'chapter_ids';
    const message = `${chapters.length} chapters are too few: at least ${chaptersMin} are wanted; make more with POST /chapters/detect, or ask for fewer`;
    passGate('semantic', [{ field, code: 'semantic_error', message }]);
  }
  return { chapters, isComplete: found.length === chapters.length };
}

async function givenChapters(context: Context, repoId: string, ids: readonly string[]): Promise<StoredNarrative[]> {
  const wanted = ids.filter((id) => isIdOf('chapter', id));
  const found = new Map((await context.store.getNarratives(repoId, wanted, true)).map((one) => [one.id, one]));
  passGate(
    'integrity',
    ids.flatMap((id, place): Violation[] => {
      const message = `no chapter ${JSON.stringify(id.slice(0, 80))} is known in this project`;
      return found.has(id) ? [] : [{ field: `chapter_ids.${place}`, code: 'not_found', message }];
    }),
  );
  return [...found.values()];
}

/** What was asked for: the chapters by name, or what they have to have in common. */
const keyOf = ({ chapterIds, filter }: Synthesis): string => {
  const { tags, sinceMs, beforeMs } = filter;
  return chapterIds === null
    ? JSON.stringify({ tags: [...tags].sort(), sinceMs, beforeMs })
    : `${NAMED}${JSON.stringify([...chapterIds].sort())}`;
};

const NAMED = 'chapters:';

const ALL: NarrativeFilter = {
  form: 'wisdom',
  key: null,
  kind: null,
  tags: [],
  sinceMs: null,
  beforeMs: null,
  includeArchived: true,
};

/** The wisdom that the same question led to before; of named chapters also the one that was made of the most of them and of no others. */
async function standingOf(
  { store }: Context,
  repoId: string,
  key: string,
  chapters: readonly StoredNarrative[],
): Promise<Wisdom | null> {
  const [same] = await store.listNarratives(repoId, { ...ALL, key }, 'recent', null, 1);
  const others =
    key.startsWith(NAMED) && !same ? await store.listNarratives(repoId, ALL, 'recent', null, WISDOM_MAX) : [];
  const candidates = same
    ? [same]
    : others.filter(({ detail, tier }) => detail.key?.startsWith(NAMED) && tier !== 'archive');
  const ids = candidates.map(({ id }) => id);
  const members = await store.findMembers(repoId, 'distills', ids);
  const given = new Set(chapters.map(({ id }) => id));
  const grown = candidates
    .map((narrative) => ({ narrative, memberIds: members.get(narrative.id) ?? [] }))
    .filter(
      ({ narrative, memberIds }) =>
        narrative === same || (memberIds.length > 0 && memberIds.every((id) => given.has(id))),
    )
    .sort((a, b) => b.memberIds.length - a.memberIds.length || b.narrative.seq - a.narrative.seq);
  return grown[0] ?? null;
}

/** Whoever asks again for what was put away wants it back. */
const update = (context: Context, narrative: StoredNarrative, narration: Narration): Change[] => [
  patchOf(context, narrative, narration, 'told anew'),
  ...(narrative.tier === 'archive'
    ? [
        {
          change: 'move_tier',
          nodeId: narrative.id,
          repoId: narrative.repoId,
          from: 'archive',
          to: 'longterm',
          reason: 'asked for again',
          atMs: context.now(),
        } as const,
      ]
    : []),
];

const insertion = (
  context: Context,
  repoId: string,
  id: string,
  { terms, content, detail, tags }: Narration,
): Change[] => {
  const fields = {
    form: 'wisdom',
    kind: SYNTHESIS,
    type: typeOf('wisdom', SYNTHESIS),
    repoId,
    createdAtMs: context.now(),
  } as const;
  return [{ change: 'insert_node', node: newNode({ id, ...fields, content, detail, tags }), terms }];
};

/** A wisdom by its id, archived or not. */
async function findWisdom({ store }: Context, repoId: string, id: string): Promise<Wisdom | null> {
  passGate('semantic', checkRepoId('repo_id', repoId));
  if (!isIdOf('wisdom', id)) return null;
  const [narrative] = await store.getNarratives(repoId, [id], true);
  if (!narrative) return null;
  return { narrative, memberIds: (await store.findMembers(repoId, 'distills', [id])).get(id) ?? [] };
}

/** Whoever asks for a wisdom looks at it, and that counts. */
export async function readWisdom(context: Context, repoId: string, id: string): Promise<Wisdom | null> {
  const wisdom = await findWisdom(context, repoId, id);
  if (wisdom) context.store.noteAccess(repoId, [id], context.now());
  return wisdom;
}

export interface RecalledWisdom extends Wisdom {
  readonly score: number;
}

/** The wisdoms whose words fit, best first; each counts as looked at. */
export async function recallWisdom(
  context: Context,
  repoId: string,
  query: string,
  filter: NarrativeFilter,
  limit: number,
): Promise<RecalledWisdom[]> {
  passGate('semantic', checkQuery(query, null));
  const found = await rankNodes(context, repoId, {
    query,
    match: 'any',
    filter: { type: null, tier: null, form: 'wisdom', kind: null, minConfidence: 0, sessionId: null },
    includeArchived: filter.includeArchived,
    includeGlobal: false,
    limit: SEARCHED_MAX,
  });
  const ids = found.map(({ node }) => node.id);
  const narratives = new Map((await context.store.getNarratives(repoId, ids, true)).map((one) => [one.id, one]));
  const fitting = found
    .flatMap(({ node, score }) => {
      const narrative = narratives.get(node.id);
      return narrative && fits(narrative, filter) ? [{ narrative, score }] : [];
    })
    .slice(0, limit);
  const shownIds = fitting.map(({ narrative }) => narrative.id);
  const members = await context.store.findMembers(repoId, 'distills', shownIds);
  if (shownIds.length > 0) context.store.noteAccess(repoId, shownIds, context.now());
  return fitting.map((one) => ({ ...one, memberIds: members.get(one.narrative.id) ?? [] }));
}

/** There are never many wisdoms, and a filter may take most of them away. */
const SEARCHED_MAX = 100;

const fits = ({ detail }: StoredNarrative, { tags, sinceMs, beforeMs }: NarrativeFilter): boolean =>
  tags.every((tag) => detail.text.tags.includes(tag)) &&
  (sinceMs === null || detail.startMs >= sinceMs) &&
  (beforeMs === null || detail.endMs < beforeMs);
