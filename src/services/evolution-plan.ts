import type { Change, InsertEdge, InsertNode } from '../domain/changes.js';
import type { Decay } from '../domain/decay.js';
import type { EdgeDraft } from '../domain/edges.js';
import { SUMMARIZES, type Summary } from '../domain/evolution.js';
import { LINKS, membersOf } from '../domain/links.js';
import { type SpaceName, viewOf } from '../domain/spaces.js';
import { indexTerms } from '../domain/terms.js';
import type { Tier } from '../domain/vocabulary.js';
import type { NodeWear, StoredEdge } from '../storage/port.js';
import type { Context } from './context.js';
import { CHANGES_PER_PLAN_MAX } from './evolving.js';
import { retrying } from './retrying.js';

/** What tells of others. */
type Told = InsertNode | InsertEdge;

/** Gathers the changes that a run of evolution comes to. */
export class EvolutionPlan {
  readonly #changes: Change[] = [];
  readonly #told: Told[] = [];
  readonly #patched = new Set<string>();
  readonly #nodes: ReadonlyMap<string, NodeWear>;
  readonly #atMs: number;

  constructor(
    private readonly context: Context,
    private readonly repoId: string,
    nodes: readonly NodeWear[],
    private readonly space: SpaceName = repoId,
  ) {
    this.#nodes = new Map(nodes.map((node) => [node.id, node]));
    this.#atMs = context.now();
  }

  move(nodeId: string, from: Tier, to: Tier, operation: 'consolidate' | 'promote' | 'decay', reasoning: string): void {
    const { repoId } = this;
    const expectedRevision = this.#patched.has(nodeId) ? null : (this.#nodes.get(nodeId)?.revision ?? null);
    this.#changes.push(
      { change: 'move_tier', nodeId, repoId, expectedRevision, from, to, reason: reasoning, atMs: this.#atMs },
      { change: 'record_evolution', operation, repoId, nodeIds: [nodeId], from, to, reasoning, atMs: this.#atMs },
    );
  }

  takeOver(nodeId: string, accessCount: number, lastAccessedAtMs: number): void {
    const count = accessCount - (this.#nodes.get(nodeId)?.accessCount ?? 0);
    if (count > 0) {
      this.#changes.push({ change: 'count_access', nodeId, count, lastAccessedAtMs, decayedAtMs: null });
    }
  }

  /** The tags that a node takes over from those that were merged into it; told before it moves. */
  tag(nodeId: string, tags: readonly string[]): void {
    this.#patched.add(nodeId);
    this.#changes.push({
      change: 'patch_node',
      nodeId,
      repoId: this.repoId,
      expectedRevision: this.#nodes.get(nodeId)?.revision ?? null,
      fields: { tags },
      trigger: 'consolidation',
      reason: 'took over the tags of what was merged into it',
      atMs: this.#atMs,
    });
  }

  strengthen(edge: StoredEdge, weight: number): void {
    this.#changes.push({ change: 'patch_edge', edge, expectedWeight: edge.weight, weight, atMs: this.#atMs });
  }

  /** Nothing is done unless these are as they were read. */
  expect(nodes: readonly NodeWear[]): void {
    if (nodes.length === 0) return;
    const expected = nodes.map(({ id, revision }) => ({ nodeId: id, revision }));
    this.#changes.push({ change: 'expect_nodes', nodes: expected });
  }

  /** Draws those of the edges that are not there yet, and answers which. */
  async relink<Edge extends EdgeDraft & { readonly key: string }>(
    edges: readonly Edge[],
  ): Promise<(Edge & { id: string })[]> {
    const byKey = new Map(edges.map((edge) => [edge.key, edge]));
    const standing = await this.context.store.findEdgesByKey(viewOf(this.repoId), [...byKey.keys()]);
    const missing = [...byKey.values()].filter(({ key }) => !standing.has(key));
    return missing.map((edge) => {
      const { type, label, weight, members } = edge;
      const drawn = this.#edge({ type, label, weight, members });
      this.#changes.push(drawn);
      return { ...edge, id: drawn.id };
    });
  }

  #edge(edge: EdgeDraft): InsertEdge {
    const { repoId } = this;
    const id = this.context.newId();
    return { change: 'insert_edge', ...edge, id, repoId, origin: 'auto', rationale: null, atMs: this.#atMs };
  }

  decay(node: NodeWear, { confidence, archives, decayedAtMs }: Decay): void {
    const { repoId } = this;
    this.#patched.add(node.id);
    const reason = `unused since ${new Date(node.lastAccessedAtMs).toISOString()}`;
    this.#changes.push(
      {
        change: 'patch_node',
        nodeId: node.id,
        repoId,
        expectedRevision: node.revision,
        fields: { confidence },
        trigger: 'decay',
        reason,
        atMs: this.#atMs,
      },
      {
        change: 'count_access',
        nodeId: node.id,
        count: 0,
        lastAccessedAtMs: node.lastAccessedAtMs,
        decayedAtMs,
      },
    );
    if (archives) this.move(node.id, node.tier, 'archive', 'decay', reason);
  }

  /** A fact that says in short what its sources say, joined to each of them. It comes last, as all it needs is there then. */
  summarize({ content, confidence, sessionId, sourceIds }: Summary, tier: Tier): string {
    const id = this.context.newId();
    const { repoId } = this;
    this.#told.push({
      change: 'insert_node',
      terms: indexTerms(content),
      node: {
        id,
        form: 'concept',
        kind: 'summary',
        type: 'fact',
        repoId,
        scope: 'repo',
        content,
        confidence,
        tier,
        archivedAtMs: null,
        archiveReason: null,
        revision: 1,
        createdAtMs: this.#atMs,
        updatedAtMs: this.#atMs,
        provenance: null,
        metadata: { crystallized: tier === 'longterm', source_nodes: sourceIds, session_id: sessionId },
        tags: [],
        sessionId,
        taskId: null,
      },
    });
    const { type, weight } = LINKS[SUMMARIZES];
    for (const sourceId of sourceIds) {
      this.#told.push(this.#edge({ type, label: SUMMARIZES, weight, members: membersOf(SUMMARIZES, [id, sourceId]) }));
    }
    return id;
  }

  /** In one piece, but for as much of long summaries as would make it too large. */
  async apply(): Promise<void> {
    const room = Math.max(0, CHANGES_PER_PLAN_MAX - this.#changes.length);
    const changes = [...this.#changes, ...this.#told.slice(0, room)];
    if (changes.length > 0) await this.context.store.apply({ space: this.space, changes });
    for (let start = room; start < this.#told.length; start += CHANGES_PER_PLAN_MAX) {
      const part = this.#told.slice(start, start + CHANGES_PER_PLAN_MAX);
      await retrying(async () => this.#applyRest(part));
    }
  }

  /** Who was removed in the meantime has nothing to be joined to. */
  async #applyRest(part: readonly Told[]): Promise<void> {
    const made = part.flatMap((change) => (change.change === 'insert_node' ? change.node.id : []));
    const joined = part.flatMap((change) =>
      change.change === 'insert_edge' ? change.members.map(({ nodeId }) => nodeId) : [],
    );
    const view = viewOf(this.repoId, { includeArchived: true });
    const present = new Set([...made, ...(await this.context.store.findVisible(view, [...new Set(joined)]))]);
    const changes = part.filter(
      (change) => change.change === 'insert_node' || change.members.every(({ nodeId }) => present.has(nodeId)),
    );
    if (changes.length > 0) await this.context.store.apply({ space: this.space, changes });
  }
}
