import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Service, startService } from '../support/service.js';

/** The description itself: what it has to hold, for every operation and every schema. */

const FILE = new URL('../../openapi/openapi.json', import.meta.url);
type Schema = Record<string, unknown> & { $ref?: string; oneOf?: Schema[]; anyOf?: Schema[] };
interface Operation {
  operationId: string;
  tags: string[];
  summary: string;
  parameters?: { name: string; in: string; example?: unknown; examples?: unknown; schema: Schema }[];
  requestBody?: { content: Record<string, { schema: Schema }> };
  responses: Record<string, { description: string; content: Record<string, { schema: Schema }> }>;
}
const document = JSON.parse(readFileSync(FILE, 'utf8'));
const SCHEMAS = document.components.schemas as Record<string, Schema>;
const OPERATIONS = Object.entries(document.paths as Record<string, Record<string, Operation>>).flatMap(
  ([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({
      name: `${method.toUpperCase()} ${path}`,
      path,
      method,
      operation,
    })),
);

let service: Service;
beforeAll(async () => {
  service = await startService();
});
afterAll(() => service.stop());

/** What answers no JSON when it answers well. */
const ARCHIVE = '/chunks/export';

/** The value and every value inside it. */
function* parts(value: unknown): Generator<Record<string, unknown>> {
  if (typeof value !== 'object' || value === null) return;
  if (!Array.isArray(value)) yield value as Record<string, unknown>;
  for (const inner of Object.values(value)) yield* parts(inner);
}

const resolve = ($ref: string): unknown =>
  $ref
    .split('/')
    .slice(1)
    .reduce((inner: unknown, key) => (inner as Record<string, unknown> | undefined)?.[key], document);

/** The value and everything that it refers to, each once. */
function* reachable(value: unknown, seen = new Set<unknown>()): Generator<Record<string, unknown>> {
  for (const part of parts(value)) {
    yield part;
    if (typeof part.$ref !== 'string' || seen.has(part.$ref)) continue;
    seen.add(part.$ref);
    yield* reachable(resolve(part.$ref), seen);
  }
}

describe('the document', () => {
  test('is served as it is committed', async () => {
    const answer = await service.http.get('/openapi.json').expect(200);
    expect(answer.headers['content-type']).toMatch(/^application\/json/);
    expect(`${JSON.stringify(answer.body, null, 2)}\n`).toBe(readFileSync(FILE, 'utf8'));
  });

  test('is OpenAPI 3.1 and names the service, its version and its licence', () => {
    const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'));
    expect(document.openapi).toMatch(/^3\.1\.\d+$/);
    expect(document.info).toMatchObject({ title: 'Loci', version, license: { identifier: 'MIT' } });
  });

  test('refers only to what it holds', () => {
    const references = [...parts(document)].flatMap(({ $ref }) => (typeof $ref === 'string' ? [$ref] : []));
    expect(references.length).toBeGreaterThan(20);
    expect(references.filter((reference) => resolve(reference) === undefined)).toEqual([]);
  });

  test('holds no schema that no operation uses', () => {
    const used = new Set([...reachable(document.paths)].map(({ $ref }) => $ref));
    expect(Object.keys(SCHEMAS).filter((name) => !used.has(`#/components/schemas/${name}`))).toEqual([]);
  });

  test('describes every tag that an operation carries', () => {
    const carried = new Set(OPERATIONS.flatMap(({ operation }) => operation.tags));
    const described = document.tags as { name: string; description: string }[];
    expect(described.map(({ name }) => name).sort()).toEqual([...carried].sort());
    for (const { description } of described) expect(description).toMatch(/\S/);
  });

  test('gives every operation an id of its own', () => {
    const ids = OPERATIONS.map(({ operation }) => operation.operationId);
    for (const id of ids) expect(id).toMatch(/^[a-z][A-Za-z]+$/);
    expect(new Set(ids).size).toBe(ids.length);
  });

  test('prints closed sets of words as enums, not as unions', () => {
    const unions = [...parts(document)].filter((part) => {
      const variants = (part.anyOf ?? part.oneOf) as Schema[] | undefined;
      return variants?.every((variant) => 'const' in variant);
    });
    expect(unions).toEqual([]);
    for (const name of ['kind', 'scope']) {
      expect(SCHEMAS.MemoryInput).toHaveProperty(['properties', name, 'enum']);
    }
  });

  test('tells for every union which field decides', () => {
    const isNull = (schema: Schema): boolean => schema.type === 'null';
    const unions = [...parts(document)].filter((part) => {
      const variants = (part.anyOf ?? part.oneOf) as Schema[] | undefined;
      return variants !== undefined && variants.filter((variant) => !isNull(variant)).length > 1;
    });
    expect(unions.length).toBeGreaterThan(0);
    for (const { discriminator, oneOf } of unions) {
      const { propertyName } = (discriminator ?? {}) as { propertyName?: string };
      const words = ((oneOf ?? []) as Schema[]).map(
        ({ properties }) => (properties as Record<string, Schema> | undefined)?.[String(propertyName)]?.const,
      );
      expect(words).not.toContain(undefined);
      expect(new Set(words).size).toBe(words.length);
    }
  });
});

describe.each(OPERATIONS)('$name', ({ path, operation }) => {
  const { parameters = [], requestBody, responses } = operation;
  const statuses = Object.keys(responses);
  const isSuccess = (status: string): boolean => status.startsWith('2');

  test('has a tag and a summary', () => {
    expect(operation.tags).toHaveLength(1);
    expect(operation.summary).toMatch(/^[A-Z]/);
  });

  test('describes every parameter of its path', () => {
    const inPath = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name);
    expect(parameters.filter((parameter) => parameter.in === 'path').map(({ name }) => name)).toEqual(inPath);
  });

  test('takes and answers named schemas', () => {
    const bodies = [
      requestBody?.content['application/json'],
      ...statuses
        .filter((status) => path !== ARCHIVE || !isSuccess(status))
        .map((status) => onlyContent(responses[status])),
    ];
    for (const body of bodies) if (body) expect(body.schema.$ref).toMatch(/^#\/components\/schemas\/\w+$/);
  });

  test('shows an example of what it takes or answers', () => {
    const own = [parameters, requestBody, ...statuses.filter(isSuccess).map((status) => responses[status])];
    const examples = [...reachable(own)].filter((part) => 'example' in part || 'examples' in part);
    // Of an archive there is nothing to show.
    if (path !== ARCHIVE) expect(examples.length).toBeGreaterThan(0);
  });

  test('answers success as JSON or as an archive, and every failure as a problem', () => {
    expect(statuses.filter(isSuccess).length).toBeGreaterThan(0);
    for (const [status, response] of Object.entries(responses)) {
      const well = path === ARCHIVE ? 'application/x-tar' : 'application/json';
      const type = isSuccess(status) ? well : 'application/problem+json';
      expect(Object.keys(response.content)).toEqual([type]);
      if (!isSuccess(status)) expect(onlyContent(response)?.schema.$ref).toBe('#/components/schemas/Problem');
    }
  });

  test('describes its error statuses', () => {
    expect(statuses).toEqual(expect.arrayContaining(['400', '431', '500']));
    if (requestBody) expect(statuses).toEqual(expect.arrayContaining(['413', '415', '422', '503']));
    if (path.includes('{memory_id}') || path.includes('{repo_id}')) expect(statuses).toContain('404');
  });
});

const onlyContent = (response: Operation['responses'][string] | undefined) => Object.values(response?.content ?? {})[0];

describe('the browsable docs', () => {
  test('are a page at /docs, to which the root leads', async () => {
    const root = await service.http.get('/').redirects(3);
    const docs = await service.http.get('/docs').redirects(3);
    for (const answer of [root, docs]) {
      expect([answer.status, answer.headers['content-type']]).toEqual([200, expect.stringMatching(/^text\/html/)]);
      expect(answer.text).toContain('swagger-ui');
    }
  });

  test('show the same description, and load nothing from elsewhere', async () => {
    const shown = await service.http.get('/docs/json').expect(200);
    expect(shown.body).toEqual(document);
    const page = await service.http.get('/docs').redirects(3);
    const loaded = [...page.text.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, address]) => address as string);
    expect(loaded.length).toBeGreaterThan(0);
    for (const address of loaded) {
      expect(address).not.toMatch(/^(https?:)?\/\//);
      await service.http.get(new URL(address, 'http://localhost/docs/').pathname).expect(200);
    }
  });
});
