import { Breaker, FAILURES_MAX, REST_MS } from './breaker.js';
import { exchange } from './exchange.js';
import { Failure } from './failure.js';
import type { Subject, Summarizer } from './port.js';
import { promptFor } from './prompt.js';
import { readReply } from './reply.js';
import type { SummarizerSettings } from './settings.js';

/** Enough for any text that is kept, and below what common models refuse to be asked for. */
const TOKENS_MAX = 2_000;

export interface EndpointDependencies {
  readonly now: () => number;
  /** Told in plain words why there is no summary. The key is never among them. */
  readonly onFailure: (reason: string) => void;
  /** How long the whole exchange may take, the answer's body included. */
  readonly timeoutMs: number;
}

/** Asks an OpenAI-compatible chat endpoint. */
export class EndpointSummarizer implements Summarizer {
  readonly #settings: SummarizerSettings;
  readonly #dependencies: EndpointDependencies;
  readonly #breaker: Breaker;

  constructor(settings: SummarizerSettings, dependencies: EndpointDependencies) {
    this.#settings = settings;
    this.#dependencies = dependencies;
    this.#breaker = new Breaker(dependencies.now);
  }

  async summarize(subject: Subject, lines: readonly string[], charactersMax: number): Promise<string | null> {
    const hasNothingToSay = charactersMax < 1 || lines.every((line) => line.trim() === '');
    if (hasNothingToSay || !this.#breaker.admits()) return null;
    try {
      const text = await this.#ask(subject, lines, charactersMax);
      this.#breaker.succeed();
      return text;
    } catch (error) {
      this.#fail(error);
      return null;
    }
  }

  async #ask(subject: Subject, lines: readonly string[], charactersMax: number): Promise<string> {
    const { url, model, key } = this.#settings;
    const body = {
      model,
      messages: promptFor(subject, lines, charactersMax),
      temperature: 0,
      // A token is seldom less than a character: what would have fitted is not broken off.
      max_tokens: Math.min(charactersMax, TOKENS_MAX),
    };
    const { timeoutMs } = this.#dependencies;
    return readReply(await exchange({ url: `${url}/chat/completions`, key, body, timeoutMs }), charactersMax);
  }

  #fail(error: unknown): void {
    const reason = error instanceof Failure ? error.message : 'it failed in a way that was not foreseen';
    const rests = this.#breaker.fail();
    const rest = `; after ${FAILURES_MAX} failures in a row it is not asked for ${REST_MS / 1000} seconds`;
    this.#dependencies.onFailure(rests ? reason + rest : reason);
  }
}
