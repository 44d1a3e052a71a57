import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { DEPTHS, type Depth } from '../../../src/domain/depth.js';
import { EpisodeClient, type EpisodeReport, JWT_LAYERS, UNKNOWN_EPISODE_ID } from '../../support/episodes.js';
import { expectRefused } from '../../support/nodes.js';
import { type Service, startService } from '../../support/service.js';

let service: Service;
let client: EpisodeClient;
let stored: EpisodeReport;
const ACTION = {
  ...JWT_LAYERS.actions[0],
  details: {
    ...JWT_LAYERS.actions[0]?.details,
    diff_hash: 'sha256:9f2',
    command: 'npm test',
    working_directory: '/app',
    query: 'refresh',
    scope: 'src',
  },
};
const LAYERS = {
  ...JWT_LAYERS,
  actions: [ACTION],
  outcome: { ...JWT_LAYERS.outcome, failure_reason: 'None', failure_category: 'other' },
};
beforeAll(async () => {
  service = await startService();
  client = new EpisodeClient(service);
  const { agent } = await client.register();
  const cause = await client.store(agent.id);
  stored = await client.store(agent.id, { ...LAYERS, tags: ['auth'], links: { caused_by: [cause.id] } });
});
afterAll(() => service.stop());

const keysOf = (value: unknown): string[] => Object.keys(value as object).sort();

const WHOSE = ['id', 'agent_id', 'created_at'];
const ABOUT = [
  'project_id',
  'session_id',
  'updated_at',
  'files',
  'tags',
  'importance',
  'access_count',
  'last_accessed',
  'archived_at',
  'revision',
];
const BRIEF_INTENT = ['goal', 'task_type'];
const INTENT = ['goal', 'task_type', 'context', 'constraints'];
const BRIEF_OUTCOME = ['success', 'summary'];
const OUTCOME = [
  'success',
  'summary',
  'learnings',
  'failure_reason',
  'failure_category',
  'verified_by',
  'follow_up_needed',
];
const DONE = ['file_path', 'lines_affected', 'command', 'working_directory', 'query', 'scope'];
const DIFFS = ['diff_hash', 'diff_summary'];
const ALL_LAYERS = ['intent', 'outcome', 'reasoning', 'perception', 'actions'];

/** What is seen at each depth: of the episode without its links, of its intent, its outcome and the details of its actions. */
const COLUMNS: [Depth, string[], string[], string[], string[] | null][] = [
  ['summary', [...WHOSE, 'intent', 'outcome'], BRIEF_INTENT, BRIEF_OUTCOME, null],
  ['outcome', [...WHOSE, 'intent', 'outcome'], BRIEF_INTENT, OUTCOME, null],
  ['reasoning', [...WHOSE, 'intent', 'outcome', 'reasoning'], BRIEF_INTENT, OUTCOME, null],
  ['full', [...WHOSE, ...ALL_LAYERS, ...ABOUT], INTENT, OUTCOME, DONE],
  ['complete', [...WHOSE, ...ALL_LAYERS, ...ABOUT], INTENT, OUTCOME, [...DONE, ...DIFFS]],
];

test('the table has every depth', () => {
  expect(COLUMNS.map(([depth]) => depth)).toEqual([...DEPTHS]);
});

