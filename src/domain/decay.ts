import { type EvolvingNode, mayEvolve } from './evolution.js';

export const DAY_MS = 86_400_000;

export interface DecaySettings {
  readonly nowMs: number;
  /** What a day without access leaves of the confidence: more than 0, at most 1. */
  readonly factor?: number;
  readonly minConfidence?: number;
}

export interface Decay {
  readonly confidence: number;
  /** The confidence fell below the least that is worth keeping in sight. */
  readonly archives: boolean;
  /** To be noted as the node's last decay. */
  readonly decayedAtMs: number;
}

/**
 * What time took off a longterm node that nobody asked for, or null where nothing changes. Each day counts once: days
 * are counted from the last decay, so a second run on the same day finds none, and the moment noted lies whole days
 * after the one before it rather than at `nowMs`, so that no run swallows the hours of a day that is not over yet.
 */
export function decayOf(
  node: Pick<EvolvingNode, 'form' | 'tier' | 'confidence' | 'accessCount' | 'lastAccessedAtMs' | 'decayedAtMs'>,
  { nowMs, factor = 0.95, minConfidence = 0.3 }: DecaySettings,
): Decay | null {
  if (node.tier !== 'longterm' || !mayEvolve(node.form)) return null;
  const sinceMs = Math.max(node.lastAccessedAtMs, node.decayedAtMs ?? node.lastAccessedAtMs);
  const days = Math.floor((nowMs - sinceMs) / DAY_MS);
  if (days <= 0) return null;
  const aged = node.confidence * factor ** (days / amplifierOf(node.accessCount));
  const confidence = Math.min(node.confidence, aged);
  const archives = confidence < minConfidence;
  if (confidence === node.confidence && !archives) return null;
  return { confidence, archives, decayedAtMs: sinceMs + days * DAY_MS };
}

/** By how much use slows time down: never below 1, and more slowly than the accesses grow. */
function amplifierOf(accessCount: number): number {
  const accesses = Math.max(1, accessCount);
  return accesses / (1 + Math.log(accesses));
}
