import { describe, expect, test } from 'vitest';
import type { Agent, Session } from '../../../src/domain/agents.js';
import type { Change } from '../../../src/domain/changes.js';
import {
  type EpisodeDetail,
  episodeContent,
  episodeWords,
  filesOf,
  type Layers,
} from '../../../src/domain/episodes.js';
import { typeOf } from '../../../src/domain/forms.js';
import { newNode } from '../../../src/domain/node.js';
import { viewOf } from '../../../src/domain/spaces.js';
import { indexTerms } from '../../../src/domain/terms.js';
import { ApplyConflict, type EpisodeFilter, type EpisodeOrder } from '../../../src/storage/port.js';
import { JWT_LAYERS } from '../../support/episodes.js';
import { idOf, move, OTHER_REPO, patch, REPO, START_MS } from '../../support/plans.js';
import { expectConflict, MANY, type Subject } from './subject.js';

const agentId = (number: number): string => `agent_${idOf(number)}`;
const sessionId = (number: number): string => `session_${idOf(number)}`;
const memId = (number: number): string => `mem_${idOf(number)}`;

const agent = (number: number, fields: Partial<Agent> = {}): Change => ({
  change: 'insert_agent',
  agent: {
    id: agentId(number),
    type: 'main',
    parentId: null,
    specialization: null,
    capabilities: ['sql'],
    metadata: { a: 1 },
    createdAtMs: START_MS,
    ...fields,
  },
});

const session = (number: number, of = 1, fields: Partial<Session> = {}): Change => ({
  change: 'insert_session',
  session: { id: sessionId(number), agentId: agentId(of), initialIntent: null, startedAtMs: START_MS, ...fields },
});

const end = (number: number, atMs: number, finalOutcome: string | null = null): Change => ({
  change: 'end_session',
  sessionId: sessionId(number),
  finalOutcome,
  atMs,
});

interface EpisodeFields {
  readonly of?: number;
  readonly in?: number;
  readonly layers?: object;
  readonly tags?: readonly string[];
  readonly importance?: number;
  readonly atMs?: number;
}

const layersOf = (more: object = {}): Layers =>
  ({
    intent: { goal: 'Warm the cache', task_type: 'other' },
    perception: null,
    reasoning: null,
    actions: null,
    outcome: { success: true, summary: 'It is warm' },
    ...more,
  }) as Layers;

const detailOf = (layers: Layers, of = 1, importance = 0.5): EpisodeDetail => ({
  form: 'episode',
  agentId: agentId(of),
  importance,
  layers,
});

function episode(number: number, fields: EpisodeFields = {}): Change {
  const layers = layersOf(fields.layers);
  const tags = fields.tags ?? [];
  const node = newNode({
    id: memId(number),
    form: 'episode',
    kind: layers.intent.task_type,
    type: typeOf('episode', layers.intent.task_type),
    repoId: REPO,
    content: episodeContent(layers),
    createdAtMs: fields.atMs ?? START_MS,
    tags,
    sessionId: sessionId(fields.in ?? 1),
    detail: detailOf(layers, fields.of, fields.importance),
    files: filesOf(layers),
  });
  return { change: 'insert_node', node, terms: indexTerms(episodeWords(layers, tags)) };
}

const ANY: EpisodeFilter = {
  agentId: null,
  sessionId: null,
  taskType: null,
  success: null,
  failureCategory: null,
  tags: [],
  file: null,
  sinceMs: null,
  beforeMs: null,
  includeArchived: false,
};

const failed = (category: string) => ({ outcome: { success: false, summary: 'No', failure_category: category } });
const onFile = (path: string) => ({
  actions: [{ type: 'file_edit', timestamp: 1, details: { file_path: path }, result: { success: true } }],
});

