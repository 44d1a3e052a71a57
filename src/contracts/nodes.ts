import Type, { type Static } from 'typebox';
import { type ConceptDraft, type NodePatch, placesIn, TAGS_MAX } from '../domain/concepts.js';
import { FORM_NAMES, FORMS, type Form } from '../domain/forms.js';
import { CONFIDENCE_DEFAULT } from '../domain/node.js';
import { NODE_TYPES, SCOPES, TIERS, type Tier } from '../domain/vocabulary.js';
import type { FoundNode, NodeSearch } from '../services/node-search.js';
import type { NodeFilter, NodePage, NodePlace, StoredNode } from '../services/nodes.js';
import { presentCursor, toPlace } from './cursor.js';
import { named, nullable, ref, strict, withDefaults, words } from './schema.js';
import { RepoId } from './shared.js';

/** `/nodes`: everything that is remembered, as nodes of one graph. Times are milliseconds. */

export const EXAMPLE_NODE_ID = FORMS.concept.idExample;

export const NodeId = Type.String({ description: 'Id of a node', examples: [EXAMPLE_NODE_ID] });
const NodeTypeWord = words([...NODE_TYPES], { description: 'What it is in the ontology of all nodes' });
const TierWord = words([...TIERS], { description: 'How long it is meant to be kept' });
const NodeConfidence = Type.Number({ minimum: 0, maximum: 1 });
const Milliseconds = Type.Integer({ description: 'UTC, in milliseconds', examples: [1_767_225_600_000] });
const Metadata = Type.Unsafe<Record<string, unknown>>({
  type: 'object',
  additionalProperties: true,
  description:
    'Any JSON object; a patch replaces it as a whole. The texts session_id and task_id in it, if not blank, say where a node belongs: a patch that names one moves the node there.',
});
const Tags = Type.Array(Type.String({ minLength: 1 }), { uniqueItems: true, maxItems: TAGS_MAX });

const FIELDS = {
  content: Type.String({ description: 'What it says; may be empty' }),
  subtype: nullable(Type.String(), 'A finer word for what it is, of your own'),
  confidence: NodeConfidence,
  provenance: nullable(Type.String(), 'Where it comes from'),
  metadata: Metadata,
  tags: Tags,
};

export const NodeInput = named(
  'NodeInput',
  strict(
    {
      type: NodeTypeWord,
      content: FIELDS.content,
      subtype: Type.Optional(Type.String({ description: 'A finer word for what it is, of your own' })),
      tier: Type.Optional(words([...TIERS], { default: FORMS.concept.defaultTier })),
      confidence: Type.Optional(Type.Number({ ...NodeConfidence, default: CONFIDENCE_DEFAULT })),
      provenance: Type.Optional(Type.String({ description: 'Where it comes from' })),
      metadata: Type.Optional(FIELDS.metadata),
      tags: Type.Optional(FIELDS.tags),
      session_id: Type.Optional(
        Type.String({ minLength: 1, description: 'The session it belongs to, else metadata.session_id' }),
      ),
      task_id: Type.Optional(
        Type.String({ minLength: 1, description: 'The task it belongs to, else metadata.task_id' }),
      ),
    },
    { examples: [{ type: 'entity', content: 'The checkout service', subtype: 'service', confidence: 0.9 }] },
  ),
);
export type NodeInput = Static<typeof NodeInput>;

export const NodePatchInput = named(
  'NodePatch',
  strict(
    {
      content: Type.Optional(FIELDS.content),
      subtype: Type.Optional(FIELDS.subtype),
      confidence: Type.Optional(FIELDS.confidence),
      provenance: Type.Optional(FIELDS.provenance),
      metadata: Type.Optional(FIELDS.metadata),
      tags: Type.Optional(FIELDS.tags),
      tier: Type.Optional(TierWord),
    },
    { minProperties: 1, examples: [{ confidence: 0.7, tier: 'longterm' }] },
  ),
);
export type NodePatchInput = Static<typeof NodePatchInput>;

export const toConceptDraft = (input: NodeInput): ConceptDraft => ({
  type: input.type,
  content: input.content,
  subtype: input.subtype ?? null,
  tier: input.tier ?? FORMS.concept.defaultTier,
  confidence: input.confidence ?? CONFIDENCE_DEFAULT,
  provenance: input.provenance ?? null,
  metadata: input.metadata ?? {},
  tags: input.tags ?? [],
  sessionId: input.session_id ?? placesIn(input.metadata).sessionId ?? null,
  taskId: input.task_id ?? placesIn(input.metadata).taskId ?? null,
});

