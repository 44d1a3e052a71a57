import { gzipSync } from 'node:zlib';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import type { ProblemCode } from '../../src/errors.js';
import type { Service } from '../support/service.js';
import { digestOf, expectRefusal, JSON_TYPE, send } from './bad-input-replies.js';
import { describedOperations, type Operation, startSeeded } from './bad-input-requests.js';

/** Bodies that no route can read, sent to every route. */

let service: Service;
let untouched: Record<string, string>;
beforeAll(async () => {
  service = await startSeeded();
  untouched = digestOf(service);
});
afterEach(() => expect(digestOf(service)).toEqual(untouched));
afterAll(() => service.stop());

interface BadBody {
  readonly name: string;
  readonly code: ProblemCode;
  readonly body: string | Buffer;
  readonly headers?: Record<string, string>;
}

const MIB = 1024 * 1024;
const LEVELS = 100_000;
const valid = JSON.stringify({ op: 'read', repo_id: 'acme/shop', mode: 'targeted', query: 'Redis' });
const bytes = (...parts: (string | number[])[]): Buffer =>
  Buffer.concat(parts.map((part) => Buffer.from(part as string)));
const declared = (type: string): BadBody => ({
  name: `declared as ${JSON.stringify(type)}`,
  code: 'unsupported_media_type',
  body: valid,
  headers: { 'content-type': type },
});
const malformed = (text: string): BadBody => ({ name: `not JSON: ${text}`, code: 'malformed_body', body: text });

/** Refused by every route that reads a body at all. */
const UNREADABLE: readonly BadBody[] = [
  malformed('{"op":'),
  malformed('{"op":"read",}'),
  malformed("{'op':'read'}"),
  malformed('{"op":"read"} {"op":"read"}'),
  malformed('{"limit":NaN}'),
  malformed('{"limit":Infinity}'),
  malformed('{"limit":01}'),
  malformed('{"limit":undefined}'),
  malformed('op=read&repo_id=acme'),
  malformed('\0'),
  malformed(' \r\n\t '),
  malformed('{"text":"line\nbreak"}'),
  { name: 'no declared type', code: 'unsupported_media_type', body: valid, headers: {} },
  declared(''),
  declared('text/plain'),
  declared('application/xml'),
  declared('application/x-www-form-urlencoded'),
  declared('multipart/form-data; boundary=x'),
  declared('application/jsonx'),
  declared('json'),
  declared(';'),
  { name: '10 MB', code: 'payload_too_large', body: Buffer.alloc(10_000_000, ' ') },
  { name: '1 MiB and a byte', code: 'payload_too_large', body: valid.padEnd(MIB + 1) },
  { name: 'bytes that are not UTF-8', code: 'malformed_body', body: bytes('{"query":"', [0xff, 0xfe], '"}') },
  { name: 'UTF-8 cut inside a character', code: 'malformed_body', body: bytes('{"query":"', [0xe2, 0x82], '"}') },
  { name: 'an overlong UTF-8 form', code: 'malformed_body', body: bytes('{"query":"', [0xc0, 0xaf], '"}') },
  { name: 'a surrogate in UTF-8', code: 'malformed_body', body: bytes('{"query":"', [0xed, 0xa0, 0x80], '"}') },
  { name: 'UTF-16', code: 'malformed_body', body: Buffer.from(`\ufeff${valid}`, 'utf16le') },
  {
    name: 'compressed',
    code: 'malformed_body',
    body: gzipSync(valid),
    headers: { 'content-encoding': 'gzip', ...JSON_TYPE },
  },
  { name: 'two byte order marks', code: 'malformed_body', body: `\ufeff\ufeff${valid}` },
  { name: 'a __proto__ key', code: 'malformed_body', body: '{"__proto__":{"admin":true}}' },
  { name: 'a nested __proto__ key', code: 'malformed_body', body: '{"memory":{"links":{"__proto__":{"admin":true}}}}' },
  { name: 'an escaped __proto__ key', code: 'malformed_body', body: '{"\\u005f_proto__":{"admin":true}}' },
  {
    name: 'a constructor with a prototype',
    code: 'malformed_body',
    body: '{"constructor":{"prototype":{"admin":true}}}',
  },
  { name: '100,000 nested arrays', code: 'schema_error', body: '['.repeat(LEVELS) + ']'.repeat(LEVELS) },
  { name: '100,000 nested objects', code: 'schema_error', body: `${'{"a":'.repeat(LEVELS)}1${'}'.repeat(LEVELS)}` },
  { name: '100,000 open brackets', code: 'malformed_body', body: '['.repeat(LEVELS) },
  { name: 'an array of 100,000 items', code: 'schema_error', body: JSON.stringify(Array(LEVELS).fill(0)) },
  { name: 'a NUL character', code: 'schema_error', body: '{"query":"a\\u0000b"}' },
  { name: 'a NUL character in a key', code: 'schema_error', body: '{"a\\u0000b":1}' },
  { name: 'half a surrogate pair', code: 'schema_error', body: '{"query":"a\\ud800b"}' },
  { name: 'half a surrogate pair in a key', code: 'schema_error', body: '{"a\\udc00b":1}' },
];

