import { expect } from 'vitest';
import type { Service } from '../support/service.js';
import type { FullBody } from './bad-input-requests.js';

/** Agents at work, in requests that are right. */

const counted = (prefix: string, count: number): string =>
  `${prefix}_00000000-0000-4000-8000-${String(count).padStart(12, '0')}`;

const AGENT_ID = counted('agent', 7);
const SESSION_ID = counted('session', 8);
const EPISODE_ID = counted('mem', 9);
const OTHER_EPISODE_ID = counted('mem', 10);
const CHAPTER_ID = counted('chapter', 11);
const WISDOM_ID = counted('wisdom', 13);
const LATER_SESSION_ID = counted('session', 15);
const IN_SHOP = '?repo_id=acme%2Fshop';

const LAYERS = {
  intent: { goal: 'Stop the time-outs', task_type: 'bug_fix', context: 'They fail', constraints: ['No new server'] },
  perception: {
    observations: [{ what: 'The pool is small', where: 'src/pool.ts:4', significance: 'It runs dry' }],
    relevant_files: [{ path: 'src/pool.ts', relevance: 'Holds the pool', state_summary: 'Ten places' }],
    patterns_noticed: ['Bursts'],
    anomalies: ['None at night'],
  },
  reasoning: {
    approach_chosen: 'A larger pool',
    why_chosen: 'It is simple',
    alternatives_considered: [{ approach: 'A queue', why_rejected: 'Too much' }],
    assumptions: ['Memory suffices'],
    risks_identified: ['More connections'],
  },
  actions: [
    {
      type: 'file_edit',
      timestamp: 1_767_225_600_000.5,
      details: {
        file_path: 'src/pool.ts',
        lines_affected: '4-9',
        diff_hash: 'abc',
        diff_summary: 'Twenty places',
        command: 'npm test',
        working_directory: '/repo',
        query: 'pool',
        scope: 'src',
      },
      result: { success: true, output_summary: 'green', error: 'none', duration_ms: 1.5 },
    },
  ],
  outcome: {
    success: false,
    summary: 'It still fails',
    learnings: ['The pool was not it'],
    failure_reason: 'Another cause',
    failure_category: 'incorrect_assumption',
    verified_by: { type: 'test', command: 'npm test', result: 'red' },
    follow_up_needed: ['Look at the network'],
  },
};

const LINKS = {
  caused_by: [OTHER_EPISODE_ID],
  led_to: [OTHER_EPISODE_ID],
  related_to: [OTHER_EPISODE_ID],
  supersedes: OTHER_EPISODE_ID,
  blocked_by: OTHER_EPISODE_ID,
};

/** In a patch null takes any part of a layer away, but not a part of an item of a list. */
const NULLABLE_IN_PATCH = [
  ...['perception', 'reasoning', 'actions', 'links.supersedes', 'links.blocked_by'],
  ...['intent', 'perception', 'reasoning', 'outcome'].flatMap((layer) =>
    Object.keys(LAYERS[layer as keyof typeof LAYERS]).map((field) => `${layer}.${field}`),
  ),
  ...Object.keys(LAYERS.outcome.verified_by).map((field) => `outcome.verified_by.${field}`),
];

