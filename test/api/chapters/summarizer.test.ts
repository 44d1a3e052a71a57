import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { EndpointSummarizer } from '../../../src/summarizer/endpoint.js';
import { EpisodeClient, type EpisodeReport } from '../../support/episodes.js';
import { NarrativeClient, startNarrator, storeTold, type Told } from '../../support/narratives.js';
import { idsOf } from '../../support/nodes.js';
import { stored } from '../../support/rows.js';
import type { Service } from '../../support/service.js';
import {
  type Answer,
  complete,
  type SummarizerStub,
  sendJson,
  sendText,
  startSummarizerStub,
} from '../../support/summarizer-stub.js';
import { times } from '../../support/together.js';

/** With an endpoint that words summaries, which may fail, stall or talk nonsense. */

const TIMEOUT_MS = 300;

let stub: SummarizerStub;
let service: Service;
let failures: string[];
let episodes: EpisodeClient;
let narratives: NarrativeClient;
let agentId: string;
beforeAll(async () => {
  stub = await startSummarizerStub(complete('In other words.'));
});
afterAll(() => stub.close());
/** A service for each test: what failed in one must not count in the next. */
beforeEach(async () => {
  failures = [];
  service = await startNarrator(
    ({ now }) =>
      new EndpointSummarizer(
        { url: stub.url, model: 'small', key: 'secret' },
        { now, onFailure: (reason) => failures.push(reason), timeoutMs: TIMEOUT_MS },
      ),
  );
  episodes = new EpisodeClient(service);
  narratives = new NarrativeClient(service);
  agentId = (await episodes.register()).agent.id;
  stub.answer(complete('In other words.'));
});
afterEach(() => service.stop());

const store = (...all: Told[]): Promise<EpisodeReport[]> => storeTold(service, episodes, agentId, ...all);
const ONE: Told = { goal: 'Fix the pump', summary: 'It runs', learned: ['Oil it'], tags: ['x'] };
const EXTRACT = 'Goals: Fix the pump. Outcomes: It runs.';

test('its text is the summary, and is marked as its own; what is cited stays word for word', async () => {
  const asked = stub.asked.length;
  const made = await store(ONE);
  const chapter = await narratives.chapter(made);
  expect(chapter).toMatchObject({ summary: 'In other words.', summary_origin: 'model', learnings: ['Oil it'] });
  expect(chapter.sources.summary.map(({ text }) => text)).toEqual(['Goal: Fix the pump', 'Done: It runs']);
  expect(stub.asked).toHaveLength(asked + 1);
  const { body } = stub.asked.at(-1) as { body: string };
  for (const line of ['Goal: Fix the pump', 'Done: It runs', 'Oil it']) expect(body).toContain(line);
  const found = await narratives.postNodeSearch({ query: 'other words', form: 'chapter' });
  expect(idsOf(found.body.results.map(({ node }: { node: { id: string } }) => node))).toEqual([chapter.id]);
});

test('a wisdom is worded too', async () => {
  await narratives.chapter(await store(ONE));
  await narratives.chapter(await store({ ...ONE, learned: ['Clean it'] }));
  stub.answer(complete('Oil and clean.'));
  expect(await narratives.wisdom()).toMatchObject({
    summary: 'Oil and clean.',
    summary_origin: 'model',
    insights: ['Oil it', 'Clean it'],
  });
});

test.each<[string, Answer]>([
  ['fails', sendText('{"error":"boom"}', 500)],
  ['refuses', sendText('{"error":"no key"}', 401)],
  ['stalls', () => undefined],
  ['stalls in the middle', (response) => response.writeHead(200).write('{"choices":[')],
  ['hangs up', (response) => response.destroy()],
  ['answers garbage', sendText('<html>busy</html>')],
  ['answers something else', sendJson({ choices: 'none' })],
  ['answers nothing', complete('   ')],
  ['answers no text', complete(7)],
  ['answers half a character', complete('half \ud800')],
])('one that %s falls back to what the sources say', async (_, answer) => {
  stub.answer(answer);
  const made = await store(ONE);
  const chapter = await narratives.chapter(made);
  expect(chapter).toMatchObject({ summary: EXTRACT, summary_origin: 'extract', learnings: ['Oil it'] });
  const wisdom = await narratives.wisdom({ chapter_ids: [chapter.id], min_chapters: 1 });
  expect(wisdom).toMatchObject({ summary: `Synthesis across 1 chapter: ${EXTRACT}`, summary_origin: 'extract' });
  expect(failures).toHaveLength(2);
  expect(failures.join()).not.toContain('secret');
});

