import type { Change, InsertEdge } from '../domain/changes.js';
import { isIdOf } from '../domain/forms.js';
import { edgeKey, type Label, membersOf } from '../domain/links.js';
import { GLOBAL_SPACE, type SpaceName, type View, viewOf } from '../domain/spaces.js';
import type { Store, StoredMemory } from '../storage/port.js';

/** Marks the name of an earlier operation where an id is expected. No id can begin with it. */
const NAME_MARK = '@';
const EDGES_PER_NODE_MAX = 500;
const FACT_CHAIN_MAX = 1_000;

/** What the store will hold once the changes decided so far are carried out: later operations build on earlier ones. */
export class Draft {
  readonly changes: Change[] = [];
  readonly #view: View;
  /** Memories that are new with this request: nothing in the store can hang on them yet. */
  readonly #inserted = new Map<string, StoredMemory>();
  readonly #names = new Map<string, string>();

  constructor(
    private readonly store: Store,
    private readonly repoId: string,
  ) {
    this.#view = viewOf(repoId, { includeArchived: true });
  }

  insert(memory: StoredMemory): void {
    this.#inserted.set(memory.id, memory);
  }

  name(name: string, memoryId: string): void {
    this.#names.set(NAME_MARK + name, memoryId);
  }

  /** The memories that are visible, by the id or the name that was given for each. */
  async findMemories(given: readonly string[]): Promise<Map<string, StoredMemory>> {
    const idOf = (word: string): string => this.#names.get(word) ?? word;
    const wanted = given.map(idOf).filter((id) => !this.#inserted.has(id) && isIdOf('memory', id));
    const stored = new Map((await this.store.getMemories(this.#view, wanted)).map((memory) => [memory.id, memory]));
    const found = new Map<string, StoredMemory>();
    for (const word of given) {
      const memory = this.#inserted.get(idOf(word)) ?? stored.get(idOf(word));
      if (memory) found.set(word, memory);
    }
    return found;
  }

  isArchived(memory: StoredMemory): boolean {
    const moves = this.changes.filter((change) => change.change === 'move_tier' && change.nodeId === memory.id);
    const last = moves.at(-1);
    return last?.change === 'move_tier' ? last.to === 'archive' : memory.archived;
  }

  /** A memory of the space that is in use, not replaced, and says the same. */
  async findSame(space: SpaceName, kind: string, textDigest: string): Promise<StoredMemory | null> {
    const stored = await this.store.findSameText(space, kind, textDigest);
    const current = stored.filter((same) => !same.superseded).map((same) => same.id);
    const inserted = [...this.#inserted.values()].filter(
      (memory) => this.#spaceOf(memory) === space && memory.kind === kind && memory.textDigest === textDigest,
    );
    for (const memory of [...(await this.store.getMemories(this.#view, current)), ...inserted]) {
      if (!this.isArchived(memory) && !this.#replacements().some(({ oldId }) => oldId === memory.id)) return memory;
    }
    return null;
  }

  async evidenceOf(memoryId: string): Promise<string[]> {
    const stored = this.#inserted.has(memoryId) ? [] : await this.store.findEvidence(this.#view, memoryId);
    const planned = this.changes.flatMap((change) =>
      change.change === 'attach_evidence' && change.owner.id === memoryId ? change.refs : [],
    );
    return [...stored, ...planned];
  }

  /** Who the memory is joined to by edges of this label. */
  async joinedTo(label: Label, memoryId: string): Promise<string[]> {
    const planned = this.#edges(label).map((edge) => edge.members.map((member) => member.nodeId));
    const stored = this.#inserted.has(memoryId)
      ? []
      : (await this.store.findEdges(this.#view, [memoryId], [label], EDGES_PER_NODE_MAX)).map((edge) =>
          edge.members.map((member) => member.nodeId),
        );
    return [...stored, ...planned]
      .filter((ids) => ids.includes(memoryId))
      .flatMap((ids) => ids.filter((id) => id !== memoryId));
  }

  async hasEdge(label: Label, nodeIds: readonly string[]): Promise<boolean> {
    const key = edgeKey(label, membersOf(label, nodeIds));
    if (this.#edges(label).some((edge) => edgeKey(label, edge.members) === key)) return true;
    const [first] = nodeIds;
    if (first === undefined || this.#inserted.has(first)) return false;
    const stored = await this.store.findEdges(this.#view, [first], [label], EDGES_PER_NODE_MAX);
    return stored.some((edge) => edgeKey(label, edge.members) === key);
  }

  /** Whether following replacements from one fact arrives at the other. */
  async leadsTo(fromId: string, toId: string): Promise<boolean> {
    const seen = new Set<string>();
    let frontier = [fromId];
    while (frontier.length > 0 && seen.size < FACT_CHAIN_MAX) {
      for (const id of frontier) seen.add(id);
      const edges = await this.store.findEdges(this.#view, frontier, ['fact_update'], EDGES_PER_NODE_MAX);
      const next = [...edges.map(replacementOf), ...this.#replacements()]
        .filter(({ oldId }) => seen.has(oldId))
        .map(({ newId }) => newId);
      if (next.includes(toId)) return true;
      frontier = [...new Set(next)].filter((id) => !seen.has(id));
    }
    return false;
  }

  #spaceOf(memory: StoredMemory): SpaceName {
    return memory.scope === 'global' ? GLOBAL_SPACE : this.repoId;
  }

  #edges(label: Label): InsertEdge[] {
    return this.changes.filter((change) => change.change === 'insert_edge').filter((edge) => edge.label === label);
  }

  #replacements(): { oldId: string; newId: string }[] {
    return this.#edges('fact_update').map(replacementOf);
  }
}

function replacementOf(edge: { members: readonly { nodeId: string; role: string }[] }): {
  oldId: string;
  newId: string;
} {
  const idOf = (role: string): string => edge.members.find((member) => member.role === role)?.nodeId ?? '';
  return { oldId: idOf('object'), newId: idOf('effect') };
}
