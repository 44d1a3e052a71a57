import type { FastifyRequest } from 'fastify';
import type { Once } from '../services/memory.js';
import type { Outcome } from '../services/operations.js';

/** The idempotency key of a request, with what makes a retry the same request: its route and body. */
export function onceOf(request: FastifyRequest): Once | null {
  const key = request.headers['idempotency-key'];
  if (typeof key !== 'string') return null;
  return { key, request: `${request.routeOptions.url} ${JSON.stringify(request.body)}` };
}

/** A request that is one operation has one outcome. */
export function firstOutcome(outcomes: readonly Outcome[]): Outcome {
  const [outcome] = outcomes;
  if (!outcome) throw new Error('a planned operation gave no outcome');
  return outcome;
}
