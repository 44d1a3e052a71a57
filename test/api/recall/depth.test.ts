import { countTokens } from 'gpt-tokenizer';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { actionOf, EpisodeClient, type EpisodeReport, type RecallReport } from '../../support/episodes.js';
import { type Service, startService } from '../../support/service.js';

const DEPTHS = ['summary', 'outcome', 'reasoning', 'full', 'complete'] as const;

let service: Service;
let episodes: EpisodeClient;
let made: EpisodeReport[];
beforeAll(async () => {
  service = await startService();
  episodes = new EpisodeClient(service);
  const { agent } = await episodes.register();
  made = [];
  for (const [number, importance] of [0.9, 0.6, 0.3].entries()) {
    made.push(
      await episodes.store(agent.id, {
        intent: {
          goal: `Find leak number ${number} 🚰`,
          task_type: 'bug_fix',
          context: 'The cellar is wet, “again”',
          constraints: ['Do not\nbreak walls'],
        },
        perception: {
          observations: [{ what: 'A puddle', where: 'cellar', significance: 'It grows' }],
          anomalies: ['x'],
        },
        reasoning: {
          approach_chosen: 'Follow the water',
          why_chosen: 'It comes from somewhere',
          assumptions: ['One leak'],
        },
        actions: [
          actionOf({
            details: { file_path: `cellar/pipe-${number}.ts`, diff_hash: 'abc', diff_summary: 'A new gasket' },
          }),
        ],
        outcome: {
          success: true,
          summary: 'It is dry',
          learnings: ['Gaskets age'],
          follow_up_needed: ['Look again'],
          verified_by: { type: 'manual', result: 'dry for a day' },
        },
        tags: ['cellar'],
        importance,
        ...(number === 1 && { links: { caused_by: [made[0]?.id] } }),
      }),
    );
  }
});
afterAll(() => service.stop());

const ids = (): string[] => made.map(({ id }) => id);
const shown = ({ memories }: RecallReport) => memories.map(({ memory, depth }) => [memory.id, depth]);

/** Long text is counted in slices: where one cuts a token in two, it counts as one more. */
const SLICE_CHARACTERS = 256;

/** Whether the number is that of the JSON as it arrived: never too low, and too high by the cuts at most. */
function expectReal(memory: unknown, tokens: number): void {
  const json = JSON.stringify(memory);
  const real = countTokens(json);
  expect(tokens).toBeGreaterThanOrEqual(real);
  expect(tokens).toBeLessThanOrEqual(real + Math.floor(json.length / SLICE_CHARACTERS));
}

describe('tokens', () => {
  test.each(DEPTHS)('at %s are those of the JSON that is shown', async (depth) => {
    const { memories, token_count } = await episodes.recall({ depth, include_links: true });
    expect(memories).toHaveLength(3);
    for (const { memory, tokens, depth: at } of memories) {
      expect(at).toBe(depth);
      expectReal(memory, tokens);
    }
    expect(token_count).toBe(memories.reduce((sum, { tokens }) => sum + tokens, 0));
  });

  test('grow with the depth', async () => {
    const counts: number[] = [];
    for (const depth of DEPTHS) counts.push((await episodes.recall({ depth, limit: 1 })).token_count);
    expect(counts).toEqual([...new Set(counts)].sort((a, b) => a - b));
  });
});

test('the depth is summary unless it is said', async () => {
  expect((await episodes.recall({})).memories).toEqual((await episodes.recall({ depth: 'summary' })).memories);
});

test('each depth shows its columns and no others', async () => {
  const layersAt = async (depth: string) => {
    const { memory } = (await episodes.recall({ memory_id: ids()[0], depth }))
      .memories[0] as RecallReport['memories'][0];
    const { intent, outcome, reasoning, perception, actions } = memory;
    return { intent, outcome, reasoning, perception, actions };
  };
  const { intent, outcome, reasoning, perception, actions } = made[0] as EpisodeReport;
  const brief = { goal: intent.goal, task_type: intent.task_type };
  expect(await layersAt('summary')).toEqual({ intent: brief, outcome: { success: true, summary: outcome.summary } });
  expect(await layersAt('outcome')).toEqual({ intent: brief, outcome });
  expect(await layersAt('reasoning')).toEqual({ intent: brief, outcome, reasoning });
  expect(await layersAt('complete')).toEqual({ intent, outcome, reasoning, perception, actions });
  const full = await layersAt('full');
  expect(full).toMatchObject({ intent, outcome, reasoning, perception });
  expect(full.actions?.[0]?.details).toEqual({ file_path: 'cellar/pipe-0.ts' });
});

