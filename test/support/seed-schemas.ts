/** The three request schemas as the memory interface document gives them, word for word: they are the requirement. */

export const SEED_READ = {
  $id: 'memory.read.request',
  type: 'object',
  required: ['op', 'repo_id', 'mode', 'query'],
  properties: {
    op: { const: 'read' },
    repo_id: { type: 'string', minLength: 1 },
    mode: { enum: ['ambient', 'targeted'] },
    query: { type: 'string', minLength: 1 },
    include_global: { type: 'boolean', default: true },
    kinds: {
      type: 'array',
      items: { enum: ['problem', 'solution', 'failed_tactic', 'fact', 'preference', 'change'] },
      uniqueItems: true,
    },
    limit: { type: 'integer', minimum: 1, maximum: 100, default: 20 },
    expand: {
      type: 'object',
      properties: {
        semantic_hops: { type: 'integer', minimum: 0, maximum: 3, default: 2 },
        include_problem_links: { type: 'boolean', default: true },
        include_fact_update_links: { type: 'boolean', default: true },
      },
    },
  },
};

export const SEED_WRITE = {
  $id: 'memory.write.request',
  type: 'object',
  required: ['op', 'repo_id', 'memory'],
  properties: {
    op: { const: 'write' },
    repo_id: { type: 'string', minLength: 1 },
    memory: {
      type: 'object',
      required: ['text', 'scope', 'kind', 'confidence'],
      properties: {
        text: { type: 'string', minLength: 1 },
        scope: { enum: ['repo', 'global'] },
        kind: { enum: ['problem', 'solution', 'failed_tactic', 'fact', 'preference', 'change'] },
        confidence: { type: 'number', minimum: 0, maximum: 1 },
        rationale: { type: 'string' },
        links: {
          type: 'object',
          properties: {
            problem_id: { type: 'string' },
            related_memory_ids: { type: 'array', items: { type: 'string' }, uniqueItems: true },
          },
        },
        evidence_refs: { type: 'array', items: { type: 'string' }, uniqueItems: true },
      },
    },
  },
};

export const SEED_UPDATE = {
  $id: 'memory.update.request',
  type: 'object',
  required: ['op', 'repo_id', 'memory_id', 'mode', 'update'],
  properties: {
    op: { const: 'update' },
    repo_id: { type: 'string', minLength: 1 },
    memory_id: { type: 'string' },
    mode: { enum: ['dry_run', 'commit'] },
    update: {
      type: 'object',
      oneOf: [
        {
          required: ['type', 'archived'],
          properties: {
            type: { const: 'archive_state' },
            archived: { type: 'boolean' },
            rationale: { type: 'string' },
          },
        },
        {
          required: ['type', 'problem_id', 'vote'],
          properties: {
            type: { const: 'utility_vote' },
            problem_id: { type: 'string' },
            vote: { type: 'number', minimum: -1, maximum: 1 },
            rationale: { type: 'string' },
            evidence_refs: { type: 'array', items: { type: 'string' }, uniqueItems: true },
          },
        },
        {
          required: ['type', 'old_fact_id', 'new_fact_id'],
          properties: {
            type: { const: 'fact_update_link' },
            old_fact_id: { type: 'string' },
            new_fact_id: { type: 'string' },
            rationale: { type: 'string' },
            evidence_refs: { type: 'array', items: { type: 'string' }, uniqueItems: true },
          },
        },
      ],
    },
  },
};
