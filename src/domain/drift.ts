import type { ConfidenceTrigger } from './vocabulary.js';

/** How far a confidence has moved from where it began. */
export interface Drift {
  readonly total: number;
  readonly initial: number | null;
  readonly current: number | null;
  readonly drift: number;
  readonly byTrigger: Readonly<Record<ConfidenceTrigger, number>>;
}

/** From what is known of all changes: where they began, how many of each sort there were, and where the newest led. */
export function driftOf(
  initial: number | null,
  current: number | null,
  counts: Partial<Readonly<Record<ConfidenceTrigger, number>>>,
): Drift {
  const byTrigger = { outcome: 0, decay: 0, consolidation: 0, manual: 0, ...counts };
  return {
    total: Object.values(byTrigger).reduce((sum, count) => sum + count, 0),
    initial,
    current,
    drift: initial === null || current === null ? 0 : current - initial,
    byTrigger,
  };
}
