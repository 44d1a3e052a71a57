import { readFileSync } from 'node:fs';
import type { Database } from 'better-sqlite3';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { ApplyConflict, StoreUnavailable } from '../../src/storage/port.js';
import { StoreFiles } from '../../src/storage/sqlite/files.js';
import { GroupCommit } from '../../src/storage/sqlite/group-commit.js';
import { Spaces } from '../../src/storage/sqlite/spaces.js';
import { temporaryDirectory } from '../support/directories.js';
import { idOf, insert, keep, OTHER_REPO, planIn, planOf, REPO } from '../support/plans.js';
import { connectDirectly, repoFileOf } from '../support/sqlite.js';

/** How many plans one transaction holds at most. */
const PLANS_PER_COMMIT_MAX = 500;

let directory: ReturnType<typeof temporaryDirectory>;
let file: string;
let spaces: Spaces;
let commits: GroupCommit;
/** A connection of its own: it sees what is committed, and nothing else. */
let observer: Database;

beforeEach(async () => {
  directory = temporaryDirectory();
  file = directory.path('memory.db');
  spaces = new Spaces(new StoreFiles(file), 10, () => {});
  commits = new GroupCommit(spaces);
  for (const repoId of [REPO, OTHER_REPO]) await commits.apply(planIn(repoId, insert(idOf(0), { repoId })));
  observer = connectDirectly(repoFileOf(file));
});
afterEach(() => {
  observer.close();
  spaces.close();
  directory.remove();
});

const committedIds = (): string[] => observer.prepare<[], string>('SELECT id FROM nodes ORDER BY id').pluck().all();

/** Counts the commits in a file's log: each frame that ends one says how large the file is then. */
function commitsIn(repoId: string): number {
  const log = readFileSync(`${repoFileOf(file, repoId)}-wal`);
  const pageSize = log.readUInt32BE(8);
  const salt = log.subarray(16, 24);
  let count = 0;
  for (let frame = 32; frame + 24 + pageSize <= log.length; frame += 24 + pageSize) {
    // Frames of before the log was last begun anew carry another salt.
    if (!log.subarray(frame + 8, frame + 16).equals(salt)) break;
    if (log.readUInt32BE(frame + 4) !== 0) count++;
  }
  return count;
}

async function countCommits(act: () => Promise<unknown>, repoId = REPO): Promise<number> {
  const before = commitsIn(repoId);
  await act();
  return commitsIn(repoId) - before;
}

const numbersTo = (count: number): number[] => Array.from({ length: count }, (_, index) => index + 1);
const applyTogether = (count: number) =>
  Promise.all(numbersTo(count).map((number) => commits.apply(planOf(insert(idOf(number))))));

describe('plans of the same turn', () => {
  test.each([1, 2, 50, PLANS_PER_COMMIT_MAX])('share one commit, %i of them', async (count) => {
    expect(await countCommits(() => applyTogether(count))).toBe(1);
    expect(committedIds()).toHaveLength(1 + count);
  });

  test('beyond what one transaction holds go into the next', async () => {
    expect(await countCommits(() => applyTogether(2 * PLANS_PER_COMMIT_MAX + 1))).toBe(3);
    expect(committedIds()).toHaveLength(2 + 2 * PLANS_PER_COMMIT_MAX);
  });

  test('for different spaces have a commit each', async () => {
    const both = () =>
      Promise.all([REPO, OTHER_REPO].map((repoId) => commits.apply(planIn(repoId, insert(idOf(1), { repoId })))));
    const before = commitsIn(OTHER_REPO);
    expect(await countCommits(both)).toBe(1);
    expect(commitsIn(OTHER_REPO)).toBe(before + 1);
  });

  test('are carried out in the order they came', async () => {
    const results = await Promise.allSettled([
      commits.apply(planOf(insert(idOf(1), { content: 'same' }, true))),
      commits.apply(planOf(insert(idOf(2), { content: 'same' }, true))),
    ]);
    expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'rejected']);
  });
});

test('plans one after the other have a commit each', async () => {
  const oneByOne = async () => {
    for (const number of numbersTo(5)) await commits.apply(planOf(insert(idOf(number))));
  };
  expect(await countCommits(oneByOne)).toBe(5);
});

test('nobody is answered before the commit: whoever is, finds the whole group stored', async () => {
  const answered: number[] = [];
  const plans = numbersTo(20).map((number) =>
    commits.apply(planOf(insert(idOf(number)))).then(() => {
      answered.push(number);
      return committedIds().length;
    }),
  );
  // Neither at once nor after all that waits for this turn has run.
  await new Promise<void>((resolve) => process.nextTick(resolve));
  expect(answered).toEqual([]);
  expect(committedIds()).toHaveLength(1);
  expect(await Promise.all(plans)).toEqual(numbersTo(20).map(() => 21));
});

