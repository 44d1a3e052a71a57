import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export interface TemporaryDirectory {
  /** A path inside the directory. */
  path(...parts: string[]): string;
  remove(): void;
}

export function temporaryDirectory(): TemporaryDirectory {
  const directory = mkdtempSync(join(tmpdir(), 'loci-test-'));
  return {
    path: (...parts) => join(directory, ...parts),
    remove: () => rmSync(directory, { recursive: true, force: true }),
  };
}
