import { describe, expect, test } from 'vitest';
import { type Group, groupEpisodes, matchChapters, titleOf } from '../../src/domain/grouping.js';
import type { EpisodeSketch } from '../../src/domain/sketches.js';

const HOUR_MS = 3_600_000;
const SETTINGS = { episodesMin: 2, gapMs: HOUR_MS };

const episode = (id: string, fields: Partial<EpisodeSketch> = {}): EpisodeSketch => ({
  id,
  createdAtMs: 0,
  goal: `goal ${id}`,
  taskType: 'bug_fix',
  success: true,
  summary: `summary ${id}`,
  failureReason: null,
  learnings: [],
  tags: [],
  files: [],
  importance: 0.5,
  ...fields,
});

const work = (...episodeIds: string[]) => ({
  key: `work:${episodeIds[0]}`,
  basis: 'work',
  tag: null,
  episodeIds,
});

describe('by tag', () => {
  test('each tag that enough episodes carry is a group, oldest first, and an episode may be in several', () => {
    const groups = groupEpisodes(
      [
        episode('c', { createdAtMs: 3 * HOUR_MS, tags: ['auth', 'login', 'auth'] }),
        episode('a', { createdAtMs: 0, tags: ['auth', 'rare'] }),
        episode('b', { createdAtMs: 9 * HOUR_MS, tags: ['login'] }),
      ],
      SETTINGS,
    );
    expect(groups).toEqual([
      { key: 'tag:auth', basis: 'tag', tag: 'auth', episodeIds: ['a', 'c'] },
      { key: 'tag:login', basis: 'tag', tag: 'login', episodeIds: ['c', 'b'] },
    ]);
  });

  test('a tag given twice on one episode is one carrier', () => {
    expect(groupEpisodes([episode('a', { tags: ['x', 'x'] })], SETTINGS)).toEqual([]);
  });
});

describe('by task type', () => {
  test('only those without a tag count', () => {
    const groups = groupEpisodes(
      [
        episode('a', { taskType: 'refactor' }),
        episode('b', { taskType: 'refactor' }),
        episode('c', { taskType: 'refactor', tags: ['x'] }),
        episode('d', { taskType: 'bug_fix' }),
      ],
      SETTINGS,
    );
    expect(groups).toEqual([{ key: 'task_type:refactor', basis: 'task_type', tag: null, episodeIds: ['a', 'b'] }]);
  });
});

describe('by work', () => {
  /** The task types differ, so that nothing but work joins them. */
  const touching = (id: string, hours: number, files: string[], fields: Partial<EpisodeSketch> = {}) =>
    episode(id, { createdAtMs: hours * HOUR_MS, taskType: id, files, ...fields });

  test('episodes are joined over others by shared files and tags', () => {
    const groups = groupEpisodes(
      [
        touching('a', 0, ['one.ts']),
        touching('b', 0.5, ['one.ts'], { tags: ['t'] }),
        touching('c', 1, [], { tags: ['t', 'u'] }),
        touching('d', 1.5, ['other.ts']),
        touching('e', 2, ['two.ts'], { tags: ['u'] }),
      ],
      { ...SETTINGS, episodesMin: 3 },
    );
    expect(groups).toEqual([work('a', 'b', 'c', 'e')]);
  });

  test('one that holds what two held apart joins them', () => {
    const groups = groupEpisodes(
      [touching('a', 0, ['one.ts']), touching('b', 0.1, ['two.ts']), touching('c', 0.2, ['two.ts', 'one.ts'])],
      SETTINGS,
    );
    expect(groups).toEqual([work('a', 'b', 'c')]);
  });

  test('a file and a tag of the same name are not the same', () => {
    expect(groupEpisodes([touching('a', 0, ['x']), touching('b', 0, [], { tags: ['x'] })], SETTINGS)).toEqual([]);
  });

  test.each([
    ['exactly as long as allowed keeps them together', 1, [work('a', 'b')]],
    ['longer than allowed parts them', 1.001, []],
  ])('a pause %s', (_name, hours, expected) => {
    expect(groupEpisodes([touching('a', 0, ['x']), touching('b', hours, ['x'])], SETTINGS)).toEqual(expected);
  });

  test('another episode in between keeps a stretch going', () => {
    const groups = groupEpisodes(
      [touching('a', 0, ['x']), touching('b', 0.9, []), touching('c', 1.8, ['x'])],
      SETTINGS,
    );
    expect(groups).toEqual([work('a', 'c')]);
  });

  test.each([
    ['tag', { tags: ['t'] }],
    ['task type', { taskType: 'refactor', files: ['x'] }],
  ])('one with exactly the members of a %s is left out', (_name, fields) => {
    const groups = groupEpisodes([episode('a', fields), episode('b', fields)], SETTINGS);
    expect(groups.map(({ basis }) => basis)).not.toContain('work');
    expect(groups).toHaveLength(1);
  });
});

