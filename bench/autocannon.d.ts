/** The small part of the load generator that is used here; the package brings no types of its own. */
declare module 'autocannon' {
  import type { EventEmitter } from 'node:events';

  namespace autocannon {
    interface Request {
      method: 'POST';
      path: string;
      headers: Record<string, string>;
      body: string;
    }

    interface Client {
      setRequests(requests: Request[]): void;
    }

    interface Options {
      url: string;
      connections: number;
      /** In seconds. */
      duration: number;
      /** In seconds, for one answer. */
      timeout: number;
      setupClient(client: Client): void;
    }

    interface Result {
      errors: number;
      timeouts: number;
    }

    /** Emits `response` with the client, the status, the bytes and the milliseconds of every answer. */
    interface Run extends EventEmitter, PromiseLike<Result> {
      stop(): void;
    }
  }

  function autocannon(options: autocannon.Options): autocannon.Run;
  export = autocannon;
}
