import { setImmediate } from 'node:timers/promises';
import type { Change } from '../domain/changes.js';
import {
  belongsTo,
  type Common,
  commonOf,
  type Group,
  groupEpisodes,
  matchChapters,
  titleOf,
} from '../domain/grouping.js';
import type { ChapterDetail } from '../domain/narratives.js';
import { checkRepoId } from '../domain/rules.js';
import { type EpisodeSketch, oldestFirst, toSketch } from '../domain/sketches.js';
import { viewOf } from '../domain/spaces.js';
import { passGate } from '../domain/violations.js';
import type {
  EpisodeFilter,
  EpisodePlace,
  NarrativeFilter,
  NarrativePlace,
  StoredEpisode,
  StoredNarrative,
} from '../storage/port.js';
import { type Chapter, findChapter, insertion } from './chapters.js';
import type { Context } from './context.js';
import { chapterWords, membership, type Narration, narrateChapter, patchOf, saysTheSame } from './narration.js';
import { retrying } from './retrying.js';
import { withPatience } from './wording.js';

export interface Detection {
  readonly filter: EpisodeFilter;
  readonly episodesMin: number;
  readonly gapMs: number;
  readonly episodesMax: number;
}

export interface Detected {
  readonly action: 'created' | 'updated' | 'unchanged' | 'dismissed' | 'archived';
  /** Null where a dry run would make a new one. */
  readonly chapterId: string | null;
  readonly basis: Group['basis'];
  readonly title: string | null;
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
  const patient = withPatience(context);
  const detected: Detected[] = [];
  for (const group of groups) {
    detected.push(await saveGroup(patient, repoId, group, matched.get(group.key) ?? null, sketches, dryRun));
    await setImmediate();
  }
  const standing = new Set(detected.flatMap(({ chapterId }) => chapterId ?? []));
  const left = known.filter(({ id, isArchived }) => !standing.has(id) && !isArchived);
  return [...detected, ...(await reviseLeft(patient, repoId, left, detected, sketches, dryRun))];
}

/** Chapters that no group is any more: they say what still belongs to them, or go into the archive. */
async function reviseLeft(
  context: Context,
  repoId: string,
  left: readonly KnownChapter[],
  detected: readonly Detected[],
  sketches: ReadonlyMap<string, EpisodeSketch>,
  dryRun: boolean,
): Promise<Detected[]> {
  const told = detected.filter(({ action }) => action !== 'dismissed');
  const memberIds = left.flatMap(({ episodeIds }) => episodeIds);
  const visible = await context.store.findVisible(viewOf(repoId, { includeGlobal: false }), memberIds);
  const revised: Detected[] = [];
  for (const { id, key, episodeIds } of left) {
    // Of what was not looked at, and is there still, nothing new is known.
    if (episodeIds.length > 0 && episodeIds.every((one) => visible.has(one) && !sketches.has(one))) continue;
    const one = await retrying(() => reviseChapter(context, repoId, id, commonOf(key), told, sketches, dryRun));
    if (one) revised.push(one);
    await setImmediate();
  }
  return revised;
}

/** Null when somebody else put it away or removed it. */
async function reviseChapter(
  context: Context,
  repoId: string,
  id: string,
  common: Common,
  told: readonly Detected[],
  sketches: ReadonlyMap<string, EpisodeSketch>,
  dryRun: boolean,
): Promise<Detected | null> {
  const chapter = await findChapter(context, repoId, id);
  if (!chapter || chapter.narrative.tier === 'archive') return null;
  const { narrative } = chapter;
  const members = await episodesIn(context, repoId, chapter.memberIds, sketches);
  const episodes = members.filter((episode) => belongsTo(common, episode));
  const memberIds = episodes.map((episode) => episode.id);
  const { text, title: before } = narrative.detail as ChapterDetail;
  const detected = { chapterId: id, basis: common.basis, memberIds };
  if (memberIds.length === 0 || (common.basis === 'work' && told.some((other) => tellsAll(other, memberIds)))) {
    if (!dryRun) await context.store.apply({ space: repoId, changes: retirement(context, narrative) });
    return { action: 'archived', ...detected, title: before };
  }
  const title = text.isTitleGiven ? before : titleOf(common.key, episodes);
  const { isTitleGiven, given } = text;
  const options = { key: common.key, title, isTitleGiven, given, standing: narrative, dryRun };
  const narration = await narrateChapter(context, episodes, options);
  if (saysTheSame(narrative, chapter.memberIds, narration)) return { action: 'unchanged', ...detected, title };
  if (!dryRun) await context.store.apply({ space: repoId, changes: retelling(context, narrative, narration) });
  return { action: 'updated', ...detected, title };
}

