import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readConfig } from '../src/config.js';
import type { Change } from '../src/domain/changes.js';
import { indexTerms } from '../src/domain/terms.js';
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

interface Graph {
  readonly repoId: string;
  readonly ids: readonly string[];
}

function* changesOf(repoId: string, ids: readonly string[], random: Random): Generator<Change> {
  const atMs = 1_767_225_600_000;
  for (const id of ids) {
    const content = `node ${id}`;
    yield {
      change: 'insert_concept',
      terms: indexTerms(content),
      concept: {
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
  const pick = (): string => random.pick(ids);
  for (let edge = 0; edge < ids.length * EDGES_PER_NODE; edge++) {
    const [subject, object] = [pick(), pick()];
    if (subject === object) continue;
    const members = [
      { nodeId: subject, role: 'subject', position: 0 },
      { nodeId: object, role: 'object', position: 1 },
    ] as const;
    // Its number makes the label unique: two edges may join the same nodes.
    const label = `uses ${edge}`;
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

async function fillGraph(file: string, { repoId, nodes }: typeof SMALL, random: Random): Promise<Graph> {
  const store = openStore(readConfig({ RLM_MEMORY_DB: file }), Date.now);
  const ids = Array.from({ length: nodes }, () => random.id());
  let changes: Change[] = [];
  const flush = async (): Promise<void> => {
    if (changes.length > 0) await store.apply({ space: repoId, changes });
    changes = [];
  };
  for (const change of changesOf(repoId, ids, random)) {
    changes.push(change);
    if (changes.length >= PLAN_CHANGES) await flush();
  }
  await flush();
  await store.close();
  return { repoId, ids };
}

/** The middle time of a round of lookups, one after the other, in milliseconds. */
async function round(address: string, { repoId, ids }: Graph, random: Random): Promise<number> {
  const times: number[] = [];
  for (let lookup = 0; lookup < LOOKUPS_PER_ROUND; lookup++) {
    const id = random.pick(ids);
    const startedAt = performance.now();
    const answer = await fetch(`${address}/nodes/${id}/related?repo_id=${encodeURIComponent(repoId)}`);
    await answer.text();
    if (!answer.ok) throw new Error(`the service answered ${answer.status}`);
    times.push(performance.now() - startedAt);
  }
  return median(times);
}

const directory = mkdtempSync(join(tmpdir(), 'loci-bench-'));
const random = new Random(SEED);
try {
  const file = join(directory, 'memory.db');
  const graphs = [await fillGraph(file, SMALL, random), await fillGraph(file, LARGE, random)] as const;
  const service = await startService(file);
  try {
    const medians: [number[], number[]] = [[], []];
    for (let count = 0; count <= ROUNDS; count++) {
      process.stdout.write(count === 0 ? 'warming up\n' : `round ${count} of ${ROUNDS}\n`);
      for (const index of [0, 1] as const) {
        const time = await round(service.address, graphs[index], random);
        if (count > 0) medians[index].push(time);
      }
    }
    const [small, large] = [median(medians[0]), median(medians[1])];
    const ratio = large / small;
    process.stdout.write(`related nodes, 1,000 nodes: ${small.toFixed(2)} ms; 100,000 nodes: ${large.toFixed(2)} ms\n`);
    process.stdout.write(
      `${ratio <= RATIO_MAX ? 'holds' : 'MISSED'}: ${ratio.toFixed(2)} times, at most ${RATIO_MAX}\n`,
    );
  } finally {
    await service.stop();
  }
} finally {
  rmSync(directory, { recursive: true, force: true });
}
