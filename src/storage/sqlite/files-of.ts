import type { FileUse } from '../../domain/episodes.js';
import { fitsGlob, globBeginning, isGlob, normalizePath, pathEnds, reversedPath } from '../../domain/paths.js';
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

export const FILES_THAT_BEGIN = 'SELECT seq, path FROM files WHERE path >= ? AND path < ? LIMIT ?';

/** No project has so many files that an agent could have touched. */
const FILES_LOOKED_AT = 200_000;
const LAST_CHARACTER = '\u{10FFFF}';

/** The files that somebody means: by their whole path or its end, or by a glob. */
export function findFileSeqs(connection: Connection, given: string): number[] {
  const path = normalizePath(given);
  if (path === '') return [];
  if (isGlob(path)) {
    const beginning = globBeginning(path);
    return connection
      .rows<[number, string]>(FILES_THAT_BEGIN, beginning, beginning + LAST_CHARACTER, FILES_LOOKED_AT)
      .filter(([, file]) => fitsGlob(file, path))
      .map(([seq]) => seq);
  }
  const named = connection.rows<[number]>(FILES_NAMED, JSON.stringify(pathEnds(path)));
  const ending = connection.rows<[number]>(FILES_THAT_END, { end: reversedPath(path) });
  return [...new Set([...named, ...ending].map(([seq]) => seq))];
}
