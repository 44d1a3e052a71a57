import type { Change } from '../domain/changes.js';
import { titleOf } from '../domain/grouping.js';
import type { ChapterDetail, WisdomDetail } from '../domain/narratives.js';
import { oldestFirst, toSketch } from '../domain/sketches.js';
import { viewOf } from '../domain/spaces.js';
import type { NarrativeFilter, NarrativePlace, StoredNarrative } from '../storage/port.js';
import type { Context } from './context.js';
import {
  episodesBehind,
  membership,
  type Narration,
  narrateChapter,
  narrateWisdom,
  patchOf,
  toChapterSketches,
} from './narration.js';
import { retrying } from './retrying.js';
import { withoutSummarizer } from './wording.js';

const OWNERS_MAX = 1_000;

/**
 * What has to change before an episode is removed for good: its words stand in chapters, and those in wisdom, and whoever has them
 * removed means everywhere. What is left with nothing to tell goes along. No summarizer is asked: it may be slow, and what it would
 * say of the words that stay is not worth keeping those that go.
 */
export async function retellWithout(context: Context, repoId: string, episodeId: string): Promise<Change[]> {
  const changes: Change[] = [];
  const retold = new Map<string, StoredNarrative | null>();
  for (const chapter of await chaptersOf(context, repoId, episodeId)) {
    const narration = await narrateWithout(context, repoId, chapter, episodeId);
    retold.set(chapter.id, narration && { ...chapter, detail: narration.detail });
    changes.push(...retell(context, 'narrates', chapter, narration));
  }
  return [...(await retellWisdom(context, repoId, episodeId, retold)), ...changes];
}

/** A wisdom that was made while the episode was being removed may hold its words; none that is made afterwards does. */
export const retellSince = (context: Context, repoId: string, episodeId: string): Promise<void> =>
  retrying(async () => {
    const changes = await retellWisdom(context, repoId, episodeId, new Map());
    if (changes.length > 0) await context.store.apply({ space: repoId, changes });
  });

async function narrateWithout(
  context: Context,
  repoId: string,
  chapter: StoredNarrative,
  episodeId: string,
): Promise<Narration | null> {
  const memberIds = await membersOf(context, repoId, 'narrates', chapter.id);
  const otherIds = memberIds.filter((id) => id !== episodeId);
  const others = (await context.store.getEpisodes(repoId, otherIds, true)).map(toSketch).sort(oldestFirst);
  if (others.length === 0) return null;
  const { key, title: before, text } = chapter.detail as ChapterDetail;
  const { isTitleGiven, given } = text;
  // A title that was taken from the episode goes with it; one that somebody gave stays.
  const title = isTitleGiven || key === null ? before : titleOf(key, others);
  return narrateChapter(withoutSummarizer(context), others, { key, title, isTitleGiven, given });
}

/** A wisdom keeps its words when a chapter goes or is told anew, so it is asked what it was made of at the time. */
async function retellWisdom(
  context: Context,
  repoId: string,
  episodeId: string,
  retold: ReadonlyMap<string, StoredNarrative | null>,
): Promise<Change[]> {
  const changes: Change[] = [];
  for (const wisdom of await allWisdom(context, repoId)) {
    const { key, text } = wisdom.detail as WisdomDetail;
    if (!text.episodeIds.includes(episodeId)) continue;
    const memberIds = await membersOf(context, repoId, 'distills', wisdom.id);
    const stored = await context.store.getNarratives(repoId, memberIds, true);
    const chapters = stored.flatMap((chapter) => (retold.has(chapter.id) ? (retold.get(chapter.id) ?? []) : chapter));
    const episodeIds = (await episodesBehind(context, repoId, chapters)).filter((id) => id !== episodeId);
    const narration =
      chapters.length === 0
        ? null
        : await narrateWisdom(withoutSummarizer(context), toChapterSketches(chapters), { key, episodeIds });
    changes.push(...retell(context, 'distills', wisdom, narration));
  }
  return changes;
}

const retell = (
  context: Context,
  label: 'narrates' | 'distills',
  narrative: StoredNarrative,
  narration: Narration | null,
): Change[] =>
  narration === null
    ? [purge(context, narrative)]
    : [
        patchOf(context, narrative, narration, 'an episode was removed'),
        membership(context, label, narrative.repoId, narrative.id, narration.memberIds),
      ];

const ALL_WISDOM: NarrativeFilter = {
  form: 'wisdom',
  key: null,
  kind: null,
  tags: [],
  sinceMs: null,
  beforeMs: null,
  includeArchived: true,
};

async function allWisdom({ store }: Context, repoId: string): Promise<StoredNarrative[]> {
  const all: StoredNarrative[] = [];
  let after: NarrativePlace | null = null;
  for (;;) {
    const page: StoredNarrative[] = await store.listNarratives(repoId, ALL_WISDOM, 'recent', after, OWNERS_MAX);
    const last = page.at(-1);
    if (!last) return all;
    all.push(...page);
    after = { value: last.seq, seq: last.seq };
  }
}

const purge = (context: Context, { id, repoId, revision }: StoredNarrative): Change => ({
  change: 'purge_node',
  nodeId: id,
  repoId,
  expectedRevision: revision,
  atMs: context.now(),
});

async function chaptersOf({ store }: Context, repoId: string, episodeId: string): Promise<StoredNarrative[]> {
  const view = viewOf(repoId, { includeArchived: true, includeGlobal: false });
  const edges = await store.findEdges(view, [episodeId], ['narrates'], OWNERS_MAX);
  const ids = edges.flatMap(({ members }) =>
    members.filter(({ role }) => role === 'subject').map(({ nodeId }) => nodeId),
  );
  return store.getNarratives(repoId, ids, true);
}

const membersOf = async (
  { store }: Context,
  repoId: string,
  label: 'narrates' | 'distills',
  id: string,
): Promise<readonly string[]> => (await store.findMembers(repoId, label, [id])).get(id) ?? [];
