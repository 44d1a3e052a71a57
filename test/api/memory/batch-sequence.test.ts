import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { change, type MemoryFields, memoryBody, remember } from '../../support/requests.js';
import { tables } from '../../support/rows.js';
import { type Service, startService } from '../../support/service.js';
import { times } from '../../support/together.js';

let service: Service;
beforeAll(async () => {
  service = await startService();
});
afterAll(() => service.stop());

const write = (fields: MemoryFields, more: object = {}) => ({ op: 'write', memory: memoryBody(fields), ...more });
const update = (memoryId: string, change: object) => ({ op: 'update', memory_id: memoryId, update: change });
const replace = (oldId: string, newId: string) => ({
  type: 'fact_update_link',
  old_fact_id: oldId,
  new_fact_id: newId,
});
const archive = (archived: boolean) => ({ type: 'archive_state', archived });
const send = (repoId: string, items: object[]) => service.http.post('/memory/batch').send({ repo_id: repoId, items });

describe('an item sees what the items before it did', () => {
  const text = 'Seen in passing';
  const duplicatesOf = (body: { results: { duplicate_of: string | null }[] }) =>
    body.results.map((result) => result.duplicate_of);

  test('a memory of the store that was archived is no duplicate any more', async () => {
    const known = await remember(service, { text }, 'sees/archived');
    const { body } = await send('sees/archived', [update(known, archive(true)), write({ text })]).expect(200);
    expect(duplicatesOf(body)).toEqual([null, null]);
  });

  test('a memory of the batch that was archived is no duplicate any more', async () => {
    const items = [write({ text }, { ref: 'first' }), update('@first', archive(true)), write({ text })];
    const { body } = await send('sees/drafted', items).expect(200);
    expect(duplicatesOf(body)).toEqual([null, null, null]);
    expect(tables(service, 'sees/drafted').memories).toHaveLength(2);
  });

  test('a memory that was restored is a duplicate again', async () => {
    const known = await remember(service, { text }, 'sees/restored');
    await change(service, known, archive(true), 'sees/restored');
    const { body } = await send('sees/restored', [update(known, archive(false)), write({ text })]).expect(200);
    expect(duplicatesOf(body)).toEqual([null, known]);
  });

  test('a fact that was replaced is no duplicate any more', async () => {
    const known = await remember(service, { text }, 'sees/replaced');
    const { body } = await send('sees/replaced', [
      write({ text: 'Seen better' }, { ref: 'better' }),
      write({ kind: 'change', text: 'New glasses' }, { ref: 'glasses' }),
      update('@glasses', replace(known, '@better')),
      write({ text }),
    ]).expect(200);
    expect(duplicatesOf(body)).toEqual([null, null, null, null]);
  });

  test('the second of two of the same text answers when the first was archived', async () => {
    const repoId = 'sees/second';
    const first = await remember(service, { text }, repoId);
    const again = { op: 'write', repo_id: repoId, memory: memoryBody({ text }), allow_duplicate: true };
    const { body: second } = await service.http.post('/memory/write').send(again).expect(201);
    const { body } = await send(repoId, [update(first, archive(true)), write({ text })]).expect(200);
    expect(duplicatesOf(body)).toEqual([null, second.memory_id]);
  });

  test('what was archived and restored is where it was', async () => {
    const known = await remember(service, { text }, 'sees/toggled');
    const items = [true, true, false, true, false].map((archived) => update(known, archive(archived)));
    const { body } = await send('sees/toggled', items).expect(200);
    expect(body.results.map((result: { side_effects: object[] }) => result.side_effects.length)).toEqual([
      1, 0, 1, 1, 1,
    ]);
    const { body: detail } = await service.http.get(`/memory/${known}`).query({ repo_id: 'sees/toggled' });
    expect(detail.state).toBe('current');
  });

  test('a repeat of an earlier item adds only its new evidence, and shows all of it', async () => {
    const { body } = await send('sees/evidence', [
      write({ text, evidence_refs: ['a', 'b'] }),
      write({ text, evidence_refs: ['b', 'c'] }),
    ]).expect(200);
    expect(body.results[1].memory.evidence_refs).toEqual(['a', 'b', 'c']);
    expect(body.results[1].side_effects).toMatchObject([{ effect: 'evidence_attached', evidence_refs: ['c'] }]);
    expect(tables(service, 'sees/evidence').node_evidence).toHaveLength(3);
  });
});

test('a batch of as many links as it may hold is carried out', async () => {
  const repoId = 'sees/links';
  const targets = await send(
    repoId,
    times(100, (index) => write({ text: `Target ${index}` })),
  ).expect(200);
  const ids = targets.body.results.map((result: { memory_id: string }) => result.memory_id);
  const items = times(100, (index) => write({ text: `Hub ${index}`, links: { related_memory_ids: ids } }));
  await send(repoId, items).expect(200);
  const again = await send(repoId, items).expect(200);
  expect(again.body.results.flatMap((result: { side_effects: object[] }) => result.side_effects)).toEqual([]);
  expect(tables(service, repoId).hyperedges).toHaveLength(10_000);
});
