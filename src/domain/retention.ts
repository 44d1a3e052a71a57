import { DAY_MS } from './decay.js';
import type { EntryType, IdleEntry } from './entries.js';

/** What is put away because nobody needed it for long. */

export interface RetentionSettings {
  /** Days without a look after which a learning is put away; null for never. */
  readonly learningIdleDays: number | null;
  /** Days after its completion when a task is put away; null for never. */
  readonly taskDoneDays: number | null;
}

/** The types that are put away by themselves; core entries are put away by hand only. */
export const RETIRED_TYPES = ['learning', 'task'] as const satisfies readonly EntryType[];
export type RetiredType = (typeof RETIRED_TYPES)[number];

/** Why an entry is to be put away now, or null where it stays. */
export function whyRetired(
  type: RetiredType,
  { accessedAtMs, status, completedAtMs }: Pick<IdleEntry, 'accessedAtMs' | 'status' | 'completedAtMs'>,
  { learningIdleDays, taskDoneDays }: RetentionSettings,
  nowMs: number,
): string | null {
  const isOver = (sinceMs: number, days: number): boolean => nowMs - sinceMs > days * DAY_MS;
  if (type === 'learning') {
    const isIdle = learningIdleDays !== null && isOver(accessedAtMs, learningIdleDays);
    return isIdle ? `not looked at for more than ${learningIdleDays} days` : null;
  }
  const isDone = status === 'completed' && completedAtMs !== null;
  const isLongDone = isDone && taskDoneDays !== null && isOver(completedAtMs, taskDoneDays);
  return isLongDone ? `completed more than ${taskDoneDays} days ago` : null;
}
