import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

interface Asked {
  readonly method: string | undefined;
  readonly path: string | undefined;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

/** What the stub does with a request, once it has read it. */
export type Answer = (response: ServerResponse) => unknown;

export interface SummarizerStub {
  /** Base address, as an operator would set it. */
  readonly url: string;
  /** Every request so far, in the order of arrival. */
  readonly asked: readonly Asked[];
  /** Replaces what is done with the requests to come. */
  answer(next: Answer): void;
  /** Resolves when every connection over which something was asked is closed. One that nobody used yet does not count. */
  untilLeft(): Promise<void>;
  close(): Promise<void>;
}

const REQUEST_BYTES_MAX = 1024 * 1024;
/** Longer than a test may take: a connection that the summarizer leaves open must not look as if it had closed it. */
const CONNECTION_MS_MAX = 120_000;

/** A chat endpoint on a free port of the loopback address that answers as it is told. */
export async function startSummarizerStub(first: Answer): Promise<SummarizerStub> {
  const asked: Asked[] = [];
  const left: Promise<unknown>[] = [];
  let answer = first;
  const take = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    left.push(new Promise((resolve) => request.socket.once('close', resolve)));
    const body = await bodyOf(request);
    asked.push({ method: request.method, path: request.url, headers: request.headers, body });
    answer(response);
  };
  const server = createServer((request, response) => {
    // Who gives up before all is sent has asked nothing.
    take(request, response).catch(() => response.destroy());
  });
  server.setTimeout(CONNECTION_MS_MAX);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    asked,
    answer: (next) => {
      answer = next;
    },
    untilLeft: async () => {
      await Promise.all(left);
    },
    close: async () => {
      if (!server.listening) return;
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request) {
    bytes += chunk.length;
    if (bytes > REQUEST_BYTES_MAX) throw new Error('the stub was sent too much');
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

export const sendText =
  (text: string | Buffer, status = 200): Answer =>
  (response) =>
    response.writeHead(status, { 'content-type': 'application/json' }).end(text);

export const sendJson = (value: unknown): Answer => sendText(JSON.stringify(value));

/** A chat completion as the endpoints send it. */
export const complete = (content: unknown, finishReason = 'stop'): Answer =>
  sendJson({
    id: 'chatcmpl-1',
    object: 'chat.completion',
    choices: [{ index: 0, message: { role: 'assistant', content }, finish_reason: finishReason }],
  });
