import type { Test } from 'supertest';
import type { ChunkReport } from '../../src/contracts/chunks.js';
import type { Change } from '../../src/domain/changes.js';
import { chunkTerms } from '../../src/domain/chunks.js';
import { newNode } from '../../src/domain/node.js';
import type { ChunkFilter } from '../../src/storage/port.js';
import { REPO, START_MS } from './plans.js';
import type { Service } from './service.js';

export type { ChunkReport } from '../../src/contracts/chunks.js';

export const UNKNOWN_CHUNK_ID = 'chunk-2026-01-01-ffffffff';

export const ANY_CHUNK: ChunkFilter = {
  conversationId: null,
  tags: [],
  type: null,
  sinceMs: null,
  untilMs: null,
  minConfidence: 0,
  includeArchived: true,
};

interface ChunkChange {
  readonly content?: string;
  readonly conversationId?: string;
  readonly tags?: readonly string[];
  readonly tokens?: number;
  readonly confidence?: number;
  readonly createdAtMs?: number;
  readonly kind?: 'fact' | 'note';
}

/** A chunk and its place in its conversation, as changes. */
export function chunk(id: string, fields: ChunkChange = {}): Change[] {
  const { content = `chunk ${id}`, conversationId = 'talk', tags = ['a'], tokens = 5 } = fields;
  const { confidence = 0.7, createdAtMs = START_MS, kind = 'note' } = fields;
  const detail = { form: 'chunk', conversationId, source: 'interaction', tokens, tags } as const;
  const about = { repoId: REPO, content, confidence, tags, createdAtMs, detail };
  const node = newNode({ id, form: 'chunk', kind, type: kind === 'fact' ? 'fact' : 'snippet', ...about });
  return [
    { change: 'insert_node', node, terms: chunkTerms(content, tags) },
    {
      change: 'join_conversation',
      repoId: REPO,
      conversationId,
      members: [{ nodeId: id, saidAtMs: createdAtMs }],
      edgeId: `11111111-1111-4111-8111-${id.replaceAll('-', '').slice(-12).padStart(12, '0')}`,
      atMs: START_MS,
    },
  ];
}

type Query = Record<string, string | number | boolean>;

export interface LinkReport {
  readonly chunk_id: string;
  readonly type: string;
  readonly strength: number;
  readonly edge_id: string | null;
}

export const NO_LINKS = { context_of: [], follows: [], related_to: [], supports: [], contradicts: [] };

/** A text of exactly so many tokens. */
export const textOf = (tokens: number, word = 'word'): string => [word, ...Array(tokens - 1).fill('a')].join(' ');

/** Paragraphs that are chunks of their own: none is small enough to be joined with the next. */
export const paragraphs = (count: number, from = 0): string[] =>
  Array.from({ length: count }, (_, index) => textOf(110, `part${from + index}`));

export interface RecallReport {
  readonly results: readonly {
    readonly chunk: ChunkReport;
    readonly score: number;
    readonly matched: { readonly terms: string[]; readonly tags: string[]; readonly phrase: boolean };
    readonly before: ChunkReport[];
    readonly after: ChunkReport[];
  }[];
  readonly confidence: number;
  readonly corrected: readonly { readonly term: string; readonly to: string }[];
  readonly total_matches: number;
  readonly complete: boolean;
  readonly token_count: number;
}

/** Sends requests for one repo. What is a verb is sent as it stands, so that a test says what it expects of it. */
export class ChunkClient {
  constructor(
    private readonly service: Service,
    readonly repoId = REPO,
  ) {}

  postChunk = (fields: object): Test => this.#http('post', '/chunks').send(fields);
  postText = (fields: object): Test => this.#http('post', '/chunks/remember').send(fields);
  postRecall = (fields: object): Test => this.#http('post', '/chunks/recall').send(fields);
  postReason = (fields: object): Test => this.#http('post', '/chunks/reason').send(fields);
  getChunk = (id: string, query: Query = {}): Test =>
    this.#http('get', `/chunks/${encodeURIComponent(id)}`).query(query);
  getChunks = (query: Query = {}): Test => this.#http('get', '/chunks').query(query);
  getStats = (): Test => this.#http('get', '/chunks/stats');
  patchChunk = (id: string, fields: object): Test =>
    this.#http('patch', `/chunks/${encodeURIComponent(id)}`).send(fields);
  deleteChunk = (id: string, query: Query = {}): Test =>
    this.#http('delete', `/chunks/${encodeURIComponent(id)}`).query(query);
  postRestore = (id: string): Test => this.#http('post', `/chunks/${encodeURIComponent(id)}/restore`);
  postLink = (id: string, fields: object): Test =>
    this.#http('post', `/chunks/${encodeURIComponent(id)}/links`).send(fields);
  getLinks = (id: string, query: Query): Test =>
    this.#http('get', `/chunks/${encodeURIComponent(id)}/links`).query(query);

  /** A chunk of the conversation `talk`, unless it is said otherwise. */
  async chunk(content: string, fields: object = {}): Promise<ChunkReport> {
    return (await this.postChunk({ content, conversation_id: 'talk', ...fields }).expect(201)).body;
  }

  async remember(content: string, fields: object = {}): Promise<{ chunk_ids: string[]; total_tokens: number }> {
    return (await this.postText({ content, conversation_id: 'talk', ...fields }).expect(201)).body;
  }

  async read(id: string, query: Query = {}): Promise<ChunkReport> {
    return (await this.getChunk(id, query).expect(200)).body;
  }

  /** The first page of a list. */
  async listed(query: Query = {}): Promise<ChunkReport[]> {
    return (await this.getChunks({ limit: 100, ...query }).expect(200)).body.chunks;
  }

  /** All pages of the list, one after the other. */
  async allChunks(query: Query = {}): Promise<ChunkReport[]> {
    const rows: ChunkReport[] = [];
    let { body } = await this.getChunks(query).expect(200);
    for (;;) {
      rows.push(...body.chunks);
      if (body.next_cursor === null) return rows;
      body = (await this.getChunks({ ...query, cursor: body.next_cursor }).expect(200)).body;
    }
  }

  /** All pages of the links of one sort, one after the other. */
  async allLinks(id: string, type: string, query: Query = {}): Promise<LinkReport[]> {
    const rows: LinkReport[] = [];
    let { body } = await this.getLinks(id, { type, ...query }).expect(200);
    for (;;) {
      rows.push(...body.links);
      if (body.next_cursor === null) return rows;
      body = (await this.getLinks(id, { type, ...query, cursor: body.next_cursor }).expect(200)).body;
    }
  }

  async remove(id: string, query: Query = {}): Promise<void> {
    await this.deleteChunk(id, query).expect(200);
  }

  async recall(query: string, fields: object = {}): Promise<RecallReport> {
    return (await this.postRecall({ query, ...fields }).expect(200)).body;
  }

  /** The texts of the answer, best first. */
  async recalled(query: string, fields: object = {}): Promise<string[]> {
    return (await this.recall(query, fields)).results.map(({ chunk: { content } }) => content);
  }

  #http(method: 'get' | 'post' | 'patch' | 'delete', path: string): Test {
    return this.service.http[method](path).query({ repo_id: this.repoId });
  }
}
