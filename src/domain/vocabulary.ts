/** The closed words of the graph. A word lives here once; contracts, constraints and documents are drawn from it. */

/** What a node is in the ontology shared by every form. */
export const NODE_TYPES = ['entity', 'fact', 'experience', 'decision', 'snippet'] as const;
export type NodeType = (typeof NODE_TYPES)[number];

export const TIERS = ['task', 'session', 'longterm', 'archive'] as const;
export type Tier = (typeof TIERS)[number];

/** Where a node is visible: in its own repo only, or from every repo. */
export const SCOPES = ['repo', 'global'] as const;
export type Scope = (typeof SCOPES)[number];

export const EDGE_TYPES = ['relation', 'composition', 'causation', 'context'] as const;
export type EdgeType = (typeof EDGE_TYPES)[number];

export const ROLES = ['subject', 'object', 'context', 'participant', 'cause', 'effect'] as const;
export type Role = (typeof ROLES)[number];

/** Who made an edge: a caller by hand, or the service by a rule. */
export const ORIGINS = ['manual', 'auto'] as const;
export type Origin = (typeof ORIGINS)[number];

export const MEMORY_KINDS = ['problem', 'solution', 'failed_tactic', 'fact', 'preference', 'change'] as const;
export type MemoryKind = (typeof MEMORY_KINDS)[number];

/** What an episode of work was about. */
export const TASK_TYPES = [
  'bug_fix',
  'feature_add',
  'refactor',
  'investigation',
  'test_write',
  'documentation',
  'optimization',
  'security_fix',
  'dependency_update',
  'configuration',
  'other',
] as const;
export type TaskType = (typeof TASK_TYPES)[number];

export const ACTION_TYPES = [
  'file_read',
  'file_edit',
  'file_create',
  'file_delete',
  'command_run',
  'search',
  'external_query',
] as const;
export type ActionType = (typeof ACTION_TYPES)[number];

export const FAILURE_CATEGORIES = [
  'incorrect_assumption',
  'unexpected_side_effect',
  'missing_dependency',
  'race_condition',
  'type_error',
  'test_failure',
  'build_failure',
  'runtime_error',
  'logic_error',
  'other',
] as const;
export type FailureCategory = (typeof FAILURE_CATEGORIES)[number];

export const VERIFICATION_TYPES = ['test', 'build', 'manual', 'lint', 'typecheck'] as const;

/** What an episode did with a file; the stronger ones last. */
export const FILE_OPERATIONS = ['relevant', 'read', 'edit', 'create', 'delete'] as const;
export type FileOperation = (typeof FILE_OPERATIONS)[number];

export const AGENT_TYPES = ['main', 'subagent'] as const;
export type AgentType = (typeof AGENT_TYPES)[number];

/** What may change a node's confidence. */
export const CONFIDENCE_TRIGGERS = ['outcome', 'decay', 'consolidation', 'manual'] as const;
export type ConfidenceTrigger = (typeof CONFIDENCE_TRIGGERS)[number];

/** A memory's standing at the moment it is read. */
export const STATES = ['current', 'superseded', 'archived'] as const;
export type State = (typeof STATES)[number];
