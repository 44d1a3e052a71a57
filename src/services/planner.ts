import { createHash } from 'node:crypto';
import type { AttachEvidence, Change, InsertEdge } from '../domain/changes.js';
import { effectsOf } from '../domain/effects.js';
import { typeOf } from '../domain/forms.js';
import { type Label, LINKS, membersOf } from '../domain/links.js';
import { normalizeText } from '../domain/node.js';
import {
  checkDistinct,
  checkReference,
  checkRepoId,
  checkUpdate,
  checkWrite,
  type MemoryDraft,
  type Reference,
} from '../domain/rules.js';
import { GLOBAL_SPACE, type SpaceName, spaceOfRelation } from '../domain/spaces.js';
import { indexTerms } from '../domain/terms.js';
import { archiveFrom, restoreTo } from '../domain/tiers.js';
import { GateFailure, type Violation } from '../domain/violations.js';
import type { StoredMemory } from '../storage/port.js';
import type { Context } from './context.js';
import { Draft } from './draft.js';
import { fieldAt, type Operation, type Outcome, type UpdateOperation, type WriteOperation } from './operations.js';

export interface Planned {
  readonly space: SpaceName;
  readonly changes: readonly Change[];
  readonly outcomes: readonly Outcome[];
}

/** Runs the semantic gate, then the integrity gate, over all operations; what passes both is a plan for one space. */
export async function planOperations(
  context: Context,
  repoId: string,
  operations: readonly Operation[],
): Promise<Planned> {
  const violations = [
    ...checkRepoId('repo_id', repoId),
    ...operations.flatMap((operation) =>
      operation.op === 'write'
        ? checkWrite(fieldAt(operation.at, 'memory'), operation.draft, context.evidenceKinds)
        : checkUpdate(operation.at, operation.memoryId, operation.update),
    ),
    ...checkNames(operations),
  ];
  if (violations.length > 0) throw new GateFailure('semantic', violations);
  return new Planner(context, repoId).plan(operations);
}

function checkNames(operations: readonly Operation[]): Violation[] {
  const seen = new Set<string>();
  const violations: Violation[] = [];
  for (const operation of operations) {
    if (operation.op !== 'write' || operation.ref === null) continue;
    const field = fieldAt(operation.at, 'ref');
    const message = 'names an earlier item already; use each name once';
    if (seen.has(operation.ref)) violations.push({ field, code: 'semantic_error', message });
    seen.add(operation.ref);
  }
  return violations;
}

class Planner {
  readonly #nowMs: number;
  readonly #draft: Draft;
  readonly #violations: Violation[] = [];
  readonly #spaces = new Set<SpaceName>();

  constructor(
    private readonly context: Context,
    private readonly repoId: string,
  ) {
    this.#nowMs = context.now();
    this.#draft = new Draft(context.store, repoId);
  }

