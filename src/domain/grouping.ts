import { type EpisodeSketch, holdersOf, oldestFirst } from './sketches.js';

/** Episodes that belong together and make a chapter. An episode may belong to several. */
export interface Group extends Common {
  /** Oldest first. */
  readonly episodeIds: readonly string[];
}

/** What the episodes of a group have in common. */
export interface Common {
  /** The same on every run, so that a chapter that is there already is found again. */
  readonly key: string;
  readonly basis: 'tag' | 'task_type' | 'work';
  readonly tag: string | null;
}

export interface GroupingSettings {
  readonly episodesMin: number;
  /** A longer pause ends a stretch of work. */
  readonly gapMs: number;
}

/** By tag, the untagged by task type, and by the work they were part of; in this order. */
export function groupEpisodes(episodes: readonly EpisodeSketch[], { episodesMin, gapMs }: GroupingSettings): Group[] {
  const inOrder = episodes.toSorted(oldestFirst);
  const isEnough = ({ episodeIds }: Group): boolean => episodeIds.length >= episodesMin;
  const topics = [...tagGroups(inOrder), ...taskTypeGroups(inOrder)].filter(isEnough);
  const told = new Set(topics.map(membersOf));
  const work = stretchesOf(inOrder, gapMs).flatMap(joinedIn).map(workGroup).filter(isEnough);
  // A chapter about the same episodes would say the same a second time.
  return [...topics, ...work.filter((group) => !told.has(membersOf(group)))];
}

const membersOf = ({ episodeIds }: Group): string => JSON.stringify(episodeIds);

const idsOf = (episodes: readonly EpisodeSketch[]): string[] => episodes.map(({ id }) => id);

const tagGroups = (episodes: readonly EpisodeSketch[]): Group[] =>
  byWord(holdersOf(episodes, ({ tags }) => tags)).map(([tag, holders]) => ({
    key: `${TAG}${tag}`,
    basis: 'tag',
    tag,
    episodeIds: idsOf(holders),
  }));

const TAG = 'tag:';
const TASK_TYPE = 'task_type:';
const WORK = 'work:';

const taskTypeGroups = (episodes: readonly EpisodeSketch[]): Group[] =>
  byWord(
    holdersOf(
      episodes.filter(({ tags }) => tags.length === 0),
      ({ taskType }) => [taskType],
    ),
  ).map(([taskType, holders]) => ({
    key: `${TASK_TYPE}${taskType}`,
    basis: 'task_type',
    tag: null,
    episodeIds: idsOf(holders),
  }));

/** By word; the order of the episodes stays. */
const byWord = (holders: ReadonlyMap<string, readonly EpisodeSketch[]>): [string, readonly EpisodeSketch[]][] =>
  [...holders].sort(([a], [b]) => (a < b ? -1 : 1));

/** Runs of episodes without a long pause between one and the next. */
function stretchesOf(inOrder: readonly EpisodeSketch[], gapMs: number): EpisodeSketch[][] {
  const stretches: EpisodeSketch[][] = [];
  for (const [index, episode] of inOrder.entries()) {
    const before = inOrder[index - 1];
    const goesOn = before !== undefined && episode.createdAtMs - before.createdAtMs <= gapMs;
    if (goesOn) stretches.at(-1)?.push(episode);
    else stretches.push([episode]);
  }
  return stretches;
}

/**
 * The episodes of a stretch that a shared file or tag joins, directly or over others. Each is joined only to the last that
 * had the file or tag; that one was joined to those before it.
 */
function joinedIn(stretch: readonly EpisodeSketch[]): EpisodeSketch[][] {
  const olderOf = stretch.map((_episode, index) => index);
  const lastHolder = new Map<string, number>();
  for (const [index, { files, tags }] of stretch.entries()) {
    for (const held of [...files.map((file) => `file:${file}`), ...tags.map((tag) => `tag:${tag}`)]) {
      join(olderOf, lastHolder.get(held) ?? index, index);
      lastHolder.set(held, index);
    }
  }
  const joined = new Map<number, EpisodeSketch[]>();
  for (const [index, episode] of stretch.entries()) {
    const oldest = oldestOf(olderOf, index);
    const group = joined.get(oldest);
    if (group) group.push(episode);
    else joined.set(oldest, [episode]);
  }
  return [...joined.values()];
}

function join(olderOf: number[], a: number, b: number): void {
  const [one, other] = [oldestOf(olderOf, a), oldestOf(olderOf, b)];
  olderOf[Math.max(one, other)] = Math.min(one, other);
}

