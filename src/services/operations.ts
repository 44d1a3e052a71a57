import type { SideEffect } from '../domain/effects.js';
import type { Memory } from '../domain/node.js';
import type { MemoryDraft, UpdateDraft } from '../domain/rules.js';

/** One operation of a request. `at` is the path of its body, '' for a request that is one operation. */
export type Operation = WriteOperation | UpdateOperation;

export interface WriteOperation {
  readonly op: 'write';
  readonly at: string;
  /** The name by which later operations of the same batch may refer to what this one writes. */
  readonly ref: string | null;
  readonly draft: MemoryDraft;
  readonly allowDuplicate: boolean;
}

export interface UpdateOperation {
  readonly op: 'update';
  readonly at: string;
  readonly memoryId: string;
  readonly update: UpdateDraft;
}

export interface Outcome {
  readonly op: 'write' | 'update';
  readonly memoryId: string;
  /** The memory as stored; only for writes. */
  readonly memory: PlannedMemory | null;
  /** The memory that already said the same; only for writes. */
  readonly duplicateOf: string | null;
  readonly effects: readonly SideEffect[];
}

/** A memory with what is attached to it. */
export interface PlannedMemory {
  readonly memory: Memory;
  readonly problemId: string | null;
  readonly relatedIds: readonly string[];
  /** Whether these are all it is related to. */
  readonly linksComplete: boolean;
  readonly evidenceRefs: readonly string[];
  readonly evidenceComplete: boolean;
}

export const fieldAt = (at: string, field: string): string => (at === '' ? field : `${at}.${field}`);
