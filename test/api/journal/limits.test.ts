import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { contentsOf, DAY_MS, type EntryReport, JournalClient } from '../../support/journal.js';
import { expectRefused, GraphClient, idsOf, sendAtOnce } from '../../support/nodes.js';
import { type Service, startService } from '../../support/service.js';
import { times } from '../../support/together.js';

/** 4e.7: how much a journal may hold. */

const SMALL = { JOURNAL_CORE_MAX: '3', JOURNAL_LEARNINGS_MAX: '3', JOURNAL_TASKS_MAX: '3' };

let service: Service;
let client: JournalClient;
let repos = 0;
beforeAll(async () => {
  service = await startService(SMALL);
});
afterAll(() => service.stop());
beforeEach(() => {
  client = new JournalClient(service, `limits/${++repos}`);
});

const tick = () => service.clock.advance(1_000);

async function fill(type: string, count = 3, own = client): Promise<EntryReport[]> {
  const made: EntryReport[] = [];
  for (let index = 0; index < count; index++) {
    made.push(await own.entry(`${type} ${index}`, { type }));
    tick();
  }
  return made;
}

interface Refusal {
  readonly code: string;
  readonly errors: readonly { readonly field: string; readonly code: string; readonly message: string }[];
}

/** The ids that a refusal names, in its order. */
const candidatesOf = ({ errors }: Refusal): string[] => errors.map(({ message }) => message.slice(0, 36));

describe('4e.7 a fourth core entry, where three are the most,', () => {
  test('is refused, writes nothing, and names what could be archived, idlest first', async () => {
    const [one, two, three] = (await fill('core')) as [EntryReport, EntryReport, EntryReport];
    await client.read(one.id);
    const post = () => client.postEntry({ type: 'core', content: 'fourth' });
    const { code, fields } = await expectRefused(service, post(), 507, client.repoId);
    expect([code, fields]).toEqual(['limit_reached', ['candidates.0', 'candidates.1', 'candidates.2']]);
    const { body } = await post();
    expect(body).toMatchObject({ status: 507, type: '/problems/limit_reached' });
    expect(candidatesOf(body)).toEqual([two.id, three.id, one.id]);
    expect(body.detail).toContain('3');
    expect(await client.liveIds()).toEqual(idsOf([one, two, three]).sort());
    expect((await client.stats()).statistics.archived_count).toBe(0);
  });

  test('is refused with an Idempotency-Key as without, and taken with the same one once there is room', async () => {
    const [one] = (await fill('core')) as [EntryReport];
    const post = () => client.postEntry({ type: 'core', content: 'fourth' }).set('idempotency-key', 'k');
    await post().expect(507);
    await client.remove(one.id);
    await post().expect(201);
  });

  test.each(['deleteEntry', 'purge', 'patchEntry'] as const)('is taken once one is away by %s', async (way) => {
    const [one] = (await fill('core')) as [EntryReport];
    if (way === 'patchEntry') await client.patch(one.id, { archived: true });
    else await client.remove(one.id, { permanent: way === 'purge' });
    const { body } = await client.postEntry({ type: 'core', content: 'fourth' }).expect(201);
    expect(body.archived_ids).toEqual([]);
    await client.postEntry({ type: 'core', content: 'fifth' }).expect(507);
  });

  test('does not come back from the archive by PATCH', async () => {
    const [one] = (await fill('core')) as [EntryReport];
    await client.remove(one.id);
    const { id } = await client.entry('fourth', { type: 'core' });
    const request = client.patchEntry(one.id, { archived: false });
    const { code } = await expectRefused(service, request, 507, client.repoId);
    expect(code).toBe('limit_reached');
    expect((await client.read(one.id)).archived).toBe(true);
    await client.remove(id);
    expect((await client.patch(one.id, { archived: false })).memory.archived).toBe(false);
  });

  test('does not come back from the archive as a node either', async () => {
    const [one] = (await fill('core')) as [EntryReport];
    await client.remove(one.id);
    await client.entry('fourth', { type: 'core' });
    await new GraphClient(service, client.repoId).restoreNode(one.id);
    expect((await client.liveIds()).length).toBeLessThanOrEqual(3);
    await new GraphClient(service, client.repoId).patchNode(one.id, { tier: 'longterm' });
    expect((await client.liveIds()).length).toBeLessThanOrEqual(3);
  });

  test('does not hinder what is there from being changed', async () => {
    const [one] = (await fill('core')) as [EntryReport];
    expect(
      (await client.patch(one.id, { content: 'A longer text than before', importance: 'high' })).memory,
    ).toMatchObject({
      content: 'A longer text than before',
      importance: 'high',
    });
    await client.postEntry({ id: one.id, type: 'core', content: 'Again' }).expect(200);
  });

  test('does not hinder learnings and tasks', async () => {
    await fill('core');
    expect((await client.postEntry({ type: 'learning' }).expect(201)).body.archived_ids).toEqual([]);
    expect((await client.postEntry({ type: 'task' }).expect(201)).body.archived_ids).toEqual([]);
  });

  test('is no fourth in another repo', async () => {
    await fill('core');
    await new JournalClient(service, `${client.repoId}/other`).postEntry({ type: 'core' }).expect(201);
  });

  test('is refused to all but as many as there is room for, at the same time', async () => {
    await fill('core', 1);
    const answers = await sendAtOnce(service, () =>
      times(20, (index) => client.postEntry({ type: 'core', content: `rush ${index}` })),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 201, ...times(18, () => 507)]);
    expect(await client.liveIds()).toHaveLength(3);
  });

  test('names at most a few of very many', async () => {
    const large = await startService({ JOURNAL_CORE_MAX: '30' });
    try {
      const own = new JournalClient(large);
      for (let index = 0; index < 30; index++) await own.entry(`${index}`, { type: 'core' });
      const { body } = await own.postEntry({ type: 'core' }).expect(507);
      expect(body.errors.length).toBeGreaterThan(0);
      expect(body.errors.length).toBeLessThanOrEqual(10);
    } finally {
      await large.stop();
    }
  });
});

