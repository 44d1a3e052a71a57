import type { Tier } from './vocabulary.js';

/** A move between tiers. Archiving remembers where from, so that a restore can undo it. */
export interface TierMove {
  readonly from: Tier;
  readonly to: Tier;
}

export const archiveFrom = (tier: Tier): TierMove | null => (tier === 'archive' ? null : { from: tier, to: 'archive' });

export const restoreTo = (tier: Tier, archivedFrom: Tier): TierMove | null =>
  tier === 'archive' ? { from: 'archive', to: archivedFrom } : null;
