import type { EntryLimit, EntryType } from '../domain/entries.js';
import type { RetentionSettings } from '../domain/retention.js';
import type { Sandbox } from '../sandbox/sandbox.js';
import type { Store } from '../storage/port.js';
import type { Summarizer } from '../summarizer/port.js';

/** What every service works with. Clock and ids are passed in, so that tests decide them. */
export interface Context {
  readonly store: Store;
  readonly now: () => number;
  readonly newId: () => string;
  /** The kinds of memory that must name at least one piece of evidence. */
  readonly evidenceKinds: ReadonlySet<string>;
  /** How much a journal may hold of each type. */
  readonly journalLimits: Readonly<Record<EntryType, EntryLimit>>;
  /** When what nobody needs any more is put away. */
  readonly retention: RetentionSettings;
  /** How often that is done by itself; 0 for never. */
  readonly sweepEveryMs: number;
  /** Words summaries, where there is one that can. */
  readonly summarizer: Summarizer;
  /** Where snippets run. */
  readonly sandbox: Pick<Sandbox, 'run' | 'close'>;
}
