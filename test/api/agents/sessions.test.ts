import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { EpisodeClient, intentOf, outcomeOf, UNKNOWN_AGENT_ID, UNKNOWN_SESSION_ID } from '../../support/episodes.js';
import { expectRefused, sendAtOnce } from '../../support/nodes.js';
import { type Service, startService } from '../../support/service.js';
import { times } from '../../support/together.js';

let service: Service;
let client: EpisodeClient;
beforeEach(async () => {
  service = await startService();
  client = new EpisodeClient(service);
});
afterEach(() => service.stop());

describe('3e.1 the first session', () => {
  test('begins when an agent is made known, with what it is about to do', async () => {
    const { agent, session } = await client.register({ initial_intent: 'Fix the logout bug' });
    expect(session).toEqual({
      id: expect.stringMatching(/^session_[0-9a-f-]{36}$/),
      agent_id: agent.id,
      started_at: service.clock.now(),
      ended_at: null,
      initial_intent: 'Fix the logout bug',
      final_outcome: null,
      memories_created: 0,
      queries_made: 0,
    });
    expect(await client.session(session.id)).toEqual(session);
  });

  test('of an agent that is refused does not begin', async () => {
    await client.register();
    await expectRefused(service, client.postAgent({ type: 'subagent', parent_id: UNKNOWN_AGENT_ID }), 404);
  });
});

describe('3e.1 an agent is resumed', () => {
  test('by its id, in a new session that is counted', async () => {
    const { agent, session } = await client.register();
    const at = service.clock.advance(1_000);
    const { body, headers } = await client.postSession(agent.id, { initial_intent: 'Go on' }).expect(201);
    expect(body.session).toMatchObject({ agent_id: agent.id, started_at: at, ended_at: null, initial_intent: 'Go on' });
    expect(body.session.id).not.toBe(session.id);
    expect(body.agent).toEqual({ ...agent, session_count: 2, last_active_at: at });
    expect(headers.location).toBe(`/sessions/${body.session.id}?repo_id=acme%2Fshop`);
    expect(await client.session(session.id)).toEqual(session);
  });

  test('with nothing to say about it', async () => {
    const { agent } = await client.register();
    const { body } = await service.http
      .post(`/agents/${agent.id}/sessions`)
      .query({ repo_id: 'acme/shop' })
      .expect(201);
    expect(body.session.initial_intent).toBeNull();
  });

  test('even if it is a subagent', async () => {
    const parent = (await client.register()).agent;
    const { agent } = await client.register({ type: 'subagent', parent_id: parent.id });
    expect((await client.resume(agent.id)).agent).toMatchObject({ id: agent.id, session_count: 2 });
  });

  test('unless nobody knows it', async () => {
    await client.register();
    for (const id of [UNKNOWN_AGENT_ID, 'garbage']) {
      const refusal = await expectRefused(service, client.postSession(id), 404);
      expect(refusal).toEqual({ code: 'not_found', fields: ['agent_id'] });
    }
  });

  test.each([{ initial_intent: '' }, { initial_intent: 7 }, { outcome: 'x' }, []])('not with %j', async (body) => {
    const { agent } = await client.register();
    await expectRefused(service, client.postSession(agent.id, body), 400);
  });
});

describe('3c the latest agent', () => {
  test('is the main one that was active last: by registering, resuming or remembering', async () => {
    const latest = async () => (await client.getAgent('latest').expect(200)).body.id;
    const first = (await client.register()).agent;
    service.clock.advance(1_000);
    const second = (await client.register()).agent;
    expect(await latest()).toBe(second.id);
    service.clock.advance(1_000);
    await client.resume(first.id);
    expect(await latest()).toBe(first.id);
    service.clock.advance(1_000);
    await client.store(second.id);
    expect(await latest()).toBe(second.id);
    service.clock.advance(1_000);
    await client.getAgent(first.id).expect(200);
    expect(await latest()).toBe(second.id);
  });

  test('of several active in the same moment is the one that came last', async () => {
    await client.register();
    const { agent } = await client.register();
    expect((await client.resume('latest')).agent.id).toBe(agent.id);
  });

  test('is never a subagent', async () => {
    const main = (await client.register()).agent;
    service.clock.advance(1_000);
    const sub = (await client.register({ type: 'subagent', parent_id: main.id })).agent;
    await client.store(sub.id);
    expect((await client.resume('latest')).agent.id).toBe(main.id);
  });

  test('is not there in a project without agents', async () => {
    await new EpisodeClient(service, 'acme/till').register();
    for (const request of [client.postSession('latest'), client.getAgent('latest')]) {
      expect(await expectRefused(service, request, 404)).toEqual({ code: 'not_found', fields: ['agent_id'] });
    }
  });

  test('may be whom a subagent works for', async () => {
    const main = (await client.register()).agent;
    expect((await client.register({ type: 'subagent', parent_id: 'latest' })).agent.parent_id).toBe(main.id);
  });
});

