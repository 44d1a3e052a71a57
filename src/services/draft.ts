import type { Change } from '../domain/changes.js';
import { isIdOf } from '../domain/forms.js';
import { edgeKey } from '../domain/links.js';
import { NAME_MARK } from '../domain/rules.js';
import { GLOBAL_SPACE, type SpaceName, type View, viewOf } from '../domain/spaces.js';
import type { Tier } from '../domain/vocabulary.js';
import type { Store, StoredMemory } from '../storage/port.js';

const REPLACEMENTS_MAX = 10_000;

/** What the store will hold once the changes decided so far are carried out: later operations build on earlier ones. */
export class Draft {
  readonly #view: View;
  readonly #changes: Change[] = [];
  readonly #names = new Map<string, string>();

  // What the changes amount to, so that nothing has to be looked for in their list.
  /** Memories that are new with this request: nothing in the store can hang on them yet. */
  readonly #inserted = new Map<string, StoredMemory>();
  readonly #tiers = new Map<string, Tier>();
  readonly #evidence = new Map<string, Set<string>>();
  readonly #edgeKeys = new Set<string>();
  readonly #related = new Map<string, Set<string>>();
  readonly #replacedHere = new Set<string>();

  /** Who replaced whom, here and, as far as it was asked for, in the store. */
  readonly #successors = new Map<string, Set<string>>();
  readonly #followed = new Set<string>();

  constructor(
    private readonly store: Store,
    private readonly repoId: string,
  ) {
    this.#view = viewOf(repoId, { includeArchived: true });
  }

  get changes(): readonly Change[] {
    return this.#changes;
  }

  add(change: Change): void {
    this.#changes.push(change);
    switch (change.change) {
      case 'insert_memory':
        this.#inserted.set(change.memory.id, { ...change.memory, archived: false, archivedFrom: null });
        break;
      case 'move_tier':
        this.#tiers.set(change.nodeId, change.to);
        break;
      case 'attach_evidence':
        for (const ref of change.refs) include(this.#evidence, change.owner.id, ref);
        break;
      case 'insert_edge': {
        const ids = change.members.map((member) => member.nodeId);
        this.#edgeKeys.add(edgeKey(change.label, change.members, change.type));
        if (change.label === 'related_to') {
          const [one, other] = ids as [string, string];
          include(this.#related, one, other);
          include(this.#related, other, one);
        }
        if (change.label === 'fact_update') {
          const [, oldId, newId] = ids as [string, string, string];
          this.#replacedHere.add(oldId);
          include(this.#successors, oldId, newId);
        }
      }
    }
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
    const tier = this.#tiers.get(memory.id);
    return tier === undefined ? memory.archived : tier === 'archive';
  }

  /** A memory of the space that is in use, not replaced, and says the same. */
  async findSame(space: SpaceName, kind: string, textDigest: string): Promise<StoredMemory | null> {
    const stored = await this.store.findSameText(space, kind, textDigest);
    const current = stored.filter((same) => !same.superseded).map((same) => same.id);
    const inserted = [...this.#inserted.values()].filter(
      (memory) => this.#spaceOf(memory) === space && memory.kind === kind && memory.textDigest === textDigest,
    );
    for (const memory of [...(await this.store.getMemories(this.#view, current)), ...inserted]) {
      if (!this.isArchived(memory) && !this.#replacedHere.has(memory.id)) return memory;
    }
    return null;
  }

  /** Those of the references that are not attached to the memory yet. */
  async missingEvidence(memoryId: string, refs: readonly string[]): Promise<string[]> {
    const planned = this.#evidence.get(memoryId);
    const isStored = refs.length > 0 && !this.#inserted.has(memoryId);
    const stored = isStored ? await this.store.findAttached(this.#view, memoryId, refs) : new Set();
    return refs.filter((ref) => !stored.has(ref) && !planned?.has(ref));
  }

  /** The evidence of a memory, first attached first, as far as the first `limit`. */
  async evidenceOf(memoryId: string, limit: number): Promise<string[]> {
    const isStored = !this.#inserted.has(memoryId);
    const stored = isStored ? await this.store.findEvidence(this.#view, memoryId, limit) : [];
    return [...stored, ...(this.#evidence.get(memoryId) ?? [])].slice(0, limit);
  }

  /** The memories that are associated with one, as far as `limit`. */
  async relatedTo(memoryId: string, limit: number): Promise<string[]> {
    const edges = this.#inserted.has(memoryId)
      ? []
      : await this.store.findEdges(this.#view, [memoryId], ['related_to'], limit);
    const stored = edges.flatMap(({ members }) => members.map((member) => member.nodeId));
    const ids = new Set([...stored, ...(this.#related.get(memoryId) ?? [])]);
    ids.delete(memoryId);
    return [...ids].slice(0, limit);
  }

  /** Those of the edges, told by their keys, that there are already. An edge of a new memory can only be here. */
  async findEdgeKeys(memoryId: string, keys: readonly string[]): Promise<Set<string>> {
    const planned = keys.filter((key) => this.#edgeKeys.has(key));
    const mayBeStored = keys.length > 0 && !this.#inserted.has(memoryId);
    const stored = mayBeStored ? (await this.store.findEdgesByKey(this.#view, keys)).keys() : [];
    return new Set([...planned, ...stored]);
  }

  /** Whether following replacements from one fact arrives at the other. */
  async leadsTo(fromId: string, toId: string): Promise<boolean> {
    const seen = new Set([fromId]);
    for (const id of seen) {
      await this.#follow(id);
      for (const next of this.#successors.get(id) ?? []) {
        if (next === toId) return true;
        seen.add(next);
      }
    }
    return false;
  }

  /** Learns who comes after a fact in the store; nobody has to be asked about twice. */
  async #follow(factId: string): Promise<void> {
    if (this.#followed.has(factId) || this.#inserted.has(factId)) return;
    const { found, isComplete } = await this.store.findReplacements(this.#view, [factId], REPLACEMENTS_MAX);
    this.#followed.add(factId);
    for (const { oldId, newId } of found) {
      include(this.#successors, oldId, newId);
      if (isComplete) this.#followed.add(oldId).add(newId);
    }
  }

  #spaceOf(memory: StoredMemory): SpaceName {
    return memory.scope === 'global' ? GLOBAL_SPACE : this.repoId;
  }
}

function include(sets: Map<string, Set<string>>, key: string, value: string): void {
  const set = sets.get(key);
  if (set) set.add(value);
  else sets.set(key, new Set([value]));
}
