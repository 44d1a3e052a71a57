import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ACTION_TYPES, FAILURE_CATEGORIES, TASK_TYPES, VERIFICATION_TYPES } from '../../../src/domain/vocabulary.js';
import {
  type AgentReport,
  actionOf,
  EpisodeClient,
  intentOf,
  JWT_LAYERS,
  NO_LINKS,
  outcomeOf,
} from '../../support/episodes.js';
import { expectRefused, REPO } from '../../support/nodes.js';
import { select } from '../../support/rows.js';
import { type Service, startService } from '../../support/service.js';

let service: Service;
let client: EpisodeClient;
let agent: AgentReport;
beforeAll(async () => {
  service = await startService();
  client = new EpisodeClient(service);
  agent = (await client.register()).agent;
});
afterAll(() => service.stop());

const post = (fields: object) => client.postEpisode({ agent_id: agent.id, ...fields });

describe('3e.2 an episode', () => {
  test('of all five layers, as the seed tells it, comes back unchanged', async () => {
    const { body } = await post({ ...JWT_LAYERS, tags: ['auth'], importance: 0.8 }).expect(201);
    expect(body.memory).toMatchObject(JWT_LAYERS);
    const shown = await client.get(body.memory_id);
    for (const [layer, value] of Object.entries(JWT_LAYERS)) {
      expect(shown[layer as keyof typeof shown]).toEqual(value);
      // Word for word: not a key more, and none moved.
      expect(JSON.stringify(shown[layer as keyof typeof shown])).toHaveLength(JSON.stringify(value).length);
    }
    expect(body.indexed_files).toEqual(['src/auth/interceptor.ts']);
  });

  test('needs no more than what was wanted and what came of it', async () => {
    const { body, headers } = await post({}).expect(201);
    const { session_id: sessionId } = body;
    expect(body).toEqual({
      memory_id: expect.stringMatching(/^mem_[0-9a-f-]{36}$/),
      stored_at: service.clock.now(),
      session_id: expect.stringMatching(/^session_/),
      indexed_files: [],
      memory: {
        id: body.memory_id,
        agent_id: agent.id,
        project_id: REPO,
        session_id: sessionId,
        created_at: service.clock.now(),
        updated_at: service.clock.now(),
        intent: intentOf(),
        outcome: outcomeOf(),
        perception: null,
        reasoning: null,
        actions: null,
        files: [],
        links: NO_LINKS,
        links_complete: true,
        tags: [],
        importance: 0.5,
        access_count: 0,
        last_accessed: null,
        archived_at: null,
        revision: 1,
      },
    });
    expect(headers.location).toBe(`/episodes/${body.memory_id}?repo_id=acme%2Fshop`);
    await service.http.get(headers.location as string).expect(200);
  });

  test('may say null of a layer, or nothing in one', async () => {
    const nothing = await client.store(agent.id, { perception: null, reasoning: null, actions: null });
    expect(nothing).toMatchObject({ perception: null, reasoning: null, actions: null });
    const empty = await client.store(agent.id, {
      perception: {},
      actions: [],
      intent: intentOf({ context: '', constraints: [] }),
    });
    expect(empty).toMatchObject({ perception: {}, actions: [], intent: { context: '', constraints: [] } });
  });

  test('keeps every character that it was told with', async () => {
    const text = ' \t"quoted" \\ \u0001 \u2028 🧠 e\u0301 é <b>&amp;</b> \'; DROP TABLE episodes; -- ';
    const layers = {
      intent: intentOf({ goal: text, context: text, constraints: [text, text] }),
      outcome: outcomeOf({ summary: text, learnings: [text, '', text], failure_reason: text }),
      actions: [
        actionOf({
          details: { command: text },
          timestamp: 1_705_432_800.123,
          result: { success: false, error: text, duration_ms: 0.5 },
        }),
      ],
    };
    const { id } = await client.store(agent.id, layers);
    expect(await client.get(id)).toMatchObject(layers);
  });

  test('of many at once in one session is stored in the order of arrival', async () => {
    const before = (await client.allEpisodes({ limit: 200 })).length;
    await client.storeGoals(agent.id, 'One', 'Two', 'Three');
    expect((await client.allEpisodes({ limit: 200 })).length).toBe(before + 3);
    expect((await client.listed({ limit: 3 })).map(({ intent }) => intent.goal)).toEqual(['Three', 'Two', 'One']);
  });
});

describe('3c how important an episode is', () => {
  test.each([0, 0.1, 0.5, 1])('stays %d', async (importance) => {
    const { id } = await client.store(agent.id, { importance });
    expect((await client.get(id)).importance).toBe(importance);
    expect(
      select(service, REPO, 'SELECT importance FROM episodes e JOIN nodes n ON n.seq = e.node_seq WHERE n.id = ?', id),
    ).toEqual([{ importance }]);
  });

  test.each([-0.01, 1.01, '1', null, true])('is never %j', async (importance) => {
    expect(await expectRefused(service, post({ importance }), 400)).toMatchObject({ fields: ['importance'] });
  });
});

/** Every closed word of the seed, where it stands in an episode, and how to put it there. */
const WORDS = [
  ['intent.task_type', TASK_TYPES, (word: unknown) => ({ intent: intentOf({ task_type: word }) })],
  ['actions.0.type', ACTION_TYPES, (word: unknown) => ({ actions: [actionOf({ type: word })] })],
  [
    'outcome.failure_category',
    FAILURE_CATEGORIES,
    (word: unknown) => ({ outcome: outcomeOf({ failure_category: word }) }),
  ],
  [
    'outcome.verified_by.type',
    VERIFICATION_TYPES,
    (word: unknown) => ({ outcome: outcomeOf({ verified_by: { type: word, result: 'ok' } }) }),
  ],
] as const;

const at = (value: unknown, path: string): unknown =>
  path.split('.').reduce((part, key) => (part as Record<string, unknown>)[key], value);

describe.each(WORDS)('the seed’s words of %s', (path, words, fieldsOf) => {
  test.each(words)('%s is one', async (word) => {
    const { id } = await client.store(agent.id, fieldsOf(word));
    expect(at(await client.get(id), path)).toBe(word);
  });

  test.each(['', 'banana', words[0].toUpperCase(), ` ${words[0]}`, 7, null, [words[0]]])('%j is none', async (word) => {
    const { code, fields } = await expectRefused(service, post(fieldsOf(word)), 400);
    expect([code, fields[0]]).toEqual(['schema_error', path]);
  });
});

test('the seed has these words and no others', () => {
  expect(TASK_TYPES).toHaveLength(11);
  expect(ACTION_TYPES).toHaveLength(7);
  expect(FAILURE_CATEGORIES).toHaveLength(10);
  expect(VERIFICATION_TYPES).toEqual(['test', 'build', 'manual', 'lint', 'typecheck']);
});

describe('3e.2 the tags of an episode', () => {
  test('come back sorted', async () => {
    const { id } = await client.store(agent.id, { tags: ['retry', 'auth', 'Über tag'] });
    expect((await client.get(id)).tags).toEqual(['auth', 'retry', 'Über tag']);
  });

  test('are told once each', async () => {
    expect(await expectRefused(service, post({ tags: ['a', 'b', 'a'] }), 400)).toMatchObject({ fields: ['tags'] });
  });

  test.each([[['']], [['a', 1]], ['a,b'], [['x'.repeat(201)]]])('are never %j', async (tags) => {
    const { fields } = await expectRefused(service, post({ tags }), 400);
    expect(fields[0]).toMatch(/^tags/);
  });
});
