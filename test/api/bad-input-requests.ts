import { readFileSync } from 'node:fs';
import { expect } from 'vitest';
import { memoryBody, readBody, remember, updateBody, writeBody } from '../support/requests.js';
import { type Service, startService } from '../support/service.js';
import { CHUNK_BODIES, CHUNK_PATHS, seedChunks } from './bad-input-chunks.js';
import { EPISODE_BODIES, EPISODE_PATHS, seedEpisodes } from './bad-input-episodes.js';
import { JOURNAL_BODIES, JOURNAL_PATHS, seedJournal } from './bad-input-journal.js';

/** Requests that are right, to be made wrong: a body for every contract, a path for every operation. */

const countedId = (count: number): string => `00000000-0000-4000-8000-${String(count).padStart(12, '0')}`;
/** The memories that `startSeeded` writes; ids count up, so they are known before it runs. */
export const PROBLEM_ID = countedId(1);
export const FACT_ID = countedId(2);
export const NEW_FACT_ID = countedId(3);
export const CHANGE_ID = countedId(4);
export const CONCEPT_ID = countedId(5);
const EDGE_ID = countedId(6);

/** A listening service that holds one memory of four kinds, so that there is something to break. */
export async function startSeeded(): Promise<Service> {
  const service = await startService();
  await service.app.listen({ host: '127.0.0.1', port: 0 });
  const ids = [
    await remember(service, { kind: 'problem', text: 'Checkout tests time out' }),
    await remember(service, { text: 'Redis listens on port 6379' }),
    await remember(service, { text: 'Redis listens on port 6380' }),
    await remember(service, { kind: 'change', text: 'Redis moved to another port' }),
  ];
  expect(ids).toEqual([PROBLEM_ID, FACT_ID, NEW_FACT_ID, CHANGE_ID]);
  const inShop = { repo_id: 'acme/shop' };
  const concept = await service.http
    .post('/nodes')
    .query(inShop)
    .send({ type: 'entity', content: 'Redis' })
    .expect(201);
  const members = [CONCEPT_ID, FACT_ID].map((node_id, index) => ({
    node_id,
    role: index === 0 ? 'subject' : 'object',
  }));
  const edge = await service.http
    .post('/edges')
    .query(inShop)
    .send({ type: 'relation', label: 'about', members })
    .expect(201);
  expect([concept.body.id, edge.body.id]).toEqual([CONCEPT_ID, EDGE_ID]);
  await seedEpisodes(service);
  await seedChunks(service);
  await seedJournal(service);
  return service;
}

export interface FullBody {
  readonly path: string;
  readonly name: string;
  readonly body: object;
  /** POST, unless it says otherwise. */
  readonly method?: 'PATCH';
  /** The fields that null empties. */
  readonly nullable?: readonly string[];
  /** The fields that may hold any object. */
  readonly open?: readonly string[];
}

/** For each body that the contracts describe, one that is right and names every field there is. */
export const FULL_BODIES: readonly FullBody[] = [
  { path: '/memory/write', name: 'write', body: { ...writeBody(solution()), allow_duplicate: true } },
  { path: '/memory/update', name: 'archive_state', body: updateBody(FACT_ID, archiveState(), 'dry_run') },
  { path: '/memory/update', name: 'utility_vote', body: updateBody(FACT_ID, utilityVote(), 'dry_run') },
  { path: '/memory/update', name: 'fact_update_link', body: updateBody(CHANGE_ID, factUpdateLink(), 'dry_run') },
  {
    path: '/memory/batch',
    name: 'batch',
    body: {
      repo_id: 'acme/shop',
      mode: 'dry_run',
      items: [
        { op: 'write', ref: 'fix', memory: memoryBody(solution()), allow_duplicate: true },
        { op: 'update', memory_id: FACT_ID, update: utilityVote() },
        { op: 'update', memory_id: FACT_ID, update: archiveState() },
        { op: 'update', memory_id: CHANGE_ID, update: factUpdateLink() },
      ],
    },
  },
  {
    path: '/nodes',
    name: 'node',
    body: { type: 'entity', ...node(), session_id: 's1', task_id: 't1' },
    open: ['metadata'],
  },
  {
    path: `/nodes/${CONCEPT_ID}?repo_id=acme%2Fshop`,
    name: 'node patch',
    method: 'PATCH',
    body: node(),
    nullable: ['subtype', 'provenance'],
    open: ['metadata'],
  },
  {
    path: '/nodes/search?repo_id=acme%2Fshop',
    name: 'node search',
    body: {
      query: 'which port does Redis need?',
      match: 'all',
      type: 'fact',
      tier: 'longterm',
      subtype: 'fact',
      form: 'memory',
      min_confidence: 0.5,
      include_archived: true,
      include_global: true,
      limit: 5,
    },
  },
  {
    path: '/edges?repo_id=acme%2Fshop',
    name: 'edge',
    body: {
      type: 'relation',
      label: 'explains',
      weight: 0.5,
      members: [
        { node_id: CONCEPT_ID, role: 'subject', position: 0 },
        { node_id: FACT_ID, role: 'object', position: 1 },
      ],
    },
  },
  {
    path: `/edges/${EDGE_ID}?repo_id=acme%2Fshop`,
    name: 'edge patch',
    method: 'PATCH',
    body: { weight: 2, label: 'describes' },
  },
  {
    path: '/evolution/consolidate?repo_id=acme%2Fshop',
    name: 'consolidate',
    body: { task_id: 'a-task', dry_run: true },
  },
  {
    path: '/evolution/promote?repo_id=acme%2Fshop',
    name: 'promote session',
    body: { of: 'session', session_id: 'a-session', threshold: 0.9, dry_run: true },
  },
  {
    path: '/evolution/promote?repo_id=acme%2Fshop',
    name: 'promote node',
    body: { of: 'node', node_id: CONCEPT_ID, tier: 'longterm', dry_run: true },
  },
  {
    path: '/evolution/decay?repo_id=acme%2Fshop',
    name: 'decay',
    body: { factor: 0.9, min_confidence: 0.2, dry_run: true },
  },
  {
    path: '/repl?repo_id=acme%2Fshop',
    name: 'repl',
    body: { code: 'memory_query("redis")', session_id: 's1', task_id: 't1', dry_run: true },
  },
  ...EPISODE_BODIES,
  ...CHUNK_BODIES,
  ...JOURNAL_BODIES,
  {
    path: '/memory/read',
    name: 'read',
    body: readBody('which port does Redis need?', {
      include_global: true,
      kinds: ['fact'],
      limit: 5,
      expand: { semantic_hops: 1, include_problem_links: true, include_fact_update_links: true },
      include_archived: false,
      as_of: '2026-06-01T00:00:00Z',
      max_tokens: 500,
      explain: true,
    }),
  },
];

