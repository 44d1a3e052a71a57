import type { Change, ExpectedRevision } from '../domain/changes.js';
import { type ConceptDraft, checkMutable, checkNodeFields, type NodePatch, placesIn } from '../domain/concepts.js';
import { type Form, isIdOf, isNodeId } from '../domain/forms.js';
import type { Concept } from '../domain/node.js';
import { checkRepoId } from '../domain/rules.js';
import { GLOBAL_SPACE, type SpaceName, viewOf } from '../domain/spaces.js';
import { indexTerms } from '../domain/terms.js';
import { archiveFrom, restoreTo, type TierMove } from '../domain/tiers.js';
import { GateFailure, type Violation } from '../domain/violations.js';
import type { NodeFilter, NodePlace, StoredNode } from '../storage/port.js';
import type { Context } from './context.js';
import { type Making, makeOnce, type Once } from './once.js';
import { retellSince, retellWithout } from './retelling.js';
import { retrying } from './retrying.js';

export type { NodeFilter, NodePlace, StoredNode } from '../storage/port.js';

/** The node was changed since the caller read it. */
export class RevisionMismatch extends Error {
  constructor(
    readonly id: string,
    readonly revision: number,
  ) {
    super(`${id} is at revision ${revision}`);
    this.name = 'RevisionMismatch';
  }
}

const refuse = (violations: readonly Violation[]): void => {
  if (violations.length > 0) throw new GateFailure('semantic', violations);
};

export const spaceOf = (node: Pick<StoredNode, 'scope' | 'repoId'>): SpaceName =>
  node.scope === 'global' ? GLOBAL_SPACE : node.repoId;

export async function createNode(
  context: Context,
  repoId: string,
  draft: ConceptDraft,
  once: Once | null,
): Promise<StoredNode> {
  refuse([...checkRepoId('repo_id', repoId), ...checkNodeFields(draft)]);
  const terms = indexTerms(draft.content);
  const plan = async (): Promise<Making> => {
    const node = toConcept(context, repoId, draft);
    return { ids: [node.id], changes: [{ change: 'insert_node', node, terms }] };
  };
  return makeOnce(context, repoId, once, plan, ([id]) => findNode(context, repoId, id as string));
}

export function toConcept(context: Context, repoId: string, { subtype, ...draft }: ConceptDraft): Concept {
  const nowMs = context.now();
  return {
    ...draft,
    id: context.newId(),
    form: 'concept',
    kind: subtype,
    tags: [...new Set(draft.tags)],
    repoId,
    scope: 'repo',
    archivedAtMs: draft.tier === 'archive' ? nowMs : null,
    archiveReason: null,
    revision: 1,
    createdAtMs: nowMs,
    updatedAtMs: nowMs,
  };
}

/** A node of any form by its id, archived or not. Whoever asks for one looks at it, and that counts. */
export async function readNode(context: Context, repoId: string, id: string): Promise<StoredNode | null> {
  const node = await findNode(context, repoId, id);
  if (!node) return null;
  context.store.noteAccess(spaceOf(node), [id], context.now());
  return findNode(context, repoId, id);
}

export async function findNode({ store }: Context, repoId: string, id: string): Promise<StoredNode | null> {
  refuse(checkRepoId('repo_id', repoId));
  if (!isNodeId(id)) return null;
  const [node] = await store.getNodes(viewOf(repoId, { includeArchived: true }), [id]);
  return node ?? null;
}

/** Carries a change of one node out; the change is decided again when somebody else was faster. */
async function changeNode(
  context: Context,
  repoId: string,
  id: string,
  decide: (node: StoredNode) => readonly Change[],
): Promise<StoredNode | null> {
  return retrying(async () => {
    const node = await findNode(context, repoId, id);
    if (!node) return null;
    const changes = decide(node);
    if (changes.length === 0) return node;
    await context.store.apply({ space: spaceOf(node), changes });
    return findNode(context, repoId, id);
  });
}

export function patchNode(
  context: Context,
  repoId: string,
  id: string,
  patch: NodePatch,
  expectedRevision: ExpectedRevision,
): Promise<StoredNode | null> {
  refuse(checkNodeFields({ ...patch, ...placesIn(patch.metadata) }));
  return changeNode(context, repoId, id, (node) => {
    expectRevision(node, expectedRevision);
    const violations = checkMutable(node.form, patch);
    if (violations.length > 0) throw new GateFailure('integrity', violations);
    return patchChanges(context, repoId, node, patch, expectedRevision);
  });
}

function expectRevision(node: StoredNode, expected: ExpectedRevision): void {
  if (expected !== null && expected !== node.revision) throw new RevisionMismatch(node.id, node.revision);
}

