import { readConfig } from '../src/config.js';
import { toBatchOperations } from '../src/contracts/batch.js';
import { openSandbox } from '../src/sandbox/open.js';
import { changeMemories } from '../src/services/memory.js';
import { openStore } from '../src/storage/open.js';
import { NO_SUMMARIZER } from '../src/summarizer/port.js';
import { type Corpus, KNOWN_MAX, type Known } from './corpus.js';
import type { Random } from './random.js';

const STORIES_PER_BATCH = 10;
const STORY_MEMORIES = 10;
const EPOCH_MS = Date.parse('2026-01-01T00:00:00.000Z');

export interface RepoPlan {
  readonly repoId: string;
  readonly memories: number;
}

/**
 * Fills a store before the service opens it, through the same planning and the same commits of about a hundred memories as
 * `POST /memory/batch`, but without HTTP in between. Answers the ids that later writes may refer to.
 */
export async function fill(
  file: string,
  repos: readonly RepoPlan[],
  corpus: Corpus,
  random: Random,
  progress: (memories: number) => void,
): Promise<Map<string, Known>> {
  const config = readConfig({ RLM_MEMORY_DB: file });
  let nowMs = EPOCH_MS;
  const store = openStore(config, () => nowMs);
  const sandbox = openSandbox(new URL('../dist/sandbox/worker.js', import.meta.url));
  const summarizer = NO_SUMMARIZER;
  const context = {
    ...config,
    store,
    now: () => nowMs,
    newId: () => random.id(),
    sandbox,
    summarizer,
  };
  const known = new Map<string, Known>();
  let written = 0;
  try {
    for (const { repoId, memories } of repos) {
      const ids: Known = { problems: [], facts: [] };
      known.set(repoId, ids);
      for (let done = 0; done < memories; done += STORIES_PER_BATCH * STORY_MEMORIES) {
        const items = Array.from({ length: STORIES_PER_BATCH }, (_, story) => corpus.story(`s${story}-`)).flat();
        nowMs += 1_000;
        const outcomes = await changeMemories(
          context,
          repoId,
          toBatchOperations({ repo_id: repoId, items }),
          'commit',
          null,
        );
        for (const { memoryId, memory } of outcomes) {
          if (memory?.memory.kind === 'problem' && ids.problems.length < KNOWN_MAX) ids.problems.push(memoryId);
          if (memory?.memory.kind === 'fact' && ids.facts.length < KNOWN_MAX) ids.facts.push(memoryId);
        }
        written += STORIES_PER_BATCH * STORY_MEMORIES;
        progress(written);
      }
    }
  } finally {
    await store.close();
  }
  return known;
}
