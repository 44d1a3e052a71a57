import { type EndpointDependencies, EndpointSummarizer } from './endpoint.js';
import { NO_SUMMARIZER, type Summarizer } from './port.js';
import type { SummarizerSettings } from './settings.js';

const TIMEOUT_MS = 10_000;

/** The summarizer of the service: none unless there are settings for one. It asks nobody until it is used. */
export const openSummarizer = (
  settings: SummarizerSettings | null,
  dependencies: Omit<EndpointDependencies, 'timeoutMs'>,
): Summarizer =>
  settings === null ? NO_SUMMARIZER : new EndpointSummarizer(settings, { ...dependencies, timeoutMs: TIMEOUT_MS });
