import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { Breaker, FAILURES_MAX, REST_MS } from '../../src/summarizer/breaker.js';
import { EndpointSummarizer } from '../../src/summarizer/endpoint.js';
import { Clock } from '../support/service.js';
import { complete, type SummarizerStub, sendText, startSummarizerStub } from '../support/summarizer-stub.js';

describe('an endpoint that fails', () => {
  let stub: SummarizerStub;
  let clock: Clock;
  let reasons: string[];
  let summarizer: EndpointSummarizer;

  beforeEach(async () => {
    stub = await startSummarizerStub(sendText('{}', 503));
    clock = new Clock();
    reasons = [];
    summarizer = new EndpointSummarizer(
      { url: stub.url, model: 'small', key: null },
      { now: clock.now, onFailure: (reason) => reasons.push(reason), timeoutMs: 20_000 },
    );
  });
  afterEach(() => stub.close());

  const ask = (): Promise<string | null> => summarizer.summarize('chapter', ['Drained the queue'], 200);

  async function failThrice(): Promise<void> {
    for (let count = 0; count < FAILURES_MAX; count++) expect(await ask()).toBeNull();
  }

  test('three times in a row is not asked for a minute, and that is told once', async () => {
    await failThrice();
    clock.advance(REST_MS - 1);
    expect(await ask()).toBeNull();
    expect(stub.asked).toHaveLength(3);
    expect(reasons).toEqual([
      'it answered with status 503',
      'it answered with status 503',
      'it answered with status 503; after 3 failures in a row it is not asked for 60 seconds',
    ]);
  });

  test('is tried once after its rest, and rests again when that fails', async () => {
    await failThrice();
    clock.advance(REST_MS);
    expect(await ask()).toBeNull();
    expect(await ask()).toBeNull();
    expect(stub.asked).toHaveLength(4);
    expect(reasons).toHaveLength(4);
  });

  test('is tried by one of many who ask at once after its rest', async () => {
    await failThrice();
    clock.advance(REST_MS);
    await Promise.all([ask(), ask(), ask()]);
    expect(stub.asked).toHaveLength(4);
  });

  test('is asked as before once it answers well again', async () => {
    await failThrice();
    clock.advance(REST_MS);
    stub.answer(complete('Drained.'));
    expect([await ask(), await ask()]).toEqual(['Drained.', 'Drained.']);
    stub.answer(sendText('{}', 503));
    await failThrice();
    expect(stub.asked).toHaveLength(8);
  });

  test('now and then does not rest', async () => {
    for (const answer of [sendText('', 500), sendText('', 500), complete('Drained.')]) {
      stub.answer(answer);
      await ask();
    }
    stub.answer(sendText('', 500));
    await failThrice();
    expect(stub.asked).toHaveLength(6);
  });
});

test('a clock that is set back does not prolong the rest', () => {
  let nowMs = 1_000_000;
  const breaker = new Breaker(() => nowMs);
  for (let count = 0; count < FAILURES_MAX; count++) breaker.fail();
  expect(breaker.admits()).toBe(false);
  nowMs -= 500_000;
  expect(breaker.admits()).toBe(true);
});
