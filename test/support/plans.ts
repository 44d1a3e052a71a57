import { createHash } from 'node:crypto';
import type {
  AttachEvidence,
  Change,
  InsertEdge,
  InsertMemory,
  InsertNode,
  MoveTier,
  PatchNode,
  Plan,
  RecordVote,
  RememberReply,
} from '../../src/domain/changes.js';
import { typeOf } from '../../src/domain/forms.js';
import { type Label, LINKS, membersOf } from '../../src/domain/links.js';
import { type Concept, type Memory, type NodeFields, normalizeText } from '../../src/domain/node.js';
import { GLOBAL_SPACE } from '../../src/domain/spaces.js';
import { indexTerms } from '../../src/domain/terms.js';

/** Changes that are right, to be put together into plans and made wrong in one place. */

export const REPO = 'acme/shop';
export const OTHER_REPO = 'acme/till';

/** The moment at which everything happens unless a test says otherwise. */
export const START_MS = Date.parse('2026-01-01T00:00:00.000Z');

/** Ids that look like the real ones and are the same in every run. */
export const idOf = (number: number): string => `00000000-0000-4000-8000-${String(number).padStart(12, '0')}`;

let lastNumber = 0;
const freshId = (): string => `11111111-1111-4111-8111-${String(++lastNumber).padStart(12, '0')}`;

export const digestOf = (text: string): string => createHash('sha256').update(normalizeText(text)).digest('hex');

export function memoryOf(id: string, fields: Partial<Memory> = {}): Memory {
  const kind = fields.kind ?? 'fact';
  const content = fields.content ?? `memory number ${id.slice(-12)}`;
  const createdAtMs = fields.createdAtMs ?? START_MS;
  return {
    id,
    form: 'memory',
    kind,
    type: typeOf('memory', kind),
    repoId: REPO,
    scope: 'repo',
    content,
    confidence: 0.75,
    tier: 'longterm',
    archivedAtMs: null,
    archiveReason: null,
    revision: 1,
    createdAtMs,
    updatedAtMs: createdAtMs,
    rationale: null,
    textDigest: digestOf(content),
    ...fields,
  };
}

export const insert = (id: string, fields: Partial<Memory> = {}, refuseDuplicate = false): InsertMemory => {
  const memory = memoryOf(id, fields);
  return { change: 'insert_memory', memory, terms: indexTerms(memory.content), refuseDuplicate };
};

export const insertGlobal = (id: string, fields: Partial<Memory> = {}, refuseDuplicate = false): InsertMemory =>
  insert(id, { scope: 'global', ...fields }, refuseDuplicate);

export const concept = (id: string, fields: Partial<Concept> = {}): InsertNode => {
  const node: Concept = {
    id,
    form: 'concept',
    kind: null,
    type: 'fact',
    repoId: REPO,
    scope: 'repo',
    content: `concept ${id}`,
    confidence: 0.5,
    tier: 'task',
    archivedAtMs: null,
    archiveReason: null,
    revision: 1,
    createdAtMs: START_MS,
    updatedAtMs: START_MS,
    provenance: null,
    metadata: {},
    tags: [],
    sessionId: null,
    taskId: null,
    ...fields,
  };
  return { change: 'insert_node', node, terms: indexTerms(node.content) };
};

export const patch = (nodeId: string, fields: NodeFields, more: Partial<PatchNode> = {}): PatchNode => ({
  change: 'patch_node',
  nodeId,
  repoId: REPO,
  expectedRevision: 1,
  fields,
  trigger: 'manual',
  reason: null,
  atMs: START_MS,
  ...more,
});

export const attach = (
  owner: AttachEvidence['owner'],
  refs: readonly string[],
  fields: Partial<AttachEvidence> = {},
): AttachEvidence => ({
  change: 'attach_evidence',
  owner,
  repoId: REPO,
  refs,
  rationale: null,
  atMs: START_MS,
  ...fields,
});

export const link = (label: Label, nodeIds: readonly string[], fields: Partial<InsertEdge> = {}): InsertEdge => ({
  change: 'insert_edge',
  id: freshId(),
  repoId: REPO,
  type: LINKS[label].type,
  label,
  weight: LINKS[label].weight,
  origin: 'manual',
  rationale: null,
  members: membersOf(label, nodeIds),
  atMs: START_MS,
  ...fields,
});

export const move = (nodeId: string, fields: Partial<MoveTier> = {}): MoveTier => ({
  change: 'move_tier',
  nodeId,
  repoId: REPO,
  from: 'longterm',
  to: 'archive',
  reason: null,
  atMs: START_MS,
  ...fields,
});

export const vote = (memoryId: string, problemId: string, fields: Partial<RecordVote> = {}): RecordVote => ({
  change: 'record_vote',
  id: freshId(),
  repoId: REPO,
  memoryId,
  problemId,
  vote: 1,
  rationale: null,
  atMs: START_MS,
  ...fields,
});

export const keep = (key: string, fields: Partial<RememberReply> = {}): RememberReply => ({
  change: 'remember_reply',
  repoId: REPO,
  key,
  requestDigest: digestOf(key),
  reply: JSON.stringify({ answerTo: key }),
  atMs: START_MS,
  forgetBeforeMs: 0,
  ...fields,
});

export const planOf = (...changes: Change[]): Plan => ({ space: REPO, changes });
export const globalPlanOf = (...changes: Change[]): Plan => ({ space: GLOBAL_SPACE, changes });
export const planIn = (space: string, ...changes: Change[]): Plan => ({ space, changes });
