import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  type AgentReport,
  actionOf,
  EpisodeClient,
  intentOf,
  JWT_LAYERS,
  outcomeOf,
  UNKNOWN_AGENT_ID,
  UNKNOWN_SESSION_ID,
} from '../../support/episodes.js';
import { expectRefused } from '../../support/nodes.js';
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

/** A copy of a document in which one place has another value; undefined takes the place away. */
function withAt(document: unknown, path: string, value: unknown): object {
  const copy = structuredClone(document) as Record<string, unknown>;
  const keys = path.split('.');
  const last = keys.pop() as string;
  const holder = keys.reduce((part, key) => part[key] as Record<string, unknown>, copy);
  if (value === undefined) delete holder[last];
  else holder[last] = value;
  return copy;
}

describe('a wrong value is named by the place where it stands', () => {
  test.each([
    ['intent', 'text'],
    ['intent', null],
    ['intent.goal', 7],
    ['intent.goal', ''],
    ['intent.context', ['text']],
    ['intent.constraints', 'text'],
    ['intent.constraints.1', 7],
    ['perception', []],
    ['perception.observations', {}],
    ['perception.observations.1.what', null],
    ['perception.observations.0.where', 45],
    ['perception.relevant_files.0.path', ['a']],
    ['perception.relevant_files.0', 'src/auth.ts'],
    ['perception.patterns_noticed.0', {}],
    ['perception.anomalies', 'text'],
    ['reasoning', 'text'],
    ['reasoning.approach_chosen', null],
    ['reasoning.alternatives_considered.1.why_rejected', false],
    ['reasoning.assumptions.0', 1],
    ['reasoning.risks_identified', null],
    ['actions', {}],
    ['actions.0', 'file_edit'],
    ['actions.0.timestamp', '2026-01-01'],
    ['actions.0.details', null],
    ['actions.0.details.lines_affected', 45],
    ['actions.0.details.file_path', null],
    ['actions.0.result', true],
    ['actions.0.result.success', 'true'],
    ['actions.0.result.duration_ms', -1],
    ['outcome', true],
    ['outcome.success', 'true'],
    ['outcome.success', 1],
    ['outcome.summary', ''],
    ['outcome.learnings', 'text'],
    ['outcome.learnings.1', null],
    ['outcome.failure_reason', null],
    ['outcome.verified_by', 'test'],
    ['outcome.verified_by.result', 14],
    ['outcome.follow_up_needed.0', ['text']],
  ])('%s of %j', async (path, value) => {
    const { code, fields } = await expectRefused(service, post(withAt(JWT_LAYERS, path, value)), 400);
    expect([code, fields[0]]).toEqual(['schema_error', path]);
  });

  test.each(['perception.patterns_noticed', 'reasoning.assumptions'])(
    'and nothing else is named: %s is wrong, the layer around it need not be null',
    async (path) => {
      const { fields } = await expectRefused(service, post(withAt(JWT_LAYERS, path, 'text')), 400);
      expect(fields).toEqual([path]);
    },
  );

  test('and all of them are named at once', async () => {
    const wrong = withAt(withAt(JWT_LAYERS, 'intent.goal', 7), 'actions.0.result.success', 'yes');
    const { fields } = await expectRefused(service, post(wrong), 400);
    expect(fields.sort()).toEqual(['actions.0.result.success', 'intent.goal']);
  });
});

describe('what has to be there is missed by its name', () => {
  test.each([
    'intent.goal',
    'intent.task_type',
    'perception.observations.0.what',
    'perception.observations.1.where',
    'perception.observations.0.significance',
    'perception.relevant_files.0.path',
    'perception.relevant_files.0.relevance',
    'perception.relevant_files.0.state_summary',
    'reasoning.approach_chosen',
    'reasoning.why_chosen',
    'reasoning.alternatives_considered.0.approach',
    'reasoning.alternatives_considered.1.why_rejected',
    'actions.0.type',
    'actions.0.timestamp',
    'actions.0.details',
    'actions.0.result',
    'actions.0.result.success',
    'outcome.success',
    'outcome.summary',
    'outcome.verified_by.type',
    'outcome.verified_by.result',
  ])('%s', async (path) => {
    const { fields } = await expectRefused(service, post(withAt(JWT_LAYERS, path, undefined)), 400);
    expect(fields[0]).toBe(path);
  });

  test.each(['intent', 'outcome'])('%s', async (layer) => {
    expect(await expectRefused(service, post({ [layer]: undefined }), 400)).toMatchObject({ fields: [layer] });
  });

  test.each([
    ['intent.goal', { intent: intentOf({ goal: ' \n\t ' }) }],
    ['outcome.summary', { outcome: outcomeOf({ summary: ' ' }) }],
  ])('%s, even if it is nothing but white space', async (path, fields) => {
    expect(await expectRefused(service, post(fields), 422)).toEqual({ code: 'semantic_error', fields: [path] });
  });
});

