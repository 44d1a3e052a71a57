import type { FileUse, Layers } from './episodes.js';

/** An episode as the rules of chapters see it. */
export interface EpisodeSketch {
  readonly id: string;
  readonly createdAtMs: number;
  readonly goal: string;
  readonly taskType: string;
  readonly success: boolean;
  readonly summary: string;
  readonly failureReason: string | null;
  readonly learnings: readonly string[];
  readonly tags: readonly string[];
  readonly files: readonly string[];
  readonly importance: number;
}

/** A chapter as the rules of wisdom see it. */
export interface ChapterSketch {
  readonly id: string;
  readonly summary: string;
  readonly learnings: readonly string[];
  readonly tags: readonly string[];
  readonly topics: readonly string[];
  readonly startMs: number;
  readonly endMs: number;
}

/** What of an episode bears on what it is told with. */
export const toSketch = (episode: {
  readonly id: string;
  readonly createdAtMs: number;
  readonly layers: Layers;
  readonly tags: readonly string[];
  readonly files: readonly FileUse[];
  readonly importance: number;
}): EpisodeSketch => ({
  id: episode.id,
  createdAtMs: episode.createdAtMs,
  goal: episode.layers.intent.goal,
  taskType: episode.layers.intent.task_type,
  success: episode.layers.outcome.success,
  summary: episode.layers.outcome.summary,
  failureReason: episode.layers.outcome.failure_reason ?? null,
  learnings: episode.layers.outcome.learnings ?? [],
  tags: episode.tags,
  files: episode.files.map(({ path }) => path),
  importance: episode.importance,
});

/** Equal ages go by id, so that the order in which episodes were found does not matter. */
export const oldestFirst = (a: EpisodeSketch, b: EpisodeSketch): number =>
  a.createdAtMs - b.createdAtMs || (a.id < b.id ? -1 : 1);

/** Each word with those that have it, in their order. Each counts once, however often it has the word. */
export function holdersOf<Sketch>(
  sketches: readonly Sketch[],
  wordsOf: (sketch: Sketch) => readonly string[],
): Map<string, Sketch[]> {
  const holders = new Map<string, Sketch[]>();
  for (const sketch of sketches) {
    for (const word of new Set(wordsOf(sketch))) {
      const held = holders.get(word);
      if (held) held.push(sketch);
      else holders.set(word, [sketch]);
    }
  }
  return holders;
}
