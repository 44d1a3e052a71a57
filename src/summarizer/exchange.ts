import { Failure } from './failure.js';

const BODY_BYTES_MAX = 1024 * 1024;

interface Post {
  readonly url: string;
  readonly key: string | null;
  readonly body: object;
  readonly timeoutMs: number;
}

/** Posts and gives back the answer's body. Throws a failure unless it is a whole, small text with status 200, in time. */
export function exchange({ timeoutMs, ...post }: Post): Promise<string> {
  return within(timeoutMs, async (signal) => bodyOf(await send(post, signal)));
}

async function send({ url, key, body }: Omit<Post, 'timeoutMs'>, signal: AbortSignal): Promise<Response> {
  return fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...(key !== null && { authorization: `Bearer ${key}` }) },
    body: JSON.stringify(body),
    // The operator named one place to which memories may go. A redirect would send them to another.
    redirect: 'manual',
    signal,
  }).catch((error) => {
    throw new Failure(`it cannot be reached${codeOf(error)}`);
  });
}

async function bodyOf({ status, body }: Response): Promise<string> {
  if (status !== 200) throw new Failure(`it answered with status ${status}`);
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  try {
    for await (const chunk of body ?? []) {
      bytes += chunk.byteLength;
      if (bytes > BODY_BYTES_MAX) throw new Failure(`its answer is larger than ${BODY_BYTES_MAX} bytes`);
      chunks.push(chunk);
    }
  } catch (error) {
    throw error instanceof Failure ? error : new Failure(`its answer broke off${codeOf(error)}`);
  }
  return decode(Buffer.concat(chunks));
}

function decode(bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw new Failure('its answer is no text in UTF-8');
  }
}

/** Ends the work when the time is up, and afterwards lets go of whatever of the answer nobody read. */
async function within<Result>(timeoutMs: number, work: (signal: AbortSignal) => Promise<Result>): Promise<Result> {
  const controller = new AbortController();
  let timer: NodeJS.Timeout | undefined;
  const timeUp = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Failure(`it did not answer within ${timeoutMs} ms`)), timeoutMs);
  });
  try {
    return await Promise.race([work(controller.signal), timeUp]);
  } finally {
    clearTimeout(timer);
    controller.abort();
  }
}

/** Only the code of what went wrong is told: a message of fetch may quote the header that holds the key. */
function codeOf(error: unknown): string {
  const code = (error as { cause?: { code?: unknown } }).cause?.code;
  return typeof code === 'string' ? ` (${code})` : '';
}
