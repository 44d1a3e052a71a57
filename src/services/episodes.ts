import type { Change } from '../domain/changes.js';
import type { EpisodeLinks, LinkPatch, ShownLinks } from '../domain/episode-links.js';
import {
  checkLayers,
  type EpisodeDetail,
  episodeContent,
  episodeWords,
  filesOf,
  type Layers,
  type Patch,
  patchLayers,
} from '../domain/episodes.js';
import { isIdOf, typeOf } from '../domain/forms.js';
import { type GraphNode, newNode } from '../domain/node.js';
import { checkFileName } from '../domain/paths.js';
import { checkRepoId } from '../domain/rules.js';
import { indexTerms } from '../domain/terms.js';
import { GateFailure, passGate } from '../domain/violations.js';
import type { EpisodeFilter, EpisodeOrder, EpisodePlace, StoredEpisode } from '../storage/port.js';
import { findAgent, findSession, type StoredSession } from './agents.js';
import type { Context } from './context.js';
import { readLinksOf } from './episode-links.js';
import { LinkPlan } from './link-plan.js';
import { RevisionMismatch } from './nodes.js';
import { type Making, makeOnce, type Once } from './once.js';
import { retrying } from './retrying.js';

export type { EpisodeFilter, EpisodeOrder, EpisodePlace, StoredEpisode } from '../storage/port.js';

export interface EpisodeDraft {
  readonly agentId: string;
  /** Null for the agent's session that is open. */
  readonly sessionId: string | null;
  readonly layers: Layers;
  readonly links: EpisodeLinks;
  readonly tags: readonly string[];
  readonly importance: number;
}

export interface EpisodePatch {
  readonly layers: Patch<Layers>;
  readonly links: LinkPatch;
  readonly tags?: readonly string[];
  readonly importance?: number;
}

/** Stores an episode of an agent's work, with its files and its links, all together. */
export async function createEpisode(
  context: Context,
  repoId: string,
  draft: EpisodeDraft,
  once: Once | null,
): Promise<StoredEpisode> {
  passGate('semantic', [...checkRepoId('repo_id', repoId), ...checkLayers(draft.layers)]);
  const plan = async (): Promise<Making> => {
    const session = await sessionOf(context, repoId, draft);
    const node = toNode(context, repoId, session, draft);
    const links = new LinkPlan(context, repoId, node.id);
    await links.add(draft.links);
    const terms = indexTerms(episodeWords(draft.layers, node.tags));
    return { ids: [node.id], changes: [{ change: 'insert_node', node, terms }, ...links.changes] };
  };
  return makeOnce(context, repoId, once, plan, ([id]) => findEpisode(context, repoId, id as string));
}

/** Whoever stores has to be known, and what they store belongs to a session that is not over. */
async function sessionOf(
  context: Context,
  repoId: string,
  { agentId, sessionId }: EpisodeDraft,
): Promise<StoredSession> {
  const missing = (field: string, code: 'not_found' | 'conflict', message: string): GateFailure =>
    new GateFailure('integrity', [{ field, code, message }]);
  const agent = await findAgent(context, repoId, agentId);
  if (!agent) {
    const message = `no agent ${JSON.stringify(agentId.slice(0, 80))} is known in this project; register it with POST /agents`;
    throw missing('agent_id', 'not_found', message);
  }
  const resume = 'begin one with POST /agents/{id}/sessions';
  if (sessionId === null) {
    const open = await context.store.findOpenSession(repoId, agent.id);
    if (!open) throw missing('session_id', 'conflict', `the agent has no open session; ${resume}`);
    return open;
  }
  const session = await findSession(context, repoId, sessionId);
  if (session?.agentId !== agent.id) {
    throw missing(
      'session_id',
      'not_found',
      `the agent has no session ${JSON.stringify(sessionId.slice(0, 80))}; ${resume}`,
    );
  }
  if (session.endedAtMs !== null) throw missing('session_id', 'conflict', `the session is over; ${resume}`);
  return session;
}

function toNode(context: Context, repoId: string, session: StoredSession, draft: EpisodeDraft): GraphNode {
  const { layers, importance, tags } = draft;
  return newNode({
    id: `mem_${context.newId()}`,
    form: 'episode',
    kind: layers.intent.task_type,
    type: typeOf('episode', layers.intent.task_type),
    repoId,
    content: episodeContent(layers),
    createdAtMs: context.now(),
    tags: [...new Set(tags)],
    sessionId: session.id,
    detail: { form: 'episode', agentId: session.agentId, importance, layers },
    files: filesOf(layers),
  });
}

