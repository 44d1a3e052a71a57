import { monitorEventLoopDelay } from 'node:perf_hooks';
import { setTimeout } from 'node:timers/promises';
import type { FastifyInstance, InjectOptions } from 'fastify';

const STALL_RESOLUTION_MS = 1;
const TURNS_MS = 20;

export interface Timed {
  readonly ms: number;
  readonly stallMs: number;
  readonly body: Record<string, unknown>;
}

/** One request over the app without a socket, with the longest time for which nobody else would have been served. */
export async function timed(app: FastifyInstance, request: InjectOptions): Promise<Timed> {
  const delay = monitorEventLoopDelay({ resolution: STALL_RESOLUTION_MS });
  delay.enable();
  // It measures from turn to turn: before its second turn it would miss a stall.
  await setTimeout(TURNS_MS);
  const startedAt = performance.now();
  const answer = await app.inject(request);
  const ms = performance.now() - startedAt;
  // The last stall is noted when the loop turns once more.
  await setTimeout(TURNS_MS);
  delay.disable();
  if (answer.statusCode >= 300) throw new Error(`${request.url} answered ${answer.statusCode} ${answer.body}`);
  return { ms, stallMs: delay.max / 1e6, body: answer.json() };
}