function node() {
  return {
    content: 'The checkout service',
    subtype: 'service',
    tier: 'session',
    confidence: 0.9,
    provenance: 'a diagram',
    metadata: { owner: 'payments' },
    tags: ['checkout'],
  };
}

function solution() {
  return {
    kind: 'solution',
    text: 'A larger pool stops the time-outs',
    rationale: 'seen twice',
    links: { problem_id: PROBLEM_ID, related_memory_ids: [FACT_ID] },
  };
}

function archiveState() {
  return { type: 'archive_state', archived: true, rationale: 'no longer of use' };
}

function utilityVote() {
  return {
    type: 'utility_vote',
    problem_id: PROBLEM_ID,
    vote: 0.5,
    rationale: 'it helped',
    evidence_refs: ['session://1'],
  };
}

function factUpdateLink() {
  return {
    type: 'fact_update_link',
    old_fact_id: FACT_ID,
    new_fact_id: NEW_FACT_ID,
    rationale: 'the port moved',
    evidence_refs: ['commit:77aa001'],
  };
}

export interface Operation {
  readonly name: string;
  readonly method: string;
  /** With its parameters filled in, so that the request would be answered well. */
  readonly path: string;
  readonly hasBody: boolean;
  /** Whether its body is an archive and no JSON. */
  readonly takesArchive: boolean;
}

const PARAMETERS: Readonly<Record<string, string>> = {
  '/memory/{memory_id}': `/memory/${FACT_ID}?repo_id=acme%2Fshop`,
  '/memory/{memory_id}/chain': `/memory/${FACT_ID}/chain?repo_id=acme%2Fshop`,
  '/nodes/{node_id}': `/nodes/${CONCEPT_ID}?repo_id=acme%2Fshop`,
  '/nodes/{node_id}/restore': `/nodes/${CONCEPT_ID}/restore?repo_id=acme%2Fshop`,
  '/nodes/{node_id}/related': `/nodes/${CONCEPT_ID}/related?repo_id=acme%2Fshop`,
  '/nodes/{node_id}/confidence': `/nodes/${CONCEPT_ID}/confidence?repo_id=acme%2Fshop`,
  '/edges/{edge_id}': `/edges/${EDGE_ID}?repo_id=acme%2Fshop`,
  '/graph': `/graph?node=${CONCEPT_ID}&repo_id=acme%2Fshop`,
  '/graph/path': `/graph/path?from=${CONCEPT_ID}&to=${FACT_ID}&repo_id=acme%2Fshop`,
  ...EPISODE_PATHS,
  ...CHUNK_PATHS,
  ...JOURNAL_PATHS,
  '/repos/{repo_id}': '/repos/acme%2Fshop?confirm=acme%2Fshop',
  '/problems/{code}': '/problems/not_found',
};

/** Every operation of the committed description, which another test holds against the service. */
export function describedOperations(): Operation[] {
  const text = readFileSync(new URL('../../openapi/openapi.json', import.meta.url), 'utf8');
  const { paths } = JSON.parse(text) as {
    paths: Record<string, Record<string, { requestBody?: { content: object } }>>;
  };
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, { requestBody }]) => ({
      name: `${method.toUpperCase()} ${path}`,
      method: method.toUpperCase(),
      path: PARAMETERS[path] ?? path,
      hasBody: requestBody !== undefined,
      takesArchive: 'application/x-tar' in (requestBody?.content ?? {}),
    })),
  );
}
