import { DAY_MS } from './decay.js';

const HOUR_MS = 3_600_000;
const WEEK_DAYS = 7;

const counted = (count: number, unit: string): string => `${count} ${unit}${count === 1 ? '' : 's'} ago`;

/** How long ago something was, as a person would say it. */
export function ageOf(atMs: number, nowMs: number): string {
  const pastMs = nowMs - atMs;
  if (pastMs <= HOUR_MS) return 'just now';
  if (pastMs < DAY_MS) return counted(Math.floor(pastMs / HOUR_MS), 'hour');
  const days = Math.floor(pastMs / DAY_MS);
  if (days === 1) return 'yesterday';
  return days < WEEK_DAYS ? counted(days, 'day') : counted(Math.floor(days / WEEK_DAYS), 'week');
}
