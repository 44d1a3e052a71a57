/** Threads run compiled code; the test command builds it first. */
export const WORKER_FILE = new URL('../../dist/sandbox/worker.js', import.meta.url);