test('one that keeps failing is left alone, and the work goes on', async () => {
  stub.answer(sendText('', 503));
  await store(...times(3, (): Told => ({ tags: ['a', 'b', 'c', 'd', 'e'] })));
  const asked = stub.asked.length;
  expect(await narratives.detect()).toMatchObject({ created: 5 });
  expect(stub.asked.length - asked).toBe(3);
  expect((await narratives.chapters()).map(({ summary_origin }) => summary_origin)).toEqual(times(5, () => 'extract'));
});

describe('asked again', () => {
  test('of the same lines it is not asked, and nothing changes, whatever it would say now', async () => {
    await store(...times(3, () => ONE));
    await narratives.detect();
    const wisdom = await narratives.wisdom({ min_chapters: 1 });
    stub.answer(complete('Quite different.'));
    const asked = stub.asked.length;
    const before = stored(service, narratives.repoId);
    expect(await narratives.detect()).toMatchObject({ created: 0, updated: 0, unchanged: 1 });
    expect(await narratives.synthesize({ min_chapters: 1 })).toMatchObject({
      action: 'unchanged',
      wisdom: { id: wisdom.id },
    });
    expect(stub.asked).toHaveLength(asked);
    expect(stored(service, narratives.repoId)).toEqual(before);
  });

  test('of other lines it is asked', async () => {
    await store(...times(3, () => ONE));
    await narratives.detect();
    stub.answer(complete('Quite different.'));
    await store({ ...ONE, learned: ['Clean it'] });
    expect(await narratives.detect()).toMatchObject({ updated: 1 });
    expect((await narratives.chapterTitled('Topic: x')).summary).toBe('Quite different.');
  });

  test('a dry run asks nobody', async () => {
    await store(...times(3, () => ONE));
    const asked = stub.asked.length;
    expect(await narratives.detect({ dry_run: true })).toMatchObject({ created: 1 });
    await narratives.detect();
    await narratives.synthesize({ min_chapters: 1, dry_run: true });
    await narratives.chapter(await store(ONE));
    expect(stub.asked).toHaveLength(asked + 2);
  });
});

describe('one that is slow', () => {
  const SLOW_MS = 7_000;
  const slowly: Answer = (response) => {
    service.clock.advance(SLOW_MS);
    complete('At long last.')(response);
  };
  const origins = async () => (await narratives.chapters()).map(({ summary_origin }) => summary_origin).sort();

  test('is waited for 20 seconds in one request, and the rest is worded by the service', async () => {
    await store(...times(3, (): Told => ({ tags: ['a', 'b', 'c', 'd', 'e'] })));
    stub.answer(slowly);
    const asked = stub.asked.length;
    expect(await narratives.detect()).toMatchObject({ created: 5 });
    expect(stub.asked.length - asked).toBe(3);
    expect(await origins()).toEqual(['extract', 'extract', 'model', 'model', 'model']);
  });

  test('words the rest when the request is repeated', async () => {
    await store(...times(3, (): Told => ({ tags: ['a', 'b', 'c', 'd', 'e'] })));
    stub.answer(slowly);
    await narratives.detect();
    expect(await narratives.detect()).toMatchObject({ updated: 2, unchanged: 3 });
    expect(await origins()).toEqual(times(5, () => 'model'));
  });

  test('is not asked when an episode is removed for good', async () => {
    const made = await store(ONE, { ...ONE, goal: 'Say zyqsecret' });
    const { id } = await narratives.chapter(made);
    const { id: wisdomId } = await narratives.wisdom({ min_chapters: 1 });
    const asked = stub.asked.length;
    await episodes.remove(made[1]?.id as string, { permanent: true });
    expect(stub.asked).toHaveLength(asked);
    expect(await narratives.read(id)).toMatchObject({ summary: EXTRACT, summary_origin: 'extract' });
    expect(await narratives.readWisdom(wisdomId)).toMatchObject({
      summary: `Synthesis across 1 chapter: ${EXTRACT}`,
      summary_origin: 'extract',
    });
  });
});

test('what it said of an episode goes with the episode', async () => {
  stub.answer(complete('They spoke of zyqsecret.'));
  const made = await store(ONE, { ...ONE, goal: 'Say zyqsecret' });
  const { id } = await narratives.chapter(made);
  await narratives.wisdom({ min_chapters: 1 });
  await episodes.remove(made[1]?.id as string, { permanent: true });
  expect((await narratives.read(id)).summary).toBe(EXTRACT);
  expect(JSON.stringify(stored(service, narratives.repoId))).not.toContain('zyqsecret');
});
