/** What crosses the border between the sandbox and the service: data, and nothing that has behaviour. */
export type Json = null | boolean | number | string | Json[] | { [key: string]: Json };

/** Deeper data is of no use to anybody, and readers of JSON that recurse would fail on it. */
export const NESTING_MAX = 100;

/** How deep the arrays and objects of a valid JSON text are nested. */
export function nestingOf(text: string): number {
  let depth = 0;
  let deepest = 0;
  let isInString = false;
  for (let index = 0; index < text.length; index++) {
    const character = text[index];
    if (character === '\\') index++;
    else if (character === '"') isInString = !isInString;
    else if (isInString) continue;
    else if (character === '[' || character === '{') deepest = Math.max(deepest, ++depth);
    else if (character === ']' || character === '}') depth--;
  }
  return deepest;
}
