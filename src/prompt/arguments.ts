import { homedir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';

export interface Options {
  readonly url: string;
  readonly repoId: string;
  /** Where typed lines are kept; null keeps none. */
  readonly historyFile: string | null;
  readonly wantsHelp: boolean;
}

/** The prompt was started in a way that it cannot make sense of. */
export class UsageError extends Error {}

const URL_DEFAULT = 'http://127.0.0.1:8787';

export const USAGE = `Usage: npm run repl -- [--repo NAME] [--url URL]

  --repo NAME   the repo to work in (default: default)
  --url URL     the running service (default: LOCI_URL, else ${URL_DEFAULT})
  --help        this text

A snippet that is piped in is run as a whole: the exit code is 1 when it failed.
LOCI_HISTORY moves the history from ~/.loci_history; empty keeps none.
`;

export function readOptions(given: readonly string[], environment: NodeJS.ProcessEnv): Options {
  const { url, repo, help } = parse(given);
  return {
    url: checkUrl(url ?? environment.LOCI_URL),
    repoId: repo ?? 'default',
    historyFile: (environment.LOCI_HISTORY ?? join(homedir(), '.loci_history')) || null,
    wantsHelp: help ?? false,
  };
}

function parse(given: readonly string[]): { url?: string; repo?: string; help?: boolean } {
  try {
    const options = { url: { type: 'string' }, repo: { type: 'string' }, help: { type: 'boolean' } } as const;
    return parseArgs({ args: [...given], options }).values;
  } catch (error) {
    throw new UsageError((error as Error).message);
  }
}

/** Without the slash that may end it, so that paths can be put behind it. The usual address where none is named. */
export function checkUrl(given: string | undefined): string {
  const text = given || URL_DEFAULT;
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url === null || !/^https?:$/.test(url.protocol)) {
    throw new UsageError(`${JSON.stringify(text)} is no address of a service; one looks like ${URL_DEFAULT}`);
  }
  return `${url.origin}${url.pathname.replace(/\/+$/, '')}`;
}
