import fc from 'fast-check';
import { expect, test } from 'vitest';
import { consolidate } from '../../src/domain/consolidation.js';
import { DAY_MS, decayOf } from '../../src/domain/decay.js';
import { type EvolvingEdge, type EvolvingNode, mayEvolve, SUMMARIZES, summaryKey } from '../../src/domain/evolution.js';
import { promote } from '../../src/domain/promotion.js';
import { NODE_TYPES, TIERS, type Tier } from '../../src/domain/vocabulary.js';
import { edgeOf } from '../support/evolving.js';
import { START_MS } from '../support/plans.js';

const RUN = { seed: 20_260_101, numRuns: 1_000 };

const anyConfidence = fc.oneof(
  fc.constantFrom(0, 0.3, 0.79, 0.8, 1),
  fc.double({ min: 0, max: 1, noNaN: true, noDefaultInfinity: true }),
);

/** Few words, so that many nodes say the same and many share a subtype. */
const anyFields = fc.record({
  form: fc.oneof({ weight: 9, arbitrary: fc.constant('concept') }, { weight: 1, arbitrary: fc.constant('memory') }),
  type: fc.constantFrom(...NODE_TYPES.slice(0, 2)),
  kind: fc.constantFrom(null, 'goal', 'option'),
  tier: fc.constantFrom<Tier>(...TIERS, 'task', 'task', 'session', 'session'),
  content: fc.oneof(
    fc.constantFrom('x', ' X\n', 'y', 'z', '', '  '),
    fc.string({ unit: 'grapheme', maxLength: 250, size: 'max' }),
  ),
  sessionId: fc.constantFrom(null, 's', 's', 't'),
  confidence: anyConfidence,
  metadata: fc.constantFrom<Record<string, unknown>>({}, {}, { success: true, task_id: 't' }, { success: true }),
  tags: fc.subarray(['cache', 'net', 'db']),
  accessCount: fc.nat(12),
  lastAccessedAtMs: fc.nat(3).map((days) => START_MS + days * DAY_MS),
  createdAtMs: fc.nat(3).map((days) => START_MS + days * DAY_MS),
  decayedAtMs: fc.option(
    fc.nat(5).map((days) => START_MS + days * DAY_MS),
    { nil: null },
  ),
});

const numbered = (rows: fc.Arbitrary<Omit<EvolvingNode, 'id'>>): fc.Arbitrary<EvolvingNode[]> =>
  fc
    .array(rows, { maxLength: 20, size: 'max' })
    .map((all) => all.map((fields, index) => ({ id: `n${index}`, ...fields })));

const anyNodes = numbered(anyFields);

/** Most of them can be promoted, so that clusters form. */
const anySession = numbered(
  fc
    .tuple(anyFields, fc.constantFrom<Tier>('session', 'session', 'session', 'longterm', 'archive'), fc.nat(2))
    .map(([fields, tier, accessCount]) => ({ ...fields, tier, accessCount })),
);

const anyEdges: fc.Arbitrary<EvolvingEdge[]> = fc
  .array(
    fc.record({
      label: fc.constantFrom('', 'related_to', 'related_to', SUMMARIZES),
      weight: fc.double({ min: 0, max: 20, noNaN: true }),
      memberIds: fc.array(
        fc.nat(12).map((number) => `n${number}`),
        { minLength: 1, maxLength: 4 },
      ),
    }),
    { maxLength: 15 },
  )
  .map((rows) => rows.map(({ memberIds, ...fields }, index) => edgeOf(`e${index}`, memberIds, fields)));

const anyShuffle = fc.infiniteStream(fc.nat());

const shuffled = <Item>(items: readonly Item[], order: Iterator<number>): Item[] =>
  items
    .map((item) => ({ item, at: order.next().value as number }))
    .sort((a, b) => a.at - b.at)
    .map(({ item }) => item);

const nodeOf = (nodes: readonly EvolvingNode[], id: string): EvolvingNode =>
  nodes.find((node) => node.id === id) as EvolvingNode;

// Decay

const anyLongterm = anyFields.map(
  (fields): EvolvingNode => ({ id: 'n', ...fields, form: 'concept', tier: 'longterm' }),
);
const anyFactor = fc.double({ min: 0.5, max: 1, noNaN: true });
/** From before the last access to years after it, and hardly ever on the hour. */
const anyMoment = fc.integer({ min: START_MS - DAY_MS, max: START_MS + 1_000 * DAY_MS });

