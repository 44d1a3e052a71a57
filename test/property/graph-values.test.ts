import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { GraphClient, idsOf } from '../support/nodes.js';
import { type Service, startService } from '../support/service.js';

const RUN = { numRuns: 60, seed: 20_260_101 };

let service: Service;
let graph: GraphClient;
beforeAll(async () => {
  service = await startService();
  graph = new GraphClient(service);
});
afterAll(() => service.stop());

/** Any text but that which no store keeps faithfully. */
const text = (maxLength: number) =>
  fc.string({ unit: 'binary', maxLength }).filter((value) => !value.includes('\0') && value.isWellFormed());
const key = fc
  .oneof(fc.constantFrom('', 'a', 'b', '"', '__defineGetter__', 'toString'), text(10))
  .filter((name) => name !== '__proto__');
const { json } = fc.letrec<{ json: unknown }>((tie) => ({
  json: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    fc.constantFrom(null, true, false, 0, -1, 1e21, 0.1),
    fc.double({ noNaN: true, noDefaultInfinity: true }),
    text(20),
    fc.array(tie('json'), { maxLength: 4 }),
    fc.dictionary(key, tie('json'), { maxKeys: 4 }),
  ),
}));

test('SPEC-02.34 any text and any metadata come back as they were sent, when written and when patched', async () => {
  await fc.assert(
    fc.asyncProperty(
      text(300),
      fc.dictionary(key, json, { maxKeys: 5 }),
      text(50),
      async (content, metadata, subtype) => {
        // What JSON makes of a number is what was sent.
        const sent = { content, metadata: JSON.parse(JSON.stringify(metadata)), subtype, provenance: content };
        const { id } = await graph.node(sent);
        expect((await graph.getNode(id).expect(200)).body).toMatchObject(sent);
        expect((await graph.getNode(id).expect(200)).body.metadata).toEqual(sent.metadata);
        const other = await graph.node();
        await graph.patchNode(other.id, sent).expect(200);
        const { body } = await graph.getNode(other.id).expect(200);
        expect([body.content, body.metadata, body.subtype]).toEqual([content, sent.metadata, subtype]);
      },
    ),
    RUN,
  );
});

test('SPEC-02.10 SPEC-02.24 a list from any confidence on holds exactly the nodes that are as sure', async () => {
  const own = new GraphClient(service, 'graph/confidence');
  const confidence = fc.oneof(fc.constantFrom(0, 0.5, 1), fc.double({ min: 0, max: 1, noNaN: true }).map(Math.abs));
  const made: { id: string; confidence: number }[] = [];
  await fc.assert(
    fc.asyncProperty(confidence, confidence, async (sure, least) => {
      made.push({ id: (await own.node({ confidence: sure })).id, confidence: sure });
      const listed = await own.allNodes({ min_confidence: least, limit: 20 });
      expect(idsOf(listed).sort()).toEqual(idsOf(made.filter((node) => node.confidence >= least)).sort());
      for (const node of listed) expect(node.confidence).toBe(made.find(({ id }) => id === node.id)?.confidence);
    }),
    RUN,
  );
});

test('SPEC-02.10 SPEC-02.13 a confidence outside of 0 to 1 and a weight below 0 are refused, whatever they are', async () => {
  const { id } = await graph.node();
  const outside = fc.double({ noNaN: true, noDefaultInfinity: true }).filter((value) => value < 0 || value > 1);
  await fc.assert(
    fc.asyncProperty(outside, async (value) => {
      await graph.postNode({ confidence: value }).expect(400);
      await graph.patchNode(id, { confidence: value }).expect(400);
      const members = [{ node_id: id, role: 'subject' }];
      await graph.postEdge({ weight: -Math.abs(value), members }).expect(400);
      const { status } = await graph.postEdge({ weight: Math.abs(value), label: `weight ${value}`, members });
      expect([200, 201]).toContain(status);
    }),
    RUN,
  );
});
