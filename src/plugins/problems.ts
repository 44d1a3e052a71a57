import { randomUUID } from 'node:crypto';
import { STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import fastifyPlugin from 'fastify-plugin';
import { GateFailure } from '../domain/violations.js';
import { clip, ERRORS_NAMED_MAX, type FieldError, PROBLEMS, Problem, type ProblemCode } from '../errors.js';
import { LimitReached } from '../services/journal.js';
import { RevisionMismatch } from '../services/nodes.js';
import { IdempotencyKeyReused } from '../services/once.js';
import { SnippetFailed, SnippetsWait } from '../services/repl.js';
import { ApplyConflict, StoreUnavailable } from '../storage/port.js';
import { fieldErrors } from './validation.js';

/** Every failure leaves through here, as a problem of the catalogue. */
export const problemReplies = fastifyPlugin(async (app: FastifyInstance) => {
  app.setErrorHandler(sendProblem);
  app.setNotFoundHandler((request, reply) =>
    sendProblem(new Problem('route_not_found', `there is no ${request.method} ${pathOf(request)}`), request, reply),
  );
});

export function sendProblem(error: unknown, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const problem = toProblem(error, request.routeOptions?.bodyLimit);
  const { status } = PROBLEMS[problem.code];
  if (status >= 500) request.log.error({ err: error, code: problem.code }, 'request failed');
  else request.log.debug({ code: problem.code, detail: problem.detail }, 'request refused');
  // Serialised here and not by the route's schema: a request may fail before it has a route.
  return reply
    .code(status)
    .header('x-request-id', request.id)
    .type(MEDIA_TYPE)
    .serializer(JSON.stringify)
    .send(presentProblem(problem, request.id));
}

const MEDIA_TYPE = 'application/problem+json; charset=utf-8';

const FIELD_CHARACTERS_MAX = 300;
const MESSAGE_CHARACTERS_MAX = 500;

/** Whatever the request was and whoever refused it, the answer is bounded here. */
const presentProblem = (problem: Problem, requestId: string) => {
  const { status, title, hint } = PROBLEMS[problem.code];
  const hasMore = problem.errors.length > ERRORS_NAMED_MAX;
  return {
    type: `/problems/${problem.code}`,
    title,
    status,
    detail: hasMore ? `${problem.detail}; the first ${ERRORS_NAMED_MAX} are named` : problem.detail,
    code: problem.code,
    hint,
    request_id: requestId,
    errors: problem.errors.slice(0, ERRORS_NAMED_MAX).map(presentFieldError),
  };
};

const presentFieldError = ({ field, code, message }: FieldError): FieldError => ({
  field: clip(field, FIELD_CHARACTERS_MAX),
  code,
  message: clip(message, MESSAGE_CHARACTERS_MAX),
});

/** Answers what is not even HTTP, on the bare socket: there is no request yet. */
export function sendClientProblem(error: Error & { code?: string }, socket: Socket): void {
  if (error.code === 'ECONNRESET' || socket.destroyed) return;
  const problem =
    error.code === 'HPE_HEADER_OVERFLOW'
      ? new Problem('header_fields_too_large', 'the headers are larger than 16 KiB together')
      : new Problem('malformed_request', 'what arrived is not an HTTP request');
  const requestId = randomUUID();
  const body = JSON.stringify(presentProblem(problem, requestId));
  const { status } = PROBLEMS[problem.code];
  socket.end(
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\nContent-Type: ${MEDIA_TYPE}\r\nContent-Length: ${Buffer.byteLength(body)}\r\n` +
      `X-Request-Id: ${requestId}\r\nConnection: close\r\n\r\n${body}`,
  );
}

const pathOf = (request: FastifyRequest): string => clip(request.url.split('?')[0] as string, 200);

const countFields = (errors: readonly FieldError[]): string =>
  errors.length === 1 ? '1 field needs correction' : `${errors.length} fields need correction`;

const MIB = 1024 * 1024;

/** Fastify's own failures that a caller can cause. */
const FASTIFY_PROBLEMS: Readonly<Record<string, [ProblemCode, string]>> = {
  FST_ERR_CTP_INVALID_MEDIA_TYPE: [
    'unsupported_media_type',
    'the Content-Type header names what this route does not read: send application/json, or application/x-tar to /chunks/import',
  ],
  FST_ERR_CTP_EMPTY_JSON_BODY: ['malformed_body', 'the body is empty'],
  FST_ERR_CTP_INVALID_JSON_BODY: ['malformed_body', 'the body is not valid JSON'],
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: ['malformed_body', 'the body is not as long as its Content-Length says'],
  FST_ERR_BAD_URL: ['malformed_request', 'the URL is not valid'],
  FST_ERR_ASYNC_CONSTRAINT: ['malformed_request', 'the request cannot be routed'],
};

function toProblem(error: unknown, bodyBytesMax = 0): Problem {
  if (error instanceof Problem) return error;
  if (error instanceof GateFailure) {
    return new Problem(codeOf(error), countFields(error.violations), error.violations);
  }
  if (error instanceof IdempotencyKeyReused) {
    const message = 'was sent before with a different request';
    return new Problem('idempotency_key_reused', `Idempotency-Key ${message}`, [
      { field: 'headers.idempotency-key', code: 'idempotency_key_reused', message },
    ]);
  }
  if (error instanceof SnippetFailed) {
    const code = error.limit === null ? 'snippet_failed' : 'snippet_limit';
    const where = error.line === null ? '' : ` (line ${error.line})`;
    return new Problem(code, `${error.message}${where}`, [
      { field: 'code', code, message: `${error.message}${where}` },
    ]);
  }
  if (error instanceof LimitReached) {
    const errors = error.candidates.map((id, place) => ({
      field: `candidates.${place}`,
      code: 'limit_reached',
      message: `${id} was idle for long; archive it with DELETE /journal/${id}`,
    }));
    return new Problem('limit_reached', `${error.message}; archive some first`, errors);
  }
  if (error instanceof SnippetsWait) return new Problem('unavailable', error.message);
  if (error instanceof RevisionMismatch) {
    const message = `does not name revision ${error.revision}, at which the node is now`;
    return new Problem('precondition_failed', `If-Match ${message}`, [
      { field: 'headers.if-match', code: 'precondition_failed', message },
    ]);
  }
  if (error instanceof ApplyConflict) {
    return new Problem('conflict', 'others kept changing the same memories; nothing was stored, try again');
  }
  if (error instanceof StoreUnavailable) {
    return new Problem(error.reason === 'full' ? 'storage_full' : 'unavailable', error.message);
  }
  const { validation, validationContext, code, statusCode } = error as Partial<FastifyError>;
  if (validation) {
    const errors = fieldErrors(validation, validationContext ?? 'body');
    return new Problem('schema_error', countFields(errors), errors);
  }
  if (code === 'FST_ERR_CTP_BODY_TOO_LARGE') {
    return new Problem('payload_too_large', `the body is larger than ${bodyBytesMax / MIB} MiB`);
  }
  const known = FASTIFY_PROBLEMS[code ?? ''];
  if (known) return new Problem(...known);
  if (statusCode !== undefined && statusCode >= 400 && statusCode < 500) {
    return new Problem('malformed_request', 'the request cannot be understood');
  }
  return new Problem('internal_error', 'the service failed to answer; nothing was stored');
}

/** A gate has one status: what is missing goes before what contradicts, and that before what is of the wrong sort. */
function codeOf({ gate, violations }: GateFailure): ProblemCode {
  if (gate === 'semantic') return 'semantic_error';
  if (violations.some((violation) => violation.code === 'not_found')) return 'not_found';
  if (violations.some((violation) => violation.code === 'conflict')) return 'conflict';
  return 'integrity_error';
}
