import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { EndpointSummarizer } from '../../src/summarizer/endpoint.js';
import {
  type Answer,
  complete,
  type SummarizerStub,
  sendJson,
  sendText,
  startSummarizerStub,
} from '../support/summarizer-stub.js';

const KEY = 'sk-very-secret';
/** Long enough that only an answer that never comes runs into it. */
const PATIENT_MS = 20_000;
const STALL_MS = 50;

let stub: SummarizerStub;
let reasons: string[];

beforeEach(async () => {
  stub = await startSummarizerStub(complete('The queue was drained.'));
  reasons = [];
});
afterEach(() => stub.close());

interface Setup {
  readonly key?: string | null;
  readonly timeoutMs?: number;
}

function ask({ key = KEY, timeoutMs = PATIENT_MS }: Setup = {}, charactersMax = 200): Promise<string | null> {
  const summarizer = new EndpointSummarizer(
    { url: stub.url, model: 'small', key },
    { now: () => 0, onFailure: (reason) => reasons.push(reason), timeoutMs },
  );
  return summarizer.summarize('chapter', ['Drained the queue', 'Restarted the worker'], charactersMax);
}

test('a good answer is the summary, without the space around it', async () => {
  stub.answer(complete('\n The queue was drained.  \n'));
  expect(await ask()).toBe('The queue was drained.');
  expect(reasons).toEqual([]);
});

describe('the request', () => {
  test('is a chat completion at temperature 0 that is told to use nothing but the lines', async () => {
    await ask();
    expect(stub.asked).toHaveLength(1);
    expect(stub.asked[0]).toMatchObject({ method: 'POST', path: '/v1/chat/completions' });
    expect(stub.asked[0]?.headers).toMatchObject({ 'content-type': 'application/json' });
    expect(JSON.parse(stub.asked[0]?.body ?? '')).toEqual({
      model: 'small',
      messages: [
        { role: 'system', content: expect.stringMatching(/nothing but the lines.*at most 200 characters/) },
        { role: 'user', content: '- Drained the queue\n- Restarted the worker' },
      ],
      temperature: 0,
      max_tokens: 200,
    });
  });

  test('never asks for more tokens than common models grant', async () => {
    await ask({}, 100_000);
    expect(JSON.parse(stub.asked[0]?.body ?? '')).toMatchObject({ max_tokens: 2000 });
  });

  test('has an authorization header when there is a key', async () => {
    await ask({ key: KEY });
    expect(stub.asked[0]?.headers.authorization).toBe(`Bearer ${KEY}`);
    expect(stub.asked[0]?.body).not.toContain(KEY);
  });

  test('has no authorization header when there is no key', async () => {
    await ask({ key: null });
    expect(stub.asked[0]?.headers).not.toHaveProperty('authorization');
  });
});

test.each([
  ['no lines', [], 200],
  ['blank lines only', ['', ' \n'], 200],
  ['no room for an answer', ['Drained the queue'], 0],
])('with %s nobody is asked', async (_, lines, charactersMax) => {
  const onFailure = (reason: string) => reasons.push(reason);
  const settings = { url: stub.url, model: 'small', key: null };
  const summarizer = new EndpointSummarizer(settings, { now: () => 0, onFailure, timeoutMs: PATIENT_MS });
  expect(await summarizer.summarize('wisdom', lines, charactersMax)).toBeNull();
  expect(stub.asked).toEqual([]);
  expect(reasons).toEqual([]);
});

const NUL = String.fromCharCode(0);

