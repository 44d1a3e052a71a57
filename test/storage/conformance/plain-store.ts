import type {
  Change,
  InsertEdge,
  InsertMemory,
  MoveTier,
  Plan,
  RecordVote,
  RememberReply,
} from '../../../src/domain/changes.js';
import { edgeKey } from '../../../src/domain/links.js';
import { GLOBAL_SPACE, type SpaceName, type View } from '../../../src/domain/spaces.js';
import { ApplyConflict, type SameText, type StoredMemory } from '../../../src/storage/port.js';

interface Attached {
  readonly ownerId: string;
  readonly ref: string;
  readonly atMs: number;
}

/** What a space holds, as lists in the order of writing. */
interface Space {
  readonly memories: { stored: StoredMemory; terms: readonly string[] }[];
  readonly edges: InsertEdge[];
  readonly moves: MoveTier[];
  readonly votes: RecordVote[];
  readonly evidence: Attached[];
  replies: RememberReply[];
}

const emptySpace = (): Space => ({ memories: [], edges: [], moves: [], votes: [], evidence: [], replies: [] });

/** The contract of a store in the plainest words: lists, loops and a copy that is thrown away when a plan fails. */
export class PlainStore {
  readonly #spaces = new Map<SpaceName, Space>();

  apply({ space: name, changes }: Plan): void {
    const space = structuredClone(this.#spaces.get(name) ?? emptySpace());
    for (const change of changes) this.#carryOut(space, change);
    this.#spaces.set(name, space);
  }

  idsIn(name: SpaceName): string[] {
    return this.#of(name).memories.map(({ stored }) => stored.id);
  }

  getMemories(view: View): StoredMemory[] {
    return view.spaces.flatMap((name) =>
      this.#of(name)
        .memories.map(({ stored }) => ({ ...stored, archived: this.#isArchived(name, stored, view) }))
        .filter(
          (memory) =>
            (view.includeArchived || !memory.archived) &&
            (view.kinds === null || view.kinds.includes(memory.kind)) &&
            isBy(view, memory.createdAtMs),
        ),
    );
  }

  findSameText(name: SpaceName, kind: string, textDigest: string): SameText[] {
    return sameTextIn(this.#of(name), kind, textDigest);
  }

  searchTerms(view: View, terms: readonly string[]) {
    const shownIds = new Set(this.getMemories(view).map(({ id }) => id));
    const corpus = view.spaces.flatMap((name) => this.#of(name).memories);
    const frequencyIn = (name: SpaceName, term: string): number => {
      const holders = this.#of(name).memories.filter((memory) => memory.terms.includes(term));
      return holders.some(({ stored }) => shownIds.has(stored.id)) ? holders.length : 0;
    };
    return {
      documents: corpus.length,
      terms: corpus.reduce((sum, memory) => sum + memory.terms.length, 0),
      frequencies: terms.map((term) => view.spaces.reduce((sum, name) => sum + frequencyIn(name, term), 0)),
      candidateIds: corpus
        .filter((memory) => terms.some((term) => memory.terms.includes(term)))
        .map(({ stored }) => stored.id)
        .filter((id) => shownIds.has(id)),
    };
  }

  findEdges(view: View): InsertEdge[] {
    return this.#all(view, 'edges').filter(({ atMs }) => isBy(view, atMs));
  }

  /** Everybody to everybody else on the same edge. */
  findNeighbours(view: View) {
    const kinds = new Map(this.getMemories(view).map(({ id, kind }) => [id, kind]));
    return this.findEdges(view).flatMap(({ label, weight, members }) =>
      members.flatMap((from) =>
        members
          .filter((to) => to.nodeId !== from.nodeId && kinds.has(to.nodeId))
          .map((to) => ({
            fromId: from.nodeId,
            toId: to.nodeId,
            toKind: kinds.get(to.nodeId) as string,
            label: label as string,
            weight,
          })),
      ),
    );
  }

  findEdgeKeys(view: View): Set<string> {
    return new Set(this.#all(view, 'edges').map((edge) => edgeKey(edge.label, edge.members)));
  }

  findReplacements(view: View, factId: string) {
    return this.#replacements(view, factId, (edge) => [memberOf(edge, 'object')]).map((edge) => ({
      oldId: memberOf(edge, 'object'),
      newId: memberOf(edge, 'effect'),
      atMs: edge.atMs,
    }));
  }

  findHistory(view: View, fromId: string) {
    return this.#replacements(view, fromId, (edge) => edge.members.map(({ nodeId }) => nodeId)).map((edge) => ({
      oldId: memberOf(edge, 'object'),
      newId: memberOf(edge, 'effect'),
      changeId: memberOf(edge, 'cause'),
      rationale: edge.rationale,
      atMs: edge.atMs,
    }));
  }

  /** What can be reached, by looking again until nothing new is found. */
  #replacements(view: View, fromId: string, waysIn: (edge: InsertEdge) => string[]): InsertEdge[] {
    const updates = this.findEdges(view).filter(({ label }) => label === 'fact_update');
    const reached = new Set([fromId]);
    const found = new Set<InsertEdge>();
    for (let before = -1; before < found.size; ) {
      before = found.size;
      for (const edge of updates) {
        if (!waysIn(edge).some((id) => reached.has(id))) continue;
        found.add(edge);
        reached.add(memberOf(edge, 'object')).add(memberOf(edge, 'effect'));
      }
    }
    return [...found];
  }

