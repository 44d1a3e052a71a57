import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { viewOf } from '../../src/domain/spaces.js';
import { StoreUnavailable } from '../../src/storage/port.js';
import { temporaryDirectory } from '../support/directories.js';
import { idOf, insert, planOf, REPO } from '../support/plans.js';
import { openSqliteStore } from '../support/sqlite.js';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const STORE = new URL('../../src/storage/sqlite/store.ts', import.meta.url).href;

let directory: ReturnType<typeof temporaryDirectory>;
let file: string;
beforeEach(() => {
  directory = temporaryDirectory();
  file = directory.path('memory.db');
});
const children: ChildProcess[] = [];
afterEach(() => {
  for (const child of children.splice(0)) child.kill('SIGKILL');
  directory.remove();
});

/** The error of opening the store a second time. */
function refusal(path: string): StoreUnavailable {
  try {
    openSqliteStore(path);
  } catch (error) {
    expect(error).toBeInstanceOf(StoreUnavailable);
    return error as StoreUnavailable;
  }
  throw new Error('the store was opened twice');
}

test('a second store on the same file is refused, and told what to do', async () => {
  const store = openSqliteStore(file);
  const { reason, message } = refusal(file);
  expect(reason).toBe('locked');
  expect(message).toContain(file);
  expect(message).toMatch(/another process/);
  expect(message).toContain('RLM_MEMORY_DB');
  await store.close();
});

test('the same file under another spelling of its path is the same file', async () => {
  const store = openSqliteStore(file);
  expect(refusal(relative(process.cwd(), file)).reason).toBe('locked');
  expect(refusal(directory.path('.', 'x', '..', 'memory.db')).reason).toBe('locked');
  await store.close();
});

test('the first store goes on as if nothing had happened', async () => {
  const store = openSqliteStore(file);
  await store.apply(planOf(insert(idOf(1))));
  refusal(file);
  await store.apply(planOf(insert(idOf(2))));
  await store.check();
  expect(await store.getMemories(viewOf(REPO), [idOf(1), idOf(2)])).toHaveLength(2);
  await store.close();
});

test('once closed it can be opened again, as often as one likes', async () => {
  for (let round = 0; round < 3; round++) {
    const store = openSqliteStore(file);
    await store.apply(planOf(insert(idOf(round))));
    await store.close();
  }
  const store = openSqliteStore(file);
  expect(await store.getMemories(viewOf(REPO), [0, 1, 2].map(idOf))).toHaveLength(3);
  await store.close();
});

/** Opens the store in a process of its own, which then stays; answers its first words. */
async function openElsewhere(): Promise<{ child: ChildProcess; said: string }> {
  const script = `
    import { SqliteStore } from ${JSON.stringify(STORE)};
    try {
      const store = new SqliteStore({ file: ${JSON.stringify(file)}, openSpacesMax: 10, now: Date.now });
      console.log('opened', await store.summarize() !== null);
      setInterval(() => {}, 1_000);
    } catch (error) {
      console.log(error.reason);
    }`;
  const child = spawn(process.execPath, ['--import', 'tsx', '--input-type=module', '--eval', script], {
    cwd: ROOT,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  children.push(child);
  const [chunk] = (await once(child.stdout as NodeJS.ReadableStream, 'data')) as [Buffer];
  return { child, said: chunk.toString().trim() };
}

test('another process is refused while this one has the store, and this one while the other has it', async () => {
  const store = openSqliteStore(file);
  const refused = await openElsewhere();
  expect(refused.said).toBe('locked');
  await once(refused.child, 'exit');
  await store.close();

  const { child, said } = await openElsewhere();
  expect(said).toBe('opened true');
  expect(refusal(file).reason).toBe('locked');

  // However a process ends, it leaves no lock behind.
  const ended = once(child, 'exit');
  child.kill('SIGKILL');
  await ended;
  await openSqliteStore(file).close();
});
