import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { EpisodeClient, outcomeOf, UNKNOWN_AGENT_ID } from '../../support/episodes.js';
import { expectRefused } from '../../support/nodes.js';
import { type Service, startService } from '../../support/service.js';

let service: Service;
let client: EpisodeClient;
beforeEach(async () => {
  service = await startService();
  client = new EpisodeClient(service);
});
afterEach(() => service.stop());

const FAILED = { outcome: outcomeOf({ success: false }) };

describe('3e.1 an agent', () => {
  test('that says nothing of itself is a main one, with nothing to its name', async () => {
    const { agent } = await client.register();
    expect(agent).toEqual({
      id: expect.stringMatching(/^agent_[0-9a-f-]{36}$/),
      type: 'main',
      parent_id: null,
      specialization: null,
      capabilities: [],
      metadata: {},
      created_at: service.clock.now(),
      last_active_at: service.clock.now(),
      session_count: 1,
      memory_count: 0,
      success_count: 0,
      failure_count: 0,
      success_rate: 0,
    });
  });

  test('keeps what it says of itself, and is found where the answer points', async () => {
    const fields = {
      type: 'main',
      specialization: 'backend',
      capabilities: ['sql', 'http'],
      metadata: { a: [1, null] },
    };
    const { body, headers } = await client.postAgent(fields).expect(201);
    expect(body.agent).toMatchObject(fields);
    expect(headers.location).toBe(`/agents/${body.agent.id}?repo_id=acme%2Fshop`);
    expect((await service.http.get(headers.location as string).expect(200)).body).toEqual(body.agent);
  });

  test('can work for another', async () => {
    const parent = (await client.register()).agent;
    const { agent } = await client.register({ type: 'subagent', parent_id: parent.id });
    expect(await client.agent(agent.id)).toMatchObject({ type: 'subagent', parent_id: parent.id });
    const nested = (await client.register({ type: 'subagent', parent_id: agent.id })).agent;
    expect(nested.parent_id).toBe(agent.id);
  });

  test('that works for nobody is no subagent', async () => {
    const refusal = await expectRefused(service, client.postAgent({ type: 'subagent' }), 422);
    expect(refusal).toEqual({ code: 'semantic_error', fields: ['parent_id'] });
  });

  test.each([UNKNOWN_AGENT_ID, 'garbage', '', 'session_ffffffff-ffff-4fff-8fff-ffffffffffff'])(
    'cannot work for %j, whom nobody knows',
    async (parentId) => {
      await client.register();
      const request = client.postAgent({ type: 'subagent', parent_id: parentId });
      expect(await expectRefused(service, request, 404)).toEqual({ code: 'not_found', fields: ['parent_id'] });
    },
  );

  test('cannot work for somebody of another project', async () => {
    const stranger = (await new EpisodeClient(service, 'acme/till').register()).agent;
    const request = client.postAgent({ type: 'subagent', parent_id: stranger.id });
    expect(await expectRefused(service, request, 404)).toEqual({ code: 'not_found', fields: ['parent_id'] });
  });

  test('is not main and a subagent at once', async () => {
    const { agent } = await client.register();
    for (const fields of [{ parent_id: agent.id }, { type: 'main', parent_id: agent.id }]) {
      const refusal = await expectRefused(service, client.postAgent(fields), 422);
      expect(refusal).toEqual({ code: 'semantic_error', fields: ['parent_id'] });
    }
  });

  test.each([
    [{ type: 'boss' }, 'type'],
    [{ type: null }, 'type'],
    [{ capabilities: ['sql', 7] }, 'capabilities.1'],
    [{ capabilities: ['sql', 'sql'] }, 'capabilities'],
    [{ metadata: [] }, 'metadata'],
    [{ specialization: '' }, 'specialization'],
    [{ initial_intent: 5 }, 'initial_intent'],
    [{ surname: 'Smith' }, 'surname'],
  ])('that says %j is refused', async (fields, field) => {
    expect(await expectRefused(service, client.postAgent(fields), 400)).toEqual({
      code: 'schema_error',
      fields: [field],
    });
  });

  test.each([UNKNOWN_AGENT_ID, 'garbage', 'agent_', "agent_' OR 1=1"])('%j is unknown', async (id) => {
    await client.register();
    expect(await expectRefused(service, client.getAgent(id), 404)).toEqual({ code: 'not_found', fields: ['agent_id'] });
  });
});

