import { setImmediate } from 'node:timers/promises';
import type { Change } from '../domain/changes.js';
import type { ChunkType } from '../domain/chunk-types.js';
import { type ChunkLinkWord, type ChunkSource, checkChunk, chunkTerms } from '../domain/chunks.js';
import { typeOf } from '../domain/forms.js';
import { newNode } from '../domain/node.js';
import { checkRepoId } from '../domain/rules.js';
import { passGate } from '../domain/violations.js';
import type { StoredChunk } from '../storage/port.js';
import { type ChunkLinks, readChunkLinks } from './chunk-links.js';
import { type LinkStrengths, redrawLinks, type WantedLink } from './chunk-redraw.js';
import type { Context } from './context.js';

/** A chunk as a file tells of it. */
export interface BroughtChunk {
  readonly id: string;
  readonly content: string;
  readonly tokens: number;
  readonly type: ChunkType;
  readonly conversationId: string;
  readonly source: ChunkSource;
  readonly confidence: number;
  readonly tags: readonly string[];
  readonly createdAtMs: number;
  readonly accessCount: number;
  readonly lastAccessedAtMs: number | null;
  readonly isArchived: boolean;
  readonly links: readonly { readonly word: ChunkLinkWord; readonly targetId: string }[];
}

/** What was found in a file of a tree. */
export type Finding = { readonly path: string } & (
  | { readonly chunk: BroughtChunk }
  | { readonly strengths: LinkStrengths }
  | { readonly reason: string }
);

export interface ChunkImport {
  readonly imported: number;
  readonly archived: number;
  readonly unchanged: number;
  readonly linksDrawn: number;
  readonly linksDropped: number;
  readonly skippedCount: number;
  readonly skipped: readonly { readonly path: string; readonly reason: string }[];
  readonly isComplete: boolean;
}

const PAGE_CHUNKS = 100;

interface LinkedChunk {
  readonly chunk: StoredChunk;
  readonly links: ChunkLinks;
}

/** All chunks of a repo, archived ones too, in the order of their ids. */
export function walkChunks(context: Context, repoId: string): AsyncGenerator<LinkedChunk> {
  passGate('semantic', checkRepoId('repo_id', repoId));
  return pages(context, repoId);
}

async function* pages(context: Context, repoId: string): AsyncGenerator<LinkedChunk> {
  let afterId: string | null = null;
  for (;;) {
    const chunks: StoredChunk[] = await context.store.chunks.walkChunks(repoId, afterId, PAGE_CHUNKS);
    const links = await readChunkLinks(context, repoId, chunks);
    for (const chunk of chunks) yield { chunk, links: links.get(chunk.id) as ChunkLinks };
    afterId = chunks.at(-1)?.id ?? null;
    if (afterId === null) return;
    await setImmediate();
  }
}

/** Brings the chunks of a tree into a repo, batch by batch. What a file brings wrongly is told, and hinders nothing else. */
export async function importChunks(
  context: Context,
  repoId: string,
  findings: AsyncIterable<Finding>,
  dryRun: boolean,
): Promise<ChunkImport> {
  passGate('semantic', checkRepoId('repo_id', repoId));
  const run = new ImportRun(context, repoId, dryRun);
  let isComplete = true;
  try {
    for await (const finding of findings) await run.take(finding);
  } catch (error) {
    if (!(error instanceof TreeBroken)) throw error;
    isComplete = false;
    run.skip('the archive', error.message);
  }
  await run.finish();
  return run.report(isComplete);
}

/** The tree could not be read to its end. */
export class TreeBroken extends Error {}

const BATCH_CHUNKS = 100;
const SKIPPED_SHOWN_MAX = 1_000;
/** Links wait until all chunks are there; more than these are not kept waiting. */
const LINKS_WAITING_MAX = 200_000;

class ImportRun {
  #batch: { readonly path: string; readonly chunk: BroughtChunk }[] = [];
  readonly #wanted: WantedLink[] = [];
  #strengths: LinkStrengths = new Map();
  readonly #counts = { imported: 0, archived: 0, unchanged: 0, linksDrawn: 0, linksDropped: 0, skippedCount: 0 };
  readonly #skipped: { path: string; reason: string }[] = [];

