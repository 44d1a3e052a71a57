import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { dataDirectory, type ServiceProcess, startProcess } from '../support/process.js';
import { memoryBody, readBody, writeBody } from '../support/requests.js';

/**
 * Writers that never pause, a service that is killed at the moment of the n-th acknowledgement, and the same data directory
 * from the first round to the last. Small numbers of acknowledgements hit the creation of files, large ones hit full groups.
 */
const ACKNOWLEDGEMENTS_BEFORE_KILL = [1, 2, 3, 5, 8, 13, 21, 34, 55, 1, 4, 16, 32, 64];
const WRITERS = 12;
const LOOKUPS_AT_ONCE = 16;

/** A request, by the name that all its texts carry. It keeps its idempotency key when it is sent again. */
interface Wish {
  readonly name: string;
  readonly repoId: string;
  readonly path: string;
  readonly body: object;
}

/** A memory that was acknowledged, and what must be found on it ever after. */
interface Kept {
  readonly repoId: string;
  readonly memoryId: string;
  readonly text: string;
  readonly links: readonly string[];
  readonly votes: number;
}

interface Member {
  readonly memory_id: string;
  readonly role: string;
}

/** What each sort of request stores, if it stores anything. */
const WHOLE: Record<string, { texts: number; links: number; votes: number }> = {
  single: { texts: 1, links: 1, votes: 0 },
  family: { texts: 5, links: 4, votes: 1 },
};

const data = dataDirectory();
let service: ServiceProcess;
/** A global memory to which every request links, from the global space and over the border of a repo. */
let anchorId: string;

beforeAll(async () => {
  service = await startProcess(data.path);
  const anchor = writeBody({ text: 'Everything here hangs on this', scope: 'global' });
  anchorId = (await service.http.post('/memory/write').send(anchor).expect(201)).body.memory_id;
});
afterAll(async () => {
  await service.kill();
  data.remove();
});

const kept: Kept[] = [];

test.each(ACKNOWLEDGEMENTS_BEFORE_KILL.map((acknowledgements, index) => ({ round: index + 1, acknowledgements })))(
  'round $round, killed after $acknowledgements acknowledgements: what was acknowledged is there, and nothing is there by halves',
  async ({ round, acknowledgements }) => {
    const storm = await writeUntilKilled(round, acknowledgements);
    expect(storm.kept.length).toBeGreaterThanOrEqual(acknowledgements);
    expect(storm.cut).toHaveLength(WRITERS);
    kept.push(...storm.kept);

    service = await startProcess(data.path);
    await expectOnline(storm.kept);
    expectSoundFiles(kept);

    // A caller who got no answer asks again with the same key: whether or not the first one was stored, it is there once.
    for (const wish of storm.cut) kept.push(...keptBy(wish, await send(wish)));
    expectSoundFiles(kept);
  },
);

test('after all those kills every memory is still there with its links, every repo is listed, and search works', async () => {
  await service.kill();
  service = await startProcess(data.path);
  await expectOnline(kept);
  const repos = (await service.http.get('/repos?limit=100').expect(200)).body.repos as { repo_id: string }[];
  expect(repos.map((repo) => repo.repo_id).sort()).toEqual([...new Set(kept.map((one) => one.repoId))].sort());
  const last = kept.at(-1) as Kept;
  const pack = await service.http
    .post('/memory/read')
    .send(readBody(last.text, {}, last.repoId))
    .expect(200);
  expect(pack.body.direct[0]).toMatchObject({ memory_id: last.memoryId });
});

async function writeUntilKilled(round: number, acknowledgements: number): Promise<{ kept: Kept[]; cut: Wish[] }> {
  const kept: Kept[] = [];
  const cut: Wish[] = [];
  let acknowledged = 0;
  const write = async (writer: number): Promise<void> => {
    for (let step = 0; ; step++) {
      const wish = wishOf(round, writer, step);
      const answer = await send(wish).catch((error: unknown) => {
        // What `fetch` throws when the other end is gone; a refusal is a failure of the test.
        if (error instanceof TypeError) return null;
        throw error;
      });
      if (answer === null) {
        cut.push(wish);
        return;
      }
      kept.push(...keptBy(wish, answer));
      acknowledged += 1;
      if (acknowledged === acknowledgements) service.kill();
    }
  };
  await Promise.all(Array.from({ length: WRITERS }, (_, writer) => write(writer)));
  expect((await service.exited).signal).toBe('SIGKILL');
  return { kept, cut };
}

