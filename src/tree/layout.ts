import { monthOf } from '../domain/chunks.js';
import { isIdOf } from '../domain/forms.js';

/** Where in a tree of chunks each file lies. Paths are made of ids that were checked, so that none can lead out of the tree. */

/** One file of a tree, as it is carried in an archive or written into a directory. */
export interface TreeFile {
  /** With slashes, from the top of the tree. */
  readonly path: string;
  readonly content: string | Buffer;
  readonly modifiedAtMs: number;
}

/** What a path in a tree is about. */
export type TreePlace =
  | { readonly holds: 'chunk'; readonly id: string; readonly isArchived: boolean }
  | { readonly holds: 'links' }
  /** Made anew from the chunks by whoever needs it. */
  | { readonly holds: 'index' };

export const LINKS_FILE = 'index/link_graph.json';
export const INDEX_FILES = { metadata: 'index/metadata_index.json', tags: 'index/tag_index.json' } as const;

export const pathOf = (id: string, isArchived: boolean): string =>
  isArchived ? `archive/${id}.json` : `chunks/${monthOf(id)}/${id}.json`;

const CHUNK_FILE = /(?:^|\/)(?:chunks\/(\d{4}-\d{2})|archive)\/([^/]+)\.json$/;

/** A tree may lie in folders of its own; null for what belongs to none. */
export function placeOf(path: string): TreePlace | null {
  const [, month, id] = CHUNK_FILE.exec(path) ?? [];
  if (id !== undefined && isIdOf('chunk', id) && (month === undefined || month === monthOf(id))) {
    return { holds: 'chunk', id, isArchived: month === undefined };
  }
  if (path === LINKS_FILE || path.endsWith(`/${LINKS_FILE}`)) return { holds: 'links' };
  return Object.values(INDEX_FILES).some((file) => path === file || path.endsWith(`/${file}`))
    ? { holds: 'index' }
    : null;
}
