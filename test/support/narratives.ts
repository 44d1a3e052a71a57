import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import supertest, { type Test } from 'supertest';
import type { Static } from 'typebox';
import { buildApp } from '../../src/app.js';
import { readConfig } from '../../src/config.js';
import type { ChapterReport as ChapterSchema, DetectAnswer } from '../../src/contracts/chapters.js';
import type { FileCheckAnswer } from '../../src/contracts/files.js';
import type { SynthesizeAnswer, WisdomReport as WisdomSchema } from '../../src/contracts/wisdom.js';
import { buildLogger } from '../../src/logging.js';
import { openSandbox } from '../../src/sandbox/open.js';
import { openStore } from '../../src/storage/open.js';
import type { Summarizer } from '../../src/summarizer/port.js';
import { actionOf, type EpisodeClient, type EpisodeReport, intentOf, outcomeOf } from './episodes.js';
import { REPO } from './nodes.js';
import { Clock, countingIds, type Service } from './service.js';
import { WORKER_FILE } from './worker.js';

/** What was made of many episodes, and what is told before a file is touched, as their callers use it. */

export type ChapterReport = Static<typeof ChapterSchema>;
export type WisdomReport = Static<typeof WisdomSchema>;
export type Detected = Static<typeof DetectAnswer>;
export type Synthesized = Static<typeof SynthesizeAnswer>;
export type FileReport = Static<typeof FileCheckAnswer>;

/** Of the right form, and nobody's. */
export const UNKNOWN_CHAPTER_ID = 'chapter_ffffffff-ffff-4fff-8fff-ffffffffffff';
export const UNKNOWN_WISDOM_ID = 'wisdom_ffffffff-ffff-4fff-8fff-ffffffffffff';

export const MINUTE_MS = 60_000;
export const HOUR_MS = 3_600_000;
export const DAY_MS = 86_400_000;

type Query = Record<string, string | number | boolean>;

/** Sends requests for one project. What is a verb is sent as it stands, so that a test says what it expects of it. */
export class NarrativeClient {
  constructor(
    private readonly service: Service,
    readonly repoId = REPO,
  ) {}

  postCheck = (fields: object): Test => this.#http('post', '/files/check').send(fields);
  postChapter = (fields: object): Test => this.#http('post', '/chapters').send(fields);
  postDetect = (fields: object = {}): Test => this.#http('post', '/chapters/detect').send(fields);
  getChapter = (id: string): Test => this.#http('get', `/chapters/${encodeURIComponent(id)}`);
  getChapters = (query: Query = {}): Test => this.#http('get', '/chapters').query(query);
  patchChapter = (id: string, fields: object): Test =>
    this.#http('patch', `/chapters/${encodeURIComponent(id)}`).send(fields);
  deleteChapter = (id: string, query: Query = {}): Test =>
    this.#http('delete', `/chapters/${encodeURIComponent(id)}`).query(query);
  postSynthesis = (fields: object = {}): Test => this.#http('post', '/wisdom/synthesize').send(fields);
  postWisdomRecall = (fields: object): Test => this.#http('post', '/wisdom/recall').send(fields);
  getWisdom = (id: string): Test => this.#http('get', `/wisdom/${encodeURIComponent(id)}`);
  getWisdoms = (query: Query = {}): Test => this.#http('get', '/wisdom').query(query);
  deleteWisdom = (id: string, query: Query = {}): Test =>
    this.#http('delete', `/wisdom/${encodeURIComponent(id)}`).query(query);
  postNodeSearch = (fields: object): Test => this.#http('post', '/nodes/search').send(fields);

  /** What is known of a file, told always unless the test says otherwise. */
  async check(fields: object): Promise<FileReport> {
    return (await this.postCheck({ cooldown_seconds: 0, ...fields }).expect(200)).body;
  }

  /** A new chapter of these episodes, made by hand. */
  async chapter(episodes: readonly { id: string }[], fields: object = {}): Promise<ChapterReport> {
    const memoryIds = episodes.map(({ id }) => id);
    return (await this.postChapter({ memory_ids: memoryIds, ...fields }).expect(201)).body;
  }

  async detect(fields: object = {}): Promise<Detected> {
    return (await this.postDetect(fields).expect(200)).body;
  }

  async read(id: string): Promise<ChapterReport> {
    return (await this.getChapter(id).expect(200)).body;
  }

  /** The first page of a list. */
  async chapters(query: Query = {}): Promise<ChapterReport[]> {
    return (await this.getChapters(query).expect(200)).body.chapters;
  }

