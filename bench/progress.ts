const QUIET_MS = 5_000;

/** Says on stderr what is going on: one line that changes on a terminal, a line now and then in a file. */
export class Progress {
  #saidAt = Number.NEGATIVE_INFINITY;

  step(text: string): void {
    if (process.stderr.isTTY) {
      process.stderr.write(`\r\x1b[K${text}`);
      return;
    }
    if (performance.now() - this.#saidAt < QUIET_MS) return;
    this.#saidAt = performance.now();
    process.stderr.write(`${text}\n`);
  }

  done(): void {
    if (process.stderr.isTTY) process.stderr.write('\r\x1b[K');
  }
}
