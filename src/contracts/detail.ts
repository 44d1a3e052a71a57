import Type, { type Static } from 'typebox';
import { NODE_TYPES } from '../domain/vocabulary.js';
import type { Chain } from '../services/chain.js';
import type { MemoryDetail } from '../services/memory.js';
import { named, nullable, ref, words } from './schema.js';
import { Confidence, Kind, MemoryId, presentTime, RepoId, RoleWord, ScopeWord, StateWord, Time } from './shared.js';

/** `GET /memory/{memory_id}` and its chain: one memory with everything that hangs on it. */

const Link = named(
  'Link',
  Type.Object({
    edge_id: Type.String(),
    label: Type.String(),
    weight: Type.Number(),
    rationale: nullable(Type.String()),
    created_at: Time,
    members: Type.Array(Type.Object({ memory_id: MemoryId, role: RoleWord })),
  }),
);

const Vote = named(
  'Vote',
  Type.Object({
    observation_id: Type.String(),
    problem_id: Type.String(),
    vote: Type.Number(),
    rationale: nullable(Type.String()),
    evidence_refs: Type.Array(Type.String()),
    created_at: Time,
  }),
);

export const DetailAnswer = named(
  'MemoryDetail',
  Type.Object({
    memory_id: MemoryId,
    form: Type.Literal('memory'),
    kind: Kind,
    type: words([...NODE_TYPES]),
    repo_id: RepoId,
    scope: ScopeWord,
    text: Type.String(),
    confidence: nullable(Confidence),
    rationale: nullable(Type.String()),
    state: StateWord,
    superseded_by: nullable(Type.String(), 'The fact at the end of its chain'),
    archived_at: nullable(Time),
    archive_reason: nullable(Type.String()),
    created_at: Time,
    evidence_refs: Type.Array(Type.String(), { description: 'First attached first' }),
    evidence_complete: Type.Boolean({ description: 'False when it has more evidence than is shown, which is 200' }),
    links: Type.Array(ref(Link), {
      description:
        'Newest first: the newest 200 of each known label, and the strongest 200 of all that say something else',
    }),
    links_complete: Type.Boolean({ description: 'False when it has more links than are shown' }),
    votes: Type.Object({
      count: Type.Integer(),
      mean: Type.Number(),
      items: Type.Array(ref(Vote), { description: 'Newest first; the newest 100 of count' }),
    }),
  }),
);

export const ChainAnswer = named(
  'FactChain',
  Type.Object({
    memory_id: MemoryId,
    chain: Type.Array(
      Type.Object({
        memory_id: MemoryId,
        text: Type.String(),
        state: StateWord,
        scope: ScopeWord,
        confidence: nullable(Confidence),
        created_at: Time,
        change_id: nullable(Type.String(), 'The change that brought it; null for the first'),
        replaced_memory_ids: Type.Array(Type.String()),
        rationale: nullable(Type.String(), 'Why it replaced what it replaced'),
      }),
      { description: 'Oldest to newest' },
    ),
    chain_complete: Type.Boolean({
      description: 'False when the history is longer than is shown, which is the nearest 1,000 replacements',
    }),
  }),
);

export const presentDetail = ({ memory, ...detail }: MemoryDetail): Static<typeof DetailAnswer> => ({
  memory_id: memory.id,
  form: memory.form,
  kind: memory.kind as Static<typeof Kind>,
  type: memory.type,
  repo_id: memory.repoId,
  scope: memory.scope,
  text: memory.content,
  confidence: memory.confidence,
  rationale: memory.rationale,
  state: detail.state,
  superseded_by: detail.supersededBy,
  archived_at: memory.archivedAtMs === null ? null : presentTime(memory.archivedAtMs),
  archive_reason: memory.archiveReason,
  created_at: presentTime(memory.createdAtMs),
  evidence_refs: [...detail.evidenceRefs],
  evidence_complete: detail.evidenceComplete,
  links: detail.edges.map((edge) => ({
    edge_id: edge.id,
    label: edge.label,
    weight: edge.weight,
    rationale: edge.rationale,
    created_at: presentTime(edge.createdAtMs),
    members: edge.members.map((member) => ({ memory_id: member.nodeId, role: member.role })),
  })),
  links_complete: detail.edgesComplete,
  votes: {
    count: detail.voteSum.count,
    mean: detail.voteSum.mean,
    items: detail.votes.map((vote) => ({
      observation_id: vote.id,
      problem_id: vote.problemId,
      vote: vote.vote,
      rationale: vote.rationale,
      evidence_refs: [...vote.evidenceRefs],
      created_at: presentTime(vote.createdAtMs),
    })),
  },
});

export const presentChain = (memoryId: string, chain: Chain): Static<typeof ChainAnswer> => ({
  memory_id: memoryId,
  chain: chain.links.map((link) => ({
    memory_id: link.memory.id,
    text: link.memory.content,
    state: link.state,
    scope: link.memory.scope,
    confidence: link.memory.confidence,
    created_at: presentTime(link.memory.createdAtMs),
    change_id: link.changeId,
    replaced_memory_ids: [...link.replacedIds],
    rationale: link.rationale,
  })),
  chain_complete: chain.isComplete,
});
