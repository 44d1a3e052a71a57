import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { EpisodeClient } from '../../support/episodes.js';
import { MINUTE_MS, NarrativeClient, told } from '../../support/narratives.js';
import { type Service, startService } from '../../support/service.js';

const FILES = ['a.ts', 'b.ts', 'c.ts', 'd.ts', 'e.ts', 'f.ts', 'g.ts'].map((name) => `src/${name}`);
const [FILE, OTHER_FILE] = FILES as [string, string];

let service: Service;
let repos = 0;
let narratives: NarrativeClient;
let agentId: string;
let helperId: string;
beforeAll(async () => {
  service = await startService();
});
afterAll(() => service.stop());
beforeEach(async () => {
  const repoId = `cooldown/${++repos}`;
  const episodes = new EpisodeClient(service, repoId);
  narratives = new NarrativeClient(service, repoId);
  agentId = (await episodes.register()).agent.id;
  helperId = (await episodes.register()).agent.id;
  await episodes.store(agentId, told({ files: FILES }));
  // The beginning of a minute of the clock.
  service.clock.advance(MINUTE_MS - (service.clock.now() % MINUTE_MS));
});

/** Null when it was told. */
const silence = async (file_path: string, fields: object = {}) => {
  const { body } = await narratives.postCheck({ file_path, agent_id: agentId, ...fields }).expect(200);
  expect(body.total).toBe(1);
  expect([body.notification === null, body.memories.length]).toEqual(
    body.silent_because === null ? [false, 1] : [true, 0],
  );
  return body.silent_because;
};

describe('a caller is told of a file', () => {
  test('once, and again when five minutes are over', async () => {
    expect(await silence(FILE)).toBeNull();
    expect(await silence(FILE)).toBe('cooldown');
    service.clock.advance(299_999);
    expect(await silence(FILE)).toBe('cooldown');
    service.clock.advance(1);
    expect(await silence(FILE)).toBeNull();
  });

  test('after as long as is said', async () => {
    expect(await silence(FILE, { cooldown_seconds: 10 })).toBeNull();
    service.clock.advance(10_000);
    expect(await silence(FILE, { cooldown_seconds: 11 })).toBe('cooldown');
    expect(await silence(FILE, { cooldown_seconds: 10 })).toBeNull();
  });

  test('always, without a wait', async () => {
    for (let count = 0; count < 8; count++) expect(await silence(FILE, { cooldown_seconds: 0 })).toBeNull();
  });

  test('once, however its path is written', async () => {
    expect(await silence('src/a.ts')).toBeNull();
    expect(await silence('./src//a.ts')).toBe('cooldown');
    expect(await silence('src\\a.ts')).toBe('cooldown');
  });
});

test('another file is told on its own', async () => {
  await silence(FILE);
  expect(await silence(OTHER_FILE)).toBeNull();
});

test('another caller is told on its own; those without a name are one', async () => {
  await silence(FILE);
  expect(await silence(FILE, { agent_id: helperId })).toBeNull();
  expect(await silence(FILE, { agent_id: undefined })).toBeNull();
  expect(await silence(FILE, { agent_id: undefined })).toBe('cooldown');
});

test('the same caller and file in another project are told on their own', async () => {
  await silence(FILE);
  const other = new EpisodeClient(service, 'cooldown/other');
  const { agent } = await other.register();
  await other.store(agent.id, told({ files: [FILE] }));
  const { body } = await new NarrativeClient(service, 'cooldown/other').postCheck({
    file_path: FILE,
    agent_id: agentId,
  });
  expect(body).toMatchObject({ silent_because: null, total: 1 });
});

test('what there is nothing to tell of starts no wait', async () => {
  expect(
    (await narratives.postCheck({ file_path: FILE, agent_id: agentId, min_memories: 2 })).body.silent_because,
  ).toBeNull();
  expect(await silence(FILE)).toBeNull();
});

describe('in one minute', () => {
  test('a caller is told five times, and goes on in the next', async () => {
    for (const file of FILES.slice(0, 5)) expect(await silence(file)).toBeNull();
    expect(await silence(FILES[5] as string)).toBe('rate_limit');
    service.clock.advance(MINUTE_MS - 1);
    expect(await silence(FILES[5] as string)).toBe('rate_limit');
    service.clock.advance(1);
    expect(await silence(FILES[5] as string)).toBeNull();
  });

  test('one caller does not use up what another may be told', async () => {
    for (const file of FILES.slice(0, 5)) await silence(file);
    for (const file of FILES.slice(0, 5)) expect(await silence(file, { agent_id: helperId })).toBeNull();
  });
});
