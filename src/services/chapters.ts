import { setImmediate } from 'node:timers/promises';
import type { Change } from '../domain/changes.js';
import { isIdOf, typeOf } from '../domain/forms.js';
import { belongsTo, type Group, groupEpisodes, matchChapters } from '../domain/grouping.js';
import type { ChapterDetail } from '../domain/narratives.js';
import { newNode } from '../domain/node.js';
import { checkRepoId } from '../domain/rules.js';
import { type EpisodeSketch, oldestFirst, toSketch } from '../domain/sketches.js';
import { viewOf } from '../domain/spaces.js';
import { passGate, type Violation } from '../domain/violations.js';
import {
  ApplyConflict,
  type EpisodeFilter,
  type EpisodePlace,
  type NarrativeFilter,
  type NarrativeOrder,
  type NarrativePlace,
  type StoredEpisode,
  type StoredNarrative,
} from '../storage/port.js';
import type { Context } from './context.js';
import { chapterWords, membership, type Narration, narrateChapter, patchOf, saysTheSame } from './narration.js';
import { retrying } from './retrying.js';

export type { NarrativeFilter, NarrativeOrder, NarrativePlace, StoredNarrative } from '../storage/port.js';

export interface ChapterDraft {
  readonly title: string | null;
  readonly memoryIds: readonly string[];
  readonly tags: readonly string[];
  readonly topics: readonly string[];
}

/** A chapter and the ids of what it tells of, in their order. */
export interface Chapter {
  readonly narrative: StoredNarrative;
  readonly memberIds: readonly string[];
}

export async function createChapter(context: Context, repoId: string, draft: ChapterDraft): Promise<Chapter> {
  passGate('semantic', checkRepoId('repo_id', repoId));
  const episodes = await episodesOf(context, repoId, draft.memoryIds);
  const { tags, topics, title } = draft;
  const narration = await narrateChapter(context, episodes.map(toSketch), {
    key: null,
    title,
    given: { tags, topics },
  });
  const id = `chapter_${context.newId()}`;
  await context.store.apply({ space: repoId, changes: insertion(context, repoId, id, 'manual', narration) });
  const chapter = await findChapter(context, repoId, id);
  // The repo was dropped in the meantime.
  if (!chapter) throw new ApplyConflict('node_missing', id);
  return chapter;
}

async function episodesOf(context: Context, repoId: string, ids: readonly string[]): Promise<StoredEpisode[]> {
  const wanted = ids.filter((id) => isIdOf('episode', id));
  const found = new Map((await context.store.getEpisodes(repoId, wanted, true)).map((one) => [one.id, one]));
  passGate(
    'integrity',
    ids.flatMap((id, place): Violation[] => {
      const message = `no episode ${JSON.stringify(id.slice(0, 80))} is known in this project`;
      return found.has(id) ? [] : [{ field: `memory_ids.${place}`, code: 'not_found', message }];
    }),
  );
  return [...found.values()];
}

const insertion = (
  context: Context,
  repoId: string,
  id: string,
  origin: 'manual' | 'auto',
  { terms, memberIds, ...told }: Narration,
): Change[] => {
  const type = typeOf('chapter', origin);
  const node = newNode({ id, form: 'chapter', kind: origin, type, repoId, createdAtMs: context.now(), ...told });
  return [{ change: 'insert_node', node, terms }, membership(context, 'narrates', repoId, id, memberIds)];
};

/** A chapter by its id, archived or not. */
async function findChapter({ store }: Context, repoId: string, id: string): Promise<Chapter | null> {
  passGate('semantic', checkRepoId('repo_id', repoId));
  if (!isIdOf('chapter', id)) return null;
  const [narrative] = await store.getNarratives(repoId, [id], true);
  if (!narrative) return null;
  return { narrative, memberIds: (await store.findMembers(repoId, 'narrates', [id])).get(id) ?? [] };
}

/** The chapter with its episodes, in their order. Those in the archive are left out. */
export async function readChapter(
  context: Context,
  repoId: string,
  id: string,
): Promise<(Chapter & { readonly episodes: readonly StoredEpisode[] }) | null> {
  const chapter = await findChapter(context, repoId, id);
  if (!chapter) return null;
  const found = await context.store.getEpisodes(repoId, chapter.memberIds, false);
  const byId = new Map(found.map((episode) => [episode.id, episode]));
  context.store.noteAccess(repoId, [id], context.now());
  return { ...chapter, episodes: chapter.memberIds.flatMap((memberId) => byId.get(memberId) ?? []) };
}

