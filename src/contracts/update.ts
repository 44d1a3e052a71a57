import Type, { type Static } from 'typebox';
import type { UpdateDraft } from '../domain/rules.js';
import type { Mode } from '../services/memory.js';
import type { Operation, Outcome } from '../services/operations.js';
import { presentEffects, SideEffectReport } from './effects.js';
import { named, ref, strict } from './schema.js';
import { EvidenceRefs, EXAMPLE_ID, MemoryId, ModeWord, Rationale, RepoId } from './shared.js';

/** `/memory/update`: what it accepts and answers. */

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

export const toUpdateOperation = (request: UpdateRequest): Operation => ({
  op: 'update',
  at: '',
  memoryId: request.memory_id,
  update: toUpdate(request.update),
});

export const UpdateAnswer = named(
  'UpdateAnswer',
  Type.Object({
    memory_id: MemoryId,
    mode: ModeWord,
    applied: Type.Boolean({ description: 'False for a dry run: nothing was stored' }),
    side_effects: Type.Array(ref(SideEffectReport)),
  }),
);

export const presentUpdate = (outcome: Outcome, mode: Mode): Static<typeof UpdateAnswer> => ({
  memory_id: outcome.memoryId,
  mode,
  applied: mode === 'commit',
  side_effects: presentEffects(outcome.effects),
});