/** Writers take turns in three old repos, one that is new in this round, and global scope; every other request is a batch. */
function wishOf(round: number, writer: number, step: number): Wish {
  const turn = (writer + step) % 5;
  const repoId = ['crash/one', 'crash/two', 'crash/three', `crash/new in ${round}`, 'crash/one'][turn] as string;
  const scope = turn === 4 ? 'global' : 'repo';
  const isFamily = (writer + round + step) % 2 === 0;
  const name = `${isFamily ? 'family' : 'single'} r${round}w${writer}s${step}`;
  const memory = (text: string, kind: string, links: object = {}) =>
    memoryBody({ text: `${name} ${text}`, kind, scope, links });
  const write = (ref: string, kind: string, links?: object) => ({
    op: 'write',
    ref,
    memory: memory(ref, kind, links),
    allow_duplicate: true,
  });
  if (!isFamily) {
    const links = { related_memory_ids: [anchorId] };
    const body = { op: 'write', repo_id: repoId, memory: memory('alone', 'fact', links), allow_duplicate: true };
    return { name, repoId, path: '/memory/write', body };
  }
  const items = [
    write('problem', 'problem'),
    write('solution', 'solution', { problem_id: '@problem', related_memory_ids: [anchorId] }),
    write('old', 'fact'),
    write('new', 'fact', { related_memory_ids: ['@solution'] }),
    write('change', 'change'),
    {
      op: 'update',
      memory_id: '@change',
      update: { type: 'fact_update_link', old_fact_id: '@old', new_fact_id: '@new' },
    },
    { op: 'update', memory_id: '@solution', update: { type: 'utility_vote', problem_id: '@problem', vote: 1 } },
  ];
  return { name, repoId, path: '/memory/batch', body: { repo_id: repoId, items } };
}

