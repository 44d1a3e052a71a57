import { expect } from 'vitest';
import type { Service } from '../support/service.js';
import type { FullBody } from './bad-input-requests.js';

/** A journal, in requests that are right. */

const TASK_ID = '00000000-0000-4000-8000-000000000020';
const IN_SHOP = '?repo_id=acme%2Fshop';

const TASK = { status: 'completed', completed_at: '2026-01-01T00:00:00Z', outcome: 'Twenty suffice' };

export const JOURNAL_BODIES: readonly FullBody[] = [
  { path: '/maintenance/sweep', name: 'sweep', body: { repo_id: 'acme/shop', dry_run: true } },
  {
    path: `/journal${IN_SHOP}`,
    name: 'entry',
    body: {
      id: TASK_ID,
      type: 'task',
      content: 'Size the pool',
      category: 'work',
      tags: ['pool'],
      importance: 'high',
      task_metadata: { status: 'blocked', blockers: ['No figures'] },
    },
  },
  {
    path: `/journal${IN_SHOP}`,
    name: 'entry of a task that is done',
    body: { id: TASK_ID, type: 'task', content: 'Size the pool', task_metadata: TASK },
  },
  {
    path: `/journal/${TASK_ID}${IN_SHOP}`,
    name: 'entry patch',
    method: 'PATCH',
    body: {
      content: 'Size the pool again',
      category: 'later',
      tags: ['pool', 'size'],
      importance: 'low',
      archived: false,
      task_metadata: TASK,
    },
    nullable: ['category', 'task_metadata'],
  },
];

export const JOURNAL_PATHS: Readonly<Record<string, string>> = {
  '/journal/{entry_id}': `/journal/${TASK_ID}${IN_SHOP}`,
  '/journal/views/{view}': `/journal/views/recent${IN_SHOP}`,
};

/** A task. */
export async function seedJournal(service: Service): Promise<void> {
  const body = { type: 'task', content: 'Find out how large the pool is' };
  const entry = await service.http.post('/journal').query({ repo_id: 'acme/shop' }).send(body).expect(201);
  expect(entry.body.id).toBe(TASK_ID);
}