describe('3c the counters of an agent', () => {
  test('count its episodes by how they went, and nobody else’s', async () => {
    const { agent } = await client.register();
    const other = (await client.register()).agent;
    await client.store(agent.id);
    await client.store(agent.id, FAILED);
    await client.store(agent.id);
    await client.store(agent.id);
    await client.store(other.id, FAILED);
    expect(await client.agent(agent.id)).toMatchObject({
      memory_count: 4,
      success_count: 3,
      failure_count: 1,
      success_rate: 0.75,
    });
    expect(await client.agent(other.id)).toMatchObject({ memory_count: 1, success_rate: 0 });
  });

  test('follow an episode that turns out to have failed', async () => {
    const { agent } = await client.register();
    const { id } = await client.store(agent.id);
    expect(await client.agent(agent.id)).toMatchObject({ success_count: 1, failure_count: 0, success_rate: 1 });
    await client.patch(id, { outcome: { success: false } });
    expect(await client.agent(agent.id)).toMatchObject({ success_count: 0, failure_count: 1, success_rate: 0 });
  });

  test('forget an episode that is removed for good, and remember an archived one', async () => {
    const { agent } = await client.register();
    await client.store(agent.id);
    const { id } = await client.store(agent.id, FAILED);
    await client.remove(id);
    expect(await client.agent(agent.id)).toMatchObject({ memory_count: 2, failure_count: 1, success_rate: 0.5 });
    await client.remove(id, { permanent: true });
    expect(await client.agent(agent.id)).toMatchObject({ memory_count: 1, failure_count: 0, success_rate: 1 });
  });

  test('tell when it was active last, which is not when it was looked at', async () => {
    const { agent } = await client.register();
    const at = service.clock.advance(1_000);
    await client.store(agent.id);
    service.clock.advance(1_000);
    await client.listed();
    expect(await client.agent(agent.id)).toMatchObject({ created_at: at - 1_000, last_active_at: at });
  });
});

describe('3e.10 a project', () => {
  test('knows its own agents and sessions only', async () => {
    const other = new EpisodeClient(service, 'acme/till');
    const { agent, session } = await client.register();
    await other.register();
    for (const request of [
      other.getAgent(agent.id),
      other.getSession(session.id),
      other.postSession(agent.id),
      other.endSession(session.id),
      other.postEpisode({ agent_id: agent.id }),
    ]) {
      await expectRefused(service, request, 404, 'acme/till');
    }
    expect(await client.session(session.id)).toMatchObject({ ended_at: null });
  });

  test('may be named in the body, in the URL, or in both alike', async () => {
    const { http } = service;
    for (const request of [
      http.post('/agents').send({ project_id: 'acme/shop' }),
      http.post('/agents').query({ repo_id: 'acme/shop' }).send({}),
      http.post('/agents').query({ repo_id: 'acme/shop' }).send({ project_id: 'acme/shop' }),
    ]) {
      const { body } = await request.expect(201);
      expect((await client.agent(body.agent.id)).id).toBe(body.agent.id);
    }
    const { body } = await http.post('/agents').send({}).expect(201);
    await new EpisodeClient(service, 'default').getAgent(body.agent.id).expect(200);
    await client.getAgent(body.agent.id).expect(404);
  });

  test('may be named in the body of what changes an episode or a chapter', async () => {
    const { http } = service;
    const { agent } = await client.register();
    const [one, other] = await client.storeGoals(agent.id, 'One', 'Other');
    const project_id = client.repoId;
    const link = { project_id, link_type: 'led_to', target_id: other?.id };
    await http.post(`/episodes/${one?.id}/links`).send(link).expect(201);
    const patched = await http.patch(`/episodes/${one?.id}`).send({ project_id, importance: 1 }).expect(200);
    expect(patched.body).toMatchObject({ project_id, importance: 1, links: { led_to: [other?.id] } });
    const { body } = await http
      .post('/chapters')
      .send({ project_id, memory_ids: [one?.id] })
      .expect(201);
    const renamed = await http.patch(`/chapters/${body.id}`).send({ project_id, title: 'New' }).expect(200);
    expect(renamed.body).toMatchObject({ id: body.id, title: 'New' });
    await expectRefused(service, http.patch(`/episodes/${one?.id}`).send({ project_id }), 400);
    const elsewhere = { project_id: 'acme/till', title: 'Mine' };
    await expectRefused(service, http.patch(`/chapters/${body.id}`).send(elsewhere), 404);
  });

  test('that is named twice and differently is refused on every route that takes both', async () => {
    const { agent, session } = await client.register();
    for (const [path, body] of [
      ['/agents', {}],
      [`/agents/${agent.id}/sessions`, {}],
      [`/sessions/${session.id}/end`, {}],
      ['/episodes', { agent_id: agent.id, intent: { goal: 'g', task_type: 'other' }, outcome: outcomeOf() }],
      ['/episodes/recall', { query: 'cache' }],
    ] as const) {
      const request = service.http
        .post(path)
        .query({ repo_id: 'acme/shop' })
        .send({ ...body, project_id: 'acme/till' });
      expect(await expectRefused(service, request, 400)).toEqual({ code: 'schema_error', fields: ['project_id'] });
    }
  });

  test.each(['', ' ', 'a\nb', 'x'.repeat(300)])('cannot be called %j', async (projectId) => {
    const { status, body } = await service.http.post('/agents').send({ project_id: projectId });
    expect([400, 422]).toContain(status);
    expect(body.errors[0].field).toBe('project_id');
  });
});
