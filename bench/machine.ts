import { closeSync, fdatasyncSync, openSync, rmSync, statfsSync, writeSync } from 'node:fs';
import { availableParallelism, cpus, loadavg } from 'node:os';
import { join } from 'node:path';
import { median } from './statistics.js';

const FLUSHES = 100;
const PAGE = Buffer.alloc(4096);
/** The number by which Linux names a file system that lives in memory. */
const TMPFS = 0x01021994;

/** What the numbers were measured on, in one line. */
export function describeMachine(directory: string): string {
  const load = loadavg()[0] as number;
  const memory = statfsSync(directory).type === TMPFS ? ' (in memory: set TMPDIR to a disk to measure one)' : '';
  return (
    `Node ${process.versions.node}, ${availableParallelism()} cores (${cpus()[0]?.model.trim() ?? 'unknown'}), ` +
    `load ${load.toFixed(1)} at the start, one flush to disk ${flushMs(directory).toFixed(2)} ms${memory}`
  );
}

/** How long the disk takes to keep one page: the least that a durable write can cost. */
function flushMs(directory: string): number {
  const file = join(directory, 'flush');
  const descriptor = openSync(file, 'w');
  try {
    return median(
      Array.from({ length: FLUSHES }, () => {
        writeSync(descriptor, PAGE);
        const startedAt = performance.now();
        fdatasyncSync(descriptor);
        return performance.now() - startedAt;
      }),
    );
  } finally {
    closeSync(descriptor);
    rmSync(file);
  }
}
