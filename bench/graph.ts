import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readConfig } from '../src/config.js';
import type { Change } from '../src/domain/changes.js';
import type { Member } from '../src/domain/links.js';
import { indexTerms } from '../src/domain/terms.js';
import type { Role } from '../src/domain/vocabulary.js';
import { openStore } from '../src/storage/open.js';
import { startService } from './children.js';
import { Random } from './random.js';
import { median } from './statistics.js';

/** What it costs to look around a node, in a small graph and in one a hundred times as large. */

const SEED = 20_260_102;
const SMALL = { repoId: 'graph/small', nodes: 1_000 };
const LARGE = { repoId: 'graph/large', nodes: 100_000 };
/** Three memberships for each node: edges of two members. */
const EDGES_PER_NODE = 1.5;
const PLAN_CHANGES = 1_000;
const ROUNDS = 5;
const LOOKUPS_PER_ROUND = 400;
const RATIO_MAX = 2;

/** Two nodes that everybody knows: ten times the edges may cost ten times as much, not a hundred times. */
const HUBS = [
  { repoId: 'graph/hub', nodes: 2_000 },
  { repoId: 'graph/large-hub', nodes: 20_000 },
] as const;
const HUB_LOOKUPS_PER_ROUND = 5;
const HUB_RATIO_MAX = 20;

/** Everybody is joined to everybody, over edges of very many members: whoever else asks waits no longer than this. */
const DENSE = { repoId: 'graph/dense', nodes: 500 };
const DENSE_EDGES = 2_000;
const DENSE_MEMBERS = 100;
const DENSE_LOOKUPS = 5;
const WAIT_MAX_MS = 250;

interface Graph {
  readonly repoId: string;
  readonly ids: readonly string[];
}

type Pairs = Generator<readonly string[]>;

function* randomPairs(ids: readonly string[], random: Random): Pairs {
  for (let edge = 0; edge < ids.length * EDGES_PER_NODE; edge++) yield [random.pick(ids), random.pick(ids)];
}

/** The first of them with each of the others. */
function* hubPairs([hub, ...others]: readonly string[]): Pairs {
  for (const other of others) yield [hub as string, other];
}

/** Sets of nodes that overlap in ever other ways. */
function* denseSets(ids: readonly string[], random: Random): Pairs {
  for (let edge = 0; edge < DENSE_EDGES; edge++) {
    const among = new Set<string>();
    while (among.size < DENSE_MEMBERS) among.add(random.pick(ids));
    yield [...among];
  }
}

function* changesOf(repoId: string, ids: readonly string[], pairs: Pairs, random: Random): Generator<Change> {
  const atMs = 1_767_225_600_000;
  for (const id of ids) {
    const content = `node ${id}`;
    yield {
      change: 'insert_node',
      terms: indexTerms(content),
      node: {
        id,
        form: 'concept',
        kind: null,
        type: 'entity',
        repoId,
        scope: 'repo',
        content,
        confidence: 0.5,
        tier: 'longterm',
        archivedAtMs: null,
        archiveReason: null,
        revision: 1,
        createdAtMs: atMs,
        updatedAtMs: atMs,
        provenance: null,
        metadata: {},
        tags: [],
        sessionId: null,
        taskId: null,
      },
    };
  }
  let edge = 0;
  for (const joined of pairs) {
    if (new Set(joined).size < joined.length) continue;
    const roles: readonly Role[] = joined.length === 2 ? ['subject', 'object'] : [];
    const members = joined.map(
      (nodeId, position): Member => ({ nodeId, role: roles[position] ?? 'participant', position }),
    );
    // Its number makes the label unique: two edges may join the same nodes.
    const label = `uses ${edge++}`;
    yield {
      change: 'insert_edge',
      id: random.id(),
      repoId,
      type: 'relation',
      label,
      weight: 1,
      origin: 'auto',
      rationale: null,
      members,
      atMs,
    };
  }
}

type PairsOf = (ids: readonly string[], random: Random) => Pairs;

async function fillGraph(file: string, size: typeof SMALL, pairsOf: PairsOf, random: Random): Promise<Graph> {
  const { repoId, nodes } = size;
  const store = openStore(readConfig({ RLM_MEMORY_DB: file }), Date.now);
  const ids = Array.from({ length: nodes }, () => random.id());
  let changes: Change[] = [];
  const flush = async (): Promise<void> => {
    if (changes.length > 0) await store.apply({ space: repoId, changes });
    changes = [];
  };
  for (const change of changesOf(repoId, ids, pairsOf(ids, random), random)) {
    changes.push(change);
    if (changes.length >= PLAN_CHANGES) await flush();
  }
  await flush();
  await store.close();
  return { repoId, ids };
}

