import type { Plan } from '../../domain/changes.js';
import { GLOBAL_SPACE, type SpaceName } from '../../domain/spaces.js';
import { applyChanges, type Elsewhere, indexNodes, NODE_STUB, type NodeStub, type Unindexed } from './apply.js';
import type { Connection } from './connection.js';
import { toUnavailable } from './failures.js';
import { findReply } from './read.js';
import type { Spaces } from './spaces.js';

interface Waiting {
  readonly plan: Plan;
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
}

/** So many changes share a transaction at most, or else they are one plan; the loop turns before the next. */
const CHANGES_PER_COMMIT_MAX = 500;

/**
 * Plans that arrive in the same turn of the event loop share one transaction and one flush to disk, each in a savepoint of its
 * own. Nobody is answered before the commit; when the commit fails, everybody in it is told so.
 */
export class GroupCommit {
  readonly #queues = new Map<SpaceName, Waiting[]>();

  constructor(private readonly spaces: Spaces) {}

  apply(plan: Plan): Promise<void> {
    return new Promise((resolve, reject) => {
      const queue = this.#queues.get(plan.space);
      if (queue) {
        queue.push({ plan, resolve, reject });
        return;
      }
      this.#queues.set(plan.space, [{ plan, resolve, reject }]);
      setImmediate(() => this.#turn(plan.space));
    });
  }

  /** Commits what waits for the space, now. */
  flush(space: SpaceName): void {
    const queue = this.#queues.get(space);
    this.#queues.delete(space);
    while (queue && queue.length > 0) this.#commit(space, takeGroup(queue));
  }

  flushAll(): void {
    for (const space of [...this.#queues.keys()]) this.flush(space);
  }

  #turn(space: SpaceName): void {
    const queue = this.#queues.get(space);
    if (!queue) return;
    this.#commit(space, takeGroup(queue));
    if (queue.length > 0) setImmediate(() => this.#turn(space));
    else this.#queues.delete(space);
  }

  #commit(space: SpaceName, group: readonly Waiting[]): void {
    const settle: (() => void)[] = [];
    const unindexed: Unindexed = new Map();
    try {
      this.spaces.use(space, (connection) => {
        connection.statement('BEGIN IMMEDIATE').run();
        try {
          for (const waiting of group) settle.push(this.#savepoint(space, connection, waiting, unindexed));
          indexNodes(connection, unindexed);
          connection.statement('COMMIT').run();
          connection.noteCommit();
        } catch (error) {
          if (connection.db.inTransaction) connection.db.exec('ROLLBACK');
          throw error;
        }
      });
    } catch (error) {
      for (const { reject } of group) reject(toUnavailable(error, space));
      return;
    }
    for (const answer of settle) answer();
  }

  #savepoint(
    space: SpaceName,
    connection: Connection,
    { plan, resolve, reject }: Waiting,
    unindexed: Unindexed,
  ): () => void {
    connection.statement('SAVEPOINT plan').run();
    try {
      const changed = applyChanges(connection, plan.changes, this.#elsewhere(space));
      connection.statement('RELEASE plan').run();
      // What is new in this transaction has nothing in the index yet, however often it changes.
      for (const [seq, standing] of changed) if (!unindexed.has(seq)) unindexed.set(seq, standing);
      return resolve;
    } catch (error) {
      // A full disk ends the whole transaction by itself; then there is no savepoint to go back to.
      if (!connection.db.inTransaction) throw error;
      connection.statement('ROLLBACK TO plan').run();
      connection.statement('RELEASE plan').run();
      return () => reject(toUnavailable(error, space));
    }
  }

  #elsewhere(space: SpaceName): Elsewhere {
    const isGlobal = space === GLOBAL_SPACE;
    return {
      findGlobal: (id) =>
        isGlobal ? undefined : this.spaces.use(GLOBAL_SPACE, (main) => main.get<NodeStub>(NODE_STUB, id)),
      // A request may concern its repo or the global space; the key that guards it is one for both.
      hasReply: (repoId, key, sinceMs) =>
        this.spaces.peek(
          isGlobal ? repoId : GLOBAL_SPACE,
          (connection) => findReply(connection, repoId, key, sinceMs) !== null,
          false,
        ),
    };
  }
}

/** Takes the plans that the next transaction has room for off the queue: always one, however large. */
function takeGroup(queue: Waiting[]): Waiting[] {
  let changes = 0;
  const isTooMuch = ({ plan }: Waiting): boolean => {
    changes += plan.changes.length;
    return changes > CHANGES_PER_COMMIT_MAX;
  };
  const end = queue.findIndex(isTooMuch);
  return queue.splice(0, end < 0 ? queue.length : Math.max(1, end));
}
