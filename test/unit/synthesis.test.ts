import { describe, expect, test } from 'vitest';
import type { ChapterSketch, EpisodeSketch } from '../../src/domain/sketches.js';
import { chapterSummary, synthesizeChapter, synthesizeWisdom, wisdomSummary } from '../../src/domain/synthesis.js';

const NOTHING_GIVEN = { tags: [], topics: [] };

const episode = (id: string, fields: Partial<EpisodeSketch> = {}): EpisodeSketch => ({
  id,
  createdAtMs: 0,
  goal: `Goal of ${id}`,
  taskType: 'bug_fix',
  success: true,
  summary: `Summary of ${id}`,
  failureReason: null,
  learnings: [],
  tags: [],
  files: [],
  importance: 0.5,
  ...fields,
});

const chapter = (id: string, fields: Partial<ChapterSketch> = {}): ChapterSketch => ({
  id,
  summary: `Summary of ${id}`,
  learnings: [],
  tags: [],
  topics: [],
  startMs: 0,
  endMs: 0,
  ...fields,
});

const line = (text: string, ...sourceIds: string[]) => ({ text, sourceIds });

describe('a chapter', () => {
  test('tells the goals and outcomes of its episodes in order of time, each with its source', () => {
    const { summary } = synthesizeChapter(
      [
        episode('b', { createdAtMs: 2, success: false, summary: 'It broke', failureReason: 'no disk' }),
        episode('a', { createdAtMs: 1 }),
      ],
      NOTHING_GIVEN,
    );
    expect(summary).toEqual([
      line('Goal: Goal of a', 'a'),
      line('Done: Summary of a', 'a'),
      line('Goal: Goal of b', 'b'),
      line('Failed: It broke (no disk)', 'b'),
    ]);
    expect(chapterSummary(summary)).toBe(
      'Goals: Goal of a; Goal of b. Outcomes: Summary of a; failed: It broke (no disk).',
    );
  });

  test('tells of the three most important, then the newest', () => {
    const { summary } = synthesizeChapter(
      [
        episode('old', { createdAtMs: 1, importance: 0.9 }),
        episode('p', { createdAtMs: 2 }),
        episode('q', { createdAtMs: 3 }),
        episode('r', { createdAtMs: 4 }),
        episode('s', { createdAtMs: 5, importance: 0.1 }),
      ],
      NOTHING_GIVEN,
    );
    expect(summary.map(({ text }) => text).filter((text) => text.startsWith('Goal: '))).toEqual([
      'Goal: Goal of old',
      'Goal: Goal of q',
      'Goal: Goal of r',
    ]);
  });

  test('tells once what two episodes say alike, and names both', () => {
    const { summary } = synthesizeChapter(
      [
        episode('a', { goal: 'Fix the login', summary: 'Fixed it' }),
        episode('b', { createdAtMs: 1, goal: 'fix login', summary: 'Fixed it', success: false }),
      ],
      NOTHING_GIVEN,
    );
    expect(summary).toEqual([
      line('Goal: Fix the login', 'a', 'b'),
      line('Done: Fixed it', 'a'),
      line('Failed: Fixed it', 'b'),
    ]);
  });

  test('keeps an outcome that reads like a goal', () => {
    const told = 'done: the release notes were written, reviewed, translated, printed, bound, packed, shipped and sold';
    const { summary } = synthesizeChapter([episode('a', { goal: told, summary: told.slice(6) })], NOTHING_GIVEN);
    expect(summary).toHaveLength(2);
  });

  test.each([
    [
      'in the summary already',
      { success: false, summary: 'Stopped: no disk', failureReason: 'no disk' },
      'Failed: Stopped: no disk',
    ],
    ['blank', { success: false, summary: 'Stopped', failureReason: ' ' }, 'Failed: Stopped'],
    ['missing', { success: false, summary: 'Stopped', failureReason: null }, 'Failed: Stopped'],
    ['of a success', { success: true, summary: 'Went well', failureReason: 'none' }, 'Done: Went well'],
  ])('adds no reason that is %s', (_name, fields, expected) => {
    const { summary } = synthesizeChapter([episode('a', fields)], NOTHING_GIVEN);
    expect(summary[1]).toEqual(line(expected, 'a'));
  });

  test('has no line for what is blank', () => {
    const { summary, learnings } = synthesizeChapter(
      [episode('a', { goal: ' ', summary: '', learnings: ['', '\n', 'one'] })],
      NOTHING_GIVEN,
    );
    expect(summary).toEqual([]);
    expect(chapterSummary(summary)).toBe('');
    expect(learnings).toEqual([line('one', 'a')]);
  });

  test.each([
    [['Goal: Fix it.', 'Goal: Test it!', 'Goal: ship'], 'Goals: Fix it. Test it! ship.'],
    [['Goal: a', 'Goal: b', 'Done: c'], 'Goals: a; b. Outcomes: c.'],
    [['Done: It said "no."'], 'Outcomes: It said "no."'],
    [['Goal: Goal: nested', 'Failed: Done: nested'], 'Goals: Goal: nested. Outcomes: failed: Done: nested.'],
  ])('reads as one text: %j', (texts, expected) => {
    expect(chapterSummary(texts.map((text) => line(text, 'a')))).toBe(expected);
  });

  test('lists what was learned most often first, then what was learned first', () => {
    const { learnings } = synthesizeChapter(
      [
        episode('c', { createdAtMs: 3, learnings: ['mock the clock', 'read the log'] }),
        episode('a', { createdAtMs: 1, learnings: ['Pin the version', 'Check the port', 'check the port'] }),
        episode('b', { createdAtMs: 2, learnings: ['Mock the clock.'] }),
      ],
      NOTHING_GIVEN,
    );
    expect(learnings).toEqual([
      line('Mock the clock.', 'b', 'c'),
      line('Pin the version', 'a'),
      line('Check the port', 'a'),
      line('read the log', 'c'),
    ]);
  });

  test('has the given tags and topics, then those of its episodes by frequency and name', () => {
    const { tags, topics } = synthesizeChapter(
      [episode('a', { tags: ['z', 'b', 'b', 'given'] }), episode('b', { tags: ['z', 'a', 'c', 'd', 'e'] })],
      { tags: ['given', 'own', 'own'], topics: ['topic'] },
    );
    expect(tags).toEqual(['given', 'own', 'z', 'a', 'b', 'c', 'd', 'e']);
    expect(topics).toEqual(['topic', 'z', 'a', 'b', 'c', 'd']);
  });

  test('spans its episodes', () => {
    const { startMs, endMs } = synthesizeChapter(
      [5, 2, 9].map((createdAtMs) => episode(`e${createdAtMs}`, { createdAtMs })),
      NOTHING_GIVEN,
    );
    expect([startMs, endMs]).toEqual([2, 9]);
  });

  test('is not made of nothing', () => {
    expect(() => synthesizeChapter([], NOTHING_GIVEN)).toThrow('at least one episode');
  });
});

