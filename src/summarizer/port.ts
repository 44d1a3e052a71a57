/** What can be summed up: episodes into a chapter, chapters into a wisdom. */
export type Subject = 'chapter' | 'wisdom';

/** Words a text better than the service can by rules alone. It may be absent, slow or wrong, and nothing depends on it. */
export interface Summarizer {
  /** One text that says what the lines say, or null when there is none to be had: the caller then uses its own. Never throws. */
  summarize(subject: Subject, lines: readonly string[], charactersMax: number): Promise<string | null>;
}

/** The summarizer of a service that has none. */
export const NO_SUMMARIZER: Summarizer = { summarize: async () => null };