/** The oldest that an episode is joined to; on the way there every second step is shortened for the next time. */
function oldestOf(olderOf: number[], start: number): number {
  let index = start;
  for (let older = olderOf[index] ?? index; older !== index; older = olderOf[index] ?? index) {
    olderOf[index] = olderOf[older] ?? older;
    index = older;
  }
  return index;
}

const GOAL_CHARACTERS_MAX = 120;
const HALF_CHARACTER_AT_END = /[\uD800-\uDBFF]$/;

/** What a chapter of these episodes is called, unless somebody gave it a title. */
export function titleOf(key: string, episodes: readonly EpisodeSketch[]): string {
  const beginning = [TAG, TASK_TYPE].find((word) => key.startsWith(word));
  return beginning === undefined ? workTitle(episodes) : `Topic: ${key.slice(beginning.length)}`;
}

/** After what the most important of its episodes, or of equals the first, was for. */
function workTitle(episodes: readonly EpisodeSketch[]): string {
  const leading = episodes.reduce((best, episode) => (episode.importance > best.importance ? episode : best));
  return `Work: ${leading.goal.slice(0, GOAL_CHARACTERS_MAX).replace(HALF_CHARACTER_AT_END, '')}`;
}

function workGroup(episodes: readonly EpisodeSketch[]): Group {
  return {
    key: `${WORK}${episodes[0]?.id}`,
    basis: 'work',
    tag: null,
    episodeIds: idsOf(episodes),
  };
}

/** What the chapter with this key is about. */
export function commonOf(key: string): Common {
  if (key.startsWith(TAG)) return { key, basis: 'tag', tag: key.slice(TAG.length) };
  return { key, basis: key.startsWith(TASK_TYPE) ? 'task_type' : 'work', tag: null };
}

/** Whether an episode that was in the group before is in it still: it may have lost what joined it. */
export function belongsTo({ basis, key, tag }: Common, { tags, taskType }: EpisodeSketch): boolean {
  switch (basis) {
    case 'tag':
      return tag !== null && tags.includes(tag);
    case 'task_type':
      return tags.length === 0 && key === `${TASK_TYPE}${taskType}`;
    case 'work':
      return true;
  }
}

/** A chapter that was made of a group before. */
interface GroupChapter {
  readonly id: string;
  readonly key: string;
  readonly episodeIds: readonly string[];
}

/**
 * The chapter that each group is already, by the group's key. An older episode that comes to light, or the oldest that goes,
 * gives a work another key: it is then the chapter of which it holds half.
 */
export function matchChapters(groups: readonly Group[], chapters: readonly GroupChapter[]): Map<string, string> {
  const known = chapters.toSorted((a, b) => (a.id < b.id ? -1 : 1));
  const idOfKey = new Map(known.toReversed().map(({ id, key }) => [key, id]));
  const matched = new Map<string, string>();
  for (const { key } of groups) {
    const id = idOfKey.get(key);
    if (id !== undefined) matched.set(key, id);
  }
  const taken = new Set(matched.values());
  const open = groups.filter(({ key, basis }) => basis === 'work' && !matched.has(key));
  const ofWork = known.filter(({ key }) => key.startsWith(WORK));
  for (const { key, chapterId } of sharing(open, ofWork)) {
    if (matched.has(key) || taken.has(chapterId)) continue;
    matched.set(key, chapterId);
    taken.add(chapterId);
  }
  return matched;
}

/**
 * Which group holds at least half of which chapter, the most shared first, else in the order of the chapters. No two groups
 * of work share an episode.
 */
function sharing(
  groups: readonly Group[],
  chapters: readonly GroupChapter[],
): { readonly key: string; readonly chapterId: string; readonly shared: number }[] {
  const keyOfEpisode = new Map(groups.flatMap(({ key, episodeIds }) => episodeIds.map((id) => [id, key])));
  return chapters
    .flatMap(({ id: chapterId, episodeIds }) => {
      const members = new Set(episodeIds);
      const counts = new Map<string, number>();
      for (const id of members) {
        const key = keyOfEpisode.get(id);
        if (key !== undefined) counts.set(key, (counts.get(key) ?? 0) + 1);
      }
      return [...counts]
        .filter(([, shared]) => shared * 2 >= members.size)
        .map(([key, shared]) => ({ key, chapterId, shared }));
    })
    .sort((a, b) => b.shared - a.shared);
}