describe('there is no summary, and a reason without the key, when the answer', () => {
  test.each<[string, Answer, string]>([
    ['is a failure of the endpoint', sendText(`{"error":"${KEY}"}`, 500), 'it answered with status 500'],
    ['is that it was asked too often', sendText('{}', 429), 'it answered with status 429'],
    ['has no content', (response) => response.writeHead(204).end(), 'it answered with status 204'],
    ['has an empty body', sendText(''), 'its answer is no JSON'],
    ['is no JSON', sendText(`<html>${KEY}</html>`), 'its answer is no JSON'],
    ['is no UTF-8', sendText(Buffer.from([0x22, 0xff, 0x22])), 'its answer is no text in UTF-8'],
    ['is null', sendJson(null), 'its answer holds no text'],
    ['is a list', sendJson([]), 'its answer holds no text'],
    ['has no choices', sendJson({ choices: [] }), 'its answer holds no text'],
    ['has choices of another shape', sendJson({ choices: { 0: 'text' } }), 'its answer holds no text'],
    ['has a choice that is null', sendJson({ choices: [null] }), 'its answer holds no text'],
    ['has no message', sendJson({ choices: [{ message: null }] }), 'its answer holds no text'],
    ['has a number for its text', complete(7), 'its answer holds no text'],
    ['has null for its text', complete(null), 'its answer holds no text'],
    ['has a list for its text', complete(['text']), 'its answer holds no text'],
    ['has an empty text', complete(''), 'its text is empty, or none of it fits'],
    ['has a blank text', complete(' \n\t '), 'its text is empty, or none of it fits'],
    ['has a NUL in its text', complete(`a${NUL}b`), 'its text holds a NUL character or half of a surrogate pair'],
    ['has half of a pair', complete('a\ud83d b'), 'its text holds a NUL character or half of a surrogate pair'],
  ])('%s', async (_, answer, reason) => {
    stub.answer(answer);
    expect(await ask()).toBeNull();
    expect(reasons).toEqual([reason]);
  });

  test('is a redirect, which is not followed', async () => {
    stub.answer((response) => response.writeHead(307, { location: `${stub.url}/elsewhere` }).end());
    expect(await ask()).toBeNull();
    expect(reasons).toEqual(['it answered with status 307']);
    expect(stub.asked).toHaveLength(1);
  });

  test('never ends: reading stops at a megabyte and the connection is closed', async () => {
    const chunk = Buffer.alloc(64 * 1024, ' ');
    stub.answer((response) => {
      const sendOn = (): void => {
        while (!response.destroyed && response.write(chunk));
      };
      response.on('drain', sendOn);
      response.writeHead(200);
      sendOn();
    });
    expect(await ask()).toBeNull();
    expect(reasons).toEqual(['its answer is larger than 1048576 bytes']);
    await stub.untilLeft();
  });

  test('breaks off', async () => {
    stub.answer((response) => {
      response.writeHead(200, { 'content-length': '1000' });
      response.write('{"choices":', () => response.destroy());
    });
    expect(await ask()).toBeNull();
    expect(reasons).toEqual([expect.stringMatching(/^its answer broke off/)]);
  });

  test('is a closed connection', async () => {
    stub.answer((response) => response.destroy());
    expect(await ask()).toBeNull();
    expect(reasons).toEqual([expect.stringMatching(/^it cannot be reached \(\w+\)$/)]);
  });
});

describe('time is limited', () => {
  test.each<[string, Answer]>([
    ['before the head of the answer', () => undefined],
    ['in the middle of its body', (response) => response.writeHead(200).write('{"choices":')],
  ])('when it hangs %s, the call ends and so does the connection', async (_, answer) => {
    stub.answer(answer);
    expect(await ask({ timeoutMs: STALL_MS })).toBeNull();
    expect(reasons).toEqual(['it did not answer within 50 ms']);
    await stub.untilLeft();
  });

  test('and none is spent on the body of a refusal, nor is its connection kept', async () => {
    stub.answer((response) => response.writeHead(500).write('{'));
    expect(await ask()).toBeNull();
    expect(reasons).toEqual(['it answered with status 500']);
    await stub.untilLeft();
  });
});

test('when nobody listens there is no summary', async () => {
  await stub.close();
  expect(await ask()).toBeNull();
  expect(reasons).toEqual(['it cannot be reached (ECONNREFUSED)']);
});

test('a key that cannot stand in a header is not quoted in the reason', async () => {
  expect(await ask({ key: 'sk-geheim-\u2603' })).toBeNull();
  expect(reasons).toEqual(['it cannot be reached']);
  expect(stub.asked).toEqual([]);
});

describe('too long an answer', () => {
  test('is cut after the last sentence that fits', async () => {
    stub.answer(complete('The queue was drained. The worker was restarted.'));
    expect(await ask({}, 40)).toBe('The queue was drained.');
  });

  test('that broke off for want of tokens ends with its last whole sentence', async () => {
    stub.answer(complete('The queue was drained. The wor', 'length'));
    expect(await ask()).toBe('The queue was drained.');
  });

  test('of which nothing fits is none', async () => {
    stub.answer(complete('Drained'));
    expect(await ask({}, 1)).toBeNull();
    expect(reasons).toEqual(['its text is empty, or none of it fits']);
  });
});