export interface NarrativePage {
  readonly narratives: readonly { readonly narrative: StoredNarrative; readonly memberIds: readonly string[] }[];
  readonly next: NarrativePlace | null;
}

/** Chapters or wisdoms, newest first. */
export async function listNarratives(
  { store }: Context,
  repoId: string,
  filter: NarrativeFilter,
  order: NarrativeOrder,
  after: NarrativePlace | null,
  limit: number,
): Promise<NarrativePage> {
  passGate('semantic', checkRepoId('repo_id', repoId));
  const found = await store.listNarratives(repoId, filter, order, after, limit + 1);
  const shown = found.slice(0, limit);
  const label = filter.form === 'chapter' ? 'narrates' : 'distills';
  const ids = shown.map(({ id }) => id);
  const members = await store.findMembers(repoId, label, ids);
  const last = shown.at(-1);
  return {
    narratives: shown.map((narrative) => ({ narrative, memberIds: members.get(narrative.id) ?? [] })),
    next: found.length > limit && last ? { value: placeOf(last, order), seq: last.seq } : null,
  };
}

const placeOf = ({ seq, detail }: StoredNarrative, order: NarrativeOrder): number =>
  order === 'recent' ? seq : detail.startMs;

/** Gives a chapter another title, or none; null when there is no such chapter. */
export function renameChapter(
  context: Context,
  repoId: string,
  id: string,
  title: string | null,
): Promise<Chapter | null> {
  return retrying(async () => {
    const chapter = await findChapter(context, repoId, id);
    if (!chapter) return null;
    const { narrative } = chapter;
    const detail = narrative.detail as ChapterDetail;
    if (detail.title === title) return chapter;
    const { content, terms } = chapterWords(title, detail.text);
    const fields = { content, terms, detail: { ...detail, title } };
    await context.store.apply({ space: repoId, changes: [patchOf(context, narrative, fields, 'renamed')] });
    return findChapter(context, repoId, id);
  });
}

export interface Detection {
  readonly filter: EpisodeFilter;
  readonly episodesMin: number;
  readonly gapMs: number;
  readonly episodesMax: number;
}

export interface Detected {
  readonly action: 'created' | 'updated' | 'unchanged' | 'dismissed';
  /** Null where a dry run would make a new one. */
  readonly chapterId: string | null;
  readonly group: Group;
  readonly memberIds: readonly string[];
}

const PAGE_EPISODES = 250;

/** Finds out which episodes belong together and makes a chapter of each group, or brings the chapter that it is up to date. */
export async function detectChapters(
  context: Context,
  repoId: string,
  detection: Detection,
  dryRun: boolean,
): Promise<Detected[]> {
  passGate('semantic', checkRepoId('repo_id', repoId));
  const sketches = await sketchesOf(context, repoId, detection);
  const groups = groupEpisodes([...sketches.values()], detection);
  const known = await knownChapters(context, repoId);
  const matched = matchChapters(groups, known);
  const detected: Detected[] = [];
  for (const group of groups) {
    detected.push(await saveGroup(context, repoId, group, matched.get(group.key) ?? null, sketches, dryRun));
    await setImmediate();
  }
  return detected;
}

/** A page at a time, so that others get their turn. */
async function sketchesOf(
  { store }: Context,
  repoId: string,
  { filter, episodesMax }: Detection,
): Promise<Map<string, EpisodeSketch>> {
  const sketches = new Map<string, EpisodeSketch>();
  let after: EpisodePlace | null = null;
  while (sketches.size < episodesMax) {
    const limit = Math.min(PAGE_EPISODES, episodesMax - sketches.size);
    const page: StoredEpisode[] = await store.listEpisodes(repoId, filter, 'recent', after, limit);
    const last = page.at(-1);
    if (!last) break;
    for (const episode of page) sketches.set(episode.id, toSketch(episode));
    after = { value: last.createdAtMs, seq: last.seq };
    await setImmediate();
  }
  return sketches;
}