/** Field by field as the domain calls them: here they are the same words. */
export const toNodePatch = (input: NodePatchInput): NodePatch => input as NodePatch;

export const NodeReport = named(
  'Node',
  Type.Object({
    id: NodeId,
    form: words(FORM_NAMES, { description: 'Which contract made it' }),
    type: NodeTypeWord,
    subtype: nullable(Type.String(), 'The kind, for a form that has kinds'),
    content: Type.String(),
    tier: TierWord,
    confidence: nullable(NodeConfidence),
    provenance: nullable(Type.String()),
    metadata: Metadata,
    tags: Type.Array(Type.String()),
    session_id: nullable(Type.String()),
    task_id: nullable(Type.String()),
    repo_id: RepoId,
    scope: words([...SCOPES]),
    created_at: Milliseconds,
    updated_at: Milliseconds,
    last_accessed: Milliseconds,
    access_count: Type.Integer({ minimum: 0 }),
    archived_at: nullable(Milliseconds),
    revision: Type.Integer({ description: 'Counts its changes; the ETag of the answer' }),
  }),
);

export const presentNode = (node: StoredNode): Static<typeof NodeReport> => ({
  id: node.id,
  form: node.form,
  type: node.type,
  subtype: node.kind,
  content: node.content,
  tier: node.tier,
  confidence: node.confidence,
  provenance: node.provenance,
  metadata: { ...node.metadata },
  tags: [...node.tags],
  session_id: node.sessionId,
  task_id: node.taskId,
  repo_id: node.repoId,
  scope: node.scope,
  created_at: node.createdAtMs,
  updated_at: node.updatedAtMs,
  last_accessed: node.lastAccessedAtMs,
  access_count: node.accessCount,
  archived_at: node.archivedAtMs,
  revision: node.revision,
});

export const ByNode = Type.Object({ node_id: NodeId });

const IN_REPO = { repo_id: Type.String({ minLength: 1, default: 'default', description: 'The repo to look from' }) };

export const NodeDeletion = withDefaults({
  ...IN_REPO,
  permanent: Type.Boolean({ default: false, description: 'Remove it for good, with its place in every edge' }),
});

/** The ETag that a change may be held against. */
export const IfMatch = Type.Object({
  'if-match': Type.Optional(
    Type.String({
      pattern: '^(\\*|(W/)?"\\d{1,15}")$',
      description: 'The ETag of the node as it was read; when it changed since, nothing is done',
    }),
  ),
});

export const presentETag = ({ revision }: Pick<StoredNode, 'revision'>): string => `"${revision}"`;

export function toRevision(ifMatch: string | undefined): number | null {
  const digits = ifMatch?.match(/\d+/)?.[0];
  return digits === undefined ? null : Number(digits);
}

const LIMIT_DEFAULT = 100;
const SEARCH_LIMIT_DEFAULT = 20;

export const NodesQuery = withDefaults({
  ...IN_REPO,
  type: Type.Optional(NodeTypeWord),
  tier: Type.Optional(TierWord),
  subtype: Type.Optional(Type.String({ description: 'Exactly this subtype or kind' })),
  form: Type.Optional(words(FORM_NAMES)),
  min_confidence: Type.Number({ minimum: 0, maximum: 1, default: 0 }),
  tag: Type.Optional(Type.String({ minLength: 1 })),
  session: Type.Optional(
    Type.String({
      minLength: 1,
      description: 'Of the task and session tiers only what belongs to this session; the other tiers are shared',
    }),
  ),
  include_archived: Type.Boolean({ default: false, description: 'Naming the tier archive does the same' }),
  scope: words([...SCOPES], { default: 'repo', description: "The repo's own nodes, or the global ones" }),
  limit: Type.Integer({ minimum: 1, maximum: 500, default: LIMIT_DEFAULT }),
  cursor: Type.Optional(Type.String({ description: 'next_cursor of the previous page' })),
});
export type NodesQuery = Static<typeof NodesQuery>;

