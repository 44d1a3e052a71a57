import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { contentsOf, DAY_MS, type EntryReport, JournalClient, momentNow } from '../../support/journal.js';
import { expectRefused, idsOf } from '../../support/nodes.js';
import { type Service, startService } from '../../support/service.js';

/** `GET /journal/views/{view}`, as 4b describes the resources. */

let service: Service;
let client: JournalClient;
let repos = 0;
beforeAll(async () => {
  service = await startService();
});
afterAll(() => service.stop());
beforeEach(() => {
  client = new JournalClient(service, `views/${++repos}`);
});

const VIEWS = ['recent', 'core', 'learnings', 'tasks-active', 'tasks-completed'];
const seen = async (view: string): Promise<string[]> => contentsOf((await client.view(view)).memories);
const tick = () => service.clock.advance(1_000);
const agoMs = (ms: number): string => new Date(service.clock.now() - ms).toISOString();

describe.each(VIEWS)('4e.6 the view %s', (view) => {
  test('of an empty journal is empty', async () => {
    expect(await client.view(view)).toMatchObject({
      view,
      count: 0,
      total: 0,
      memories: [],
      generated_at: momentNow(service),
    });
  });

  test('counts no look, and shows entries as they are', async () => {
    const made = [
      await client.entry('core', { type: 'core' }),
      await client.entry('learning'),
      await client.task('task', { status: 'completed' }),
    ];
    const read = new Map<string, EntryReport>();
    for (const { id } of made) read.set(id, await client.read(id));
    tick();
    await client.view(view);
    const { memories } = await client.view(view);
    expect(memories.length).toBeGreaterThan(0);
    for (const memory of memories) expect(memory).toEqual(read.get(memory.id));
    await client.stats();
    for (const { id } of made) expect((await client.read(id)).access_count).toBe(2);
  });

  test('shows nothing that was put away', async () => {
    for (const type of ['core', 'learning']) await client.remove((await client.entry('Gone', { type })).id);
    await client.remove((await client.task('Gone', { status: 'completed' })).id);
    expect(await client.view(view)).toMatchObject({ count: 0, total: 0, memories: [] });
  });

  test('has its own fields and no others', async () => {
    const own: Record<string, string[]> = {
      recent: [],
      core: ['by_category', 'by_importance'],
      learnings: ['date_range'],
      'tasks-active': ['by_status'],
      'tasks-completed': ['date_range'],
    };
    const fields = ['count', 'generated_at', 'memories', 'total', 'view', ...(own[view] as string[])];
    expect(Object.keys(await client.view(view)).sort()).toEqual(fields.sort());
  });
});

test.each(['nobody', 'tasks', 'Core', 'stats'])('4e.6 there is no view %s', async (view) => {
  const { fields } = await expectRefused(service, client.getView(view), 400);
  expect(fields).toEqual(['view']);
});

describe('4e.6 the recent', () => {
  test('are the 20 that were looked at last, of all types, latest first', async () => {
    const made: EntryReport[] = [];
    for (let index = 0; index < 23; index++) {
      made.push(await client.entry(`${index}`, { type: ['core', 'learning', 'task'][index % 3] }));
      tick();
    }
    await client.read((made[1] as EntryReport).id);
    const { memories, count } = await client.view('recent');
    const order = [1, ...Array.from({ length: 19 }, (_, index) => 22 - index)];
    expect(contentsOf(memories)).toEqual(order.map(String));
    expect(count).toBe(20);
  });
});

describe('4e.6 the core', () => {
  test('is all core entries, from the important to the unimportant, then the one looked at last', async () => {
    const made: Record<string, EntryReport> = {};
    for (const [name, importance, category] of [
      ['low', 'low', 'fact'],
      ['high old', 'high', 'fact'],
      ['medium', 'medium', undefined],
      ['high new', 'high', 'preference'],
    ] as const) {
      made[name] = await client.entry(name, { type: 'core', importance, ...(category && { category }) });
      tick();
    }
    await client.entry('no core', { importance: 'high' });
    expect(await client.view('core')).toMatchObject({
      count: 4,
      total: 4,
      by_importance: { high: 2, medium: 1, low: 1 },
      by_category: { fact: 2, preference: 1 },
    });
    expect(await seen('core')).toEqual(['high new', 'high old', 'medium', 'low']);
    await client.read((made['high old'] as EntryReport).id);
    expect(await seen('core')).toEqual(['high old', 'high new', 'medium', 'low']);
  });

  test('names every importance, though nobody has it', async () => {
    expect((await client.view('core')).by_importance).toEqual({ high: 0, medium: 0, low: 0 });
  });

  test.each(['__proto__', 'constructor', 'toString'])('counts the category %s like any other', async (category) => {
    await client.entry('Odd', { type: 'core', category });
    const { by_category } = await client.view('core');
    expect(Object.entries(by_category as object)).toEqual([[category, 1]]);
  });
});

