import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  actionOf,
  EpisodeClient,
  type EpisodeReport,
  intentOf,
  outcomeOf,
  UNKNOWN_AGENT_ID,
  UNKNOWN_EPISODE_ID,
  UNKNOWN_SESSION_ID,
} from '../../support/episodes.js';
import { HOUR_MS, told } from '../../support/narratives.js';
import { type Service, startService } from '../../support/service.js';

/** Every field of a question changes the answer: each is shown to let something in and to keep something out. */

let service: Service;
let episodes: EpisodeClient;
let agentId: string;
let helperId: string;
/** The first is of the agent and the second of its helper, an hour later; the third was put away. */
let charge: EpisodeReport;
let logout: EpisodeReport;
let archived: EpisodeReport;

beforeAll(async () => {
  service = await startService();
  episodes = new EpisodeClient(service);
  agentId = (await episodes.register()).agent.id;
  helperId = (await episodes.register({ type: 'subagent', parent_id: agentId })).agent.id;
  charge = await episodes.store(agentId, {
    ...told({
      goal: 'Stop the double charge',
      task: 'bug_fix',
      summary: 'Every order carries a key',
      learned: ['A logout never books'],
      files: ['src/payment/charge.ts'],
      tags: ['payment', 'retry'],
    }),
  });
  service.clock.advance(HOUR_MS);
  logout = await episodes.store(helperId, {
    ...told({
      goal: 'Find the random logout',
      task: 'investigation',
      summary: 'The token was refreshed too late',
      failed: { reason: 'The clocks differ', category: 'race_condition' },
      files: ['src/auth/session.ts'],
      tags: ['payment', 'auth'],
    }),
  });
  service.clock.advance(HOUR_MS);
  archived = await episodes.store(agentId, told({ goal: 'Paint the shed', tags: ['shed'] }));
  await episodes.remove(archived.id);
});
afterAll(() => service.stop());

const found = async (fields: object): Promise<string[]> => (await episodes.recalledIds(fields)).sort();
const both = (): string[] => [charge.id, logout.id].sort();

test('nothing asked for is everything that is not put away', async () => {
  expect(await found({})).toEqual(both());
});

describe('memory_id', () => {
  test('finds exactly that one, whatever else is asked', async () => {
    expect(await found({ memory_id: charge.id })).toEqual([charge.id]);
    expect(await found({ memory_id: charge.id, failures_only: true, query: 'logout' })).toEqual([charge.id]);
    const { query_strategy_used, confidence, total_matches } = await episodes.recall({ memory_id: charge.id });
    expect({ query_strategy_used, confidence, total_matches }).toEqual({
      query_strategy_used: 'direct',
      confidence: 1,
      total_matches: 1,
    });
  });

  test.each([UNKNOWN_EPISODE_ID, 'nonsense', '', "' OR 1=1 --"])('%j is nobody, and no mistake', async (memory_id) => {
    expect(await episodes.recall({ memory_id })).toMatchObject({ memories: [], confidence: 0, total_matches: 0 });
  });
});

test.each<[string, object, () => string[]]>([
  ['query: anywhere in the episode', { query: 'charge' }, () => [charge.id]],
  ['query: in what was learned', { query: 'books' }, () => [charge.id]],
  ['query: in why it failed', { query: 'clocks differ' }, () => [logout.id]],
  ['query: in the path of a file', { query: 'session.ts' }, () => [logout.id]],
  ['query: in several', { query: 'logout' }, both],
  ['query: in none', { query: 'zeppelin' }, () => []],
  ['intent: only in the goal', { intent: 'logout' }, () => [logout.id]],
  ['intent: what stands elsewhere is no goal', { intent: 'token refreshed' }, () => []],
  ['query and intent: both have to fit', { query: 'books', intent: 'logout' }, () => []],
  ['query and intent: what fits both', { query: 'clocks', intent: 'logout' }, () => [logout.id]],
  ['file: the whole path', { file: 'src/payment/charge.ts' }, () => [charge.id]],
  ['file: the end of one', { file: 'session.ts' }, () => [logout.id]],
  ['file: the end of a name is not the end of a path', { file: 'ession.ts' }, () => []],
  ['file: longer than what was stored', { file: '/home/me/shop/src/auth/session.ts' }, () => [logout.id]],
  ['file: a glob', { file: 'src/auth/*.ts' }, () => [logout.id]],
  ['file: a glob over directories', { file: 'src/**' }, both],
  ['file: a glob of one level', { file: 'src/*' }, () => []],
  ['file: an unknown one', { file: 'nowhere.ts' }, () => []],
  ['file: % is no wildcard', { file: '%charge.ts' }, () => []],
  ['file: _ is no wildcard', { file: 'src/payment/charge_ts' }, () => []],
  ['task_type', { task_type: 'investigation' }, () => [logout.id]],
  ['task_type of none', { task_type: 'refactor' }, () => []],
  ['agent_id', { agent_id: () => agentId }, () => [charge.id]],
  ['agent_id of another', { agent_id: () => helperId }, () => [logout.id]],
  ['agent_id of nobody', { agent_id: UNKNOWN_AGENT_ID }, () => []],
  ['success_only', { success_only: true }, () => [charge.id]],
  ['failures_only', { failures_only: true }, () => [logout.id]],
  ['success_only goes before failures_only', { success_only: true, failures_only: true }, () => [charge.id]],
  ['neither of them', { success_only: false, failures_only: false }, both],
  ['failure_category', { failure_category: 'race_condition' }, () => [logout.id]],
  ['failure_category of none', { failure_category: 'type_error' }, () => []],
  ['tags: one', { tags: ['payment'] }, both],
  ['tags: all of them', { tags: ['auth', 'payment'] }, () => [logout.id]],
  ['tags: not just one of them', { tags: ['auth', 'retry'] }, () => []],
  ['tags: a part of a tag is no tag', { tags: ['pay'] }, () => []],
  ['tags: %', { tags: ['%'] }, () => []],
  ['tags: a quote', { tags: ['"payment'] }, () => []],
  ['tags: none', { tags: [] }, both],
  ['since: the moment itself counts', { since: () => logout.created_at }, () => [logout.id]],
  ['since: one later', { since: () => logout.created_at + 1 }, () => []],
  ['since: 0 is everything', { since: 0 }, both],
  ['before: the moment itself is over', { before: () => logout.created_at }, () => [charge.id]],
  ['before: one later', { before: () => logout.created_at + 1 }, both],
  ['before: 0 is nothing', { before: 0 }, () => []],
  ['since and before', { since: () => charge.created_at, before: () => charge.created_at + 1 }, () => [charge.id]],
  ['include_archived', { include_archived: true }, () => [...both(), archived.id].sort()],
  ['include_archived, by words', { include_archived: true, query: 'shed' }, () => [archived.id]],
  ['archived, by words', { query: 'shed' }, () => []],
  ['archived, by file and tag', { tags: ['shed'] }, () => []],
  ['limit', { limit: 1 }, () => [logout.id]],
])('%s', async (_, fields, expected) => {
  const asked = Object.entries(fields).map(([key, value]) => [key, typeof value === 'function' ? value() : value]);
  expect(await found(Object.fromEntries(asked))).toEqual(expected());
});