describe.each(['learning', 'task'])('4e.7 a fourth %s, where three are the most,', (type) => {
  test('is taken, and exactly the one that was idle longest makes room and is named', async () => {
    const [one, two, three] = (await fill(type)) as [EntryReport, EntryReport, EntryReport];
    await client.read(one.id);
    const { body } = await client.postEntry({ type, content: 'fourth' }).expect(201);
    expect(body.archived_ids).toEqual([two.id]);
    expect(body.memory.archived).toBe(false);
    expect(await client.liveIds()).toEqual([one.id, three.id, body.id].sort());
    expect(await client.read(two.id)).toMatchObject({ archived: true, content: two.content });
  });

  test('of those looked at at the same moment lets the one go that was looked at the least', async () => {
    const own: EntryReport[] = [];
    for (const content of ['one', 'two', 'three']) own.push(await client.entry(content, { type }));
    const [one, two, three] = own as [EntryReport, EntryReport, EntryReport];
    for (const { id } of [one, one, two, three, three]) await client.read(id);
    const { body } = await client.postEntry({ type, content: 'fourth' }).expect(201);
    expect(body.archived_ids).toEqual([two.id]);
  });

  test('is never the one to go, though nobody ever looked at it', async () => {
    const made = await fill(type);
    for (const { id } of made) for (let count = 0; count < 3; count++) await client.read(id);
    const { body } = await client.postEntry({ type, content: 'fourth' }).expect(201);
    expect(body.archived_ids).toEqual([made[0]?.id]);
    expect(await client.liveIds()).toContain(body.id);
  });

  test('counts none that is in the archive', async () => {
    const [one] = (await fill(type)) as [EntryReport];
    await client.remove(one.id);
    expect((await client.postEntry({ type }).expect(201)).body.archived_ids).toEqual([]);
    expect(await client.liveIds()).toHaveLength(3);
  });

  test('that comes back from the archive makes the idlest go, and stays itself', async () => {
    const [one, two] = (await fill(type)) as [EntryReport, EntryReport];
    await client.remove(one.id);
    const { id } = await client.entry('fourth', { type });
    const { memory, archived_ids, updated_fields } = await client.patch(one.id, { archived: false });
    expect([memory.archived, updated_fields, archived_ids]).toEqual([false, ['archived'], [two.id]]);
    expect(await client.liveIds()).toContain(id);
    expect(await client.liveIds()).toHaveLength(3);
  });

  test('makes nobody go when it is only changed', async () => {
    const [one] = (await fill(type)) as [EntryReport];
    expect((await client.patch(one.id, { content: 'Changed' })).archived_ids).toEqual([]);
    const { body } = await client.postEntry({ id: one.id, type, content: 'Again' }).expect(200);
    expect(body.archived_ids).toEqual([]);
    expect(await client.liveIds()).toHaveLength(3);
  });

  test('makes no room in another repo', async () => {
    await fill(type);
    const other = new JournalClient(service, `${client.repoId}/other`);
    await fill(type, 3, other);
    await client.entry('fourth', { type });
    expect(await other.liveIds()).toHaveLength(3);
  });

  test('with very many more at the same time is kept, and never are there more than three', async () => {
    await fill(type);
    const answers = await sendAtOnce(service, () =>
      times(50, (index) => client.postEntry({ type, content: `rush ${index}` })),
    );
    expect(answers.map(({ status }) => status)).toEqual(times(50, () => 201));
    expect(await client.liveIds()).toHaveLength(3);
    expect((await client.stats()).statistics).toMatchObject({ total_memories: 3, archived_count: 50 });
    // Each that is in the archive was named once.
    const named = answers.flatMap(({ body }) => body.archived_ids as string[]);
    expect(new Set(named).size).toBe(50);
    expect(named).toHaveLength(50);
    expect((await client.page({ archived: true })).total).toBe(53);
  });

  test('where the restore of a node brought a fourth, the fifth makes room for both', async () => {
    const [one] = (await fill(type)) as [EntryReport];
    await client.remove(one.id);
    await client.entry('fourth', { type });
    await new GraphClient(service, client.repoId).restoreNode(one.id);
    await client.entry('fifth', { type });
    expect(await client.liveIds()).toHaveLength(3);
  });
});

