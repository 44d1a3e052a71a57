import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { CitedLine } from '../../src/domain/citations.js';
import { type Group, groupEpisodes, matchChapters } from '../../src/domain/grouping.js';
import { mergeSame, resemblance, saysTheSame } from '../../src/domain/resemblance.js';
import type { ChapterSketch, EpisodeSketch } from '../../src/domain/sketches.js';
import { chapterSummary, synthesizeChapter, synthesizeWisdom, wisdomSummary } from '../../src/domain/synthesis.js';

const RUN = { seed: 20_260_101, numRuns: 100 };
const GAP_MS = 10;

/** Few words, so that many texts say the same or nearly so; and any text, because people write anything. */
const anyText = fc.oneof(
  {
    weight: 4,
    arbitrary: fc
      .array(
        fc.constantFrom('use', 'the', 'cache', 'not', 'never', 'port', '6379', '6380', 'Redis', 'tests', 'should'),
        {
          maxLength: 14,
        },
      )
      .map((words) => words.join(' ')),
  },
  { weight: 1, arbitrary: fc.string({ unit: 'grapheme', maxLength: 150, size: 'max' }) },
);
const anyWords = fc.array(fc.constantFrom('auth', 'db', 'ui', 'a:b', ''), { maxLength: 3 });

const numbered = <Fields>(rows: fc.Arbitrary<Fields>, minLength: number): fc.Arbitrary<(Fields & { id: string })[]> =>
  fc
    .array(rows, { minLength, maxLength: 25, size: 'max' })
    .map((all) => all.map((fields, index) => ({ ...fields, id: `n${index}` })));

const anyEpisode: fc.Arbitrary<Omit<EpisodeSketch, 'id'>> = fc.record({
  createdAtMs: fc.nat(120),
  goal: anyText,
  taskType: fc.constantFrom('bug_fix', 'refactor'),
  success: fc.boolean(),
  summary: anyText,
  failureReason: fc.option(anyText, { nil: null }),
  learnings: fc.array(anyText, { maxLength: 4 }),
  tags: anyWords,
  files: fc.array(fc.constantFrom('one.ts', 'two.ts', 'three.ts', 'auth'), { maxLength: 2 }),
  importance: fc.constantFrom(0, 0.5, 1),
});
const anyEpisodes = numbered(anyEpisode, 0);
const someEpisodes = numbered(anyEpisode, 1);

const someChapters: fc.Arbitrary<ChapterSketch[]> = numbered(
  fc
    .record({
      summary: anyText,
      learnings: fc.array(anyText, { maxLength: 4 }),
      tags: anyWords,
      topics: anyWords,
      startMs: fc.nat(5),
      length: fc.nat(5),
    })
    .map(({ length, ...fields }) => ({ ...fields, endMs: fields.startMs + length })),
  1,
);
const anySettings = fc.record({ episodesMin: fc.integer({ min: 1, max: 4 }), gapMs: fc.constant(GAP_MS) });
const anyGiven = fc.record({ tags: anyWords, topics: anyWords });
const anyLines: fc.Arbitrary<CitedLine[]> = fc.array(
  fc.record({ text: anyText, sourceIds: fc.array(fc.constantFrom('a', 'b', 'c', 'd'), { maxLength: 3 }) }),
  { maxLength: 30, size: 'max' },
);

const anyShuffle = fc.infiniteStream(fc.nat());

const shuffled = <Item>(items: readonly Item[], order: Iterator<number>): Item[] =>
  items
    .map((item) => ({ item, at: order.next().value as number }))
    .sort((a, b) => a.at - b.at)
    .map(({ item }) => item);

const found = <Sketch extends { readonly id: string }>(sketches: readonly Sketch[], id: string | undefined): Sketch => {
  const sketch = sketches.find((one) => one.id === id);
  if (!sketch) throw new Error(`${id} is none of the sources`);
  return sketch;
};

