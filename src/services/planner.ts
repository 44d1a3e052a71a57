import { createHash } from 'node:crypto';
import type { AttachEvidence, Change, InsertEdge } from '../domain/changes.js';
import { effectsOf } from '../domain/effects.js';
import { FORMS, typeOf } from '../domain/forms.js';
import { edgeKey, type Label, LINKS, type Member, membersOf } from '../domain/links.js';
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
import {
  fieldAt,
  type Operation,
  type Outcome,
  type PlannedMemory,
  type UpdateOperation,
  type WriteOperation,
} from './operations.js';

/** How much of the evidence and of the links of a memory the answer to a write shows; it says when there is more. */
const ATTACHED_SHOWN_MAX = 200;

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

    const before = this.#draft.changes.length;
    if (!same) {
      const terms = indexTerms(memory.content);
      this.#draft.add({ change: 'insert_memory', memory, terms, refuseDuplicate: !allowDuplicate });
    }
    const refs = draft.evidenceRefs.map((text) => text.trim());
    await this.#attach(memory.id, refs, same ? draft.rationale : null);
    const problemId = draft.problemId === null ? null : (targets.get(draft.problemId)?.id ?? null);
    const relatedIds = draft.relatedIds.flatMap((word) => targets.get(word)?.id ?? []).filter((id) => id !== memory.id);
    const links = [
      ...(problemId === null ? [] : [linkOf('attempts', [memory.id, problemId])]),
      ...relatedIds.map((id) => linkOf('related_to', [memory.id, id])),
    ];
    await this.#link(memory.id, links, same ? draft.rationale : null);
    const shown = await this.#shown(memory.id);
    return {
      op: 'write',
      memoryId: memory.id,
      memory: { memory, problemId, ...shown },
      duplicateOf: same?.id ?? null,
      effects: effectsOf(this.#draft.changes.slice(before)),
    };
  }

  /** What hangs on a memory after the write; one more than is shown is asked for, to know whether it is all. */
  async #shown(memoryId: string): Promise<Omit<PlannedMemory, 'memory' | 'problemId'>> {
    const evidence = await this.#draft.evidenceOf(memoryId, ATTACHED_SHOWN_MAX + 1);
    const related = await this.#draft.relatedTo(memoryId, ATTACHED_SHOWN_MAX + 1);
    return {
      evidenceRefs: evidence.slice(0, ATTACHED_SHOWN_MAX),
      evidenceComplete: evidence.length <= ATTACHED_SHOWN_MAX,
      relatedIds: related.slice(0, ATTACHED_SHOWN_MAX),
      linksComplete: related.length <= ATTACHED_SHOWN_MAX,
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
    switch (update.type) {
      case 'archive_state': {
        const home = memory.archivedFrom ?? memory.tier;
        const tier = this.#draft.isArchived(memory) ? 'archive' : home;
        const move = update.archived ? archiveFrom(tier) : restoreTo(tier, home);
        if (!move) return;
        const { rationale: reason } = update;
        this.#draft.add({
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
        this.#draft.add({
          change: 'record_vote',
          id,
          repoId: this.repoId,
          memoryId: memory.id,
          problemId: ids[1] as string,
          vote: update.vote,
          rationale: update.rationale,
          atMs: this.#nowMs,
        });
        this.#addEvidence('vote', id, update.evidenceRefs);
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
        const [edge] = await this.#link(memory.id, [linkOf('fact_update', ids)], update.rationale);
        if (!edge) {
          this.#refuse(
            fieldAt(at, 'update'),
            'conflict',
            'this change already links these two facts; nothing is left to do',
          );
          return;
        }
        this.#addEvidence('edge', edge.id, update.evidenceRefs);
      }
    }
  }

  /** Adds those of a memory's links that are not there yet. */
  async #link(memoryId: string, links: readonly Link[], rationale: string | null): Promise<InsertEdge[]> {
    const keys = links.map(({ label, members }) => edgeKey(label, members));
    const known = await this.#draft.findEdgeKeys(memoryId, keys);
    const edges: InsertEdge[] = [];
    for (const [index, { label, members }] of links.entries()) {
      const key = keys[index] as string;
      if (known.has(key)) continue;
      known.add(key);
      const edge: InsertEdge = {
        change: 'insert_edge',
        id: this.context.newId(),
        repoId: this.repoId,
        type: LINKS[label].type,
        label,
        weight: LINKS[label].weight,
        origin: 'manual',
        rationale,
        members,
        atMs: this.#nowMs,
      };
      this.#draft.add(edge);
      edges.push(edge);
    }
    return edges;
  }

  /** Attaches what is not attached to the memory yet. */
  async #attach(memoryId: string, refs: readonly string[], rationale: string | null): Promise<void> {
    this.#addEvidence('node', memoryId, await this.#draft.missingEvidence(memoryId, refs), rationale);
  }

  #addEvidence(
    of: AttachEvidence['owner']['of'],
    id: string,
    refs: readonly string[],
    rationale: string | null = null,
  ): void {
    if (refs.length === 0) return;
    const trimmed = refs.map((ref) => ref.trim());
    const { repoId } = this;
    this.#draft.add({
      change: 'attach_evidence',
      owner: { of, id },
      repoId,
      refs: trimmed,
      rationale,
      atMs: this.#nowMs,
    });
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
      tier: FORMS.memory.defaultTier,
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

/** An edge to be: what it says and whom it joins. */
interface Link {
  readonly label: Label;
  readonly members: readonly Member[];
}

const linkOf = (label: Label, nodeIds: readonly string[]): Link => ({ label, members: membersOf(label, nodeIds) });

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