  /** The chapters of the first page by their titles. */
  async chapterTitled(title: string, query: Query = {}): Promise<ChapterReport> {
    const chapters = await this.chapters({ limit: 100, ...query });
    const found = chapters.find((chapter) => chapter.title === title);
    if (!found) throw new Error(`no chapter ${title}, only ${chapters.map((chapter) => chapter.title).join(', ')}`);
    return found;
  }

  /** All pages, one after the other. */
  async allChapters(query: Query = {}): Promise<ChapterReport[]> {
    const rows: ChapterReport[] = [];
    let { body } = await this.getChapters(query).expect(200);
    for (;;) {
      rows.push(...body.chapters);
      if (body.next_cursor === null) return rows;
      body = (await this.getChapters({ ...query, cursor: body.next_cursor }).expect(200)).body;
    }
  }

  /** Makes a wisdom or brings it up to date; fails the test when it is refused. */
  async synthesize(fields: object = {}): Promise<Synthesized> {
    const answer = await this.postSynthesis(fields);
    if (answer.status !== 200 && answer.status !== 201) throw new Error(`${answer.status} ${answer.text}`);
    return answer.body;
  }

  /** A synthesis that is there afterwards. */
  async wisdom(fields: object = {}): Promise<WisdomReport> {
    return (await this.synthesize(fields)).wisdom as WisdomReport;
  }

  async readWisdom(id: string): Promise<WisdomReport> {
    return (await this.getWisdom(id).expect(200)).body;
  }

  async wisdoms(query: Query = {}): Promise<WisdomReport[]> {
    return (await this.getWisdoms(query).expect(200)).body.wisdom;
  }

  async recalledWisdom(fields: object): Promise<WisdomReport[]> {
    const { body } = await this.postWisdomRecall(fields).expect(200);
    return body.results.map(({ wisdom }: { wisdom: WisdomReport }) => wisdom);
  }

  #http(method: 'get' | 'post' | 'patch' | 'delete', path: string): Test {
    return this.service.http[method](path).query({ repo_id: this.repoId });
  }
}

/** What an episode may be given in a word each. */
export interface Told {
  goal?: string;
  task?: string;
  summary?: string;
  learned?: string[];
  failed?: { reason?: string; category?: string };
  files?: string[];
  tags?: string[];
  importance?: number;
  approach?: string;
}

/** The body of an episode from what a test wants it to tell. */
export const told = ({ goal, task, summary, learned, failed, files, tags, importance, approach }: Told) => ({
  intent: intentOf({ ...(goal !== undefined && { goal }), ...(task !== undefined && { task_type: task }) }),
  outcome: outcomeOf({
    success: failed === undefined,
    ...(summary !== undefined && { summary }),
    ...(learned && { learnings: learned }),
    ...(failed?.reason !== undefined && { failure_reason: failed.reason }),
    ...(failed?.category !== undefined && { failure_category: failed.category }),
  }),
  ...(files && { actions: files.map((path) => actionOf({ details: { file_path: path } })) }),
  ...(tags && { tags }),
  ...(importance !== undefined && { importance }),
  ...(approach !== undefined && { reasoning: { approach_chosen: approach, why_chosen: 'It was at hand' } }),
});

/** New episodes of an agent, one minute after the other. */
export async function storeTold(
  service: Service,
  episodes: EpisodeClient,
  agentId: string,
  ...all: Told[]
): Promise<EpisodeReport[]> {
  const made: EpisodeReport[] = [];
  for (const one of all) {
    made.push(await episodes.store(agentId, told(one)));
    service.clock.advance(MINUTE_MS);
  }
  return made;
}

/** The shipped app with a summarizer, otherwise as `startService` builds it. */
export async function startNarrator(build: (clock: Clock) => Summarizer): Promise<Service> {
  const directory = mkdtempSync(join(tmpdir(), 'loci-test-'));
  const file = join(directory, 'memory.db');
  const config = readConfig({ RLM_MEMORY_DB: file, LOG_LEVEL: 'silent' });
  const clock = new Clock();
  const store = openStore(config, clock.now);
  const context = {
    ...config,
    store,
    now: clock.now,
    newId: countingIds(),
    sandbox: openSandbox(WORKER_FILE),
    summarizer: build(clock),
  };
  const app = await buildApp(context, buildLogger(config.logLevel), config);
  await app.ready();
  return {
    app,
    http: supertest(app.server),
    store,
    clock,
    file,
    stop: async () => {
      await app.close();
      rmSync(directory, { recursive: true, force: true });
    },
  };
}
