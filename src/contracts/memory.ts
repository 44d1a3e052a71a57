import Type, { type Static } from 'typebox';
import type { SideEffect } from '../domain/effects.js';
import { LINKS } from '../domain/links.js';
import type { MemoryDraft, UpdateDraft } from '../domain/rules.js';
import { NODE_TYPES, TIERS } from '../domain/vocabulary.js';
import type { Mode } from '../services/memory.js';
import type { Operation, Outcome, PlannedMemory } from '../services/planner.js';
import { named, nullable, ref, strict } from './schema.js';
import { Confidence, EXAMPLE_ID, Kind, MemoryId, presentTime, RepoId, RoleWord, ScopeWord, Time } from './shared.js';

/** `/memory/write`, `/memory/update` and `/memory/batch`: what they accept and answer. */

const EvidenceRefs = Type.Array(Type.String(), {
  uniqueItems: true,
  description: 'Where it can be checked: a commit, a file, a session, a message',
  examples: [['commit:4f2a91c', 'session://2026-01-31#12']],
});
const Rationale = Type.String({ description: 'Why it is written' });

export const MemoryInput = named(
  'MemoryInput',
  strict({
    text: Type.String({ minLength: 1, description: 'What to remember; it never changes afterwards' }),
    scope: ScopeWord,
    kind: Kind,
    confidence: Confidence,
    rationale: Type.Optional(Rationale),
    links: Type.Optional(
      strict({
        problem_id: Type.Optional(
          Type.String({
            description: 'The problem that a solution or failed_tactic was tried on; required for those two',
          }),
        ),
        related_memory_ids: Type.Optional(Type.Array(Type.String(), { uniqueItems: true })),
      }),
    ),
    evidence_refs: Type.Optional(EvidenceRefs),
  }),
);

const AllowDuplicate = Type.Boolean({
  default: false,
  description: 'Store it even when a memory of the same scope, kind and text is there already',
});

export const WriteRequest = named(
  'WriteRequest',
  strict(
    {
      op: Type.Literal('write'),
      repo_id: RepoId,
      memory: ref(MemoryInput),
      allow_duplicate: Type.Optional(AllowDuplicate),
    },
    {
      examples: [
        {
          op: 'write',
          repo_id: 'acme/shop',
          memory: {
            text: 'The checkout tests need Redis on port 6380',
            scope: 'repo',
            kind: 'fact',
            confidence: 0.9,
            evidence_refs: ['commit:4f2a91c'],
          },
        },
      ],
    },
  ),
);
export type WriteRequest = Static<typeof WriteRequest> & { memory: Static<typeof MemoryInput> };

export const UpdateInput = named(
  'UpdateInput',
  Type.Unsafe<UpdateInput>({
    type: 'object',
    discriminator: { propertyName: 'type' },
    required: ['type'],
    oneOf: [
      strict({
        type: Type.Literal('archive_state'),
        archived: Type.Boolean({ description: 'True takes it out of default reads, false brings it back' }),
        rationale: Type.Optional(Rationale),
      }),
      strict({
        type: Type.Literal('utility_vote'),
        problem_id: Type.String({ description: 'The problem it helped with, or did not' }),
        vote: Type.Number({ minimum: -1, maximum: 1, description: '1 helped, 0 made no difference, -1 misled' }),
        rationale: Type.Optional(Rationale),
        evidence_refs: Type.Optional(EvidenceRefs),
      }),
      strict({
        type: Type.Literal('fact_update_link'),
        old_fact_id: Type.String({ description: 'The fact that no longer holds' }),
        new_fact_id: Type.String({ description: 'The fact that holds instead' }),
        rationale: Type.Optional(Rationale),
        evidence_refs: Type.Optional(EvidenceRefs),
      }),
    ],
  }),
);
type Reasoned = { rationale?: string };
type Evidenced = Reasoned & { evidence_refs?: string[] };
export type UpdateInput =
  | ({ type: 'archive_state'; archived: boolean } & Reasoned)
  | ({ type: 'utility_vote'; problem_id: string; vote: number } & Evidenced)
  | ({ type: 'fact_update_link'; old_fact_id: string; new_fact_id: string } & Evidenced);

const ModeWord = Type.Enum(['dry_run', 'commit'], { description: 'Check and preview only, or carry out' });

export const UpdateRequest = named(
  'UpdateRequest',
  strict(
    {
      op: Type.Literal('update'),
      repo_id: RepoId,
      memory_id: Type.String({ description: 'The memory concerned; for fact_update_link the change that explains it' }),
      mode: ModeWord,
      update: ref(UpdateInput),
    },
    {
      examples: [
        {
          op: 'update',
          repo_id: 'acme/shop',
          memory_id: EXAMPLE_ID,
          mode: 'commit',
          update: { type: 'archive_state', archived: true },
        },
      ],
    },
  ),
);
export type UpdateRequest = Static<typeof UpdateRequest>;

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
      mode: Type.Optional(Type.Enum(['dry_run', 'commit'], { default: 'commit' })),
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

export const toDraft = (input: Static<typeof MemoryInput>): MemoryDraft => ({
  text: input.text,
  scope: input.scope,
  kind: input.kind,
  confidence: input.confidence,
  rationale: input.rationale ?? null,
  problemId: input.links?.problem_id ?? null,
  relatedIds: input.links?.related_memory_ids ?? [],
  evidenceRefs: input.evidence_refs ?? [],
});