  async plan(operations: readonly Operation[]): Promise<Planned> {
    const outcomes: Outcome[] = [];
    for (const operation of operations) {
      outcomes.push(operation.op === 'write' ? await this.#write(operation) : await this.#update(operation));
    }
    if (this.#spaces.size > 1) {
      this.#refuse(
        'items',
        'integrity_error',
        'write into the repo and into global scope at once; send them as two requests',
      );
    }
    if (this.#violations.length > 0) throw new GateFailure('integrity', this.#violations);
    return { space: [...this.#spaces][0] ?? this.repoId, changes: this.#draft.changes, outcomes };
  }

  async #write({ at, ref, draft, allowDuplicate }: WriteOperation): Promise<Outcome> {
    const space = draft.scope === 'global' ? GLOBAL_SPACE : this.repoId;
    this.#spaces.add(space);
    const targets = await this.#resolve(referencesOf(fieldAt(at, 'memory.links'), draft));
    const textDigest = createHash('sha256').update(normalizeText(draft.text)).digest('hex');
    const same = allowDuplicate ? null : await this.#draft.findSame(space, draft.kind, textDigest);
    const memory = same ?? this.#newMemory(draft, textDigest);
    if (ref !== null) this.#draft.name(ref, memory.id);

    const { changes } = this.#draft;
    const before = changes.length;
    if (!same) {
      this.#draft.insert(memory);
      changes.push({
        change: 'insert_memory',
        memory,
        terms: indexTerms(memory.content),
        refuseDuplicate: !allowDuplicate,
      });
    }
    const known = await this.#draft.evidenceOf(memory.id);
    const evidence = draft.evidenceRefs.map((reference) => reference.trim()).filter((text) => !known.includes(text));
    if (evidence.length > 0) changes.push(this.#evidence('node', memory.id, evidence));
    const problemId = draft.problemId === null ? undefined : targets.get(draft.problemId)?.id;
    if (problemId !== undefined) await this.#link('attempts', [memory.id, problemId]);
    for (const word of draft.relatedIds) {
      const relatedId = targets.get(word)?.id;
      if (relatedId !== undefined && relatedId !== memory.id) await this.#link('related_to', [memory.id, relatedId]);
    }
    return {
      op: 'write',
      memoryId: memory.id,
      memory: {
        memory,
        evidenceRefs: await this.#draft.evidenceOf(memory.id),
        problemId: problemId ?? (await this.#draft.joinedTo('attempts', memory.id))[0] ?? null,
        relatedIds: await this.#draft.joinedTo('related_to', memory.id),
      },
      duplicateOf: same?.id ?? null,
      effects: effectsOf(changes.slice(before)),
    };
  }

  async #update(operation: UpdateOperation): Promise<Outcome> {
    const before = this.#draft.changes.length;
    const references = referencesOfUpdate(operation);
    const targets = await this.#resolve(references);
    const found = references.flatMap((reference) => targets.get(reference.id) ?? []);
    if (found.length === references.length) {
      const ids = found.map((memory) => memory.id);
      const violations = checkDistinct(references, ids);
      this.#violations.push(...violations);
      this.#spaces.add(
        spaceOfRelation(
          this.repoId,
          found.map((memory) => memory.scope),
        ),
      );
      if (violations.length === 0) await this.#applyUpdate(operation, found[0] as StoredMemory, ids);
    }
    return {
      op: 'update',
      memoryId: targets.get(operation.memoryId)?.id ?? operation.memoryId,
      memory: null,
      duplicateOf: null,
      effects: effectsOf(this.#draft.changes.slice(before)),
    };
  }

  /** `ids` are the update's members in the order of its references: the memory itself, then what it names. */
  async #applyUpdate({ at, update }: UpdateOperation, memory: StoredMemory, ids: readonly string[]): Promise<void> {
    const { changes } = this.#draft;
    switch (update.type) {
      case 'archive_state': {
        const home = memory.archivedFrom ?? (memory.tier === 'archive' ? 'longterm' : memory.tier);
        const tier = this.#draft.isArchived(memory) ? 'archive' : home;
        const move = update.archived ? archiveFrom(tier) : restoreTo(tier, home);
        if (!move) return;
        const { rationale: reason } = update;
        changes.push({
          change: 'move_tier',
          nodeId: memory.id,
          repoId: this.repoId,
          ...move,
          reason,
          atMs: this.#nowMs,
        });
        return;
      }
      case 'utility_vote': {
        const id = this.context.newId();
        changes.push({
          change: 'record_vote',
          id,
          repoId: this.repoId,
          memoryId: memory.id,
          problemId: ids[1] as string,
          vote: update.vote,
          rationale: update.rationale,
          atMs: this.#nowMs,
        });
        if (update.evidenceRefs.length > 0) changes.push(this.#evidence('vote', id, update.evidenceRefs));
        return;
      }
      case 'fact_update_link': {
        const [, oldId, newId] = ids as [string, string, string];
        if (await this.#draft.leadsTo(newId, oldId)) {
          this.#refuse(
            fieldAt(at, 'update.new_fact_id'),
            'integrity_error',
            'was itself replaced by old_fact_id; write the fact anew instead of turning the chain into a circle',
          );
          return;
        }
        const edge = await this.#link('fact_update', ids, update.rationale);
        if (!edge) {
          this.#refuse(
            fieldAt(at, 'update'),
            'conflict',
            'this change already links these two facts; nothing is left to do',
          );
          return;
        }
        if (update.evidenceRefs.length > 0) changes.push(this.#evidence('edge', edge.id, update.evidenceRefs));
      }
    }
  }

  /** Adds an edge that is not there yet; null when it is. */
  async #link(label: Label, nodeIds: readonly string[], rationale: string | null = null): Promise<InsertEdge | null> {
    if (await this.#draft.hasEdge(label, nodeIds)) return null;
    const edge: InsertEdge = {
      change: 'insert_edge',
      id: this.context.newId(),
      repoId: this.repoId,
      label,
      weight: LINKS[label].weight,
      origin: 'manual',
      rationale,
      members: membersOf(label, nodeIds),
      atMs: this.#nowMs,
      // Only a fact link is a statement of its own; the others are there or they are not.
      ifExists: label === 'fact_update' ? 'conflict' : 'keep',
    };
    this.#draft.changes.push(edge);
    return edge;
  }

  #evidence(of: AttachEvidence['owner']['of'], id: string, refs: readonly string[]): AttachEvidence {
    const trimmed = refs.map((ref) => ref.trim());
    return { change: 'attach_evidence', owner: { of, id }, repoId: this.repoId, refs: trimmed, atMs: this.#nowMs };
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

  /** Looks the references up and checks them; the answer holds those that exist, by the id or name the request used. */
  async #resolve(references: readonly Reference[]): Promise<Map<string, StoredMemory>> {
    if (references.length === 0) return new Map();
    const found = await this.#draft.findMemories(references.map((reference) => reference.id));
    for (const reference of references) this.#violations.push(...checkReference(reference, found.get(reference.id)));
    return found;
  }

  #refuse(field: string, code: Violation['code'], message: string): void {
    this.#violations.push({ field, code, message });
  }
}

function referencesOf(at: string, draft: MemoryDraft): Reference[] {
  const fromGlobal = draft.scope === 'global';
  const references: Reference[] = draft.relatedIds.map((id, index) => ({
    field: `${at}.related_memory_ids.${index}`,
    id,
    kind: null,
    fromGlobal,
  }));
  if (draft.problemId === null) return references;
  return [...references, { field: `${at}.problem_id`, id: draft.problemId, kind: 'problem', fromGlobal }];
}

/** The memory itself first, then what the update names. */
function referencesOfUpdate({ at, memoryId, update }: UpdateOperation): Reference[] {
  const target = (field: string, id: string, kind: Reference['kind']): Reference => ({
    field: fieldAt(at, field),
    id,
    kind,
    fromGlobal: false,
  });
  switch (update.type) {
    case 'archive_state':
      return [target('memory_id', memoryId, null)];
    case 'utility_vote':
      return [target('memory_id', memoryId, null), target('update.problem_id', update.problemId, 'problem')];
    case 'fact_update_link':
      return [
        target('memory_id', memoryId, 'change'),
        target('update.old_fact_id', update.oldFactId, 'fact'),
        target('update.new_fact_id', update.newFactId, 'fact'),
      ];
  }
}
