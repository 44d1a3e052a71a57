import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { sampleAnswers } from './answers.js';
import { type Child, startBare, startService } from './children.js';
import { Corpus } from './corpus.js';
import { fill } from './fill.js';
import { describeMachine } from './machine.js';
import { type Measured, measure } from './measure.js';
import { Progress } from './progress.js';
import { Random } from './random.js';
import { cautions, table, verdicts } from './report.js';
import { count, FULL, QUICK, type Size, type Stage, stagesOf } from './stages.js';
import { Vocabulary, WORDS } from './vocabulary.js';

/** How fast the built service is, as a share of what its framework could do at most. `--quick` while developing. */

const SEED = 20_260_101;

const { values: options } = parseArgs({ options: { quick: { type: 'boolean', default: false } } });
const size: Size = options.quick ? QUICK : FULL;
const progress = new Progress();
const say = (line: string): void => {
  progress.done();
  process.stdout.write(`${line}\n`);
};

async function measureStage(
  stage: Stage,
  directory: string,
  vocabulary: Vocabulary,
  random: Random,
): Promise<Measured[]> {
  const corpus = new Corpus(vocabulary, random);
  const databaseFile = join(directory, 'memory.db');
  const answersFile = join(directory, 'answers.json');
  const memories = stage.repos.reduce((sum, repo) => sum + repo.memories, 0);
  const startedAt = performance.now();
  const known = await fill(databaseFile, stage.repos, corpus, random, (written) =>
    progress.step(`filling: ${count(written)} of ${count(memories)} memories`),
  );
  say(`\n## ${stage.name}\n`);
  say(`- Filled with ${count(memories)} memories in ${((performance.now() - startedAt) / 1000).toFixed(1)} s`);

  const children: Child[] = [];
  try {
    const service = await startService(databaseFile);
    children.push(service);
    say(`- Start-up until ready: ${Math.round(service.readyMs)} ms; resident memory then ${mib(service)}`);
    const answers = await sampleAnswers(service.address, answersFile, corpus, known);
    say(
      `- Middle answers, which the bare route gives too: read ${count(answers.readBytes)} bytes with ` +
        `${answers.readItems} memories, write ${count(answers.writeBytes)} bytes`,
    );
    const bare = await startBare(answersFile);
    children.push(bare);
    const bench = { bare, real: service, corpus, known };
    const measured: Measured[] = [];
    for (const [name, cells] of [['reads', stage.reads] as const, ['writes', stage.writes] as const]) {
      measured.push(...(await measure(bench, cells, size.rounds, size.seconds, (text) => progress.step(text))));
      say(`- Resident memory after the ${name}: ${mib(service)}`);
    }
    return measured;
  } finally {
    for (const child of children) await child.stop();
  }
}

function mib(child: Child): string {
  const resident = child.residentMib();
  return resident === null ? 'not known on this system' : `${Math.round(resident)} MiB`;
}

async function main(): Promise<boolean> {
  const startedAt = performance.now();
  const directory = mkdtempSync(join(tmpdir(), 'loci-bench-'));
  process.on('exit', () => rmSync(directory, { recursive: true, force: true }));
  say(`# Speed\n\n${describeMachine(directory)}`);
  say(
    `Rounds: ${size.rounds} of ${size.seconds} s for each cell, the bare route and the service in turn; ${count(WORDS)} words.`,
  );
  const vocabulary = new Vocabulary(SEED);
  const measured: Measured[] = [];
  for (const [index, stage] of stagesOf(size).entries()) {
    const stageDirectory = mkdtempSync(join(directory, 'store-'));
    measured.push(...(await measureStage(stage, stageDirectory, vocabulary, new Random(SEED + index))));
    rmSync(stageDirectory, { recursive: true });
  }
  say(`\n## Results\n\n${table(measured)}\n`);
  const judged = verdicts(measured, size.largeMemories);
  for (const { text, holds } of judged) say(`- ${holds ? 'holds' : 'MISSED'}: ${text}`);
  for (const caution of cautions(measured)) say(`- caution: ${caution}`);
  say(`\nTook ${Math.round((performance.now() - startedAt) / 1000)} s.`);
  return judged.every(({ holds }) => holds);
}

// An interrupted run leaves neither processes nor files behind: both are cleared when this process exits.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(130));
process.exit((await main()) ? 0 : 1);