test('filters hold for words and for files alike', async () => {
  const OTHERS = { task_type: 'refactor', agent_id: UNKNOWN_AGENT_ID, tags: ['none'], before: 1 };
  for (const way of [{ query: 'logout' }, { intent: 'logout' }, { file: 'session.ts' }]) {
    expect(await found(way)).toContain(logout.id);
    for (const [field, value] of Object.entries(OTHERS))
      expect(await found({ ...way, [field]: value }), field).toEqual([]);
    expect(await found({ ...way, success_only: true })).not.toContain(logout.id);
  }
});

test('what was asked by is said', async () => {
  const strategy = async (fields: object) => (await episodes.recall(fields)).query_strategy_used;
  expect(await strategy({ query: 'x' })).toBe('query');
  expect(await strategy({ intent: 'x', file: 'y' })).toBe('query');
  expect(await strategy({ file: 'x', tags: ['y'] })).toBe('file');
  expect(await strategy({ tags: ['y'] })).toBe('filter');
});

test('total_matches counts all that fit, before the limit', async () => {
  const answer = await episodes.recall({ query: 'logout', limit: 1 });
  expect([answer.memories.length, answer.total_matches, answer.complete]).toEqual([1, 2, true]);
  expect((await episodes.recall({ limit: 1 })).total_matches).toBe(2);
});

test('an empty answer has 0 matches, no tokens and no confidence', async () => {
  for (const fields of [{ query: 'zeppelin' }, { file: 'nowhere.ts' }, { tags: ['none'] }, { intent: 'zeppelin' }])
    expect(await episodes.recall(fields)).toMatchObject({
      memories: [],
      total_matches: 0,
      confidence: 0,
      token_count: 0,
      complete: true,
    });
});

test('session_id counts the question in the session that asks, and changes nothing else', async () => {
  const { session } = await episodes.resume(agentId);
  const plain = await episodes.recall({ query: 'logout' });
  const asked = await episodes.recall({ query: 'logout', session_id: session.id });
  expect(asked).toEqual(plain);
  await episodes.recall({ query: 'zeppelin', session_id: session.id });
  expect((await episodes.session(session.id)).queries_made).toBe(2);
  const { body } = await episodes.postRecall({ query: 'logout', session_id: UNKNOWN_SESSION_ID }).expect(404);
  expect(body.errors).toMatchObject([{ field: 'session_id', code: 'not_found' }]);
  expect((await episodes.session(session.id)).queries_made).toBe(2);
});

test('only this project is asked', async () => {
  const other = new EpisodeClient(service, 'acme/till');
  expect(await other.recalledIds({ limit: 100 })).toEqual([]);
  const { agent } = await other.register();
  const theirs = await other.store(
    agent.id,
    told({ goal: 'Stop the double charge', files: ['src/payment/charge.ts'] }),
  );
  expect(await other.recalledIds({ limit: 100 })).toEqual([theirs.id]);
  expect(await found({ query: 'charge' })).toEqual([charge.id]);
  expect(await found({ file: 'charge.ts' })).toEqual([charge.id]);
  expect(await found({ memory_id: theirs.id })).toEqual([]);
  expect(await found({ agent_id: agent.id })).toEqual([]);
});

test('an episode is found by what it says now, not by what it said', async () => {
  const { id } = await episodes.store(agentId, {
    intent: intentOf({ goal: 'Grease the hinge' }),
    outcome: outcomeOf(),
    actions: [actionOf({ details: { file_path: 'door/hinge.ts' } })],
    tags: ['door'],
  });
  await episodes.patch(id, {
    intent: { goal: 'Grease the wheel' },
    actions: [actionOf({ details: { file_path: 'cart/wheel.ts' } })],
    tags: ['cart'],
  });
  for (const gone of [{ query: 'hinge' }, { intent: 'hinge' }, { file: 'hinge.ts' }, { tags: ['door'] }])
    expect(await found(gone)).toEqual([]);
  for (const there of [{ query: 'wheel' }, { intent: 'wheel' }, { file: 'wheel.ts' }, { tags: ['cart'] }])
    expect(await found(there)).toEqual([id]);
  await episodes.remove(id, { permanent: true });
  expect(await found({ query: 'wheel', include_archived: true })).toEqual([]);
});
