import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { EDGE_TYPES, NODE_TYPES, ROLES, TIERS } from '../../src/domain/vocabulary.js';
import { GraphClient, idsOf, type NodeReport } from '../support/nodes.js';
import { select } from '../support/rows.js';
import { type Service, startService } from '../support/service.js';

let service: Service;
beforeAll(async () => {
  service = await startService();
});
afterAll(() => service.stop());

/** What to do, with numbers in place of ids: whom a number means is known only when it is done. */
type Step =
  | { do: 'create'; fields: Fields }
  | { do: 'patch'; target: number; fields: Partial<Fields> }
  | { do: 'archive' | 'restore' | 'purge' | 'look' | 'unlink'; target: number }
  | { do: 'link'; type: string; label: number; members: { target: number; role: string }[] }
  | { do: 'relabel'; target: number; label: number; weight: number };

interface Fields {
  type: string;
  content: string;
  tier: string;
  confidence: number;
  tags: string[];
}

const target = fc.nat(30);
const content = fc.oneof(fc.constantFrom('', 'walrus', `'); DROP TABLE nodes; --`), fc.string({ unit: 'grapheme' }));
const fieldArbitraries = {
  content,
  tier: fc.constantFrom(...TIERS),
  confidence: fc.constantFrom(0, 0.1, 0.5, 0.9, 1),
  tags: fc.uniqueArray(fc.constantFrom('a', 'b', 'c')),
};
const fields = fc.record({ type: fc.constantFrom(...NODE_TYPES), ...fieldArbitraries });
const member = fc.record({ target, role: fc.constantFrom(...ROLES) });

const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 5, arbitrary: fc.record({ do: fc.constant('create' as const), fields }) },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant('patch' as const),
      target,
      fields: fc.record(fieldArbitraries, { requiredKeys: [] }),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constantFrom('archive' as const, 'restore' as const, 'purge' as const, 'look' as const, 'unlink' as const),
      target,
    }),
  },
  {
    weight: 5,
    arbitrary: fc.record({
      do: fc.constant('link' as const),
      type: fc.constantFrom(...EDGE_TYPES),
      label: fc.nat(2),
      members: fc.uniqueArray(member, {
        minLength: 1,
        maxLength: 4,
        selector: ({ target: node, role }) => `${node} ${role}`,
      }),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ do: fc.constant('relabel' as const), target, label: fc.nat(2), weight: fc.nat(9) }),
  },
);

interface ModelNode extends Fields {
  id: string;
  archivedFrom: string;
  looks: number;
  revision: number;
}
interface ModelEdge {
  id: string;
  type: string;
  label: string;
  weight: number;
  members: { node_id: string; role: string }[];
}

/** The graph as plain lists would have it, beside the service that is told the same. */
class World {
  static #count = 0;
  readonly graph = new GraphClient(service, `graph/${++World.#count}`);
  nodes: ModelNode[] = [];
  edges: ModelEdge[] = [];
  /** Every id that was ever given out. */
  readonly ids: string[] = [];

  #node = (number: number): ModelNode | undefined => this.nodes[number % Math.max(1, this.nodes.length)];
  #edge = (number: number): ModelEdge | undefined => this.edges[number % Math.max(1, this.edges.length)];

  async carryOut(one: Step): Promise<void> {
    if (one.do === 'create') await this.#create(one.fields);
    else if (one.do === 'link') await this.#link(one);
    else if (one.do === 'unlink') await this.#unlink(this.#edge(one.target));
    else if (one.do === 'relabel') await this.#relabel(this.#edge(one.target), one);
    else {
      const node = this.#node(one.target);
      if (!node) return;
      if (one.do === 'patch') await this.#patch(node, one.fields);
      else if (one.do === 'look') await this.#look(node);
      else if (one.do === 'purge') await this.#purge(node);
      else await this.#move(node, one.do);
    }
  }

