import type { SpaceName } from '../../domain/spaces.js';
import type { Spaces } from './spaces.js';

/** Looks at a node that are not stored yet. */
interface Looks {
  readonly count: number;
  readonly atMs: number;
}

/** How long looks are gathered before they are stored. */
const GATHERED_MS = 1_000;
/** More nodes than this are not kept waiting, however short the time. */
const NODES_WAITING_MAX = 10_000;

export const COUNT_ACCESS = `
  INSERT INTO node_access (node_seq, access_count, last_accessed_at)
  SELECT seq, @count, @atMs FROM nodes WHERE id = @id
  ON CONFLICT (node_seq) DO UPDATE SET access_count = access_count + @count, last_accessed_at = max(last_accessed_at, @atMs)`;

export const COUNT_QUERIES = 'UPDATE sessions SET queries_made = queries_made + ? WHERE id = ?';

/** Counts who is looked at. Counting is no reason to make anybody wait for the disk, so looks are stored a second's worth at a time. */
export class AccessCounts {
  readonly #waiting = new Map<SpaceName, Map<string, Looks>>();
  /** Questions that sessions asked and that are not stored yet. */
  readonly #queries = new Map<SpaceName, Map<string, number>>();
  #nodes = 0;
  #timer: NodeJS.Timeout | null = null;

  constructor(private readonly spaces: Spaces) {}

  note(space: SpaceName, nodeIds: readonly string[], atMs: number): void {
    const looks = this.#waiting.get(space) ?? new Map<string, Looks>();
    this.#waiting.set(space, looks);
    for (const id of nodeIds) {
      const known = looks.get(id);
      if (!known) this.#nodes++;
      looks.set(id, { count: (known?.count ?? 0) + 1, atMs: Math.max(known?.atMs ?? 0, atMs) });
    }
    this.#flushSoon();
  }

  noteQuery(space: SpaceName, sessionId: string): void {
    const queries = this.#queries.get(space) ?? new Map<string, number>();
    this.#queries.set(space, queries);
    if (!queries.has(sessionId)) this.#nodes++;
    queries.set(sessionId, (queries.get(sessionId) ?? 0) + 1);
    this.#flushSoon();
  }

  #flushSoon(): void {
    if (this.#nodes > NODES_WAITING_MAX) this.flush();
    // A process that has nothing else to do may end: closing the store flushes.
    else this.#timer ??= setTimeout(() => this.flush(), GATHERED_MS).unref();
  }

  queriesWaiting(space: SpaceName, sessionId: string): number {
    return this.#queries.get(space)?.get(sessionId) ?? 0;
  }

  waiting(space: SpaceName, nodeId: string): Looks | undefined {
    return this.#waiting.get(space)?.get(nodeId);
  }

  /** A space that goes takes its counts along. */
  forget(space: SpaceName): void {
    this.#nodes -= (this.#waiting.get(space)?.size ?? 0) + (this.#queries.get(space)?.size ?? 0);
    this.#waiting.delete(space);
    this.#queries.delete(space);
  }

  /** Stores what was gathered. A space that cannot be written now keeps its looks for the next time. */
  flush(): void {
    if (this.#timer) clearTimeout(this.#timer);
    this.#timer = null;
    for (const space of new Set([...this.#waiting.keys(), ...this.#queries.keys()])) {
      try {
        this.#store(space);
        this.forget(space);
      } catch {
        // Nobody waits for these numbers, and the next request that needs the file is told what is wrong with it.
      }
    }
  }

  #store(space: SpaceName): void {
    const looks = this.#waiting.get(space) ?? [];
    const queries = this.#queries.get(space) ?? [];
    this.spaces.peek(
      space,
      (connection) => {
        connection.db.transaction(() => {
          for (const [id, look] of looks) connection.run(COUNT_ACCESS, { id, ...look });
          for (const [id, count] of queries) connection.run(COUNT_QUERIES, count, id);
        })();
      },
      undefined,
    );
  }
}
