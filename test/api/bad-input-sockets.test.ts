import { connect } from 'node:net';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import type { ProblemCode } from '../../src/errors.js';
import type { Service } from '../support/service.js';
import { digestOf, expectRefusal, JSON_TYPE, portOf, type Reply, send } from './bad-input-replies.js';
import { describedOperations, startSeeded } from './bad-input-requests.js';

/** What arrives on the socket and is no request, or one that HTTP itself forbids. */

let service: Service;
let untouched: Record<string, string>;
beforeAll(async () => {
  service = await startSeeded();
  untouched = digestOf(service);
});
afterEach(async () => {
  await service.http.get('/health/live').expect(200);
  expect(digestOf(service)).toEqual(untouched);
});
afterAll(() => service.stop());

/** Writes the bytes, says that there are no more, and reads to the end. */
function exchange(bytes: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    const socket = connect(portOf(service), '127.0.0.1');
    socket.on('data', (chunk) => chunks.push(chunk));
    socket.on('error', reject);
    socket.on('close', () => resolve(Buffer.concat(chunks).toString('utf8')));
    socket.end(Buffer.from(bytes, 'latin1'));
  });
}

function parse(text: string): Reply {
  const end = text.indexOf('\r\n\r\n');
  const [first = '', ...lines] = text.slice(0, end).split('\r\n');
  const headers = Object.fromEntries(
    lines.map((line) => [line.slice(0, line.indexOf(':')).toLowerCase(), line.slice(line.indexOf(':') + 2)]),
  );
  const isProblem = headers['content-type']?.startsWith('application/problem+json');
  return {
    status: Number(first.split(' ')[1]),
    headers,
    body: isProblem ? JSON.parse(text.slice(end + 4)) : text.slice(end + 4),
  };
}

const lines = (...text: string[]): string => `${text.join('\r\n')}\r\n\r\n`;
const POST = 'POST /memory/write HTTP/1.1';
const HOST = 'Host: localhost';
const TYPE = 'Content-Type: application/json';

const GARBAGE: readonly [name: string, code: ProblemCode, bytes: string][] = [
  ['words', 'malformed_request', 'remember this please\r\n\r\n'],
  ['a greeting of TLS', 'malformed_request', '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03'],
  ['zeros', 'malformed_request', '\0'.repeat(100)],
  ['every byte', 'malformed_request', String.fromCharCode(...Array(256).keys())],
  ['a greeting of HTTP/2', 'malformed_request', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'],
  ['a version that does not exist', 'malformed_request', lines('GET /stats HTTP/9.9', HOST)],
  ['a method that does not exist', 'malformed_request', lines('REMEMBER /stats HTTP/1.1', HOST)],
  ['a blank in the URL', 'malformed_request', lines('GET /st ats HTTP/1.1', HOST)],
  ['a zero in the URL', 'malformed_request', lines('GET /st\0ats HTTP/1.1', HOST)],
  ['bytes in the URL that are not percent-encoded', 'malformed_request', lines('GET /memory/\xff\xfe HTTP/1.1', HOST)],
  ['a header without a colon', 'malformed_request', lines('GET /stats HTTP/1.1', HOST, 'nonsense')],
  ['a zero in a header', 'malformed_request', lines('GET /stats HTTP/1.1', HOST, 'X-Y: a\0b')],
  ['no host', 'malformed_request', lines('GET /stats HTTP/1.1')],
  ['a length that is no number', 'malformed_request', lines(POST, HOST, TYPE, 'Content-Length: ten')],
  ['a negative length', 'malformed_request', lines(POST, HOST, TYPE, 'Content-Length: -1')],
  ['two lengths', 'malformed_request', lines(POST, HOST, TYPE, 'Content-Length: 2', 'Content-Length: 3')],
  [
    'a length and chunks',
    'malformed_request',
    lines(POST, HOST, TYPE, 'Content-Length: 5', 'Transfer-Encoding: chunked'),
  ],
  ['a chunk of no length', 'malformed_request', `${lines(POST, HOST, TYPE, 'Transfer-Encoding: chunked')}zz\r\n{}`],
  ['a body that breaks off', 'malformed_request', `${lines(POST, HOST, TYPE, 'Content-Length: 50')}{"op":"wri`],
  [
    'chunks that break off',
    'malformed_request',
    `${lines(POST, HOST, TYPE, 'Transfer-Encoding: chunked')}5\r\n{"op"\r\n`,
  ],
  ['a head that breaks off', 'malformed_request', `${POST}\r\n${HOST}\r\nContent-Ty`],
  ['an endless header', 'header_fields_too_large', lines('GET /stats HTTP/1.1', HOST, `X-Y: ${'y'.repeat(20_000)}`)],
  [
    'endless headers',
    'header_fields_too_large',
    lines('GET /stats HTTP/1.1', HOST, ...Array.from({ length: 1_000 }, (_, index) => `X-Y${index}: yyyyyyyyyyyyyyyy`)),
  ],
  ['an endless URL', 'header_fields_too_large', lines(`GET /${'a'.repeat(20_000)} HTTP/1.1`, HOST)],
];

test.each(GARBAGE)('%s on the socket is answered with the problem %s', async (_name, code, bytes) => {
  expectRefusal(parse(await exchange(bytes)), code);
});

describe.each(describedOperations())('$name', ({ method, path }) => {
  test('refuses headers of more than 16 KiB', async () => {
    const reply = await send(service, method, path, { ...JSON_TYPE, 'x-padding': 'x'.repeat(16_384) });
    expectRefusal(reply, 'header_fields_too_large');
  });
});

test('an expectation that nobody knows is refused as a problem, or passed over', async () => {
  const reply = await send(service, 'GET', '/stats', { expect: 'a-miracle' });
  if (reply.status !== 200) expect(reply.headers['content-type']).toBe('application/problem+json; charset=utf-8');
});
