import type { EdgeType, Role } from './vocabulary.js';

/** One row per wire word for a relation: which hyperedge it is and which part each member plays. */
export interface LinkRow {
  readonly type: EdgeType;
  readonly roles: readonly Role[];
  /** Strength of a new edge; it scales what an item reached over the edge inherits from its anchor. */
  readonly weight: number;
  /** The contract that alone makes and keeps such edges, because it promises something about them; null when anybody may. */
  readonly keeper: 'memory' | 'episodes' | 'chapters' | 'wisdom' | 'chunks' | null;
  /** The part of which each player has one such edge, whoever else is in it. */
  readonly oneFor?: Role;
  /** Whether the edge is the same whoever is in it: there is one for each thing that its key names. */
  readonly oneForEach?: 'conversation';
}

export const LINKS = {
  attempts: { type: 'relation', roles: ['subject', 'object'], weight: 1, keeper: 'memory' },
  related_to: { type: 'relation', roles: ['participant'], weight: 0.5, keeper: null },
  fact_update: { type: 'causation', roles: ['cause', 'object', 'effect'], weight: 1, keeper: 'memory' },
  supports: { type: 'relation', roles: ['subject', 'object'], weight: 1, keeper: null },
  contradicts: { type: 'relation', roles: ['subject', 'object'], weight: 1, keeper: null },
  validates: { type: 'relation', roles: ['subject', 'object'], weight: 1, keeper: null },
  invalidates: { type: 'relation', roles: ['subject', 'object'], weight: 1, keeper: null },
  causes: { type: 'causation', roles: ['cause', 'effect'], weight: 1, keeper: null },
  blocks: { type: 'causation', roles: ['cause', 'effect'], weight: 1, keeper: 'episodes', oneFor: 'effect' },
  supersedes: {
    type: 'relation',
    roles: ['subject', 'object'],
    weight: 1,
    keeper: 'episodes',
    oneFor: 'subject',
  },
  narrates: {
    type: 'composition',
    roles: ['subject', 'participant'],
    weight: 1,
    keeper: 'chapters',
    oneFor: 'subject',
  },
  distills: {
    type: 'composition',
    roles: ['subject', 'participant'],
    weight: 1,
    keeper: 'wisdom',
    oneFor: 'subject',
  },
  follows: { type: 'relation', roles: ['subject', 'object'], weight: 1, keeper: null },
  context_of: {
    type: 'context',
    roles: ['participant'],
    weight: 1,
    keeper: 'chunks',
    oneForEach: 'conversation',
  },
  summarizes: { type: 'composition', roles: ['subject', 'object'], weight: 1, keeper: null },
} as const satisfies Record<string, LinkRow>;

export type Label = keyof typeof LINKS;

/** The row of a label, if it is one of the known ones. */
export const linkOf = (label: string): LinkRow | null => (Object.hasOwn(LINKS, label) ? LINKS[label as Label] : null);

/** The key of the one edge that everything of a conversation takes part in; who does is no part of it. */
export const conversationKey = (conversationId: string): string => `context_of|${JSON.stringify(conversationId)}`;

export interface Member {
  readonly nodeId: string;
  readonly role: Role;
  readonly position: number;
}

/** The members of a link, in the order of the label's roles; all that are left over have the last role. */
export function membersOf(label: Label, nodeIds: readonly string[]): Member[] {
  const roles: readonly Role[] = LINKS[label].roles;
  return nodeIds.map((nodeId, position) => ({ nodeId, role: roles[position] ?? (roles.at(-1) as Role), position }));
}

/**
 * What makes two edges the same edge: what it says and who plays which part. Members are sorted, so a symmetric link is the same
 * from either end; linking twice therefore meets the unique key instead of making a second row.
 */
export function edgeKey(
  label: string,
  members: readonly Pick<Member, 'nodeId' | 'role'>[],
  type: EdgeType = 'relation',
): string {
  // A known label has one type; a label of the caller's own may be used with any, and may hold any character.
  const name = linkOf(label) ? label : `${type} ${JSON.stringify(label)}`;
  const oneFor = linkOf(label)?.oneFor;
  const counted = oneFor === undefined ? members : members.filter(({ role }) => role === oneFor);
  const parts = counted.map((member) => `${member.role}=${member.nodeId}`).sort();
  return `${name}|${parts.join('|')}`;
}