/** The middle time of a round of lookups, one after the other, in milliseconds. */
async function round(address: string, { repoId, ids }: Graph, lookups: number, random: Random): Promise<number> {
  const times: number[] = [];
  for (let lookup = 0; lookup < lookups; lookup++) {
    const id = random.pick(ids);
    const startedAt = performance.now();
    const answer = await fetch(`${address}/nodes/${id}/related?repo_id=${encodeURIComponent(repoId)}`);
    await answer.text();
    if (!answer.ok) throw new Error(`the service answered ${answer.status}`);
    times.push(performance.now() - startedAt);
  }
  return median(times);
}

/** The middle times of two graphs, measured in turn. */
async function compare(address: string, graphs: readonly [Graph, Graph], lookups: number, random: Random) {
  const medians: [number[], number[]] = [[], []];
  for (let count = 0; count <= ROUNDS; count++) {
    process.stdout.write(count === 0 ? 'warming up\n' : `round ${count} of ${ROUNDS}\n`);
    for (const index of [0, 1] as const) {
      const time = await round(address, graphs[index], lookups, random);
      if (count > 0) medians[index].push(time);
    }
  }
  return [median(medians[0]), median(medians[1])] as const;
}

function report(title: string, names: readonly [string, string], times: readonly [number, number], max: number): void {
  const [first, second] = times.map((time) => `${time.toFixed(2)} ms`);
  const ratio = times[1] / times[0];
  process.stdout.write(`${title}, ${names[0]}: ${first}; ${names[1]}: ${second}\n`);
  process.stdout.write(`${ratio <= max ? 'holds' : 'MISSED'}: ${ratio.toFixed(2)} times, at most ${max}\n`);
}

/** How long the service is busy with nothing but a look three steps around: the longest wait of one who asks for little. */
async function longestWait(address: string, { repoId, ids }: Graph, random: Random): Promise<number> {
  const waits: number[] = [];
  for (let lookup = 0; lookup < DENSE_LOOKUPS; lookup++) {
    const path = `/nodes/${random.pick(ids)}/related?hops=3&limit=500&repo_id=${encodeURIComponent(repoId)}`;
    let isOver = false;
    const large = fetch(`${address}${path}`)
      .then((answer) => answer.arrayBuffer())
      .finally(() => {
        isOver = true;
      });
    while (!isOver) {
      const startedAt = performance.now();
      await (await fetch(`${address}/health/live`)).text();
      waits.push(performance.now() - startedAt);
    }
    await large;
  }
  return Math.max(...waits);
}

const directory = mkdtempSync(join(tmpdir(), 'loci-bench-'));
const random = new Random(SEED);
try {
  const file = join(directory, 'memory.db');
  const fill = (size: typeof SMALL, pairsOf: PairsOf) => fillGraph(file, size, pairsOf, random);
  const graphs = [await fill(SMALL, randomPairs), await fill(LARGE, randomPairs)] as const;
  const hubOf = async (size: typeof SMALL): Promise<Graph> => {
    const { repoId, ids } = await fill(size, hubPairs);
    return { repoId, ids: ids.slice(0, 1) };
  };
  const hubs = [await hubOf(HUBS[0]), await hubOf(HUBS[1])] as const;
  const dense = await fill(DENSE, denseSets);
  const service = await startService(file);
  try {
    const times = await compare(service.address, graphs, LOOKUPS_PER_ROUND, random);
    const hubTimes = await compare(service.address, hubs, HUB_LOOKUPS_PER_ROUND, random);
    const wait = await longestWait(service.address, dense, random);
    report('related nodes', ['1,000 nodes', '100,000 nodes'], times, RATIO_MAX);
    report('related nodes of a hub', ['2,000 edges', '20,000 edges'], hubTimes, HUB_RATIO_MAX);
    process.stdout.write(`others wait for a look three steps around a dense graph: ${wait.toFixed(0)} ms\n`);
    process.stdout.write(`${wait <= WAIT_MAX_MS ? 'holds' : 'MISSED'}: at most ${WAIT_MAX_MS} ms\n`);
  } finally {
    await service.stop();
  }
} finally {
  rmSync(directory, { recursive: true, force: true });
}
