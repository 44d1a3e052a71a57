import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  type AgentReport,
  actionOf,
  EpisodeClient,
  type EpisodeReport,
  intentOf,
  JWT_LAYERS,
  outcomeOf,
  UNKNOWN_EPISODE_ID,
} from '../../support/episodes.js';
import { expectRefused, sendAtOnce } from '../../support/nodes.js';
import { type Service, startService } from '../../support/service.js';
import { times } from '../../support/together.js';

let service: Service;
let client: EpisodeClient;
let agent: AgentReport;
beforeAll(async () => {
  service = await startService();
  client = new EpisodeClient(service);
  agent = (await client.register()).agent;
});
afterAll(() => service.stop());

const jwt = (): Promise<EpisodeReport> =>
  client.store(agent.id, { ...JWT_LAYERS, tags: ['auth', 'jwt'], importance: 0.8 });
const layersOf = ({ intent, perception, reasoning, actions, outcome }: EpisodeReport) => ({
  intent,
  perception,
  reasoning,
  actions,
  outcome,
});

describe('3e.3 a PATCH', () => {
  test('merges objects, at every depth, and keeps what it does not name', async () => {
    const { id } = await jwt();
    const patched = await client.patch(id, {
      intent: { context: 'Reported again' },
      perception: { anomalies: ['None left'] },
      reasoning: { why_chosen: 'It was there' },
      outcome: { success: false, verified_by: { result: '13 tests passed' } },
    });
    const expected = {
      ...JWT_LAYERS,
      intent: { ...JWT_LAYERS.intent, context: 'Reported again' },
      perception: { ...JWT_LAYERS.perception, anomalies: ['None left'] },
      reasoning: { ...JWT_LAYERS.reasoning, why_chosen: 'It was there' },
      outcome: {
        ...JWT_LAYERS.outcome,
        success: false,
        verified_by: { ...JWT_LAYERS.outcome.verified_by, result: '13 tests passed' },
      },
    };
    expect(layersOf(patched)).toEqual(expected);
    expect(layersOf(await client.get(id))).toEqual(expected);
    expect([patched.tags, patched.importance]).toEqual([['auth', 'jwt'], 0.8]);
  });

  test('replaces lists, and an empty one empties', async () => {
    const { id } = await jwt();
    const actions = [actionOf({ type: 'search', details: { query: 'x' } })];
    const patched = await client.patch(id, {
      intent: { constraints: ['Only one'] },
      perception: { observations: [] },
      actions,
      outcome: { learnings: [] },
      tags: [],
    });
    expect(patched.intent.constraints).toEqual(['Only one']);
    expect(patched.perception).toEqual({ ...JWT_LAYERS.perception, observations: [] });
    expect(patched.actions).toEqual(actions);
    expect(patched.outcome).toEqual({ ...JWT_LAYERS.outcome, learnings: [] });
    expect(patched.tags).toEqual([]);
    expect((await client.patch(id, { actions: [] })).actions).toEqual([]);
    expect((await client.patch(id, { tags: ['b', 'a'] })).tags).toEqual(['a', 'b']);
  });

  test('takes away what is null: a layer, or a part of one', async () => {
    const { id } = await jwt();
    const patched = await client.patch(id, {
      intent: { context: null },
      perception: null,
      reasoning: { assumptions: null },
      actions: null,
      outcome: { verified_by: { command: null }, follow_up_needed: null },
    });
    const { context: _context, ...intent } = JWT_LAYERS.intent;
    const { assumptions: _assumptions, ...reasoning } = JWT_LAYERS.reasoning;
    const { follow_up_needed: _followUp, ...outcome } = JWT_LAYERS.outcome;
    const { command: _command, ...verified_by } = outcome.verified_by;
    expect(layersOf(patched)).toEqual({
      intent,
      perception: null,
      reasoning,
      actions: null,
      outcome: { ...outcome, verified_by },
    });
    expect((await client.patch(id, { reasoning: null, outcome: { verified_by: null } })).reasoning).toBeNull();
  });

  test('adds a layer that was not there', async () => {
    const { id } = await client.store(agent.id);
    const { perception, reasoning, actions } = JWT_LAYERS;
    expect(await client.patch(id, { perception, reasoning, actions })).toMatchObject({
      perception,
      reasoning,
      actions,
    });
  });

  test('never changes who, when and where it was, and says when it was changed', async () => {
    const before = await jwt();
    const at = service.clock.advance(60_000);
    const after = await client.patch(before.id, { outcome: { success: false }, importance: 0 });
    const fixed = ({ id, agent_id, session_id, project_id, created_at }: EpisodeReport) => ({
      id,
      agent_id,
      session_id,
      project_id,
      created_at,
    });
    expect(fixed(after)).toEqual(fixed(before));
    expect(after).toMatchObject({ updated_at: at, revision: 2, importance: 0 });
    for (const field of ['id', 'agent_id', 'session_id', 'created_at', 'project_id', 'access_count']) {
      const refusal = await expectRefused(service, client.patchEpisode(before.id, { [field]: 'x' }), 400);
      expect(refusal.fields).toEqual([field]);
    }
  });

  test.each([
    ['intent.goal', { intent: { goal: null } }],
    ['intent.task_type', { intent: { task_type: null } }],
    ['outcome.success', { outcome: { success: null } }],
    ['outcome.summary', { outcome: { summary: null } }],
    ['reasoning.approach_chosen', { reasoning: { approach_chosen: null } }],
    ['reasoning.why_chosen', { reasoning: { why_chosen: null, approach_chosen: 'Another' } }],
    ['outcome.verified_by.type', { outcome: { verified_by: { type: null } } }],
    ['outcome.verified_by.result', { outcome: { verified_by: { result: null } } }],
    ['intent.goal', { intent: { goal: '  ' } }],
    ['outcome.summary', { outcome: { summary: '\n' } }],
  ])('without which no %s is left is refused, and changes nothing', async (field, patch) => {
    const { id } = await jwt();
    const request = client.patchEpisode(id, { importance: 0.1, tags: ['x'], ...patch });
    expect(await expectRefused(service, request, 422)).toEqual({ code: 'semantic_error', fields: [field] });
  });

  test('that begins a layer has to say what such a layer needs', async () => {
    const { id } = await client.store(agent.id);
    const reasoning = client.patchEpisode(id, { reasoning: { assumptions: ['a'] } });
    expect((await expectRefused(service, reasoning, 422)).fields).toEqual([
      'reasoning.approach_chosen',
      'reasoning.why_chosen',
    ]);
    const verified = client.patchEpisode(id, { outcome: { verified_by: { command: 'npm test' } } });
    expect((await expectRefused(service, verified, 422)).fields).toEqual([
      'outcome.verified_by.type',
      'outcome.verified_by.result',
    ]);
  });

  test.each([
    [{}, ''],
    [{ intent: null }, 'intent'],
    [{ outcome: null }, 'outcome'],
    [{ intent: { task_type: 'banana' } }, 'intent.task_type'],
    [{ intent: { colour: 'red' } }, 'intent.colour'],
    [{ outcome: { learnings: 'one' } }, 'outcome.learnings'],
    [{ outcome: { verified_by: { type: 'vibes' } } }, 'outcome.verified_by.type'],
    [{ actions: [{}] }, 'actions.0.'],
    [{ tags: null }, 'tags'],
    [{ importance: 2 }, 'importance'],
    [{ perception: { observations: [{ what: 'x' }] } }, 'perception.observations.0.'],
  ])('of %j is refused by its field', async (patch, field) => {
    const { id } = await jwt();
    const { code, fields } = await expectRefused(service, client.patchEpisode(id, patch), 400);
    expect(code).toBe('schema_error');
    expect(fields[0]).toContain(field);
  });

  test.each([UNKNOWN_EPISODE_ID, 'garbage'])('of %j finds nothing', async (id) => {
    const request = client.patchEpisode(id, { importance: 0.1 });
    expect(await expectRefused(service, request, 404)).toMatchObject({ fields: ['memory_id'] });
  });

  test('in which a __proto__ stands changes nothing', async () => {
    const { id } = await jwt();
    const { status } = await service.http
      .patch(`/episodes/${id}`)
      .query({ repo_id: 'acme/shop' })
      .set('content-type', 'application/json')
      .send('{"intent":{"__proto__":{"goal":"x"}}}');
    expect(status).toBe(400);
    expect(layersOf(await client.get(id))).toEqual(JWT_LAYERS);
  });
});

