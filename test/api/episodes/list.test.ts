import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { actionOf, EpisodeClient, type EpisodeReport, intentOf, outcomeOf } from '../../support/episodes.js';
import { expectRefused, idsOf } from '../../support/nodes.js';
import { type Service, startService } from '../../support/service.js';
import { times } from '../../support/together.js';

let service: Service;
let client: EpisodeClient;
beforeAll(async () => {
  service = await startService();
  client = new EpisodeClient(service);
});
afterAll(() => service.stop());

/** A project of its own, with four episodes that differ in everything, a second apart. */
async function furnish(repoId: string) {
  const own = new EpisodeClient(service, repoId);
  const ada = await own.register();
  const bob = await own.register();
  const second = (await own.resume(ada.agent.id)).session;
  const made: EpisodeReport[] = [];
  for (const [agentId, fields] of [
    [ada.agent.id, { session_id: ada.session.id, tags: ['a', 'b'], importance: 0.9 }],
    [ada.agent.id, { session_id: second.id, tags: ['a'], intent: intentOf({ task_type: 'bug_fix' }), importance: 0 }],
    [
      bob.agent.id,
      {
        tags: ['b'],
        outcome: outcomeOf({ success: false, failure_category: 'type_error' }),
        importance: 0.9,
        actions: [actionOf({ details: { file_path: 'src/a.ts' } })],
      },
    ],
    [bob.agent.id, { outcome: outcomeOf({ success: false, failure_category: 'other' }), importance: 0.4 }],
  ] as const) {
    service.clock.advance(1_000);
    made.push(await own.store(agentId, fields));
  }
  return { own, ada, bob, second, made: made as [EpisodeReport, EpisodeReport, EpisodeReport, EpisodeReport] };
}

describe('3e.7 every filter of a list changes the result', () => {
  let world: Awaited<ReturnType<typeof furnish>>;
  beforeAll(async () => {
    world = await furnish('acme/filters');
  });

  /** Which of the four are left, by their numbers, newest first. */
  const left = async (query: Record<string, string | number | boolean>): Promise<number[]> =>
    idsOf(await world.own.listed(query)).map((id) => idsOf(world.made).indexOf(id));

  test('without one all are there, newest first', async () => {
    expect(await left({})).toEqual([3, 2, 1, 0]);
  });

  test('agent', async () => {
    expect(await left({ agent: world.ada.agent.id })).toEqual([1, 0]);
    expect(await left({ agent: world.bob.agent.id })).toEqual([3, 2]);
    expect(await left({ agent: 'agent_nobody' })).toEqual([]);
  });

  test('session', async () => {
    expect(await left({ session: world.ada.session.id })).toEqual([0]);
    expect(await left({ session: world.second.id })).toEqual([1]);
    expect(await left({ session: 'session_nobody' })).toEqual([]);
  });

  test.each([
    [{ task_type: 'bug_fix' }, [1]],
    [{ task_type: 'other' }, [3, 2, 0]],
    [{ task_type: 'refactor' }, []],
    [{ success: true }, [1, 0]],
    [{ success: false }, [3, 2]],
    [{ failure_category: 'type_error' }, [2]],
    [{ failure_category: 'logic_error' }, []],
    [{ tags: 'a' }, [1, 0]],
    [{ tags: 'a,b' }, [0]],
    [{ tags: ' b , a ,' }, [0]],
    [{ tags: 'a,c' }, []],
    [{ tags: 'A' }, []],
    [{ file: 'a.ts' }, [2]],
    [{ file: 'src/*' }, [2]],
    [{ file: 'b.ts' }, []],
    [{ success: false, tags: 'b' }, [2]],
    [{ success: true, file: 'a.ts' }, []],
    [{ task_type: 'other', tags: 'b', success: true }, [0]],
  ])('%j', async (query, expected) => {
    expect(await left(query)).toEqual(expected);
  });

  test('since, which is included, and before, which is not', async () => {
    const [first, second, third, fourth] = world.made.map(({ created_at }) => created_at) as [
      number,
      number,
      number,
      number,
    ];
    expect(await left({ since: second })).toEqual([3, 2, 1]);
    expect(await left({ since: second + 1 })).toEqual([3, 2]);
    expect(await left({ before: third })).toEqual([1, 0]);
    expect(await left({ since: second, before: fourth })).toEqual([2, 1]);
    expect(await left({ since: 0 })).toEqual([3, 2, 1, 0]);
    expect(await left({ before: 0 })).toEqual([]);
    expect(await left({ before: first, since: 0 })).toEqual([]);
  });

  test('filters of other sources go together with all the rest', async () => {
    const { agent, session } = world.ada;
    expect(await left({ session: session.id, tags: 'b', agent: agent.id, success: true })).toEqual([0]);
    expect(await left({ session: session.id, agent: world.bob.agent.id })).toEqual([]);
    expect(await left({ file: 'src/a.ts', session: session.id })).toEqual([]);
  });

  test('the project, above all', async () => {
    expect(await new EpisodeClient(service, 'acme/empty').listed()).toEqual([]);
    expect(await new EpisodeClient(service, 'acme/never').listed({ file: 'a.ts' })).toEqual([]);
  });

  test('include_archived', async () => {
    const { own, made } = await furnish('acme/archive');
    await own.remove(made[1].id);
    expect(idsOf(await own.listed())).toEqual(idsOf([made[3], made[2], made[0]]));
    expect(idsOf(await own.listed({ include_archived: true }))).toEqual(idsOf([...made].reverse()));
  });

  test.each([
    [{ task_type: 'banana' }, 'task_type'],
    [{ success: 'maybe' }, 'success'],
    [{ failure_category: 'x' }, 'failure_category'],
    [{ since: -1 }, 'since'],
    [{ since: 'yesterday' }, 'since'],
    [{ before: 1.5 }, 'before'],
    [{ limit: 0 }, 'limit'],
    [{ limit: 201 }, 'limit'],
    [{ sort: 'oldest' }, 'sort'],
    [{ file: '' }, 'file'],
    [{ agent: '' }, 'agent'],
    [{ colour: 'red' }, 'colour'],
  ])('%j is refused', async (query, field) => {
    const { fields } = await expectRefused(service, client.getEpisodes(query), 400);
    expect(fields[0]).toContain(field);
  });
});

