import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { TASK_TYPES } from '../../src/domain/vocabulary.js';
import { EpisodeClient, type EpisodeReport } from '../support/episodes.js';
import { type ChapterReport, MINUTE_MS, NarrativeClient, type Told, told } from '../support/narratives.js';
import { stored } from '../support/rows.js';
import { type Service, startService } from '../support/service.js';

const RUN = { seed: 20_260_104, numRuns: 30 };

let service: Service;
let repos = 0;
beforeAll(async () => {
  service = await startService();
});
afterAll(() => service.stop());

const LESSONS = [
  'Oil it',
  'oil it!',
  'Do not oil it',
  'Always test',
  'Use port 80',
  'Use port 8080',
  ' ',
  '数据',
  'Ship it.',
];

/** Few words, so that much belongs together and says the same. */
const anyEpisode: fc.Arbitrary<Told & { waitMinutes: number }> = fc.record({
  goal: fc.constantFrom('Fix the pump', 'fix the pump', 'Fix the tap', '🙂', 'A; b. C!'),
  summary: fc.constantFrom('It runs', 'It stands.', 'Fix the pump'),
  task: fc.constantFrom(...TASK_TYPES.slice(0, 3)),
  learned: fc.array(fc.constantFrom(...LESSONS), { maxLength: 4 }),
  files: fc.uniqueArray(fc.constantFrom('a.ts', 'b.ts', 'c.ts'), { maxLength: 2 }),
  tags: fc.uniqueArray(fc.constantFrom('x', 'y', '"%', 'work:1'), { maxLength: 2 }),
  importance: fc.constantFrom(0, 0.5, 1),
  waitMinutes: fc.constantFrom(0, 1, 120, 300, 1_000),
});
const anyEpisodes = fc.array(anyEpisode, { minLength: 1, maxLength: 14, size: 'max' });
const anySettings = fc.record({ min_memories: fc.constantFrom(2, 3), gap_hours: fc.constantFrom(1, 4, 24) });

interface Project {
  readonly episodes: EpisodeClient;
  readonly narratives: NarrativeClient;
  readonly agentId: string;
}

async function newProject(): Promise<Project> {
  const repoId = `chapters/${++repos}`;
  const episodes = new EpisodeClient(service, repoId);
  return { episodes, narratives: new NarrativeClient(service, repoId), agentId: (await episodes.register()).agent.id };
}

async function store({ episodes, agentId }: Project, all: readonly (Told & { waitMinutes: number })[]) {
  const made: EpisodeReport[] = [];
  for (const { waitMinutes, ...one } of all) {
    made.push(await episodes.store(agentId, told(one)));
    service.clock.advance(waitMinutes * MINUTE_MS);
  }
  return made;
}

/** What every chapter owes to its members. */
function expectFaithful(chapter: ChapterReport, byId: ReadonlyMap<string, EpisodeReport>): void {
  const members = chapter.memory_ids.map((id) => byId.get(id) as EpisodeReport);
  const times = members.map(({ created_at }) => created_at);
  expect(times).toEqual(times.toSorted((a, b) => a - b));
  expect([chapter.start_ts, chapter.end_ts]).toEqual([times[0], times.at(-1)]);
  for (const { text, source_ids } of chapter.sources.learnings) {
    expect(source_ids.every((id) => chapter.memory_ids.includes(id))).toBe(true);
    expect(byId.get(source_ids[0] as string)?.outcome.learnings).toContain(text);
  }
  expect(chapter.learnings).toEqual(chapter.sources.learnings.map(({ text }) => text));
  expect(new Set(chapter.learnings).size).toBe(chapter.learnings.length);
}

/** A run after which another changes nothing, not even a row. */
async function expectSettled({ narratives }: Project, settings: object): Promise<void> {
  const { chapters: first } = await narratives.detect(settings);
  const before = stored(service, narratives.repoId);
  service.clock.advance(MINUTE_MS);
  const second = await narratives.detect(settings);
  expect(second).toMatchObject({ created: 0, updated: 0, archived: 0 });
  expect(second.chapters.map(({ chapter_id, memory_ids }) => [chapter_id, memory_ids])).toEqual(
    first.filter(({ action }) => action !== 'archived').map(({ chapter_id, memory_ids }) => [chapter_id, memory_ids]),
  );
  expect(stored(service, narratives.repoId)).toEqual(before);
}

test('whatever is stored, finding chapters twice changes nothing more, and each says what its members say', async () => {
  await fc.assert(
    fc.asyncProperty(anyEpisodes, anyEpisodes, anySettings, async (earlier, later, settings) => {
      const project = await newProject();
      const made: EpisodeReport[] = [];
      for (const all of [earlier, later]) {
        made.push(...(await store(project, all)));
        await expectSettled(project, settings);
        const byId = new Map(made.map((episode) => [episode.id, episode]));
        const chapters = await project.narratives.allChapters();
        for (const chapter of chapters) expectFaithful(chapter, byId);
      }
    }),
    RUN,
  );
});

test('whatever is then changed, put away or removed, it settles again, and says what is left', async () => {
  const anyStep = fc.record({
    step: fc.constantFrom('archive' as const, 'purge' as const, 'patch' as const),
    at: fc.nat(30),
    learned: fc.array(fc.constantFrom(...LESSONS), { maxLength: 2 }),
  });
  await fc.assert(
    fc.asyncProperty(
      anyEpisodes,
      fc.array(anyStep, { minLength: 1, maxLength: 5 }),
      anySettings,
      async (all, steps, settings) => {
        const project = await newProject();
        const { episodes, narratives } = project;
        const made = await store(project, all);
        await narratives.detect(settings);
        const purged = new Set<string>();
        for (const { step, at, learned } of steps) {
          const { id } = made[at % made.length] as EpisodeReport;
          if (purged.has(id)) continue;
          if (step === 'patch') await episodes.patch(id, { outcome: { learnings: learned } });
          else await episodes.remove(id, { permanent: step === 'purge' });
          if (step === 'purge') purged.add(id);
        }
        await expectSettled(project, settings);
        const left = await episodes.allEpisodes({ include_archived: true, depth: 'complete' });
        const byId = new Map(left.map((episode) => [episode.id, episode]));
        const told = new Set((await narratives.detect(settings)).chapters.map(({ chapter_id }) => chapter_id));
        for (const chapter of await narratives.allChapters()) {
          expect(chapter.memory_ids.every((id) => byId.has(id))).toBe(true);
          // One that is too small to be found by now is told anew when it grows.
          if (told.has(chapter.id)) expectFaithful(chapter, byId);
        }
      },
    ),
    RUN,
  );
});