/** The node after one run; null once it is in the archive. */
function afterRun(
  node: EvolvingNode | null,
  nowMs: number,
  factor: number,
  minConfidence: number,
): EvolvingNode | null {
  const decay = node && decayOf(node, { nowMs, factor, minConfidence });
  if (!node || !decay) return node;
  return decay.archives ? null : { ...node, confidence: decay.confidence, decayedAtMs: decay.decayedAtMs };
}

test('decay never makes a node surer, never leaves the range, and archives exactly what fell below the least', () => {
  fc.assert(
    fc.property(anyLongterm, anyMoment, anyFactor, anyConfidence, (node, nowMs, factor, minConfidence) => {
      const decay = decayOf(node, { nowMs, factor, minConfidence });
      if (!decay) return;
      expect(decay.confidence).toBeLessThanOrEqual(node.confidence);
      expect(decay.confidence).toBeGreaterThanOrEqual(0);
      expect(decay.archives).toBe(decay.confidence < minConfidence);
    }),
    RUN,
  );
});

test('without a whole day since the last access or decay nothing changes', () => {
  fc.assert(
    fc.property(anyLongterm, fc.integer({ min: -5 * DAY_MS, max: DAY_MS - 1 }), (node, laterMs) => {
      const markMs = Math.max(node.lastAccessedAtMs, node.decayedAtMs ?? 0);
      expect(decayOf(node, { nowMs: markMs + laterMs })).toBeNull();
    }),
    RUN,
  );
});

test('a second run at the same moment changes nothing more', () => {
  fc.assert(
    fc.property(anyLongterm, anyMoment, anyFactor, (node, nowMs, factor) => {
      const once = afterRun(node, nowMs, factor, 0) as EvolvingNode;
      expect(afterRun(once, nowMs, factor, 0)).toEqual(once);
    }),
    RUN,
  );
});

test('more time never leaves more confidence', () => {
  fc.assert(
    fc.property(anyLongterm, anyMoment, anyMoment, anyFactor, (node, oneMs, otherMs, factor) => {
      const left = (nowMs: number): number => decayOf(node, { nowMs, factor })?.confidence ?? node.confidence;
      expect(left(Math.max(oneMs, otherMs))).toBeLessThanOrEqual(left(Math.min(oneMs, otherMs)));
    }),
    RUN,
  );
});

const ROUNDING = 1e-9;

test('running whenever it suits leaves what a single run at the end leaves, in sight or in the archive', () => {
  const anyPauses = fc.array(fc.integer({ min: 0, max: 3 * DAY_MS }), { minLength: 1, maxLength: 40 });
  fc.assert(
    fc.property(anyLongterm, anyPauses, anyFactor, anyConfidence, (node, pausesMs, factor, minConfidence) => {
      let nowMs = START_MS;
      let often: EvolvingNode | null = node;
      for (const pauseMs of pausesMs) {
        nowMs += pauseMs;
        often = afterRun(often, nowMs, factor, minConfidence);
      }
      const decay = decayOf(node, { nowMs, factor, minConfidence });
      const left = decay?.confidence ?? node.confidence;
      // Rounding may put the one just above the least and the other just below.
      if (Math.abs(left - minConfidence) < ROUNDING) return;
      expect(often === null).toBe(decay?.archives ?? false);
      if (often) expect(often.confidence).toBeCloseTo(left, 9);
    }),
    RUN,
  );
});

// Consolidation

const said = ({ id, form, type, kind, sessionId, content, metadata }: EvolvingNode): string =>
  content.trim() === ''
    ? id
    : JSON.stringify([form, type, kind, sessionId, content.trim().toLowerCase(), metadata.success]);

test('consolidation loses nothing: each task node moves up or names a node that moved up and says the same', () => {
  fc.assert(
    fc.property(anyNodes, anyEdges, (nodes, edges) => {
      const { promoted, merged } = consolidate(nodes, edges);
      const ofTask = nodes.filter(({ form, tier }) => tier === 'task' && mayEvolve(form));
      const keptIds = new Set(promoted.map(({ id }) => id));
      expect([...promoted, ...merged].map(({ id }) => id).sort()).toEqual(ofTask.map(({ id }) => id).sort());
      for (const { id, keeperId, reason } of merged) {
        expect(keptIds).toContain(keeperId);
        expect(said(nodeOf(nodes, keeperId))).toBe(said(nodeOf(nodes, id)));
        expect(reason).toContain(keeperId);
      }
      // Each text is kept once.
      expect(promoted.map(({ id }) => said(nodeOf(nodes, id))).sort()).toEqual([...new Set(ofTask.map(said))].sort());
    }),
    RUN,
  );
});

