import Type, { type Static } from 'typebox';
import type { Mode } from '../services/memory.js';
import type { Operation, Outcome } from '../services/operations.js';
import { presentEffects, SideEffectReport } from './effects.js';
import { named, nullable, ref, strict, words } from './schema.js';
import { MemoryId, ModeWord, RepoId } from './shared.js';
import { toUpdate, UpdateInput } from './update.js';
import { AllowDuplicate, DuplicateOf, MemoryInput, presentStored, StoredMemory, toDraft } from './write.js';

/** `/memory/batch`: what it accepts and answers. */

const ITEMS_MAX = 100;

export const BatchItem = named(
  'BatchItem',
  Type.Unsafe<BatchItem>({
    type: 'object',
    discriminator: { propertyName: 'op' },
    required: ['op'],
    oneOf: [
      strict({
        op: Type.Literal('write'),
        ref: Type.Optional(
          Type.String({
            pattern: '^[A-Za-z0-9_-]{1,64}$',
            description: 'A name for this memory; later items may write @name where an id is expected',
          }),
        ),
        memory: ref(MemoryInput),
        allow_duplicate: Type.Optional(AllowDuplicate),
      }),
      strict({ op: Type.Literal('update'), memory_id: Type.String(), update: ref(UpdateInput) }),
    ],
  }),
);
export type BatchItem =
  | { op: 'write'; ref?: string; memory: Static<typeof MemoryInput>; allow_duplicate?: boolean }
  | { op: 'update'; memory_id: string; update: UpdateInput };

export const BatchRequest = named(
  'BatchRequest',
  strict(
    {
      repo_id: RepoId,
      mode: Type.Optional(words(['dry_run', 'commit'], { default: 'commit' })),
      items: Type.Array(ref(BatchItem), {
        minItems: 1,
        maxItems: ITEMS_MAX,
        description: 'Carried out in order, all or none. All must belong to the repo, or all to global scope.',
      }),
    },
    {
      examples: [
        {
          repo_id: 'acme/shop',
          items: [
            {
              op: 'write',
              ref: 'slow',
              memory: { text: 'Checkout tests time out', scope: 'repo', kind: 'problem', confidence: 0.9 },
            },
            {
              op: 'write',
              memory: {
                text: 'Raising the Redis pool to 20 stops the time-outs',
                scope: 'repo',
                kind: 'solution',
                confidence: 0.8,
                links: { problem_id: '@slow' },
                evidence_refs: ['commit:4f2a91c'],
              },
            },
          ],
        },
      ],
    },
  ),
);
export type BatchRequest = Static<typeof BatchRequest>;

export const toBatchOperations = (request: BatchRequest): Operation[] =>
  request.items.map((item, index) =>
    item.op === 'write'
      ? {
          op: 'write',
          at: `items.${index}`,
          ref: item.ref ?? null,
          draft: toDraft(item.memory),
          allowDuplicate: item.allow_duplicate ?? false,
        }
      : { op: 'update', at: `items.${index}`, memoryId: item.memory_id, update: toUpdate(item.update) },
  );

export const BatchAnswer = named(
  'BatchAnswer',
  Type.Object({
    mode: ModeWord,
    applied: Type.Boolean({ description: 'False for a dry run: nothing was stored' }),
    results: Type.Array(
      Type.Object({
        op: words(['write', 'update']),
        memory_id: MemoryId,
        duplicate_of: DuplicateOf,
        memory: nullable(ref(StoredMemory)),
        side_effects: Type.Array(ref(SideEffectReport)),
      }),
      { description: 'One result per item, in the order of the items' },
    ),
  }),
);

export const presentBatch = (outcomes: readonly Outcome[], mode: Mode): Static<typeof BatchAnswer> => ({
  mode,
  applied: mode === 'commit',
  results: outcomes.map((outcome) => ({
    op: outcome.op,
    memory_id: outcome.memoryId,
    duplicate_of: outcome.duplicateOf,
    memory: outcome.memory && presentStored(outcome.memory),
    side_effects: presentEffects(outcome.effects),
  })),
});