describe('a title', () => {
  test('of work is what its most important episode, then its oldest, was for', () => {
    const titled = (importances: readonly number[]): string =>
      titleOf(
        'work:e0',
        importances.map((importance, index) => episode(`e${index}`, { importance })),
      );
    expect(titled([0.1, 0.9, 0.9])).toBe('Work: goal e1');
    expect(titled([0.5, 0.5])).toBe('Work: goal e0');
  });

  test('of work with a long goal is cut between characters', () => {
    const goal = `${'g'.repeat(119)}😀 and more`;
    expect(titleOf('work:a', [episode('a', { goal })])).toBe(`Work: ${'g'.repeat(119)}`);
    expect(titleOf('work:a', [episode('a', { goal: goal.slice(1) })])).toBe(`Work: ${'g'.repeat(118)}😀`);
  });

  test('of a tag or a task type is the word, whatever it holds', () => {
    expect(titleOf('tag:work:x', [episode('a')])).toBe('Topic: work:x');
    expect(titleOf('task_type:refactor', [episode('a')])).toBe('Topic: refactor');
  });
});

test('no episodes, no groups', () => {
  expect(groupEpisodes([], SETTINGS)).toEqual([]);
});

describe('the chapter that a group is already', () => {
  const group = (key: string, ...episodeIds: string[]): Group => ({
    key,
    basis: key.startsWith('work:') ? 'work' : 'tag',
    tag: null,
    episodeIds,
  });
  const chapter = (id: string, key: string, ...episodeIds: string[]) => ({ id, key, episodeIds });

  test.each([
    ['has the same key, whatever its members', [group('tag:a', 'x')], [chapter('c', 'tag:a', 'y')], { 'tag:a': 'c' }],
    [
      'is the first of two with the same key',
      [group('tag:a', 'x')],
      [chapter('d', 'tag:a'), chapter('c', 'tag:a')],
      { 'tag:a': 'c' },
    ],
    ['is none with the same members under another tag', [group('tag:a', 'x')], [chapter('c', 'tag:b', 'x')], {}],
    [
      'shares half of the chapter',
      [group('work:x', 'x', 'y', 'z')],
      [chapter('c', 'work:w', 'w', 'x')],
      { 'work:x': 'c' },
    ],
    ['does not share less than half', [group('work:x', 'x', 'y')], [chapter('c', 'work:v', 'v', 'w', 'x')], {}],
    ['is none of another basis', [group('work:x', 'x', 'y')], [chapter('c', 'tag:a', 'x', 'y')], {}],
    ['is no work for a tag', [group('tag:a', 'x', 'y')], [chapter('c', 'work:x', 'x', 'y')], {}],
    [
      'is the one that shares most',
      [group('work:a', 'a', 'b', 'c', 'd', 'e')],
      [chapter('c', 'work:d', 'd', 'e'), chapter('d', 'work:b', 'b', 'c', 'x')],
      { 'work:a': 'c' },
    ],
    [
      'prefers more shared members to an earlier id',
      [group('work:a', 'a', 'b', 'c', 'd', 'e')],
      [chapter('c', 'work:e', 'e'), chapter('d', 'work:b', 'b', 'c', 'x')],
      { 'work:a': 'd' },
    ],
    [
      'is used once when it falls apart',
      [group('work:a', 'a', 'b'), group('work:c', 'c', 'd')],
      [chapter('k', 'work:o', 'a', 'b', 'c', 'd')],
      { 'work:a': 'k' },
    ],
    [
      'stays with the group of its key although another shares it',
      [group('work:a', 'a'), group('work:b', 'b', 'c')],
      [chapter('k', 'work:a', 'a', 'b', 'c')],
      { 'work:a': 'k' },
    ],
    ['is none without chapters', [group('tag:a', 'x'), group('work:x', 'x')], [], {}],
  ])('%s', (_name, groups, chapters, expected) => {
    expect(Object.fromEntries(matchChapters(groups, chapters))).toEqual(expected);
    expect(Object.fromEntries(matchChapters(groups, chapters.toReversed()))).toEqual(expected);
  });
});
