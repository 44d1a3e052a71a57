import type { Test } from 'supertest';
import type { Static } from 'typebox';
import type { AgentReport as AgentSchema, SessionReport as SessionSchema } from '../../src/contracts/agents.js';
import type { EpisodeReport as EpisodeSchema } from '../../src/contracts/episodes.js';
import type { Action, Intent, Outcome } from '../../src/domain/episodes.js';
import { REPO } from './nodes.js';
import type { Service } from './service.js';

/** Agents and what they remember of their work, as their callers use it. */

export type AgentReport = Static<typeof AgentSchema>;
export type SessionReport = Static<typeof SessionSchema>;
export interface AtWork {
  agent: AgentReport;
  session: SessionReport;
}
/** An episode at the depth `complete`; what the seed calls a memory. */
export type EpisodeReport = Required<Omit<Static<typeof EpisodeSchema>, 'intent' | 'outcome' | 'actions'>> & {
  intent: Intent;
  outcome: Outcome;
  actions: Action[] | null;
};

/** Of the right form, and nobody's. */
export const UNKNOWN_AGENT_ID = 'agent_ffffffff-ffff-4fff-8fff-ffffffffffff';
export const UNKNOWN_SESSION_ID = 'session_ffffffff-ffff-4fff-8fff-ffffffffffff';
export const UNKNOWN_EPISODE_ID = 'mem_ffffffff-ffff-4fff-8fff-ffffffffffff';

type Query = Record<string, string | number | boolean>;
type Headers = Record<string, string>;

/** The least that an episode can say. */
export const intentOf = (fields: object = {}) => ({ goal: 'Warm the cache', task_type: 'other', ...fields });
export const outcomeOf = (fields: object = {}) => ({ success: true, summary: 'It is warm', ...fields });
export const actionOf = (fields: object = {}) => ({
  type: 'file_edit',
  timestamp: 1_767_225_600_000,
  details: {},
  result: { success: true },
  ...fields,
});

/** Sends requests for one project. What is a verb is sent as it stands, so that a test says what it expects of it. */
export class EpisodeClient {
  constructor(
    private readonly service: Service,
    readonly repoId = REPO,
  ) {}

  postAgent = (fields: object = {}): Test => this.#http('post', '/agents').send(fields);
  getAgent = (id: string): Test => this.#http('get', `/agents/${encodeURIComponent(id)}`);
  postSession = (agentId: string, fields: object = {}): Test =>
    this.#http('post', `/agents/${encodeURIComponent(agentId)}/sessions`).send(fields);
  getSession = (id: string): Test => this.#http('get', `/sessions/${encodeURIComponent(id)}`);
  endSession = (id: string, fields: object = {}): Test =>
    this.#http('post', `/sessions/${encodeURIComponent(id)}/end`).send(fields);

  /** What is not given is the least that there must be. */
  postEpisode = (fields: object): Test =>
    this.#http('post', '/episodes').send({ intent: intentOf(), outcome: outcomeOf(), ...fields });
  getEpisode = (id: string, query: Query = {}): Test => this.#http('get', episodePath(id)).query(query);
  patchEpisode = (id: string, fields: object, headers: Headers = {}): Test =>
    this.#http('patch', episodePath(id)).set(headers).send(fields);
  deleteEpisode = (id: string, query: Query = {}): Test => this.#http('delete', episodePath(id)).query(query);
  getEpisodes = (query: Query = {}): Test => this.#http('get', '/episodes').query(query);
  postLink = (id: string, fields: object): Test => this.#http('post', `${episodePath(id)}/links`).send(fields);
  getTrace = (id: string, query: Query = {}): Test => this.#http('get', `${episodePath(id)}/trace`).query(query);
  postRecall = (fields: object): Test => this.#http('post', '/episodes/recall').send(fields);

  /** A new agent, with its first session. */
  async register(fields: object = {}): Promise<AtWork> {
    return (await this.postAgent(fields).expect(201)).body;
  }

  /** Another session of an agent. */
  async resume(agentId: string, fields: object = {}): Promise<AtWork> {
    return (await this.postSession(agentId, fields).expect(201)).body;
  }

  async agent(id: string): Promise<AgentReport> {
    return (await this.getAgent(id).expect(200)).body;
  }

  async session(id: string): Promise<SessionReport> {
    return (await this.getSession(id).expect(200)).body;
  }

  /** A new episode, as it is shown at the depth `complete`. */
  async store(agentId: string, fields: object = {}): Promise<EpisodeReport> {
    return (await this.postEpisode({ agent_id: agentId, ...fields }).expect(201)).body.memory;
  }

  /** New episodes, each with a goal of its own. */
  async storeGoals(agentId: string, ...goals: string[]): Promise<EpisodeReport[]> {
    const made: EpisodeReport[] = [];
    for (const goal of goals) made.push(await this.store(agentId, { intent: intentOf({ goal }) }));
    return made;
  }

  async patch(id: string, fields: object): Promise<EpisodeReport> {
    return (await this.patchEpisode(id, fields).expect(200)).body;
  }

