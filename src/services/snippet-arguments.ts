import { whyUnstorable } from '../domain/rules.js';
import type { Violation } from '../domain/violations.js';
import { TIERS, type Tier } from '../domain/vocabulary.js';
import type { Json } from '../sandbox/json.js';

/** What a snippet gives to its functions. What is wrong with it is thrown in words for its writer. */

const LIMIT_DEFAULT = 10;
const LIMIT_MAX = 100;

export function refuse(violations: readonly Violation[]): void {
  const [first] = violations;
  if (first) throw new Error(`${first.field} ${first.message}`);
}

/** What would change nothing is a mistake of who gave it. */
export function refuseSurplus(name: string, most: number, given: readonly Json[]): void {
  if (given.length > most) throw new Error(`${name} takes at most ${most} arguments, and ${given.length} were given`);
}

export function text(name: string, value: Json | undefined): string {
  if (typeof value !== 'string') throw new Error(`${name} must be a text`);
  const unstorable = whyUnstorable(value);
  if (unstorable !== null) throw new Error(`${name} ${unstorable}`);
  return value;
}

export function flag(name: string, value: Json | undefined): boolean {
  if (typeof value !== 'boolean') throw new Error(`${name} must be true or false`);
  return value;
}

export function count(value: Json | undefined): number {
  if (value === undefined || value === null) return LIMIT_DEFAULT;
  if (typeof value !== 'number' || !Number.isInteger(value) || value < 1 || value > LIMIT_MAX) {
    throw new Error(`limit must be a whole number from 1 to ${LIMIT_MAX}`);
  }
  return value;
}

export function confidenceOf(value: Json | undefined, otherwise: number): number {
  if (value === undefined || value === null) return otherwise;
  if (typeof value !== 'number' || !(value >= 0 && value <= 1)) throw new Error('confidence must be from 0 to 1');
  return value;
}

export function tierOf(value: Json | undefined): Tier | null {
  if (value === undefined || value === null) return null;
  const tier = TIERS.find((word) => word === value);
  if (!tier) throw new Error(`tier must be one of ${TIERS.join(', ')}`);
  return tier;
}
