import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { FastifyInstance } from 'fastify';
import type { Change } from '../src/domain/changes.js';
import { episodeContent, episodeWords, filesOf, type Layers } from '../src/domain/episodes.js';
import { newNode } from '../src/domain/node.js';
import { indexTerms } from '../src/domain/terms.js';
import { FAILURE_CATEGORIES, TASK_TYPES } from '../src/domain/vocabulary.js';
import type { Store } from '../src/storage/port.js';
import { describeMachine } from './machine.js';
import { openApp } from './open.js';
import { Random } from './random.js';
import { median } from './statistics.js';
import { type Timed, timed } from './timed.js';
import { Vocabulary } from './vocabulary.js';

/** What it costs to make chapters of many episodes and wisdom of the chapters, and to ask about a file; by how much it grows. */

const SEED = 20_260_103;
const SIZES = [500, 5_000] as const;
const START_MS = 1_767_225_600_000;
/** Half an hour between two episodes, and a night after every eighth. */
const STEP_MS = 1_800_000;
const NIGHT_MS = 36_000_000;
const DAY_EPISODES = 8;
const TAGS = Array.from({ length: 20 }, (_, number) => `tag-${number}`);
const FILES = Array.from({ length: 60 }, (_, number) => `src/part-${number % 12}/file-${number}.ts`);
/** Every episode touched it. */
const HOT_FILE = 'src/index.ts';
const LEARNINGS = 3;
const PLAN_CHANGES = 500;
const CHECKS = 200;
const CHECK_MS_MAX = 10;
const SECONDS_MAX = 30;
/** Ten times as many may take twice ten times as long before it is not linear any more. */
const RATIO_MAX = 20;

const vocabulary = new Vocabulary(SEED);

function layersOf(number: number, random: Random): Layers {
  const success = random.next() < 0.7;
  return {
    intent: { goal: `Goal ${number}: ${vocabulary.query(random)}`, task_type: random.pick(TASK_TYPES) },
    perception: null,
    reasoning: null,
    actions: [random.pick(FILES), random.pick(FILES), HOT_FILE].map((path) => ({
      type: 'file_edit',
      timestamp: number,
      details: { file_path: path },
      result: { success },
    })),
    outcome: {
      success,
      summary: vocabulary.text(random),
      // Every third is one that others learned too.
      learnings: Array.from({ length: LEARNINGS }, (_, place) =>
        place === 0 ? `Lesson ${random.between(0, 200)} is always the same` : vocabulary.text(random),
      ),
      ...(!success && { failure_reason: vocabulary.query(random), failure_category: random.pick(FAILURE_CATEGORIES) }),
    },
  };
}

function episodeOf(repoId: string, agentId: string, sessionId: string, number: number, random: Random): Change {
  const layers = layersOf(number, random);
  const tags = [...new Set([random.pick(TAGS), random.pick(TAGS)])];
  const taskType = layers.intent.task_type;
  const node = newNode({
    id: `mem_${random.id()}`,
    form: 'episode',
    kind: taskType,
    type: 'experience',
    repoId,
    content: episodeContent(layers),
    createdAtMs: START_MS + number * STEP_MS + Math.floor(number / DAY_EPISODES) * NIGHT_MS,
    tags,
    sessionId,
    detail: { form: 'episode', agentId, importance: random.next(), layers },
    files: filesOf(layers),
  });
  return { change: 'insert_node', node, terms: indexTerms(episodeWords(layers, tags)) };
}

async function fill(store: Store, repoId: string, episodes: number, random: Random): Promise<void> {
  const agentId = `agent_${random.id()}`;
  const sessionId = `session_${random.id()}`;
  const who = { parentId: null, specialization: null, capabilities: [], metadata: {}, createdAtMs: START_MS };
  let changes: Change[] = [
    { change: 'insert_agent', agent: { id: agentId, type: 'main', ...who } },
    { change: 'insert_session', session: { id: sessionId, agentId, initialIntent: null, startedAtMs: START_MS } },
  ];
  for (let number = 0; number < episodes; number++) {
    changes.push(episodeOf(repoId, agentId, sessionId, number, random));
    if (changes.length < PLAN_CHANGES) continue;
    await store.apply({ space: repoId, changes });
    changes = [];
  }
  if (changes.length > 0) await store.apply({ space: repoId, changes });
}

interface Figures {
  readonly episodes: number;
  readonly detect: Timed;
  readonly again: Timed;
  readonly synthesize: Timed;
  readonly checkMs: number;
  readonly hotCheckMs: number;
}

