import { isUtf8 } from 'node:buffer';
import { Readable } from 'node:stream';
import type { FastifyInstance } from 'fastify';
import fastifyPlugin from 'fastify-plugin';
import { whyUnstorable } from '../domain/rules.js';
import { ERRORS_NAMED_MAX, type FieldError, Problem } from '../errors.js';
import { dottedPath } from './fields.js';

/** What a body may be before anybody looks at its fields. */

const DEPTH_MAX = 32;
const ARRAY_ITEMS_MAX = 1_000;

export const jsonBodies = fastifyPlugin(async (app: FastifyInstance) => {
  const parseJson = app.getDefaultJsonParser('error', 'error');
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('application/json', { parseAs: 'buffer' }, (request, body, done) => {
    // Node would quietly replace bytes that are not UTF-8, and a memory would not be what was sent.
    if (!isUtf8(body as Buffer)) {
      done(new Problem('malformed_body', 'the body is not valid UTF-8'));
      return;
    }
    parseJson(request, body.toString('utf8'), done);
  });

  app.addHook('preValidation', (request, _reply, done) => {
    const errors: FieldError[] = [];
    // What is read as it comes is looked at as it comes.
    if (!(request.body instanceof Readable)) collectUnfit(request.body, [], errors);
    done(errors.length > 0 ? new Problem('schema_error', 'the body holds what cannot be stored', errors) : undefined);
  });
});

/** Texts that no store keeps faithfully, and shapes whose checking would cost more than any memory is worth. */
function whyUnfit(value: unknown, depth: number): string | null {
  if (typeof value === 'string') return whyUnstorable(value);
  if (typeof value !== 'object' || value === null) return null;
  if (depth >= DEPTH_MAX) return `is nested more than ${DEPTH_MAX} levels deep`;
  if (Array.isArray(value) && value.length > ARRAY_ITEMS_MAX) {
    return `holds ${value.length} items; at most ${ARRAY_ITEMS_MAX} are read`;
  }
  return null;
}

function collectUnfit(value: unknown, path: string[], errors: FieldError[]): void {
  // One more than are named: the answer then says that there are others.
  if (errors.length > ERRORS_NAMED_MAX) return;
  const message = whyUnfit(value, path.length);
  if (message !== null) {
    errors.push({ field: dottedPath(path) || 'body', code: 'schema_error', message });
  } else if (typeof value === 'object' && value !== null) {
    for (const [key, item] of Object.entries(value)) {
      path.push(key);
      collectUnfit(key, path, errors);
      collectUnfit(item, path, errors);
      path.pop();
    }
  }
}