describe('3e.3 what an episode is found by follows a PATCH', () => {
  test('its words: found by the new ones, and no longer by the old ones', async () => {
    const { id } = await client.store(agent.id, {
      intent: intentOf({ goal: 'Polish the zeppelin' }),
      outcome: outcomeOf({ learnings: ['Use a walrus'] }),
      tags: ['quokka'],
    });
    for (const query of ['zeppelin', 'walrus', 'quokka']) expect(await client.recalledIds({ query })).toEqual([id]);
    await client.patch(id, { intent: { goal: 'Polish the gondola' }, outcome: { learnings: null }, tags: ['numbat'] });
    for (const query of ['gondola', 'numbat']) expect(await client.recalledIds({ query })).toEqual([id]);
    for (const query of ['zeppelin', 'walrus', 'quokka']) expect(await client.recalledIds({ query })).toEqual([]);
    expect(await client.recalledIds({ intent: 'gondola' })).toEqual([id]);
  });

  test('its files', async () => {
    const { id } = await client.store(agent.id, {
      actions: [actionOf({ details: { file_path: 'old/one.ts' } })],
      perception: { relevant_files: [{ path: 'old/two.ts', relevance: 'r', state_summary: 's' }] },
    });
    const patched = await client.patch(id, {
      actions: [actionOf({ type: 'file_create', details: { file_path: 'new/one.ts' } })],
    });
    const files = [
      { path: 'new/one.ts', operation: 'create' },
      { path: 'old/two.ts', operation: 'relevant' },
    ];
    expect([...patched.files].sort((a, b) => (a.path < b.path ? -1 : 1))).toEqual(files);
    expect(await client.listed({ file: 'old/one.ts' })).toEqual([]);
    expect((await client.listed({ file: 'new/one.ts' })).map((one) => one.id)).toEqual([id]);
    expect((await client.patch(id, { perception: null, actions: null })).files).toEqual([]);
    expect(await client.listed({ file: 'old/two.ts' })).toEqual([]);
  });

  test('its task type, its success, how it failed and how important it is', async () => {
    const { id } = await client.store(agent.id, { tags: ['followed'] });
    await client.patch(id, {
      intent: { task_type: 'refactor' },
      outcome: { success: false, failure_category: 'type_error' },
      importance: 1,
    });
    for (const query of [{ task_type: 'refactor' }, { success: false }, { failure_category: 'type_error' }]) {
      expect(await client.listed({ ...query, tags: 'followed' })).toHaveLength(1);
    }
    for (const query of [{ task_type: 'other' }, { success: true }]) {
      expect(await client.listed({ ...query, tags: 'followed' })).toEqual([]);
    }
    await client.patch(id, { outcome: { failure_category: null } });
    expect(await client.listed({ failure_category: 'type_error', tags: 'followed' })).toEqual([]);
  });

  test('and is not disturbed by one that names only its importance', async () => {
    const { id } = await client.store(agent.id, {
      intent: intentOf({ goal: 'Feed the axolotl' }),
      actions: [actionOf({ details: { file_path: 'kept/one.ts' } })],
    });
    await client.patch(id, { importance: 0.9 });
    expect(await client.recalledIds({ query: 'axolotl' })).toEqual([id]);
    expect(await client.listed({ file: 'kept/one.ts' })).toHaveLength(1);
  });
});