/** Whether the other chapter makes a work of these episodes superfluous: it is the work that they are part of, or of them alone. */
function tellsAll(other: Detected, memberIds: readonly string[]): boolean {
  const ids = new Set(other.memberIds);
  return (other.basis === 'work' || ids.size === memberIds.length) && memberIds.every((id) => ids.has(id));
}

/** It gives its key up: should its group come back, it is made anew, where one that somebody put away is not. */
const retirement = (context: Context, narrative: StoredNarrative): Change[] => {
  const { content } = narrative;
  const detail = { ...(narrative.detail as ChapterDetail), key: null };
  const { terms } = chapterWords(detail.title, detail.text);
  return [
    patchOf(context, narrative, { content, terms, detail }, 'nothing of its own is left'),
    {
      change: 'move_tier',
      nodeId: narrative.id,
      repoId: narrative.repoId,
      from: narrative.tier,
      to: 'archive',
      reason: 'nothing of its own is left',
      atMs: context.now(),
    },
  ];
};

const retelling = (context: Context, narrative: StoredNarrative, narration: Narration): Change[] => [
  patchOf(context, narrative, narration, 'told anew'),
  membership(context, 'narrates', narrative.repoId, narrative.id, narration.memberIds),
];

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

interface KnownChapter {
  readonly id: string;
  readonly key: string;
  readonly episodeIds: readonly string[];
  readonly isArchived: boolean;
}

/** The chapters that were made by the service before, also those that somebody put away since. */
async function knownChapters({ store }: Context, repoId: string): Promise<KnownChapter[]> {
  const known: KnownChapter[] = [];
  let after: NarrativePlace | null = null;
  for (;;) {
    const page: StoredNarrative[] = await store.listNarratives(repoId, AUTO, 'recent', after, PAGE_EPISODES);
    const last = page.at(-1);
    if (!last) return known;
    const ids = page.map(({ id }) => id);
    const members = await store.findMembers(repoId, 'narrates', ids);
    for (const { id, detail, tier } of page) {
      // One that gave its key up is of no group.
      if (detail.key === null) continue;
      known.push({ id, key: detail.key, episodeIds: members.get(id) ?? [], isArchived: tier === 'archive' });
    }
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
    const titled = chapter ? (chapter.narrative.detail as ChapterDetail) : null;
    const isTitleGiven = titled?.text.isTitleGiven ?? false;
    const title = titled && (isTitleGiven || episodes.length === 0) ? titled.title : titleOf(group.key, episodes);
    const detected = { chapterId: chapter?.narrative.id ?? null, basis: group.basis, title, memberIds };
    // Its episodes went while this was found out.
    if (episodes.length === 0) return { action: 'unchanged', ...detected };
    const options = { ...ofGroup(group), title, isTitleGiven };
    if (!chapter) {
      if (dryRun) return { action: 'created', ...detected };
      const id = `chapter_${context.newId()}`;
      const narration = await narrateChapter(context, episodes, options);
      await context.store.apply({ space: repoId, changes: insertion(context, repoId, id, 'auto', narration) });
      return { action: 'created', ...detected, chapterId: id };
    }
    const { narrative } = chapter;
    // Whoever put a chapter away does not want it again.
    if (narrative.tier === 'archive') return { action: 'dismissed', ...detected, title: titled?.title ?? null };
    const narration = await narrateChapter(context, episodes, { ...options, standing: narrative, dryRun });
    if (saysTheSame(narrative, chapter.memberIds, narration)) return { action: 'unchanged', ...detected };
    if (!dryRun) await context.store.apply({ space: repoId, changes: retelling(context, narrative, narration) });
    return { action: 'updated', ...detected };
  });
}

const ofGroup = ({ key, tag }: Group) => ({
  key,
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