/** An episode by its id, archived or not. An id of the wrong form is simply nobody's. */
export async function findEpisode({ store }: Context, repoId: string, id: string): Promise<StoredEpisode | null> {
  passGate('semantic', checkRepoId('repo_id', repoId));
  if (!isIdOf('episode', id)) return null;
  const [episode] = await store.getEpisodes(repoId, [id], true);
  return episode ?? null;
}

/** Whoever asks for an episode looks at it, and that counts. */
export async function readEpisode(context: Context, repoId: string, id: string): Promise<StoredEpisode | null> {
  const episode = await findEpisode(context, repoId, id);
  if (!episode) return null;
  context.store.noteAccess(repoId, [id], context.now());
  return findEpisode(context, repoId, id);
}

/** Changes what is named; what comes out has to be an episode still. */
export function patchEpisode(
  context: Context,
  repoId: string,
  id: string,
  patch: EpisodePatch,
  expectedRevision: number | null,
): Promise<StoredEpisode | null> {
  return retrying(async () => {
    const episode = await findEpisode(context, repoId, id);
    if (!episode) return null;
    if (expectedRevision !== null && expectedRevision !== episode.revision) {
      throw new RevisionMismatch(id, episode.revision);
    }
    const { layers, violations } = patchLayers(episode.layers, patch.layers);
    passGate('semantic', violations);
    passGate('semantic', checkLayers(layers));
    const links = new LinkPlan(context, repoId, id);
    await links.replace(patch.links);
    await context.store.apply({ space: repoId, changes: [toPatch(context, episode, layers, patch), ...links.changes] });
    return findEpisode(context, repoId, id);
  });
}

function toPatch(context: Context, episode: StoredEpisode, layers: Layers, patch: EpisodePatch): Change {
  const tags = [...new Set(patch.tags ?? episode.tags)];
  const detail: EpisodeDetail = {
    form: 'episode',
    agentId: episode.agentId,
    importance: patch.importance ?? episode.importance,
    layers,
  };
  return {
    change: 'patch_node',
    nodeId: episode.id,
    repoId: episode.repoId,
    expectedRevision: episode.revision,
    fields: {
      content: episodeContent(layers),
      terms: indexTerms(episodeWords(layers, tags)),
      kind: layers.intent.task_type,
      tags,
      detail,
      files: filesOf(layers),
    },
    trigger: 'manual',
    reason: null,
    atMs: context.now(),
  };
}

export interface EpisodePage {
  readonly episodes: readonly StoredEpisode[];
  readonly next: EpisodePlace | null;
}

export async function listEpisodes(
  { store }: Context,
  repoId: string,
  filter: EpisodeFilter,
  order: EpisodeOrder,
  after: EpisodePlace | null,
  limit: number,
): Promise<EpisodePage> {
  passGate('semantic', [...checkRepoId('repo_id', repoId), ...checkFileName('file', filter.file)]);
  const found = await store.listEpisodes(repoId, filter, order, after, limit + 1);
  const episodes = found.slice(0, limit);
  const last = episodes.at(-1);
  return { episodes, next: found.length > limit && last ? { value: placeOf(last, order), seq: last.seq } : null };
}

const placeOf = ({ createdAtMs, importance, accessCount, seq }: StoredEpisode, order: EpisodeOrder): number =>
  ({ recent: createdAtMs, importance, access_count: accessCount, stored: seq })[order];

/** Joins an episode to another node; null when there is no such episode. */
export function linkEpisode(
  context: Context,
  repoId: string,
  id: string,
  links: LinkPatch,
): Promise<{ readonly isNew: boolean; readonly links: ShownLinks } | null> {
  return retrying(async () => {
    if (!(await findEpisode(context, repoId, id))) return null;
    const plan = new LinkPlan(context, repoId, id, () => 'target_id');
    const isNew = await plan.add(links);
    if (isNew) await context.store.apply({ space: repoId, changes: plan.changes });
    return { isNew, links: await readLinksOf(context, repoId, id) };
  });
}
