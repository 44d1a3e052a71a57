import { createHash } from 'node:crypto';
import type { Change, InsertEdge } from '../domain/changes.js';
import { effectsOf, type SideEffect } from '../domain/effects.js';
import { isIdOf, typeOf } from '../domain/forms.js';
import { edgeKey, type Label, LINKS, membersOf } from '../domain/links.js';
import { type Memory, normalizeText } from '../domain/node.js';
import {
  checkReference,
  checkRepoId,
  checkUpdate,
  checkWrite,
  type MemoryDraft,
  type Reference,
  type UpdateDraft,
} from '../domain/rules.js';
import { GLOBAL_SPACE, type SpaceName, spaceOfRelation, viewOf } from '../domain/spaces.js';
import { indexTerms } from '../domain/terms.js';
import { archiveFrom, restoreTo } from '../domain/tiers.js';
import { GateFailure, type Violation } from '../domain/violations.js';
import type { StoredMemory } from '../storage/port.js';
import type { Context } from './context.js';

/** One operation of a request. `at` is the path of its body, '' for a request that is one operation. */
export type Operation =
  | {
      readonly op: 'write';
      readonly at: string;
      /** The name by which later operations of the same batch may refer to what this one writes. */
      readonly ref: string | null;
      readonly draft: MemoryDraft;
      readonly allowDuplicate: boolean;
    }
  | { readonly op: 'update'; readonly at: string; readonly memoryId: string; readonly update: UpdateDraft };

export interface Outcome {
  readonly op: 'write' | 'update';
  readonly memoryId: string;
  /** The memory as stored; only for writes. */
  readonly memory: PlannedMemory | null;
  /** The memory that already said the same; only for writes. */
  readonly duplicateOf: string | null;
  readonly effects: readonly SideEffect[];
}

/** A memory with what its write attached to it. */
export interface PlannedMemory {
  readonly memory: Memory;
  readonly evidenceRefs: readonly string[];
  readonly problemId: string | null;
  readonly relatedIds: readonly string[];
}

export interface Planned {
  readonly space: SpaceName;
  readonly changes: readonly Change[];
  readonly outcomes: readonly Outcome[];
}

/** Marks the name of an earlier operation where an id is expected. No id can begin with it. */
const REF_MARK = '@';
const FACT_CHAIN_MAX = 1_000;
const EDGES_PER_NODE_MAX = 500;

/** Runs the semantic gate, then the integrity gate, over all operations; what passes both is a plan for one space. */
export async function planOperations(
  context: Context,
  repoId: string,
  operations: readonly Operation[],
): Promise<Planned> {
  const semantic = [
    ...checkRepoId('repo_id', repoId),
    ...operations.flatMap((operation) =>
      operation.op === 'write'
        ? checkWrite(joinPath(operation.at, 'memory'), operation.draft, context.evidenceKinds)
        : checkUpdate(operation.at, operation.memoryId, operation.update),
    ),
    ...checkRefs(operations),
  ];
  if (semantic.length > 0) throw new GateFailure('semantic', semantic);
  return new Planner(context, repoId).plan(operations);
}

const joinPath = (at: string, field: string): string => (at === '' ? field : `${at}.${field}`);

function checkRefs(operations: readonly Operation[]): Violation[] {
  const seen = new Set<string>();
  const violations: Violation[] = [];
  for (const operation of operations) {
    if (operation.op !== 'write' || operation.ref === null) continue;
    if (seen.has(operation.ref)) {
      violations.push({
        field: joinPath(operation.at, 'ref'),
        code: 'semantic_error',
        message: 'names an earlier item already; use each name once',
      });
    }
    seen.add(operation.ref);
  }
  return violations;
}

class Planner {
  readonly #nowMs: number;
  /** Memories that earlier operations of this request write, or found already there. */
  readonly #drafted = new Map<string, StoredMemory>();
  readonly #refs = new Map<string, string>();
  readonly #archived = new Map<string, boolean>();
  readonly #edgeKeys = new Set<string>();
  /** Memories that are new with this request: nothing in the store can hang on them yet. */
  readonly #insertedIds = new Set<string>();
  /** Replacements that earlier operations of this request make. */
  readonly #replacements: { readonly oldId: string; readonly newId: string }[] = [];
  readonly #violations: Violation[] = [];
  readonly #spaces = new Set<SpaceName>();

  constructor(
    private readonly context: Context,
    private readonly repoId: string,
  ) {
    this.#nowMs = context.now();
  }

