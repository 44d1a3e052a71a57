import { expect, test } from 'vitest';
import { GLOBAL_SPACE, spaceOfRelation, viewOf } from '../../src/domain/spaces.js';

test('a view shows the repo and the global space as they are now, without the archive, of all kinds', () => {
  expect(viewOf('acme/shop')).toEqual({
    spaces: ['acme/shop', GLOBAL_SPACE],
    includeArchived: false,
    asOfMs: null,
    kinds: null,
    sessionId: null,
  });
});

test('a view shows no more than it was asked to', () => {
  const options = { includeArchived: true, asOfMs: 5, kinds: ['fact'], sessionId: 's-1' };
  expect(viewOf('acme/shop', { includeGlobal: false, ...options })).toEqual({ spaces: ['acme/shop'], ...options });
});

test('the beginning of time is a moment like any other', () => {
  expect(viewOf('acme/shop', { asOfMs: 0 }).asOfMs).toBe(0);
});

test.each([
  [['global'], GLOBAL_SPACE],
  [['global', 'global'], GLOBAL_SPACE],
  [['repo', 'global'], 'acme/shop'],
  [['global', 'repo'], 'acme/shop'],
  [['repo', 'repo'], 'acme/shop'],
])('a relation between members of scope %j lives in the space %j', (scopes, space) => {
  expect(spaceOfRelation('acme/shop', scopes)).toBe(space);
});
