import type { AttachEvidence, Change } from './changes.js';
import type { Member } from './links.js';
import type { Tier } from './vocabulary.js';

/** What a change does, for the one who asked for it. The same list is the preview of a dry run and the report of a commit. */
export type SideEffect =
  | { readonly effect: 'memory_inserted'; readonly memoryId: string; readonly kind: string }
  | { readonly effect: 'node_inserted' | 'node_patched' | 'node_purged'; readonly nodeId: string }
  | {
      readonly effect: 'evidence_attached';
      readonly owner: AttachEvidence['owner'];
      readonly evidenceRefs: readonly string[];
    }
  | {
      readonly effect: 'edge_inserted';
      readonly edgeId: string;
      readonly label: string;
      readonly weight: number;
      readonly members: readonly Member[];
    }
  | { readonly effect: 'edge_patched' | 'edge_removed'; readonly edgeId: string }
  | { readonly effect: 'tier_moved'; readonly memoryId: string; readonly fromTier: Tier; readonly toTier: Tier }
  | {
      readonly effect: 'vote_recorded';
      readonly observationId: string;
      readonly memoryId: string;
      readonly problemId: string;
      readonly vote: number;
    };

export const effectsOf = (changes: readonly Change[]): SideEffect[] => changes.flatMap(effectOf);

function effectOf(change: Change): SideEffect[] {
  switch (change.change) {
    case 'insert_memory':
      return [{ effect: 'memory_inserted', memoryId: change.memory.id, kind: change.memory.kind }];
    case 'insert_node':
      return [{ effect: 'node_inserted', nodeId: change.node.id }];
    case 'patch_node':
      return [{ effect: 'node_patched', nodeId: change.nodeId }];
    case 'purge_node':
      return [{ effect: 'node_purged', nodeId: change.nodeId }];
    case 'patch_edge':
      return [{ effect: 'edge_patched', edgeId: change.edge.id }];
    case 'remove_edge':
      return [{ effect: 'edge_removed', edgeId: change.edge.id }];
    case 'attach_evidence':
      return [{ effect: 'evidence_attached', owner: change.owner, evidenceRefs: change.refs }];
    case 'insert_edge': {
      const { id: edgeId, label, weight, members } = change;
      return [{ effect: 'edge_inserted', edgeId, label, weight, members }];
    }
    case 'move_tier':
      return [{ effect: 'tier_moved', memoryId: change.nodeId, fromTier: change.from, toTier: change.to }];
    case 'record_vote': {
      const { id: observationId, memoryId, problemId, vote } = change;
      return [{ effect: 'vote_recorded', observationId, memoryId, problemId, vote }];
    }
    case 'expect_nodes':
    case 'set_members':
    case 'join_conversation':
    case 'expect_room':
    case 'insert_agent':
    case 'insert_session':
    case 'end_session':
    case 'count_access':
    case 'record_evolution':
    case 'remember_reply':
      return [];
  }
}