export function episodes(subject: Subject): void {
  const numbersOf = (found: readonly { id: string }[]): number[] => found.map(({ id }) => Number(id.slice(-12)));
  const listed = async (filter: Partial<EpisodeFilter> = {}, order: EpisodeOrder = 'recent'): Promise<number[]> =>
    numbersOf(await subject.store.listEpisodes(REPO, { ...ANY, ...filter }, order, null, MANY));

  describe('agents and sessions', () => {
    test('are given back as they were written, with what is counted about them', async () => {
      await subject.apply(agent(1, { specialization: 'backend' }), session(1, 1, { initialIntent: 'Begin' }));
      await subject.apply(agent(2, { type: 'subagent', parentId: agentId(1), createdAtMs: START_MS + 1 }));
      await subject.apply(episode(1), episode(2, { layers: failed('other') }), episode(3));
      expect(await subject.store.getAgent(REPO, agentId(1))).toEqual({
        id: agentId(1),
        type: 'main',
        parentId: null,
        specialization: 'backend',
        capabilities: ['sql'],
        metadata: { a: 1 },
        createdAtMs: START_MS,
        lastActiveAtMs: START_MS,
        sessions: 1,
        successes: 2,
        failures: 1,
      });
      expect(await subject.store.getAgent(REPO, agentId(2))).toMatchObject({ type: 'subagent', parentId: agentId(1) });
      expect(await subject.store.getSession(REPO, sessionId(1))).toEqual({
        id: sessionId(1),
        agentId: agentId(1),
        initialIntent: 'Begin',
        startedAtMs: START_MS,
        endedAtMs: null,
        finalOutcome: null,
        queries: 0,
        episodes: 3,
      });
    });

    test('the latest main agent is the one active last, and of the same moment the one that came last', async () => {
      expect(await subject.store.findLatestMain(REPO)).toBeNull();
      await subject.apply(agent(1), agent(2), session(1, 1), session(2, 2));
      expect(await subject.store.findLatestMain(REPO)).toBe(agentId(2));
      await subject.apply(episode(1, { of: 1, atMs: START_MS + 5 }));
      expect(await subject.store.findLatestMain(REPO)).toBe(agentId(1));
      await subject.apply(agent(3, { type: 'subagent', parentId: agentId(1), createdAtMs: START_MS + 9 }));
      expect(await subject.store.findLatestMain(REPO)).toBe(agentId(1));
    });

    test('the open session is the newest that was not ended, and a session ends once', async () => {
      await subject.apply(agent(1), session(1), session(2, 1, { startedAtMs: START_MS + 1 }));
      const open = async () => (await subject.store.findOpenSession(REPO, agentId(1)))?.id ?? null;
      expect(await open()).toBe(sessionId(2));
      await subject.apply(end(2, START_MS + 2, 'First'));
      await subject.apply(end(2, START_MS + 3, 'Second'));
      expect(await subject.store.getSession(REPO, sessionId(2))).toMatchObject({
        endedAtMs: START_MS + 2,
        finalOutcome: 'First',
      });
      expect(await open()).toBe(sessionId(1));
      await subject.apply(end(1, START_MS + 4));
      expect(await open()).toBeNull();
    });

    test('questions are counted at once, and kept over a restart', async () => {
      await subject.apply(agent(1), session(1));
      for (const _ of [1, 2]) subject.store.noteQuery(REPO, sessionId(1));
      expect((await subject.store.getSession(REPO, sessionId(1)))?.queries).toBe(2);
      await subject.reopen();
      subject.store.noteQuery(REPO, sessionId(1));
      expect((await subject.store.getSession(REPO, sessionId(1)))?.queries).toBe(3);
    });

    test('a plan that fails leaves none of them', async () => {
      const unknown = session(2, 9);
      await expectConflict(subject.apply(agent(1), session(1), unknown), 'node_missing');
      expect(await subject.store.getAgent(REPO, agentId(1))).toBeNull();
      expect(await subject.store.getSession(REPO, sessionId(1))).toBeNull();
      const orphan = agent(2, { type: 'subagent', parentId: agentId(9) });
      await expectConflict(subject.apply(agent(1), orphan), 'node_missing');
      await expectConflict(subject.apply(agent(1), session(1), episode(1, { of: 9 })), 'node_missing');
      expect(await subject.store.getAgent(REPO, agentId(1))).toBeNull();
    });

    test('are of their space only', async () => {
      await subject.apply(agent(1), session(1), episode(1));
      const { store } = subject;
      expect(await store.getAgent(OTHER_REPO, agentId(1))).toBeNull();
      expect(await store.findLatestMain(OTHER_REPO)).toBeNull();
      expect(await store.getSession(OTHER_REPO, sessionId(1))).toBeNull();
      expect(await store.findOpenSession(OTHER_REPO, agentId(1))).toBeNull();
      expect(await store.getEpisodes(OTHER_REPO, [memId(1)], true)).toEqual([]);
      expect(await store.listEpisodes(OTHER_REPO, ANY, 'recent', null, MANY)).toEqual([]);
    });
  });

  describe('an episode', () => {
    test('is given back as it was written, over a restart too', async () => {
      const layers = JWT_LAYERS as unknown as Layers;
      await subject.apply(agent(1), session(1), episode(1, { layers, tags: ['b', 'a'], importance: 0 }));
      const get = () => subject.store.getEpisodes(REPO, [memId(1), memId(2), memId(1)], false);
      const [shown, ...others] = await get();
      expect(others).toEqual([]);
      expect(shown).toMatchObject({
        id: memId(1),
        repoId: REPO,
        agentId: agentId(1),
        sessionId: sessionId(1),
        layers,
        tags: ['a', 'b'],
        importance: 0,
        files: [{ path: 'src/auth/interceptor.ts', operation: 'edit' }],
        accessCount: 0,
        lastAccessedAtMs: null,
        archivedAtMs: null,
        revision: 1,
      });
      await subject.reopen();
      expect(await get()).toEqual([shown]);
    });

    test('is changed with its detail, its files and its terms, and keeps whose it is and when it was', async () => {
      await subject.apply(agent(1), agent(2), session(1), episode(1, { layers: onFile('old.ts') }));
      const layers = layersOf({ ...onFile('new.ts'), ...failed('type_error') });
      const fields = {
        content: episodeContent(layers),
        terms: indexTerms('gondola'),
        tags: ['t'],
        detail: detailOf(layers, 1, 1),
        files: filesOf(layers),
      };
      await subject.apply(patch(memId(1), fields, { atMs: START_MS + 9 }));
      const [shown] = await subject.store.getEpisodes(REPO, [memId(1)], false);
      expect(shown).toMatchObject({ layers, importance: 1, agentId: agentId(1), createdAtMs: START_MS, revision: 2 });
      expect(await listed({ file: 'old.ts' })).toEqual([]);
      expect(await listed({ file: 'new.ts', failureCategory: 'type_error', tags: ['t'] })).toEqual([1]);
      await expect(subject.apply(patch(memId(1), fields, { expectedRevision: 1 }))).rejects.toThrow(ApplyConflict);
      expect((await subject.store.getEpisodes(REPO, [memId(1)], false))[0]?.revision).toBe(2);
    });

    test('in the archive is shown to whoever asks for the archive', async () => {
      await subject.apply(agent(1), session(1), episode(1), episode(2), move(memId(1)));
      expect(numbersOf(await subject.store.getEpisodes(REPO, [memId(1), memId(2)], false))).toEqual([2]);
      expect(await listed()).toEqual([2]);
      expect(await listed({ includeArchived: true })).toEqual([2, 1]);
    });

    test('that is removed takes its files, its tags and its counts along', async () => {
      await subject.apply(agent(1), session(1), episode(1, { layers: onFile('a.ts'), tags: ['t'] }));
      const purge: Change = {
        change: 'purge_node',
        nodeId: memId(1),
        repoId: REPO,
        expectedRevision: null,
        atMs: START_MS,
      };
      await subject.apply(purge);
      expect(await listed({ includeArchived: true })).toEqual([]);
      expect(await listed({ file: 'a.ts' })).toEqual([]);
      expect(await subject.store.getAgent(REPO, agentId(1))).toMatchObject({ successes: 0, failures: 0 });
      expect((await subject.store.getSession(REPO, sessionId(1)))?.episodes).toBe(0);
    });
  });

  describe('a list of episodes', () => {
    const furnish = () =>
      subject.apply(
        agent(1),
        agent(2),
        session(1),
        session(2, 2),
        episode(1, { tags: ['a', 'b'], importance: 0.9, atMs: START_MS }),
        episode(2, { of: 2, in: 2, tags: ['a'], importance: 0.1, atMs: START_MS + 1, layers: failed('other') }),
        episode(3, { importance: 0.9, atMs: START_MS + 1, layers: onFile('src/x_%.ts') }),
        episode(4, { importance: 0, atMs: START_MS + 2, layers: onFile('src/xab.ts') }),
      );

    test('is what every part of the filter fits', async () => {
      await furnish();
      const cases: [Partial<EpisodeFilter>, number[]][] = [
        [{}, [4, 3, 2, 1]],
        [{ agentId: agentId(2) }, [2]],
        [{ sessionId: sessionId(1) }, [4, 3, 1]],
        [{ taskType: 'other' }, [4, 3, 2, 1]],
        [{ taskType: 'bug_fix' }, []],
        [{ success: false }, [2]],
        [{ failureCategory: 'other' }, [2]],
        [{ tags: ['a'] }, [2, 1]],
        [{ tags: ['b', 'a'] }, [1]],
        [{ tags: ['a', 'c'] }, []],
        [{ file: 'src/x_%.ts' }, [3]],
        [{ file: 'x_%.ts' }, [3]],
        [{ file: 'src/*.ts' }, [4, 3]],
        [{ file: 'src/x_*' }, [3]],
        [{ file: 'ab.ts' }, []],
        [{ sinceMs: START_MS + 1 }, [4, 3, 2]],
        [{ beforeMs: START_MS + 1 }, [1]],
        [{ beforeMs: 0 }, []],
        [{ file: 'src/*', tags: ['a'] }, []],
        [{ sessionId: sessionId(1), tags: ['a'], success: true }, [1]],
      ];
      for (const [filter, expected] of cases) expect(await listed(filter), JSON.stringify(filter)).toEqual(expected);
    });

    test.each(['recent', 'importance', 'access_count'] as const)(
      'in the order %s goes on where it stopped, one by one',
      async (order) => {
        await furnish();
        subject.store.noteAccess(REPO, [memId(2), memId(3)], START_MS);
        subject.store.noteAccess(REPO, [memId(2)], START_MS);
        const whole = await listed({}, order);
        expect(whole).toEqual({ recent: [4, 3, 2, 1], importance: [3, 1, 2, 4], access_count: [2, 3, 4, 1] }[order]);
        const walked: number[] = [];
        let after: { value: number; seq: number } | null = null;
        for (;;) {
          const [next] = await subject.store.listEpisodes(REPO, ANY, order, after, 1);
          if (!next) break;
          walked.push(...numbersOf([next]));
          const value = { recent: next.createdAtMs, importance: next.importance, access_count: next.accessCount }[
            order
          ];
          after = { value, seq: next.seq };
        }
        expect(walked).toEqual(whole);
      },
    );

    test('by words has those that hold one of them, and that the filter fits', async () => {
      await subject.apply(
        agent(1),
        session(1),
        episode(1, { layers: { intent: { goal: 'Polish the zeppelin', task_type: 'other' } } }),
        episode(2, { layers: { intent: { goal: 'Sell the zeppelin', task_type: 'refactor' } } }),
        episode(3),
      );
      const [term] = indexTerms('zeppelin') as [string];
      const search = async (filter: Partial<EpisodeFilter>, pool = MANY) =>
        numbersOf(
          await subject.store.searchEpisodes(REPO, { any: [term], also: [] }, { ...ANY, ...filter }, pool),
        ).sort();
      expect(await search({})).toEqual([1, 2]);
      expect(await search({ taskType: 'refactor' })).toEqual([2]);
      expect(await search({ taskType: 'refactor' }, 1)).toEqual([2]);
      expect(await search({ taskType: 'bug_fix' })).toEqual([]);
      await subject.apply(move(memId(1)));
      expect(await search({})).toEqual([2]);
      const shown = await subject.store.getNodes(viewOf(REPO), [memId(1), memId(2)]);
      expect(numbersOf(shown)).toEqual([2]);
    });
  });
}