async function measure(app: FastifyInstance, repoId: string, episodes: number, random: Random): Promise<Figures> {
  const project = { project_id: repoId };
  const detect = await timed(app, { method: 'POST', url: '/chapters/detect', payload: project });
  const again = await timed(app, { method: 'POST', url: '/chapters/detect', payload: project });
  if (again.body.created !== 0 || again.body.updated !== 0) throw new Error('the second run changed something');
  const synthesize = await timed(app, { method: 'POST', url: '/wisdom/synthesize', payload: project });
  const checkMs = await medianCheck(app, repoId, () => random.pick(FILES), random);
  const hotCheckMs = await medianCheck(app, repoId, () => HOT_FILE, random);
  return { episodes, detect, again, synthesize, checkMs, hotCheckMs };
}

async function medianCheck(app: FastifyInstance, repoId: string, pick: () => string, random: Random): Promise<number> {
  const checks: number[] = [];
  for (let count = 0; count < CHECKS; count++) {
    const question = { project_id: repoId, file_path: pick(), action: vocabulary.query(random), cooldown_seconds: 0 };
    const payload = { ...question, max_age_days: 3_650, limit: 20 };
    const startedAt = performance.now();
    const answer = await app.inject({ method: 'POST', url: '/files/check', payload });
    checks.push(performance.now() - startedAt);
    if (answer.statusCode !== 200 || answer.json().total === 0) throw new Error(`unexpected answer ${answer.body}`);
  }
  return median(checks);
}

const line = (what: string, small: number, large: number): string =>
  `${what.padEnd(34)} ${small.toFixed(1).padStart(9)} ms ${large.toFixed(1).padStart(10)} ms   ${(large / small).toFixed(1)} times\n`;

const directory = mkdtempSync(join(tmpdir(), 'loci-bench-'));
const random = new Random(SEED);
try {
  process.stdout.write(`${describeMachine(directory)}\n`);
  const { app, store } = await openApp(directory, random);
  try {
    const all: Figures[] = [];
    // The smallest first, and once before it counts: code that was never run is slow.
    for (const [place, episodes] of [SIZES[0], ...SIZES].entries()) {
      const repoId = `narrative/${place}`;
      await fill(store, repoId, episodes, random);
      const figures = await measure(app, repoId, episodes, random);
      if (place > 0) all.push(figures);
      process.stdout.write(
        place === 0 ? 'warmed up\n' : `${episodes} episodes: ${figures.detect.body.created} chapters\n`,
      );
    }
    const [small, large] = all as [Figures, Figures];
    const total = ({ detect, synthesize }: Figures): number => detect.ms + synthesize.ms;
    const ratio = total(large) / total(small);
    process.stdout.write(
      `${''.padEnd(34)} ${String(small.episodes).padStart(12)} ${String(large.episodes).padStart(13)}\n`,
    );
    process.stdout.write(line('POST /chapters/detect', small.detect.ms, large.detect.ms));
    process.stdout.write(line('POST /chapters/detect, once more', small.again.ms, large.again.ms));
    process.stdout.write(line('POST /wisdom/synthesize', small.synthesize.ms, large.synthesize.ms));
    process.stdout.write(line('POST /files/check (median)', small.checkMs, large.checkMs));
    process.stdout.write(line('POST /files/check of every episode', small.hotCheckMs, large.hotCheckMs));
    for (const part of ['detect', 'again', 'synthesize'] as const)
      process.stdout.write(line(`longest stall, ${part}`, small[part].stallMs, large[part].stallMs));
    const verdicts = [
      [ratio <= RATIO_MAX, `${ratio.toFixed(1)} times for ten times as many (10 is linear), at most ${RATIO_MAX}`],
      [total(large) <= SECONDS_MAX * 1000, `${(total(large) / 1000).toFixed(1)} s in all, at most ${SECONDS_MAX}`],
      [large.checkMs <= CHECK_MS_MAX, `a file is checked in ${large.checkMs.toFixed(1)} ms, at most ${CHECK_MS_MAX}`],
      [
        large.hotCheckMs <= CHECK_MS_MAX,
        `a file that every episode touched is checked in ${large.hotCheckMs.toFixed(1)} ms, at most ${CHECK_MS_MAX}`,
      ],
    ] as const;
    for (const [holds, words] of verdicts) process.stdout.write(`${holds ? 'holds' : 'MISSED'}: ${words}\n`);
  } finally {
    await app.close();
  }
} finally {
  rmSync(directory, { recursive: true, force: true });
}