describe('include_links', () => {
  const linksAt = async (depth: string, include_links: boolean) =>
    (await episodes.recall({ memory_id: ids()[1], depth, include_links })).memories[0]?.memory.links;

  test.each(['full', 'complete'])('shows them at %s', async (depth) => {
    expect(await linksAt(depth, true)).toMatchObject({ caused_by: [ids()[0]] });
    expect(await linksAt(depth, false)).toBeUndefined();
  });

  test.each(['summary', 'outcome', 'reasoning'])('shows none at %s', async (depth) => {
    expect(await linksAt(depth, true)).toBeUndefined();
  });
});

describe('max_tokens', () => {
  /** What each costs at each depth, best first. */
  const costs = async (): Promise<Record<string, number[]>> => {
    const entries = DEPTHS.map(async (depth) => {
      const { memories } = await episodes.recall({ depth });
      return [depth, memories.map(({ tokens }) => tokens)] as const;
    });
    return Object.fromEntries(await Promise.all(entries));
  };
  const sum = (numbers: readonly (number | undefined)[]): number =>
    numbers.reduce<number>((all, one) => all + (one ?? 0), 0);

  test('of exactly what is needed changes nothing', async () => {
    const plain = await episodes.recall({ depth: 'complete' });
    expect(shown(await episodes.recall({ depth: 'complete', max_tokens: plain.token_count }))).toEqual(shown(plain));
  });

  test('of one less shows the last one less deeply, and only that', async () => {
    const { token_count } = await episodes.recall({ depth: 'complete' });
    const answer = await episodes.recall({ depth: 'complete', max_tokens: token_count - 1 });
    expect(shown(answer)).toEqual([
      [ids()[0], 'complete'],
      [ids()[1], 'complete'],
      [ids()[2], 'full'],
    ]);
  });

  test('lowers the tail step by step, and leaves out only when all are summaries', async () => {
    const { summary, complete } = (await costs()) as { summary: number[]; complete: number[] };
    const lowest = await episodes.recall({ depth: 'complete', max_tokens: sum(summary) });
    expect(shown(lowest)).toEqual(ids().map((id) => [id, 'summary']));
    const oneDeep = await episodes.recall({
      depth: 'complete',
      max_tokens: (complete[0] ?? 0) + sum(summary.slice(1)),
    });
    expect(shown(oneDeep)).toEqual([
      [ids()[0], 'complete'],
      [ids()[1], 'summary'],
      [ids()[2], 'summary'],
    ]);
    const two = await episodes.recall({ depth: 'complete', max_tokens: sum(summary) - 1 });
    expect(shown(two)).toEqual(
      ids()
        .slice(0, 2)
        .map((id) => [id, 'summary']),
    );
    expect(two.total_matches).toBe(3);
  });

  test('is never exceeded, and the more there are the more is shown', async () => {
    let before = 0;
    for (let max = 1; max < 1_200; max += 37) {
      const { token_count, memories } = await episodes.recall({ depth: 'complete', max_tokens: max });
      expect(token_count).toBeLessThanOrEqual(max);
      expect(memories.length).toBeGreaterThanOrEqual(before);
      before = memories.length;
      expect(memories.map(({ memory }) => memory.id)).toEqual(ids().slice(0, memories.length));
      for (const { memory, tokens } of memories) expectReal(memory, tokens);
    }
    expect(before).toBe(3);
  });

  test('too few for a single summary leaves nothing, and says how many fit', async () => {
    expect(await episodes.recall({ max_tokens: 1 })).toMatchObject({ memories: [], total_matches: 3, token_count: 0 });
  });

  test.each([0, -1, 1.5, 1_000_001, '10'])('%j is refused', async (max_tokens) => {
    await episodes.postRecall({ max_tokens }).expect(400);
  });
});