test('flushing commits what waits, at once', async () => {
  const plan = commits.apply(planOf(insert(idOf(1))));
  commits.flush(REPO);
  expect(committedIds()).toContain(idOf(1));
  await plan;
});

describe('a plan that fails', () => {
  test('is rolled back to its savepoint, inside the commit of the others', async () => {
    await commits.apply(planOf(keep('taken')));
    const group = () =>
      Promise.allSettled([
        commits.apply(planOf(insert(idOf(1)))),
        commits.apply(planOf(insert(idOf(2)), insert(idOf(3)), keep('taken'))),
        commits.apply(planOf(insert(idOf(4)))),
      ]);
    expect(await countCommits(group)).toBe(1);
    expect(committedIds()).toEqual([0, 1, 4].map(idOf));
  });

  test('is answered after the commit too', async () => {
    await commits.apply(planOf(keep('taken')));
    const failing = commits.apply(planOf(keep('taken'))).catch((error: unknown) => ({ error, ids: committedIds() }));
    await commits.apply(planOf(insert(idOf(1))));
    const { error, ids } = (await failing) as { error: unknown; ids: string[] };
    expect(error).toBeInstanceOf(ApplyConflict);
    expect(ids).toContain(idOf(1));
  });

  test('with no other leaves the log without a trace of it', async () => {
    await commits.apply(planOf(keep('taken')));
    const lines = () => observer.prepare('SELECT count(*) FROM evolution_log').pluck().get();
    const before = lines();
    await expect(commits.apply(planOf(insert(idOf(1)), keep('taken')))).rejects.toThrow(ApplyConflict);
    expect(lines()).toBe(before);
  });
});

describe('when the commit cannot be made', () => {
  const outcomes = async (group: Promise<void>[]): Promise<unknown[]> =>
    (await Promise.allSettled(group)).map((result) => (result.status === 'rejected' ? result.reason : 'stored'));

  test('for want of room, everybody who is not stored is told so, and the next try works', async () => {
    const pages = (max: number | string) => spaces.use(REPO, ({ db }) => db.pragma(`max_page_count = ${max}`));
    const used = spaces.use(REPO, ({ db }) => db.pragma('page_count', { simple: true })) as number;
    pages(used + 2);
    const group = numbersTo(10).map((number) =>
      commits.apply(planOf(insert(idOf(number), { content: `${number} ${'text '.repeat(5_000)}` }))),
    );
    const results = await outcomes(group);
    expect(committedIds()).toHaveLength(1 + results.filter((result) => result === 'stored').length);
    const refused = results.filter((result) => result !== 'stored');
    expect(refused.length).toBeGreaterThan(0);
    for (const error of refused) {
      expect(error).toBeInstanceOf(StoreUnavailable);
      expect(error).toMatchObject({ reason: 'full' });
    }

    pages(1_000_000);
    await commits.apply(planOf(insert(idOf(20))));
    expect(committedIds()).toContain(idOf(20));
  });

  test('at its very end, everybody in it is told so, nothing is stored, and the next try works', async () => {
    // A debt that is asked for only at the end, when every plan of the group has gone well.
    observer.exec(`CREATE TABLE debts (node_seq REFERENCES nodes(seq) DEFERRABLE INITIALLY DEFERRED);
      CREATE TRIGGER make_debt AFTER INSERT ON nodes BEGIN INSERT INTO debts VALUES (-1); END`);
    const results = await outcomes(numbersTo(3).map((number) => commits.apply(planOf(insert(idOf(number))))));
    for (const error of results) expect(error).toMatchObject({ message: expect.stringMatching(/FOREIGN KEY/) });
    expect(committedIds()).toEqual([idOf(0)]);

    observer.exec('DROP TRIGGER make_debt');
    await applyTogether(3);
    expect(committedIds()).toHaveLength(4);
  });

  test('because another program holds the file, everybody is told so, and the next try works', async () => {
    // The real patience is five seconds.
    spaces.use(REPO, ({ db }) => db.pragma('busy_timeout = 0'));
    observer.exec('BEGIN IMMEDIATE');
    const results = await outcomes(numbersTo(3).map((number) => commits.apply(planOf(insert(idOf(number))))));
    observer.exec('ROLLBACK');
    for (const error of results) expect(error).toMatchObject({ name: 'StoreUnavailable', reason: 'busy' });
    expect(committedIds()).toEqual([idOf(0)]);
    await applyTogether(3);
    expect(committedIds()).toHaveLength(4);
  });
});