test('a keeper is as sure as the surest of its twins, and no access is lost', () => {
  fc.assert(
    fc.property(anyNodes, (nodes) => {
      const { promoted, merged } = consolidate(nodes, []);
      for (const { id, keeperId } of merged) {
        expect(nodeOf(nodes, keeperId).confidence).toBeGreaterThanOrEqual(nodeOf(nodes, id).confidence);
      }
      const before = [...promoted, ...merged].reduce((sum, { id }) => sum + nodeOf(nodes, id).accessCount, 0);
      expect(promoted.reduce((sum, { accessCount }) => sum + accessCount, 0)).toBe(before);
    }),
    RUN,
  );
});

test('a keeper has the tags of all its twins', () => {
  fc.assert(
    fc.property(anyNodes, (nodes) => {
      const { promoted, merged } = consolidate(nodes, []);
      for (const { id, tags } of promoted) {
        const twins = [id, ...merged.filter(({ keeperId }) => keeperId === id).map((twin) => twin.id)];
        const all = new Set(twins.flatMap((twinId) => nodeOf(nodes, twinId).tags));
        expect(new Set(tags ?? nodeOf(nodes, id).tags)).toEqual(all);
      }
    }),
    RUN,
  );
});

test('whom a merged node was joined to, its keeper is joined to', () => {
  fc.assert(
    fc.property(anyNodes, anyEdges, (nodes, edges) => {
      const { merged, relinked } = consolidate(nodes, edges);
      const keeperOf = new Map(merged.map(({ id, keeperId }) => [id, keeperId]));
      const standIn = (id: string): string => keeperOf.get(id) ?? id;
      const groups = [
        ...edges.map(({ memberIds }) => memberIds),
        ...relinked.map(({ members }) => members.map(({ nodeId }) => nodeId)),
      ];
      for (const { label, memberIds } of edges) {
        if (label === SUMMARIZES) continue;
        const wanted = [...new Set(memberIds.map(standIn))];
        expect(wanted.length === 1 || groups.some((group) => wanted.every((id) => group.includes(id)))).toBe(true);
      }
    }),
    RUN,
  );
});

test('an edge never becomes weaker, at most twice as strong, and not stronger than 10 by consolidation', () => {
  fc.assert(
    fc.property(anyNodes, anyEdges, (nodes, edges) => {
      const { strengthened } = consolidate(nodes, [...edges, ...edges]);
      expect(new Set(strengthened.map(({ edgeId }) => edgeId)).size).toBe(strengthened.length);
      for (const { edgeId, weight } of strengthened) {
        const before = edges.find(({ id }) => id === edgeId)?.weight as number;
        expect(weight).toBeGreaterThan(before);
        expect(weight).toBeLessThanOrEqual(Math.min(10, 2 * before));
      }
    }),
    RUN,
  );
});

test('a summary is short, whole characters only, and made of promoted nodes of one subtype', () => {
  fc.assert(
    fc.property(anyNodes, (nodes) => {
      const { promoted, summaries } = consolidate(nodes, []);
      const keptIds = promoted.map(({ id }) => id);
      for (const { content, confidence, sourceIds } of summaries) {
        expect(content).not.toBe('');
        expect(content.length).toBeLessThanOrEqual(1_000);
        expect(content.isWellFormed()).toBe(true);
        expect(keptIds).toEqual(expect.arrayContaining([...sourceIds]));
        expect(new Set(sourceIds.map((id) => nodeOf(nodes, id).kind)).size).toBe(1);
        expect(confidence).toBeGreaterThanOrEqual(0);
        expect(confidence).toBeLessThanOrEqual(1);
      }
    }),
    RUN,
  );
});

test('what was consolidated is not consolidated again', () => {
  fc.assert(
    fc.property(anyNodes, anyEdges, (nodes, edges) => {
      const { promoted, merged } = consolidate(nodes, edges);
      const tiers = new Map<string, Tier>([
        ...promoted.map(({ id }) => [id, 'session'] as const),
        ...merged.map(({ id }) => [id, 'archive'] as const),
      ]);
      const after = nodes.map((node) => ({ ...node, tier: tiers.get(node.id) ?? node.tier }));
      const again = consolidate(after, edges);
      expect(again).toEqual({
        promoted: [],
        reinforced: [],
        merged: [],
        strengthened: [],
        relinked: [],
        summaries: [],
      });
    }),
    RUN,
  );
});

