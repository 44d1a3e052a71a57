import { setImmediate } from 'node:timers/promises';
import type { FileUse } from '../../domain/episodes.js';
import { globBeginning, globMatcher, isGlob, normalizePath, pathEnds, reversedPath } from '../../domain/paths.js';
import type { Connection } from './connection.js';

/** Which files nodes have to do with. */

export function setFiles(connection: Connection, nodeSeq: number | bigint, files: readonly FileUse[]): void {
  const before = filesOfNode(connection, nodeSeq);
  connection.run('DELETE FROM node_files WHERE node_seq = ?', nodeSeq);
  for (const { path, operation } of files) {
    connection.run(
      'INSERT INTO node_files (node_seq, file_seq, operation) VALUES (?, ?, ?)',
      nodeSeq,
      fileSeq(connection, path),
      operation,
    );
  }
  dropUnused(connection, before);
}

export const filesOfNode = (connection: Connection, nodeSeq: number | bigint): number[] =>
  connection.rows<[number]>('SELECT file_seq FROM node_files WHERE node_seq = ?', nodeSeq).map(([seq]) => seq);

const DROP_UNUSED =
  'DELETE FROM files WHERE seq = ? AND NOT EXISTS (SELECT 1 FROM node_files WHERE file_seq = files.seq)';

/** Forgets the paths that nobody has to do with any more: a name may be what was to be forgotten. */
export function dropUnused(connection: Connection, fileSeqs: readonly number[]): void {
  for (const seq of fileSeqs) connection.run(DROP_UNUSED, seq);
}

function fileSeq(connection: Connection, path: string): number | bigint {
  const known = connection.get<{ seq: number }>('SELECT seq FROM files WHERE path = ?', path);
  if (known) return known.seq;
  return connection.run('INSERT INTO files (path, reversed) VALUES (?, ?)', path, reversedPath(path)).lastInsertRowid;
}

export const FILES_NAMED = 'SELECT seq FROM files WHERE path IN (SELECT value FROM json_each(?))';

/** `0` is the character after the slash: all that lies between them are files in directories that end so. */
export const FILES_THAT_END = `
  SELECT seq FROM files WHERE reversed = @end UNION
  SELECT seq FROM files WHERE reversed > @end || '/' AND reversed < @end || '0'`;

export const FILES_THAT_BEGIN = `
  SELECT seq, path FROM files WHERE path >= @from AND path < @end AND path > @after ORDER BY path LIMIT @limit`;

const SLICE_FILES = 2_000;
/** So many characters are held against a glob before others get their turn, each counted once for every wildcard that there may be. */
const TURN_CHARACTERS = 50_000;
const LAST_CHARACTER = '\u{10FFFF}';

/** Lends the connection for one synchronous callback: whoever walks over many files lets others in between. */
type Lend = <Result>(callback: (connection: Connection) => Result, otherwise: Result) => Result;

/** The files that somebody means: by their whole path or its end, or by a glob. */
export async function findFileSeqs(lend: Lend, given: string): Promise<number[]> {
  const path = normalizePath(given);
  if (path === '') return [];
  if (isGlob(path)) return seqsThatFit(lend, path);
  return lend((connection) => {
    const named = connection.rows<[number]>(FILES_NAMED, JSON.stringify(pathEnds(path)));
    const ending = connection.rows<[number]>(FILES_THAT_END, { end: reversedPath(path) });
    return [...new Set([...named, ...ending].map(([seq]) => seq))];
  }, []);
}

async function seqsThatFit(lend: Lend, glob: string): Promise<number[]> {
  const from = globBeginning(glob);
  const fits = globMatcher(glob);
  const seqs: number[] = [];
  let after = '';
  let characters = 0;
  for (;;) {
    const parameters = { from, end: from + LAST_CHARACTER, after, limit: SLICE_FILES };
    const slice = lend((connection) => connection.rows<[number, string]>(FILES_THAT_BEGIN, parameters), []);
    for (const [seq, file] of slice) {
      if (fits(file)) seqs.push(seq);
      characters += file.length;
      if (characters < TURN_CHARACTERS) continue;
      characters = 0;
      await setImmediate();
    }
    const last = slice.at(-1);
    if (!last || slice.length < SLICE_FILES) return seqs;
    after = last[1];
  }
}
