import type { FastifyRequest } from 'fastify';
import type { Once } from '../services/once.js';
import type { Outcome } from '../services/operations.js';

/** The idempotency key of a request, with what makes a retry the same request: its route, whom that is about, and its body. */
export function onceOf(request: FastifyRequest): Once | null {
  const key = request.headers['idempotency-key'];
  if (typeof key !== 'string') return null;
  const { routeOptions, params, body } = request;
  const parts = [routeOptions.url, ...Object.values(params as Record<string, string>), JSON.stringify(body)];
  return { key, request: parts.join(' ') };
}

/** A request that is one operation has one outcome. */
export function firstOutcome(outcomes: readonly Outcome[]): Outcome {
  const [outcome] = outcomes;
  if (!outcome) throw new Error('a planned operation gave no outcome');
  return outcome;
}
