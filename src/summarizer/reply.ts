import { cutToFit } from './cut.js';
import { Failure } from './failure.js';

interface Choice {
  readonly message?: { readonly content?: unknown } | null;
  readonly finish_reason?: unknown;
}

/** The text in the body of a chat completion, cut to what fits. Throws a failure when there is none that can be kept. */
export function readReply(body: string, charactersMax: number): string {
  const choice = firstChoice(body);
  const content = choice?.message?.content;
  if (typeof content !== 'string') throw new Failure('its answer holds no text');
  if (content.includes('\0') || !content.isWellFormed())
    throw new Failure('its text holds a NUL character or half of a surrogate pair');
  const text = content.trim();
  // A text that ran out of tokens ends in the middle of something. Short of its last character it is cut at a better place.
  const fitting = cutToFit(
    text,
    choice?.finish_reason === 'length' ? Math.min(charactersMax, text.length - 1) : charactersMax,
  );
  if (fitting === '') throw new Failure('its text is empty, or none of it fits');
  return fitting;
}

function firstChoice(body: string): Choice | undefined {
  try {
    // Whatever was sent, its parts are asked for and not trusted to be there.
    const choices: unknown = Object(JSON.parse(body)).choices;
    return Array.isArray(choices) ? Object(choices[0]) : undefined;
  } catch {
    throw new Failure('its answer is no JSON');
  }
}
