import AjvCompiler, { type BuildCompilerFromPool, type RouteDefinition } from '@fastify/ajv-compiler';
import type { FastifySchemaValidationError } from 'fastify';
import type { FieldError } from '../errors.js';
import { dottedPath } from './fields.js';

/** How requests are held against their schemas, and how what is wrong is said. */

const buildCompiler = AjvCompiler() as BuildCompilerFromPool;

/** `allErrors` lets a caller see everything at once; what it costs is bounded by the body's limits (see `body.ts`). */
const SHARED = { allErrors: true, verbose: true, removeAdditional: false, useDefaults: true, discriminator: true };

/** Bodies are taken as they are; what comes in a URL or header is text, so numbers in it are read as numbers, and one value as a list of one. */
const buildValidator: BuildCompilerFromPool = (externalSchemas) => {
  const ofBody = buildCompiler(externalSchemas, { customOptions: { ...SHARED, coerceTypes: false } });
  // Without strict numbers Infinity is a number like any other, and too large.
  const ofText = buildCompiler(externalSchemas, {
    customOptions: { ...SHARED, coerceTypes: 'array', strictNumbers: false },
  });
  // Fastify hands over the whole route where the type says schema.
  return (route) => ((route as unknown as RouteDefinition).httpPart === 'body' ? ofBody(route) : ofText(route));
};

/**
 * Answers are what the contracts present, and are written as they stand. A writer built for every answer of every route would
 * hold all schemas against the rules of schemas once for each: seconds at every start, and more with every route.
 */
const buildSerializer = () => () => JSON.stringify;

export const schemaController = { compilersFactory: { buildValidator, buildSerializer } };

/** An AJV error with the parts that `verbose` adds. */
type AjvError = FastifySchemaValidationError & {
  parentSchema?: { properties?: object; enum?: unknown[]; oneOf?: Variant[] };
};
type Variant = { properties?: Record<string, { const?: unknown }> };

export function fieldErrors(errors: readonly AjvError[], part: string): FieldError[] {
  return errors
    .filter((error) => !isSaidElsewhere(error))
    .map((error) => ({ field: fieldOf(error, part), code: 'schema_error', message: messageOf(error) }));
}

/** A union whose deciding word is missing complains twice about the same thing, and so does a word that is no text. */
const isSaidElsewhere = ({ keyword, params, parentSchema }: AjvError): boolean =>
  (keyword === 'discriminator' && params.tagValue === undefined) ||
  (keyword === 'type' && parentSchema?.enum !== undefined);

function fieldOf({ instancePath, keyword, params }: AjvError, part: string): string {
  const path = instancePath.split('/').slice(1).map(unescapePointer);
  if (part === 'headers') path.unshift(part);
  // A parameter is named as it stands in the URL, however often it was given.
  if (part === 'querystring') path.length = Math.min(path.length, 1);
  if (keyword === 'required') path.push(String(params.missingProperty));
  if (keyword === 'additionalProperties') path.push(String(params.additionalProperty));
  if (keyword === 'discriminator') path.push(String(params.tag));
  return dottedPath(path) || part;
}

const unescapePointer = (part: string): string => part.replaceAll('~1', '/').replaceAll('~0', '~');

/** The words that tell the variants of a union apart. */
const wordsOf = (schema: AjvError['parentSchema'], tag: string): unknown[] =>
  (schema?.oneOf ?? []).map((variant) => variant.properties?.[tag]?.const);

/** Which project is meant changes nothing. */
const changeable = (schema: AjvError['parentSchema']): string[] =>
  Object.keys(schema?.properties ?? {}).filter((name) => name !== 'project_id');

function messageOf({ keyword, params, message, parentSchema }: AjvError): string {
  switch (keyword) {
    case 'required':
      return 'is required';
    case 'additionalProperties':
      return `is not a known field; known here: ${Object.keys(parentSchema?.properties ?? {}).join(', ')}`;
    case 'enum':
      return `must be one of ${(params.allowedValues as unknown[]).join(', ')}`;
    case 'const':
      return `must be ${JSON.stringify(params.allowedValue)}`;
    case 'minProperties':
      return `changes nothing; name at least one of ${changeable(parentSchema).join(', ')}`;
    case 'uniqueItems':
      return `repeats an item: ${params.j} and ${params.i} are the same`;
    case 'discriminator':
      return `must be one of ${wordsOf(parentSchema, String(params.tag)).join(', ')}`;
    case 'format':
      return params.format === 'date-time'
        ? 'must be a moment with its time zone, such as 2026-01-31T09:30:00Z'
        : (message ?? 'is not as documented');
    default:
      return message ?? 'is not as documented';
  }
}