describe('4e.6 the learnings', () => {
  test('are those made in the last 30 days, the day that far back included, newest first', async () => {
    await client.entry('too old');
    service.clock.advance(1);
    await client.entry('just in');
    service.clock.advance(DAY_MS);
    await client.entry('newer');
    await client.entry('no learning', { type: 'core' });
    service.clock.advance(29 * DAY_MS);
    expect(await seen('learnings')).toEqual(['newer', 'just in']);
    const { date_range } = await client.view('learnings');
    expect(date_range).toEqual({ from: agoMs(30 * DAY_MS).replace('.000Z', 'Z'), to: momentNow(service) });
    service.clock.advance(1);
    expect(await client.view('learnings')).toMatchObject({ count: 1, total: 1 });
  });

  test('are those too that were looked at in that time, in the order of their making', async () => {
    const { id } = await client.entry('old but looked at');
    service.clock.advance(DAY_MS);
    await client.entry('old');
    service.clock.advance(DAY_MS);
    await client.read(id);
    service.clock.advance(29 * DAY_MS);
    await client.entry('new');
    expect(await seen('learnings')).toEqual(['new', 'old', 'old but looked at']);
    service.clock.advance(1);
    expect(await seen('learnings')).toEqual(['new', 'old but looked at']);
    service.clock.advance(DAY_MS - 1);
    expect(await seen('learnings')).toEqual(['new', 'old but looked at']);
    service.clock.advance(1);
    expect(await seen('learnings')).toEqual(['new']);
  });
});

describe('4e.6 the active tasks', () => {
  test('are all that were not put away, whatever their status, the one changed last first', async () => {
    const made: EntryReport[] = [];
    for (const [name, status] of [
      ['going', 'in-progress'],
      ['stuck', 'blocked'],
      ['done', 'completed'],
      ['done too', 'completed'],
    ] as const) {
      made.push(await client.task(name, { status }));
      tick();
    }
    await client.entry('no task');
    expect(await seen('tasks-active')).toEqual(['done too', 'done', 'stuck', 'going']);
    await client.patch((made[1] as EntryReport).id, { importance: 'high' });
    tick();
    await client.read((made[0] as EntryReport).id);
    expect(await client.view('tasks-active')).toMatchObject({
      count: 4,
      total: 4,
      by_status: { 'in-progress': 1, blocked: 1, completed: 2 },
    });
    expect(await seen('tasks-active')).toEqual(['stuck', 'done too', 'done', 'going']);
  });

  test('of whose state nothing was said count as under way', async () => {
    await client.task('untold');
    expect((await client.view('tasks-active')).by_status).toEqual({ 'in-progress': 1, blocked: 0, completed: 0 });
  });
});

describe('4e.6 the completed tasks', () => {
  test('are those done in the last 30 days, the day that far back included, the one done last first', async () => {
    const doneAt = (ms: number) => ({ status: 'completed', completed_at: agoMs(ms) });
    await client.task('middle', doneAt(5 * DAY_MS));
    await client.task('edge', doneAt(30 * DAY_MS));
    await client.task('last', doneAt(1));
    await client.task('too old', doneAt(30 * DAY_MS + 1));
    await client.task('stuck', { status: 'blocked' });
    await client.task('untold');
    const { memories, ...rest } = await client.view('tasks-completed');
    expect(contentsOf(memories)).toEqual(['last', 'middle', 'edge']);
    expect(rest).toMatchObject({
      count: 3,
      total: 3,
      date_range: { from: agoMs(30 * DAY_MS).replace('.000Z', 'Z'), to: momentNow(service) },
    });
    const { id } = memories[1] as EntryReport;
    await client.patch(id, { task_metadata: { status: 'in-progress' } });
    expect(await seen('tasks-completed')).toEqual(['last', 'edge']);
    expect(idsOf((await client.view('tasks-active')).memories)).toContain(id);
  });
});