  /** An episode at the depth `complete`; the look is counted. */
  async get(id: string): Promise<EpisodeReport> {
    return (await this.getEpisode(id).expect(200)).body;
  }

  /** The first page of a list. */
  async listed(query: Query = {}): Promise<EpisodeReport[]> {
    return (await this.getEpisodes(query).expect(200)).body.memories;
  }

  /** All pages of the list, one after the other. */
  async allEpisodes(query: Query = {}): Promise<EpisodeReport[]> {
    const rows: EpisodeReport[] = [];
    let { body } = await this.getEpisodes(query).expect(200);
    for (;;) {
      rows.push(...body.memories);
      if (body.next_cursor === null) return rows;
      body = (await this.getEpisodes({ ...query, cursor: body.next_cursor }).expect(200)).body;
    }
  }

  async link(fromId: string, word: string, targetId: string): Promise<{ created: boolean; links: Links }> {
    return (await this.postLink(fromId, { link_type: word, target_id: targetId })).body;
  }

  async trace(id: string, query: Query = {}): Promise<TraceReport> {
    return (await this.getTrace(id, query).expect(200)).body;
  }

  async recall(fields: object): Promise<RecallReport> {
    return (await this.postRecall(fields).expect(200)).body;
  }

  /** The ids of what is recalled, best first. */
  async recalledIds(fields: object): Promise<string[]> {
    return (await this.recall(fields)).memories.map(({ memory }) => memory.id);
  }

  async remove(id: string, query: Query = {}): Promise<void> {
    await this.deleteEpisode(id, query).expect(200);
  }

  #http(method: 'get' | 'post' | 'patch' | 'delete', path: string): Test {
    return this.service.http[method](path).query({ repo_id: this.repoId });
  }
}

const episodePath = (id: string): string => `/episodes/${encodeURIComponent(id)}`;

export interface Links {
  caused_by: string[];
  led_to: string[];
  related_to: string[];
  supersedes: string | null;
  blocked_by: string | null;
}

export const NO_LINKS: Links = { caused_by: [], led_to: [], related_to: [], supersedes: null, blocked_by: null };

export interface TraceReport {
  origin: EpisodeReport;
  chain: { memory: EpisodeReport; relationship: string; distance: number; from_id: string }[];
  total_nodes: number;
  complete: boolean;
}

export interface RecallReport {
  memories: { memory: EpisodeReport; score: number; depth: string; tokens: number }[];
  query_strategy_used: string;
  confidence: number;
  total_matches: number;
  complete: boolean;
  token_count: number;
}

/** The examples of the seed document, layer by layer: one piece of work. */
export const JWT_LAYERS = {
  intent: {
    goal: 'Fix JWT token expiry causing logout',
    task_type: 'bug_fix',
    context: 'Users reporting random logouts after 1 hour',
    constraints: ["Don't break existing sessions", 'Must be backwards compatible'],
  },
  perception: {
    observations: [
      {
        what: 'Token refresh logic missing from auth interceptor',
        where: 'src/auth/interceptor.ts',
        significance: 'Causes 401 on token expiry instead of refresh',
      },
      {
        what: 'Refresh endpoint exists but unused',
        where: 'src/api/auth.ts:45',
        significance: 'Infrastructure exists, just not wired up',
      },
    ],
    relevant_files: [
      {
        path: 'src/auth/interceptor.ts',
        relevance: 'Main auth handling',
        state_summary: 'Axios interceptor, no refresh logic',
      },
    ],
    patterns_noticed: ['Other interceptors use retry pattern'],
    anomalies: ['Token TTL is 1hr but refresh TTL is 7d - mismatch'],
  },
  reasoning: {
    approach_chosen: 'Add refresh interceptor with retry queue',
    why_chosen: 'Handles concurrent requests during refresh, matches existing patterns',
    alternatives_considered: [
      { approach: 'Increase token TTL to 24hr', why_rejected: "Security concern, doesn't fix root cause" },
      { approach: 'Proactive refresh before expiry', why_rejected: 'Complex timer management, race conditions' },
    ],
    assumptions: ['Refresh endpoint is idempotent', '401 always means token expiry (might need refinement)'],
    risks_identified: ['Refresh token could also be expired', 'Infinite retry loop if refresh consistently fails'],
  },
  actions: [
    {
      type: 'file_edit',
      timestamp: 1_705_432_800,
      details: {
        file_path: 'src/auth/interceptor.ts',
        lines_affected: '45-89',
        diff_summary: 'Added refreshToken() call on 401, with request queue',
      },
      result: { success: true, duration_ms: 150 },
    },
  ],
  outcome: {
    success: true,
    summary: 'JWT refresh now works, no more random logouts',
    learnings: ['Always check for refresh token expiry too', 'Request queue pattern prevents race conditions'],
    verified_by: { type: 'test', command: "npm test -- --grep 'auth'", result: '14 tests passed' },
    follow_up_needed: ['Add monitoring for refresh failures', 'Consider refresh token rotation'],
  },
};
