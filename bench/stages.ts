import type { RepoPlan } from './fill.js';

/** One line of the table: what is asked, how many at a time, and of which repos. */
export interface Cell {
  readonly operation: 'read' | 'write';
  readonly where: string;
  readonly repoIds: readonly string[];
  readonly connections: number;
  /** Least share of the bare route's rate; null for what is only reported. */
  readonly floor: number | null;
}

/** One store, and what is measured in it: reads first, because writes make it larger. */
export interface Stage {
  readonly name: string;
  readonly repos: readonly RepoPlan[];
  readonly reads: readonly Cell[];
  readonly writes: readonly Cell[];
}

export interface Size {
  readonly repos: number;
  readonly largeMemories: number;
  readonly rounds: number;
  readonly seconds: number;
}

export const FULL: Size = { repos: 100, largeMemories: 100_000, rounds: 3, seconds: 3 };
export const QUICK: Size = { repos: 10, largeMemories: 10_000, rounds: 2, seconds: 1 };

export const SMALL_MEMORIES = 1_000;
const WRITE_FLOOR = 0.2;
const MANY_READ_FLOOR = 0.15;
const LARGE_READ_FLOOR = 0.02;
/** A read in the large repo may cost so many times one in the small repo. */
export const COST_RATIO_MAX = 8;

const ONE = 1;
const MANY = 32;

export function stagesOf({ repos, largeMemories }: Size): Stage[] {
  const many = Array.from({ length: repos }, (_, index) => ({
    repoId: `team/repo-${index}`,
    memories: SMALL_MEMORIES,
  }));
  const manyIds = many.map(({ repoId }) => repoId);
  const manyText = `${count(repos)} repos of ${count(SMALL_MEMORIES)}`;
  const large = { repoId: 'team/large', memories: largeMemories };
  const small = { repoId: 'team/small', memories: SMALL_MEMORIES };
  const largeText = `one repo of ${count(largeMemories)}`;
  const smallText = `one repo of ${count(SMALL_MEMORIES)}`;
  const cell = (
    operation: Cell['operation'],
    where: string,
    repoIds: readonly string[],
    connections: number,
    floor: number | null = null,
  ): Cell => ({ operation, where, repoIds, connections, floor });
  return [
    {
      name: manyText,
      repos: many,
      reads: [cell('read', manyText, manyIds, ONE), cell('read', manyText, manyIds, MANY, MANY_READ_FLOOR)],
      writes: [cell('write', manyText, manyIds, ONE), cell('write', manyText, manyIds, MANY, WRITE_FLOOR)],
    },
    {
      name: `${largeText}, ${smallText}`,
      repos: [large, small],
      reads: [
        cell('read', smallText, [small.repoId], ONE),
        cell('read', largeText, [large.repoId], ONE),
        cell('read', smallText, [small.repoId], MANY),
        cell('read', largeText, [large.repoId], MANY, LARGE_READ_FLOOR),
      ],
      writes: [
        cell('write', smallText, [small.repoId], ONE),
        cell('write', largeText, [large.repoId], ONE),
        cell('write', smallText, [small.repoId], MANY, WRITE_FLOOR),
        cell('write', largeText, [large.repoId], MANY, WRITE_FLOOR),
      ],
    },
  ];
}

export const count = (value: number): string => value.toLocaleString('en-GB');
