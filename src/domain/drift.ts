import type { ConfidenceTrigger } from './vocabulary.js';

export interface ConfidenceUpdate {
  readonly oldConfidence: number;
  readonly newConfidence: number;
  readonly trigger: ConfidenceTrigger;
  readonly atMs: number;
}

/** How far a confidence has moved from where it began. */
export interface Drift {
  readonly total: number;
  readonly initial: number | null;
  readonly current: number | null;
  readonly drift: number;
  readonly byTrigger: Readonly<Record<ConfidenceTrigger, number>>;
}

/** The history comes in any order; only updates of the same millisecond must stand as they happened. */
export function driftOf(updates: readonly ConfidenceUpdate[]): Drift {
  const history = [...updates].sort((a, b) => a.atMs - b.atMs);
  const initial = history[0]?.oldConfidence ?? null;
  const current = history.at(-1)?.newConfidence ?? null;
  const byTrigger = { outcome: 0, decay: 0, consolidation: 0, manual: 0 };
  for (const { trigger } of history) byTrigger[trigger]++;
  return {
    total: history.length,
    initial,
    current,
    drift: initial === null || current === null ? 0 : current - initial,
    byTrigger,
  };
}