describe.each(COLUMNS)('3e.5 at the depth %s', (depth, keys, intent, outcome, details) => {
  const expectColumns = (shown: EpisodeReport, more: string[] = []) => {
    expect(keysOf(shown)).toEqual([...keys, ...more].sort());
    expect(keysOf(shown.intent)).toEqual([...intent].sort());
    expect(keysOf(shown.outcome)).toEqual([...outcome].sort());
    if (details) expect(keysOf(shown.actions?.[0]?.details)).toEqual([...details].sort());
    // What is shown of a layer is what was stored of it.
    expect(LAYERS.intent).toMatchObject(shown.intent);
    expect(LAYERS.outcome).toMatchObject(shown.outcome);
    if (keys.includes('reasoning')) expect(shown.reasoning).toEqual(LAYERS.reasoning);
    if (details) {
      expect(shown.perception).toEqual(LAYERS.perception);
      expect(shown.actions?.[0]).toMatchObject({
        type: ACTION.type,
        timestamp: ACTION.timestamp,
        result: ACTION.result,
      });
    }
  };

  test('an episode shows exactly its columns', async () => {
    const { body } = await client.getEpisode(stored.id, { depth }).expect(200);
    expectColumns(body, details ? ['links', 'links_complete'] : []);
  });

  test('a list shows the same', async () => {
    const shown = (await client.listed({ depth, tags: 'auth' }))[0] as EpisodeReport;
    expectColumns(shown);
  });

  test('a recall shows the same, with the links if they are asked for', async () => {
    const plain = await client.recall({ memory_id: stored.id, depth });
    expectColumns(plain.memories[0]?.memory as EpisodeReport);
    const linked = await client.recall({ memory_id: stored.id, depth, include_links: true });
    expectColumns(linked.memories[0]?.memory as EpisodeReport, details ? ['links', 'links_complete'] : []);
  });

  test('a trace shows the same', async () => {
    expectColumns((await client.trace(stored.id, { depth })).origin);
  });
});

test('3e.4 deeper costs more tokens', async () => {
  const counts: number[] = [];
  for (const depth of DEPTHS) counts.push((await client.recall({ memory_id: stored.id, depth })).token_count);
  expect(counts).toEqual([...counts].sort((a, b) => a - b));
  expect(new Set(counts).size).toBe(DEPTHS.length);
});

test('layers that are not there are null where the depth shows them', async () => {
  const { id } = await client.store(stored.agent_id);
  expect((await client.getEpisode(id, { depth: 'reasoning' })).body.reasoning).toBeNull();
  for (const depth of ['full', 'complete']) {
    const { body } = await client.getEpisode(id, { depth }).expect(200);
    expect([body.reasoning, body.perception, body.actions]).toEqual([null, null, null]);
  }
});

test('a depth that is none is refused', async () => {
  for (const request of [
    client.getEpisode(stored.id, { depth: 'deep' }),
    client.getEpisodes({ depth: 'deep' }),
    client.getTrace(stored.id, { depth: 'deep' }),
    client.postRecall({ depth: 'deep' }),
  ]) {
    const { fields } = await expectRefused(service, request, 400);
    expect(fields[0]).toMatch(/depth$/);
  }
});

describe('3c a look at an episode', () => {
  test('is counted once, and shown at once', async () => {
    const { id } = await client.store(stored.agent_id);
    const first = service.clock.advance(1_000);
    expect(await client.get(id)).toMatchObject({ access_count: 1, last_accessed: first });
    const second = service.clock.advance(1_000);
    expect(await client.get(id)).toMatchObject({ access_count: 2, last_accessed: second, updated_at: first - 1_000 });
  });

  test('is no change of it', async () => {
    const { id } = await client.store(stored.agent_id);
    const { headers } = await client.getEpisode(id).expect(200);
    expect((await client.getEpisode(id).expect(200)).headers.etag).toBe(headers.etag);
  });

  test('is counted once for a recall, by id as well, and never for a list, a trace, a PATCH or a link', async () => {
    const { id } = await client.store(stored.agent_id, { tags: ['counted'] });
    const other = await client.store(stored.agent_id);
    await client.listed({ tags: 'counted', depth: 'complete' });
    await client.trace(id);
    await client.patch(id, { importance: 0.7 });
    await client.link(id, 'led_to', other.id);
    const countOf = async () => (await client.listed({ tags: 'counted', depth: 'full' }))[0]?.access_count;
    expect(await countOf()).toBe(0);
    await client.recall({ tags: ['counted'] });
    expect(await countOf()).toBe(1);
    await client.recall({ memory_id: id });
    expect(await countOf()).toBe(2);
  });

  test.each([UNKNOWN_EPISODE_ID, 'garbage', 'ffffffff-ffff-4fff-8fff-ffffffffffff'])(
    'at %j finds nothing',
    async (id) => {
      expect(await expectRefused(service, client.getEpisode(id), 404)).toEqual({
        code: 'not_found',
        fields: ['memory_id'],
      });
    },
  );

  test('from another project finds nothing', async () => {
    await new EpisodeClient(service, 'acme/till').getEpisode(stored.id).expect(404);
  });
});
