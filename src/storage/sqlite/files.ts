import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { StoreUnavailable } from '../port.js';

/** How the names end that a store, or SQLite for it, gives to what lies beside a main file. */
const BESIDE_ENDINGS = ['.lock', '.repos', '-wal', '-shm', '-journal'];

/**
 * Where the files of a store lie, all named by the whole of the main file's path: `a`, `a.db` and `a.sqlite` in one directory
 * have nothing in common.
 */
export class StoreFiles {
  readonly main: string;
  readonly lock: string;
  readonly #repos: string;

  constructor(main: string) {
    refuseNameOfAnothers(main);
    this.main = main;
    this.lock = `${main}.lock`;
    this.#repos = `${main}.repos`;
  }

  repo(repoId: string): string {
    return join(this.#repos, `${fileNameOf(repoId)}.db`);
  }
}

/** A main file in the place of another store's lock or log would be written over by that store. */
function refuseNameOfAnothers(main: string): void {
  const ending = BESIDE_ENDINGS.find((each) => main.toLowerCase().endsWith(each));
  if (ending === undefined) return;
  throw new StoreUnavailable(
    'unusable',
    `${main} cannot be used as the database: names that end in ${ending} are kept for what lies beside one; ` +
      'set RLM_MEMORY_DB to a file with another ending, such as .db',
  );
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