describe('what nobody asked for is refused', () => {
  test.each([
    '',
    'intent',
    'perception',
    'perception.observations.0',
    'perception.relevant_files.0',
    'reasoning',
    'reasoning.alternatives_considered.0',
    'actions.0',
    'actions.0.details',
    'actions.0.result',
    'outcome',
    'outcome.verified_by',
  ])('in %j', async (place) => {
    const path = place === '' ? 'colour' : `${place}.colour`;
    const { fields } = await expectRefused(service, post(withAt(JWT_LAYERS, path, 'red')), 400);
    expect(fields[0]).toBe(path);
  });

  test('among the links', async () => {
    const { fields } = await expectRefused(service, post({ links: { follows: [] } }), 400);
    expect(fields).toEqual(['links.follows']);
  });

  test.each(['id', 'created_at', 'access_count', 'last_accessed', 'embedding'])(
    '%s, which is not the caller’s',
    async (field) => {
      expect(await expectRefused(service, post({ [field]: 1 }), 400)).toMatchObject({ fields: [field] });
    },
  );
});

describe('an episode is somebody’s', () => {
  test('and who it is has to be said', async () => {
    const request = client.postEpisode({});
    expect(await expectRefused(service, request, 400)).toMatchObject({ fields: ['agent_id'] });
  });

  test.each([UNKNOWN_AGENT_ID, 'garbage', ''])('but not %j’s, whom nobody knows', async (id) => {
    expect(await expectRefused(service, post({ agent_id: id }), 404)).toEqual({
      code: 'not_found',
      fields: ['agent_id'],
    });
  });

  test('and may be the latest agent’s', async () => {
    const { body } = await client.getAgent('latest').expect(200);
    expect((await client.store('latest')).agent_id).toBe(body.id);
  });
});

describe('an episode belongs to a session', () => {
  test('which may be named', async () => {
    const at = await client.register();
    await client.resume(at.agent.id);
    const { session_id: sessionId } = await client.store(at.agent.id, { session_id: at.session.id });
    expect(sessionId).toBe(at.session.id);
  });

  test('and else is the newest one that is open', async () => {
    const at = await client.register();
    service.clock.advance(1_000);
    const second = (await client.resume(at.agent.id)).session;
    expect((await client.store(at.agent.id)).session_id).toBe(second.id);
  });

  test.each([UNKNOWN_SESSION_ID, 'garbage', ''])('not to %j, which nobody knows', async (id) => {
    expect(await expectRefused(service, post({ session_id: id }), 404)).toEqual({
      code: 'not_found',
      fields: ['session_id'],
    });
  });

  test('not to one of somebody else', async () => {
    const { session } = await client.register();
    expect(await expectRefused(service, post({ session_id: session.id }), 404)).toEqual({
      code: 'not_found',
      fields: ['session_id'],
    });
  });

  test('not to one that is over', async () => {
    const at = await client.register();
    await client.endSession(at.session.id).expect(200);
    await client.resume(at.agent.id);
    const request = client.postEpisode({ agent_id: at.agent.id, session_id: at.session.id });
    expect(await expectRefused(service, request, 409)).toEqual({ code: 'conflict', fields: ['session_id'] });
  });

  test('and an agent without an open one is told how to begin one', async () => {
    const at = await client.register();
    await client.endSession(at.session.id).expect(200);
    const request = () => client.postEpisode({ agent_id: at.agent.id });
    expect(await expectRefused(service, request(), 409)).toEqual({ code: 'conflict', fields: ['session_id'] });
    const { body } = await request().expect(409);
    expect(body.errors[0].message).toContain('POST /agents/{id}/sessions');
    await client.resume(at.agent.id);
    await request().expect(201);
  });
});

test('an episode of very many parts is stored whole, and one of too many is refused', async () => {
  const lines = Array.from({ length: 200 }, (_, index) => `Line ${index}`);
  const { id } = await client.store(agent.id, {
    outcome: outcomeOf({ learnings: lines }),
    actions: Array.from({ length: 1_000 }, (_, index) => actionOf({ timestamp: index })),
  });
  const shown = await client.get(id);
  expect(shown.outcome.learnings).toEqual(lines);
  expect(shown.actions?.map(({ timestamp }) => timestamp).slice(-2)).toEqual([998, 999]);
  const tooMany = post({ outcome: outcomeOf({ learnings: [...lines, 'One more'] }) });
  expect(await expectRefused(service, tooMany, 400)).toMatchObject({ fields: ['outcome.learnings'] });
});
