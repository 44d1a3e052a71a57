import type { Test } from 'supertest';
import type { Static } from 'typebox';
import type {
  ConfidenceAnswer as ConfidenceSchema,
  DecayAnswer as DecaySchema,
  EvolutionAnswer as EvolutionSchema,
  EvolvedAnswer as EvolvedSchema,
} from '../../src/contracts/evolution.js';
import { GraphClient, type NodeReport } from './nodes.js';
import { tables } from './rows.js';
import type { Service } from './service.js';

/** How the graph changes by itself, as its callers see it. */

export type Evolved = Static<typeof EvolvedSchema>;
export type Decayed = Static<typeof DecaySchema>;
export type ConfidenceHistory = Static<typeof ConfidenceSchema>;
type LogEntry = Static<typeof EvolutionSchema>['entries'][number];
type Query = Record<string, string | number>;

export const DAY_MS = 86_400_000;

/** Sends requests for one repo. What is a verb is sent as it stands, so that a test says what it expects of it. */
export class EvolutionClient {
  readonly graph: GraphClient;
  readonly repoId: string;

  constructor(
    private readonly service: Service,
    repoId?: string,
  ) {
    this.graph = new GraphClient(service, repoId);
    this.repoId = this.graph.repoId;
  }

  postConsolidate = (fields: object): Test => this.#http('post', '/evolution/consolidate').send(fields);
  postPromote = (fields: object): Test => this.#http('post', '/evolution/promote').send(fields);
  postDecay = (fields: object = {}): Test => this.#http('post', '/evolution/decay').send(fields);
  getLog = (query: Query = {}): Test => this.#http('get', '/evolution').query(query);
  getConfidence = (id: string): Test => this.#http('get', `/nodes/${encodeURIComponent(id)}/confidence`);

  async consolidate(taskId: string, more: object = {}): Promise<Evolved> {
    return (await this.postConsolidate({ task_id: taskId, ...more }).expect(200)).body;
  }

  async promoteSession(sessionId: string, more: object = {}): Promise<Evolved> {
    return (await this.postPromote({ of: 'session', session_id: sessionId, ...more }).expect(200)).body;
  }

  async promoteNode(id: string, more: object = {}): Promise<Evolved> {
    return (await this.postPromote({ of: 'node', node_id: id, ...more }).expect(200)).body;
  }

  async decay(fields: object = {}): Promise<Decayed> {
    return (await this.postDecay(fields).expect(200)).body;
  }

  async confidence(id: string): Promise<ConfidenceHistory> {
    return (await this.getConfidence(id).expect(200)).body;
  }

  /** All pages of the log, newest first. */
  async log(query: Query = {}): Promise<LogEntry[]> {
    const entries: LogEntry[] = [];
    let { body } = await this.getLog(query).expect(200);
    for (;;) {
      entries.push(...body.entries);
      if (body.next_cursor === null) return entries;
      body = (await this.getLog({ ...query, cursor: body.next_cursor }).expect(200)).body;
    }
  }

  /** The moves of a node between tiers, oldest first, as the log tells them. */
  async moves(id: string): Promise<string[]> {
    const entries = await this.log({ node: id });
    return entries
      .filter(({ from_tier }) => from_tier !== null)
      .map(({ operation, from_tier, to_tier }) => `${operation}: ${from_tier} to ${to_tier}`)
      .reverse();
  }

  /** Looks at nodes, each as often as it is named. */
  look(...nodes: readonly { id: string }[]): void {
    for (const { id } of nodes) this.service.store.noteAccess(this.repoId, [id], this.service.clock.now());
  }

  /** A node as a list shows it: unlike a request for it alone, a list is no look at it. */
  async seen(id: string): Promise<NodeReport> {
    const nodes = await this.graph.allNodes({ include_archived: true, limit: 500 });
    const node = nodes.find((one) => one.id === id);
    if (!node) throw new Error(`${id} is not listed`);
    return node;
  }

  /** All that is kept. Looks are stored when nobody waits for them, so they count as the service tells them. */
  async everything(): Promise<object> {
    const { node_access: _, ...rows } = tables(this.service, this.repoId);
    return { rows, nodes: await this.graph.allNodes({ include_archived: true, limit: 500 }) };
  }

  #http(method: 'get' | 'post', path: string): Test {
    return this.service.http[method](path).query({ repo_id: this.repoId });
  }
}