describe('4e.7 a fourth task', () => {
  test('makes the completed ones go first, the one done longest ago before the others', async () => {
    await client.task('idle and going', { status: 'in-progress' });
    tick();
    const later = await client.task('done later', { status: 'completed', completed_at: '2025-12-20T00:00:00Z' });
    tick();
    const earlier = await client.task('done earlier', { status: 'completed', completed_at: '2025-12-10T00:00:00Z' });
    await client.read(earlier.id);
    tick();
    expect((await client.postEntry({ type: 'task', content: 'a' }).expect(201)).body.archived_ids).toEqual([
      earlier.id,
    ]);
    expect((await client.postEntry({ type: 'task', content: 'b' }).expect(201)).body.archived_ids).toEqual([later.id]);
    const { body } = await client.postEntry({ type: 'task', content: 'c' }).expect(201);
    expect(body.archived_ids).toHaveLength(1);
    expect((await client.read(body.archived_ids[0])).content).toBe('idle and going');
  });

  test('that is completed itself is not the one to go', async () => {
    const [one] = (await fill('task')) as [EntryReport];
    const { body } = await client
      .postEntry({ type: 'task', task_metadata: { status: 'completed', completed_at: '2001-01-01T00:00:00Z' } })
      .expect(201);
    expect([body.archived_ids, body.memory.archived]).toEqual([[one.id], false]);
  });
});