  findVotes(view: View, memoryId: string): RecordVote[] {
    return this.#all(view, 'votes').filter((vote) => vote.memoryId === memoryId && isBy(view, vote.atMs));
  }

  findEvidence(view: View, memoryId: string): string[] {
    return this.#all(view, 'evidence')
      .filter(({ ownerId, atMs }) => ownerId === memoryId && isBy(view, atMs))
      .map(({ ref }) => ref);
  }

  findReply(repoId: string, key: string, sinceMs: number): RememberReply | undefined {
    return [repoId, GLOBAL_SPACE]
      .flatMap((name) => this.#of(name).replies)
      .find((kept) => kept.repoId === repoId && kept.key === key && kept.atMs >= sinceMs);
  }

  countNodes(name: SpaceName): { form: string; kind: string; tier: string; nodes: number }[] {
    const counts = new Map<string, { form: string; kind: string; tier: string; nodes: number }>();
    for (const { stored } of this.#of(name).memories) {
      const key = `${stored.kind} ${stored.tier}`;
      const nodes = (counts.get(key)?.nodes ?? 0) + 1;
      counts.set(key, { form: 'memory', kind: stored.kind, tier: stored.tier, nodes });
    }
    return [...counts.values()];
  }

  #carryOut(space: Space, change: Change): void {
    switch (change.change) {
      case 'insert_memory':
        insertMemory(space, change);
        return;
      case 'attach_evidence':
        this.#mustKnow(space, change.owner.id);
        for (const ref of change.refs) {
          const isKnown = space.evidence.some((row) => row.ownerId === change.owner.id && row.ref === ref);
          if (!isKnown) space.evidence.push({ ownerId: change.owner.id, ref, atMs: change.atMs });
        }
        return;
      case 'insert_edge': {
        for (const { nodeId } of change.members) this.#mustKnow(space, nodeId);
        const key = edgeKey(change.label, change.members);
        const isKnown = space.edges.some((edge) => edgeKey(edge.label, edge.members) === key);
        if (isKnown) throw new ApplyConflict('edge_exists', key);
        if (change.label === 'fact_update') refuseCircle(space, change);
        space.edges.push(change);
        return;
      }
      case 'move_tier':
        moveTier(space, change);
        return;
      case 'record_vote':
        this.#mustKnow(space, change.memoryId);
        this.#mustKnow(space, change.problemId);
        space.votes.push(change);
        return;
      case 'remember_reply':
        space.replies = space.replies.filter(({ atMs }) => atMs >= change.forgetBeforeMs);
        if (
          this.findReply(change.repoId, change.key, change.forgetBeforeMs) ||
          space.replies.some(({ repoId, key }) => repoId === change.repoId && key === change.key)
        )
          throw new ApplyConflict('key_taken', change.key);
        space.replies.push(change);
    }
  }

