import type { EvolvingEdge, EvolvingNode } from '../../src/domain/evolution.js';
import { START_MS } from './plans.js';

/** A concept of a task, written and last asked for at `START_MS`. */
export const concept = (id: string, fields: Partial<EvolvingNode> = {}): EvolvingNode => ({
  id,
  form: 'concept',
  type: 'fact',
  kind: null,
  tier: 'task',
  content: `what ${id} says`,
  metadata: {},
  tags: [],
  confidence: 0.5,
  accessCount: 0,
  lastAccessedAtMs: START_MS,
  createdAtMs: START_MS,
  sessionId: null,
  decayedAtMs: null,
  ...fields,
});

export const edgeOf = (id: string, memberIds: readonly string[], fields: Partial<EvolvingEdge> = {}): EvolvingEdge => ({
  id,
  label: 'related_to',
  weight: 1,
  memberIds,
  roles: memberIds.map(() => 'participant'),
  ...fields,
});
