import { createHash } from 'node:crypto';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { change, remember } from '../support/requests.js';
import { tables } from '../support/rows.js';
import { type Service, startService } from '../support/service.js';

let directory: string;
let service: Service;
const start = async (): Promise<void> => {
  service = await startService({ RLM_MEMORY_DB: join(directory, 'memory.db') });
};
beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), 'loci-determinism-'));
  await start();
});
afterAll(async () => {
  await service.stop();
  rmSync(directory, { recursive: true, force: true });
});

interface Draft {
  readonly words: readonly string[];
  readonly scope: string;
  readonly target: number;
  readonly afterwards: 'nothing' | 'archive' | 'vote' | 'replace';
}

/** Few words, so that many memories match alike and only a rule can order them. */
const draft: fc.Arbitrary<Draft> = fc.record({
  words: fc.array(fc.constantFrom('anchor', 'beacon', 'current', 'delta'), { minLength: 1, maxLength: 4 }),
  scope: fc.constantFrom('repo', 'repo', 'global'),
  target: fc.nat(),
  afterwards: fc.constantFrom('nothing', 'archive', 'vote', 'replace'),
});

let stores = 0;

/** Writes the drafts into a repo of their own, linked to one another, and answers the repo with the ids. */
async function fill(drafts: readonly Draft[]): Promise<{ repoId: string; ids: string[] }> {
  const repoId = `determinism/${++stores}`;
  const problemId = await remember(service, { text: 'anchor beacon', kind: 'problem' }, repoId);
  const changeId = await remember(service, { text: 'delta', kind: 'change' }, repoId);
  const ids: string[] = [];
  for (const { words, scope, target, afterwards } of drafts) {
    service.clock.advance(1000);
    const earlier = ids.length > 0 && scope === 'repo' ? [ids[target % ids.length] as string] : [];
    const text = `${words.join(' ')} ${stores}x${ids.length}`;
    const id = await remember(service, { text, scope, links: { related_memory_ids: earlier } }, repoId);
    if (afterwards === 'archive') await change(service, id, { type: 'archive_state', archived: true }, repoId);
    if (afterwards === 'vote')
      await change(service, id, { type: 'utility_vote', problem_id: problemId, vote: 0.5 }, repoId);
    // The newest fact replaces an older one: a chain cannot turn into a circle.
    const old_fact_id = earlier[0];
    if (afterwards === 'replace' && old_fact_id) {
      await change(service, changeId, { type: 'fact_update_link', old_fact_id, new_fact_id: id }, repoId);
    }
    ids.push(id);
  }
  return { repoId, ids };
}

const READS = [
  { mode: 'targeted' },
  { mode: 'ambient', limit: 5 },
  { mode: 'targeted', limit: 3, explain: true },
  { mode: 'targeted', explain: true, include_archived: true, expand: { semantic_hops: 3 } },
  { mode: 'targeted', max_tokens: 30 },
  { mode: 'ambient', as_of: '2026-01-01T00:00:05.000Z' },
  { mode: 'targeted', kinds: ['fact'], include_global: false },
];

/** The bodies of every route that reads, byte for byte. */
async function readAll(repoId: string, ids: readonly string[]): Promise<string[]> {
  const bodies: string[] = [];
  for (const query of ['anchor', 'beacon current', 'delta anchor beacon current']) {
    for (const more of READS) {
      bodies.push(
        (
          await service.http
            .post('/memory/read')
            .send({ op: 'read', repo_id: repoId, query, ...more })
            .expect(200)
        ).text,
      );
    }
  }
  for (const id of ids) {
    for (const path of [`/memory/${id}`, `/memory/${id}/chain`]) {
      bodies.push((await service.http.get(path).query({ repo_id: repoId }).expect(200)).text);
    }
  }
  return bodies;
}

/** Numbers about the store itself, which a restart may change. */
const readStore = async (repoId: string): Promise<string[]> => [
  (await service.http.get('/stats').query({ repo_id: repoId }).expect(200)).text,
  (await service.http.get('/repos').expect(200)).text,
];

/** A digest over all rows of all tables of the repo and of the main file, and over the names of the files. */
function digest(repoId: string): string {
  const files = readdirSync(join(dirname(service.file), 'memory.db.repos')).filter((name) => name.endsWith('.db'));
  const rows = [tables(service, repoId), tables(service, null)];
  expect(Object.keys(rows[0] ?? {}).length).toBeGreaterThan(5);
  return createHash('sha256')
    .update(JSON.stringify([files.sort(), rows]))
    .digest('hex');
}

const drafts = fc.array(draft, { minLength: 3, maxLength: 14 });

test('the same store gives the same answer byte for byte, and reading it changes not one row', async () => {
  await fc.assert(
    fc.asyncProperty(drafts, async (some) => {
      const { repoId, ids } = await fill(some);
      const before = digest(repoId);
      const first = [await readAll(repoId, ids), await readStore(repoId)];
      expect([await readAll(repoId, ids), await readStore(repoId)]).toEqual(first);
      expect(digest(repoId)).toBe(before);
    }),
    { numRuns: 10, seed: 2 },
  );
});

test('requests side by side get the answers they get one after another', async () => {
  const { repoId, ids } = await fill(fc.sample(drafts, { numRuns: 1, seed: 3 })[0] as Draft[]);
  const first = await readAll(repoId, ids);
  const rounds = await Promise.all([readAll(repoId, ids), readAll(repoId, ids), readAll(repoId, ids)]);
  for (const round of rounds) expect(round).toEqual(first);
});

test('a refused read and a read of what is not there change nothing either', async () => {
  const { repoId } = await fill([]);
  const before = digest(repoId);
  const unknown = 'ffffffff-ffff-4fff-8fff-ffffffffffff';
  await service.http
    .post('/memory/read')
    .send({ op: 'read', repo_id: repoId, mode: 'targeted', query: ' ' })
    .expect(422);
  await service.http
    .post('/memory/read')
    .send({ op: 'read', repo_id: 'nobody', mode: 'targeted', query: 'x' })
    .expect(200);
  for (const path of [`/memory/${unknown}`, `/memory/${unknown}/chain`]) {
    await service.http.get(path).query({ repo_id: 'nobody' }).expect(404);
  }
  await service.http.get('/stats').query({ repo_id: 'nobody' }).expect(200);
  expect(digest(repoId)).toBe(before);
});

/** Last in the file: a restarted service counts its ids from one again, so nothing can be written after it. */
test('the answers are the same after a restart', async () => {
  const filled: { repoId: string; ids: string[] }[] = [];
  for (const some of fc.sample(drafts, { numRuns: 3, seed: 5 })) filled.push(await fill(some));
  const answers = async () => {
    const all: string[][] = [];
    for (const { repoId, ids } of filled) all.push(await readAll(repoId, ids));
    return all;
  };
  const digests = () => filled.map(({ repoId }) => digest(repoId));
  const [before, rows] = [await answers(), digests()];
  await service.stop();
  await start();
  expect(await answers()).toEqual(before);
  expect(digests()).toEqual(rows);
});
