import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { JournalClient, momentNow } from '../../support/journal.js';
import { expectRefused } from '../../support/nodes.js';
import { type Service, startService } from '../../support/service.js';

/** 4e.8: how a task stands. */

let service: Service;
let client: JournalClient;
beforeAll(async () => {
  service = await startService();
  client = new JournalClient(service);
});
afterAll(() => service.stop());

const postTask = (task_metadata: unknown) => client.postEntry({ type: 'task', task_metadata });
const stateOf = async (id: string, task_metadata: object | null) =>
  (await client.patch(id, { task_metadata })).memory.task_metadata;

describe('a task', () => {
  test('of whose state nothing is said has none', async () => {
    expect(await client.task('Untold')).not.toHaveProperty('task_metadata');
  });

  test('that is completed is done now, unless it is said when', async () => {
    service.clock.advance(1_234);
    const { task_metadata } = await client.task('Done', { status: 'completed' });
    expect(task_metadata).toEqual({ status: 'completed', completed_at: momentNow(service) });
    const earlier = { status: 'completed', completed_at: '2025-12-01T12:30:00.250Z', outcome: 'It works' };
    expect((await client.task('Done before', earlier)).task_metadata).toEqual(earlier);
  });

  test('is done at one moment, in whatever zone it is told', async () => {
    const said = { status: 'completed', completed_at: '2025-12-01T14:30:00+02:00' };
    expect((await client.task('Done', said)).task_metadata).toEqual({ ...said, completed_at: '2025-12-01T12:30:00Z' });
  });

  test('that is blocked says by what', async () => {
    const said = { status: 'blocked', blockers: ['The staging database', 'Ada is away'] };
    expect((await client.task('Stuck', said)).task_metadata).toEqual(said);
    const { id, task_metadata } = await client.task('Stuck somehow', { status: 'blocked' });
    expect(task_metadata).toEqual({ status: 'blocked', blockers: [] });
    expect((await client.read(id)).task_metadata).toEqual(task_metadata);
  });

  test('that is under way has nothing but its status', async () => {
    expect((await client.task('Going', { status: 'in-progress' })).task_metadata).toEqual({ status: 'in-progress' });
  });
});

describe.each([
  ['in-progress', 'completed_at', '2026-01-01T00:00:00Z'],
  ['in-progress', 'blockers', ['b']],
  ['in-progress', 'outcome', 'It works'],
  ['blocked', 'completed_at', '2026-01-01T00:00:00Z'],
  ['blocked', 'outcome', 'It works'],
  ['completed', 'blockers', ['b']],
])('of a task that is %s, %s', (status, field, value) => {
  test('is refused', async () => {
    const refusal = { code: 'semantic_error', fields: [`task_metadata.${field}`] };
    expect(await expectRefused(service, postTask({ status, [field]: value }), 422)).toEqual(refusal);
    const { id } = await client.task('Some task');
    const request = client.patchEntry(id, { task_metadata: { status, [field]: value } });
    expect(await expectRefused(service, request, 422)).toEqual(refusal);
  });
});

