import { afterEach, expect, test } from 'vitest';
import { openSummarizer } from '../../src/summarizer/open.js';
import { NO_SUMMARIZER } from '../../src/summarizer/port.js';
import { complete, type SummarizerStub, startSummarizerStub } from '../support/summarizer-stub.js';

let stub: SummarizerStub | undefined;
afterEach(() => stub?.close());

const reasons: string[] = [];
const dependencies = { now: () => 0, onFailure: (reason: string) => reasons.push(reason) };

test('without settings there is never a summary, and nobody is asked', async () => {
  const summarizer = openSummarizer(null, dependencies);
  expect(summarizer).toBe(NO_SUMMARIZER);
  expect(await summarizer.summarize('chapter', ['Drained the queue'], 200)).toBeNull();
});

test('with settings the endpoint is asked', async () => {
  stub = await startSummarizerStub(complete('Drained.'));
  const summarizer = openSummarizer({ url: stub.url, model: 'small', key: null }, dependencies);
  expect(await summarizer.summarize('wisdom', ['Drained the queue'], 200)).toBe('Drained.');
  expect(stub.asked).toHaveLength(1);
  expect(reasons).toEqual([]);
});
