import type { AgentType } from './vocabulary.js';

/** Who works in a repo. What it remembered and how that went is counted from its episodes, never kept beside them. */
export interface Agent {
  readonly id: string;
  readonly type: AgentType;
  readonly parentId: string | null;
  readonly specialization: string | null;
  readonly capabilities: readonly string[];
  readonly metadata: Readonly<Record<string, unknown>>;
  readonly createdAtMs: number;
}

/** A stretch of an agent's work, from when it was taken up until it was said to be over. */
export interface Session {
  readonly id: string;
  readonly agentId: string;
  readonly initialIntent: string | null;
  readonly startedAtMs: number;
}

/** Of no attempts nobody can say how well they go. */
export const successRate = (successes: number, failures: number): number =>
  successes + failures === 0 ? 0 : successes / (successes + failures);