  async plan(operations: readonly Operation[]): Promise<Planned> {
    const steps: { changes: Change[]; outcome: Outcome }[] = [];
    for (const operation of operations) {
      steps.push(operation.op === 'write' ? await this.#write(operation) : await this.#update(operation));
    }
    if (this.#spaces.size > 1) {
      this.#refuse(
        'items',
        'integrity_error',
        'write into the repo and into global scope at once; send them as two requests',
      );
    }
    if (this.#violations.length > 0) throw new GateFailure('integrity', this.#violations);
    return {
      space: [...this.#spaces][0] ?? this.repoId,
      changes: steps.flatMap((step) => step.changes),
      outcomes: steps.map((step) => step.outcome),
    };
  }

  async #write(operation: Extract<Operation, { op: 'write' }>): Promise<{ changes: Change[]; outcome: Outcome }> {
    const { draft } = operation;
    const at = joinPath(operation.at, 'memory');
    const space = draft.scope === 'global' ? GLOBAL_SPACE : this.repoId;
    this.#spaces.add(space);
    const fromGlobal = draft.scope === 'global';
    const references: Reference[] = draft.relatedIds.map((id, index) => ({
      field: `${at}.links.related_memory_ids.${index}`,
      id,
      kind: null,
      fromGlobal,
    }));
    if (draft.problemId !== null)
      references.push({ field: `${at}.links.problem_id`, id: draft.problemId, kind: 'problem', fromGlobal });
    const targets = await this.#resolve(references);

    const textDigest = createHash('sha256').update(normalizeText(draft.text)).digest('hex');
    const duplicate = operation.allowDuplicate ? null : await this.#findDuplicate(space, draft.kind, textDigest);
    const memory = duplicate ?? this.#newMemory(draft, textDigest);
    this.#drafted.set(memory.id, memory);
    if (operation.ref !== null) this.#refs.set(operation.ref, memory.id);

    const changes: Change[] = [];
    if (!duplicate) {
      this.#insertedIds.add(memory.id);
      changes.push({
        change: 'insert_memory',
        memory,
        terms: indexTerms(memory.content),
        refuseDuplicate: !operation.allowDuplicate,
      });
    }
    const known = duplicate
      ? await this.#attachments(duplicate.id)
      : { evidenceRefs: [], problemId: null, relatedIds: [] };
    const refs = draft.evidenceRefs.map((ref) => ref.trim());
    const newRefs = refs.filter((ref) => !known.evidenceRefs.includes(ref));
    if (newRefs.length > 0) changes.push(this.#evidence('node', memory.id, newRefs));
    const problemId = draft.problemId === null ? null : (targets.get(draft.problemId)?.id ?? null);
    if (problemId !== null) changes.push(...(await this.#edge('attempts', [memory.id, problemId], null)));
    const relatedIds = draft.relatedIds.flatMap((id) => targets.get(id)?.id ?? []).filter((id) => id !== memory.id);
    for (const relatedId of relatedIds) changes.push(...(await this.#edge('related_to', [memory.id, relatedId], null)));

    const planned: PlannedMemory = {
      memory,
      evidenceRefs: [...known.evidenceRefs, ...newRefs],
      problemId: problemId ?? known.problemId,
      relatedIds: [...new Set([...known.relatedIds, ...relatedIds])],
    };
    return {
      changes,
      outcome: {
        op: 'write',
        memoryId: memory.id,
        memory: planned,
        duplicateOf: duplicate?.id ?? null,
        effects: effectsOf(changes),
      },
    };
  }

  async #update(operation: Extract<Operation, { op: 'update' }>): Promise<{ changes: Change[]; outcome: Outcome }> {
    const { update } = operation;
    const path = (field: string): string => joinPath(operation.at, field);
    const target = (field: string, id: string, kind: Reference['kind']): Reference => ({
      field: path(field),
      id,
      kind,
      fromGlobal: false,
    });
    const references = [target('memory_id', operation.memoryId, update.type === 'fact_update_link' ? 'change' : null)];
    if (update.type === 'utility_vote') references.push(target('update.problem_id', update.problemId, 'problem'));
    if (update.type === 'fact_update_link') {
      references.push(
        target('update.old_fact_id', update.oldFactId, 'fact'),
        target('update.new_fact_id', update.newFactId, 'fact'),
      );
    }
    const failuresBefore = this.#violations.length;
    const targets = await this.#resolve(references);
    const memory = targets.get(operation.memoryId);
    const outcomeOf = (changes: Change[]): { changes: Change[]; outcome: Outcome } => ({
      changes,
      outcome: {
        op: 'update',
        memoryId: memory?.id ?? operation.memoryId,
        memory: null,
        duplicateOf: null,
        effects: effectsOf(changes),
      },
    });
    if (!memory || this.#violations.length > failuresBefore) return outcomeOf([]);
    const scopes = references.map((reference) => targets.get(reference.id)?.scope ?? 'repo');
    this.#spaces.add(spaceOfRelation(this.repoId, scopes));

    switch (update.type) {
      case 'archive_state':
        return outcomeOf(this.#archiveState(memory, update.archived, update.rationale));
      case 'utility_vote': {
        const id = this.context.newId();
        return outcomeOf([
          {
            change: 'record_vote',
            id,
            repoId: this.repoId,
            memoryId: memory.id,
            problemId: (targets.get(update.problemId) as StoredMemory).id,
            vote: update.vote,
            rationale: update.rationale,
            atMs: this.#nowMs,
          },
          ...(update.evidenceRefs.length > 0 ? [this.#evidence('vote', id, update.evidenceRefs)] : []),
        ]);
      }
      case 'fact_update_link': {
        const oldId = (targets.get(update.oldFactId) as StoredMemory).id;
        const newId = (targets.get(update.newFactId) as StoredMemory).id;
        return outcomeOf(await this.#factUpdate(path, memory.id, oldId, newId, update.rationale, update.evidenceRefs));
      }
    }
  }

  #archiveState(memory: StoredMemory, archived: boolean, reason: string | null): Change[] {
    const isArchived = this.#archived.get(memory.id) ?? memory.tier === 'archive';
    const home = memory.archivedFrom ?? (memory.tier === 'archive' ? 'longterm' : memory.tier);
    const move = archived ? archiveFrom(isArchived ? 'archive' : home) : restoreTo(isArchived ? 'archive' : home, home);
    if (!move) return [];
    this.#archived.set(memory.id, archived);
    return [{ change: 'move_tier', nodeId: memory.id, repoId: this.repoId, ...move, reason, atMs: this.#nowMs }];
  }

  async #factUpdate(
    path: (field: string) => string,
    changeId: string,
    oldId: string,
    newId: string,
    rationale: string | null,
    evidenceRefs: readonly string[],
  ): Promise<Change[]> {
    if (await this.#leadsTo(newId, oldId)) {
      this.#refuse(
        path('update.new_fact_id'),
        'integrity_error',
        'was itself replaced by old_fact_id; write the fact anew instead of turning the chain into a circle',
      );
      return [];
    }
    const changes = await this.#edge('fact_update', [changeId, oldId, newId], rationale);
    const edge = changes[0];
    if (!edge) {
      this.#refuse(path('update'), 'conflict', 'this change already links these two facts; nothing is left to do');
      return [];
    }
    this.#replacements.push({ oldId, newId });
    return evidenceRefs.length > 0 ? [edge, this.#evidence('edge', edge.id, evidenceRefs)] : [edge];
  }

  /** Whether following replacements from one fact arrives at the other. */
  async #leadsTo(fromId: string, toId: string): Promise<boolean> {
    const view = viewOf(this.repoId, { includeArchived: true });
    const seen = new Set<string>();
    let frontier = [fromId];
    while (frontier.length > 0 && seen.size < FACT_CHAIN_MAX) {
      for (const id of frontier) seen.add(id);
      const edges = await this.context.store.findEdges(view, frontier, ['fact_update'], EDGES_PER_NODE_MAX);
      const next = edges
        .filter((edge) => edge.members.some((member) => member.role === 'object' && seen.has(member.nodeId)))
        .flatMap((edge) => edge.members.filter((member) => member.role === 'effect').map((member) => member.nodeId));
      next.push(...this.#replacements.filter(({ oldId }) => seen.has(oldId)).map(({ newId }) => newId));
      if (next.includes(toId)) return true;
      frontier = next.filter((id) => !seen.has(id));
    }
    return false;
  }

  /** An edge that is not there yet, or nothing. */
  async #edge(label: Label, nodeIds: readonly string[], rationale: string | null): Promise<InsertEdge[]> {
    const members = membersOf(label, nodeIds);
    const key = edgeKey(label, members);
    if (this.#edgeKeys.has(key)) return [];
    this.#edgeKeys.add(key);
    if (!this.#insertedIds.has(nodeIds[0] as string) && (await this.#hasEdge(label, nodeIds[0] as string, key)))
      return [];
    return [
      {
        change: 'insert_edge',
        id: this.context.newId(),
        repoId: this.repoId,
        label,
        weight: LINKS[label].weight,
        origin: 'manual',
        rationale,
        members,
        atMs: this.#nowMs,
        // Only a fact link is a statement of its own; the others are there or they are not.
        ifExists: label === 'fact_update' ? 'conflict' : 'keep',
      },
    ];
  }

  async #hasEdge(label: Label, nodeId: string, key: string): Promise<boolean> {
    const view = viewOf(this.repoId, { includeArchived: true });
    const edges = await this.context.store.findEdges(view, [nodeId], [label], EDGES_PER_NODE_MAX);
    return edges.some((edge) => edgeKey(edge.label, edge.members) === key);
  }

  #evidence(of: 'node' | 'edge' | 'vote', id: string, refs: readonly string[]): Change {
    return {
      change: 'attach_evidence',
      owner: { of, id },
      repoId: this.repoId,
      refs: refs.map((ref) => ref.trim()),
      atMs: this.#nowMs,
    };
  }

  #newMemory(draft: MemoryDraft, textDigest: string): StoredMemory {
    return {
      id: this.context.newId(),
      form: 'memory',
      kind: draft.kind,
      type: typeOf('memory', draft.kind),
      repoId: this.repoId,
      scope: draft.scope,
      content: draft.text,
      confidence: draft.confidence,
      tier: 'longterm',
      archived: false,
      archivedFrom: null,
      archivedAtMs: null,
      archiveReason: null,
      revision: 1,
      createdAtMs: this.#nowMs,
      updatedAtMs: this.#nowMs,
      rationale: draft.rationale,
      textDigest,
    };
  }

  async #findDuplicate(space: SpaceName, kind: string, textDigest: string): Promise<StoredMemory | null> {
    for (const memory of this.#drafted.values()) {
      const sameSpace = (memory.scope === 'global' ? GLOBAL_SPACE : this.repoId) === space;
      if (sameSpace && memory.kind === kind && memory.textDigest === textDigest) return memory;
    }
    const id = await this.context.store.findDuplicate(space, kind, textDigest);
    if (id === null || this.#archived.get(id)) return null;
    const [memory] = await this.context.store.getMemories(viewOf(this.repoId, { includeArchived: true }), [id]);
    return memory ?? null;
  }

  async #attachments(id: string): Promise<{ evidenceRefs: string[]; problemId: string | null; relatedIds: string[] }> {
    const view = viewOf(this.repoId, { includeArchived: true });
    const evidenceRefs = await this.context.store.findEvidence(view, id);
    const edges = await this.context.store.findEdges(view, [id], ['attempts', 'related_to'], EDGES_PER_NODE_MAX);
    const others = (label: Label): string[] =>
      edges
        .filter((edge) => edge.label === label)
        .flatMap((edge) => edge.members.map((member) => member.nodeId))
        .filter((nodeId) => nodeId !== id);
    return { evidenceRefs, problemId: others('attempts')[0] ?? null, relatedIds: others('related_to') };
  }

  /** Looks the references up and checks them; the answer holds those that exist, by the id or name the request used. */
  async #resolve(references: readonly Reference[]): Promise<Map<string, StoredMemory>> {
    const wanted = new Map(references.map(({ id }) => [id, this.#refs.get(id.slice(1)) ?? id]));
    for (const given of wanted.keys()) if (!given.startsWith(REF_MARK)) wanted.set(given, given);
    const stored = [...wanted.values()].filter((id) => !this.#drafted.has(id) && isIdOf('memory', id));
    const loaded = await this.context.store.getMemories(viewOf(this.repoId, { includeArchived: true }), stored);
    const found = new Map(loaded.map((memory) => [memory.id, memory]));
    const resolved = new Map<string, StoredMemory>();
    for (const [given, id] of wanted) {
      const memory = this.#drafted.get(id) ?? found.get(id);
      if (memory) resolved.set(given, memory);
    }
    for (const reference of references) this.#violations.push(...checkReference(reference, resolved.get(reference.id)));
    return resolved;
  }

  #refuse(field: string, code: Violation['code'], message: string): void {
    this.#violations.push({ field, code, message });
  }
}
