import autocannon from 'autocannon';
import type { Child } from './children.js';

/** One bounded burst of requests against one process. */
export interface Load {
  readonly target: Child;
  readonly path: string;
  readonly expectedStatus: number;
  readonly connections: number;
  readonly seconds: number;
  /** Bodies to send, built before the clock starts and dealt out to the connections. */
  readonly bodies: readonly string[];
  /** Refuse to send a body a second time. */
  readonly once: boolean;
}

export interface Sample {
  readonly requests: number;
  readonly perSecond: number;
  readonly meanMs: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  /** Share of one core that the server used: well under 1, it waited, for the disk or for work. */
  readonly serverBusy: number | null;
  /** Share of one core that the generator itself used: near 1, it and not the server was measured. */
  readonly generatorBusy: number;
}

const ANSWER_SECONDS_MAX = 10;
/** What a burst may take beyond its time, for connections that are slow to end. */
const GRACE_MS = 20_000;

export async function run(load: Load): Promise<Sample> {
  const latencies: number[] = [];
  const strange = new Map<number, number>();
  let connection = 0;
  const instance = autocannon({
    url: load.target.address,
    connections: load.connections,
    duration: load.seconds,
    timeout: ANSWER_SECONDS_MAX,
    setupClient: (client) => client.setRequests(requestsOf(load, connection++)),
  });
  // The clients are made; what their bodies cost to build is behind us.
  const startedAt = performance.now();
  const cpuAtStart = process.cpuUsage();
  const serverAtStart = load.target.cpuSeconds();
  const sent = new Map<unknown, number>();
  instance.on('response', (client: unknown, status: number, _bytes: number, ms: number) => {
    // Answers that come while the generator winds down belong to no second that was measured.
    if (performance.now() - startedAt > load.seconds * 1000) return;
    if (status !== load.expectedStatus) strange.set(status, (strange.get(status) ?? 0) + 1);
    latencies.push(ms);
    sent.set(client, (sent.get(client) ?? 0) + 1);
  });
  const guard = setTimeout(
    () => {
      throw new Error(`a burst of ${load.seconds} s did not end`);
    },
    load.seconds * 1000 + GRACE_MS,
  );
  const { errors, timeouts } = await instance;
  clearTimeout(guard);
  const tookSeconds = (performance.now() - startedAt) / 1000;
  const { user, system } = process.cpuUsage(cpuAtStart);
  const serverAtEnd = load.target.cpuSeconds();

  if (errors + timeouts > 0) throw new Error(`${errors} failed connections, ${timeouts} of them without an answer`);
  if (latencies.length === 0) throw new Error('not one answer came');
  if (strange.size > 0) throw new Error(`unexpected answers: ${JSON.stringify([...strange])}`);
  const perConnection = Math.floor(load.bodies.length / load.connections);
  if (load.once && Math.max(...sent.values()) > perConnection) throw new Error('the bodies ran out: prepare more');
  return {
    ...summarize(latencies, load.seconds),
    serverBusy: serverAtStart === null || serverAtEnd === null ? null : (serverAtEnd - serverAtStart) / tookSeconds,
    generatorBusy: (user + system) / 1e6 / tookSeconds,
  };
}

const HEADERS = { 'content-type': 'application/json' };

function requestsOf({ bodies, connections, path }: Load, connection: number): autocannon.Request[] {
  const requests: autocannon.Request[] = [];
  for (let index = connection; index < bodies.length; index += connections) {
    requests.push({ method: 'POST', path, headers: HEADERS, body: bodies[index] as string });
  }
  return requests;
}

function summarize(latencies: readonly number[], seconds: number): Omit<Sample, 'serverBusy' | 'generatorBusy'> {
  const sorted = Float64Array.from(latencies).sort();
  const at = (share: number): number =>
    sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
  return {
    requests: sorted.length,
    perSecond: sorted.length / seconds,
    meanMs: sorted.reduce((sum, ms) => sum + ms, 0) / sorted.length,
    p50Ms: at(0.5),
    p99Ms: at(0.99),
  };
}