  #mustKnow(space: Space, id: string): void {
    const known = [...space.memories, ...this.#of(GLOBAL_SPACE).memories];
    if (!known.some(({ stored }) => stored.id === id)) throw new ApplyConflict('node_missing', id);
  }

  #isArchived(name: SpaceName, memory: StoredMemory, { asOfMs }: View): boolean {
    if (asOfMs === null) return memory.tier === 'archive';
    const moves = this.#of(name).moves.filter(({ nodeId, atMs }) => nodeId === memory.id && atMs <= asOfMs);
    return moves.at(-1)?.to === 'archive';
  }

  #of(name: SpaceName): Space {
    return this.#spaces.get(name) ?? emptySpace();
  }

  #all<List extends 'edges' | 'votes' | 'evidence'>(view: View, list: List): Space[List][number][] {
    return view.spaces.flatMap((name): Space[List][number][] => this.#of(name)[list]);
  }
}

const isBy = ({ asOfMs }: View, atMs: number): boolean => asOfMs === null || atMs <= asOfMs;

const memberOf = (edge: InsertEdge, role: string): string =>
  edge.members.find((member) => member.role === role)?.nodeId ?? '';

/** A chain of replacements within a space never comes back to where it was. */
function refuseCircle(space: Space, change: InsertEdge): void {
  const later = [memberOf(change, 'effect')];
  for (const id of later) {
    if (id === memberOf(change, 'object')) throw new ApplyConflict('circle', memberOf(change, 'effect'));
    for (const edge of space.edges) {
      const next = memberOf(edge, 'effect');
      if (edge.label === 'fact_update' && memberOf(edge, 'object') === id && !later.includes(next)) later.push(next);
    }
  }
}

function sameTextIn(space: Space, kind: string, textDigest: string): SameText[] {
  const isReplaced = (id: string): boolean =>
    space.edges.some((edge) => edge.label === 'fact_update' && memberOf(edge, 'object') === id);
  return space.memories
    .map(({ stored }) => stored)
    .filter((memory) => memory.kind === kind && memory.textDigest === textDigest)
    .map(({ id, tier }) => ({ id, archived: tier === 'archive', superseded: isReplaced(id) }))
    .sort((a, b) => Number(a.archived) - Number(b.archived) || Number(a.superseded) - Number(b.superseded));
}

function insertMemory(space: Space, { memory, terms, refuseDuplicate }: InsertMemory): void {
  const same = sameTextIn(space, memory.kind, memory.textDigest);
  const duplicate = same.find(({ archived, superseded }) => !archived && !superseded);
  if (refuseDuplicate && duplicate) throw new ApplyConflict('duplicate', duplicate.id);
  space.memories.push({ stored: { ...memory, archived: false, archivedFrom: null }, terms });
}

function moveTier(space: Space, move: MoveTier): void {
  const row = space.memories.find(({ stored }) => stored.id === move.nodeId && stored.tier === move.from);
  if (!row) throw new ApplyConflict('tier_moved', move.nodeId);
  const archives = move.to === 'archive';
  row.stored = {
    ...row.stored,
    tier: move.to,
    archivedFrom: archives ? move.from : null,
    archivedAtMs: archives ? move.atMs : null,
    archiveReason: archives ? move.reason : null,
    updatedAtMs: move.atMs,
    revision: row.stored.revision + 1,
  };
  space.moves.push(move);
}
