/** Everything that can go wrong for a caller, once: the status, what happened, and what to do about it. */
export const PROBLEMS = {
  schema_error: {
    status: 400,
    title: 'The request does not have the documented shape',
    hint: 'Correct the fields named in errors; /openapi.json holds the exact schema.',
  },
  malformed_body: {
    status: 400,
    title: 'The body is not readable as UTF-8 JSON',
    hint: 'Send one JSON document in UTF-8.',
  },
  malformed_request: {
    status: 400,
    title: 'The request is not readable as HTTP or its URL is not valid',
    hint: 'Percent-encode the URL in UTF-8.',
  },
  invalid_cursor: {
    status: 400,
    title: 'The cursor is not one this service gave out',
    hint: 'Use next_cursor of the previous page unchanged, or start again without a cursor.',
  },
  not_found: {
    status: 404,
    title: 'Something the request points at does not exist here',
    hint: 'Check the ids and the repo_id: ids of another repo are not found, ids of global memories are found from every repo.',
  },
  route_not_found: {
    status: 404,
    title: 'There is no such route',
    hint: 'GET /openapi.json lists every route and method.',
  },
  conflict: {
    status: 409,
    title: 'The request contradicts what is stored',
    hint: 'Read the memory again; if what you wanted is already there, nothing is left to do.',
  },
  precondition_failed: {
    status: 412,
    title: 'The node was changed since it was read',
    hint: 'Read the node again, look at what changed, and send the change with its new ETag.',
  },
  payload_too_large: {
    status: 413,
    title: 'The body is too large',
    hint: 'Send at most 1 MiB; split a long text into several memories.',
  },
  unsupported_media_type: {
    status: 415,
    title: 'The body is not declared as what the route reads',
    hint: 'Send the header Content-Type: application/json, or application/x-tar where an archive is read.',
  },
  host_not_allowed: {
    status: 421,
    title: 'The service is not to be asked under this host name',
    hint: 'Ask for localhost or 127.0.0.1, or name the host in the setting ALLOWED_HOSTS.',
  },
  semantic_error: {
    status: 422,
    title: 'The request is well formed but its parts do not go together',
    hint: 'Correct the fields named in errors.',
  },
  integrity_error: {
    status: 422,
    title: 'The request points at something that is of the wrong sort',
    hint: 'Correct the references named in errors.',
  },
  idempotency_key_reused: {
    status: 422,
    title: 'The Idempotency-Key belongs to another request',
    hint: 'Use a new key for a new request, and the same key only for an exact retry.',
  },
  snippet_failed: {
    status: 422,
    title: 'The snippet threw an error',
    hint: 'Correct the snippet; nothing of what it wrote was stored.',
  },
  snippet_limit: {
    status: 422,
    title: 'The snippet did more than it may',
    hint: 'Do less in one run, as detail says; nothing of what it wrote was stored.',
  },
  header_fields_too_large: {
    status: 431,
    title: 'The headers are too large',
    hint: 'Send fewer or shorter headers.',
  },
  internal_error: {
    status: 500,
    title: 'The service failed',
    hint: 'Nothing was stored. Report it with the request_id; the log holds the cause.',
  },
  unavailable: {
    status: 503,
    title: 'The store cannot answer now',
    hint: 'Nothing was stored. Do what detail says, or try again shortly.',
  },
  limit_reached: {
    status: 507,
    title: 'No more of this sort is kept',
    hint: 'Nothing was stored. Archive or remove some of what errors names, or raise the limit, then try again.',
  },
  storage_full: {
    status: 507,
    title: 'The disk that holds the store is full',
    hint: 'Nothing was stored. Free space on the disk, then try again.',
  },
} as const satisfies Record<string, { status: number; title: string; hint: string }>;

export type ProblemCode = keyof typeof PROBLEMS;

/** One thing wrong with one field of the request. */
export interface FieldError {
  readonly field: string;
  readonly code: string;
  readonly message: string;
}

/** More than this is no mistake but noise, and the answer must stay short whatever was asked. */
export const ERRORS_NAMED_MAX = 100;

/** The text, or as much of its beginning as fits and an ellipsis; never half of a surrogate pair. */
export const clip = (text: string, charactersMax: number): string =>
  text.length <= charactersMax ? text : `${text.slice(0, charactersMax - 1).replace(/[\ud800-\udbff]$/, '')}…`;

/** What is thrown to answer a request with a problem of the catalogue. */
export class Problem extends Error {
  constructor(
    readonly code: ProblemCode,
    readonly detail: string,
    readonly errors: readonly FieldError[] = [],
  ) {
    super(detail);
    this.name = 'Problem';
  }
}