export function toNodeFilter(query: NodesQuery): NodeFilter {
  const shown = TIERS.filter((tier) => tier !== 'archive' || query.include_archived);
  return {
    types: query.type === undefined ? NODE_TYPES : [query.type],
    tiers: query.tier === undefined ? shown : [query.tier as Tier],
    form: (query.form as Form | undefined) ?? null,
    kind: query.subtype ?? null,
    minConfidence: query.min_confidence,
    tag: query.tag ?? null,
    sessionId: query.session ?? null,
    withShared: true,
    taskId: null,
  };
}

export function toNodePlace(cursor: string | undefined): NodePlace | null {
  const place = toPlace(
    cursor,
    (value): value is readonly [number, number] =>
      value.length === 2 && value.every((part) => typeof part === 'number' && Number.isFinite(part)),
  );
  return place && { confidence: place[0], seq: place[1] };
}

export const NodesAnswer = named(
  'NodePage',
  Type.Object({
    nodes: Type.Array(ref(NodeReport), { description: 'Surest first, and of the same confidence newest first' }),
    next_cursor: nullable(Type.String(), 'Where the next page begins; null on the last'),
  }),
);

export const presentNodes = ({ nodes, next }: NodePage): Static<typeof NodesAnswer> => ({
  nodes: nodes.map(presentNode),
  next_cursor: next && presentCursor([next.confidence, next.seq]),
});

export const DeletionAnswer = named(
  'NodeDeleted',
  Type.Object({
    id: NodeId,
    purged: Type.Boolean({ description: 'Whether it is gone for good' }),
    node: nullable(ref(NodeReport), 'The node in the archive; null when it is gone'),
  }),
);

export const presentDeletion = (id: string, node: StoredNode | null): Static<typeof DeletionAnswer> => ({
  id,
  purged: node === null,
  node: node && presentNode(node),
});

export const NodeSearchRequest = named(
  'NodeSearchRequest',
  strict(
    {
      query: Type.String({ description: 'Plain words; there is no query syntax, and nothing fits a blank query' }),
      match: Type.Optional(
        words(['any', 'all', 'phrase', 'prefix'], {
          default: 'any',
          description:
            'Any of the words, all of them, all in this order, or all with the last one still being typed: then it stands for the first 300 words that begin so',
        }),
      ),
      type: Type.Optional(NodeTypeWord),
      tier: Type.Optional(TierWord),
      subtype: Type.Optional(Type.String()),
      form: Type.Optional(words(FORM_NAMES)),
      min_confidence: Type.Optional(Type.Number({ minimum: 0, maximum: 1, default: 0 })),
      include_archived: Type.Optional(Type.Boolean({ default: false })),
      include_global: Type.Optional(Type.Boolean({ default: true })),
      limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 100, default: SEARCH_LIMIT_DEFAULT })),
    },
    { examples: [{ query: 'redis pool', match: 'all', limit: 5 }] },
  ),
);

export const toNodeSearch = (request: Static<typeof NodeSearchRequest>): NodeSearch => ({
  query: request.query,
  match: (request.match ?? 'any') as NodeSearch['match'],
  filter: {
    type: request.type ?? null,
    tier: request.tier ?? null,
    form: (request.form as Form | undefined) ?? null,
    kind: request.subtype ?? null,
    minConfidence: request.min_confidence ?? 0,
    sessionId: null,
  },
  includeArchived: (request.include_archived ?? false) || request.tier === 'archive',
  includeGlobal: request.include_global ?? true,
  limit: request.limit ?? SEARCH_LIMIT_DEFAULT,
});

export const NodeSearchAnswer = named(
  'NodeSearchAnswer',
  Type.Object({
    results: Type.Array(
      Type.Object({
        node: ref(NodeReport),
        score: Type.Number({
          exclusiveMinimum: 0,
          description: 'Higher is better; comparable within one answer, between the repo and what is global too',
        }),
        snippet: Type.String({ description: 'A passage with the found words in **bold**' }),
      }),
      { description: 'Best first. Of more than 20,000 matches in one space the newest are weighed' },
    ),
  }),
);

export const presentFoundNodes = (found: readonly FoundNode[]): Static<typeof NodeSearchAnswer> => ({
  results: found.map(({ node, score, snippet }) => ({ node: presentNode(node), score, snippet })),
});
