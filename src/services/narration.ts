import { setImmediate } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import type { Change } from '../domain/changes.js';
import type { ChapterDetail, SummaryOrigin, WisdomDetail } from '../domain/narratives.js';
import { type ChapterSketch, type EpisodeSketch, oldestFirst } from '../domain/sketches.js';
import { chapterSummary, synthesizeChapter, synthesizeWisdom, wisdomSummary } from '../domain/synthesis.js';
import { indexTerms } from '../domain/terms.js';
import type { StoredNarrative } from '../storage/port.js';
import type { Context } from './context.js';

/** A chapter or a wisdom as it is to be stored. */
export interface Narration<Detail extends ChapterDetail | WisdomDetail = ChapterDetail | WisdomDetail> {
  readonly content: string;
  readonly terms: readonly string[];
  readonly detail: Detail;
  readonly tags: readonly string[];
  readonly memberIds: readonly string[];
}

const SUMMARY_CHARACTERS_MAX = 2_000;
/** No node has more; the commonest come first. */
const TAGS_MAX = 50;

interface ChapterOptions {
  readonly key: string | null;
  readonly title: string | null;
  readonly isTitleGiven: boolean;
  readonly given: { readonly tags: readonly string[]; readonly topics: readonly string[] };
  /** What is there already: a model is not asked again for what it said of the same lines. */
  readonly standing?: StoredNarrative;
  readonly dryRun?: boolean;
}

export async function narrateChapter(
  context: Context,
  episodes: readonly EpisodeSketch[],
  options: ChapterOptions,
): Promise<Narration<ChapterDetail>> {
  const { key, title, isTitleGiven, given } = options;
  const { summary: summaryLines, learnings, tags, topics, startMs, endMs } = synthesizeChapter(episodes, given);
  const lines = [...summaryLines, ...learnings].map(({ text }) => text);
  const extract = chapterSummary(summaryLines);
  const { summary, summaryOrigin } = await summarize(context, 'chapter', lines, extract, options);
  const text = {
    summary,
    summaryOrigin,
    summaryLines,
    learnings,
    tags: tags.slice(0, TAGS_MAX),
    topics,
    isTitleGiven,
    given,
  };
  return {
    ...chapterWords(title, text),
    detail: { form: 'chapter', key, title, startMs, endMs, text },
    tags: text.tags,
    memberIds: episodes.toSorted(oldestFirst).map(({ id }) => id),
  };
}

/** What a chapter is shown as where only text is, and what it is found by. */
export function chapterWords(
  title: string | null,
  { summary, learnings, topics, tags }: ChapterDetail['text'],
): Pick<Narration, 'content' | 'terms'> {
  const content = [...(title === null ? [] : [title]), summary, ...learnings.map(({ text }) => text)].join('\n');
  return { content, terms: indexTerms([content, ...topics, ...tags].join('\n')) };
}

interface WisdomOptions extends Pick<ChapterOptions, 'key' | 'standing' | 'dryRun'> {
  /** Those that the chapters tell of. */
  readonly episodeIds: readonly string[];
}

export async function narrateWisdom(
  context: Context,
  chapters: readonly ChapterSketch[],
  options: WisdomOptions,
): Promise<Narration<WisdomDetail>> {
  const { summary: summaryLines, insights, patterns, bestPractices, tags, startMs, endMs } = synthesizeWisdom(chapters);
  const lines = [...summaryLines, ...insights].map(({ text }) => text);
  const extract = wisdomSummary(chapters.length, summaryLines);
  const { summary, summaryOrigin } = await summarize(context, 'wisdom', lines, extract, options);
  const content = [summary, ...insights.map(({ text }) => text)].join('\n');
  const text = {
    summary,
    summaryOrigin,
    summaryLines,
    insights,
    patterns,
    bestPractices,
    tags: tags.slice(0, TAGS_MAX),
    episodeIds: options.episodeIds,
  };
  return {
    content,
    terms: indexTerms([content, ...text.tags].join('\n')),
    detail: { form: 'wisdom', key: options.key, startMs, endMs, text },
    tags: text.tags,
    memberIds: chapters.map(({ id }) => id).sort(),
  };
}

/** In a model's words where there is one that has any, else in those of the sources. */
async function summarize(
  { summarizer }: Context,
  subject: 'chapter' | 'wisdom',
  lines: readonly string[],
  extract: string,
  { standing, dryRun }: { readonly standing?: StoredNarrative; readonly dryRun?: boolean },
): Promise<{ summary: string; summaryOrigin: SummaryOrigin }> {
  // Between the comparing of the lines and the indexing of the words others get their turn.
  await setImmediate();
  const before = standing?.detail.text;
  if (before?.summaryOrigin === 'model' && JSON.stringify(linesOf(before)) === JSON.stringify(lines)) {
    return { summary: before.summary, summaryOrigin: 'model' };
  }
  const told = dryRun ? null : await summarizer.summarize(subject, lines, SUMMARY_CHARACTERS_MAX);
  return told === null ? { summary: extract, summaryOrigin: 'extract' } : { summary: told, summaryOrigin: 'model' };
}

const linesOf = (text: ChapterDetail['text'] | WisdomDetail['text']): string[] =>
  [...text.summaryLines, ...('learnings' in text ? text.learnings : text.insights)].map((line) => line.text);

/** Whether telling it anew changed nothing. */
export const saysTheSame = (
  { detail, content }: StoredNarrative,
  memberIds: readonly string[],
  narration: Narration,
): boolean =>
  content === narration.content &&
  isDeepStrictEqual(detail, narration.detail) &&
  isDeepStrictEqual(memberIds, narration.memberIds);

/** Tells what is there anew. */
export const patchOf = (
  context: Context,
  { id, repoId, revision }: StoredNarrative,
  fields: Pick<Narration, 'content' | 'terms' | 'detail'> & Partial<Pick<Narration, 'tags'>>,
  reason: string,
): Change => ({
  change: 'patch_node',
  nodeId: id,
  repoId,
  expectedRevision: revision,
  fields: {
    content: fields.content,
    terms: fields.terms,
    detail: fields.detail,
    ...(fields.tags && { tags: fields.tags }),
  },
  trigger: 'manual',
  reason,
  atMs: context.now(),
});

/** Who belongs to a chapter or a wisdom, from now on. */
export const membership = (
  context: Context,
  label: 'narrates' | 'distills',
  repoId: string,
  ownerId: string,
  memberIds: readonly string[],
): Change => ({
  change: 'set_members',
  label,
  repoId,
  ownerId,
  memberIds,
  edgeId: context.newId(),
  origin: 'auto',
  atMs: context.now(),
});

/** Whose words a text that is made of these chapters may hold. */
export async function episodesBehind(
  { store }: Context,
  repoId: string,
  chapters: readonly StoredNarrative[],
): Promise<string[]> {
  const ids = chapters.map(({ id }) => id);
  const members = await store.findMembers(repoId, 'narrates', ids);
  return [...new Set([...members.values()].flat())].sort();
}

/** What of chapters bears on what they are told with. */
export const toChapterSketches = (chapters: readonly StoredNarrative[]): ChapterSketch[] =>
  chapters.map(({ id, detail }) => {
    const { startMs, endMs, text } = detail as ChapterDetail;
    const learnings = text.learnings.map((line) => line.text);
    return { id, summary: text.summary, learnings, tags: text.tags, topics: text.topics, startMs, endMs };
  });
