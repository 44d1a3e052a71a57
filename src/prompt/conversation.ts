import { createInterface, type Interface } from 'node:readline';
import type { RunSnippet } from './client.js';
import { isComplete } from './entry.js';
import { HISTORY_LINES_MAX, type History } from './history.js';
import { completionsOf, HELP } from './words.js';

const PROMPT = 'loci> ';
const PROMPT_OPEN = '  ... ';

/** Reads entries from a terminal, runs them and tells what came of them, until the reader has enough. */
export class Conversation {
  readonly #reader: Interface;
  #entry = '';
  /** Lines come faster than answers when they are pasted; they are taken one after the other. */
  #work: Promise<void> = Promise.resolve();
  #running: AbortController | null = null;
  #isOver = false;

  constructor(
    input: NodeJS.ReadableStream,
    private readonly output: NodeJS.WritableStream,
    private readonly run: RunSnippet,
    private readonly history: History,
  ) {
    this.#reader = createInterface({
      input,
      output,
      terminal: true,
      completer: completionsOf,
      history: history.load(),
      historySize: HISTORY_LINES_MAX,
      prompt: PROMPT,
    });
  }

  /** Settles when the reader has ended it. */
  async hold(): Promise<void> {
    const reader = this.#reader;
    reader.on('line', (line) => {
      this.history.add(line);
      this.#work = this.#work.then(() => this.#take(line));
    });
    reader.on('SIGINT', () => this.#interrupt());
    const closed = new Promise<void>((resolve) => reader.once('close', resolve));
    reader.prompt();
    await closed;
    if (!this.#isOver) this.output.write('\n');
    this.#isOver = true;
    this.#running?.abort();
    await this.#work;
  }

  async #take(line: string): Promise<void> {
    if (this.#isOver) return;
    const command = this.#entry === '' ? line.trim() : '';
    if (command === '.exit') {
      this.#isOver = true;
      this.#reader.close();
      return;
    }
    if (command === '.help') this.output.write(HELP);
    else await this.#extend(line);
    if (!this.#isOver) this.#ask();
  }

  async #extend(line: string): Promise<void> {
    this.#entry += this.#entry === '' ? line : `\n${line}`;
    if (!isComplete(this.#entry)) return;
    const code = this.#entry;
    this.#entry = '';
    if (code.trim() === '') return;
    this.#running = new AbortController();
    const { text } = await this.run(code, this.#running.signal);
    this.#running = null;
    this.output.write(text);
  }

  #interrupt(): void {
    if (this.#running) {
      this.#running.abort();
      return;
    }
    this.#entry = '';
    this.#reader.write(null, { ctrl: true, name: 'e' });
    this.output.write('^C\n');
    this.#reader.write(null, { ctrl: true, name: 'u' });
    this.#ask();
  }

  #ask(): void {
    this.#reader.setPrompt(this.#entry === '' ? PROMPT : PROMPT_OPEN);
    this.#reader.prompt(true);
  }
}