function patchChanges(
  context: Context,
  repoId: string,
  node: StoredNode,
  { tier, subtype, ...patch }: NodePatch,
  expectedRevision: ExpectedRevision,
): Change[] {
  const fields = {
    ...patch,
    ...placesIn(patch.metadata),
    ...(subtype !== undefined && { kind: subtype }),
    ...(patch.content !== undefined && { terms: indexTerms(patch.content) }),
    ...(patch.tags !== undefined && { tags: [...new Set(patch.tags)] }),
  };
  const changes: Change[] = [];
  if (Object.keys(fields).length > 0) {
    changes.push({
      change: 'patch_node',
      nodeId: node.id,
      repoId,
      expectedRevision,
      fields,
      trigger: 'manual',
      reason: null,
      atMs: context.now(),
    });
  }
  if (tier !== undefined && tier !== node.tier) {
    const expected = changes.length === 0 ? expectedRevision : null;
    changes.push(...movesOf(context, repoId, node, { from: node.tier, to: tier }, expected));
  }
  return changes;
}

/** Time does not wear on a node while it is in the archive: once it is back, its days are counted from then on. */
function movesOf(
  context: Context,
  repoId: string,
  { id: nodeId, lastAccessedAtMs }: StoredNode,
  move: TierMove,
  expectedRevision: ExpectedRevision,
): Change[] {
  const atMs = context.now();
  const moved: Change = { change: 'move_tier', nodeId, repoId, expectedRevision, ...move, reason: null, atMs };
  return move.from === 'archive'
    ? [moved, { change: 'count_access', nodeId, count: 0, lastAccessedAtMs, decayedAtMs: atMs }]
    : [moved];
}

export const archiveNode = (
  context: Context,
  repoId: string,
  id: string,
  expectedRevision: ExpectedRevision,
): Promise<StoredNode | null> =>
  changeNode(context, repoId, id, (node) => {
    expectRevision(node, expectedRevision);
    const move = archiveFrom(node.tier);
    return move ? movesOf(context, repoId, node, move, expectedRevision) : [];
  });

export const restoreNode = (context: Context, repoId: string, id: string): Promise<StoredNode | null> =>
  changeNode(context, repoId, id, (node) => {
    const move = restoreTo(node.tier, node.archivedFrom ?? node.tier);
    if (!move) return [];
    const violations = checkMutable(node.form, { tier: move.to });
    if (violations.length > 0) throw new GateFailure('integrity', violations);
    return movesOf(context, repoId, node, move, null);
  });

/** Removes a node for good; false when there is none. */
export const purgeNode = (
  context: Context,
  repoId: string,
  id: string,
  expectedRevision: ExpectedRevision,
): Promise<boolean> =>
  retrying(async () => {
    const node = await findNode(context, repoId, id);
    if (!node) return false;
    expectRevision(node, expectedRevision);
    if (node.form === 'memory') {
      const message = 'is a memory, which is archived and never removed; leave permanent out';
      throw new GateFailure('integrity', [{ field: 'permanent', code: 'conflict', message }]);
    }
    const change: Change = { change: 'purge_node', nodeId: id, repoId, expectedRevision, atMs: context.now() };
    const retold = node.form === 'episode' ? await retellWithout(context, repoId, id) : [];
    await context.store.apply({ space: spaceOf(node), changes: [...retold, change] });
    if (node.form === 'episode') await retellSince(context, repoId, id);
    return true;
  });

/** Archives a node of one form, or removes it for good; null when there is none. */
export async function removeOfForm(
  context: Context,
  form: Form,
  repoId: string,
  id: string,
  permanent: boolean,
): Promise<{ id: string; purged: boolean } | null> {
  if (!isIdOf(form, id)) return null;
  const isDone = permanent
    ? await purgeNode(context, repoId, id, null)
    : (await archiveNode(context, repoId, id, null)) !== null;
  return isDone ? { id, purged: permanent } : null;
}

/** Brings a node of one form back from the archive; false when there is none. */
export const restoreOfForm = async (context: Context, form: Form, repoId: string, id: string): Promise<boolean> =>
  isIdOf(form, id) && (await restoreNode(context, repoId, id)) !== null;

export interface NodePage {
  readonly nodes: readonly StoredNode[];
  readonly next: NodePlace | null;
}

/** One page of the repo's own nodes, or of the global ones. */
export async function listNodes(
  { store }: Context,
  repoId: string,
  scope: 'repo' | 'global',
  filter: NodeFilter,
  after: NodePlace | null,
  limit: number,
): Promise<NodePage> {
  refuse(checkRepoId('repo_id', repoId));
  const found = await store.listNodes(scope === 'global' ? GLOBAL_SPACE : repoId, filter, after, limit + 1);
  const nodes = found.slice(0, limit);
  const last = nodes.at(-1);
  return { nodes, next: found.length > limit && last ? { confidence: last.confidence ?? 0, seq: last.seq } : null };
}
