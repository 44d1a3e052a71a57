import type { CitedLine } from './citations.js';
import { mergeSame } from './resemblance.js';
import { type ChapterSketch, type EpisodeSketch, holdersOf, oldestFirst } from './sketches.js';

/** What a chapter and a wisdom say, word for word from what they are made of: nothing is put in other words. */

export interface ChapterText extends Span {
  readonly summary: readonly CitedLine[];
  readonly learnings: readonly CitedLine[];
  readonly tags: readonly string[];
  readonly topics: readonly string[];
}

/** A tag or topic of several chapters. */
export interface Pattern extends CitedLine {
  readonly count: number;
}

export interface WisdomText extends Span {
  readonly summary: readonly CitedLine[];
  readonly insights: readonly CitedLine[];
  readonly patterns: readonly Pattern[];
  readonly bestPractices: readonly CitedLine[];
  readonly tags: readonly string[];
}

/** From its earliest to its latest source. */
interface Span {
  readonly startMs: number;
  readonly endMs: number;
}

const SUMMARIZED_MAX = 3;
const TOPICS_MAX = 5;
/** Nobody reads more, and those left out were learned the least often. */
const LEARNINGS_MAX = 100;
/** So many lines, and so many characters together, are held against each other in one go: more would keep everybody waiting. */
const COMPARED_LINES_MAX = 2_000;
const COMPARED_CHARACTERS_MAX = 200_000;

/** `given` are the tags and topics that whoever asked for the chapter named; they come first. */
export function synthesizeChapter(
  episodes: readonly EpisodeSketch[],
  given: { readonly tags: readonly string[]; readonly topics: readonly string[] },
): ChapterText {
  if (episodes.length === 0) throw new Error('a chapter is made of at least one episode');
  const inOrder = episodes.toSorted(oldestFirst);
  const frequent = patternsOf(inOrder, ({ tags }) => tags).map(({ text }) => text);
  return {
    summary: summaryLines(inOrder),
    learnings: mostCitedFirst(mergeSame(learningsOf(inOrder, weightiestFirst))).slice(0, LEARNINGS_MAX),
    tags: [...new Set([...given.tags, ...frequent])],
    topics: [...new Set([...given.topics, ...frequent.slice(0, TOPICS_MAX)])],
    ...spanOf(inOrder.map(({ createdAtMs }) => ({ startMs: createdAtMs, endMs: createdAtMs }))),
  };
}

const GOAL = 'Goal: ';
const DONE = 'Done: ';
const FAILED = 'Failed: ';

/** What the most important episodes were for and what came of them, in order of time. */
function summaryLines(episodes: readonly EpisodeSketch[]): CitedLine[] {
  const lines = episodes.toSorted(weightiestFirst).slice(0, SUMMARIZED_MAX).sort(oldestFirst).flatMap(labelledLines);
  // Each kind by itself: an outcome told like a goal is still an outcome.
  const merged = [GOAL, DONE, FAILED].flatMap((label) => mergeSame(lines.filter(({ text }) => text.startsWith(label))));
  const byText = new Map(merged.map((line) => [line.text, line]));
  return [...new Set(lines.map(({ text }) => text))].flatMap((text) => byText.get(text) ?? []);
}

const weightiestFirst = (a: EpisodeSketch, b: EpisodeSketch): number =>
  b.importance - a.importance || oldestFirst(b, a);

const labelledLines = (episode: EpisodeSketch): CitedLine[] =>
  [
    { label: GOAL, words: episode.goal },
    { label: episode.success ? DONE : FAILED, words: outcomeOf(episode) },
  ]
    .filter(({ words }) => isSaid(words))
    .map(({ label, words }) => ({ text: `${label}${words}`, sourceIds: [episode.id] }));

function outcomeOf({ success, summary, failureReason }: EpisodeSketch): string {
  const tellsWhy = success || failureReason === null || !isSaid(failureReason) || summary.includes(failureReason);
  return tellsWhy ? summary : `${summary} (${failureReason})`;
}

/** The lines of a chapter's summary as one text. */
export function chapterSummary(summary: readonly CitedLine[]): string {
  const goals = summary.filter(({ text }) => text.startsWith(GOAL)).map(({ text }) => text.slice(GOAL.length));
  const outcomes = summary
    .filter(({ text }) => !text.startsWith(GOAL))
    // What failed must not read like what was done.
    .map(({ text }) => (text.startsWith(DONE) ? text.slice(DONE.length) : `failed: ${text.slice(FAILED.length)}`));
  return [...paragraph('Goals', goals), ...paragraph('Outcomes', outcomes)].join(' ');
}

