import { mkdir, readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { placeOf, type TreeFile } from './layout.js';
import type { Arrival } from './tar.js';

/** A tree as a directory. */

const DIRECTORY_MODE = 0o700;
const FILE_MODE = 0o600;

/** The files of a tree, in the order of their paths. What is no file, a link among them, is not followed. */
export async function* readDirectory(directory: string): AsyncGenerator<TreeFile> {
  for (const top of ['archive', 'chunks', 'index']) {
    for (const path of await filesUnder(directory, top)) {
      const file = join(directory, path);
      yield { path, content: await readFile(file), modifiedAtMs: (await stat(file)).mtimeMs };
    }
  }
}

async function filesUnder(directory: string, folder: string): Promise<string[]> {
  const entries = await readdir(join(directory, folder), { withFileTypes: true }).catch(whenMissing);
  const paths: string[] = [];
  for (const entry of entries.sort((a, b) => (a.name < b.name ? -1 : 1))) {
    const path = `${folder}/${entry.name}`;
    if (entry.isDirectory()) paths.push(...(await filesUnder(directory, path)));
    else if (entry.isFile()) paths.push(path);
  }
  return paths;
}

function whenMissing(error: NodeJS.ErrnoException): [] {
  if (error.code === 'ENOENT') return [];
  throw error;
}

/** Writes the files that have a place in a tree, and says how many. A path that has none is nowhere it could lead. */
export async function writeDirectory(directory: string, arrivals: AsyncIterable<Arrival>): Promise<number> {
  let written = 0;
  for await (const { path, bytes } of arrivals) {
    if (bytes === null || placeOf(path) === null || path.startsWith('/') || path.split('/').includes('..')) continue;
    const file = join(directory, path);
    await mkdir(dirname(file), { recursive: true, mode: DIRECTORY_MODE });
    await writeFile(file, bytes, { mode: FILE_MODE });
    written++;
  }
  return written;
}
