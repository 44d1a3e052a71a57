import Type, { type Static } from 'typebox';
import type { MemoryDraft } from '../domain/rules.js';
import { NODE_TYPES } from '../domain/vocabulary.js';
import type { Operation, Outcome, PlannedMemory } from '../services/operations.js';
import { presentEffects, SideEffectReport } from './effects.js';
import { named, nullable, ref, strict, words } from './schema.js';
import { Confidence, EvidenceRefs, Kind, MemoryId, presentTime, Rationale, RepoId, ScopeWord, Time } from './shared.js';

/** `/memory/write`: what it accepts and answers. */

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
    evidence_refs: Type.Optional({
      ...EvidenceRefs,
      description:
        'Where it can be checked; at least one for a solution, failed_tactic, fact or change, unless the service is set otherwise',
    }),
  }),
);

export const AllowDuplicate = Type.Boolean({
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

export const toWriteOperation = (request: WriteRequest): Operation => ({
  op: 'write',
  at: '',
  ref: null,
  draft: toDraft(request.memory),
  allowDuplicate: request.allow_duplicate ?? false,
});

export const StoredMemory = named(
  'StoredMemory',
  Type.Object({
    memory_id: MemoryId,
    form: Type.Literal('memory'),
    kind: Kind,
    type: words([...NODE_TYPES]),
    repo_id: RepoId,
    scope: ScopeWord,
    text: Type.String(),
    confidence: nullable(Confidence),
    rationale: nullable(Rationale),
    links: Type.Object({ problem_id: nullable(Type.String()), related_memory_ids: Type.Array(Type.String()) }),
    links_complete: Type.Boolean({
      description: 'False when it is related to more memories than are shown, which is 200; only after repeated writes',
    }),
    evidence_refs: Type.Array(Type.String()),
    evidence_complete: Type.Boolean({
      description: 'False when it has more evidence than is shown, which is 200; only after repeated writes',
    }),
    created_at: Time,
  }),
);

export const DuplicateOf = nullable(Type.String(), 'The memory that already said the same; nothing new was stored');

export const WriteAnswer = named(
  'WriteAnswer',
  Type.Object({
    memory_id: MemoryId,
    duplicate_of: DuplicateOf,
    memory: ref(StoredMemory),
    side_effects: Type.Array(ref(SideEffectReport)),
  }),
);

export const presentStored = ({ memory, ...attached }: PlannedMemory): Static<typeof StoredMemory> => ({
  memory_id: memory.id,
  form: memory.form,
  kind: memory.kind as Static<typeof Kind>,
  type: memory.type,
  repo_id: memory.repoId,
  scope: memory.scope,
  text: memory.content,
  confidence: memory.confidence,
  rationale: memory.rationale,
  links: { problem_id: attached.problemId, related_memory_ids: [...attached.relatedIds] },
  links_complete: attached.linksComplete,
  evidence_refs: [...attached.evidenceRefs],
  evidence_complete: attached.evidenceComplete,
  created_at: presentTime(memory.createdAtMs),
});

export const presentWrite = (outcome: Outcome): Static<typeof WriteAnswer> => ({
  memory_id: outcome.memoryId,
  duplicate_of: outcome.duplicateOf,
  memory: presentStored(outcome.memory as PlannedMemory),
  side_effects: presentEffects(outcome.effects),
});