const SENTENCE_END = /[.!?…。！？]["'”’)]?$/u;

/** Parts that are sentences already keep their own full stops and get no second ones. */
function paragraph(heading: string, parts: readonly string[]): string[] {
  if (parts.length === 0) return [];
  const all = parts.reduce((text, part) => `${text}${SENTENCE_END.test(text) ? ' ' : '; '}${part}`);
  return [`${heading}: ${all}${SENTENCE_END.test(all) ? '' : '.'}`];
}

export function synthesizeWisdom(chapters: readonly ChapterSketch[]): WisdomText {
  if (chapters.length === 0) throw new Error('a wisdom is made of at least one chapter');
  const inOrder = chapters.toSorted(earliestFirst);
  const insights = mostCitedFirst(mergeSame(learningsOf(inOrder, latestFirst))).slice(0, LEARNINGS_MAX);
  const patterns = patternsOf(inOrder, ({ tags, topics }) => [...tags, ...topics]).filter(({ count }) => count > 1);
  return {
    summary: richestSummaries(inOrder),
    insights,
    patterns,
    bestPractices: insights.filter(({ text }) => ADVICE.test(text)),
    tags: patterns.map(({ text }) => text),
    ...spanOf(inOrder),
  };
}

/** The beginning of a wisdom's text says how many chapters it was taken from. */
export const wisdomSummary = (chapters: number, summary: readonly CitedLine[]): string =>
  `Synthesis across ${chapters} ${chapters === 1 ? 'chapter' : 'chapters'}: ${summary.map(({ text }) => text).join(' | ')}`;

const ADVICE =
  /(?<![\p{L}\p{N}_])(?:should(?:n['’]t)?|avoid|prefer|best|never|always|must(?:n['’]t)?|do\s+not|don['’]t|instead|make\s+sure|ensure)(?![\p{L}\p{N}_])/iu;

const earliestFirst = (a: ChapterSketch, b: ChapterSketch): number =>
  a.startMs - b.startMs || a.endMs - b.endMs || (a.id < b.id ? -1 : 1);

const latestFirst = (a: ChapterSketch, b: ChapterSketch): number => b.endMs - a.endMs || earliestFirst(b, a);

/**
 * The summaries of the chapters from which most was learned, in order of time. Chapters of the same episodes, grouped by
 * another tag, have the same summary: it is told once, and the place is another's.
 */
function richestSummaries(inOrder: readonly ChapterSketch[]): CitedLine[] {
  const richest = inOrder
    .filter(({ summary }) => isSaid(summary))
    .sort((a, b) => b.learnings.length - a.learnings.length || b.endMs - a.endMs);
  const lines = mergeSame(comparable(richest.map(({ id, summary }) => ({ text: summary, sourceIds: [id] }))));
  const byFirst = new Map(lines.slice(0, SUMMARIZED_MAX).map((line) => [line.sourceIds[0], line]));
  return inOrder.flatMap(({ id }) => byFirst.get(id) ?? []);
}

const isSaid = (text: string): boolean => text.trim() !== '';

interface Learned {
  readonly id: string;
  readonly learnings: readonly string[];
}

/** In the order of the sources; where there are too many, the first of every source before the second of any. */
function learningsOf<Source extends Learned>(
  sources: readonly Source[],
  compare: (a: Source, b: Source) => number,
): CitedLine[] {
  const places = new Map(sources.map(({ id }, place) => [id, place]));
  const placeOf = ({ id }: { readonly id: string }): number => places.get(id) ?? 0;
  return comparable(roundsOf(sources.toSorted(compare)))
    .sort((a, b) => placeOf(a) - placeOf(b) || a.round - b.round)
    .map(({ text, id }) => ({ text, sourceIds: [id] }));
}

/** One learning of each source in turn. */
function* roundsOf(sources: readonly Learned[]): Generator<{ id: string; text: string; round: number }> {
  let left = sources;
  for (let round = 0; left.length > 0; round++) {
    left = left.filter(({ learnings }) => round < learnings.length);
    for (const { id, learnings } of left) {
      const text = learnings[round] as string;
      if (isSaid(text)) yield { id, text, round };
    }
  }
}

/** As many from the beginning as are held against each other. */
function comparable<Line extends { readonly text: string }>(lines: Iterable<Line>): Line[] {
  const taken: Line[] = [];
  let characters = 0;
  for (const line of lines) {
    if (taken.length === COMPARED_LINES_MAX || characters >= COMPARED_CHARACTERS_MAX) break;
    taken.push(line);
    characters += line.text.length;
  }
  return taken;
}

/** What was learned again and again is the surest; otherwise the order stays. */
const mostCitedFirst = (lines: readonly CitedLine[]): CitedLine[] =>
  lines.toSorted((a, b) => b.sourceIds.length - a.sourceIds.length);

/** The words of the sources, the most frequent first. */
const patternsOf = <Source extends { readonly id: string }>(
  sources: readonly Source[],
  wordsOf: (source: Source) => readonly string[],
): Pattern[] =>
  [...holdersOf(sources, wordsOf)]
    .map(([text, holders]) => ({ text, sourceIds: holders.map(({ id }) => id), count: holders.length }))
    .sort((a, b) => b.count - a.count || (a.text < b.text ? -1 : 1));

/** Not by spreading into Math.min: there may be more sources than a call takes arguments. */
const spanOf = (spans: readonly Span[]): Span => ({
  startMs: spans.reduce((least, { startMs }) => Math.min(least, startMs), Number.POSITIVE_INFINITY),
  endMs: spans.reduce((most, { endMs }) => Math.max(most, endMs), Number.NEGATIVE_INFINITY),
});
