/** Places in a JSON value, and copies of it that differ in one place. */

export const typeOf = (value: unknown): string =>
  value === null ? 'null' : Array.isArray(value) ? 'array' : (typeof value as string);

export type Path = readonly string[];

/** The paths of a value and of everything in it. */
export const pathsIn = (value: unknown, path: Path = []): Path[] => [
  path,
  ...(typeof value === 'object' && value !== null
    ? Object.entries(value).flatMap(([key, item]) => pathsIn(item, [...path, key]))
    : []),
];

export const valueAt = (value: unknown, path: Path): unknown =>
  path.reduce((inner, key) => (inner as Record<string, unknown>)[key], value);

/** A copy with another value at the path. */
export function withValue(value: unknown, path: Path, replacement: unknown): unknown {
  const [key, ...rest] = path;
  if (key === undefined) return replacement;
  const copy = structuredClone(value) as Record<string, unknown>;
  copy[key] = withValue(copy[key], rest, replacement);
  return copy;
}