describe('a wisdom', () => {
  test('tells the summaries of the chapters from which most was learned, then the newest, in order of time', () => {
    const { summary } = synthesizeWisdom([
      chapter('late', { startMs: 8, endMs: 9 }),
      chapter('rich', { startMs: 5, endMs: 6, learnings: ['one', 'two'] }),
      chapter('middle', { startMs: 1, endMs: 4 }),
      chapter('short', { startMs: 3, endMs: 3 }),
    ]);
    expect(summary).toEqual([
      line('Summary of middle', 'middle'),
      line('Summary of rich', 'rich'),
      line('Summary of late', 'late'),
    ]);
    expect(wisdomSummary(4, summary)).toBe(
      'Synthesis across 4 chapters: Summary of middle | Summary of rich | Summary of late',
    );
  });

  test('tells a summary that two chapters share once, and gives the place to another', () => {
    const { summary } = synthesizeWisdom([
      chapter('a', { endMs: 4, summary: 'same' }),
      chapter('b', { endMs: 3, summary: 'same' }),
      chapter('c', { endMs: 2 }),
      chapter('d', { endMs: 1 }),
      chapter('e', { endMs: 9, summary: ' ' }),
    ]);
    expect(summary).toEqual([line('Summary of d', 'd'), line('Summary of c', 'c'), line('same', 'a', 'b')]);
  });

  test('says how many chapters it was made of', () => {
    expect(wisdomSummary(1, [line('a', 'x')])).toBe('Synthesis across 1 chapter: a');
  });

  test('finds the tags and topics of at least two chapters, where a chapter counts once', () => {
    const { patterns, tags } = synthesizeWisdom([
      chapter('a', { startMs: 1, tags: ['x', 'alone'], topics: ['x', 'alone', 'y'] }),
      chapter('b', { startMs: 2, tags: ['y'], topics: ['b'] }),
      chapter('c', { startMs: 3, tags: ['y', 'b'], topics: ['x'] }),
    ]);
    expect(patterns).toEqual([
      { text: 'y', count: 3, sourceIds: ['a', 'b', 'c'] },
      { text: 'b', count: 2, sourceIds: ['b', 'c'] },
      { text: 'x', count: 2, sourceIds: ['a', 'c'] },
    ]);
    expect(tags).toEqual(['y', 'b', 'x']);
  });

  test('merges what several chapters learned and puts it first', () => {
    const { insights } = synthesizeWisdom([
      chapter('b', { startMs: 2, learnings: ['Pin the versions', 'Read logs'] }),
      chapter('a', { startMs: 1, learnings: ['Check the port', 'pin versions'] }),
    ]);
    expect(insights).toEqual([line('pin versions', 'a', 'b'), line('Check the port', 'a'), line('Read logs', 'b')]);
  });

  test.each([
    'You should test',
    'AVOID globals',
    'prefer pure functions',
    'It is best to wait.',
    'never sleep',
    'Always close it',
    'It must end',
    'Do not wait',
    'do\n not wait',
    "Don't wait",
    'Don’t wait',
    'You shouldn’t wait',
    'use a queue instead',
    'Make sure it ends',
    'ensure it ends',
  ])('%j is a best practice', (learning) => {
    expect(synthesizeWisdom([chapter('a', { learnings: [learning] })]).bestPractices).toEqual([line(learning, 'a')]);
  });

  test.each([
    'The mustard was preferred',
    'Bestseller lists',
    'unavoidable',
    'It nevertheless ended',
    'do_not_wait',
    'made sure',
  ])('%j is none: only whole words advise', (learning) => {
    expect(synthesizeWisdom([chapter('a', { learnings: [learning] })]).bestPractices).toEqual([]);
  });

  test('spans its chapters', () => {
    const { startMs, endMs } = synthesizeWisdom([
      chapter('a', { startMs: 1, endMs: 9 }),
      chapter('b', { startMs: 2, endMs: 3 }),
    ]);
    expect([startMs, endMs]).toEqual([1, 9]);
  });

  test('is not made of nothing', () => {
    expect(() => synthesizeWisdom([])).toThrow('at least one chapter');
  });
});
