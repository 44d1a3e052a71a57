import { describe, expect, test } from 'vitest';
import { archiveFrom, restoreTo } from '../../src/domain/tiers.js';
import { TIERS } from '../../src/domain/vocabulary.js';

const LIVE_TIERS = TIERS.filter((tier) => tier !== 'archive');

describe.each(LIVE_TIERS)('a node of tier %s', (tier) => {
  test('is archived from where it is', () => {
    expect(archiveFrom(tier)).toEqual({ from: tier, to: 'archive' });
  });

  test('is not restored, because it is not in the archive', () => {
    expect(restoreTo(tier, tier)).toBeNull();
  });

  test('comes back to where it was archived from', () => {
    expect(restoreTo('archive', tier)).toEqual({ from: 'archive', to: tier });
  });
});

test('what is archived is not archived again', () => {
  expect(archiveFrom('archive')).toBeNull();
});
