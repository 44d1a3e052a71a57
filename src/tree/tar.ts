import { PassThrough, type Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { extract, type Headers, pack } from 'tar-stream';
import type { TreeFile } from './layout.js';

/** A tree as one stream. */

/** A file as it came: `bytes` is null for what is no file, or is longer than anything that belongs into a tree. */
export interface Arrival {
  readonly path: string;
  readonly bytes: Buffer | null;
  readonly reason: string | null;
}

/** A chunk has at most 800 tokens; the graph of all links is the longest file there is. */
const FILE_BYTES_MAX = 32 * 1024 * 1024;
const FILE_MODE = 0o600;

/** Packs files as they are asked for: there is never more than one in memory. */
export function packTree(files: AsyncIterable<TreeFile>): Readable {
  const archive = pack();
  const fill = async (): Promise<void> => {
    for await (const { path, content, modifiedAtMs } of files) {
      await new Promise<void>((resolve, reject) => {
        const header = { name: path, mode: FILE_MODE, mtime: new Date(modifiedAtMs) };
        archive.entry(header, content, (error) => (error ? reject(error) : resolve()));
      });
    }
    archive.finalize();
  };
  fill().catch((error: Error) => archive.destroy(error));
  return archive;
}

/** The files of an archive, one by one. It fails where the archive is none, or ends in the middle. */
export async function* unpackTree(source: NodeJS.ReadableStream): AsyncGenerator<Arrival> {
  const archive = extract();
  const arrivals = new PassThrough({ objectMode: true, highWaterMark: 1 });
  archive.on('entry', (header, content, next) => {
    arrive(header, content).then(
      (arrival) => (arrival ? arrivals.write(arrival, () => next()) : next()),
      (error: Error) => arrivals.destroy(error),
    );
  });
  pipeline(source, archive).then(
    () => arrivals.end(),
    (error: Error) => arrivals.destroy(error),
  );
  for await (const arrival of arrivals) yield arrival as Arrival;
}

/** Null for a folder, which is in a tree only for what lies in it. */
async function arrive({ name: path, type, size = 0 }: Headers, content: Readable): Promise<Arrival | null> {
  const pieces: Buffer[] = [];
  const isKept = type === 'file' && size <= FILE_BYTES_MAX;
  for await (const piece of content) if (isKept) pieces.push(piece as Buffer);
  if (type === 'directory') return null;
  if (isKept) return { path, bytes: Buffer.concat(pieces), reason: null };
  const reason = type === 'file' ? `has ${size} bytes, at most ${FILE_BYTES_MAX} are read` : `is no file but a ${type}`;
  return { path, bytes: null, reason };
}