export function toUpdate(input: UpdateInput): UpdateDraft {
  const rationale = input.rationale ?? null;
  switch (input.type) {
    case 'archive_state':
      return { type: input.type, archived: input.archived, rationale };
    case 'utility_vote':
      return {
        type: input.type,
        problemId: input.problem_id,
        vote: input.vote,
        rationale,
        evidenceRefs: input.evidence_refs ?? [],
      };
    case 'fact_update_link':
      return {
        type: input.type,
        oldFactId: input.old_fact_id,
        newFactId: input.new_fact_id,
        rationale,
        evidenceRefs: input.evidence_refs ?? [],
      };
  }
}

export const toWriteOperation = (request: WriteRequest): Operation => ({
  op: 'write',
  at: '',
  ref: null,
  draft: toDraft(request.memory),
  allowDuplicate: request.allow_duplicate ?? false,
});

export const toUpdateOperation = (request: UpdateRequest): Operation => ({
  op: 'update',
  at: '',
  memoryId: request.memory_id,
  update: toUpdate(request.update),
});

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

export const StoredMemory = named(
  'StoredMemory',
  Type.Object({
    memory_id: MemoryId,
    form: Type.Literal('memory'),
    kind: Kind,
    type: Type.Enum([...NODE_TYPES]),
    repo_id: RepoId,
    scope: ScopeWord,
    text: Type.String(),
    confidence: nullable(Confidence),
    rationale: nullable(Rationale),
    links: Type.Object({ problem_id: nullable(Type.String()), related_memory_ids: Type.Array(Type.String()) }),
    evidence_refs: Type.Array(Type.String()),
    created_at: Time,
  }),
);

const tier = () => Type.Optional(Type.Enum([...TIERS]));

/** One object with all the details that any effect has, because a union would be checked again on every answer. */
export const SideEffectReport = named(
  'SideEffect',
  Type.Object(
    {
      effect: Type.Enum(['memory_inserted', 'evidence_attached', 'edge_inserted', 'tier_moved', 'vote_recorded']),
      memory_id: Type.Optional(MemoryId),
      kind: Type.Optional(Kind),
      to: Type.Optional(Type.Enum(['node', 'edge', 'vote'])),
      id: Type.Optional(Type.String()),
      evidence_refs: Type.Optional(Type.Array(Type.String())),
      edge_id: Type.Optional(Type.String()),
      label: Type.Optional(Type.Enum(Object.keys(LINKS))),
      weight: Type.Optional(Type.Number()),
      members: Type.Optional(Type.Array(Type.Object({ memory_id: MemoryId, role: RoleWord }))),
      from_tier: tier(),
      to_tier: tier(),
      observation_id: Type.Optional(Type.String()),
      problem_id: Type.Optional(Type.String()),
      vote: Type.Optional(Type.Number()),
    },
    { description: 'One record that the request adds or moves, in the order it happens' },
  ),
);

const duplicateOf = nullable(Type.String(), 'The memory that already said the same; nothing new was stored');

export const WriteAnswer = named(
  'WriteAnswer',
  Type.Object({
    memory_id: MemoryId,
    duplicate_of: duplicateOf,
    memory: ref(StoredMemory),
    side_effects: Type.Array(ref(SideEffectReport)),
  }),
);

export const UpdateAnswer = named(
  'UpdateAnswer',
  Type.Object({
    memory_id: MemoryId,
    mode: ModeWord,
    applied: Type.Boolean({ description: 'False for a dry run: nothing was stored' }),
    side_effects: Type.Array(ref(SideEffectReport)),
  }),
);

export const BatchAnswer = named(
  'BatchAnswer',
  Type.Object({
    mode: ModeWord,
    applied: Type.Boolean({ description: 'False for a dry run: nothing was stored' }),
    results: Type.Array(
      Type.Object({
        op: Type.Enum(['write', 'update']),
        memory_id: MemoryId,
        duplicate_of: duplicateOf,
        memory: nullable(ref(StoredMemory)),
        side_effects: Type.Array(ref(SideEffectReport)),
      }),
      { description: 'One result per item, in the order of the items' },
    ),
  }),
);

type EffectReport = Static<typeof SideEffectReport>;
const presentEffects = (effects: readonly SideEffect[]): EffectReport[] => effects as unknown as EffectReport[];

const presentStored = ({
  memory,
  evidenceRefs,
  problemId,
  relatedIds,
}: PlannedMemory): Static<typeof StoredMemory> => ({
  memory_id: memory.id,
  form: memory.form,
  kind: memory.kind as Static<typeof Kind>,
  type: memory.type,
  repo_id: memory.repoId,
  scope: memory.scope,
  text: memory.content,
  confidence: memory.confidence,
  rationale: memory.rationale,
  links: { problem_id: problemId, related_memory_ids: [...relatedIds] },
  evidence_refs: [...evidenceRefs],
  created_at: presentTime(memory.createdAtMs),
});

export const presentWrite = (outcome: Outcome): Static<typeof WriteAnswer> => ({
  memory_id: outcome.memoryId,
  duplicate_of: outcome.duplicateOf,
  memory: presentStored(outcome.memory as PlannedMemory),
  side_effects: presentEffects(outcome.effects),
});

export const presentUpdate = (outcome: Outcome, mode: Mode): Static<typeof UpdateAnswer> => ({
  memory_id: outcome.memoryId,
  mode,
  applied: mode === 'commit',
  side_effects: presentEffects(outcome.effects),
});

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