describe('3e.10 a session ends', () => {
  test('with what came of it', async () => {
    const { session } = await client.register({ initial_intent: 'Fix it' });
    const at = service.clock.advance(5_000);
    const { body } = await client.endSession(session.id, { final_outcome: 'Fixed' }).expect(200);
    expect(body).toEqual({ ...session, ended_at: at, final_outcome: 'Fixed' });
    expect(await client.session(session.id)).toEqual(body);
  });

  test('with nothing to say about it', async () => {
    const { session } = await client.register();
    const { body } = await service.http.post(`/sessions/${session.id}/end`).query({ repo_id: 'acme/shop' }).expect(200);
    expect(body).toMatchObject({ ended_at: service.clock.now(), final_outcome: null });
  });

  test('once: whoever ends it again is told how it ended', async () => {
    const { session } = await client.register();
    const first = (await client.endSession(session.id, { final_outcome: 'Fixed' }).expect(200)).body;
    service.clock.advance(5_000);
    expect((await client.endSession(session.id, { final_outcome: 'Broken' }).expect(200)).body).toEqual(first);
    expect((await client.endSession(session.id).expect(200)).body).toEqual(first);
    expect(await client.session(session.id)).toEqual(first);
  });

  test('once, however many end it at the same time', async () => {
    const { session } = await client.register();
    const answers = await sendAtOnce(service, () =>
      times(5, (index) => client.endSession(session.id, { final_outcome: `Outcome ${index}` })),
    );
    expect(answers.map(({ status }) => status)).toEqual(times(5, () => 200));
    const outcomes = new Set(answers.map(({ body }) => body.final_outcome));
    expect(outcomes).toEqual(new Set([(await client.session(session.id)).final_outcome]));
  });

  test.each([UNKNOWN_SESSION_ID, 'garbage', 'latest'])('unless it is %j, which nobody knows', async (id) => {
    await client.register();
    for (const request of [client.endSession(id), client.getSession(id)]) {
      expect(await expectRefused(service, request, 404)).toEqual({ code: 'not_found', fields: ['session_id'] });
    }
  });

  test('and the agent goes on in the one that it began before', async () => {
    const { agent, session } = await client.register();
    const second = (await client.resume(agent.id)).session;
    expect((await client.store(agent.id)).session_id).toBe(second.id);
    await client.endSession(second.id).expect(200);
    expect((await client.store(agent.id)).session_id).toBe(session.id);
  });
});

describe('3e.10 a session counts', () => {
  test('the episodes that were stored in it, as long as they are there', async () => {
    const { agent, session } = await client.register();
    const { id } = await client.store(agent.id);
    await client.store(agent.id, { outcome: outcomeOf({ success: false }) });
    const second = (await client.resume(agent.id)).session;
    await client.store(agent.id);
    expect((await client.session(session.id)).memories_created).toBe(2);
    expect((await client.session(second.id)).memories_created).toBe(1);
    await client.remove(id, { permanent: true });
    expect((await client.session(session.id)).memories_created).toBe(1);
  });

  test('the recalls that named it, found or not, and nobody else’s', async () => {
    const { agent, session } = await client.register();
    const other = (await client.resume(agent.id)).session;
    await client.store(agent.id, { intent: intentOf({ goal: 'Warm the cache' }) });
    await client.recall({ query: 'cache', session_id: session.id });
    await client.recall({ query: 'zeppelin', session_id: session.id });
    await client.recall({ query: 'cache' });
    expect((await client.session(session.id)).queries_made).toBe(2);
    expect((await client.session(other.id)).queries_made).toBe(0);
  });

  test('recalls also after they were stored and the service was asked again', async () => {
    const { session } = await client.register();
    await client.recall({ query: 'cache', session_id: session.id });
    await client.listed({ sort: 'access_count' });
    await client.recall({ query: 'cache', session_id: session.id });
    expect((await client.session(session.id)).queries_made).toBe(2);
  });
});
