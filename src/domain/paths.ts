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

export const isGlob = (path: string): boolean => /[*?]/.test(path);

/** What every path that fits the glob begins with. */
export const globBeginning = (glob: string): string => glob.slice(0, glob.search(/[*?]/));

/**
 * Whether a path fits: `?` is one character and `*` any number of them, neither being a slash; `**` is anything. For each piece of
 * the glob the path is gone through once, so no glob takes long.
 */
export function fitsGlob(path: string, glob: string): boolean {
  const pieces = glob.match(/\*\*\/?|./gsu) ?? [];
  const characters = [...path];
  // At which places of the path what was looked at of the glob so far may end.
  let ends = characters.map(() => false);
  ends.unshift(true);
  for (const piece of pieces) ends = endsAfter(piece, characters, ends);
  return ends[characters.length] ?? false;
}

function endsAfter(piece: string, characters: readonly string[], starts: readonly boolean[]): boolean[] {
  if (piece !== '*' && !piece.startsWith('**')) {
    const fits = (character: string): boolean => (piece === '?' ? character !== '/' : character === piece);
    return [false, ...characters.map((character, at) => (starts[at] ?? false) && fits(character))];
  }
  // Whether a place before this one can be reached from which everything up to here was swallowed.
  let isOpen = false;
  return starts.map((isStart, at) => {
    const character = characters[at - 1];
    if (piece === '*' && character === '/') isOpen = false;
    // A `**/` stands for whole directories.
    const isEnd = isStart || (isOpen && (piece !== '**/' || character === '/'));
    isOpen ||= isStart;
    return isEnd;
  });
}
