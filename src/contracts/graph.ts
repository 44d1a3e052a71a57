import Type, { type Static } from 'typebox';
import type { Direction } from '../domain/edges.js';
import { EDGE_TYPES, type EdgeType } from '../domain/vocabulary.js';
import type { Picture, Related, Ways } from '../services/graph.js';
import type { Path } from '../services/paths.js';
import { EdgeReport, EdgeTypeWord, presentEdge } from './edges.js';
import { NodeId, NodeReport, presentNode } from './nodes.js';
import { named, ref, withDefaults, words } from './schema.js';

/** What lies around a node, and between two. */

const HOPS_MAX = 3;

const WAYS = {
  repo_id: Type.String({ minLength: 1, default: 'default', description: 'The repo to look from' }),
  edge_type: Type.Optional(
    Type.Array(EdgeTypeWord, {
      minItems: 1,
      maxItems: EDGE_TYPES.length,
      description: 'Only over edges of this type; said several times, of any of these',
    }),
  ),
  label: Type.Optional(Type.String({ description: 'Only over edges that say this' })),
  direction: words(['outgoing', 'incoming', 'both'], {
    default: 'both',
    description:
      'outgoing leads from subject to object and from cause to effect; context and participants lead both ways',
  }),
};

interface WaysQuery {
  edge_type?: EdgeType[];
  label?: string;
  direction: string;
}

export const toWays = (query: WaysQuery): Ways => ({
  types: query.edge_type ?? null,
  label: query.label ?? null,
  direction: query.direction as Direction,
});

export const RelatedQuery = withDefaults({
  ...WAYS,
  hops: Type.Integer({ minimum: 1, maximum: HOPS_MAX, default: 1 }),
  limit: Type.Integer({ minimum: 1, maximum: 500, default: 100 }),
});

export const RelatedAnswer = named(
  'RelatedNodes',
  Type.Object({
    node_id: NodeId,
    related: Type.Array(
      Type.Object({
        node: ref(NodeReport),
        hops: Type.Integer({ minimum: 1 }),
        from_node_id: NodeId,
        edge: ref(EdgeReport),
      }),
      {
        description:
          'Nearest first, and of the same distance over the strongest edge first. Of a node with more than 1,000 edges the strongest lead on, and of the same weight the newest',
      },
    ),
    complete: Type.Boolean({ description: 'False when more nodes are within reach than these' }),
  }),
);

export const presentRelated = (nodeId: string, { found, isComplete }: Related): Static<typeof RelatedAnswer> => ({
  node_id: nodeId,
  related: found.map(({ node, hops, fromId, edge }) => ({
    node: presentNode(node),
    hops,
    from_node_id: fromId,
    edge: presentEdge(edge),
  })),
  complete: isComplete,
});

export const PictureQuery = withDefaults({
  ...WAYS,
  node: Type.String({ description: 'The node in the middle' }),
  hops: Type.Integer({ minimum: 1, maximum: HOPS_MAX, default: 2 }),
  limit: Type.Integer({ minimum: 1, maximum: 500, default: 100, description: 'Most nodes in the picture' }),
});

export const PictureAnswer = named(
  'GraphPicture',
  Type.Object({
    nodes: Type.Array(ref(NodeReport), { description: 'The node in the middle first, then nearest first' }),
    edges: Type.Array(ref(EdgeReport), { description: 'The edges between these nodes' }),
    complete: Type.Boolean({ description: 'False when more nodes are within reach than the limit shows' }),
  }),
);

export const presentPicture = ({ nodes, edges, isComplete }: Picture): Static<typeof PictureAnswer> => ({
  nodes: nodes.map(presentNode),
  edges: edges.map(presentEdge),
  complete: isComplete,
});

export const PathQuery = withDefaults({
  ...WAYS,
  from: Type.String({ description: 'The node to start from' }),
  to: Type.String({ description: 'The node to arrive at' }),
  max_hops: Type.Integer({ minimum: 1, maximum: 10, default: 6 }),
});

export const PathAnswer = named(
  'GraphPath',
  Type.Object({
    found: Type.Boolean(),
    nodes: Type.Array(ref(NodeReport), { description: 'From the first to the last; empty when there is no path' }),
    edges: Type.Array(ref(EdgeReport), { description: 'One between each node and the next' }),
    complete: Type.Boolean({
      description:
        'False when the search gave up before it had looked everywhere within max_hops: there may be a path that was not found, or a shorter one',
    }),
  }),
);

export const presentPath = ({ nodes, edges, isComplete }: Path): Static<typeof PathAnswer> => ({
  found: nodes.length > 0,
  nodes: nodes.map(presentNode),
  edges: edges.map(presentEdge),
  complete: isComplete,
});
