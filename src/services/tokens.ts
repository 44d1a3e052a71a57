/** Counts the tokens of a text, but no further than to `max` + 1. */
export type TokenCounter = (text: string, max: number) => number;

/** A memory that quotes a control token of a model is text like any other. */
const PLAIN_TEXT = { disallowedSpecial: new Set<string>() };

/** Loaded when somebody first asks for a token budget: the vocabulary costs a fifth of a second and 60 MB. */
export async function loadTokenCounter(): Promise<TokenCounter> {
  const { countTokens } = await import('gpt-tokenizer');
  return (text, max) => {
    let tokens = 0;
    for (const slice of slices(text)) {
      tokens += countTokens(slice, PLAIN_TEXT);
      if (tokens > max) return max + 1;
    }
    return tokens;
  };
}

/**
 * Merging byte pairs takes time quadratic in the length of an unbroken run, half a minute for 100,000 ideographs. Slices keep it
 * linear; cut before a blank, where a token never continues, they leave the count of ordinary text as it is.
 */
const SLICE_CHARACTERS_MAX = 256;

function* slices(text: string): Generator<string> {
  let start = 0;
  while (start < text.length) {
    let end = start + SLICE_CHARACTERS_MAX;
    if (end < text.length) {
      const blank = text.lastIndexOf(' ', end);
      if (blank > start) end = blank;
      else if (isHighSurrogate(text.charCodeAt(end - 1))) end--;
    }
    yield text.slice(start, end);
    start = end;
  }
}

const isHighSurrogate = (code: number): boolean => code >= 0xd800 && code <= 0xdbff;
