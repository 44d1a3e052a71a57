import { describe, expect, test } from 'vitest';
import {
  checkLayers,
  episodeContent,
  episodeWords,
  filesOf,
  type Layers,
  patchLayers,
} from '../../src/domain/episodes.js';
import { actionOf, intentOf, JWT_LAYERS, outcomeOf } from '../support/episodes.js';

const JWT = JWT_LAYERS as unknown as Layers;
const layersOf = (fields: object = {}): Layers =>
  ({ intent: intentOf(), perception: null, reasoning: null, actions: null, outcome: outcomeOf(), ...fields }) as Layers;

describe('the text of an episode', () => {
  test('is its goal, what came of it and why, and what was learned', () => {
    expect(episodeContent(JWT).split('\n')).toEqual([
      'Fix JWT token expiry causing logout',
      'JWT refresh now works, no more random logouts',
      'Always check for refresh token expiry too',
      'Request queue pattern prevents race conditions',
    ]);
    const failed = layersOf({ outcome: outcomeOf({ failure_reason: 'No disk', learnings: ['', ' ', 'Free some'] }) });
    expect(episodeContent(failed)).toBe('Warm the cache\nIt is warm\nNo disk\nFree some');
  });

  test('that it is found by holds its context, its reasoning, what was seen, its files and its tags', () => {
    const words = episodeWords(JWT, ['security']);
    for (const part of [
      'Users reporting random logouts',
      'backwards compatible',
      'Add refresh interceptor',
      'Handles concurrent requests',
      'Refresh endpoint exists but unused',
      'retry pattern',
      'refresh TTL is 7d',
      'Added refreshToken() call',
      'monitoring for refresh failures',
      'src/auth/interceptor.ts',
      'security',
    ]) {
      expect(words).toContain(part);
    }
    expect(episodeWords(layersOf(), [])).toBe('Warm the cache\nIt is warm');
  });
});

test('each file counts once, with the strongest of what was done to it', () => {
  const did = (type: string, path: string) => actionOf({ type, details: { file_path: path } });
  const actions = [did('file_read', 'a'), did('file_delete', './a'), did('file_edit', 'a'), did('search', 'b')];
  const relevant = [
    { path: 'b', relevance: '', state_summary: '' },
    { path: ' ', relevance: '', state_summary: '' },
  ];
  expect(filesOf(layersOf({ actions, perception: { relevant_files: relevant } }))).toEqual([
    { path: 'a', operation: 'delete' },
    { path: 'b', operation: 'relevant' },
  ]);
  expect(filesOf(layersOf())).toEqual([]);
});

describe('a patch', () => {
  test('merges objects, replaces lists, takes away what is null, and leaves the old layers as they were', () => {
    const before = structuredClone(JWT);
    const { layers, violations } = patchLayers(JWT, {
      intent: { context: null },
      perception: null,
      outcome: { learnings: [], verified_by: { result: 'All passed' } },
    });
    const { context: _context, ...intent } = JWT.intent;
    expect(violations).toEqual([]);
    expect(layers).toEqual({
      ...JWT,
      intent,
      perception: null,
      outcome: { ...JWT.outcome, learnings: [], verified_by: { ...JWT.outcome.verified_by, result: 'All passed' } },
    });
    expect(JWT).toEqual(before);
  });

  test('names everything that it leaves missing', () => {
    const fieldsOf = (patch: object) => patchLayers(JWT, patch).violations.map(({ field }) => field);
    expect(fieldsOf({ intent: { goal: null, task_type: null }, outcome: { success: null } })).toEqual([
      'intent.goal',
      'intent.task_type',
      'outcome.success',
    ]);
    expect(fieldsOf({ intent: null, outcome: null })).toEqual([
      'intent.goal',
      'intent.task_type',
      'outcome.success',
      'outcome.summary',
    ]);
    expect(fieldsOf({ reasoning: null, outcome: { verified_by: null } })).toEqual([]);
  });
});

test('a goal and a summary of white space say nothing', () => {
  const blank = layersOf({ intent: intentOf({ goal: '\t' }), outcome: outcomeOf({ summary: ' ' }) });
  expect(checkLayers(blank).map(({ field }) => field)).toEqual(['intent.goal', 'outcome.summary']);
  expect(checkLayers(JWT)).toEqual([]);
});
