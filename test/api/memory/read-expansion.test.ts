import { afterAll, beforeAll, expect, test } from 'vitest';
import { allItems, change, idsIn, type Pack, readBody, recall, remember } from '../../support/requests.js';
import { type Service, startService } from '../../support/service.js';

let service: Service;
let repos = 0;
let repoId: string;
beforeAll(async () => {
  service = await startService();
});
afterAll(() => service.stop());

const newRepo = (): void => {
  repoId = `expansion/${++repos}`;
};
const related = (text: string, ...ids: string[]): Promise<string> =>
  remember(service, { text, links: { related_memory_ids: ids } }, repoId);
const attempt = (text: string, kind: string, problemId: string): Promise<string> =>
  remember(service, { text, kind, links: { problem_id: problemId } }, repoId);
const ask = (query: string, expand?: object, more: object = {}): Promise<Pack> =>
  recall(service, query, { ...(expand && { expand }), ...more }, repoId);
const sections = (pack: Pack) =>
  [pack.direct, pack.explicit_related, pack.implicit_related].map((items) => idsIn(items));

test('a problem brings its attempts, an attempt brings its problem', async () => {
  newRepo();
  const problemId = await remember(service, { text: 'Checkout times out', kind: 'problem' }, repoId);
  const solutionId = await attempt('Raise the pool size', 'solution', problemId);
  const failedId = await attempt('Restart the proxy', 'failed_tactic', problemId);

  const fromProblem = await ask('checkout times out');
  expect(sections(fromProblem)).toEqual([[problemId], [solutionId, failedId], []]);
  for (const item of fromProblem.explicit_related) {
    expect(item).toMatchObject({ why_included: 'problem_attempt', anchor_memory_id: problemId });
    expect(item).not.toHaveProperty('relation_type');
    expect(item.score).toBe(fromProblem.direct[0]?.score);
  }
  expect(sections(await ask('raise pool size'))).toEqual([[solutionId], [problemId], []]);
  expect(sections(await ask('restart proxy'))).toEqual([[failedId], [problemId], []]);
});

test('include_problem_links false follows no problem link', async () => {
  newRepo();
  const problemId = await remember(service, { text: 'Checkout times out', kind: 'problem' }, repoId);
  await attempt('Raise the pool size', 'solution', problemId);
  expect(sections(await ask('checkout', { include_problem_links: false }))).toEqual([[problemId], [], []]);
});

test('old fact, change and new fact each bring the other two', async () => {
  newRepo();
  const oldId = await remember(service, { text: 'Sparrow uses port 80' }, repoId);
  const newId = await remember(service, { text: 'Falcon listens elsewhere' }, repoId);
  const changeId = await remember(service, { text: 'Ports were swapped', kind: 'change' }, repoId);
  await change(service, changeId, { type: 'fact_update_link', old_fact_id: oldId, new_fact_id: newId }, repoId);

  const starts: [string, string, string[]][] = [
    ['sparrow', oldId, [changeId, newId]],
    ['falcon', newId, [changeId, oldId]],
    ['swapped', changeId, [newId, oldId]],
  ];
  for (const [query, id, others] of starts) {
    const pack = await ask(query);
    expect(idsIn(pack.direct)).toEqual([id]);
    expect(idsIn(pack.explicit_related).sort()).toEqual([...others].sort());
    for (const item of pack.explicit_related) {
      expect(item).toMatchObject({ why_included: 'fact_update', anchor_memory_id: id });
      expect(item).not.toHaveProperty('relation_type');
    }
    const bare = await ask(query, { include_fact_update_links: false });
    expect(sections(bare)).toEqual([[id], [], []]);
  }
});

test('an association is followed from either end and says what it is', async () => {
  newRepo();
  const firstId = await remember(service, { text: 'Lynx cache' }, repoId);
  const secondId = await related('Otter queue', firstId);
  for (const [query, id, otherId] of [
    ['lynx', firstId, secondId],
    ['otter', secondId, firstId],
  ] as const) {
    const pack = await ask(query);
    expect(sections(pack)).toEqual([[id], [otherId], []]);
    expect(pack.explicit_related[0]).toMatchObject({
      why_included: 'association_link',
      relation_type: 'related_to',
      anchor_memory_id: id,
    });
  }
});

