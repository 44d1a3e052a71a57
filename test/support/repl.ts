import type { Test } from 'supertest';
import type { Static } from 'typebox';
import { expect } from 'vitest';
import type { ReplAnswer } from '../../src/contracts/repl.js';
import { stored } from './rows.js';
import type { Service } from './service.js';

/** The REPL as its callers use it. */

type Answer = Static<typeof ReplAnswer>;

export const REPO = 'acme/shop';

/** Written so that a snippet can hold it as a text. */
export const quoted = (value: unknown): string => JSON.stringify(value);

export const postSnippet = (service: Service, code: string, more: object = {}, repoId = REPO): Test =>
  service.http
    .post('/repl')
    .query({ repo_id: repoId })
    .send({ code, ...more });

/** Runs a snippet that has to end well. */
export async function run(service: Service, code: string, more: object = {}, repoId = REPO): Promise<Answer> {
  const { status, body } = await postSnippet(service, code, more, repoId);
  expect({ status, detail: body.detail }).toEqual({ status: 200, detail: undefined });
  return body;
}

/** What a snippet that has to end well gives. */
export const resultOf = async (service: Service, code: string, more: object = {}, repoId = REPO): Promise<unknown> =>
  (await run(service, code, more, repoId)).result;

/** Everything a snippet could have changed, save for looks, which are counted when nobody waits. */
export function lasting(service: Service, repoId = REPO): unknown {
  const { repo, global } = stored(service, repoId);
  return [repo, global].map(({ node_access: _, ...tables }) => tables);
}

/** Runs a snippet that has to fail, proves that not one row was changed by it, and answers why it failed. */
export async function failing(
  service: Service,
  code: string,
  expected: 'snippet_failed' | 'snippet_limit' = 'snippet_failed',
): Promise<string> {
  const before = lasting(service);
  const { status, headers, body } = await postSnippet(service, code);
  expect(lasting(service)).toEqual(before);
  expect({ status, code: body.code }).toEqual({ status: 422, code: expected });
  expect(headers['content-type']).toMatch(/^application\/problem\+json/);
  expect(body.errors).toEqual([{ field: 'code', code: expected, message: body.detail }]);
  return body.detail;
}