  async #create(given: Fields): Promise<void> {
    const { id } = await this.graph.node(given);
    this.ids.push(id);
    this.nodes.push({ ...given, id, archivedFrom: 'task', looks: 0, revision: 1 });
  }

  async #patch(node: ModelNode, given: Partial<Fields>): Promise<void> {
    const names = Object.keys(given);
    const { status } = await this.graph.patchNode(node.id, given);
    expect(status).toBe(names.length === 0 ? 400 : 200);
    const { tier = node.tier, ...rest } = given;
    if (Object.keys(rest).length > 0) node.revision++;
    Object.assign(node, rest);
    this.#toTier(node, tier);
  }

  #toTier(node: ModelNode, tier: string): void {
    if (tier === node.tier) return;
    if (tier === 'archive') node.archivedFrom = node.tier;
    node.tier = tier;
    node.revision++;
  }

  async #move(node: ModelNode, how: 'archive' | 'restore'): Promise<void> {
    if (how === 'archive') await this.graph.deleteNode(node.id).expect(200);
    else await this.graph.restoreNode(node.id).expect(200);
    if (how === 'archive') this.#toTier(node, 'archive');
    else if (node.tier === 'archive') this.#toTier(node, node.archivedFrom);
  }

  async #look(node: ModelNode): Promise<void> {
    node.looks++;
    expect((await this.graph.getNode(node.id).expect(200)).body.access_count).toBe(node.looks);
  }

  async #purge(node: ModelNode): Promise<void> {
    await this.graph.deleteNode(node.id, { permanent: true }).expect(200);
    this.nodes = this.nodes.filter(({ id }) => id !== node.id);
    this.edges = this.edges.flatMap((edge) => {
      const left = edge.members.filter(({ node_id }) => node_id !== node.id);
      if (left.length === edge.members.length) return [edge];
      return left.length < 2 ? [] : [{ ...edge, members: left }];
    });
  }

  async #link(one: Extract<Step, { do: 'link' }>): Promise<void> {
    const seen = new Set<string>();
    const members = one.members.flatMap(({ target: number, role }) => {
      const node = this.#node(number);
      if (!node || seen.has(`${node.id} ${role}`)) return [];
      seen.add(`${node.id} ${role}`);
      return [{ node_id: node.id, role }];
    });
    if (members.length === 0) return;
    // Larger edges have names of their own: what they shrink to when a node goes meets no other edge.
    const label = members.length > 2 ? `wide ${this.ids.length}` : `label ${one.label}`;
    const edge = { type: one.type, label, weight: 1, members };
    const same = this.edges.find((other) => keyOf(other) === keyOf(edge));
    const { status, body } = await this.graph.postEdge(edge);
    expect([status, ...(same ? [body.id] : [])]).toEqual(same ? [200, same.id] : [201]);
    if (same) return;
    this.ids.push(body.id);
    this.edges.push({ ...edge, id: body.id });
  }

  async #relabel(edge: ModelEdge | undefined, one: { label: number; weight: number }): Promise<void> {
    if (!edge || edge.label.startsWith('wide')) return;
    const change = { label: `label ${one.label}`, weight: one.weight };
    const isTaken = this.edges.some((other) => other !== edge && keyOf(other) === keyOf({ ...edge, ...change }));
    await this.graph.patchEdge(edge.id, change).expect(isTaken ? 409 : 200);
    if (!isTaken) Object.assign(edge, change);
  }

  async #unlink(edge: ModelEdge | undefined): Promise<void> {
    if (!edge) return;
    await this.graph.deleteEdge(edge.id).expect(200);
    this.edges = this.edges.filter((other) => other !== edge);
  }

  /** The nodes as a list has them. */
  listed(fits: (node: ModelNode) => boolean): object[] {
    const age = new Map(this.nodes.map(({ id }, index) => [id, index]));
    return this.nodes
      .filter(fits)
      .sort((a, b) => b.confidence - a.confidence || (age.get(b.id) as number) - (age.get(a.id) as number))
      .map(({ archivedFrom: _, looks, ...node }) => ({ ...node, tags: [...node.tags].sort(), access_count: looks }));
  }

  neighboursOf({ id }: ModelNode): string[] {
    const isLive = (nodeId: string): boolean =>
      this.nodes.some((node) => node.id === nodeId && node.tier !== 'archive');
    const joined = this.edges
      .filter(({ members }) => members.some(({ node_id }) => node_id === id))
      .flatMap(({ members }) => members.map(({ node_id }) => node_id))
      .filter((other) => other !== id && isLive(other));
    return [...new Set(joined)].sort();
  }
}

