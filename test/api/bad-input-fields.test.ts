import { readFileSync } from 'node:fs';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import type { Service } from '../support/service.js';
import { CHUNK_LINK_PATH } from './bad-input-chunks.js';
import { LINK_AND_SESSION_PATHS } from './bad-input-episodes.js';
import { type Path, pathsIn, typeOf, valueAt, withValue } from './bad-input-paths.js';
import { digestOf, expectRefusal } from './bad-input-replies.js';
import { FULL_BODIES, startSeeded } from './bad-input-requests.js';

/** Every field of every contract, given what it is not. */

let service: Service;
let untouched: Record<string, string>;
beforeAll(async () => {
  service = await startSeeded();
  untouched = digestOf(service);
});
afterEach(() => expect(digestOf(service)).toEqual(untouched));
afterAll(() => service.stop());

/** A value of each type that JSON has. */
const SAMPLES: Readonly<Record<string, unknown>> = {
  null: null,
  boolean: true,
  number: 7.5,
  string: 'seven',
  array: [7],
  object: { seven: 7 },
};

const FIELDS = FULL_BODIES.flatMap(({ path: route, name, body, method, nullable = [], open = [] }) =>
  pathsIn(body)
    .filter((path) => !(path.length > 1 && open.includes(path[0] as string)))
    .map((path) => {
      const field = path.join('.') || 'body';
      return {
        route,
        method,
        body,
        path,
        field,
        name,
        mayBeNull: nullable.includes(field),
        isOpen: open.includes(field),
      };
    }),
);

describe.each(FIELDS)('$name: $field', ({ route, method, body, path, field, mayBeNull, isOpen }) => {
  const value = valueAt(body, path);
  const refuse = async (replacement: unknown) => {
    const text = JSON.stringify(withValue(body, path, replacement));
    const request = method === 'PATCH' ? service.http.patch(route) : service.http.post(route);
    const answer = await request.set('content-type', 'application/json').send(text);
    return expectRefusal(answer, 'schema_error').errors;
  };

  test('refuses every other type, and names itself', async () => {
    for (const [type, sample] of Object.entries(SAMPLES)) {
      if (type === typeOf(value) || (mayBeNull && sample === null)) continue;
      const errors = await refuse(sample);
      expect({ type, fields: errors.map((error) => error.field) }).toEqual({
        type,
        fields: expect.arrayContaining([field]),
      });
    }
  });

  if (typeof value === 'string') {
    test('refuses characters that cannot be stored, and names itself', async () => {
      for (const [unfit, complaint] of [
        ['\0', /NUL/],
        [`${value}\0`, /NUL/],
        [`${value}\ud83d`, /surrogate/],
        [`\ude00${value}`, /surrogate/],
      ] as const) {
        const errors = await refuse(unfit);
        expect(errors).toEqual([{ field, code: 'schema_error', message: expect.stringMatching(complaint) }]);
      }
    });
  }

  if (Array.isArray(value)) {
    test('refuses more items than anybody reads, and names itself', async () => {
      const errors = await refuse(Array.from({ length: 10_000 }, (_, index) => `item ${index}`));
      expect(errors.map((error) => error.field)).toContain(field);
    });
  }

  if (typeOf(value) === 'object' && !isOpen) {
    test.each(['unknown', 'a\0b', 'a\ud800', 'constructor', 'toString', 'hasOwnProperty', '', 'a.b', 'a/b~c'])(
      'refuses a field that it does not have: %j',
      async (key) => {
        const errors = await refuse({ ...(value as object), [key]: 1 });
        expect(errors.map((error) => error.field)).toContain([...path, key].join('.') || 'body');
      },
    );
  }
});

/** The routes that make something new. */
const MAKES = [
  ...['/memory/write', '/nodes', '/edges', '/agents', '/episodes', '/chapters', '/chunks', '/chunks/remember'],
  ...LINK_AND_SESSION_PATHS,
  CHUNK_LINK_PATH,
];

test('the bodies that are made wrong here are right as they stand', async () => {
  const fresh = await startSeeded();
  try {
    for (const { path, body, method } of FULL_BODIES) {
      const { status } = await (method === 'PATCH' ? fresh.http.patch(path) : fresh.http.post(path)).send(body);
      expect({ body, status }).toEqual({
        body,
        status: MAKES.includes(path.replace(/\?.*/, '')) && !method ? 201 : 200,
      });
    }
  } finally {
    await fresh.stop();
  }
});

test('the bodies that are made wrong here name every field that the contracts describe', () => {
  const document = JSON.parse(readFileSync(new URL('../../openapi/openapi.json', import.meta.url), 'utf8'));
  type Schema = { $ref?: string; properties?: Record<string, Schema>; oneOf?: Schema[]; items?: Schema };
  const described = (schema: Schema, path: string): string[] => {
    const own = schema.$ref ? document.components.schemas[schema.$ref.split('/').at(-1) as string] : schema;
    return [
      ...Object.entries((own.properties ?? {}) as Record<string, Schema>).flatMap(([key, field]) => [
        `${path} ${key}`,
        ...described(field, `${path} ${key}`),
      ]),
      ...((own.oneOf ?? []) as Schema[]).flatMap((variant) => described(variant, path)),
      ...(own.items ? described(own.items, path) : []),
    ];
  };
  type Operation = { requestBody?: Content };
  const inDocument = Object.entries(document.paths as Record<string, Record<string, Operation>>).flatMap(
    ([path, operations]) =>
      Object.values(operations).flatMap(({ requestBody }) =>
        described(requestBody?.content['application/json']?.schema ?? {}, path),
      ),
  );
  type Content = { content: { 'application/json'?: { schema: Schema } } };
  const withoutIndexes = (path: Path): Path => path.filter((key) => !/^\d+$/.test(key));
  const templateOf = (route: string): string =>
    route
      .replace(/\?.*/, '')
      .replace(/^\/nodes\/[\da-f-]{36}$/, '/nodes/{node_id}')
      .replace(/^\/edges\/.+/, '/edges/{edge_id}')
      .replace(/\/agent_[^/]+/, '/{agent_id}')
      .replace(/\/session_[^/]+/, '/{session_id}')
      .replace(/\/mem_[^/]+/, '/{memory_id}')
      .replace(/\/chapter_[^/]+/, '/{chapter_id}')
      .replace(/\/chunk-[^/]+/, '/{chunk_id}')
      .replace(/^\/journal\/.+/, '/journal/{entry_id}');
  const sent = FIELDS.map(({ route, path }) => [templateOf(route), ...withoutIndexes(path)].join(' '));
  expect(inDocument.filter((field) => !sent.includes(field))).toEqual([]);
});