describe('If-Match', () => {
  test('lets a change through that knows the episode as it is, and refuses one that does not', async () => {
    const { id } = await jwt();
    const { headers } = await client.getEpisode(id).expect(200);
    const first = await client
      .patchEpisode(id, { importance: 0.1 }, { 'If-Match': headers.etag as string })
      .expect(200);
    expect([headers.etag, first.headers.etag]).toEqual(['"1"', '"2"']);
    const late = client.patchEpisode(id, { importance: 0.2 }, { 'If-Match': headers.etag as string });
    expect(await expectRefused(service, late, 412)).toMatchObject({ code: 'precondition_failed' });
    await client.patchEpisode(id, { importance: 0.3 }, { 'If-Match': '*' }).expect(200);
  });

  test('lets one of many through that come at the same time', async () => {
    const { id } = await jwt();
    const answers = await sendAtOnce(service, () =>
      times(4, (index) => client.patchEpisode(id, { importance: index / 10 }, { 'If-Match': '"1"' })),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 412, 412, 412]);
  });
});

describe('at the same time', () => {
  test('two PATCHes of different parts both land', async () => {
    const { id } = await jwt();
    const answers = await sendAtOnce(service, () => [
      client.patchEpisode(id, { intent: { context: 'One' }, outcome: { failure_reason: 'One' } }),
      client.patchEpisode(id, { intent: { constraints: ['Two'] }, outcome: { learnings: ['Two'] } }),
    ]);
    expect(answers.map(({ status }) => status)).toEqual([200, 200]);
    expect(await client.get(id)).toMatchObject({
      intent: { ...JWT_LAYERS.intent, context: 'One', constraints: ['Two'] },
      outcome: { ...JWT_LAYERS.outcome, failure_reason: 'One', learnings: ['Two'] },
      revision: 3,
    });
  });

  test('a dozen PATCHes all land', async () => {
    const { id } = await jwt();
    const parts = ['context', 'constraints'].map((key) => ['intent', key] as const);
    const lists = ['observations', 'relevant_files', 'patterns_noticed', 'anomalies'].map(
      (key) => ['perception', key] as const,
    );
    const more = ['alternatives_considered', 'assumptions', 'risks_identified'].map(
      (key) => ['reasoning', key] as const,
    );
    const last = ['learnings', 'verified_by', 'follow_up_needed'].map((key) => ['outcome', key] as const);
    const all = [...parts, ...lists, ...more, ...last];
    const answers = await sendAtOnce(service, () =>
      all.map(([layer, key]) => client.patchEpisode(id, { [layer]: { [key]: null } })),
    );
    expect(answers.map(({ status }) => status)).toEqual(all.map(() => 200));
    const shown = await client.get(id);
    for (const [layer, key] of all) expect(shown[layer], key).not.toHaveProperty(key);
  });
});

test('a patch that names nothing is told what there is to name', async () => {
  const service = await startService();
  const client = new EpisodeClient(service);
  const { agent } = await client.register();
  const { id } = await client.store(agent.id);
  const { body } = await client.patchEpisode(id, {}).expect(400);
  expect(body.errors[0].message).toMatch(/^changes nothing; name at least one of intent.*outcome.*importance/);
  await service.stop();
});