test('semantic_hops is how far associations are followed, and each step counts for less', async () => {
  newRepo();
  const path = [await remember(service, { text: 'Puffin start' }, repoId)];
  for (const text of ['one step', 'two steps', 'three steps', 'four steps']) {
    path.push(await related(text, path.at(-1) as string));
  }
  const [start, one, two, three] = path as [string, string, string, string];
  expect(sections(await ask('puffin', { semantic_hops: 0 }))).toEqual([[start], [], []]);
  expect(sections(await ask('puffin', { semantic_hops: 1 }))).toEqual([[start], [one], []]);
  expect(sections(await ask('puffin', { semantic_hops: 2 }))).toEqual([[start], [one], [two]]);
  expect(sections(await ask('puffin', { semantic_hops: 3 }))).toEqual([[start], [one], [two, three]]);

  const pack = await ask('puffin', { semantic_hops: 3 });
  const anchorScore = pack.direct[0]?.score as number;
  expect(pack.explicit_related[0]?.score).toBeCloseTo(anchorScore * 0.5, 12);
  expect(pack.implicit_related[0]?.score).toBeCloseTo((anchorScore * 0.5 ** 2) / 2, 12);
  expect(pack.implicit_related[1]?.score).toBeCloseTo((anchorScore * 0.5 ** 3) / 3, 12);
  for (const item of pack.implicit_related) {
    expect(item).toMatchObject({ why_included: 'semantic_neighbor', anchor_memory_id: start });
    expect(item).not.toHaveProperty('relation_type');
  }
});

test('what is left out of expand keeps its default: two hops, problem links and fact links', async () => {
  newRepo();
  const problemId = await remember(service, { text: 'Gannet outage', kind: 'problem' }, repoId);
  await attempt('Switch it off and on', 'solution', problemId);
  const hopId = await related('One step', problemId);
  await related('Two steps', hopId);

  const whole = await ask('gannet');
  expect(whole.meta.counts).toEqual({ direct: 1, explicit_related: 2, implicit_related: 1 });
  expect(await ask('gannet', {})).toEqual(whole);
  expect(await ask('gannet', { include_fact_update_links: true })).toEqual(whole);
  expect((await ask('gannet', { include_problem_links: false })).meta.counts).toEqual({
    direct: 1,
    explicit_related: 1,
    implicit_related: 1,
  });
  expect((await ask('gannet', { semantic_hops: 0 })).meta.counts).toEqual({
    direct: 1,
    explicit_related: 1,
    implicit_related: 0,
  });
});

test('a memory is in the answer once, in the earliest section that has it', async () => {
  newRepo();
  const firstId = await remember(service, { text: 'Stork alpha' }, repoId);
  const secondId = await related('Stork beta', firstId);
  const thirdId = await related('Neighbour of both', firstId, secondId);
  const circleId = await related('Closes the circle', thirdId, firstId);
  const pack = await ask('stork', { semantic_hops: 3 });
  expect(sections(pack)).toEqual([[firstId, secondId], [thirdId, circleId], []]);
});

test('a memory reached from two matches is anchored at the better one', async () => {
  newRepo();
  const weakId = await remember(service, { text: 'Crane on the roof of the long building beside the river' }, repoId);
  const strongId = await remember(service, { text: 'Crane' }, repoId);
  const sharedId = await related('Shared neighbour', weakId, strongId);
  const pack = await ask('crane');
  expect(idsIn(pack.direct)).toEqual([strongId, weakId]);
  expect(pack.explicit_related.map((item) => [item.memory_id, item.anchor_memory_id])).toEqual([[sharedId, strongId]]);
});

test('the kinds filter holds at every step of a walk', async () => {
  newRepo();
  const startId = await remember(service, { text: 'Plover start' }, repoId);
  const preference = { text: 'In between', kind: 'preference', links: { related_memory_ids: [startId] } };
  const betweenId = await remember(service, preference, repoId);
  const endId = await related('At the end', betweenId);
  expect(sections(await ask('plover'))).toEqual([[startId], [betweenId], [endId]]);
  expect(idsIn(allItems(await ask('plover', undefined, { kinds: ['fact'] })))).toEqual([startId]);
});

test.each([
  ['more than three hops', { semantic_hops: 4 }, 'expand.semantic_hops'],
  ['a negative number of hops', { semantic_hops: -1 }, 'expand.semantic_hops'],
  ['half a hop', { semantic_hops: 0.5 }, 'expand.semantic_hops'],
  ['hops as text', { semantic_hops: '2' }, 'expand.semantic_hops'],
  ['text where a truth value belongs', { include_problem_links: 'no' }, 'expand.include_problem_links'],
  ['an unknown field', { include_rumours: true }, 'expand.include_rumours'],
])('an expand with %s is refused and the field is named', async (_wrong, expand, field) => {
  const answer = await service.http.post('/memory/read').send(readBody('anything', { expand })).expect(400);
  expect(answer.body.errors.map((error: { field: string }) => error.field)).toEqual([field]);
});

test('every match brings its neighbours, and the strongest of all have the places that are left', async () => {
  newRepo();
  const asides = [await related('One aside'), await related('Another aside')];
  const firstId = await related('Sparrow queue', ...asides);
  const secondId = await related('Sparrow queue of two');
  const problemId = await remember(service, { text: 'Sparrow queue is too slow', kind: 'problem' }, repoId);
  const solutionId = await attempt('Send in bulk', 'solution', problemId);
  const pack = await ask('sparrow queue', undefined, { limit: 4 });
  expect(sections(pack)).toEqual([[firstId, secondId, problemId], [solutionId], []]);
});
