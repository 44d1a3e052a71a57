import { clip } from '../errors.js';

/** A longer name is told by its beginning. No field that the contracts know comes near. */
const SEGMENT_CHARACTERS_MAX = 200;

/** The dotted path of a field. Its parts may be keys that the caller made up, so each is kept short. */
export const dottedPath = (segments: readonly string[]): string =>
  segments.map((segment) => clip(segment, SEGMENT_CHARACTERS_MAX)).join('.');
