import { text } from 'node:stream/consumers';
import { type Options, readOptions, USAGE, UsageError } from './prompt/arguments.js';
import { type RunSnippet, snippetRunner } from './prompt/client.js';
import { Conversation } from './prompt/conversation.js';
import { History } from './prompt/history.js';

/** `npm run repl`: snippets typed at a terminal or piped in, run by the service that is up already. */
async function main(): Promise<number> {
  const options = readOptions(process.argv.slice(2), process.env);
  if (options.wantsHelp) {
    process.stdout.write(USAGE);
    return 0;
  }
  const run = snippetRunner(options);
  return process.stdin.isTTY ? converse(options, run) : runPiped(run);
}

async function converse({ url, repoId, historyFile }: Options, run: RunSnippet): Promise<number> {
  process.stdout.write(`Loci at ${url}, repo ${repoId}. .help lists the functions, .exit ends.\n`);
  await new Conversation(process.stdin, process.stdout, run, new History(historyFile)).hold();
  return 0;
}

async function runPiped(run: RunSnippet): Promise<number> {
  const told = await run(await text(process.stdin));
  (told.isWell ? process.stdout : process.stderr).write(told.text);
  return told.isWell ? 0 : 1;
}

try {
  // Not by exit(): what was written to a pipe has to get through first.
  process.exitCode = await main();
} catch (error) {
  if (!(error instanceof UsageError)) throw error;
  process.stderr.write(`${error.message}\n\n${USAGE}`);
  process.exitCode = 1;
}