describe('task_metadata', () => {
  test.each(['core', 'learning'])('is refused for a %s', async (type) => {
    const refusal = { code: 'semantic_error', fields: ['task_metadata'] };
    const fields = { task_metadata: { status: 'in-progress' } };
    expect(await expectRefused(service, client.postEntry({ type, ...fields }), 422)).toEqual(refusal);
    const { id } = await client.entry('No task', { type });
    expect(await expectRefused(service, client.patchEntry(id, fields), 422)).toEqual(refusal);
    // There is nothing to take away.
    expect((await client.patch(id, { task_metadata: null })).updated_fields).toEqual([]);
  });

  test.each([
    ['task_metadata', null],
    ['task_metadata', 'completed'],
    ['task_metadata.status', {}],
    ['task_metadata.status', { status: 'done' }],
    ['task_metadata.completed_at', { status: 'completed', completed_at: 'yesterday' }],
    ['task_metadata.completed_at', { status: 'completed', completed_at: '2026-01-01T00:00:00' }],
    ['task_metadata.blockers', { status: 'blocked', blockers: 'b' }],
    ['task_metadata.blockers.0', { status: 'blocked', blockers: [1] }],
    ['task_metadata.outcome', { status: 'completed', outcome: 7 }],
    ['task_metadata.owner', { status: 'completed', owner: 'Ada' }],
  ])('is refused for the shape of %s', async (field, value) => {
    const { code, fields } = await expectRefused(service, postTask(value), 400);
    expect([code, fields[0]]).toEqual(['schema_error', field]);
  });

  test('holds no moment that is not in the calendar', async () => {
    const request = postTask({ status: 'completed', completed_at: '2026-02-30T00:00:00Z' });
    const answer = await request;
    expect([400, 422]).toContain(answer.status);
    expect(answer.body.errors[0].field).toBe('task_metadata.completed_at');
  });

  test('holds no blank blocker', async () => {
    expect(await expectRefused(service, postTask({ status: 'blocked', blockers: ['b', ' '] }), 422)).toEqual({
      code: 'semantic_error',
      fields: ['task_metadata.blockers.1'],
    });
  });

  test('keeps to what a line of a file may take, whatever is in it', async () => {
    const { status } = await postTask({ status: 'blocked', blockers: ['b'.repeat(100_000)] });
    expect([400, 422]).toContain(status);
  });

  test('said to be completed again keeps its moment', async () => {
    const { id } = await client.task('Done');
    const first = await stateOf(id, { status: 'completed' });
    const doneAt = momentNow(service);
    service.clock.advance(60_000);
    expect(first).toEqual({ status: 'completed', completed_at: doneAt });
    const { memory, updated_fields } = await client.patch(id, { task_metadata: { status: 'completed' } });
    expect([memory.task_metadata, updated_fields]).toEqual([first, []]);
    expect(await stateOf(id, { status: 'completed', outcome: 'It works' })).toEqual({ ...first, outcome: 'It works' });
  });

  test('said with another moment takes that', async () => {
    const { id } = await client.task('Done', { status: 'completed' });
    const said = { status: 'completed', completed_at: '2025-11-11T11:11:11Z' };
    expect(await stateOf(id, said)).toEqual(said);
  });

  test('stands in place of what it was: what is left out is gone', async () => {
    const { id } = await client.task('Stuck', { status: 'blocked', blockers: ['b'] });
    expect(await stateOf(id, { status: 'in-progress' })).toEqual({ status: 'in-progress' });
    expect(await stateOf(id, { status: 'blocked' })).toEqual({ status: 'blocked', blockers: [] });
    service.clock.advance(1_000);
    const doneAt = momentNow(service);
    expect(await stateOf(id, { status: 'completed', outcome: 'Done' })).toEqual({
      status: 'completed',
      completed_at: doneAt,
      outcome: 'Done',
    });
    expect(await stateOf(id, { status: 'completed' })).toEqual({ status: 'completed', completed_at: doneAt });
  });

  test('of a task that was taken up again and completed anew is done anew', async () => {
    const { id } = await client.task('Done too early', { status: 'completed' });
    await stateOf(id, { status: 'in-progress' });
    service.clock.advance(1_000);
    expect(await stateOf(id, { status: 'completed' })).toEqual({
      status: 'completed',
      completed_at: momentNow(service),
    });
  });

  test('is taken away by null', async () => {
    const { id } = await client.task('Done', { status: 'completed' });
    const { memory, updated_fields } = await client.patch(id, { task_metadata: null });
    expect(updated_fields).toEqual(['task_metadata']);
    expect(memory).not.toHaveProperty('task_metadata');
    expect(await client.read(id)).not.toHaveProperty('task_metadata');
  });

  test('stays when others change', async () => {
    const said = { status: 'blocked', blockers: ['b'] };
    const { id } = await client.task('Stuck', said);
    expect((await client.patch(id, { content: 'Still stuck' })).memory.task_metadata).toEqual(said);
    const { body } = await client.postEntry({ id, type: 'task', content: 'Ever stuck' }).expect(200);
    expect(body.memory.task_metadata).toEqual(said);
  });
});