async function send({ name, path, body }: Wish): Promise<Record<string, unknown>> {
  const answer = await fetch(`${service.address}${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'idempotency-key': name.replace(' ', '-') },
    body: JSON.stringify(body),
  });
  const text = await answer.text();
  if (!answer.ok) throw new Error(`${name} was refused: ${text}`);
  return JSON.parse(text);
}

const linkText = (label: string, members: readonly Member[]): string =>
  `${label} ${members.map((member) => `${member.role}=${member.memory_id}`).sort()}`;

/** What an acknowledgement promises, worked out from the request and the ids alone. */
function keptBy({ name, repoId }: Wish, answer: Record<string, unknown>): Kept[] {
  const related = (first: string, second: string) =>
    linkText('related_to', [
      { role: 'participant', memory_id: first },
      { role: 'participant', memory_id: second },
    ]);
  if (!Array.isArray(answer.results)) {
    const memoryId = answer.memory_id as string;
    return [{ repoId, memoryId, text: `${name} alone`, links: [related(memoryId, anchorId)], votes: 0 }];
  }
  const [problem, solution, old, young, change] = answer.results.map((result) => result.memory_id) as string[] as [
    string,
    string,
    string,
    string,
    string,
  ];
  const attempt = linkText('attempts', [
    { role: 'subject', memory_id: solution },
    { role: 'object', memory_id: problem },
  ]);
  const replacement = linkText('fact_update', [
    { role: 'cause', memory_id: change },
    { role: 'object', memory_id: old },
    { role: 'effect', memory_id: young },
  ]);
  const member = (memoryId: string, ref: string, links: string[], votes = 0): Kept => ({
    repoId,
    memoryId,
    text: `${name} ${ref}`,
    links: links.sort(),
    votes,
  });
  return [
    member(problem, 'problem', [attempt]),
    member(solution, 'solution', [attempt, related(solution, anchorId), related(young, solution)], 1),
    member(old, 'old', [replacement]),
    member(young, 'new', [replacement, related(young, solution)]),
    member(change, 'change', [replacement]),
  ];
}

/** Every memory is there over HTTP, with all of its links and votes and no others. */
async function expectOnline(kept: readonly Kept[]): Promise<void> {
  for (let start = 0; start < kept.length; start += LOOKUPS_AT_ONCE) {
    const group = kept.slice(start, start + LOOKUPS_AT_ONCE);
    const found = await Promise.all(
      group.map(async ({ repoId, memoryId }): Promise<Kept> => {
        const query = new URLSearchParams({ repo_id: repoId });
        const answer = await fetch(`${service.address}/memory/${memoryId}?${query}`);
        const {
          text,
          links = [],
          votes,
        } = (await answer.json()) as {
          text: string;
          links?: { label: string; members: Member[] }[];
          votes?: { count: number };
        };
        const linkTexts = links.map((link) => linkText(link.label, link.members)).sort();
        return { repoId, memoryId, text, links: linkTexts, votes: votes?.count ?? 0 };
      }),
    );
    expect(found).toEqual(group);
  }
}

/** What no file may ever hold: each is a plan of which some part is missing. */
const HALVES = {
  'a memory without its details':
    "SELECT id FROM nodes WHERE form = 'memory' AND seq NOT IN (SELECT node_seq FROM memories)",
  'a memory that search does not know':
    "SELECT id FROM nodes WHERE form = 'memory' AND seq NOT IN (SELECT rowid FROM node_search)",
  'a search row of no memory': 'SELECT rowid FROM node_search WHERE rowid NOT IN (SELECT node_seq FROM memories)',
  'a memory without its evidence':
    "SELECT id FROM nodes WHERE form = 'memory' AND seq NOT IN (SELECT node_seq FROM node_evidence)",
  'a node that the log does not mention':
    'SELECT id FROM nodes WHERE seq NOT IN (SELECT node_seq FROM evolution_nodes)',
  'a link without its members': `SELECT id, label FROM hyperedges
     WHERE (SELECT count(*) FROM membership WHERE edge_seq = seq) <> CASE label WHEN 'fact_update' THEN 3 ELSE 2 END`,
  'a count that is not the number of nodes': `SELECT form, kind, tier, nodes FROM node_counts AS counted
     WHERE nodes <> (SELECT count(*) FROM nodes WHERE form = counted.form AND counted.kind IN (kind, '') AND tier = counted.tier)`,
};

/** Every file is sound, every request is there wholly or not at all and never twice, and all that was acknowledged is there. */
function expectSoundFiles(kept: readonly Kept[]): void {
  const stored = new Set<string>();
  for (const file of databaseFiles()) {
    const db = new Database(file, { readonly: true });
    try {
      expect(db.pragma('integrity_check'), file).toEqual([{ integrity_check: 'ok' }]);
      expect(db.pragma('foreign_key_check'), file).toEqual([]);
      // Killed between making the file and giving it its tables: the next one to open it does that.
      if (db.prepare('SELECT count(*) FROM sqlite_master').pluck().get() === 0) continue;
      for (const [half, query] of Object.entries(HALVES))
        expect(db.prepare(query).all(), `${half} in ${file}`).toEqual([]);
      for (const [name, parts] of requestsIn(db))
        expect(parts, `${name} in ${file}`).toEqual(WHOLE[name.split(' ')[0] as string]);
      for (const { id } of db.prepare("SELECT id FROM nodes WHERE form = 'memory'").all() as { id: string }[])
        stored.add(id);
    } finally {
      db.close();
    }
  }
  expect(kept.filter((memory) => !stored.has(memory.memoryId))).toEqual([]);
}

function requestsIn(db: Database.Database): Map<string, { texts: number; links: number; votes: number }> {
  const rows = db
    .prepare(
      `WITH named AS (
         SELECT seq, substr(content, 1, 7 + instr(substr(content, 8), ' ') - 1) AS name FROM nodes
         WHERE content LIKE 'single %' OR content LIKE 'family %'
       )
       SELECT name, count(*) AS texts,
         (SELECT count(DISTINCT edge_seq) FROM membership JOIN named AS linked ON linked.seq = node_seq WHERE linked.name = named.name) AS links,
         (SELECT count(*) FROM utility_observations JOIN named AS voted ON voted.seq = memory_seq WHERE voted.name = named.name) AS votes
       FROM named GROUP BY name`,
    )
    .all() as { name: string; texts: number; links: number; votes: number }[];
  return new Map(rows.map(({ name, ...parts }) => [name, parts]));
}

const databaseFiles = (): string[] =>
  readdirSync(data.path, { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.db'))
    .map((path) => join(data.path, path));
