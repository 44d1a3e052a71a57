import type { Service } from './service.js';

/** Bodies that are right, to be made wrong in one place. */

export interface MemoryFields {
  text?: string;
  scope?: string;
  kind?: string;
  confidence?: number;
  rationale?: string;
  links?: { problem_id?: string; related_memory_ids?: string[] };
  evidence_refs?: string[];
}

export const memoryBody = (fields: MemoryFields = {}) => ({
  text: 'The checkout tests need Redis on port 6380',
  scope: 'repo',
  kind: 'fact',
  confidence: 0.9,
  evidence_refs: ['commit:4f2a91c'],
  ...fields,
});

export const writeBody = (fields: MemoryFields = {}, repoId = 'acme/shop') => ({
  op: 'write',
  repo_id: repoId,
  memory: memoryBody(fields),
});

export const readBody = (query: string, more: object = {}, repoId = 'acme/shop') => ({
  op: 'read',
  repo_id: repoId,
  mode: 'targeted',
  query,
  ...more,
});

export const updateBody = (memoryId: string, update: object, mode = 'commit', repoId = 'acme/shop') => ({
  op: 'update',
  repo_id: repoId,
  memory_id: memoryId,
  mode,
  update,
});

/** Writes a memory and answers its id; fails the test when it is refused. */
export async function remember(service: Service, fields: MemoryFields = {}, repoId?: string): Promise<string> {
  const answer = await service.http.post('/memory/write').send(writeBody(fields, repoId)).expect(201);
  return answer.body.memory_id;
}

/** Carries an update out; fails the test when it is refused. */
export async function change(service: Service, memoryId: string, update: object, repoId?: string): Promise<void> {
  await service.http
    .post('/memory/update')
    .send(updateBody(memoryId, update, 'commit', repoId))
    .expect(200);
}

export interface PackItem {
  memory_id: string;
  form: string;
  kind: string;
  text: string;
  score: number;
  priority: number;
  why_included: string;
  anchor_memory_id?: string;
  relation_type?: string;
  state: string;
  superseded_by?: string;
  explain?: Record<string, unknown>;
}

export interface Pack {
  meta: {
    mode: string;
    limit: number;
    counts: Record<string, number>;
    tokens?: { max: number; used: number; left_out: { memory_id: string }[] };
  };
  direct: PackItem[];
  explicit_related: PackItem[];
  implicit_related: PackItem[];
}

/** Asks a question and answers the pack; fails the test when it is refused. */
export async function recall(service: Service, query: string, more: object = {}, repoId?: string): Promise<Pack> {
  const answer = await service.http
    .post('/memory/read')
    .send(readBody(query, more, repoId))
    .expect(200);
  return answer.body;
}

export const allItems = (pack: Pack): PackItem[] => [
  ...pack.direct,
  ...pack.explicit_related,
  ...pack.implicit_related,
];
export const idsIn = (items: readonly PackItem[]): string[] => items.map((item) => item.memory_id);
