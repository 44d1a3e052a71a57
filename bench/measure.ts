import type { Child } from './children.js';
import type { Corpus, Known } from './corpus.js';
import { run, type Sample } from './load.js';
import type { Cell } from './stages.js';

/** The bare route and the service, one after the other: what disturbs the machine disturbs both. */
interface Pair {
  readonly bare: Sample;
  readonly real: Sample;
}

export interface Measured {
  readonly cell: Cell;
  readonly rounds: readonly Pair[];
}

export interface Bench {
  readonly bare: Child;
  readonly real: Child;
  readonly corpus: Corpus;
  readonly known: ReadonlyMap<string, Known>;
}

/** More than the service can answer: it is never asked the same twice, so nothing it keeps in mind flatters it. */
const REQUESTS_PER_SECOND_MAX = 12_000;
const WARM_UP_SECONDS = 1;

/** Round after round over all cells, so that a slow minute of the machine does not fall on one of them alone. */
export async function measure(
  bench: Bench,
  cells: readonly Cell[],
  rounds: number,
  seconds: number,
  progress: (text: string) => void,
): Promise<Measured[]> {
  const pairs = cells.map((): Pair[] => []);
  for (let round = 0; round <= rounds; round++) {
    for (const [index, cell] of cells.entries()) {
      const { operation, connections, where } = cell;
      const name = round === 0 ? 'warming up' : `round ${round} of ${rounds}`;
      progress(`${operation}, ${where}, ${connections} at a time: ${name}`);
      const pair = await measurePair(bench, cell, round === 0 ? WARM_UP_SECONDS : seconds);
      if (round > 0) pairs[index]?.push(pair);
    }
  }
  return cells.map((cell, index) => ({ cell, rounds: pairs[index] as Pair[] }));
}

async function measurePair(bench: Bench, cell: Cell, seconds: number): Promise<Pair> {
  const isRead = cell.operation === 'read';
  const bodies = bodiesOf(bench, cell, REQUESTS_PER_SECOND_MAX * seconds);
  const load = {
    path: `/memory/${cell.operation}`,
    expectedStatus: isRead ? 200 : 201,
    connections: cell.connections,
    seconds,
    bodies,
  };
  const bare = await run({ ...load, target: bench.bare, once: false });
  const real = await run({ ...load, target: bench.real, once: true });
  return { bare, real };
}

function bodiesOf({ corpus, known }: Bench, { operation, repoIds }: Cell, length: number): string[] {
  return Array.from({ length }, (_, index) => {
    const repoId = repoIds[index % repoIds.length] as string;
    return operation === 'read' ? corpus.read(repoId) : corpus.write(repoId, known.get(repoId) as Known, index);
  });
}
