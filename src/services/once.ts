import { createHash } from 'node:crypto';
import type { Change, RememberReply } from '../domain/changes.js';
import { ApplyConflict } from '../storage/port.js';
import type { Context } from './context.js';
import { retrying } from './retrying.js';

/** Says that a retried request is the same request, so that it is carried out once. */
export interface Once {
  readonly key: string;
  /** Any text that is the same for the same request. */
  readonly request: string;
}

export class IdempotencyKeyReused extends Error {
  constructor(readonly key: string) {
    super(`the idempotency key ${key} belongs to another request`);
    this.name = 'IdempotencyKeyReused';
  }
}

const REPLIES_KEPT_MS = 24 * 60 * 60 * 1000;

/** What was answered when the request came first, or null. */
export async function findReply<Reply>(context: Context, repoId: string, once: Once | null): Promise<Reply | null> {
  if (!once) return null;
  const kept = await context.store.findReply(repoId, once.key, context.now() - REPLIES_KEPT_MS);
  if (!kept) return null;
  if (kept.requestDigest !== digestOf(once)) throw new IdempotencyKeyReused(once.key);
  return JSON.parse(kept.reply) as Reply;
}

/** Goes into the plan that carries the request out, so that neither is stored without the other. */
export function rememberReply(context: Context, repoId: string, once: Once | null, reply: unknown): RememberReply[] {
  if (!once) return [];
  const atMs = context.now();
  return [
    {
      change: 'remember_reply',
      repoId,
      key: once.key,
      requestDigest: digestOf(once),
      reply: JSON.stringify(reply),
      atMs,
      forgetBeforeMs: atMs - REPLIES_KEPT_MS,
    },
  ];
}

const digestOf = ({ request }: Once): string => createHash('sha256').update(request).digest('hex');

/** What is to be made, and the changes that make it. */
export interface Making {
  readonly ids: readonly string[];
  readonly changes: readonly Change[];
}

/** Makes something once for each key, and reads it as it then stands. */
export function makeOnce<Made>(
  context: Context,
  repoId: string,
  once: Once | null,
  plan: () => Promise<Making>,
  read: (ids: readonly string[]) => Promise<Made | null>,
): Promise<Made> {
  return retrying(async () => {
    const known = await findReply<readonly string[]>(context, repoId, once);
    const ids = known ?? (await carryOut(context, repoId, once, await plan()));
    const made = await read(ids);
    // The repo was dropped in the meantime, and what was made with it: this request comes after the drop.
    if (made === null) throw new ApplyConflict('node_missing', ids[0] as string);
    return made;
  });
}

async function carryOut(
  context: Context,
  repoId: string,
  once: Once | null,
  { ids, changes }: Making,
): Promise<readonly string[]> {
  const plan = { space: repoId, changes: [...changes, ...rememberReply(context, repoId, once, ids)] };
  await context.store.apply(plan);
  return ids;
}
