import Type from 'typebox';
import { FORMS } from '../domain/forms.js';
import { MEMORY_KINDS, ROLES, SCOPES, STATES } from '../domain/vocabulary.js';
import { ERRORS_NAMED_MAX, PROBLEMS, type ProblemCode } from '../errors.js';
import { named, ref, withDefaults, words } from './schema.js';

/** What several families share. */

export const EXAMPLE_ID = FORMS.memory.idExample;

export const RepoId = Type.String({
  minLength: 1,
  description: 'The repo whose memories are meant. Nothing of another repo is ever seen or touched.',
  examples: ['acme/shop'],
});
export const MemoryId = Type.String({ description: 'Id of a memory', examples: [EXAMPLE_ID] });
export const Kind = words(MEMORY_KINDS, { description: 'What sort of memory it is' });
export const ScopeWord = words(SCOPES, { description: 'Visible in its repo only, or from every repo' });
export const StateWord = words(STATES, {
  description: 'Whether it still stands: current, superseded by a newer fact, or archived',
});
export const RoleWord = words(ROLES);
export const Time = Type.String({ format: 'date-time', examples: ['2026-01-31T09:30:00.000Z'] });
export const Confidence = Type.Number({ minimum: 0, maximum: 1 });

export const EvidenceRefs = Type.Array(Type.String(), {
  uniqueItems: true,
  description: 'Where it can be checked: a commit, a file, a session, a message',
  examples: [['commit:4f2a91c', 'session://2026-01-31#12']],
});
export const Rationale = Type.String({ description: 'Why it is written' });
export const ModeWord = words(['dry_run', 'commit'], { description: 'Check and preview only, or carry out' });

export const presentTime = (atMs: number): string => new Date(atMs).toISOString();

/** Which repo a request without a body acts in. */
export const InRepo = withDefaults({
  repo_id: Type.String({ minLength: 1, default: 'default', description: 'The repo to look from' }),
});

export const ById = Type.Object({ memory_id: MemoryId });

/** A retried request with the same key is carried out once and answered the same. */
export const OnceHeaders = Type.Object({
  'idempotency-key': Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 200,
      description:
        'Any text that is unique to this request. A retry with the same key gets the first answer. A dry run ignores it.',
    }),
  ),
});

const FieldProblem = named(
  'FieldProblem',
  Type.Object({
    field: Type.String({ description: 'Dotted path of the field', examples: ['memory.links.problem_id'] }),
    code: Type.String(),
    message: Type.String(),
  }),
);

const ProblemReport = named(
  'Problem',
  Type.Object(
    {
      type: Type.String({ description: 'Where this sort of problem is described' }),
      title: Type.String(),
      status: Type.Integer(),
      detail: Type.String(),
      code: words(Object.keys(PROBLEMS)),
      hint: Type.String({ description: 'What to do about it' }),
      request_id: Type.String(),
      errors: Type.Array(ref(FieldProblem), {
        maxItems: ERRORS_NAMED_MAX,
        description: 'What is wrong, field by field; detail says so if there is more than is named',
      }),
    },
    {
      description: 'RFC 9457 problem report',
      examples: [
        {
          type: '/problems/semantic_error',
          title: PROBLEMS.semantic_error.title,
          status: 422,
          detail: '1 field needs correction',
          code: 'semantic_error',
          hint: PROBLEMS.semantic_error.hint,
          request_id: EXAMPLE_ID,
          errors: [
            {
              field: 'memory.links.problem_id',
              code: 'semantic_error',
              message: 'is required for kind solution: name the problem it was tried on',
            },
          ],
        },
      ],
    },
  ),
);

/** Problems that any route may answer with. */
const ANYWHERE: readonly ProblemCode[] = [
  'schema_error',
  'malformed_request',
  'host_not_allowed',
  'header_fields_too_large',
  'internal_error',
];
/** Problems that any route with a body may answer with. */
const WITH_BODY: readonly ProblemCode[] = ['malformed_body', 'payload_too_large', 'unsupported_media_type'];

/** The problem answers of a route, one per status, for its OpenAPI entry. */
export function problems(codes: readonly ProblemCode[], options: { body?: boolean } = {}) {
  const byStatus: Record<number, { description: string; content: object }> = {};
  for (const code of [...ANYWHERE, ...(options.body ? WITH_BODY : []), ...codes]) {
    const { status, title } = PROBLEMS[code];
    const line = `\`${code}\`: ${title}`;
    const known = byStatus[status];
    byStatus[status] = {
      description: known ? `${known.description}  \n${line}` : line,
      content: { 'application/problem+json': { schema: ref(ProblemReport) } },
    };
  }
  return byStatus;
}

/** Problems of everything that asks the store. */
export const STORE_PROBLEMS: readonly ProblemCode[] = ['unavailable'];
/** Problems of everything that writes. */
export const WRITE_PROBLEMS: readonly ProblemCode[] = [
  'semantic_error',
  'not_found',
  'integrity_error',
  'conflict',
  'idempotency_key_reused',
  'unavailable',
  'storage_full',
];
