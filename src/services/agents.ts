import { AGENT_ID, SESSION_ID } from '../domain/forms.js';
import { checkRepoId } from '../domain/rules.js';
import { passGate, type Violation } from '../domain/violations.js';
import type { AgentType } from '../domain/vocabulary.js';
import type { StoredAgent, StoredSession } from '../storage/port.js';
import type { Context } from './context.js';
import { type Making, makeOnce, type Once } from './once.js';

export type { StoredAgent, StoredSession } from '../storage/port.js';

export interface AgentDraft {
  readonly type: AgentType;
  readonly parentId: string | null;
  readonly specialization: string | null;
  readonly capabilities: readonly string[];
  readonly metadata: Readonly<Record<string, unknown>>;
  readonly initialIntent: string | null;
}

export interface AtWork {
  readonly agent: StoredAgent;
  readonly session: StoredSession;
}

/** Makes an agent known and begins its first session. */
export async function registerAgent(
  context: Context,
  repoId: string,
  draft: AgentDraft,
  once: Once | null,
): Promise<AtWork> {
  passGate('semantic', [...checkRepoId('repo_id', repoId), ...checkParent(draft)]);
  const plan = async (): Promise<Making> => {
    const parent = draft.parentId === null ? null : await findAgent(context, repoId, draft.parentId);
    if (draft.parentId !== null && !parent) {
      const message = `no agent ${JSON.stringify(draft.parentId.slice(0, 80))} is known in this project`;
      passGate('integrity', [{ field: 'parent_id', code: 'not_found', message }]);
    }
    const { initialIntent, ...rest } = draft;
    const agent = { ...rest, parentId: parent?.id ?? null, id: `agent_${context.newId()}`, createdAtMs: context.now() };
    const session = newSession(context, agent.id, initialIntent);
    const changes = [
      { change: 'insert_agent', agent },
      { change: 'insert_session', session },
    ] as const;
    return { ids: [agent.id, session.id], changes };
  };
  return makeOnce(context, repoId, once, plan, (ids) => readAtWork(context, repoId, ids));
}

function checkParent({ type, parentId }: AgentDraft): Violation[] {
  if ((type === 'subagent') === (parentId !== null)) return [];
  const message =
    type === 'subagent'
      ? 'is required for a subagent: name the agent that it works for'
      : 'is only for a subagent; say type subagent, or leave it out';
  return [{ field: 'parent_id', code: 'semantic_error', message }];
}

const newSession = (context: Context, agentId: string, initialIntent: string | null) => ({
  id: `session_${context.newId()}`,
  agentId,
  initialIntent,
  startedAtMs: context.now(),
});

async function readAtWork(
  { store }: Context,
  repoId: string,
  [agentId, sessionId]: readonly string[],
): Promise<AtWork | null> {
  const agent = await store.getAgent(repoId, agentId as string);
  const session = await store.getSession(repoId, sessionId as string);
  return agent && session && { agent, session };
}

/** The word for the main agent that was active last, where an id is expected. */
const LATEST = 'latest';

/** An id of the wrong form is simply nobody's. */
export async function findAgent({ store }: Context, repoId: string, id: string): Promise<StoredAgent | null> {
  passGate('semantic', checkRepoId('repo_id', repoId));
  const wanted = id === LATEST ? await store.findLatestMain(repoId) : id;
  return wanted !== null && AGENT_ID.test(wanted) ? store.getAgent(repoId, wanted) : null;
}

/** A new session of an agent that is known; null when it is not. */
export async function resumeAgent(
  context: Context,
  repoId: string,
  id: string,
  initialIntent: string | null,
  once: Once | null,
): Promise<AtWork | null> {
  const agent = await findAgent(context, repoId, id);
  if (!agent) return null;
  const plan = async (): Promise<Making> => {
    const session = newSession(context, agent.id, initialIntent);
    return { ids: [agent.id, session.id], changes: [{ change: 'insert_session', session }] };
  };
  return makeOnce(context, repoId, once, plan, (ids) => readAtWork(context, repoId, ids));
}

export async function findSession({ store }: Context, repoId: string, id: string): Promise<StoredSession | null> {
  passGate('semantic', checkRepoId('repo_id', repoId));
  return SESSION_ID.test(id) ? store.getSession(repoId, id) : null;
}

/** Ends a session; one that is over stays as it ended. Null when there is none. */
export async function endSession(
  context: Context,
  repoId: string,
  id: string,
  finalOutcome: string | null,
): Promise<StoredSession | null> {
  const session = await findSession(context, repoId, id);
  if (!session || session.endedAtMs !== null) return session;
  const change = { change: 'end_session', sessionId: id, finalOutcome, atMs: context.now() } as const;
  await context.store.apply({ space: repoId, changes: [change] });
  return context.store.getSession(repoId, id);
}