const keyOf = ({ type, label, members }: Omit<ModelEdge, 'id'>): string =>
  JSON.stringify([type, label, members.map(({ node_id, role }) => `${role} ${node_id}`).sort()]);

const shownAs = ({ id, type, content: text, tier, confidence, tags, revision, access_count }: NodeReport): object => ({
  id,
  type,
  content: text,
  tier,
  confidence,
  tags,
  revision,
  access_count,
});

const DANGLING = `
  SELECT 'no node' AS wrong FROM membership WHERE node_seq NOT IN (SELECT seq FROM nodes)
  UNION ALL SELECT 'no edge' FROM membership WHERE edge_seq NOT IN (SELECT seq FROM hyperedges)
  UNION ALL SELECT 'no member' FROM hyperedges WHERE seq NOT IN (SELECT edge_seq FROM membership)
  UNION ALL SELECT 'label' FROM membership s JOIN hyperedges e ON e.seq = s.edge_seq WHERE s.label <> e.label
  UNION ALL SELECT 'tag of nobody' FROM node_tags WHERE node_seq NOT IN (SELECT seq FROM nodes)
  UNION ALL SELECT 'looks at nobody' FROM node_access WHERE node_seq NOT IN (SELECT seq FROM nodes)
  UNION ALL SELECT 'not indexed' FROM nodes WHERE seq NOT IN (SELECT rowid FROM node_search)
  UNION ALL SELECT 'indexed in vain' FROM node_search WHERE rowid NOT IN (SELECT seq FROM nodes)
  UNION ALL SELECT 'miscounted' FROM node_counts c WHERE c.nodes <> (SELECT count(*) FROM nodes n
    WHERE n.form = c.form AND c.kind IN (n.kind, '') AND n.tier = c.tier)`;

test('SPEC-02.38 whatever is created, changed, archived, restored, removed and linked, the graph is what it should be', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 10, maxLength: 40 }), async (steps) => {
      const world = new World();
      for (const one of steps) await world.carryOut(one);
      const { graph } = world;

      // Ids are unique, among those that are gone too.
      expect(new Set(world.ids).size).toBe(world.ids.length);
      // No membership points at a missing node or edge, and every edge has members.
      expect(select(service, graph.repoId, DANGLING)).toEqual([]);
      expect(select(service, graph.repoId, 'PRAGMA foreign_key_check')).toEqual([]);

      // The lists are those of the model, and archived nodes keep what they say.
      expect((await graph.allNodes({ include_archived: true, limit: 7 })).map(shownAs)).toEqual(
        world.listed(() => true),
      );
      expect((await graph.allNodes({ limit: 3 })).map(shownAs)).toEqual(world.listed(({ tier }) => tier !== 'archive'));
      expect((await graph.allNodes({ tag: 'a', tier: 'archive', limit: 2 })).map(shownAs)).toEqual(
        world.listed(({ tier, tags }) => tier === 'archive' && tags.includes('a')),
      );

      // So are the edges, one by one and around each node.
      const edges = await graph.allEdges({ limit: 4 });
      expect(idsOf(edges).sort()).toEqual(idsOf(world.edges).sort());
      for (const edge of edges) {
        const expected = world.edges.find(({ id }) => id === edge.id) as ModelEdge;
        expect([keyOf(edge), edge.weight]).toEqual([keyOf(expected), expected.weight]);
      }
      for (const node of world.nodes.slice(0, 5)) {
        const { body } = await graph.getRelated(node.id).expect(200);
        const related = body.related.map(({ node: other }: { node: NodeReport }) => other.id);
        expect(related.sort()).toEqual(world.neighboursOf(node));
      }

      // Who is gone is gone, from everywhere.
      const gone = world.ids.filter((id) => ![...world.nodes, ...world.edges].some((item) => item.id === id));
      for (const id of gone.slice(0, 5)) {
        await graph.getNode(id).expect(404);
        await graph.getEdge(id).expect(404);
      }
    }),
    { numRuns: 25, seed: 20_260_101 },
  );
});
