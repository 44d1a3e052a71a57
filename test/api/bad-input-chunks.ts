import { expect } from 'vitest';
import type { Service } from '../support/service.js';
import type { FullBody } from './bad-input-requests.js';

/** Chunks, in requests that are right. */

const CHUNK_ID = 'chunk-2026-01-01-00000016';
const OTHER_CHUNK_ID = 'chunk-2026-01-01-00000018';
const IN_SHOP = '?repo_id=acme%2Fshop';

const ABOUT = {
  conversation_id: 'conv-1',
  type: 'decision',
  tags: ['pool'],
  confidence: 0.5,
  source: 'derived',
};

export const CHUNK_BODIES: readonly FullBody[] = [
  { path: `/chunks${IN_SHOP}`, name: 'chunk', body: { content: 'We chose a pool of twenty', ...ABOUT } },
  { path: `/chunks/remember${IN_SHOP}`, name: 'text', body: { content: 'We chose a pool of twenty', ...ABOUT } },
  {
    path: `/chunks/${CHUNK_ID}${IN_SHOP}`,
    name: 'chunk patch',
    method: 'PATCH',
    body: { content: 'A pool of thirty', type: 'fact', tags: ['pool', 'size'], confidence: 0.9 },
  },
  {
    path: `/chunks/recall${IN_SHOP}`,
    name: 'chunk recall',
    body: {
      query: 'how large is the pool?',
      conversation_id: 'conv-1',
      tags: ['pool'],
      type: 'decision',
      created_after: '2026-01-01T00:00:00Z',
      created_before: '2026-02-01T00:00:00Z',
      min_confidence: 0.5,
      include_archived: true,
      max_results: 5,
      neighbours: 1,
      max_tokens: 500,
    },
  },
  {
    path: `/chunks/reason${IN_SHOP}`,
    name: 'chunk reasoning',
    body: { query: 'pool', conversation_id: 'conv-1', analysis_type: 'gap' },
  },
  {
    path: `/chunks/reason${IN_SHOP}`,
    name: 'reasoning over named chunks',
    body: { query: 'pool', chunk_ids: [CHUNK_ID], analysis_type: 'pattern' },
  },
  {
    path: `/chunks/${CHUNK_ID}/links${IN_SHOP}`,
    name: 'chunk link',
    body: { target_id: OTHER_CHUNK_ID, type: 'supports', strength: 0.5, reasoning: 'Both say twenty' },
  },
];

/** The route that makes something new under a chunk. */
export const CHUNK_LINK_PATH = `/chunks/${CHUNK_ID}/links`;

export const CHUNK_PATHS: Readonly<Record<string, string>> = {
  '/chunks/{chunk_id}': `/chunks/${CHUNK_ID}${IN_SHOP}`,
  '/chunks/{chunk_id}/restore': `/chunks/${CHUNK_ID}/restore${IN_SHOP}`,
  '/chunks/{chunk_id}/links': `/chunks/${CHUNK_ID}/links${IN_SHOP}`,
};

/** Two chunks of one conversation. */
export async function seedChunks(service: Service): Promise<void> {
  const post = async (content: string): Promise<string> => {
    const body = { content, conversation_id: 'conv-1', tags: ['pool'] };
    return (await service.http.post('/chunks').query({ repo_id: 'acme/shop' }).send(body).expect(201)).body.id;
  };
  expect([await post('A pool of ten'), await post('A pool of twenty')]).toEqual([CHUNK_ID, OTHER_CHUNK_ID]);
}
