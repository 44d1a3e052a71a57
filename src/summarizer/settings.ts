/** Where summaries are asked for. */
export interface SummarizerSettings {
  /** Base address of an OpenAI-compatible endpoint, without a slash at its end. */
  readonly url: string;
  readonly model: string;
  readonly key: string | null;
}