/** Readable, and yet no route's body. */
const SHAPELESS: readonly BadBody[] = [
  { name: 'empty', code: 'malformed_body', body: '', headers: { 'content-length': '0', ...JSON_TYPE } },
  { name: 'absent', code: 'schema_error', body: '', headers: {} },
  ...['null', 'true', '7', '"text"', '[]', '{}', '[{}]'].map(
    (body): BadBody => ({ name: `only ${body}`, code: 'schema_error', body }),
  ),
  { name: 'a constructor key', code: 'schema_error', body: '{"constructor":1}' },
  { name: 'keys of every object', code: 'schema_error', body: '{"hasOwnProperty":1,"toString":2,"valueOf":3}' },
  {
    name: '10,000 unknown fields',
    code: 'schema_error',
    body: JSON.stringify(Object.fromEntries(Array.from({ length: 10_000 }, (_, index) => [`field${index}`, index]))),
  },
];

const OPERATIONS = describedOperations();
/** Every field of these may be left out. */
const ALL_DEFAULTS = [
  '/maintenance/sweep',
  '/evolution/decay',
  '/agents',
  '/chapters/detect',
  '/wisdom/synthesize',
  '/episodes/recall',
];
/** And of these the body as a whole. */
const BODY_OPTIONAL = /^\/agents\/[^/]+\/sessions|^\/sessions\/[^/]+\/end/;

/** What reads no JSON refuses all of it; a text that is to be cut may be long; of two fields one is needed. */
function codeFor({ path, takesArchive }: Operation, { name, code }: BadBody): ProblemCode {
  if (takesArchive) return name === 'absent' ? 'malformed_body' : 'unsupported_media_type';
  if (path === '/chunks/reason' && name === 'only {}') return 'semantic_error';
  return path === '/chunks/remember' && name === '1 MiB and a byte' ? 'schema_error' : code;
}

describe.each(OPERATIONS.filter(({ method }) => method !== 'GET'))('$name', (operation) => {
  const { method, path, hasBody } = operation;
  const shapeless = SHAPELESS.filter(({ name, body }) => {
    if (BODY_OPTIONAL.test(path)) return name !== 'absent' && body !== '{}';
    return body !== '{}' || !ALL_DEFAULTS.includes(path);
  });
  test.each(hasBody ? [...UNREADABLE, ...shapeless] : UNREADABLE)(
    'refuses a body that is $name, and stores nothing',
    async (bad) => {
      const reply = await send(service, method, path, bad.headers ?? JSON_TYPE, bad.body);
      expectRefusal(reply, codeFor(operation, bad));
    },
  );
});

describe.each(OPERATIONS.filter(({ method }) => method === 'GET'))('$name', ({ method, path }) => {
  test('is answered for its URL, whatever body comes along unread', async () => {
    const expected = await send(service, method, path);
    expect(expected.status).toBe(200);
    for (const { body, headers, name } of UNREADABLE) {
      const reply = await send(service, method, path, headers ?? JSON_TYPE, body);
      // A look at a node is counted, so the next answer says one more.
      expect({ name, status: reply.status, body: withoutCount(reply.body) }).toEqual({
        name,
        status: 200,
        body: withoutCount(expected.body),
      });
    }
  });
});

const withoutCount = (body: unknown): unknown => {
  const { metadata, ...shown } = body as { metadata?: object };
  return { ...shown, access_count: null, ...(metadata && { metadata: { ...metadata, access_count: null } }) };
};

test('a body of 10 MB in chunks of unknown number is refused', async () => {
  const headers = { ...JSON_TYPE, 'transfer-encoding': 'chunked' };
  const reply = await send(service, 'POST', '/memory/write', headers, Buffer.alloc(10_000_000, ' '));
  expectRefusal(reply, 'payload_too_large');
});

test('a body of exactly 1 MiB is read', async () => {
  const reply = await send(service, 'POST', '/memory/read', JSON_TYPE, valid.padEnd(MIB));
  expect(reply.status).toBe(200);
});

test('a byte order mark before the document is not part of it', async () => {
  const plain = await send(service, 'POST', '/memory/read', JSON_TYPE, valid);
  const marked = await send(service, 'POST', '/memory/read', JSON_TYPE, `\ufeff${valid}`);
  expect(plain.status).toBe(200);
  expect(marked).toMatchObject({ status: 200, body: plain.body as object });
});

test('a refused body leaves no mark on the objects of the process', async () => {
  await send(service, 'POST', '/memory/write', JSON_TYPE, '{"__proto__":{"admin":true}}');
  expect(({} as { admin?: boolean }).admin).toBeUndefined();
});
