import { Problem } from '../errors.js';

/** A cursor is the place where a page ended, as text that is safe in a URL. */

export const presentCursor = (place: readonly (string | number)[]): string =>
  Buffer.from(JSON.stringify(place), 'utf8').toString('base64url');

/** The place that a cursor names; `isPlace` knows what a place of this list looks like. */
export function toPlace<Place extends readonly unknown[]>(
  cursor: string | undefined,
  isPlace: (value: readonly unknown[]) => value is Place,
): Place | null {
  if (cursor === undefined) return null;
  const place = parse(cursor);
  if (Array.isArray(place) && isPlace(place)) return place;
  const message = 'is not a next_cursor of this list';
  throw new Problem('invalid_cursor', `cursor ${message}`, [{ field: 'cursor', code: 'invalid_cursor', message }]);
}

function parse(cursor: string): unknown {
  try {
    return JSON.parse(Buffer.from(cursor, 'base64url').toString('utf8'));
  } catch {
    return null;
  }
}
