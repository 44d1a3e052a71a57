import Type, { type Static } from 'typebox';
import { FORM_NAMES } from '../domain/forms.js';
import type { Packed, Section } from '../domain/packing.js';
import type { Item, ReadRequest as PackRequest, ScoreParts } from '../services/retrieval.js';
import { named, nullable, ref, strict, words } from './schema.js';
import { Confidence, Kind, MemoryId, presentTime, RepoId, ScopeWord, StateWord, Time } from './shared.js';

/** `/memory/read`: what it accepts, and the pack it answers. */

const HOPS_DEFAULT = 2;
const LIMIT_DEFAULT = 20;

export const ReadRequest = named(
  'ReadRequest',
  strict(
    {
      op: Type.Literal('read'),
      repo_id: RepoId,
      mode: words(['ambient', 'targeted'], {
        description:
          'ambient: unasked context at the start of work; opens with the wisdom and preferences that bear on it, and else admits only sure matches. targeted: a question',
      }),
      query: Type.String({ minLength: 1, description: 'Plain words; there is no query syntax' }),
      include_global: Type.Optional(Type.Boolean({ default: true, description: 'Search global memories too' })),
      kinds: Type.Optional(
        Type.Array(Kind, {
          uniqueItems: true,
          description: 'Find and show only these kinds; memories of others are not even led over',
        }),
      ),
      limit: Type.Optional(
        Type.Integer({ minimum: 1, maximum: 100, default: LIMIT_DEFAULT, description: 'Most memories in the answer' }),
      ),
      expand: Type.Optional(
        strict({
          semantic_hops: Type.Optional(
            Type.Integer({
              minimum: 0,
              maximum: 3,
              default: HOPS_DEFAULT,
              description: 'How far to follow associations; 0 follows none',
            }),
          ),
          include_problem_links: Type.Optional(Type.Boolean({ default: true })),
          include_fact_update_links: Type.Optional(Type.Boolean({ default: true })),
        }),
      ),
      include_archived: Type.Optional(Type.Boolean({ default: false, description: 'Show archived memories too' })),
      as_of: Type.Optional(
        Type.String({
          format: 'date-time',
          description:
            'Look from this time: what was known, linked, voted and archived then. Words are weighed as they are today. A node whose text was changed since is left out: what it said then is not kept.',
        }),
      ),
      max_tokens: Type.Optional(
        Type.Integer({
          minimum: 1,
          maximum: 1_000_000,
          description: 'Most tokens (o200k) that the texts of the answer may have together',
        }),
      ),
      explain: Type.Optional(Type.Boolean({ default: false, description: 'Show the parts of each score' })),
    },
    {
      examples: [
        { op: 'read', repo_id: 'acme/shop', mode: 'targeted', query: 'why do the checkout tests time out?', limit: 8 },
      ],
    },
  ),
);
export type ReadRequest = Static<typeof ReadRequest>;

export const toPackRequest = (request: ReadRequest): PackRequest => ({
  repoId: request.repo_id,
  mode: request.mode as PackRequest['mode'],
  query: request.query,
  includeGlobal: request.include_global ?? true,
  includeArchived: request.include_archived ?? false,
  kinds: request.kinds ?? null,
  limit: request.limit ?? LIMIT_DEFAULT,
  associationHops: request.expand?.semantic_hops ?? HOPS_DEFAULT,
  problemLinks: request.expand?.include_problem_links ?? true,
  factLinks: request.expand?.include_fact_update_links ?? true,
  asOfMs: request.as_of === undefined ? null : Date.parse(request.as_of),
  tokensMax: request.max_tokens ?? null,
});