describe('4e.7 where there are more than may be, since the limit was lowered,', () => {
  let first: Service;
  let second: Service;
  let again: JournalClient;
  beforeAll(async () => {
    first = await startService(SMALL);
    for (const type of ['core', 'task']) await fill(type, 3, new JournalClient(first));
    await first.app.close();
    second = await startService({ JOURNAL_CORE_MAX: '2', JOURNAL_TASKS_MAX: '2', RLM_MEMORY_DB: first.file });
    again = new JournalClient(second);
  });
  afterAll(async () => {
    await second.stop();
    await first.stop();
  });

  test('the next core entry is refused, and those that are there stay', async () => {
    await again.postEntry({ type: 'core' }).expect(507);
    expect((await again.page({ type: 'core' })).total).toBe(3);
  });

  test('what is there can still be corrected', async () => {
    const [one] = (await again.view('core')).memories as [EntryReport];
    expect((await again.patch(one.id, { importance: 'high' })).memory.importance).toBe('high');
    expect((await again.patch(one.id, { content: 'less' })).memory.content).toBe('less');
  });

  test('the next task makes as many go as have to', async () => {
    const tasks = (await again.view('tasks-active')).memories.toReversed();
    expect(contentsOf(tasks)).toEqual(['task 0', 'task 1', 'task 2']);
    // The restarted service counts its ids from the beginning: it has to try those that are taken first.
    const { body } = await again.postEntry({ type: 'task', content: 'task 3' }).expect(201);
    expect(body.archived_ids).toEqual(idsOf(tasks.slice(0, 2)));
    expect(contentsOf((await again.view('tasks-active')).memories).sort()).toEqual(['task 2', 'task 3']);
  });
});

test('4e.7 time alone puts no core entry away, and no other when decay is asked for', async () => {
  for (const type of ['core', 'learning', 'task']) await client.entry(`Old ${type}`, { type });
  service.clock.advance(400 * DAY_MS);
  await service.http
    .post('/evolution/decay')
    .query({ repo_id: client.repoId })
    .send({ min_confidence: 0.9 })
    .expect(200);
  expect(await client.liveIds()).toHaveLength(3);
});

describe('4e.7 by bytes', () => {
  /** Each takes six bytes in a line of a file. */
  const WIDE = '\u0001'.repeat(5_000);
  let large: Service;
  let own: JournalClient;
  beforeAll(async () => {
    large = await startService();
    own = new JournalClient(large);
  });
  afterAll(() => large.stop());
  const task = (content: string) => ({
    type: 'task',
    content,
    task_metadata: { status: 'completed', outcome: WIDE },
  });

  test('2 MiB of tasks are the most: the next makes the one that was done first go', async () => {
    let made = 0;
    let archived: string[] = [];
    let first: string | null = null;
    while (archived.length === 0 && made < 60) {
      const { body } = await own.postEntry(task(WIDE)).expect(201);
      first ??= body.id as string;
      archived = body.archived_ids;
      made++;
      large.clock.advance(1);
    }
    expect(archived).toEqual([first]);
    // Each takes a little more than 60,000 bytes.
    expect(made).toBe(35);
    // A short one finds room beside the rest, and makes nobody go until it is long.
    const grown: string[][] = [];
    for (let count = 0; count < 2; count++) {
      const { body } = await own.postEntry({ type: 'task', content: 'short' }).expect(201);
      expect(body.archived_ids).toEqual([]);
      expect((await own.patch(body.id, { content: 'as short' })).archived_ids).toEqual([]);
      const { archived_ids } = await own.patch(body.id, { content: WIDE });
      expect(archived_ids).not.toContain(body.id);
      grown.push(archived_ids);
    }
    expect(grown.map(({ length }) => length)).toEqual([0, 1]);
  });

  test('10 MiB of core entries are the most: the next is refused, one that grows beyond it too', async () => {
    let status = 201;
    let made = 0;
    const short = await own.entry('short', { type: 'core' });
    while (status === 201 && made < 400) {
      const answer = await own.postEntry({ type: 'core', content: WIDE });
      status = answer.status;
      if (status === 201) made++;
    }
    expect([status, made]).toEqual([507, 345]);
    const { code } = await expectRefused(large, own.patchEntry(short.id, { content: WIDE }), 507);
    expect(code).toBe('limit_reached');
    expect((await own.read(short.id)).content).toBe('short');
    await own.postEntry({ type: 'core', content: 'short too' }).expect(201);
  });
});