/** Every source is known, cited once, and one of them says the line. */
function expectCited<Sketch extends { readonly id: string }>(
  lines: readonly CitedLine[],
  sketches: readonly Sketch[],
  isSaidBy: (text: string, sketch: Sketch) => boolean,
): void {
  for (const { text, sourceIds } of lines) {
    expect(sourceIds.length).toBeGreaterThan(0);
    expect(new Set(sourceIds).size).toBe(sourceIds.length);
    const sources = sourceIds.map((id) => found(sketches, id));
    expect(sources.some((source) => isSaidBy(text, source))).toBe(true);
  }
}

/** Throws on the first attempt to change anything. */
function frozen<Value>(value: Value): Value {
  if (typeof value !== 'object' || value === null) return value;
  for (const part of Object.values(value)) frozen(part);
  return Object.freeze(value);
}

// Resemblance

test('resemblance is a share, is mutual, and is whole for a text and itself', () => {
  fc.assert(
    fc.property(anyText, anyText, (a, b) => {
      expect(resemblance(a, b)).toBeGreaterThanOrEqual(0);
      expect(resemblance(a, b)).toBeLessThanOrEqual(1);
      expect(resemblance(a, b)).toBe(resemblance(b, a));
      expect(resemblance(a, a)).toBe(1);
      expect(saysTheSame(a, b)).toBe(saysTheSame(b, a));
      expect(saysTheSame(a, a)).toBe(true);
    }),
    RUN,
  );
});

test('lines that are merged say the same as the one that stays, those that stay differ, and no source is lost', () => {
  fc.assert(
    fc.property(anyLines, (lines) => {
      const merged = mergeSame(frozen(lines));
      for (const [index, one] of merged.entries())
        for (const other of merged.slice(index + 1)) expect(saysTheSame(one.text, other.text)).toBe(false);
      for (const { text, sourceIds } of lines) {
        const kept = merged.find(
          (one) => saysTheSame(one.text, text) && sourceIds.every((id) => one.sourceIds.includes(id)),
        );
        expect(kept).toBeDefined();
      }
      expect(new Set(merged.flatMap(({ sourceIds }) => sourceIds))).toEqual(
        new Set(lines.flatMap(({ sourceIds }) => sourceIds)),
      );
    }),
    RUN,
  );
});

test('merging what was merged changes nothing more', () => {
  fc.assert(
    fc.property(anyLines, (lines) => {
      const unique = lines.map((line) => ({ ...line, sourceIds: [...new Set(line.sourceIds)] }));
      expect(mergeSame(mergeSame(unique))).toEqual(mergeSame(unique));
    }),
    RUN,
  );
});

// Groups

/** Whether sharing a file or a tag leads from the first to all others. */
function areJoined(members: readonly EpisodeSketch[]): boolean {
  const shares = (a: EpisodeSketch, b: EpisodeSketch): boolean =>
    a.files.some((file) => b.files.includes(file)) || a.tags.some((tag) => b.tags.includes(tag));
  const reached = new Set(members.slice(0, 1));
  for (const one of reached) for (const other of members) if (shares(one, other)) reached.add(other);
  return reached.size === members.length;
}

/** Whether no pause among all episodes from the first member to the last is too long. */
function isOneStretch(members: readonly EpisodeSketch[], episodes: readonly EpisodeSketch[]): boolean {
  const times = members.map(({ createdAtMs }) => createdAtMs);
  const [first, last] = [Math.min(...times), Math.max(...times)];
  const between = episodes.map(({ createdAtMs }) => createdAtMs).filter((at) => at >= first && at <= last);
  return between.sort((a, b) => a - b).every((at, index) => at - (between[index - 1] ?? at) <= GAP_MS);
}

const membersOf = (group: Group, episodes: readonly EpisodeSketch[]): EpisodeSketch[] =>
  group.episodeIds.map((id) => found(episodes, id));