export const EPISODE_BODIES: readonly FullBody[] = [
  {
    path: '/agents',
    name: 'agent',
    body: {
      project_id: 'acme/shop',
      type: 'subagent',
      parent_id: AGENT_ID,
      specialization: 'backend',
      capabilities: ['sql'],
      metadata: { owner: 'payments' },
      initial_intent: 'Fix it',
    },
    open: ['metadata'],
  },
  {
    path: `/agents/${AGENT_ID}/sessions`,
    name: 'session',
    body: { project_id: 'acme/shop', initial_intent: 'Go on' },
  },
  {
    path: `/sessions/${SESSION_ID}/end`,
    name: 'session end',
    body: { project_id: 'acme/shop', final_outcome: 'Fixed' },
  },
  {
    path: '/episodes',
    name: 'episode',
    body: {
      project_id: 'acme/shop',
      agent_id: AGENT_ID,
      session_id: LATER_SESSION_ID,
      ...LAYERS,
      links: LINKS,
      tags: ['pool'],
      importance: 0.75,
    },
    nullable: ['perception', 'reasoning', 'actions'],
  },
  {
    path: `/episodes/${EPISODE_ID}/links${IN_SHOP}`,
    name: 'episode link',
    body: { project_id: 'acme/shop', target_id: OTHER_EPISODE_ID, link_type: 'led_to' },
  },
  {
    path: `/episodes/${EPISODE_ID}${IN_SHOP}`,
    name: 'episode patch',
    method: 'PATCH',
    body: { project_id: 'acme/shop', ...LAYERS, links: LINKS, tags: ['pool'], importance: 0.75 },
    nullable: NULLABLE_IN_PATCH,
  },
  {
    path: '/episodes/recall',
    name: 'recall',
    body: {
      project_id: 'acme/shop',
      memory_id: EPISODE_ID,
      query: 'time-outs',
      intent: 'stop time-outs',
      file: 'pool.ts',
      task_type: 'bug_fix',
      agent_id: AGENT_ID,
      success_only: false,
      failures_only: true,
      failure_category: 'incorrect_assumption',
      tags: ['pool'],
      since: 0,
      before: 2_000_000_000_000,
      include_archived: true,
      limit: 5,
      depth: 'full',
      include_links: true,
      max_tokens: 500,
      session_id: SESSION_ID,
    },
  },
  {
    path: '/files/check',
    name: 'file check',
    body: {
      project_id: 'acme/shop',
      file_path: 'src/pool.ts',
      action: 'Make the pool larger',
      agent_id: AGENT_ID,
      max_age_days: 30,
      min_memories: 1,
      include_failures: true,
      limit: 3,
      cooldown_seconds: 0,
    },
  },
  {
    path: '/chapters',
    name: 'chapter',
    body: {
      project_id: 'acme/shop',
      title: 'The pool',
      memory_ids: [EPISODE_ID],
      tags: ['pool'],
      topics: ['time-outs'],
    },
  },
  {
    path: `/chapters/${CHAPTER_ID}${IN_SHOP}`,
    name: 'chapter patch',
    method: 'PATCH',
    body: { project_id: 'acme/shop', title: 'The small pool' },
    nullable: ['title'],
  },
  {
    path: '/chapters/detect',
    name: 'chapter detection',
    body: {
      project_id: 'acme/shop',
      since: 0,
      before: 2_000_000_000_000,
      tags: ['pool'],
      min_memories: 2,
      gap_hours: 1.5,
      limit: 100,
      dry_run: true,
    },
  },
  {
    path: '/wisdom/synthesize',
    name: 'wisdom synthesis',
    body: {
      project_id: 'acme/shop',
      chapter_ids: [CHAPTER_ID],
      since: 0,
      before: 2_000_000_000_000,
      tags: ['pool'],
      min_chapters: 1,
      dry_run: true,
    },
  },
  {
    path: '/wisdom/recall',
    name: 'wisdom recall',
    body: { project_id: 'acme/shop', query: 'pool', tags: ['pool'], since: 0, before: 2_000_000_000_000, limit: 5 },
  },
];

/** The routes that make something new under something else. */
export const LINK_AND_SESSION_PATHS = [`/agents/${AGENT_ID}/sessions`, `/episodes/${EPISODE_ID}/links`];

export const EPISODE_PATHS: Readonly<Record<string, string>> = {
  '/agents/{agent_id}': `/agents/${AGENT_ID}${IN_SHOP}`,
  '/agents/{agent_id}/sessions': `/agents/${AGENT_ID}/sessions${IN_SHOP}`,
  '/sessions/{session_id}': `/sessions/${SESSION_ID}${IN_SHOP}`,
  '/sessions/{session_id}/end': `/sessions/${SESSION_ID}/end${IN_SHOP}`,
  '/episodes/{memory_id}': `/episodes/${EPISODE_ID}${IN_SHOP}`,
  '/episodes/{memory_id}/links': `/episodes/${EPISODE_ID}/links${IN_SHOP}`,
  '/episodes/{memory_id}/trace': `/episodes/${EPISODE_ID}/trace${IN_SHOP}`,
  '/chapters/{chapter_id}': `/chapters/${CHAPTER_ID}${IN_SHOP}`,
  '/wisdom/{wisdom_id}': `/wisdom/${WISDOM_ID}${IN_SHOP}`,
};

/** An agent with a session, two episodes, a chapter, a wisdom, and a second session. */
export async function seedEpisodes(service: Service): Promise<void> {
  const post = async (path: string, body: object) =>
    (await service.http.post(path).query({ repo_id: 'acme/shop' }).send(body).expect(201)).body;
  const { agent, session } = await post('/agents', {});
  const layers = { intent: { goal: 'Seed', task_type: 'other' }, outcome: { success: true, summary: 'Seeded' } };
  const one = await post('/episodes', { agent_id: agent.id, ...layers });
  const other = await post('/episodes', { agent_id: agent.id, ...layers });
  const chapter = await post('/chapters', { memory_ids: [one.memory_id, other.memory_id] });
  const { wisdom } = await post('/wisdom/synthesize', { chapter_ids: [chapter.id], min_chapters: 1 });
  const later = await post(`/agents/${agent.id}/sessions`, {});
  expect([agent, session, { id: one.memory_id }, { id: other.memory_id }, chapter, wisdom].map(({ id }) => id)).toEqual(
    [AGENT_ID, SESSION_ID, EPISODE_ID, OTHER_EPISODE_ID, CHAPTER_ID, WISDOM_ID],
  );
  expect(later.session.id).toBe(LATER_SESSION_ID);
}
