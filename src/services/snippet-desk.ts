import type { Change } from '../domain/changes.js';
import { type ConceptDraft, checkNodeFields } from '../domain/concepts.js';
import { checkEdge, type EdgeDraft } from '../domain/edges.js';
import { edgeKey, type Label, linkOf, type Member, membersOf } from '../domain/links.js';
import { CONFIDENCE_DEFAULT } from '../domain/node.js';
import { checkQuery } from '../domain/rules.js';
import { GLOBAL_SPACE, spaceOfRelation, viewOf } from '../domain/spaces.js';
import { indexTerms, queryTerms } from '../domain/terms.js';
import { GateFailure } from '../domain/violations.js';
import { NODE_TYPES, type Scope, TIERS, type Tier } from '../domain/vocabulary.js';
import type { Json } from '../sandbox/json.js';
import type { StoredNode } from '../storage/port.js';
import type { Context } from './context.js';
import { rankNodes } from './node-search.js';
import { findNode, toConcept } from './nodes.js';
import { readPack } from './retrieval.js';
import { confidenceOf, count, flag, refuse, refuseSurplus, text, tierOf } from './snippet-arguments.js';

/** Where a snippet belongs: what it adds is of this session and task, and what other sessions note is out of its sight. */
export interface Place {
  readonly sessionId: string | null;
  readonly taskId: string | null;
}

const EXPERIENCE_CONFIDENCE = 0.7;

/** The texts that one call gives back have so many characters together: the whole of many long ones would keep others waiting. */
const CHARACTERS_MAX = 200_000;

/** As much of each text as has room after those before it. */
function shortened(texts: readonly string[]): string[] {
  let room = CHARACTERS_MAX;
  return texts.map((text) => {
    const shown = text.length <= room ? text : `${text.slice(0, room).toWellFormed()}…`;
    room = Math.max(0, room - text.length);
    return shown;
  });
}

type Shown = Pick<StoredNode, 'id' | 'type' | 'content' | 'confidence' | 'tier' | 'kind'>;

/** What nodes look like inside a snippet. */
function presentNodes(nodes: readonly Shown[]): Json {
  const texts = shortened(nodes.map(({ content }) => content));
  return nodes.map(({ id, type, kind, confidence, tier }, index) => ({
    id,
    type,
    subtype: kind,
    content: texts[index] as string,
    confidence,
    tier,
  }));
}

const pairOf = (nodeIds: readonly string[]): Member[] =>
  nodeIds.map((nodeId, position) => ({ nodeId, role: position === 0 ? 'subject' : 'object', position }));

/** Does for one snippet what its functions ask for: reads the store, and gathers what is to be written. */
export class SnippetDesk {
  readonly changes: Change[] = [];
  readonly #added = new Map<string, { draft: ConceptDraft; terms: readonly string[] }>();
  readonly #edgeIds = new Map<string, string>();

  constructor(
    private readonly context: Context,
    private readonly repoId: string,
    private readonly place: Place,
  ) {}

