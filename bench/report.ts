import type { Sample } from './load.js';
import type { Measured } from './measure.js';
import { COST_RATIO_MAX, count, SMALL_MEMORIES } from './stages.js';
import { median } from './statistics.js';

const HEADINGS = [
  'Operation',
  'Store',
  'Connections',
  'Service/s',
  'Bare/s',
  'Ratio',
  'Service p50 ms',
  'p99 ms',
  'CPU µs',
  'Bare p50 ms',
  'p99 ms',
  'CPU µs',
  'Generator busy',
];

/** A Markdown table; every number is the median of the rounds, the ratio that of the rounds' own ratios. */
export function table(measured: readonly Measured[]): string {
  const rows = measured.map((row) => {
    const { operation, where, connections } = row.cell;
    const real = (read: (sample: Sample) => number): number => median(row.rounds.map((round) => read(round.real)));
    const bare = (read: (sample: Sample) => number): number => median(row.rounds.map((round) => read(round.bare)));
    return [
      operation,
      where,
      String(connections),
      count(Math.round(real((sample) => sample.perSecond))),
      count(Math.round(bare((sample) => sample.perSecond))),
      ratioOf(row).toFixed(3),
      real((sample) => sample.p50Ms).toFixed(2),
      real((sample) => sample.p99Ms).toFixed(2),
      real(cpuMicroseconds).toFixed(0),
      bare((sample) => sample.p50Ms).toFixed(2),
      bare((sample) => sample.p99Ms).toFixed(2),
      bare(cpuMicroseconds).toFixed(0),
      `${Math.round(bare((sample) => sample.generatorBusy) * 100)} %`,
    ];
  });
  const line = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`;
  const rule = HEADINGS.map((_, index) => (index < 2 ? '---' : '--:'));
  return [HEADINGS, rule, ...rows].map(line).join('\n');
}

/** What one request cost the server, however many other programs shared the machine; NaN where the system does not tell. */
const cpuMicroseconds = (sample: Sample): number => ((sample.serverBusy ?? Number.NaN) * 1e6) / sample.perSecond;

const ratioOf = ({ rounds }: Measured): number =>
  median(rounds.map(({ bare, real }) => real.perSecond / bare.perSecond));

const cpuRatioOf = ({ rounds }: Measured): number =>
  median(rounds.map(({ bare, real }) => cpuMicroseconds(bare) / cpuMicroseconds(real)));

/** A server that answers as fast as it can has a core to itself. */
const OWN_CORE = 0.85;

/**
 * Where other programs kept the bare route from its core. It and the generator need two cores together, the service hardly more
 * than one, so a shared machine slows the bare route more and the ratio looks better than it is.
 */
export function cautions(measured: readonly Measured[]): string[] {
  return measured.flatMap(({ cell, rounds }) => {
    const busy = median(rounds.map(({ bare }) => bare.serverBusy ?? 1));
    if (cell.floor === null || busy >= OWN_CORE) return [];
    return [
      `${cell.operation}, ${cell.where}, ${cell.connections} connections: the bare route had ${Math.round(busy * 100)} % ` +
        'of a core, so the ratio flatters; trust the one by processor time',
    ];
  });
}

export interface Verdict {
  readonly text: string;
  readonly holds: boolean;
}

export function verdicts(measured: readonly Measured[], largeMemories: number): Verdict[] {
  const floors = measured.flatMap((row) => {
    const { operation, where, connections, floor } = row.cell;
    if (floor === null) return [];
    const ratio = ratioOf(row);
    const text =
      `${operation}, ${where}, ${connections} connections: ${ratio.toFixed(3)} of the bare route, at least ${floor} ` +
      `(${cpuRatioOf(row).toFixed(3)} by processor time)`;
    return [{ text, holds: ratio >= floor }];
  });
  return [...floors, costVerdict(measured, largeMemories)];
}

/** Rounds of the small and the large repo lie side by side, so their costs are compared round by round. */
function costVerdict(measured: readonly Measured[], largeMemories: number): Verdict {
  const meansOf = (memories: number): number[] => {
    const where = `one repo of ${count(memories)}`;
    const found = measured.find(
      ({ cell }) => cell.operation === 'read' && cell.connections === 1 && cell.where === where,
    );
    return (found as Measured).rounds.map(({ real }) => real.meanMs);
  };
  const small = meansOf(SMALL_MEMORIES);
  const ratio = median(meansOf(largeMemories).map((ms, round) => ms / (small[round] as number)));
  const text =
    `read, one repo of ${count(largeMemories)}, 1 connection: ${ratio.toFixed(2)} times the mean latency ` +
    `of one repo of ${count(SMALL_MEMORIES)}, at most ${COST_RATIO_MAX}`;
  return { text, holds: ratio <= COST_RATIO_MAX };
}
