import type { Change } from '../domain/changes.js';
import type { DrawnLinkWord } from '../domain/chunks.js';
import { edgeKey, LINKS, membersOf } from '../domain/links.js';
import { viewOf } from '../domain/spaces.js';
import { GateFailure, type Violation } from '../domain/violations.js';
import type { StoredEdge } from '../storage/port.js';
import type { ChunkLink } from './chunk-links.js';
import { findChunk } from './chunks.js';
import type { Context } from './context.js';
import { retrying } from './retrying.js';

export interface LinkDraft {
  readonly targetId: string;
  readonly word: DrawnLinkWord;
  readonly strength: number;
  readonly reasoning: string | null;
}

export interface DrawnLink {
  readonly link: ChunkLink;
  readonly isNew: boolean;
}

/** Draws a link, or gives the one that is there its strength; null when there is no such chunk. */
export function linkChunk(context: Context, repoId: string, id: string, draft: LinkDraft): Promise<DrawnLink | null> {
  return retrying(async () => {
    const chunk = await findChunk(context, repoId, id);
    if (!chunk || chunk.tier === 'archive') return null;
    await refuseTarget(context, repoId, id, draft.targetId);
    const { word, strength, targetId } = draft;
    const members = membersOf(word, [id, targetId]);
    const key = edgeKey(word, members);
    const standing = (await context.store.findEdgesByKey(viewOf(repoId, { includeGlobal: false }), [key])).get(key);
    const edgeId = standing?.id ?? context.newId();
    const change = changeOf(context, repoId, draft, edgeId, members, standing);
    if (change) await context.store.apply({ space: repoId, changes: [change] });
    return { link: { chunkId: targetId, word, strength, edgeId }, isNew: !standing };
  });
}

async function refuseTarget(context: Context, repoId: string, id: string, targetId: string): Promise<void> {
  const refuse = (code: Violation['code'], message: string): never => {
    throw new GateFailure('integrity', [{ field: 'target_id', code, message }]);
  };
  if (targetId === id) refuse('integrity_error', 'is the chunk itself; name another one');
  const target = await findChunk(context, repoId, targetId);
  if (target && target.tier !== 'archive') return;
  refuse(
    'not_found',
    `no chunk ${JSON.stringify(targetId.slice(0, 80))} is visible from repo ${JSON.stringify(repoId)}`,
  );
}

function changeOf(
  context: Context,
  repoId: string,
  { word, strength, reasoning }: LinkDraft,
  id: string,
  members: ReturnType<typeof membersOf>,
  standing: StoredEdge | undefined,
): Change | null {
  const atMs = context.now();
  const { type } = LINKS[word];
  if (!standing) {
    const drawn = { id, repoId, type, label: word, weight: strength, members, atMs } as const;
    return { change: 'insert_edge', ...drawn, origin: 'manual', rationale: reasoning };
  }
  return standing.weight === strength ? null : { change: 'patch_edge', edge: standing, weight: strength, atMs };
}
