import { existsSync, readdirSync } from 'node:fs';
import { Readable } from 'node:stream';
import type { ReadableStream } from 'node:stream/web';
import { parseArgs } from 'node:util';
import type { Static } from 'typebox';
import { type ChunkImportReport, TAR } from './contracts/chunk-import.js';
import { checkUrl, UsageError } from './prompt/arguments.js';
import { readDirectory, writeDirectory } from './tree/directory.js';
import { packTree, unpackTree } from './tree/tar.js';

/** `npm run chunks`: a directory of chunks into the service that is up already, or out of it. */

const USAGE = `Usage: npm run chunks -- import DIRECTORY [--repo NAME] [--url URL] [--dry-run]
       npm run chunks -- export DIRECTORY [--repo NAME] [--url URL]

  DIRECTORY     holds chunks/YYYY-MM/*.json, archive/*.json and index/*.json; an export wants an empty or a new one
  --repo NAME   the repo to work in (default: default)
  --url URL     the running service (default: LOCI_URL, else http://127.0.0.1:8787)
  --dry-run     import: read everything, and only say what would be done
  --help        this text

The exit code is 1 when nothing was done, and 2 when an import left something out.
`;

interface Task {
  readonly verb: string;
  readonly directory: string;
  readonly url: string;
  readonly query: URLSearchParams;
}

/** Null where only help is wanted. */
function readTask(given: readonly string[]): Task | null {
  const { positionals, values } = parse(given);
  if (values.help) return null;
  const [verb = '', directory] = positionals;
  if (!['import', 'export'].includes(verb) || directory === undefined || positionals.length > 2) {
    throw new UsageError('say import or export, and one directory');
  }
  const query = new URLSearchParams({ repo_id: values.repo ?? 'default' });
  if (values['dry-run']) query.set('dry_run', 'true');
  if (values['dry-run'] && verb === 'export') throw new UsageError('--dry-run is for an import');
  return { verb, directory, url: checkUrl(values.url ?? process.env.LOCI_URL), query };
}

function parse(args: readonly string[]) {
  try {
    const options = {
      repo: { type: 'string' },
      url: { type: 'string' },
      'dry-run': { type: 'boolean' },
      help: { type: 'boolean' },
    } as const;
    return parseArgs({ args: [...args], options, allowPositionals: true });
  } catch (error) {
    throw new UsageError((error as Error).message);
  }
}

async function bringIn({ directory, url, query }: Task): Promise<void> {
  if (!existsSync(directory)) throw new UsageError(`there is no directory ${directory}`);
  const body = Readable.toWeb(packTree(readDirectory(directory))) as unknown as RequestInit['body'];
  const request = { method: 'POST', headers: { 'content-type': TAR }, body, duplex: 'half' };
  const answer = await ask(`${url}/chunks/import?${query}`, request as RequestInit);
  const report = (await answer.json()) as Static<typeof ChunkImportReport>;
  process.stdout.write(`${JSON.stringify(report, null, 2)}\n`);
  if (report.skipped_count > 0 || !report.complete) process.exitCode = 2;
}

async function takeOut({ directory, url, query }: Task): Promise<void> {
  if (existsSync(directory) && readdirSync(directory).length > 0) {
    throw new UsageError(`${directory} is not empty: an export into it would mix two trees`);
  }
  const { body } = await ask(`${url}/chunks/export?${query}`);
  const files = await writeDirectory(directory, unpackTree(Readable.fromWeb(body as ReadableStream)));
  process.stdout.write(`${files} files written to ${directory}\n`);
}

/** The answer, if it is a good one. */
async function ask(address: string, request: RequestInit = {}): Promise<Response> {
  const answer = await fetch(address, request).catch((error: Error & { cause?: NodeJS.ErrnoException }) => {
    throw new Refused(
      `no service can be reached at ${address.split('/chunks')[0]} (${error.cause?.code ?? error.message})`,
    );
  });
  if (!answer.ok) throw new Refused(await answer.text());
  return answer;
}

class Refused extends Error {}

try {
  const task = readTask(process.argv.slice(2));
  if (task === null) process.stdout.write(USAGE);
  else await (task.verb === 'import' ? bringIn(task) : takeOut(task));
} catch (error) {
  if (!(error instanceof UsageError) && !(error instanceof Refused)) throw error;
  process.stderr.write(`${error.message}\n${error instanceof UsageError ? `\n${USAGE}` : ''}`);
  process.exitCode = 1;
}