  constructor(
    private readonly context: Context,
    private readonly repoId: string,
    private readonly dryRun: boolean,
  ) {}

  async take(finding: Finding): Promise<void> {
    if ('reason' in finding) return this.skip(finding.path, finding.reason);
    if ('strengths' in finding) {
      this.#strengths = finding.strengths;
      return;
    }
    const [violation] = checkChunk(finding.chunk);
    if (violation) return this.skip(finding.path, `${violation.field} ${violation.message}`);
    if (this.#batch.some(({ chunk }) => chunk.id === finding.chunk.id)) {
      return this.skip(finding.path, 'is in the tree a second time');
    }
    this.#batch.push(finding);
    if (this.#batch.length >= BATCH_CHUNKS) await this.#store();
  }

  skip(path: string, reason: string): void {
    this.#counts.skippedCount++;
    if (this.#skipped.length < SKIPPED_SHOWN_MAX) this.#skipped.push({ path: path.slice(0, 500), reason });
  }

  async finish(): Promise<void> {
    await this.#store();
    if (this.dryRun) return;
    const { drawn, dropped } = await redrawLinks(this.context, this.repoId, this.#wanted, this.#strengths);
    this.#counts.linksDrawn += drawn;
    this.#counts.linksDropped += dropped;
  }

  report(isComplete: boolean): ChunkImport {
    return { ...this.#counts, skipped: this.#skipped, isComplete };
  }

  async #store(): Promise<void> {
    const batch = this.#batch;
    this.#batch = [];
    const ids = batch.map(({ chunk }) => chunk.id);
    const standing = new Map(
      (await this.context.store.chunks.getChunks(this.repoId, ids, true)).map((chunk) => [chunk.id, chunk]),
    );
    const changes: Change[] = [];
    for (const { path, chunk } of batch) {
      const known = standing.get(chunk.id);
      if (known && !saysTheSame(known, chunk)) this.skip(path, 'is there already, and says something else there');
      else if (known) this.#counts.unchanged++;
      else changes.push(...this.#insertion(chunk));
      if (!known || saysTheSame(known, chunk)) this.#want(chunk);
    }
    if (changes.length > 0 && !this.dryRun) await this.context.store.apply({ space: this.repoId, changes });
    await setImmediate();
  }

  #want({ id, links }: BroughtChunk): void {
    for (const { word, targetId } of links) {
      if (this.#wanted.length < LINKS_WAITING_MAX) this.#wanted.push({ id, word, targetId });
      else this.#counts.linksDropped++;
    }
  }

  #insertion(chunk: BroughtChunk): Change[] {
    const { id, content, tags, type, confidence, createdAtMs, conversationId, source, tokens, isArchived } = chunk;
    const { repoId, context } = this;
    const atMs = context.now();
    this.#counts.imported++;
    if (isArchived) this.#counts.archived++;
    const detail = { form: 'chunk', conversationId, source, tokens, tags } as const;
    const about = { repoId, content, confidence, tags, createdAtMs, detail };
    const archived = isArchived ? ({ tier: 'archive', archivedAtMs: atMs } as const) : {};
    const node = newNode({ id, form: 'chunk', kind: type, type: typeOf('chunk', type), ...about, ...archived });
    const looks: Change = {
      change: 'count_access',
      nodeId: id,
      count: chunk.accessCount,
      lastAccessedAtMs: chunk.lastAccessedAtMs ?? createdAtMs,
      decayedAtMs: null,
    };
    return [
      { change: 'insert_node', node, terms: chunkTerms(content, tags) },
      {
        change: 'join_conversation',
        repoId,
        conversationId,
        members: [{ nodeId: id, saidAtMs: createdAtMs }],
        edgeId: context.newId(),
        atMs,
      },
      ...(chunk.lastAccessedAtMs === null ? [] : [looks]),
    ];
  }
}

/** How often it was looked at is no part of what a chunk says. */
const saysTheSame = (known: StoredChunk, chunk: BroughtChunk): boolean =>
  known.content === chunk.content &&
  known.type === chunk.type &&
  known.conversationId === chunk.conversationId &&
  known.createdAtMs === chunk.createdAtMs &&
  known.confidence === chunk.confidence &&
  known.tags.join('\0') === chunk.tags.join('\0');