const PackItem = named(
  'PackItem',
  Type.Object({
    memory_id: MemoryId,
    form: words(FORM_NAMES),
    kind: nullable(Type.String(), 'The kind of memory, or the subtype of another form'),
    text: Type.String(),
    score: Type.Number({ description: 'Higher is better; comparable within one answer' }),
    priority: Type.Integer({ minimum: 1, description: '1..n over all sections, in display order' }),
    why_included: words(['direct_match', 'problem_attempt', 'fact_update', 'association_link', 'semantic_neighbor']),
    anchor_memory_id: Type.Optional(
      Type.String({ description: 'The memory it was reached from; not on direct matches' }),
    ),
    relation_type: Type.Optional(Type.String({ description: 'The sort of association; only on association_link' })),
    state: StateWord,
    superseded_by: Type.Optional(Type.String({ description: 'The fact that holds instead of this one' })),
    scope: ScopeWord,
    confidence: nullable(Confidence),
    created_at: Time,
    explain: Type.Optional(
      Type.Object(
        {
          lexical: Type.Optional(
            Type.Object({
              score: Type.Number({ description: 'BM25 over the most that the query could reach' }),
              coverage: Type.Number({ description: 'Share of the query, by weight, that the memory holds' }),
              evidence: Type.Number({ description: 'Summed weight of the matched terms' }),
              matched_terms: Type.Array(Type.String()),
            }),
          ),
          utility_factor: Type.Number({ description: 'From votes, within 5 % of 1' }),
          anchor_score: Type.Optional(Type.Number()),
          link_weight: Type.Optional(Type.Number()),
          link_depth: Type.Optional(Type.Integer()),
          superseded_factor: Type.Optional(Type.Number()),
        },
        { description: 'The parts that multiply to the score; link_depth divides' },
      ),
    ),
  }),
);

const Items = Type.Array(ref(PackItem));
const Count = Type.Integer({ minimum: 0 });

export const ReadAnswer = named(
  'ReadAnswer',
  Type.Object({
    meta: Type.Object({
      mode: words(['ambient', 'targeted']),
      limit: Type.Integer(),
      counts: Type.Object({ direct: Count, explicit_related: Count, implicit_related: Count }),
      as_of: Type.Optional(Time),
      tokens: Type.Optional(
        Type.Object(
          {
            max: Count,
            used: Count,
            left_out: Type.Array(Type.Object({ memory_id: MemoryId, score: Type.Number() }), {
              description: 'Memories that only the token budget kept out, best first; fetch them by id',
            }),
          },
          { description: 'Only when max_tokens was given' },
        ),
      ),
    }),
    direct: Items,
    explicit_related: Items,
    implicit_related: Items,
  }),
);

export function presentPack(packed: Packed<Item>, request: ReadRequest): Static<typeof ReadAnswer> {
  const { sections } = packed;
  let priority = 0;
  const present = (section: Section) =>
    sections[section].map((item) => presentItem(item, ++priority, request.explain ?? false));
  return {
    meta: {
      mode: request.mode,
      limit: request.limit ?? LIMIT_DEFAULT,
      counts: {
        direct: sections.direct.length,
        explicit_related: sections.explicit_related.length,
        implicit_related: sections.implicit_related.length,
      },
      ...(request.as_of === undefined ? {} : { as_of: presentTime(Date.parse(request.as_of)) }),
      ...(request.max_tokens === undefined
        ? {}
        : {
            tokens: {
              max: request.max_tokens,
              used: packed.tokensUsed,
              left_out: packed.leftOut.map((item) => ({ memory_id: item.id, score: item.score })),
            },
          }),
    },
    direct: present('direct'),
    explicit_related: present('explicit_related'),
    implicit_related: present('implicit_related'),
  };
}

function presentItem(item: Item, priority: number, explain: boolean): Static<typeof PackItem> {
  return {
    memory_id: item.id,
    form: item.memory.form,
    kind: item.memory.kind,
    text: item.memory.content,
    score: item.score,
    priority,
    why_included: item.why,
    ...(item.anchorId === null ? {} : { anchor_memory_id: item.anchorId }),
    ...(item.relationType === null ? {} : { relation_type: item.relationType }),
    state: item.state,
    ...(item.supersededBy === null ? {} : { superseded_by: item.supersededBy }),
    scope: item.memory.scope,
    confidence: item.memory.confidence,
    created_at: presentTime(item.memory.createdAtMs),
    ...(explain ? { explain: presentParts(item.parts) } : {}),
  };
}

const presentParts = (parts: ScoreParts) => ({
  ...(parts.lexical && {
    lexical: {
      score: parts.lexical.score,
      coverage: parts.lexical.coverage,
      evidence: parts.lexical.evidence,
      matched_terms: [...parts.lexical.matchedTerms],
    },
  }),
  utility_factor: parts.utility,
  ...(parts.anchorScore !== undefined && { anchor_score: parts.anchorScore }),
  ...(parts.weight !== undefined && { link_weight: parts.weight }),
  ...(parts.depth !== undefined && { link_depth: parts.depth }),
  ...(parts.superseded !== undefined && { superseded_factor: parts.superseded }),
});
