import type { Change, StandingEdge } from '../domain/changes.js';
import { checkEdge, checkLabel, type EdgeDraft } from '../domain/edges.js';
import { isIdOf, isNodeId } from '../domain/forms.js';
import { edgeKey, linkOf } from '../domain/links.js';
import { checkRepoId } from '../domain/rules.js';
import { GLOBAL_SPACE, type SpaceName, spaceOfRelation, viewOf } from '../domain/spaces.js';
import { GateFailure, type Violation } from '../domain/violations.js';
import { ApplyConflict, type EdgeFilter, type EdgePlace, type StoredEdge } from '../storage/port.js';
import type { Context } from './context.js';
import { retrying } from './retrying.js';

export type { EdgeFilter, EdgePlace, StoredEdge } from '../storage/port.js';

const refuse = (gate: 'semantic' | 'integrity', violations: readonly Violation[]): void => {
  if (violations.length > 0) throw new GateFailure(gate, violations);
};

const wholeView = (repoId: string) => viewOf(repoId, { includeArchived: true });

/** Draws an edge, or answers the one that says the same already. */
export async function createEdge(
  context: Context,
  repoId: string,
  draft: EdgeDraft,
): Promise<{ edge: StoredEdge; isNew: boolean }> {
  refuse('semantic', [...checkRepoId('repo_id', repoId), ...checkEdge(draft)]);
  return retrying(async () => {
    const space = await spaceOfMembers(context, repoId, draft);
    const id = context.newId();
    const written = { id, repoId, origin: 'manual', rationale: null, atMs: context.now() } as const;
    try {
      await context.store.apply({ space, changes: [{ change: 'insert_edge', ...draft, ...written }] });
    } catch (error) {
      const isThere = error instanceof ApplyConflict && error.reason === 'edge_exists';
      const same = isThere ? await findSame(context, space, draft) : null;
      // Whoever removed it in the meantime made room for this one: it is drawn again.
      if (!same) throw error;
      return { edge: same, isNew: false };
    }
    const edge = await findEdge(context, repoId, id);
    // One of its nodes was removed in the meantime, and the edge with it.
    if (!edge) throw new ApplyConflict('edge_missing', id);
    return { edge, isNew: true };
  });
}

async function spaceOfMembers({ store }: Context, repoId: string, { members }: EdgeDraft): Promise<SpaceName> {
  const ids = members.map(({ nodeId }) => nodeId).filter(isNodeId);
  const found = new Map((await store.getNodes(wholeView(repoId), ids)).map((node) => [node.id, node]));
  refuse(
    'integrity',
    members.flatMap(({ nodeId }, index) =>
      found.has(nodeId)
        ? []
        : {
            field: `members.${index}.node_id`,
            code: 'not_found',
            message: `no node ${JSON.stringify(nodeId.slice(0, 80))} is visible from this repo`,
          },
    ),
  );
  return spaceOfRelation(
    repoId,
    [...found.values()].map(({ scope }) => scope),
  );
}

async function findSame({ store }: Context, space: SpaceName, draft: EdgeDraft): Promise<StoredEdge | null> {
  const key = edgeKey(draft.label, draft.members, draft.type);
  const found = await store.findEdgesByKey({ ...wholeView(space), spaces: [space] }, [key]);
  return found.get(key) ?? null;
}

/** An id of the wrong form is simply nobody's. */
export async function findEdge({ store }: Context, repoId: string, id: string): Promise<StoredEdge | null> {
  refuse('semantic', checkRepoId('repo_id', repoId));
  return isIdOf('concept', id) ? store.getEdge(wholeView(repoId), id) : null;
}

export interface EdgePatch {
  readonly weight?: number;
  readonly label?: string;
}

export async function patchEdge(
  context: Context,
  repoId: string,
  id: string,
  patch: EdgePatch,
): Promise<StoredEdge | null> {
  if (patch.label !== undefined) refuse('semantic', checkLabel(patch.label));
  return retrying(async () => {
    const edge = await findEdge(context, repoId, id);
    if (!edge) return null;
    refuse('integrity', checkKeeper(edge));
    if (patch.label !== undefined) refuse('semantic', checkEdge({ ...edge, label: patch.label }));
    const change: Change = { change: 'patch_edge', edge: toStanding(edge), ...patch, atMs: context.now() };
    try {
      await context.store.apply({ space: await homeOf(context, repoId, edge), changes: [change] });
    } catch (error) {
      if (error instanceof ApplyConflict && error.reason === 'edge_exists') {
        refuse('integrity', [
          { field: 'label', code: 'conflict', message: 'another edge says this of the same nodes already' },
        ]);
      }
      throw error;
    }
    return findEdge(context, repoId, id);
  });
}

/** Removes an edge for good; false when there is none. */
export const removeEdge = (context: Context, repoId: string, id: string): Promise<boolean> =>
  retrying(async () => {
    const edge = await findEdge(context, repoId, id);
    if (!edge) return false;
    refuse('integrity', checkKeeper(edge));
    await context.store.apply({
      space: await homeOf(context, repoId, edge),
      changes: [{ change: 'remove_edge', edge: toStanding(edge), atMs: context.now() }],
    });
    return true;
  });

/** What a contract promises about its links, nobody else may take back. */
const checkKeeper = ({ label }: StoredEdge): Violation[] => {
  const keeper = linkOf(label)?.keeper;
  return keeper
    ? [{ field: 'edge_id', code: 'conflict', message: `is a ${label} link, which the routes under /${keeper} keep` }]
    : [];
};

const toStanding = ({ id, repoId, type, label, members }: StoredEdge): StandingEdge => ({
  id,
  repoId,
  type,
  label,
  members,
});

/** Where an edge lies: in the repo, unless the repo does not know it. */
async function homeOf({ store }: Context, repoId: string, { id }: StoredEdge): Promise<SpaceName> {
  const view = viewOf(repoId, { includeArchived: true, includeGlobal: false });
  return (await store.getEdge(view, id)) ? repoId : GLOBAL_SPACE;
}

export interface EdgePage {
  readonly edges: readonly StoredEdge[];
  readonly next: EdgePlace | null;
}

export async function listEdges(
  { store }: Context,
  repoId: string,
  scope: 'repo' | 'global',
  filter: EdgeFilter,
  after: EdgePlace | null,
  limit: number,
): Promise<EdgePage> {
  refuse('semantic', checkRepoId('repo_id', repoId));
  const found = await store.listEdges(scope === 'global' ? GLOBAL_SPACE : repoId, filter, after, limit + 1);
  const edges = found.slice(0, limit);
  return { edges, next: found.length > limit ? (edges.at(-1) ?? null) : null };
}
