import { Agent } from 'node:http';
import type { Response, Test } from 'supertest';
import type { Static } from 'typebox';
import { expect } from 'vitest';
import type { EdgeReport as EdgeSchema } from '../../src/contracts/edges.js';
import type { NodeReport as NodeSchema } from '../../src/contracts/nodes.js';
import { stored } from './rows.js';
import type { Service } from './service.js';

/** The graph as its callers use it. */

export type NodeReport = Static<typeof NodeSchema>;
export type EdgeReport = Static<typeof EdgeSchema>;

export const REPO = 'acme/shop';
/** Of the right form, and nobody's. */
export const UNKNOWN_ID = 'ffffffff-ffff-4fff-8fff-ffffffffffff';

type Query = Record<string, string | number | boolean | readonly string[]>;
type MemberInput = { node_id: string; role: string; position?: number };

/** Members in the order given: pairs of a role and a node. */
export const members = (...parts: [role: string, node: { id: string } | string][]): MemberInput[] =>
  parts.map(([role, node]) => ({ node_id: typeof node === 'string' ? node : node.id, role }));

/** Sends requests for one repo. What is a verb is sent as it stands, so that a test says what it expects of it. */
export class GraphClient {
  constructor(
    private readonly service: Service,
    readonly repoId = REPO,
  ) {}

  postNode = (fields: object): Test => this.#http('post', '/nodes').send({ type: 'fact', content: '', ...fields });
  getNode = (id: string): Test => this.#http('get', nodePath(id));
  patchNode = (id: string, fields: object, headers: Record<string, string> = {}): Test =>
    this.#http('patch', nodePath(id)).set(headers).send(fields);
  deleteNode = (id: string, query: Query = {}): Test => this.#http('delete', nodePath(id)).query(query);
  restoreNode = (id: string): Test => this.#http('post', `${nodePath(id)}/restore`);
  getNodes = (query: Query = {}): Test => this.#http('get', '/nodes').query(query);
  getRelated = (id: string, query: Query = {}): Test => this.#http('get', `${nodePath(id)}/related`).query(query);
  postEdge = (fields: object): Test => this.#http('post', '/edges').send({ type: 'relation', ...fields });
  getEdge = (id: string): Test => this.#http('get', edgePath(id));
  patchEdge = (id: string, fields: object): Test => this.#http('patch', edgePath(id)).send(fields);
  deleteEdge = (id: string): Test => this.#http('delete', edgePath(id));
  getEdges = (query: Query = {}): Test => this.#http('get', '/edges').query(query);
  getPicture = (query: Query): Test => this.#http('get', '/graph').query(query);
  getPath = (query: Query): Test => this.#http('get', '/graph/path').query(query);

  /** A new node. */
  async node(fields: object = {}): Promise<NodeReport> {
    return (await this.postNode(fields).expect(201)).body;
  }

  async nodes(...contents: string[]): Promise<NodeReport[]> {
    const made: NodeReport[] = [];
    for (const content of contents) made.push(await this.node({ content }));
    return made;
  }

  /** A new edge. */
  async edge(parts: MemberInput[], fields: object = {}): Promise<EdgeReport> {
    return (await this.postEdge({ members: parts, ...fields }).expect(201)).body;
  }

  /** A new edge from one node to another. */
  link(from: NodeReport, to: NodeReport, fields: object = {}): Promise<EdgeReport> {
    return this.edge(members(['subject', from], ['object', to]), fields);
  }

  /** The first page of a list. */
  async listed(query: Query = {}): Promise<NodeReport[]> {
    return (await this.getNodes(query).expect(200)).body.nodes;
  }

  /** All pages of the list, one after the other. */
  async allNodes(query: Query = {}): Promise<NodeReport[]> {
    return this.#pages(this.getNodes, 'nodes', query);
  }

  async allEdges(query: Query = {}): Promise<EdgeReport[]> {
    return this.#pages(this.getEdges, 'edges', query);
  }

  async #pages<Row>(get: (query: Query) => Test, list: string, query: Query): Promise<Row[]> {
    const rows: Row[] = [];
    let { body } = await get(query).expect(200);
    for (;;) {
      rows.push(...body[list]);
      if (body.next_cursor === null) return rows;
      body = (await get({ ...query, cursor: body.next_cursor }).expect(200)).body;
    }
  }

  #http(method: 'get' | 'post' | 'patch' | 'delete', path: string): Test {
    return this.service.http[method](path).query({ repo_id: this.repoId });
  }
}

const nodePath = (id: string): string => `/nodes/${encodeURIComponent(id)}`;
const edgePath = (id: string): string => `/edges/${encodeURIComponent(id)}`;

export const idsOf = (items: readonly { id: string }[]): string[] => items.map(({ id }) => id);

/** What a request may change; looks are counted beside it, and stored when nobody waits for them. */
function lasting(service: Service, repoId: string) {
  const { repo, global } = stored(service, repoId);
  return [repo, global].map(({ node_access: _, ...tables }) => tables);
}

/** Sends what has to be refused, proves that nothing was changed by it, and answers which fields were named. */
export async function expectRefused(
  service: Service,
  request: Test,
  status: number,
  repoId = REPO,
): Promise<{ code: string; fields: string[] }> {
  const before = lasting(service, repoId);
  const answer = await request.expect(status).expect('content-type', /^application\/problem\+json/);
  expect(lasting(service, repoId)).toEqual(before);
  return { code: answer.body.code, fields: answer.body.errors.map(({ field }: { field: string }) => field) };
}

/**
 * Sends requests all at once, each over a connection that is open already: the service takes up one new connection per
 * turn of its loop, so requests that had to connect first would never meet.
 */
export async function sendAtOnce(service: Service, build: () => readonly Test[]): Promise<Response[]> {
  const { app, http } = service;
  if (!app.server.listening) await app.listen({ host: '127.0.0.1', port: 0 });
  const agent = new Agent({ keepAlive: true });
  try {
    const requests = build();
    await Promise.all(requests.map(() => http.get('/health/live').agent(agent).expect(200)));
    return await Promise.all(requests.map((request) => request.agent(agent)));
  } finally {
    agent.destroy();
  }
}