test('a group is large enough, its members are in order of time, and they share what it is about', () => {
  fc.assert(
    fc.property(anyEpisodes, anySettings, (episodes, settings) => {
      for (const group of groupEpisodes(frozen(episodes), settings)) {
        const members = membersOf(group, episodes);
        expect(new Set(members).size).toBeGreaterThanOrEqual(settings.episodesMin);
        expect(members.map(({ createdAtMs }) => createdAtMs)).toEqual(
          members.map(({ createdAtMs }) => createdAtMs).sort((a, b) => a - b),
        );
        if (group.basis === 'tag') expect(members.every(({ tags }) => tags.includes(group.tag as string))).toBe(true);
        if (group.basis === 'task_type') {
          expect(
            members.every(({ tags, taskType }) => tags.length === 0 && group.key === `task_type:${taskType}`),
          ).toBe(true);
        }
        if (group.basis === 'work') expect(areJoined(members) && isOneStretch(members, episodes)).toBe(true);
      }
    }),
    RUN,
  );
});

test('two episodes of a stretch that share a file or a tag are never in different works', () => {
  fc.assert(
    fc.property(anyEpisodes, (episodes) => {
      const groups = groupEpisodes(episodes, { episodesMin: 1, gapMs: GAP_MS });
      const works = groups.filter(({ basis }) => basis === 'work').map((group) => membersOf(group, episodes));
      for (const [index, one] of works.entries())
        for (const other of works.slice(index + 1))
          for (const a of one)
            for (const b of other) expect(areJoined([a, b]) && isOneStretch([a, b], episodes)).toBe(false);
    }),
    RUN,
  );
});

test('no key is given twice and no work repeats another group', () => {
  fc.assert(
    fc.property(anyEpisodes, anySettings, (episodes, settings) => {
      const groups = groupEpisodes(episodes, settings);
      expect(new Set(groups.map(({ key }) => key)).size).toBe(groups.length);
      const said = groups.filter(({ basis }) => basis !== 'work').map(({ episodeIds }) => JSON.stringify(episodeIds));
      for (const { basis, episodeIds } of groups) {
        if (basis === 'work') expect(said).not.toContain(JSON.stringify(episodeIds));
      }
    }),
    RUN,
  );
});

test('groups do not depend on the order of the episodes', () => {
  fc.assert(
    fc.property(anyEpisodes, anySettings, anyShuffle, (episodes, settings, order) => {
      expect(groupEpisodes(shuffled(episodes, order), settings)).toEqual(groupEpisodes(episodes, settings));
    }),
    RUN,
  );
});

const chaptersOf = (groups: readonly Group[]) =>
  groups.map(({ key, episodeIds }, index) => ({ id: `chapter${index}`, key, episodeIds }));

test('grouping again finds the chapter of every group', () => {
  fc.assert(
    fc.property(anyEpisodes, anySettings, anyShuffle, (episodes, settings, order) => {
      const groups = groupEpisodes(episodes, settings);
      const chapters = frozen(chaptersOf(groups));
      const again = groupEpisodes(shuffled(episodes, order), settings);
      expect(matchChapters(frozen(again), shuffled(chapters, order))).toEqual(
        new Map(chapters.map(({ id, key }) => [key, id])),
      );
    }),
    RUN,
  );
});

test('after episodes went, no chapter is two groups, and a work whose chapter kept half of itself keeps a chapter', () => {
  fc.assert(
    fc.property(anyEpisodes, anySettings, fc.nat(24), (episodes, settings, gone) => {
      const chapters = chaptersOf(groupEpisodes(episodes, settings));
      const left = episodes.filter((_episode, index) => index !== gone);
      const groups = groupEpisodes(left, settings);
      const matched = matchChapters(groups, chapters);
      expect(new Set(matched.values()).size).toBe(matched.size);
      const taken = new Set(matched.values());
      for (const { key, episodeIds } of groups.filter(({ basis, key }) => basis === 'work' && !matched.has(key))) {
        const missed = chapters.filter(
          (chapter) =>
            chapter.key.startsWith('work:') &&
            !taken.has(chapter.id) &&
            chapter.episodeIds.filter((id) => episodeIds.includes(id)).length * 2 >= chapter.episodeIds.length,
        );
        expect({ key, missed }).toEqual({ key, missed: [] });
      }
    }),
    RUN,
  );
});

