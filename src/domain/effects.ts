import type { Change } from './changes.js';

/** What a change does, in the words of the answer. The same list is the preview of a dry run and the report of a commit. */
export interface SideEffect {
  readonly effect: 'memory_inserted' | 'evidence_attached' | 'edge_inserted' | 'tier_moved' | 'vote_recorded';
  readonly [detail: string]: unknown;
}

export const effectsOf = (changes: readonly Change[]): SideEffect[] => changes.flatMap(effectOf);

function effectOf(change: Change): SideEffect[] {
  switch (change.change) {
    case 'insert_memory':
      return [{ effect: 'memory_inserted', memory_id: change.memory.id, kind: change.memory.kind }];
    case 'attach_evidence':
      return [{ effect: 'evidence_attached', to: change.owner.of, id: change.owner.id, evidence_refs: change.refs }];
    case 'insert_edge':
      return [
        {
          effect: 'edge_inserted',
          edge_id: change.id,
          label: change.label,
          weight: change.weight,
          members: change.members.map((member) => ({ memory_id: member.nodeId, role: member.role })),
        },
      ];
    case 'move_tier':
      return [{ effect: 'tier_moved', memory_id: change.nodeId, from_tier: change.from, to_tier: change.to }];
    case 'record_vote':
      return [
        {
          effect: 'vote_recorded',
          observation_id: change.id,
          memory_id: change.memoryId,
          problem_id: change.problemId,
          vote: change.vote,
        },
      ];
    case 'remember_reply':
      return [];
  }
}
