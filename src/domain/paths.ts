import type { Violation } from './violations.js';

/** Paths of files as they were written down by many agents on many machines. */

/** Parts of a path that lead nowhere. */
const NOTHING = new Set(['', '.']);

/** Slashes forward, nothing blank, no `.`: one file, one path. */
export const normalizePath = (path: string): string => {
  const parts = path.trim().replaceAll('\\', '/').split('/');
  const kept = parts
    .filter((part) => !NOTHING.has(part.trim()))
    .join('/')
    .trim();
  return parts[0] === '' && kept !== '' ? `/${kept}` : kept;
};

/** The path from its end: what ends alike stands together. */
export const reversedPath = (path: string): string => path.split('/').filter(Boolean).reverse().join('/');

/** No project is deeper. */
const SEGMENTS_MAX = 64;

/** The ends of a path that name a file on their own, the path itself first: somebody else may have called it so. */
export function pathEnds(path: string): string[] {
  const parts = path.split('/').filter(Boolean).slice(-SEGMENTS_MAX);
  const ends = parts.slice(0, -1).map((_, start) => parts.slice(start).join('/'));
  return [...new Set([path, ...ends])];
}

/** Whether both may be the same file: one of the paths is the end of the other. */
export function namesSameFile(a: string, b: string): boolean {
  const [one, other] = [reversedPath(normalizePath(a)), reversedPath(normalizePath(b))];
  return one === other || one.startsWith(`${other}/`) || other.startsWith(`${one}/`);
}

/** A glob has no more wildcards, runs of `*` counted as one, and is no longer: what holds a path against it is done for every path. */
const WILDCARDS_MAX = 16;
const GLOB_CHARACTERS_MAX = 500;

/** What is wrong with a file that somebody names, if they name one. */
export function checkFileName(field: string, file: string | null): Violation[] {
  const path = collapsed(normalizePath(file ?? ''));
  if (!isGlob(path)) return [];
  const refuse = (message: string): Violation[] => [{ field, code: 'semantic_error', message }];
  const wildcards = piecesOf(path).filter(isWildcard).length;
  if (wildcards > WILDCARDS_MAX) {
    return refuse(
      `has ${wildcards} wildcards; a glob may have at most ${WILDCARDS_MAX}, so write out more of the path`,
    );
  }
  if (path.length > GLOB_CHARACTERS_MAX) {
    return refuse(`is a glob of ${path.length} characters; at most ${GLOB_CHARACTERS_MAX} are taken, so shorten it`);
  }
  return [];
}

export const isGlob = (path: string): boolean => /[*?]/.test(path);

/** What every path that fits the glob begins with. */
export const globBeginning = (glob: string): string => glob.slice(0, glob.search(/[*?]/));

/** Three stars and more are two. */
const collapsed = (glob: string): string => glob.replace(/\*{3,}/g, '**');

/** The pieces of a glob: its wildcards, and the text between them. */
const piecesOf = (glob: string): string[] => collapsed(glob).match(/\*\*\/?|[*?]|[^*?]+/gsu) ?? [];

const isWildcard = (piece: string): boolean => piece.startsWith('*') || piece === '?';

/**
 * What tells whether a path fits: `?` is one character and `*` any number of them, neither being a slash; `**` is anything. For
 * each wildcard the path is gone through once, so that no glob takes long.
 */
export function globMatcher(glob: string): (path: string) => boolean {
  const pieces = piecesOf(glob);
  return (path) => {
    // At which places of the path what was looked at of the glob so far may end.
    let ends = [0];
    for (const piece of pieces) {
      ends = endsAfter(piece, path, ends);
      if (ends.length === 0) return false;
    }
    return ends.at(-1) === path.length;
  };
}

/** In rising order, each once. */
function endsAfter(piece: string, path: string, starts: readonly number[]): number[] {
  if (piece.startsWith('*')) return endsOfStars(piece, path, starts[0] as number, new Set(starts));
  if (piece === '?') return starts.flatMap((start) => endOfCharacter(path, start) ?? []);
  return starts.filter((start) => path.startsWith(piece, start)).map((start) => start + piece.length);
}

function endOfCharacter(path: string, start: number): number | null {
  const character = path.codePointAt(start);
  if (character === undefined || path[start] === '/') return null;
  return start + (character > 0xffff ? 2 : 1);
}

function endsOfStars(piece: string, path: string, first: number, starts: ReadonlySet<number>): number[] {
  const ends: number[] = [];
  let isOpen = false;
  for (let end = first; end <= path.length; end++) {
    const character = path[end - 1];
    if (piece === '*' && character === '/') isOpen = false;
    // A `**/` stands for whole directories.
    if (starts.has(end) || (isOpen && (piece !== '**/' || character === '/'))) ends.push(end);
    isOpen ||= starts.has(end);
  }
  return ends;
}
