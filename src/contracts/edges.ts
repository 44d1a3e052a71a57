import Type, { type Static } from 'typebox';
import type { EdgeDraft } from '../domain/edges.js';
import { EDGE_TYPES, type EdgeType, ROLES, SCOPES } from '../domain/vocabulary.js';
import type { EdgeFilter, EdgePage, EdgePatch, EdgePlace, StoredEdge } from '../services/edges.js';
import { presentCursor, toPlace } from './cursor.js';
import { EXAMPLE_NODE_ID, NodeId } from './nodes.js';
import { named, nullable, ref, strict, withDefaults, words } from './schema.js';
import { RepoId } from './shared.js';

/** `/edges`: relations between any number of nodes. */

const MEMBERS_MAX = 100;

export const EdgeTypeWord = words([...EDGE_TYPES]);
const EdgeId = Type.String({ description: 'Id of an edge', examples: [EXAMPLE_NODE_ID] });
const Label = Type.String({ description: 'What it says, in a word of your own or a known one; may be empty' });
const Weight = Type.Number({ minimum: 0 });

/** Far more than there can be members, and well within what every reader of JSON takes for a whole number. */
const POSITION_MAX = 1_000_000_000;

export const EdgeInput = named(
  'EdgeInput',
  strict(
    {
      type: EdgeTypeWord,
      label: Type.Optional(Label),
      weight: Type.Optional(Type.Number({ ...Weight, default: 1 })),
      members: Type.Array(
        strict({
          node_id: NodeId,
          role: words([...ROLES]),
          position: Type.Optional(
            Type.Integer({
              minimum: 0,
              maximum: POSITION_MAX,
              description: 'Its place; in the order given if left out',
            }),
          ),
        }),
        { minItems: 1, maxItems: MEMBERS_MAX },
      ),
    },
    {
      examples: [
        {
          type: 'relation',
          label: 'supports',
          members: [
            { node_id: EXAMPLE_NODE_ID, role: 'subject' },
            { node_id: '3f2b8c1e-5d47-4a6b-9c0d-1e2f3a4b5c6d', role: 'object' },
          ],
        },
      ],
    },
  ),
);
export type EdgeInput = Static<typeof EdgeInput>;

export const toEdgeDraft = (input: EdgeInput): EdgeDraft => ({
  type: input.type,
  label: input.label ?? '',
  weight: input.weight ?? 1,
  members: input.members.map(({ node_id, role, position }, index) => ({
    nodeId: node_id,
    role,
    position: position ?? index,
  })),
});

export const EdgePatchInput = named(
  'EdgePatch',
  strict(
    { weight: Type.Optional(Weight), label: Type.Optional(Label) },
    { minProperties: 1, examples: [{ weight: 2 }] },
  ),
);

export const toEdgePatch = (input: Static<typeof EdgePatchInput>): EdgePatch => input as EdgePatch;

export const EdgeReport = named(
  'Edge',
  Type.Object({
    id: EdgeId,
    type: EdgeTypeWord,
    label: Type.String(),
    weight: Type.Number(),
    rationale: nullable(Type.String()),
    repo_id: RepoId,
    created_at: Type.Integer({ description: 'UTC, in milliseconds' }),
    members: Type.Array(Type.Object({ node_id: NodeId, role: words([...ROLES]), position: Type.Integer() }), {
      description: 'By position',
    }),
  }),
);

export const presentEdge = (edge: StoredEdge): Static<typeof EdgeReport> => ({
  id: edge.id,
  type: edge.type,
  label: edge.label,
  weight: edge.weight,
  rationale: edge.rationale,
  repo_id: edge.repoId,
  created_at: edge.createdAtMs,
  members: edge.members.map(({ nodeId, role, position }) => ({ node_id: nodeId, role, position })),
});

export const ByEdge = Type.Object({ edge_id: EdgeId });

export const EdgesQuery = withDefaults({
  repo_id: Type.String({ minLength: 1, default: 'default', description: 'The repo to look from' }),
  type: Type.Optional(EdgeTypeWord),
  label: Type.Optional(Type.String()),
  node: Type.Optional(Type.String({ description: 'Only edges that this node is a member of' })),
  scope: words([...SCOPES], { default: 'repo', description: "The repo's own edges, or the global ones" }),
  limit: Type.Integer({ minimum: 1, maximum: 500, default: 100 }),
  cursor: Type.Optional(Type.String({ description: 'next_cursor of the previous page' })),
});

export const toEdgeFilter = (query: Static<typeof EdgesQuery>): EdgeFilter => ({
  type: query.type ?? null,
  label: query.label ?? null,
  nodeId: query.node ?? null,
});

export function toEdgePlace(cursor: string | undefined): EdgePlace | null {
  const place = toPlace(
    cursor,
    (value): value is readonly [EdgeType, string, number] =>
      value.length === 3 &&
      EDGE_TYPES.some((type) => type === value[0]) &&
      typeof value[1] === 'string' &&
      Number.isSafeInteger(value[2]),
  );
  return place && { type: place[0], label: place[1], seq: place[2] };
}

export const EdgesAnswer = named(
  'EdgePage',
  Type.Object({
    edges: Type.Array(ref(EdgeReport), { description: 'By type, label and age' }),
    next_cursor: nullable(Type.String(), 'Where the next page begins; null on the last'),
  }),
);

export const presentEdges = ({ edges, next }: EdgePage): Static<typeof EdgesAnswer> => ({
  edges: edges.map(presentEdge),
  next_cursor: next && presentCursor([next.type, next.label, next.seq]),
});

export const EdgeRemoved = named('EdgeRemoved', Type.Object({ id: EdgeId, removed: Type.Literal(true) }));
