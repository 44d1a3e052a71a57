import { createHash } from 'node:crypto';
import { readdirSync } from 'node:fs';
import { type IncomingHttpHeaders, type OutgoingHttpHeaders, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { dirname, join } from 'node:path';
import SqliteDatabase from 'better-sqlite3';
import { expect } from 'vitest';
import { PROBLEMS, type ProblemCode } from '../../src/errors.js';
import type { Service } from '../support/service.js';

/** How wrong requests are sent as they are, what every refusal has to be, and how the store is seen to be unchanged. */

export const portOf = (service: Service): number => (service.app.server.address() as AddressInfo).port;

export interface Reply {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: unknown;
}

/** Sends a request exactly as given: no client library corrects its URL, its headers or its body on the way. */
export function send(
  service: Service,
  method: string,
  path: string,
  headers: OutgoingHttpHeaders = {},
  body: string | Buffer = '',
): Promise<Reply> {
  return new Promise((resolve, reject) => {
    const length = Buffer.byteLength(body);
    const framing = length > 0 && !headers['transfer-encoding'] ? { 'content-length': length } : {};
    const options = { host: '127.0.0.1', port: portOf(service), method, path, headers: { ...framing, ...headers } };
    const outgoing = request({ ...options, agent: false }, (incoming) => {
      const chunks: Buffer[] = [];
      incoming.on('data', (chunk: Buffer) => chunks.push(chunk));
      incoming.on('end', () => {
        const text = Buffer.concat(chunks).toString('utf8');
        const isJson = /json/.test(incoming.headers['content-type'] ?? '') && text !== '';
        resolve({
          status: incoming.statusCode ?? 0,
          headers: incoming.headers,
          body: isJson ? JSON.parse(text) : text,
        });
      });
    });
    outgoing.on('error', reject);
    outgoing.end(body);
  });
}

export const JSON_TYPE = { 'content-type': 'application/json' };

interface FieldReport {
  field: string;
  code: string;
  message: string;
}

export interface ProblemReport {
  code: ProblemCode;
  detail: string;
  request_id: string;
  errors: FieldReport[];
}

/** Holds an answer against what every refusal has to be, and gives its report back. */
export function expectRefusal(
  reply: { status: number; headers: IncomingHttpHeaders; body: unknown },
  ...codes: ProblemCode[]
): ProblemReport {
  const report = reply.body as ProblemReport;
  expect(reply.headers['content-type']).toBe('application/problem+json; charset=utf-8');
  expect(reply.status).toBeGreaterThanOrEqual(400);
  expect(reply.status).toBeLessThan(500);
  if (codes.length > 0) expect(codes).toContain(report.code);
  const row = PROBLEMS[report.code];
  expect(report).toEqual({
    type: `/problems/${report.code}`,
    title: row.title,
    status: reply.status,
    detail: expect.stringMatching(/\S/),
    code: report.code,
    hint: row.hint,
    request_id: reply.headers['x-request-id'],
    errors: expect.any(Array),
  });
  expect(row.status).toBe(reply.status);
  for (const error of report.errors) {
    const text = expect.stringMatching(/\S/);
    expect(error).toEqual({ field: expect.any(String), code: text, message: text });
  }
  return report;
}

/** A digest of every table of every file of the store, seen by a database client of its own. */
export function digestOf(service: Service): Record<string, string> {
  const directory = dirname(service.file);
  const digests: Record<string, string> = {};
  const files = readdirSync(directory, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.db'));
  for (const file of files.sort()) {
    const database = new SqliteDatabase(join(directory, file), { readonly: true });
    try {
      const names = database.prepare("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name").pluck().all();
      for (const name of names) {
        // Looks and questions are counted, a second later; that is no change of what is remembered.
        if (name === 'node_access') continue;
        const columns = name === 'sessions' ? 'id, agent_seq, ended_at, final_outcome' : '*';
        const rows = database.prepare(`SELECT ${columns} FROM "${name}"`).raw().all();
        digests[`${file} ${name}`] = createHash('sha256').update(JSON.stringify(rows)).digest('hex');
      }
    } finally {
      database.close();
    }
  }
  return digests;
}