describe('3e.7 a list is sorted', () => {
  test('by time, importance or access, and of the same ones the newest come first', async () => {
    const { own, made } = await furnish('acme/sorted');
    const [one, two, three, four] = made;
    expect(idsOf(await own.listed({ sort: 'recent' }))).toEqual(idsOf([four, three, two, one]));
    expect(idsOf(await own.listed({ sort: 'importance' }))).toEqual(idsOf([three, one, four, two]));
    for (const { id } of [two, two, one]) await own.get(id);
    expect(idsOf(await own.listed({ sort: 'access_count' }))).toEqual(idsOf([two, one, four, three]));
    for (const { id } of [four, four, four]) await own.get(id);
    expect(idsOf(await own.listed({ sort: 'access_count' }))).toEqual(idsOf([four, two, one, three]));
  });

  test.each(['recent', 'importance', 'access_count'])(
    'by %s over pages of any size, without a gap or a repeat',
    async (sort) => {
      const own = new EpisodeClient(service, `acme/pages-${sort}`);
      const { agent } = await own.register();
      for (const number of times(13, (index) => index)) {
        if (number % 3 === 0) service.clock.advance(1_000);
        const { id } = await own.store(agent.id, { importance: (number % 3) / 10 });
        for (const _ of times(number % 4, () => 0)) await own.get(id);
      }
      const whole = idsOf(await own.listed({ sort, limit: 200 }));
      expect(new Set(whole).size).toBe(13);
      for (const limit of [1, 2, 5, 12, 13]) {
        expect(idsOf(await own.allEpisodes({ sort, limit })), `pages of ${limit}`).toEqual(whole);
      }
    },
  );

  test('and a filter goes through all its pages', async () => {
    const own = new EpisodeClient(service, 'acme/filtered-pages');
    const { agent } = await own.register();
    const wanted: string[] = [];
    for (const number of times(9, (index) => index)) {
      const isWanted = number % 2 === 0;
      const actions = [actionOf({ details: { file_path: isWanted ? 'x/a.ts' : 'x/b.ts' } })];
      const { id } = await own.store(agent.id, { actions, tags: isWanted ? ['t'] : ['u'] });
      if (isWanted) wanted.unshift(id);
    }
    for (const query of [{ file: 'x/a.ts' }, { tags: 't' }, { file: 'x/*', tags: 't', agent: agent.id }]) {
      expect(idsOf(await own.allEpisodes({ ...query, limit: 2 }))).toEqual(wanted);
    }
  });

  test('and a page that is the last says so', async () => {
    const own = new EpisodeClient(service, 'acme/last-page');
    const { agent } = await own.register();
    await own.storeGoals(agent.id, ...times(21, (index) => `Goal ${index}`));
    const { body } = await own.getEpisodes().expect(200);
    expect([body.memories.length, typeof body.next_cursor]).toEqual([20, 'string']);
    const rest = (await own.getEpisodes({ cursor: body.next_cursor }).expect(200)).body;
    expect([rest.memories.length, rest.next_cursor]).toEqual([1, null]);
    expect((await own.getEpisodes({ limit: 21 }).expect(200)).body.next_cursor).toBeNull();
  });
});

describe('a cursor', () => {
  test('of another order is refused', async () => {
    const { own } = await furnish('acme/cursors');
    const { body } = await own.getEpisodes({ limit: 1 }).expect(200);
    await own.getEpisodes({ limit: 1, cursor: body.next_cursor }).expect(200);
    for (const sort of ['importance', 'access_count']) {
      const request = own.getEpisodes({ sort, cursor: body.next_cursor });
      expect(await expectRefused(service, request, 400)).toEqual({ code: 'invalid_cursor', fields: ['cursor'] });
    }
  });

  const encoded = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url');
  test.each([
    'garbage',
    '',
    encoded([]),
    encoded(['recent']),
    encoded(['recent', 'x', 1]),
    encoded(['recent', 1]),
    encoded({ 0: 'recent' }),
    encoded(['recent', null, 1]),
    encoded(['recent', 1, 2, 3]),
  ])('%j is none', async (cursor) => {
    expect(await expectRefused(service, client.getEpisodes({ cursor }), 400)).toMatchObject({ fields: ['cursor'] });
  });
});