const AUTO: NarrativeFilter = {
  form: 'chapter',
  key: null,
  kind: 'auto',
  tags: [],
  sinceMs: null,
  beforeMs: null,
  includeArchived: true,
};

/** The chapters that were made by the service before, also those that somebody put away since. */
async function knownChapters({ store }: Context, repoId: string) {
  const known: { id: string; key: string; episodeIds: readonly string[] }[] = [];
  let after: NarrativePlace | null = null;
  for (;;) {
    const page: StoredNarrative[] = await store.listNarratives(repoId, AUTO, 'recent', after, PAGE_EPISODES);
    const last = page.at(-1);
    if (!last) return known;
    const ids = page.map(({ id }) => id);
    const members = await store.findMembers(repoId, 'narrates', ids);
    for (const { id, detail } of page) known.push({ id, key: detail.key ?? '', episodeIds: members.get(id) ?? [] });
    after = { value: last.seq, seq: last.seq };
    await setImmediate();
  }
}

function saveGroup(
  context: Context,
  repoId: string,
  group: Group,
  chapterId: string | null,
  sketches: ReadonlyMap<string, EpisodeSketch>,
  dryRun: boolean,
): Promise<Detected> {
  return retrying(async () => {
    const chapter = await chapterOf(context, repoId, group, chapterId);
    const ids = [...(chapter?.memberIds ?? []), ...group.episodeIds];
    const episodes = (await episodesIn(context, repoId, ids, sketches)).filter((episode) => belongsTo(group, episode));
    const memberIds = episodes.map(({ id }) => id);
    // Its episodes went while this was found out.
    if (episodes.length === 0)
      return { action: 'unchanged', chapterId: chapter?.narrative.id ?? null, group, memberIds };
    if (!chapter) {
      if (dryRun) return { action: 'created', chapterId: null, group, memberIds };
      const id = `chapter_${context.newId()}`;
      const narration = await narrateChapter(context, episodes, ofGroup(group));
      await context.store.apply({ space: repoId, changes: insertion(context, repoId, id, 'auto', narration) });
      return { action: 'created', chapterId: id, group, memberIds };
    }
    const { narrative } = chapter;
    // Whoever put a chapter away does not want it again.
    if (narrative.tier === 'archive') return { action: 'dismissed', chapterId: narrative.id, group, memberIds };
    const { title } = narrative.detail as ChapterDetail;
    const options = { ...ofGroup(group), title, standing: narrative, dryRun };
    const narration = await narrateChapter(context, episodes, options);
    if (saysTheSame(narrative, chapter.memberIds, narration)) {
      return { action: 'unchanged', chapterId: narrative.id, group, memberIds };
    }
    const changes = [
      patchOf(context, narrative, narration, 'told anew'),
      membership(context, 'narrates', repoId, narrative.id, narration.memberIds),
    ];
    if (!dryRun) await context.store.apply({ space: repoId, changes });
    return { action: 'updated', chapterId: narrative.id, group, memberIds };
  });
}

const ofGroup = ({ key, title, tag }: Group) => ({
  key,
  title,
  given: { tags: tag === null ? [] : [tag], topics: tag === null ? [] : [tag] },
});

async function chapterOf(context: Context, repoId: string, group: Group, id: string | null): Promise<Chapter | null> {
  if (id !== null) return findChapter(context, repoId, id);
  const [found] = await context.store.listNarratives(repoId, { ...AUTO, key: group.key }, 'recent', null, 1);
  return found ? findChapter(context, repoId, found.id) : null;
}

/** What a chapter told of stays in it, also when the question was about fewer. */
async function episodesIn(
  { store }: Context,
  repoId: string,
  ids: readonly string[],
  sketches: ReadonlyMap<string, EpisodeSketch>,
): Promise<EpisodeSketch[]> {
  const visible = await store.findVisible(viewOf(repoId, { includeGlobal: false }), ids);
  const unique = [...visible];
  const missing = unique.filter((id) => !sketches.has(id));
  const fetched = new Map((await store.getEpisodes(repoId, missing, false)).map((one) => [one.id, toSketch(one)]));
  return unique.flatMap((id) => sketches.get(id) ?? fetched.get(id) ?? []).sort(oldestFirst);
}
