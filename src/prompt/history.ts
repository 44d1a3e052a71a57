import { appendFileSync, chmodSync, existsSync, readFileSync, writeFileSync } from 'node:fs';

export const HISTORY_LINES_MAX = 1_000;

/** Nobody else's business: what is remembered may be private. */
const OWNER_ONLY = 0o600;

/** The lines typed so far, kept in a file. A file that cannot be used is no reason not to work. */
export class History {
  #file: string | null;

  constructor(file: string | null) {
    this.#file = file;
  }

  /** The last lines, newest first. */
  load(): string[] {
    const lines = this.#use((file) => {
      if (!existsSync(file)) return [];
      chmodSync(file, OWNER_ONLY);
      const kept = readFileSync(file, 'utf8').split('\n').filter(Boolean);
      const last = kept.slice(-HISTORY_LINES_MAX);
      if (last.length < kept.length) writeFileSync(file, last.map((line) => `${line}\n`).join(''));
      return last;
    });
    return (lines ?? []).reverse();
  }

  /** Appends, so that two prompts at once do not undo each other's lines. */
  add(line: string): void {
    if (line.trim() !== '') this.#use((file) => appendFileSync(file, `${line}\n`, { mode: OWNER_ONLY }));
  }

  #use<Result>(block: (file: string) => Result): Result | undefined {
    if (this.#file === null) return undefined;
    try {
      return block(this.#file);
    } catch {
      this.#file = null;
      return undefined;
    }
  }
}