// Promotion

test('only what is sure enough and asked for often enough leaves the session, and all of that', () => {
  fc.assert(
    fc.property(anySession, anyEdges, anyConfidence, (nodes, edges, threshold) => {
      const { accessMedian, promotedIds } = promote(nodes, edges, { threshold });
      const due = nodes.filter(
        ({ form, tier, confidence, accessCount }) =>
          form === 'concept' && tier === 'session' && confidence >= threshold && accessCount >= accessMedian,
      );
      expect([...promotedIds].sort()).toEqual(due.map(({ id }) => id).sort());
    }),
    RUN,
  );
});

test('a crystallised fact has at least three sources, all promoted, none of them in another one', () => {
  fc.assert(
    fc.property(anySession, anyEdges, (nodes, edges) => {
      const { promotedIds, crystallized } = promote(nodes, edges, { threshold: 0.3 });
      const sourceIds = crystallized.flatMap((fact) => fact.sourceIds);
      expect(new Set(sourceIds).size).toBe(sourceIds.length);
      expect(promotedIds).toEqual(expect.arrayContaining(sourceIds));
      for (const fact of crystallized) {
        expect(fact.sourceIds.length).toBeGreaterThanOrEqual(3);
        expect(fact.content.isWellFormed()).toBe(true);
        expect(fact.confidence).toBe(Math.max(...fact.sourceIds.map((id) => nodeOf(nodes, id).confidence)));
      }
    }),
    RUN,
  );
});

test('promoted nodes that an edge joins are in the same fact', () => {
  fc.assert(
    fc.property(anySession, anyEdges, (nodes, edges) => {
      const { promotedIds, crystallized } = promote(nodes, edges, { threshold: 0 });
      const factOf = (id: string) => crystallized.find(({ sourceIds }) => sourceIds.includes(id));
      for (const { label, memberIds } of edges) {
        if (label === SUMMARIZES) continue;
        const facts = memberIds.filter((id) => promotedIds.includes(id)).map(factOf);
        expect(new Set(facts).size).toBeLessThanOrEqual(1);
      }
    }),
    RUN,
  );
});

test('a promotion that was carried out promotes and crystallises nothing more when it is run again', () => {
  fc.assert(
    fc.property(anySession, anyEdges, anyConfidence, (nodes, edges, threshold) => {
      const { promotedIds, crystallized } = promote(nodes, edges, { threshold });
      const facts = crystallized.map(
        ({ content, confidence }, index): EvolvingNode => ({
          ...(nodes[0] as EvolvingNode),
          id: `fact-${index}`,
          form: 'concept',
          tier: 'longterm',
          content,
          confidence,
          accessCount: 0,
        }),
      );
      const links = crystallized.map(({ sourceIds }, index) =>
        edgeOf(`link-${index}`, [`fact-${index}`, ...sourceIds], { label: SUMMARIZES }),
      );
      const moved = nodes.map((node) =>
        promotedIds.includes(node.id) ? { ...node, tier: 'longterm' as const } : node,
      );
      const again = promote([...moved, ...facts], [...edges, ...links], { threshold });
      expect(again).toMatchObject({ promotedIds: [], crystallized: [] });
      // And had the moves been lost but the facts not, the facts would still not be made twice.
      const existingSummaries = new Set(crystallized.map(({ sourceIds }) => summaryKey(sourceIds)));
      expect(promote(nodes, edges, { threshold, existingSummaries }).crystallized).toEqual([]);
    }),
    RUN,
  );
});

test('the order in which nodes and edges are found does not matter, and none of them is changed', () => {
  fc.assert(
    fc.property(fc.oneof(anyNodes, anySession), anyEdges, anyShuffle, (nodes, edges, order) => {
      const otherNodes = Object.freeze(shuffled(nodes, order).map(Object.freeze)) as EvolvingNode[];
      const otherEdges = Object.freeze(shuffled(edges, order).map(Object.freeze)) as EvolvingEdge[];
      expect(consolidate(otherNodes, otherEdges)).toEqual(consolidate(nodes, edges));
      expect(promote(otherNodes, otherEdges, { threshold: 0.3 })).toEqual(promote(nodes, edges, { threshold: 0.3 }));
    }),
    RUN,
  );
});
