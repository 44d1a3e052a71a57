import { createHash } from 'node:crypto';
import { join, parse } from 'node:path';

/** Where the files of a store lie, all derived from the main file's path. */
export class StoreFiles {
  readonly main: string;
  readonly lock: string;
  readonly #repos: string;

  constructor(main: string) {
    const { dir, name } = parse(main);
    this.main = main;
    this.lock = join(dir, `${name}.lock`);
    this.#repos = join(dir, `${name}.repos`);
  }

  repo(repoId: string): string {
    return join(this.#repos, `${fileNameOf(repoId)}.db`);
  }
}

const READABLE_CHARACTERS_MAX = 40;
const DIGEST_CHARACTERS = 32;

/**
 * A readable beginning for people, a digest for uniqueness: safe on file systems that fold case, limit length or forbid
 * characters, and unable to name anything outside its directory.
 */
export function fileNameOf(repoId: string): string {
  const readable = repoId
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .slice(0, READABLE_CHARACTERS_MAX)
    .replace(/^-|-$/g, '');
  const digest = createHash('sha256').update(repoId, 'utf8').digest('hex').slice(0, DIGEST_CHARACTERS);
  return readable === '' ? digest : `${readable}-${digest}`;
}
