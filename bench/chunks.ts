import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { FastifyInstance } from 'fastify';
import { describeMachine } from './machine.js';
import { openApp } from './open.js';
import { Random } from './random.js';
import { median } from './statistics.js';
import { timed } from './timed.js';
import { Vocabulary } from './vocabulary.js';

/** What one more chunk costs in a long conversation, and what a long text costs everybody else. */

const SEED = 20_260_210;
const CONVERSATION_CHUNKS = 10_000;
/** So many additions are timed at either end of the conversation, in turns. */
const TIMED = 300;
const RATIO_MAX = 2;
const TEXT_BYTES = 1_000_000;
const STALL_MS_MAX = 250;
const RECALLS = 200;

const vocabulary = new Vocabulary(SEED);
const random = new Random(SEED);

async function add(app: FastifyInstance, conversation: string): Promise<number> {
  const payload = {
    content: vocabulary.text(random),
    conversation_id: conversation,
    tags: [`tag-${random.between(0, 20)}`],
  };
  const startedAt = performance.now();
  const answer = await app.inject({ method: 'POST', url: '/chunks', payload });
  const ms = performance.now() - startedAt;
  if (answer.statusCode !== 201) throw new Error(`unexpected answer ${answer.body}`);
  return ms;
}

const directory = mkdtempSync(join(tmpdir(), 'loci-bench-'));
try {
  process.stdout.write(`${describeMachine(directory)}\n`);
  const { app } = await openApp(directory, random);
  try {
    for (let count = 0; count < CONVERSATION_CHUNKS; count++) await add(app, 'long');
    const [short, long]: [number[], number[]] = [[], []];
    // In turns, so that what disturbs the machine disturbs both alike; each short one is the second of its conversation.
    for (let count = 0; count < TIMED; count++) {
      await add(app, `short ${count}`);
      short.push(await add(app, `short ${count}`));
      long.push(await add(app, 'long'));
    }
    const edges = await app.inject({ url: '/chunks/stats' });
    const text = Array.from({ length: TEXT_BYTES / 200 }, () => vocabulary.text(random))
      .join('\n\n')
      .slice(0, TEXT_BYTES);
    await timed(app, {
      method: 'POST',
      url: '/chunks/remember',
      payload: { content: 'Warm.', conversation_id: 'text' },
    });
    const remember = await timed(app, {
      method: 'POST',
      url: '/chunks/remember',
      payload: { content: text, conversation_id: 'text' },
    });
    const recalls: number[] = [];
    for (let count = 0; count < RECALLS; count++) {
      const startedAt = performance.now();
      await app.inject({ method: 'POST', url: '/chunks/recall', payload: { query: vocabulary.query(random) } });
      recalls.push(performance.now() - startedAt);
    }
    const ratio = median(long) / median(short);
    process.stdout.write(
      `a conversation of ${CONVERSATION_CHUNKS}: one more takes ${median(long).toFixed(2)} ms, the second of a new one ${median(short).toFixed(2)} ms\n` +
        `${JSON.stringify(edges.json())}\n` +
        `${text.length} characters: ${remember.body.chunks_created} chunks in ${remember.ms.toFixed(0)} ms, longest stall ${remember.stallMs.toFixed(0)} ms\n` +
        `POST /chunks/recall (median): ${median(recalls).toFixed(2)} ms\n`,
    );
    const verdicts = [
      [
        ratio <= RATIO_MAX,
        `one more of ${CONVERSATION_CHUNKS} costs ${ratio.toFixed(2)} times the second, at most ${RATIO_MAX}`,
      ],
      [
        remember.stallMs <= STALL_MS_MAX,
        `others wait ${remember.stallMs.toFixed(0)} ms at the most, at most ${STALL_MS_MAX}`,
      ],
    ] as const;
    for (const [holds, words] of verdicts) process.stdout.write(`${holds ? 'holds' : 'MISSED'}: ${words}\n`);
  } finally {
    await app.close();
  }
} finally {
  rmSync(directory, { recursive: true, force: true });
}
