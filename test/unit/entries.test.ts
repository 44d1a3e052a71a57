import { describe, expect, test } from 'vitest';
import {
  checkEntry,
  checkTask,
  type IdleEntry,
  idlestFirst,
  LIMIT_KINDS,
  makeRoom,
  type TaskDraft,
  type TaskStatus,
  toTask,
} from '../../src/domain/entries.js';

const fieldsOf = (violations: readonly { field: string }[]): string[] => violations.map(({ field }) => field);

describe('what is said of an entry', () => {
  test.each([
    [{}, []],
    [{ content: 'x', category: null, tags: [] }, []],
    [{ content: '🙂'.repeat(5_000), category: '🙂'.repeat(50), tags: ['🙂'.repeat(30)] }, []],
    [{ content: '' }, ['content']],
    [{ content: '\u3000\n' }, ['content']],
    [{ content: 'x'.repeat(5_001) }, ['content']],
    [{ category: '' }, ['category']],
    [{ category: 'x'.repeat(51) }, ['category']],
    [{ tags: ['a', ' ', 'x'.repeat(31)] }, ['tags.1', 'tags.2']],
    [{ tags: Array.from({ length: 11 }, (_, index) => `${index}`) }, ['tags']],
    [{ content: ' ', category: ' ', tags: [''] }, ['content', 'category', 'tags.0']],
  ])('is held to the rules: %#', (fields, wrong) => {
    expect(fieldsOf(checkEntry(fields))).toEqual(wrong);
  });
});

describe('what is said of a task', () => {
  test.each<[TaskDraft, string[]]>([
    [{ status: 'in-progress' }, []],
    [{ status: 'completed', completedAtMs: 0, outcome: '' }, []],
    [{ status: 'blocked', blockers: [] }, []],
    [{ status: 'in-progress', completedAtMs: null, blockers: null, outcome: null }, []],
    [{ status: 'in-progress', completedAtMs: 0, blockers: [], outcome: '' }, ['completed_at', 'outcome', 'blockers']],
    [{ status: 'blocked', completedAtMs: 5, blockers: [] }, ['completed_at']],
    [{ status: 'completed', blockers: ['b'] }, ['blockers']],
    [{ status: 'completed', completedAtMs: Number.NaN }, ['completed_at']],
    [{ status: 'blocked', blockers: ['b', '\t'] }, ['blockers.1']],
  ])('is held to the rules: %j', (draft, wrong) => {
    expect(fieldsOf(checkTask('task', draft))).toEqual(wrong.map((field) => `task_metadata.${field}`));
  });

  test.each(['core', 'learning'] as const)('is said of no %s', (type) => {
    expect(fieldsOf(checkTask(type, { status: 'blocked' }))).toEqual(['task_metadata']);
    expect([...checkTask(type, null), ...checkTask(type, undefined)]).toEqual([]);
  });

  test.each<[TaskDraft, object]>([
    [{ status: 'completed' }, { completedAtMs: 1_000, blockers: null, outcome: null }],
    [
      { status: 'completed', completedAtMs: 0, outcome: 'o' },
      { completedAtMs: 0, blockers: null, outcome: 'o' },
    ],
    [{ status: 'blocked' }, { completedAtMs: null, blockers: [], outcome: null }],
    [
      { status: 'blocked', blockers: ['b'] },
      { completedAtMs: null, blockers: ['b'], outcome: null },
    ],
    [
      { status: 'in-progress', completedAtMs: 5 },
      { completedAtMs: null, blockers: null, outcome: null },
    ],
  ])('becomes its state: %j', (draft, state) => {
    expect(toTask(draft, 1_000)).toEqual({ status: draft.status, ...state });
  });
});

const idle = (id: string, accessedAtMs: number, fields: Partial<IdleEntry> = {}): IdleEntry => ({
  id,
  bytes: 10,
  status: null,
  completedAtMs: null,
  accessedAtMs,
  accessCount: 0,
  ...fields,
});
const done = (id: string, completedAtMs: number, accessedAtMs = 0): IdleEntry =>
  idle(id, accessedAtMs, { status: 'completed', completedAtMs });
const ids = (entries: readonly IdleEntry[]): string => entries.map(({ id }) => id).join('');

describe('room is made', () => {
  test('by the completed, longest ago first, then by whom nobody looked at for the longest', () => {
    const status = (word: TaskStatus) => ({ status: word });
    const entries = [
      idle('f', 20),
      idle('e', 10, { ...status('blocked'), accessCount: 3 }),
      idle('d', 10, { ...status('in-progress'), accessCount: 2 }),
      idle('c', 10, { accessCount: 1 }),
      done('b', 2, 0),
      done('a', 1, 99),
    ];
    expect(ids(entries.toSorted(idlestFirst))).toBe('abcdef');
    expect(ids(entries.toReversed().sort(idlestFirst))).toBe('abcdef');
  });

  test('of two that are the same in all by the one with the lesser id', () => {
    expect(ids([idle('b', 1), idle('a', 1)].sort(idlestFirst))).toBe('ab');
  });

  test.each([
    [3, 30, ''],
    [2, 30, 'a'],
    [3, 29, 'a'],
    [3, 20, 'a'],
    [3, 19, 'ab'],
    [1, 20, 'ab'],
    [0, 30, 'abc'],
    [3, -5, 'abc'],
  ])('for %d entries and %d bytes by no more than have to go', (entries, bytes, going) => {
    const three = [idle('c', 3), idle('a', 1), idle('b', 2)];
    expect(ids(makeRoom(three, { entries, bytes }))).toBe(going);
  });

  test('by nobody where there is nobody', () => {
    expect(makeRoom([], { entries: 0, bytes: -1 })).toEqual([]);
  });

  test('in core by hand only', () => {
    expect(LIMIT_KINDS).toEqual({ core: 'hard', learning: 'soft', task: 'soft' });
  });
});
