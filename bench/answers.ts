import { writeFileSync } from 'node:fs';
import type { Corpus, Known } from './corpus.js';

const READS = 200;
const WRITES = 40;

export interface Answers {
  /** Bytes of the middle answer, and how many memories it holds. */
  readonly readBytes: number;
  readonly readItems: number;
  readonly writeBytes: number;
}

/** Asks the service as the load will, and keeps its answers of middle size for the bare route to give. */
export async function sampleAnswers(
  address: string,
  file: string,
  corpus: Corpus,
  known: ReadonlyMap<string, Known>,
): Promise<Answers> {
  const repos = [...known];
  const repoAt = (index: number) => repos[index % repos.length] as [string, Known];
  const reads: string[] = [];
  for (let index = 0; index < READS; index++) {
    reads.push(await post(`${address}/memory/read`, corpus.read(repoAt(index)[0])));
  }
  const writes: string[] = [];
  for (let index = 0; index < WRITES; index++) {
    writes.push(await post(`${address}/memory/write`, corpus.write(...repoAt(index), index)));
  }
  const read = middle(reads);
  const write = middle(writes);
  writeFileSync(file, `{"read":${read},"write":${write}}`);
  const { counts } = (JSON.parse(read) as { meta: { counts: Record<string, number> } }).meta;
  return {
    readBytes: Buffer.byteLength(read),
    readItems: Object.values(counts).reduce((sum, items) => sum + items, 0),
    writeBytes: Buffer.byteLength(write),
  };
}

async function post(url: string, body: string): Promise<string> {
  const answer = await fetch(url, { method: 'POST', headers: { 'content-type': 'application/json' }, body });
  const text = await answer.text();
  if (!answer.ok) throw new Error(`${url} answered ${answer.status}: ${text}`);
  return text;
}

const middle = (texts: readonly string[]): string =>
  [...texts].sort((a, b) => a.length - b.length)[texts.length >> 1] as string;
