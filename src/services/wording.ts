import { NO_SUMMARIZER } from '../summarizer/port.js';
import type { Context } from './context.js';

/** How long one request waits for the summarizer in all; an answer that is under way by then is still waited for. */
const WAITED_MS_MAX = 20_000;

/** The context of one request: a summarizer that is slow words the first texts, and the service itself words the others. */
export function withPatience(context: Context): Context {
  let waitedMs = 0;
  return {
    ...context,
    summarizer: {
      summarize: async (...asked) => {
        if (waitedMs >= WAITED_MS_MAX) return null;
        const begunMs = context.now();
        const text = await context.summarizer.summarize(...asked);
        // A clock that was set back gives no time back.
        waitedMs += Math.max(0, context.now() - begunMs);
        return text;
      },
    },
  };
}

/** The context of what nobody is to wait for. */
export const withoutSummarizer = (context: Context): Context => ({ ...context, summarizer: NO_SUMMARIZER });
