import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { TIERS } from '../../src/domain/vocabulary.js';
import { DAY_MS, EvolutionClient } from '../support/evolution.js';
import type { NodeReport } from '../support/nodes.js';
import { type Service, startService } from '../support/service.js';

const RUN = { seed: 20_260_101, numRuns: 25 };

let service: Service;
let repos = 0;
beforeAll(async () => {
  service = await startService();
});
afterAll(() => service.stop());

const anyIndex = fc.nat(30);
const anyConfidence = fc.constantFrom(0, 0.3, 0.5, 0.79, 0.8, 0.95, 1);
const anyTask = fc.constantFrom('t-1', 't-2');

/** Few words, so that many nodes say the same and belong together. */
const anyStep = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      step: fc.constant('make' as const),
      fields: fc.record({
        type: fc.constantFrom('fact', 'entity'),
        content: fc.constantFrom('x', ' X\n', 'y', 'z', ''),
        subtype: fc.constantFrom('goal', 'option'),
        tier: fc.constantFrom('task', 'task', 'session', 'longterm'),
        confidence: anyConfidence,
        task_id: anyTask,
        session_id: fc.constant('s-1'),
      }),
    }),
  },
  { weight: 2, arbitrary: fc.record({ step: fc.constant('link' as const), one: anyIndex, other: anyIndex }) },
  { weight: 3, arbitrary: fc.record({ step: fc.constant('look' as const), one: anyIndex }) },
  fc.record({ step: fc.constant('move' as const), one: anyIndex, tier: fc.constantFrom(...TIERS) }),
  fc.record({ step: fc.constant('trust' as const), one: anyIndex, confidence: anyConfidence }),
  fc.record({ step: fc.constantFrom('archive' as const, 'restore' as const), one: anyIndex }),
  fc.record({ step: fc.constant('wait' as const), hours: fc.nat(100) }),
  fc.record({ step: fc.constant('consolidate' as const), task: anyTask }),
  fc.record({ step: fc.constantFrom('promote' as const, 'decay' as const) }),
);
type Step = typeof anyStep extends fc.Arbitrary<infer Value> ? Value : never;
const anySteps = fc.array(anyStep, { minLength: 10, maxLength: 40, size: 'max' });

/** One step; what concerns a node concerns one of those made so far. */
async function take(evolution: EvolutionClient, made: NodeReport[], step: Step): Promise<void> {
  const { graph } = evolution;
  const pick = (index: number): NodeReport | undefined => made[index % made.length];
  const one = 'one' in step ? pick(step.one) : undefined;
  if ('one' in step && !one) return;
  const id = one?.id as string;
  switch (step.step) {
    case 'make':
      made.push(await graph.node(step.fields));
      break;
    case 'link': {
      const other = pick(step.other) as NodeReport;
      if (other.id !== id) await graph.postEdge({ label: 'explains', members: membersOf(id, other.id) });
      break;
    }
    case 'look':
      evolution.look({ id }, { id });
      break;
    case 'move':
      await graph.patchNode(id, { tier: step.tier }).expect(200);
      break;
    case 'trust':
      await graph.patchNode(id, { confidence: step.confidence }).expect(200);
      break;
    case 'archive':
      await graph.deleteNode(id).expect(200);
      break;
    case 'restore':
      await graph.restoreNode(id).expect(200);
      break;
    case 'wait':
      service.clock.advance((step.hours * DAY_MS) / 24);
      break;
    case 'consolidate':
      await evolution.consolidate(step.task);
      break;
    case 'promote':
      await evolution.promoteSession('s-1');
      break;
    case 'decay':
      await evolution.decay();
      break;
  }
}

const membersOf = (one: string, other: string) => [
  { node_id: one, role: 'subject' },
  { node_id: other, role: 'object' },
];

/** Runs the steps in a repo of their own, and lends what came of them. */
const afterSteps = (check: (evolution: EvolutionClient, made: readonly NodeReport[]) => Promise<void>) =>
  fc.assert(
    fc.asyncProperty(anySteps, async (steps) => {
      const evolution = new EvolutionClient(service, `acme/shop-${++repos}`);
      const made: NodeReport[] = [];
      for (const step of steps) await take(evolution, made, step);
      await check(evolution, made);
    }),
    RUN,
  );

const OWN_NAMES = ['consolidate', 'promote', 'decay'];

test('SPEC-02.19 the log leads each node from the tier it began in to the one it is in, without a gap', async () => {
  await afterSteps(async (evolution) => {
    for (const { id, tier } of await evolution.graph.allNodes({ include_archived: true, limit: 500 })) {
      const entries = (await evolution.log({ node: id })).filter(({ to_tier }) => to_tier !== null).reverse();
      expect(entries[0]).toMatchObject({ operation: 'create', from_tier: null });
      let at = entries[0]?.to_tier;
      let before = entries[0];
      for (const entry of entries.slice(1)) {
        // A run of evolution tells its moves a second time, by its own name.
        if (OWN_NAMES.includes(entry.operation)) {
          expect([entry.from_tier, entry.to_tier]).toEqual([before?.from_tier, before?.to_tier]);
        } else {
          expect(entry.from_tier).toBe(at);
          at = entry.to_tier;
        }
        before = entry;
      }
      expect(at).toBe(tier);
    }
  });
});

test('whatever happens, no node vanishes or says something else, and no edge leads nowhere', async () => {
  await afterSteps(async ({ graph }, made) => {
    const nodes = new Map(
      (await graph.allNodes({ include_archived: true, limit: 500 })).map((node) => [node.id, node]),
    );
    for (const { id, content, type } of made) expect(nodes.get(id)).toMatchObject({ content, type });
    for (const { confidence } of nodes.values()) {
      expect(confidence).toBeGreaterThanOrEqual(0);
      expect(confidence).toBeLessThanOrEqual(1);
    }
    for (const { members } of await graph.allEdges()) {
      for (const { node_id } of members) expect(nodes.has(node_id)).toBe(true);
    }
  });
});

test('the history of a confidence leads from the one a node was made with to the one it has, without a gap', async () => {
  await afterSteps(async (evolution, made) => {
    for (const { id, confidence: initial } of made) {
      const { updates, drift } = await evolution.confidence(id);
      let current = initial;
      for (const { from, to, trigger } of [...updates].reverse()) {
        expect(from).toBe(current);
        expect(to).not.toBe(from);
        if (trigger === 'decay') expect(to).toBeLessThan(from);
        current = to;
      }
      expect((await evolution.seen(id)).confidence).toBe(current);
      expect(drift.updates).toBe(updates.length);
    }
  });
});

/** Only a summary that was made has an id. */
const unnamed = (answer: { readonly summaries?: readonly object[] }): object => ({
  ...answer,
  summary_node_ids: [],
  summaries: answer.summaries?.map((summary) => ({ ...summary, node_id: null })),
});

test('each run of evolution says beforehand what it does, and a second run does nothing more', async () => {
  await afterSteps(async (evolution) => {
    const runs = [
      (more: object) => evolution.consolidate('t-1', more),
      (more: object) => evolution.promoteSession('s-1', more),
      (more: object) => evolution.decay(more),
    ];
    for (const run of runs) {
      const before = await evolution.everything();
      const said: object = { ...(await run({ dry_run: true })), applied: true };
      expect(await evolution.everything()).toEqual(before);
      const done: object = await run({});
      expect(unnamed(done)).toEqual(unnamed(said));
      const after = await evolution.everything();
      await run({});
      expect(await evolution.everything()).toEqual(after);
    }
  });
});
