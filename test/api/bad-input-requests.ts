import { readFileSync } from 'node:fs';
import { expect } from 'vitest';
import { memoryBody, readBody, remember, updateBody, writeBody } from '../support/requests.js';
import { type Service, startService } from '../support/service.js';

/** Requests that are right, to be made wrong: a body for every contract, a path for every operation. */

const countedId = (count: number): string => `00000000-0000-4000-8000-${String(count).padStart(12, '0')}`;
/** The memories that `startSeeded` writes; ids count up, so they are known before it runs. */
export const PROBLEM_ID = countedId(1);
export const FACT_ID = countedId(2);
export const NEW_FACT_ID = countedId(3);
export const CHANGE_ID = countedId(4);

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
  return service;
}

/** For each body that the contracts describe, one that is right and names every field there is. */
export const FULL_BODIES: readonly { path: string; name: string; body: object }[] = [
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
}

const PARAMETERS: Readonly<Record<string, string>> = {
  '/memory/{memory_id}': `/memory/${FACT_ID}?repo_id=acme%2Fshop`,
  '/memory/{memory_id}/chain': `/memory/${FACT_ID}/chain?repo_id=acme%2Fshop`,
  '/repos/{repo_id}': '/repos/acme%2Fshop?confirm=acme%2Fshop',
  '/problems/{code}': '/problems/not_found',
};

/** Every operation of the committed description, which another test holds against the service. */
export function describedOperations(): Operation[] {
  const text = readFileSync(new URL('../../openapi/openapi.json', import.meta.url), 'utf8');
  const { paths } = JSON.parse(text) as { paths: Record<string, Record<string, { requestBody?: object }>> };
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, { requestBody }]) => ({
      name: `${method.toUpperCase()} ${path}`,
      method: method.toUpperCase(),
      path: PARAMETERS[path] ?? path,
      hasBody: requestBody !== undefined,
    })),
  );
}
