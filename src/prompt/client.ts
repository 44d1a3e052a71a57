import type { Static } from 'typebox';
import type { ReplAnswer } from '../contracts/repl.js';
import type { Options } from './arguments.js';

/** What came of a snippet, as text that ends with its line. */
export interface Told {
  readonly isWell: boolean;
  readonly text: string;
}

export type RunSnippet = (code: string, signal?: AbortSignal) => Promise<Told>;

interface Refusal {
  readonly detail: string;
  readonly errors?: readonly { readonly field: string; readonly message: string }[];
}

/** Runs snippets in the service. It never rejects: what went wrong is told. */
export const snippetRunner =
  ({ url, repoId }: Pick<Options, 'url' | 'repoId'>): RunSnippet =>
  async (code, signal) => {
    try {
      const answer = await fetch(`${url}/repl?repo_id=${encodeURIComponent(repoId)}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ code }),
        ...(signal && { signal }),
      });
      return tell(url, answer.status, await answer.text());
    } catch (error) {
      if (signal?.aborted) return { isWell: false, text: 'No longer waited for; what it wrote may be stored.\n' };
      return { isWell: false, text: `No service can be reached at ${url} (${reasonOf(error)}): is it running?\n` };
    }
  };

/** Fetch says only that it failed; why is in what it wraps. */
function reasonOf(error: unknown): string {
  const { message, cause } = error as Error & { cause?: NodeJS.ErrnoException };
  return cause?.code ?? cause?.message ?? message;
}

export function tell(url: string, status: number, body: string): Told {
  const answer = parse(body);
  if (status === 200 && 'printed' in answer) return { isWell: true, text: formatAnswer(answer) };
  if ('detail' in answer) return { isWell: false, text: formatRefusal(answer) };
  return { isWell: false, text: `What answers at ${url} is no Loci that can run snippets (status ${status}).\n` };
}

function parse(body: string): Static<typeof ReplAnswer> | Refusal | Record<never, never> {
  try {
    return Object(JSON.parse(body));
  } catch {
    return {};
  }
}

export const formatAnswer = ({ printed, result }: Pick<Static<typeof ReplAnswer>, 'printed' | 'result'>): string =>
  harmless([...printed, JSON.stringify(result ?? null, null, 2)].map((line) => `${line}\n`).join(''));

export function formatRefusal({ detail, errors = [] }: Refusal): string {
  // A snippet's one error is its detail over again; the errors of fields are not.
  const more = errors.filter(({ message }) => message !== detail).map(({ field, message }) => `  ${field} ${message}`);
  return harmless([detail, ...more].map((line) => `${line}\n`).join(''));
}

/** Memories are anybody's text: what would steer the terminal is shown instead. */
const harmless = (text: string): string =>
  text.replace(/(?![\n\t])\p{Cc}/gu, (sign) => `\\u${sign.charCodeAt(0).toString(16).padStart(4, '0')}`);