// Chapters

/** The label is the synthesis's own; all else is the episode's. */
function isSaidByEpisode(text: string, { goal, success, summary, failureReason }: EpisodeSketch): boolean {
  const outcome = `${success ? 'Done' : 'Failed'}: ${summary}`;
  return [`Goal: ${goal}`, outcome, ...(success ? [] : [`${outcome} (${failureReason})`])].includes(text);
}

test('a chapter says nothing that the episodes it cites do not say word for word', () => {
  fc.assert(
    fc.property(someEpisodes, anyGiven, (episodes, given) => {
      const { summary, learnings, tags, topics } = synthesizeChapter(frozen(episodes), frozen(given));
      expectCited(summary, episodes, isSaidByEpisode);
      expectCited(learnings, episodes, (text, source) => source.learnings.includes(text));
      const known = [...given.tags, ...given.topics, ...episodes.flatMap((episode) => episode.tags)];
      for (const word of [...tags, ...topics]) expect(known).toContain(word);
    }),
    RUN,
  );
});

test('a chapter leaves out nothing that was learned and no tag', () => {
  fc.assert(
    fc.property(someEpisodes, anyGiven, (episodes, given) => {
      const { learnings, tags } = synthesizeChapter(episodes, given);
      for (const episode of episodes) {
        expect(tags).toEqual(expect.arrayContaining([...episode.tags]));
        for (const learning of episode.learnings.filter((text) => text.trim() !== '')) {
          const told = learnings.find((one) => saysTheSame(one.text, learning) && one.sourceIds.includes(episode.id));
          expect(told).toBeDefined();
        }
      }
    }),
    RUN,
  );
});

test('the text of a chapter holds every line of its summary word for word', () => {
  fc.assert(
    fc.property(someEpisodes, (episodes) => {
      const { summary } = synthesizeChapter(episodes, { tags: [], topics: [] });
      const text = chapterSummary(frozen(summary));
      for (const line of summary) expect(text).toContain(line.text.replace(/^(Goal|Done|Failed): /, ''));
    }),
    RUN,
  );
});

test('a chapter does not depend on the order of the episodes', () => {
  fc.assert(
    fc.property(someEpisodes, anyGiven, anyShuffle, (episodes, given, order) => {
      expect(synthesizeChapter(shuffled(episodes, order), given)).toEqual(synthesizeChapter(episodes, given));
    }),
    RUN,
  );
});

// Wisdom

test('a wisdom says nothing that the chapters it cites do not say word for word', () => {
  fc.assert(
    fc.property(someChapters, (chapters) => {
      const { summary, insights, patterns, bestPractices, tags } = synthesizeWisdom(frozen(chapters));
      expect(summary.length).toBeLessThanOrEqual(3);
      expectCited(summary, chapters, (text, source) => source.summary === text);
      expectCited(insights, chapters, (text, source) => source.learnings.includes(text));
      for (const practice of bestPractices) expect(insights).toContain(practice);
      for (const { text, count, sourceIds } of patterns) {
        const holders = chapters.filter((chapter) => [...chapter.tags, ...chapter.topics].includes(text));
        expect(count).toBe(holders.length);
        expect(count).toBeGreaterThan(1);
        expect(sourceIds.toSorted()).toEqual(holders.map(({ id }) => id).sort());
      }
      expect(tags).toEqual(patterns.map(({ text }) => text));
      for (const { text } of summary) expect(wisdomSummary(chapters.length, summary)).toContain(text);
    }),
    RUN,
  );
});

test('a wisdom does not depend on the order of the chapters', () => {
  fc.assert(
    fc.property(someChapters, anyShuffle, (chapters, order) => {
      expect(synthesizeWisdom(shuffled(chapters, order))).toEqual(synthesizeWisdom(chapters));
    }),
    RUN,
  );
});
