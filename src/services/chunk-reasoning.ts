import { isIdOf } from '../domain/forms.js';
import { type Analysis, type Evidence, type Reasoned, reason } from '../domain/reasoning.js';
import { checkRepoId } from '../domain/rules.js';
import { GateFailure, passGate } from '../domain/violations.js';
import type { StoredChunk } from '../storage/port.js';
import { type ChunkLinks, readChunkLinks } from './chunk-links.js';
import { recallChunks } from './chunk-recall.js';
import type { Context } from './context.js';

export interface ReasonRequest {
  readonly repoId: string;
  readonly query: string | null;
  readonly chunkIds: readonly string[] | null;
  readonly conversationId: string | null;
  readonly analysis: Analysis;
}

export interface Reasoning {
  readonly analysis: Analysis;
  /** Surest first. */
  readonly evidence: readonly Evidence[];
  readonly reasoned: Reasoned;
}

/** So many of the best matches are reasoned over. */
const EVIDENCE_MAX = 10;

/** Concludes what chunks say together, in their own words. */
export async function reasonOver(context: Context, request: ReasonRequest): Promise<Reasoning> {
  const { repoId, analysis } = request;
  passGate('semantic', checkRepoId('repo_id', repoId));
  const chunks = await evidenceOf(context, request);
  const links = await readChunkLinks(context, repoId, chunks);
  const evidence = chunks
    .map((chunk) => toEvidence(chunk, links.get(chunk.id) as ChunkLinks))
    .sort((a, b) => b.confidence - a.confidence || b.createdAtMs - a.createdAtMs || (a.id < b.id ? -1 : 1));
  const ids = chunks.map(({ id }) => id);
  const drawn = await context.store.chunks.findDrawn(repoId, ids, ['contradicts'], ids.length, ids);
  const explicit = drawn.map(({ fromId, toId }) => [fromId, toId] as const);
  return { analysis, evidence, reasoned: reason(analysis, evidence, explicit) };
}

async function evidenceOf(context: Context, request: ReasonRequest): Promise<readonly StoredChunk[]> {
  const { repoId, query, chunkIds, conversationId } = request;
  const refuse = (field: string, message: string): never => {
    throw new GateFailure('semantic', [{ field, code: 'semantic_error', message }]);
  };
  if (chunkIds !== null) {
    if (conversationId !== null)
      refuse('conversation_id', 'chooses among matches, and chunk_ids names them; leave one out');
    return namedChunks(context, repoId, chunkIds);
  }
  if (query === null) return refuse('query', 'is needed unless chunk_ids names the evidence; send one of the two');
  const filter = { ...ANY, conversationId };
  const question = { repoId, query, filter, limit: EVIDENCE_MAX, neighbours: 0, tokensMax: null };
  return (await recallChunks(context, question)).recalled.map(({ chunk }) => chunk);
}

const ANY = {
  tags: [],
  type: null,
  sinceMs: null,
  untilMs: null,
  minConfidence: 0,
  includeArchived: false,
};

/** Chunks that are named are looked at by whoever names them. */
async function namedChunks(context: Context, repoId: string, ids: readonly string[]): Promise<StoredChunk[]> {
  const wanted = ids.filter((id) => isIdOf('chunk', id));
  const chunks = await context.store.chunks.getChunks(repoId, wanted, false);
  const found = new Set(chunks.map(({ id }) => id));
  passGate(
    'integrity',
    ids.flatMap((id, place) => {
      const message = `no chunk ${JSON.stringify(id.slice(0, 80))} is visible from repo ${JSON.stringify(repoId)}`;
      return found.has(id) ? [] : [{ field: `chunk_ids.${place}`, code: 'not_found' as const, message }];
    }),
  );
  context.store.noteAccess(repoId, ids, context.now());
  return chunks;
}

const toEvidence = (chunk: StoredChunk, links: ChunkLinks): Evidence => ({
  id: chunk.id,
  content: chunk.content,
  confidence: chunk.confidence,
  createdAtMs: chunk.createdAtMs,
  tags: chunk.tags,
  type: chunk.type,
  isLinked: links.context_of.length + links.related_to.length > 0,
});