  /** What a function refuses is thrown inside the snippet, in words for its writer. */
  functions(): Record<string, (...given: Json[]) => Promise<Json>> {
    return Object.fromEntries(
      Object.entries(this.#functions()).map(([name, run]) => [
        name,
        async (...given) => {
          refuseSurplus(name, run.length, given);
          return run(...given).catch((error: unknown) => {
            if (error instanceof GateFailure) refuse(error.violations);
            throw error;
          });
        },
      ]),
    );
  }

  #functions(): Record<string, (...given: Json[]) => Promise<Json>> {
    return {
      memory_query: async (query, limit, tier) => this.#query(text('query', query), count(limit), tierOf(tier)),
      memory_add_fact: async (content, confidence, tier) =>
        this.#add({
          type: 'fact',
          content: text('content', content),
          confidence: confidenceOf(confidence, CONFIDENCE_DEFAULT),
          tier: tierOf(tier) ?? 'task',
          metadata: {},
        }),
      memory_add_experience: async (content, outcome, success, tier) =>
        this.#add({
          type: 'experience',
          content: text('content', content),
          confidence: EXPERIENCE_CONFIDENCE,
          tier: tierOf(tier) ?? 'session',
          metadata: { outcome: text('outcome', outcome), success: flag('success', success) },
        }),
      memory_get_context: async (limit, tier) => this.#getContext(count(limit), tierOf(tier)),
      memory_relate: async (label, subject, object) =>
        this.#relate(text('label', label), text('subject', subject), text('object', object)),
      memory_read: async (query, limit) => this.#read(text('query', query), count(limit)),
    };
  }

  /** What the snippet itself has added is found too, first of all. */
  async #query(query: string, limit: number, tier: Tier | null): Promise<Json> {
    if (query.trim() === '') return [];
    refuse(checkQuery(query, null));
    const wanted = new Set(queryTerms(query));
    const own = this.#own(tier).filter(({ terms }) => terms.some((term) => wanted.has(term)));
    const found = await rankNodes(this.context, this.repoId, {
      query,
      match: 'any',
      filter: { type: null, tier, form: null, kind: null, minConfidence: 0, sessionId: this.place.sessionId },
      includeArchived: tier === 'archive',
      includeGlobal: true,
      limit,
    });
    return presentNodes([...own, ...found.map(({ node }) => node)].slice(0, limit));
  }

  /** What the snippet itself has added to the tier, or to any that is in sight. */
  #own(tier: Tier | null): (Shown & { terms: readonly string[] })[] {
    return [...this.#added]
      .filter(([, { draft }]) => (tier === null ? draft.tier !== 'archive' : draft.tier === tier))
      .map(([id, { draft, terms }]) => ({ id, kind: null, terms, ...draft }));
  }

  async #getContext(limit: number, tier: Tier | null): Promise<Json> {
    const filter = {
      types: NODE_TYPES,
      tiers: tier === null ? TIERS.filter((word) => word !== 'archive') : [tier],
      form: null,
      kind: null,
      minConfidence: 0,
      tag: null,
      sessionId: this.place.sessionId,
      withShared: true,
      taskId: null,
    };
    const { store } = this.context;
    const own = await store.listNodes(this.repoId, filter, null, limit);
    const shared = await store.listNodes(GLOBAL_SPACE, filter, null, limit);
    const stored = [...own, ...shared].sort((a, b) => b.createdAtMs - a.createdAtMs);
    return presentNodes(
      [...this.#own(tier), ...stored].sort((a, b) => (b.confidence ?? 0) - (a.confidence ?? 0)).slice(0, limit),
    );
  }

  async #read(query: string, limit: number): Promise<Json> {
    if (query.trim() === '') return [];
    const packed = await readPack(this.context, {
      repoId: this.repoId,
      mode: 'targeted',
      query,
      includeGlobal: true,
      includeArchived: false,
      kinds: null,
      limit,
      associationHops: 2,
      problemLinks: true,
      factLinks: true,
      asOfMs: null,
      sessionId: this.place.sessionId,
      tokensMax: null,
    });
    const items = Object.values(packed.sections).flat();
    const texts = shortened(items.map(({ memory }) => memory.content));
    return items.map(({ id, memory: { form, kind }, score, why, state }, index) => ({
      id,
      form,
      kind,
      text: texts[index] as string,
      score,
      why,
      state,
    }));
  }

  #add(given: Pick<ConceptDraft, 'type' | 'content' | 'confidence' | 'tier' | 'metadata'>): string {
    const draft = { ...given, ...this.place, subtype: null, provenance: 'repl', tags: [] };
    refuse(checkNodeFields(draft));
    const concept = toConcept(this.context, this.repoId, draft);
    const terms = indexTerms(concept.content);
    this.#added.set(concept.id, { draft, terms });
    this.changes.push({ change: 'insert_node', node: concept, terms });
    return concept.id;
  }

  /** The edge that says so: a new one, or the one that was there. Of a known label the two play its parts in their order. */
  async #relate(label: string, subject: string, object: string): Promise<Json> {
    const scopes = [await this.#scopeOf('subject', subject), await this.#scopeOf('object', object)];
    const known = linkOf(label);
    const nodeIds = [subject, object];
    const draft: EdgeDraft = {
      type: known?.type ?? 'relation',
      label,
      weight: known?.weight ?? 1,
      members: known ? membersOf(label as Label, nodeIds) : pairOf(nodeIds),
    };
    refuse(checkEdge(draft));
    const key = edgeKey(label, draft.members, draft.type);
    const standing = this.#edgeIds.get(key) ?? (await this.#findEdge(key));
    if (standing !== null) return standing;
    if (spaceOfRelation(this.repoId, scopes) !== this.repoId) {
      throw new Error('subject and object are both global, and a snippet writes to its repo alone; use POST /edges');
    }
    const id = this.context.newId();
    this.#edgeIds.set(key, id);
    const { repoId } = this;
    const atMs = this.context.now();
    this.changes.push({ change: 'insert_edge', ...draft, id, repoId, origin: 'manual', rationale: null, atMs });
    return id;
  }

  async #findEdge(key: string): Promise<string | null> {
    const view = viewOf(this.repoId, { includeArchived: true });
    return (await this.context.store.findEdgesByKey(view, [key])).get(key)?.id ?? null;
  }

  async #scopeOf(name: string, id: string): Promise<Scope> {
    if (this.#added.has(id)) return 'repo';
    const node = await findNode(this.context, this.repoId, id);
    if (node) return node.scope;
    throw new Error(`${name}: no node ${JSON.stringify(id.slice(0, 80))} is visible from this repo`);
  }
}
